//! The registers of coprocessor 0, by number and select (PRA, CP0 registers).

use super::System;
use super::status::{BEV, CAUSE_WRITABLE, ERL, STATUS_WRITABLE};
use super::tlb::{HI_ASID, HI_VPN2, LO_WRITABLE, MASK_WRITABLE, legal_mask};
use super::{Effect, Now};

use crate::state::State;

/// Config.K0: cacheability of kseg0.
pub(super) const CONFIG_K0: u32 = 7;
/// Context: base of a page table, which software writes; the other bits are from the address that missed the TLB.
pub(super) const CONTEXT_PTE_BASE: u32 = 0x1ff << 23;

/// The stored registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Registers {
    pub index: u32,
    pub wired: u32,
    pub entry_lo: [u32; 2],
    pub entry_hi: u32,
    pub page_mask: u32,
    pub context: u32,
    pub bad_vaddr: u32,
    pub status: u32,
    /// Cause, without the external lines.
    pub cause: u32,
    pub epc: u32,
    pub error_epc: u32,
    pub config: u32,
    /// TagLo, DataLo, TagHi, DataHi and ErrCtl: for cache instructions with tags, which have no effect here.
    cache: [u32; 5],
}

impl Registers {
    /// The state after reset; undefined values are 0.
    pub fn new(config: u32) -> Registers {
        Registers { status: BEV | ERL, config, ..Registers::default() }
    }
}

/// Index of a register for cache instructions.
fn cache_register(register: u8, select: u8) -> Option<usize> {
    Some(match (register, select) {
        (28, 0) => 0,
        (28, 1) => 1,
        (29, 0) => 2,
        (29, 1) => 3,
        (26, 0) => 4,
        _ => return None,
    })
}

impl System {
    /// Reads a register, for `mfc0`. Registers that do not exist read as 0.
    pub fn register(&self, register: u8, select: u8, now: Now) -> u32 {
        let registers = &self.registers;
        match (register, select) {
            (0, 0) => registers.index,
            (1, 0) => self.tlb.random(registers.wired, now),
            (2, 0) => registers.entry_lo[0],
            (3, 0) => registers.entry_lo[1],
            (4, 0) => registers.context,
            (5, 0) => registers.page_mask,
            (6, 0) => registers.wired,
            (8, 0) => registers.bad_vaddr,
            (10, 0) => registers.entry_hi,
            (12, 0) => registers.status,
            (13, 0) => self.cause(now.pending),
            (14, 0) => registers.epc,
            (15, 0) => self.config.prid,
            (16, 0) => registers.config,
            (16, 1) => self.config.config1,
            (30, 0) => registers.error_epc,
            _ => cache_register(register, select).map_or(0, |at| registers.cache[at]),
        }
    }

    /// Writes a register, for `mtc0`; read-only bits do not change.
    pub fn write(&mut self, register: u8, select: u8, value: u32, now: Now) -> Effect {
        let registers = &mut self.registers;
        match (register, select) {
            (0, 0) => registers.index = registers.index & 1 << 31 | value & self.tlb.index_mask(),
            (2, 0) => registers.entry_lo[0] = value & LO_WRITABLE,
            (3, 0) => registers.entry_lo[1] = value & LO_WRITABLE,
            (4, 0) => registers.context = value & CONTEXT_PTE_BASE | registers.context & !CONTEXT_PTE_BASE,
            (5, 0) => registers.page_mask = legal_mask(value & MASK_WRITABLE),
            (6, 0) => {
                registers.wired = value & self.tlb.index_mask();
                self.tlb.restart_random(now);
            }
            (10, 0) => return self.write_entry_hi(value),
            (12, 0) => return self.write_status(value),
            (13, 0) => registers.cause = registers.cause & !CAUSE_WRITABLE | value & CAUSE_WRITABLE,
            (14, 0) => registers.epc = value,
            (16, 0) => return self.write_config(value),
            (30, 0) => registers.error_epc = value,
            _ => {
                if let Some(at) = cache_register(register, select) {
                    registers.cache[at] = value;
                }
            }
        }
        Effect::Next
    }

    /// Another address space has other translations.
    fn write_entry_hi(&mut self, value: u32) -> Effect {
        let before = std::mem::replace(&mut self.registers.entry_hi, value & (HI_VPN2 | HI_ASID));
        if (before ^ value) & HI_ASID == 0 { Effect::Next } else { Effect::TranslationChanged }
    }

    /// With ERL, kuseg is unmapped.
    pub(super) fn write_status(&mut self, value: u32) -> Effect {
        let before = std::mem::replace(&mut self.registers.status, value & STATUS_WRITABLE);
        if (before ^ value) & ERL == 0 { Effect::Next } else { Effect::TranslationChanged }
    }

    fn write_config(&mut self, value: u32) -> Effect {
        let config = &mut self.registers.config;
        let before = std::mem::replace(config, *config & !CONFIG_K0 | value & CONFIG_K0);
        if before == *config { Effect::Next } else { Effect::TranslationChanged }
    }
}
