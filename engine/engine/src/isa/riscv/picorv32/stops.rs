//! Faults from which a core can't continue: it stops for good, or waits for ever.

use super::Picorv32;
use super::decoded::{Decoded, Kind};
use super::interrupts::BUS_ERROR;
use crate::bus::{Bus, BusFault};
use crate::encoding::Encoding;
use crate::faults::{Answer, CoreFault, FaultedAccess};
use crate::isa::riscv::execute::moves;
use crate::isa::riscv::op::TimingClass;

impl Picorv32 {
    /// Stops the core for good, in cycle `stops`, because an instruction's own cause can't be taken.
    #[cold]
    pub(super) fn halt(&mut self, decoded: Decoded, stops: u64) {
        self.shell.spent.exceptions += stops - self.shell.cycles;
        self.shell.cycles = stops;
        let why_fatal = self.interrupts.why_fatal();
        self.fault(CoreFault { why_fatal, ..own_cause(decoded) });
    }

    /// Handles a data access at an address that is not a multiple of its size.
    #[cold]
    pub(super) fn misaligned(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32) {
        let access = FaultedAccess { addr, kind: moves(decoded.op.code).name(), answer: Answer::Misaligned };
        let fault = CoreFault { what: "misaligned access", access: Some(access), ..fault_of(decoded) };
        if self.interrupts.raise(BUS_ERROR) {
            bus.note_trap(fault);
            return self.look_ahead();
        }
        let why_fatal = self.interrupts.why_fatal();
        self.fault(CoreFault { why_fatal, ..fault });
    }

    /// Handles a fetch without an answer; the core could have accepted the instruction in cycle `accepts`.
    #[cold]
    pub(super) fn unanswered_fetch(&mut self, fault: BusFault, accepts: u64) {
        self.shell.cycles = accepts + 1;
        let access = FaultedAccess { addr: fault.addr, kind: FaultedAccess::FETCH, answer: Answer::Bus(fault.kind) };
        let fault = CoreFault { pc: self.pc, what: "instruction fetch without an answer", ..CoreFault::default() };
        self.hang(fault, access);
    }

    /// Handles a data access without an answer.
    #[cold]
    pub(super) fn unanswered(&mut self, decoded: Decoded, fault: BusFault) {
        let access =
            FaultedAccess { addr: fault.addr, kind: moves(decoded.op.code).name(), answer: Answer::Bus(fault.kind) };
        self.hang(CoreFault { what: "access without an answer", ..fault_of(decoded) }, access);
    }

    /// Makes the core wait for ever. The bus has no errors: a request without an answer keeps the core waiting.
    fn hang(&mut self, fault: CoreFault, access: FaultedAccess) {
        let why_fatal = "the core waits for an answer for ever";
        self.fault(CoreFault { access: Some(access), why_fatal, ..fault });
    }

    fn fault(&mut self, fault: CoreFault) {
        self.shell.fault(fault);
        self.look_ahead();
    }
}

/// Notes an instruction whose own cause is taken, if its encoding is illegal.
#[cold]
pub(super) fn note_illegal(bus: &mut Bus, decoded: Decoded) {
    let fault = own_cause(decoded);
    if fault.encoding.is_some() {
        bus.note_trap(fault);
    }
}

/// The fault of an instruction that raises its own cause.
fn own_cause(decoded: Decoded) -> CoreFault {
    let (what, encoding) = match (decoded.kind, decoded.op.code.class()) {
        (Kind::Breakpoint, _) => ("environment call or breakpoint", None),
        (_, TimingClass::Multiply | TimingClass::MultiplyHigh) => {
            ("multiplication, which this core lacks:", Some(decoded.encoding))
        }
        (_, TimingClass::Divide) => ("division, which this core lacks:", Some(decoded.encoding)),
        _ => ("unknown instruction", Some(decoded.encoding)),
    };
    let fault = fault_of(decoded);
    CoreFault { what, encoding, instruction: fault.instruction.filter(|_| encoding.is_some()), ..fault }
}

/// A fault of an instruction.
fn fault_of(decoded: Decoded) -> CoreFault {
    let instruction = Some((Encoding::RiscV, decoded.encoding));
    CoreFault { pc: decoded.pc, instruction, ..CoreFault::default() }
}
