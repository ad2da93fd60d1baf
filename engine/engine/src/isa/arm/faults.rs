//! Exceptions: how they are taken, and the messages for those that are faults.

use super::architecture::Profile;
use super::hints;
use super::instruction_set::Arm;
use super::registers::LR;
use super::system::{Exception, System};
use crate::bus::Bus;
use crate::cpu::handlers::{HANDLER_FAILS, HANDLER_IS_STUCK};
use crate::cpu::memory_system::access;
use crate::event_rates::Source;
use crate::faults::{Answer, CoreFault, FaultedAccess};

/// b . in A32, and in T32.
const FOREVER_A32: u32 = 0xeaff_fffe;
const FOREVER_T32: u32 = 0xe7fe;
/// The core's inputs.
const IRQ_INPUT: u32 = 0;
const FIQ_INPUT: u32 = 1;
/// Most jumps from a vector that are followed to find the handler.
const MOST_HOPS: usize = 4;

impl<P: Profile> Arm<P> {
    /// True if the same fault has occurred with the same registers again and again.
    pub(super) fn is_endless(&mut self) -> bool {
        self.x.first_chunk().is_some_and(|registers| self.isa.nesting.is_endless(*registers))
    }
}

impl Arm<System> {
    /// Takes an interrupt, or an exception that is not a fault.
    pub(super) fn take_exception(&mut self, bus: &mut Bus, exception: Exception) {
        let input = match exception {
            Exception::Irq => Some(IRQ_INPUT),
            Exception::Fiq => Some(FIQ_INPUT),
            _ => None,
        };
        let source = Source { name: exception.name(), number: None, input };
        self.follow_exception(source);
        self.pc = self.isa.system.enter(&mut self.x, exception, self.pc);
        self.enter_handler(bus, source, u64::from(self.timing.exception));
        self.follow_handler();
        self.memory.privilege_changed(self.isa.system.is_privileged());
    }

    /// Enters the handler of an exception raised by the instruction at the current address.
    pub(super) fn raise_exception(&mut self, bus: &mut Bus, exception: Exception) {
        let Some(fault) = self.fault_of(exception) else { return self.take_exception(bus, exception) };
        let fault = self.with_instruction(bus, fault);
        let mode = self.isa.system.mode();
        let is_usual = self.isa.system.is_usual(exception);
        self.take_exception(bus, exception);
        match self.why_fatal(bus, fault.pc, self.isa.system.mode() == mode) {
            Some(why_fatal) => self.shell.fault(CoreFault { why_fatal, ..fault }),
            None if is_usual => {}
            None => bus.note_trap(fault),
        }
    }

    /// The message for an exception; `None` for a supervisor call or an interrupt.
    fn fault_of(&mut self, exception: Exception) -> Option<CoreFault> {
        let fault = CoreFault { pc: self.pc, what: exception.name(), ..CoreFault::default() };
        let link = Some(self.x[LR as usize] & !1);
        Some(match exception {
            Exception::Svc(_) | Exception::Irq | Exception::Fiq => return None,
            Exception::Bkpt(_) => fault,
            Exception::Undefined(encoding) => {
                let hint = hints::of_undefined(encoding, &self.isa.system);
                CoreFault { encoding: Some(encoding), hint, link, ..fault }
            }
            Exception::PrefetchAbort(abort) => {
                let hint = hints::of_abort(abort, true, &self.isa.system);
                CoreFault {
                    access: Some(faulted(FaultedAccess::FETCH, abort, abort.status.name())),
                    hint,
                    link,
                    ..fault
                }
            }
            Exception::DataAbort(abort) => {
                let hint = hints::of_abort(abort, false, &self.isa.system);
                CoreFault { access: Some(faulted(self.access_kind, abort, abort.status.name())), hint, ..fault }
            }
        })
    }

    /// The reason why an exception of the instruction at `pc` has no handler; the core is at its vector. `nested`: in a
    /// handler of the same kind.
    fn why_fatal(&mut self, bus: &mut Bus, pc: u32, nested: bool) -> Option<&'static str> {
        if self.pc == pc {
            return Some("it happened at its own exception vector");
        }
        if nested && self.is_endless() {
            return Some(HANDLER_FAILS);
        }
        let (mut at, thumb) = (self.pc, self.isa.system.state.thumb);
        for _ in 0..MOST_HOPS {
            let Some(word) = self.code_word(bus, at & !1) else {
                return Some("the target of its exception vector (VBAR, SCTLR.V) can't be fetched");
            };
            if word == 0 {
                return Some("its exception vector leads to no instruction");
            }
            if thumb || at & 1 != 0 {
                return (word & 0xffff == FOREVER_T32).then_some(HANDLER_IS_STUCK);
            }
            if word == FOREVER_A32 {
                return Some(HANDLER_IS_STUCK);
            }
            at = self.jump_target(bus, at, word)?;
        }
        None
    }

    /// Target of an A32 instruction at `at`, if it is `b` or `ldr pc, [pc, #n]`. Bit 0 is the T bit.
    fn jump_target(&mut self, bus: &mut Bus, at: u32, word: u32) -> Option<u32> {
        let pc = at.wrapping_add(8);
        if word >> 24 == 0xea {
            return Some(pc.wrapping_add(((word << 8) as i32 >> 6) as u32));
        }
        if word & 0xff7f_f000 != 0xe51f_f000 {
            return None;
        }
        let offset = word & 0xfff;
        let from = if word >> 23 & 1 != 0 { pc.wrapping_add(offset) } else { pc.wrapping_sub(offset) };
        self.code_word(bus, from)
    }
}

/// The message for a failed access: `refusal`, if it did not reach the bus.
pub(super) fn faulted<S>(kind: &'static str, abort: access::Abort<S>, refusal: &'static str) -> FaultedAccess
where
    S: access::Status + PartialEq,
{
    let answer = match abort.bus {
        Some(kind) if abort.status == S::EXTERNAL => Answer::Bus(kind),
        _ => Answer::Refused(refusal),
    };
    FaultedAccess { addr: abort.va, kind, answer }
}
