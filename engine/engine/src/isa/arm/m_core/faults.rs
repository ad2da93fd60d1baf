//! Faults: their messages, and the faults without a handler.

use super::super::faults::faulted;
use super::super::instruction_set::Arm;
use super::super::m_profile::exceptions::number::HARD_FAULT;
use super::super::m_profile::{Exception, Lockup, System};
use super::super::registers::LR;
use crate::bus::Bus;
use crate::cpu::handlers::{HANDLER_FAILS, HANDLER_IS_STUCK};
use crate::faults::{Answer, CoreFault, FaultedAccess};

/// b .
const FOREVER: u32 = 0xe7fe;

impl Arm<System> {
    /// Takes the exception of the instruction at the current address.
    pub(super) fn raise_fault(&mut self, bus: &mut Bus, exception: Exception) {
        let fault = self.fault_of(exception);
        let fault = self.with_instruction(bus, fault);
        let is_call = matches!(exception, Exception::Svc(_));
        let is_endless = !is_call && self.isa.system.in_handler() && self.is_endless();
        match self.isa.system.raise(exception, self.pc) {
            Ok(_) if is_endless => self.end(CoreFault { why_fatal: HANDLER_FAILS, ..fault }),
            // A call is not a fault, unless it is escalated to one.
            Ok(return_pc) if is_call && self.isa.system.due() != Some(HARD_FAULT) => self.enter(bus, return_pc, None),
            Ok(return_pc) => self.enter(bus, return_pc, Some(fault)),
            Err(Lockup) => self.lock_up(fault),
        }
    }

    /// The message for an exception.
    pub(super) fn fault_of(&self, exception: Exception) -> CoreFault {
        let hint = self.isa.system.hint(exception);
        let fault = CoreFault { pc: self.pc, what: exception.name(), hint, ..CoreFault::default() };
        let link = Some(self.x[usize::from(LR)] & !1);
        match exception {
            Exception::Due | Exception::Svc(_) => fault,
            Exception::Undefined(encoding) => CoreFault { encoding: Some(encoding), link, ..fault },
            Exception::InvalidState => CoreFault { link, ..fault },
            Exception::InvalidReturn(_) | Exception::DivideByZero | Exception::Bkpt(_) => fault,
            Exception::PrefetchAbort(abort) => {
                let access = faulted(FaultedAccess::FETCH, abort, abort.status.refusal());
                CoreFault { access: Some(access), link, ..fault }
            }
            Exception::DataAbort(abort) => {
                let access = faulted(self.access_kind, abort, abort.status.refusal());
                CoreFault { access: Some(access), ..fault }
            }
        }
    }

    /// The message when a handler's address can't be read, for an exception with or without a message of its own.
    pub(super) fn fault_of_vector(&self, vector: u32, fault: Option<CoreFault>) -> CoreFault {
        let access = FaultedAccess { addr: vector, kind: "load of an exception's vector", answer: NOTHING };
        fault.unwrap_or(CoreFault { pc: self.pc, what: "HardFault", access: Some(access), ..CoreFault::default() })
    }

    /// The system asked for a reset.
    pub(super) fn reset_request(&self) -> CoreFault {
        CoreFault {
            pc: self.pc,
            what: "AIRCR requests a reset (SYSRESETREQ or VECTRESET)",
            why_fatal: "the run ends",
            ..CoreFault::default()
        }
    }

    /// Notes a fault whose handler the core has reached, or ends the run if the handler does nothing.
    pub(super) fn note_fault(&mut self, bus: &mut Bus, fault: CoreFault) {
        match self.code_word(bus, self.pc) {
            Some(word) if word & 0xffff == FOREVER => self.end(CoreFault { why_fatal: HANDLER_IS_STUCK, ..fault }),
            _ if self.pc == fault.pc => {
                self.end(CoreFault { why_fatal: "it happened at its own exception vector", ..fault });
            }
            Some(0) => self.end(CoreFault { why_fatal: "its exception vector leads to no instruction", ..fault }),
            Some(_) => bus.note_trap(fault),
            None => self.end(CoreFault { why_fatal: "the target of its exception vector can't be fetched", ..fault }),
        }
    }

    /// Stops the core for good.
    pub(super) fn lock_up(&mut self, fault: CoreFault) {
        self.lock_up_as(self.isa.system.why_locked_up(), fault);
    }

    pub(super) fn lock_up_as(&mut self, why_fatal: &'static str, fault: CoreFault) {
        self.end(CoreFault { why_fatal, registers: self.isa.system.fault_registers(), ..fault });
    }

    pub(super) fn end(&mut self, fault: CoreFault) {
        self.isa.flow.under_way = None;
        self.shell.fault(fault);
    }
}

const NOTHING: Answer = Answer::Bus(crate::faults::BusFaultKind::Unmapped);
