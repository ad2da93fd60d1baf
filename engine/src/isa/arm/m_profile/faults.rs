//! Faults in words: what a user would look up in the manual.

use super::{Abort, Exception, FaultStatus, System};

impl Exception {
    /// The fault's name; empty for what is none.
    pub fn name(self) -> &'static str {
        match self {
            Exception::Due | Exception::Svc(_) => "",
            Exception::Undefined(_)
            | Exception::InvalidState
            | Exception::InvalidReturn(_)
            | Exception::DivideByZero => "UsageFault",
            Exception::Bkpt(_) => "breakpoint",
            Exception::PrefetchAbort(abort) | Exception::DataAbort(abort) => abort.status.name(),
        }
    }
}

impl FaultStatus {
    /// The fault's name.
    pub fn name(self) -> &'static str {
        match self {
            FaultStatus::Alignment => "UsageFault",
            FaultStatus::External | FaultStatus::Unprivileged => "BusFault",
            FaultStatus::Permission | FaultStatus::ExecuteNever => "MemManage fault",
        }
    }

    /// What an access is told that did not come as far as the bus.
    pub fn refusal(self) -> &'static str {
        match self {
            FaultStatus::Alignment => "the address is no multiple of the size",
            FaultStatus::External => "no such register",
            FaultStatus::Unprivileged => "only privileged code may use the private peripheral bus",
            FaultStatus::Permission => "the MPU does not allow it",
            FaultStatus::ExecuteNever => "no instruction may come from there",
        }
    }
}

impl System {
    /// More about a fault; empty if there is nothing to say.
    pub fn hint(&self, exception: Exception) -> &'static str {
        match exception {
            Exception::Due | Exception::Svc(_) | Exception::PrefetchAbort(_) => "",
            Exception::Undefined(u32::MAX) => "erased flash reads so",
            Exception::Undefined(encoding) => self.hint_of_encoding(encoding),
            Exception::InvalidState => "the address jumped to is even, and there is only T32 here",
            Exception::InvalidReturn(_) => "EXC_RETURN and the stack do not fit what is being handled",
            Exception::DivideByZero => "a division by 0, and CCR.DIV_0_TRP is set",
            Exception::Bkpt(_) => "there is no debugger, and DEMCR.MON_EN is clear",
            Exception::DataAbort(abort) => self.hint_of_access(abort),
        }
    }

    fn hint_of_access(&self, abort: Abort) -> &'static str {
        match abort.status {
            FaultStatus::Alignment if self.scb.traps_unaligned() => "CCR.UNALIGN_TRP is set",
            FaultStatus::Alignment => {
                "this memory (Device, Strongly-ordered) or this instruction takes no address that is not a multiple of the size"
            }
            FaultStatus::Permission => "no region of the MPU allows it in this mode",
            _ => "",
        }
    }

    fn hint_of_encoding(&self, encoding: u32) -> &'static str {
        let coprocessor = encoding >> 29 == 7 && matches!(encoding >> 24 & 15, 12..=15);
        match encoding >> 8 & 15 {
            _ if encoding & 0xffff_ff00 == 0xde00 || encoding & 0xfff0_f000 == 0xf7f0_a000 => {
                "udf, a trap that the program or its compiler put there"
            }
            _ if !coprocessor => "",
            10 | 11 if !self.config.features.vfp => "floating point, which this core does not have",
            10 | 11 if !self.floating_is_allowed() => "floating point, which CPACR has off",
            10 | 11 => "a floating-point instruction that this core does not have: its unit has single precision only",
            _ => "a coprocessor that this core does not have",
        }
    }
}
