//! Registers of the system control block with state of their own (ARM, B3.2).

use super::exceptions::number;
use super::nvic::Nvic;

use crate::state::State;

/// CFSR, bits of MMFSR.
#[allow(missing_docs)]
pub(super) mod mmfsr {
    pub const IACCVIOL: u32 = 1 << 0;
    pub const DACCVIOL: u32 = 1 << 1;
    pub const MUNSTKERR: u32 = 1 << 3;
    pub const MSTKERR: u32 = 1 << 4;
    pub const MLSPERR: u32 = 1 << 5;
    pub const MMARVALID: u32 = 1 << 7;
}

/// CFSR, bits of BFSR.
#[allow(missing_docs)]
pub(super) mod bfsr {
    pub const IBUSERR: u32 = 1 << 8;
    pub const PRECISERR: u32 = 1 << 9;
    pub const UNSTKERR: u32 = 1 << 11;
    pub const STKERR: u32 = 1 << 12;
    pub const LSPERR: u32 = 1 << 13;
    pub const BFARVALID: u32 = 1 << 15;
}

/// CFSR, bits of UFSR.
#[allow(missing_docs)]
pub(super) mod ufsr {
    pub const UNDEFINSTR: u32 = 1 << 16;
    pub const INVSTATE: u32 = 1 << 17;
    pub const INVPC: u32 = 1 << 18;
    pub const NOCP: u32 = 1 << 19;
    pub const UNALIGNED: u32 = 1 << 24;
    pub const DIVBYZERO: u32 = 1 << 25;
}

/// HFSR.
#[allow(missing_docs)]
pub(super) mod hfsr {
    pub const VECTTBL: u32 = 1 << 1;
    pub const FORCED: u32 = 1 << 30;
    pub const DEBUGEVT: u32 = 1 << 31;
}

/// VTOR.TBLOFF.
pub(super) const VTOR_MASK: u32 = 0xffff_ff80;
/// SCR: SLEEPONEXIT, SLEEPDEEP, SEVONPEND.
pub(super) const SCR_MASK: u32 = 0x16;
const SCR_SEVONPEND: u32 = 1 << 4;
const SCR_SLEEPONEXIT: u32 = 1 << 1;
/// CCR: NONBASETHRDENA, USERSETMPEND, UNALIGN_TRP, DIV_0_TRP, STKALIGN. BFHFNMIGN is not modelled.
pub(super) const CCR_MASK: u32 = 0x21b;
pub(super) const CCR_NONBASETHRDENA: u32 = 1 << 0;
pub(super) const CCR_USERSETMPEND: u32 = 1 << 1;
pub(super) const CCR_UNALIGN_TRP: u32 = 1 << 3;
pub(super) const CCR_DIV_0_TRP: u32 = 1 << 4;
pub(super) const CCR_STKALIGN: u32 = 1 << 9;
/// ACTLR of a Cortex-M4 (TRM, 4.3): it keeps the written value, without effect here.
pub(super) const ACTLR_MASK: u32 = 0x307;

/// The registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(super) struct Scb {
    pub vtor: u32,
    pub scr: u32,
    pub ccr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub dfsr: u32,
    /// MMFAR and BFAR, which share one register (TRM, table 4-1).
    pub fault_address: u32,
    pub actlr: u32,
}

impl Scb {
    pub fn new(vectors: u32) -> Scb {
        Scb {
            vtor: vectors & VTOR_MASK,
            scr: 0,
            ccr: CCR_STKALIGN,
            cfsr: 0,
            hfsr: 0,
            dfsr: 0,
            fault_address: 0,
            actlr: 0,
        }
    }

    /// Sets the address of a fault; `valid` is MMARVALID or BFARVALID, and determines the register's name.
    pub fn set_fault_address(&mut self, address: u32, valid: u32) {
        self.cfsr = self.cfsr & !(mmfsr::MMARVALID | bfsr::BFARVALID) | valid;
        self.fault_address = address;
    }

    /// True if this bit of CCR is set.
    pub fn ccr_has(&self, bit: u32) -> bool {
        self.ccr & bit != 0
    }

    /// True if an exception that becomes pending is an event (SCR.SEVONPEND).
    pub fn sends_events(&self) -> bool {
        self.scr & SCR_SEVONPEND != 0
    }

    pub fn sleeps_on_exit(&self) -> bool {
        self.scr & SCR_SLEEPONEXIT != 0
    }
}

/// SHCSR: system handlers that are active, pending and enabled, by their bits.
const ACTIVE: [(u32, u8); 7] = [
    (0, number::MEM_MANAGE),
    (1, number::BUS_FAULT),
    (3, number::USAGE_FAULT),
    (7, number::SVCALL),
    (8, number::DEBUG_MONITOR),
    (10, number::PEND_SV),
    (11, number::SYS_TICK),
];
const PENDING: [(u32, u8); 4] =
    [(12, number::USAGE_FAULT), (13, number::MEM_MANAGE), (14, number::BUS_FAULT), (15, number::SVCALL)];
const ENABLED: [(u32, u8); 3] = [(16, number::MEM_MANAGE), (17, number::BUS_FAULT), (18, number::USAGE_FAULT)];

/// SHCSR.
pub(super) fn shcsr(nvic: &Nvic) -> u32 {
    let bits = |table: &[(u32, u8)], holds: &dyn Fn(u8) -> bool| {
        table.iter().filter(|(_, exception)| holds(*exception)).fold(0, |set, (bit, _)| set | 1 << bit)
    };
    bits(&ACTIVE, &|exception| nvic.active.contains(exception))
        | bits(&PENDING, &|exception| nvic.pending.contains(exception))
        | bits(&ENABLED, &|exception| nvic.enabled.contains(exception))
}

/// Sets SHCSR.
pub(super) fn set_shcsr(nvic: &mut Nvic, value: u32) {
    for (bit, exception) in ACTIVE {
        nvic.active.set(exception, value >> bit & 1 != 0);
    }
    for (bit, exception) in PENDING {
        if value >> bit & 1 != 0 { nvic.pend(exception) } else { nvic.unpend(exception) }
    }
    for (bit, exception) in ENABLED {
        nvic.enable(exception, value >> bit & 1 != 0);
    }
}
