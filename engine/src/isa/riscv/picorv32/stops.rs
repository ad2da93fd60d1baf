//! What a core can't go on from: it stops for good, or waits for ever.

use super::Picorv32;
use super::decoded::{Decoded, Kind};
use super::interrupts::BUS_ERROR;
use crate::bus::BusFault;
use crate::core::{Answer, CoreFault, FaultedAccess, Stop};
use crate::isa::riscv::access::access_kind;
use crate::isa::riscv::op::TimingClass;

impl Picorv32 {
    /// An instruction's own cause can't be taken: the core stops for good, in cycle `stops`.
    #[cold]
    pub(super) fn halt(&mut self, decoded: Decoded, stops: u64) {
        self.spent.exceptions += stops - self.cycles;
        self.cycles = stops;
        let (what, encoding) = match (decoded.kind, decoded.op.code.class()) {
            (Kind::Breakpoint, _) => ("environment call or breakpoint", None),
            (_, TimingClass::Multiply | TimingClass::MultiplyHigh) => {
                ("multiplication, which this core lacks:", Some(decoded.encoding))
            }
            (_, TimingClass::Divide) => ("division, which this core lacks:", Some(decoded.encoding)),
            _ => ("unknown instruction", Some(decoded.encoding)),
        };
        let why_fatal = self.interrupts.why_fatal();
        self.fault(CoreFault { pc: decoded.pc, what, encoding, why_fatal, ..CoreFault::default() });
    }

    /// A data access at an address that is no multiple of its size.
    #[cold]
    pub(super) fn misaligned(&mut self, decoded: Decoded, addr: u32) {
        if self.interrupts.raise(BUS_ERROR) {
            return self.look_ahead();
        }
        let access = FaultedAccess { addr, kind: access_kind(decoded.op.code), answer: Answer::Misaligned };
        let why_fatal = self.interrupts.why_fatal();
        let pc = decoded.pc;
        let what = "misaligned access";
        self.fault(CoreFault { pc, what, access: Some(access), why_fatal, ..CoreFault::default() });
    }

    /// The core could have accepted the instruction in cycle `accepts`.
    #[cold]
    pub(super) fn unanswered_fetch(&mut self, fault: BusFault, accepts: u64) {
        self.cycles = accepts + 1;
        let access = FaultedAccess { addr: fault.addr, kind: "instruction fetch", answer: Answer::Bus(fault.kind) };
        self.hang(self.pc, "instruction fetch without an answer", access);
    }

    /// A data access that nothing answers.
    #[cold]
    pub(super) fn unanswered(&mut self, decoded: Decoded, fault: BusFault) {
        let access =
            FaultedAccess { addr: fault.addr, kind: access_kind(decoded.op.code), answer: Answer::Bus(fault.kind) };
        self.hang(decoded.pc, "access without an answer", access);
    }

    /// The bus has no errors: a request that nothing answers keeps the core waiting.
    fn hang(&mut self, pc: u32, what: &'static str, access: FaultedAccess) {
        let why_fatal = "the core waits for an answer for ever";
        self.fault(CoreFault { pc, what, access: Some(access), why_fatal, ..CoreFault::default() });
    }

    fn fault(&mut self, fault: CoreFault) {
        self.stop = Some(Stop::Fault(fault));
        self.look_ahead();
    }
}
