//! Exceptions: how they are taken, and the messages for those that are faults.

use super::instruction_set::Mips;
use super::op::RA;
use super::system::{Exception, TlbFault, hints};
use crate::bus::Bus;
use crate::cpu::handlers::{HANDLER_FAILS, HANDLER_IS_STUCK};
use crate::cpu::memory_system::Mmu;
use crate::cpu::memory_system::access::{Abort, Access, Kind};
use crate::event_rates::Source;
use crate::faults::{Answer, CoreFault, FaultedAccess};

/// A branch to itself (beq $0, $0), and the bits of a jump to itself without its target.
const BRANCH_FOREVER: u32 = 0x1000_ffff;
const JUMP: u32 = 0x02;
/// Number of words of a vector that are examined: memory that was never written is all nops.
const EXAMINED_WORDS: u32 = 8;

/// An exception, and the reason of the refused access that raised it, if any.
#[derive(Clone, Copy, Debug)]
pub struct Raised {
    exception: Exception,
    abort: Option<Abort<TlbFault>>,
    fetch: bool,
}

impl Raised {
    /// An exception without an access.
    pub(super) fn of(exception: Exception) -> Raised {
        Raised { exception, abort: None, fetch: false }
    }

    /// The exception of a fetch, or of a load or store.
    pub(super) fn of_abort(abort: Abort<TlbFault>, fetch: bool) -> Raised {
        Raised { exception: Exception::from_abort(abort, fetch), abort: Some(abort), fetch }
    }
}

impl Mips {
    /// Takes an interrupt, which is before the instruction at the current address.
    pub(super) fn interrupt(&mut self, bus: &mut Bus) {
        let fault = self.fault_of(Exception::Interrupt, None);
        self.take(bus, Exception::Interrupt);
        if let Some(why_fatal) = self.why_no_handler(bus) {
            self.shell.fault(CoreFault { why_fatal, ..fault });
        }
    }

    /// Takes an interrupt, or an exception of the instruction at the current address.
    pub(super) fn take(&mut self, bus: &mut Bus, exception: Exception) {
        let inputs = self.interrupts(bus).low();
        let input = (exception == Exception::Interrupt && inputs != 0).then(|| inputs.trailing_zeros());
        let source = Source { name: exception.name(), number: input, input };
        self.follow_exception(source);
        self.pc = self.isa.system.enter(exception, self.pc, self.isa.delayed.is_some());
        self.isa.delayed = None;
        self.enter_handler(bus, source, u64::from(self.timing.exception));
        self.follow_handler();
        self.memory.flush_prefetch();
        self.follow_privilege();
    }

    /// Updates the memory side after a change of mode.
    pub(super) fn follow_privilege(&mut self) {
        if self.memory.privilege_changed(self.isa.system.is_privileged()) {
            self.isa.pages.forget();
        }
    }

    /// Enters the handler of an exception raised by the instruction at the current address.
    pub(super) fn raise(&mut self, bus: &mut Bus, raised: Raised) {
        let Raised { exception, abort, fetch } = raised;
        if fetch {
            self.access_kind = FaultedAccess::FETCH;
        }
        let fault = self.fault_of(exception, abort);
        let fault = self.with_instruction(bus, fault);
        let nested = self.isa.system.is_in_handler();
        self.take(bus, exception);
        if let Some(why_fatal) = self.why_fatal(bus, fault.pc, nested) {
            self.shell.fault(CoreFault { why_fatal, ..fault });
        } else if is_worth_a_note(exception) {
            bus.note_trap(fault);
        }
    }

    /// The message for an exception.
    fn fault_of(&self, exception: Exception, abort: Option<Abort<TlbFault>>) -> CoreFault {
        let fault = CoreFault { pc: self.pc, what: exception.name(), ..CoreFault::default() };
        let link = Some(self.x[usize::from(RA)]);
        let fetch = abort.is_some_and(|abort| abort.va == self.pc);
        match (exception, abort) {
            (_, Some(abort)) => {
                let hint = hints::of_fault(abort.status, abort.va, fetch, &self.isa.system);
                let link = link.filter(|_| fetch);
                CoreFault { access: Some(self.faulted(abort)), hint, link, ..fault }
            }
            (Exception::AddressLoad(va), None) => {
                let access = FaultedAccess { addr: va, kind: self.access_kind, answer: Answer::Misaligned };
                let hint = hints::of_fault(TlbFault::Alignment, va, true, &self.isa.system);
                CoreFault { access: Some(access), hint, link, ..fault }
            }
            (Exception::Reserved(encoding), _) => {
                CoreFault { encoding: Some(encoding), hint: hints::of_reserved(encoding), link, ..fault }
            }
            (Exception::CopUnusable(number), _) => CoreFault { hint: hints::of_unusable(number), ..fault },
            _ => fault,
        }
    }

    fn faulted(&self, abort: Abort<TlbFault>) -> FaultedAccess {
        let kind = self.access_kind;
        match (abort.status, abort.bus) {
            // The map has physical addresses.
            (TlbFault::External, Some(answer)) => {
                FaultedAccess { addr: self.reported_physical(abort.va), kind, answer: Answer::Bus(answer) }
            }
            (TlbFault::Alignment, _) => FaultedAccess { addr: abort.va, kind, answer: Answer::Misaligned },
            (status, _) => FaultedAccess { addr: abort.va, kind, answer: Answer::Refused(status.name()) },
        }
    }

    fn reported_physical(&self, va: u32) -> u32 {
        let access = Access { kind: Kind::Read, privileged: true };
        self.isa.system.translate(va, access, |_| None).map_or(va, |to| to.physical)
    }

    /// The reason why an exception of the instruction at `pc` has no handler; the core is at its vector. `nested`: in a
    /// handler.
    fn why_fatal(&mut self, bus: &mut Bus, pc: u32, nested: bool) -> Option<&'static str> {
        if self.pc == pc {
            return Some("it happened at its own exception vector");
        }
        if nested && self.x.first_chunk().is_some_and(|registers| self.isa.nesting.is_endless((pc, *registers))) {
            return Some(HANDLER_FAILS);
        }
        self.why_no_handler(bus)
    }

    /// The reason why the vector at the core's address has no handler.
    fn why_no_handler(&mut self, bus: &mut Bus) -> Option<&'static str> {
        let Some(first) = self.code_word(bus, self.pc) else {
            return Some(
                "nothing can be fetched at its exception vector (while Status.BEV is set, that is in the boot ROM)",
            );
        };
        let itself = JUMP << 26 | self.pc << 4 >> 6;
        if first == BRANCH_FOREVER || first == itself {
            return Some(HANDLER_IS_STUCK);
        }
        let words = (0..EXAMINED_WORDS).map(|n| self.code_word(bus, self.pc.wrapping_add(4 * n)));
        let empty = first == 0 && words.into_iter().all(|word| word == Some(0));
        empty.then_some("there is no handler at its exception vector")
    }
}

/// False for exceptions that an operating system handles routinely.
fn is_worth_a_note(exception: Exception) -> bool {
    use Exception::*;
    !matches!(exception, Interrupt | Syscall | TlbRefill { .. } | TlbInvalid { .. } | TlbModified(_))
}
