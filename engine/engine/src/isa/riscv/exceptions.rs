//! Exceptions and interrupts of machine mode (privileged specification, section 3.1).

use super::instruction_set::Hart;
use crate::bus::Bus;
use crate::cpu::memory_system::Refusal;
use crate::cpu::memory_system::access::Abort;
use crate::event_rates::Source;
use crate::faults::BusFaultKind;
use crate::faults::{Answer, CoreFault, FaultedAccess};

/// Reason to leave the flow of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// An interrupt, by its code in mcause.
    Interrupt(u32),
    /// An exception.
    Exception(Exception),
}

/// A synchronous exception, with the value of mtval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Its cause.
    pub cause: ExceptionCause,
    /// Faulting address or encoding; 0 without one.
    pub value: u32,
    /// The bus's answer at the address, if that is the reason.
    pub answer: Option<Answer>,
}

impl Exception {
    /// An exception without an access.
    pub const fn new(cause: ExceptionCause, value: u32) -> Exception {
        Exception { cause, value, answer: None }
    }

    /// The exception of a refused fetch, load or store.
    pub fn of_abort(abort: Abort<Refusal>, fetch: bool) -> Exception {
        let bus = Answer::Bus(abort.bus.unwrap_or(BusFaultKind::Unmapped));
        let (cause, answer) = match (abort.status, abort.write) {
            _ if fetch => (ExceptionCause::InstructionAccessFault, bus),
            (Refusal::Misaligned, false) => (ExceptionCause::LoadAddressMisaligned, Answer::Misaligned),
            (Refusal::Misaligned, true) => (ExceptionCause::StoreAddressMisaligned, Answer::Misaligned),
            (Refusal::Bus, false) => (ExceptionCause::LoadAccessFault, bus),
            (Refusal::Bus, true) => (ExceptionCause::StoreAccessFault, bus),
        };
        Exception { cause, value: abort.va, answer: Some(answer) }
    }
}

/// Causes, with their codes in mcause (table "mcause values after trap").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExceptionCause {
    /// A fetch without an answer, or with an error.
    InstructionAccessFault = 1,
    /// An undefined encoding, or a CSR that does not exist.
    IllegalInstruction = 2,
    /// ebreak.
    Breakpoint = 3,
    /// A load from an address that is not a multiple of its size.
    LoadAddressMisaligned = 4,
    /// A load without an answer, or with an error.
    LoadAccessFault = 5,
    /// A store to an address that is not a multiple of its size.
    StoreAddressMisaligned = 6,
    /// A store without an answer, or with an error.
    StoreAccessFault = 7,
    /// ecall in machine mode.
    MachineEcall = 11,
}

impl ExceptionCause {
    /// The manual's name for it, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            ExceptionCause::InstructionAccessFault => "instruction access fault",
            ExceptionCause::IllegalInstruction => "illegal instruction",
            ExceptionCause::Breakpoint => "breakpoint",
            ExceptionCause::LoadAddressMisaligned => "load address misaligned",
            ExceptionCause::LoadAccessFault => "load access fault",
            ExceptionCause::StoreAddressMisaligned => "store address misaligned",
            ExceptionCause::StoreAccessFault => "store access fault",
            ExceptionCause::MachineEcall => "environment call from machine mode",
        }
    }
}

/// Machine interrupts: their bits in mip and mie, and their codes in mcause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Machine software interrupt.
    Software = 3,
    /// Machine timer interrupt.
    Timer = 7,
    /// Machine external interrupt.
    External = 11,
}

/// Interrupts in the order in which they are taken when several are pending (section 3.1.9).
pub const PRIORITY: [Interrupt; 3] = [Interrupt::External, Interrupt::Software, Interrupt::Timer];

/// The bits of mip and mie of the machine interrupts above.
pub const MACHINE_INTERRUPTS: u32 = 1 << 3 | 1 << 7 | 1 << 11;

/// The bits of mip and mie that the specification leaves to the platform (section 3.1.9): up to sixteen lines of the
/// core's own, taken before all others, the lowest number first.
pub const PLATFORM_INTERRUPTS: u32 = 0xffff_0000;

impl Hart {
    /// Enters the handler of an exception raised by the instruction at the current address.
    pub(super) fn raise(&mut self, bus: &mut Bus, exception: Exception) {
        let Exception { cause, value, .. } = exception;
        let access = self.faulted_access(bus, exception);
        let encoding = (cause == ExceptionCause::IllegalInstruction).then_some(value);
        let fault = CoreFault { pc: self.pc, what: cause.name(), access, encoding, ..CoreFault::default() };
        let fault = self.with_instruction(bus, fault);
        let handler = self.trap(bus, cause as u32, value, false);
        let why_fatal = if !self.isa.csrs.has_handler {
            "no trap handler is set (mtvec has not been written)"
        } else if !bus.peek(handler, &mut [0; 2]) {
            "mtvec points to no memory"
        } else if handler == fault.pc {
            "it happened on the first instruction of the trap handler"
        } else {
            if fault.access.is_some() || fault.encoding.is_some() {
                bus.note_trap(fault);
            }
            return;
        };
        self.shell.fault(CoreFault { why_fatal, ..fault });
    }

    /// The access that caused an exception, for messages.
    fn faulted_access(&self, bus: &Bus, exception: Exception) -> Option<FaultedAccess> {
        let (addr, answer) = (exception.value, exception.answer?);
        if exception.cause != ExceptionCause::InstructionAccessFault {
            return Some(FaultedAccess { addr, kind: self.access_kind, answer });
        }
        let answer = if bus.entry_at(addr).is_some() { Answer::Bus(BusFaultKind::Slave) } else { answer };
        Some(FaultedAccess { addr, kind: FaultedAccess::FETCH, answer })
    }

    /// Enters the trap handler. Returns its address.
    pub(super) fn trap(&mut self, bus: &mut Bus, cause: u32, value: u32, interrupt: bool) -> u32 {
        let name = if interrupt { "interrupt" } else { "exception of cause" };
        let source = Source { name, number: Some(cause), input: interrupt.then_some(cause) };
        self.follow_exception(source);
        self.pc = self.isa.csrs.enter_trap(self.pc, cause, value, interrupt);
        self.enter_handler(bus, source, u64::from(self.timing.trap));
        self.follow_handler();
        self.memory.flush_prefetch();
        self.pc
    }
}
