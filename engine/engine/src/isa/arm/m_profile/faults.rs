//! Explanations of faults, as a user would look them up in the manual.

use super::super::hints::is_trap;
use super::exceptions::{coprocessor, number};
use super::scb::{CCR_UNALIGN_TRP, bfsr, hfsr, mmfsr, ufsr};
use super::{Abort, Exception, FaultStatus, System};

/// Bits of HFSR and CFSR, with their names.
const HFSR: [(u32, &str); 3] = [(hfsr::VECTTBL, "VECTTBL"), (hfsr::FORCED, "FORCED"), (hfsr::DEBUGEVT, "DEBUGEVT")];
const CFSR: [(u32, &str); 18] = [
    (mmfsr::IACCVIOL, "IACCVIOL"),
    (mmfsr::DACCVIOL, "DACCVIOL"),
    (mmfsr::MUNSTKERR, "MUNSTKERR"),
    (mmfsr::MSTKERR, "MSTKERR"),
    (mmfsr::MLSPERR, "MLSPERR"),
    (mmfsr::MMARVALID, "MMARVALID"),
    (bfsr::IBUSERR, "IBUSERR"),
    (bfsr::PRECISERR, "PRECISERR"),
    (bfsr::UNSTKERR, "UNSTKERR"),
    (bfsr::STKERR, "STKERR"),
    (bfsr::LSPERR, "LSPERR"),
    (bfsr::BFARVALID, "BFARVALID"),
    (ufsr::UNDEFINSTR, "UNDEFINSTR"),
    (ufsr::INVSTATE, "INVSTATE"),
    (ufsr::INVPC, "INVPC"),
    (ufsr::NOCP, "NOCP"),
    (ufsr::UNALIGNED, "UNALIGNED"),
    (ufsr::DIVBYZERO, "DIVBYZERO"),
];

impl Exception {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Exception::Due => "exception",
            Exception::Svc(_) => "supervisor call (svc)",
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

    /// The reason in the message of an access that did not reach the bus.
    pub fn refusal(self) -> &'static str {
        match self {
            FaultStatus::Alignment => "the address is not a multiple of the size",
            FaultStatus::External => "no such register",
            FaultStatus::Unprivileged => "only privileged code may use the private peripheral bus",
            FaultStatus::Permission => "the MPU does not allow it",
            FaultStatus::ExecuteNever => "instructions must not be fetched there",
        }
    }
}

impl System {
    /// The reason why a fault locks the core up now (ARM, B1.5.15).
    pub fn why_locked_up(&self) -> &'static str {
        match self.ipsr as u8 {
            _ if self.masks.faultmask => "it locks the core up: FAULTMASK is set",
            number::NMI => "it locks the core up: NMI is being handled",
            number::HARD_FAULT => "it locks the core up: HardFault is being handled",
            _ => "it locks the core up: HardFault can't be taken",
        }
    }

    /// The fault registers' bits by name, as far as set, and VTOR.
    pub fn fault_registers(&self) -> String {
        let named = |value: u32, bits: &[(u32, &'static str)]| {
            let set: Vec<&str> = bits.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name).collect();
            if set.is_empty() { "0".to_owned() } else { set.join(" ") }
        };
        let (hfsr, cfsr) = (named(self.scb.hfsr, &HFSR), named(self.scb.cfsr, &CFSR));
        let address = match self.scb.cfsr & (mmfsr::MMARVALID | bfsr::BFARVALID) {
            0 => String::new(),
            bit => {
                let name = if bit == mmfsr::MMARVALID { "MMFAR" } else { "BFAR" };
                format!(", {name} {:#010x}", self.scb.fault_address)
            }
        };
        format!("HFSR: {hfsr}, CFSR: {cfsr}{address}, VTOR {:#010x}", self.scb.vtor)
    }

    /// More about a fault; empty if there is nothing to add.
    pub fn hint(&self, exception: Exception) -> &'static str {
        match exception {
            Exception::Due | Exception::PrefetchAbort(_) => "",
            Exception::Svc(_) => {
                "the running code is as urgent as its exception, or PRIMASK, BASEPRI or FAULTMASK masks it"
            }
            Exception::Undefined(u32::MAX) => "this is the value of erased flash",
            Exception::Undefined(encoding) => self.hint_of_encoding(encoding),
            Exception::InvalidState => "the address jumped to is even, and there is only T32 here",
            Exception::InvalidReturn(_) => "EXC_RETURN and the stack do not fit the active exception",
            Exception::DivideByZero => "a division by 0, and CCR.DIV_0_TRP is set",
            Exception::Bkpt(_) => "there is no debugger, and DEMCR.MON_EN is clear",
            Exception::DataAbort(abort) => self.hint_of_access(abort),
        }
    }

    fn hint_of_access(&self, abort: Abort) -> &'static str {
        match abort.status {
            FaultStatus::Alignment if self.scb.ccr_has(CCR_UNALIGN_TRP) => "CCR.UNALIGN_TRP is set",
            FaultStatus::Alignment => {
                "this memory (Device, Strongly-ordered) or this instruction takes no address that is not a multiple \
                 of the size"
            }
            FaultStatus::Permission => "no region of the MPU allows it in this mode",
            _ => "",
        }
    }

    fn hint_of_encoding(&self, encoding: u32) -> &'static str {
        match coprocessor(encoding) {
            _ if is_trap(encoding, true) => "udf, a trap that the program or its compiler put there",
            None => "",
            Some(10 | 11) if !self.config.features.vfp => "floating point, which this core does not have",
            Some(10 | 11) if !self.floating_is_allowed() => "floating point, which CPACR disables",
            Some(10 | 11) => {
                "a floating-point instruction that this core does not have: its unit has single precision only"
            }
            Some(_) => "a coprocessor that this core does not have",
        }
    }
}
