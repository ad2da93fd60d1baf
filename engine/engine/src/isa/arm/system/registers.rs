//! Coprocessor 15 (ARM, B4.1): its registers, and the permissions to use them.

use super::Translation;
use super::effect::{Effect, Now};
use super::exceptions::{Abort, PENDING_FIQ, PENDING_IRQ};
use super::{System, maintenance, timer};

use crate::state::State;

/// SCTLR.M: the MMU is on.
pub(super) const SCTLR_M: u32 = 1 << 0;
/// SCTLR.A: alignment is checked.
pub(super) const SCTLR_A: u32 = 1 << 1;
/// SCTLR.C: data caches are on.
pub(super) const SCTLR_C: u32 = 1 << 2;
/// SCTLR.Z: branch prediction is on.
pub(super) const SCTLR_Z: u32 = 1 << 11;
/// SCTLR.I: the instruction cache is on.
pub(super) const SCTLR_I: u32 = 1 << 12;
/// SCTLR.V: high vectors.
pub(super) const SCTLR_V: u32 = 1 << 13;
/// SCTLR.TRE: TEX remap.
pub(super) const SCTLR_TRE: u32 = 1 << 28;
/// SCTLR.AFE: AP\[0\] is the access flag.
pub(super) const SCTLR_AFE: u32 = 1 << 29;
/// SCTLR.TE: exceptions are taken in T32.
pub(super) const SCTLR_TE: u32 = 1 << 30;
/// SCTLR.SW: swp and swpb are enabled.
const SCTLR_SW: u32 = 1 << 10;
/// ACTLR.SMP: shareable memory is kept in the data cache (TRM, Auxiliary Control Register).
pub(super) const ACTLR_SMP: u32 = 1 << 6;
/// ACTLR.L1RADIS, of a Cortex-A5 RADIS: the data cache allocates lines for all stores that miss.
pub(super) const ACTLR_L1RADIS: u32 = 1 << 12;
/// ACTLR.L2RADIS of a Cortex-A7: so does the second level.
pub(super) const ACTLR_L2RADIS: u32 = 1 << 11;
/// ACTLR.L1PCTL: lines of data that may be requested ahead. All ones after reset: copies on a SAMA5D2 gain from
/// prefetches although its boot loaders leave the register.
pub(super) const ACTLR_L1PCTL: u32 = 3 << 13;
/// Writable bits of SCTLR; only little-endian is modelled, so EE is not one of them.
const SCTLR_WRITABLE: u32 =
    SCTLR_M | SCTLR_A | SCTLR_C | SCTLR_SW | SCTLR_Z | SCTLR_I | SCTLR_V | SCTLR_TRE | SCTLR_AFE | SCTLR_TE;
/// SCTLR after reset: the bits that are always 1.
const SCTLR_RESET: u32 = 0x00c5_0078;
/// TTBCR: N, PD0 and PD1.
const TTBCR_MASK: u32 = 0x37;
/// PAR.F: the translation failed.
const PAR_F: u32 = 1 << 0;
/// PAR.SS: the page is a supersection.
const PAR_SS: u32 = 1 << 1;

/// A register of coprocessor 15: CRn, opc1, CRm, opc2.
pub type Number = (u32, u32, u32, u32);

const SCTLR: Number = (1, 0, 0, 0);
const ACTLR: Number = (1, 0, 0, 1);
const TTBR0: Number = (2, 0, 0, 0);
const DACR: Number = (3, 0, 0, 0);
const CONTEXTIDR: Number = (13, 0, 0, 1);

/// The registers with stored values, or with values that faults set.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Registers {
    pub(super) sctlr: u32,
    pub(super) actlr: u32,
    pub(super) cpacr: u32,
    scr: u32,
    sder: u32,
    nsacr: u32,
    pub(super) ttbr: [u32; 2],
    pub(super) ttbcr: u32,
    pub(super) dacr: u32,
    pub(super) dfsr: u32,
    pub(super) ifsr: u32,
    pub(super) dfar: u32,
    pub(super) ifar: u32,
    par: u32,
    pub(super) prrr: u32,
    pub(super) nmrr: u32,
    pub(super) vbar: u32,
    mvbar: u32,
    pub(super) contextidr: u32,
    pub(super) tpidr: [u32; 3],
    pub(super) csselr: u32,
    pub(super) cntkctl: u32,
    pub(super) fpscr: u32,
    pub(super) fpexc: u32,
}

impl Registers {
    pub(super) fn new() -> Registers {
        // The reset values of PRRR and NMRR give the types that TEX, C and B select without remap.
        Registers {
            sctlr: SCTLR_RESET,
            actlr: ACTLR_L1PCTL,
            prrr: 0x0009_8aa4,
            nmrr: 0x44e0_48e0,
            ..Registers::default()
        }
    }

    /// Sets ACTLR.SMP.
    pub(super) fn join_cluster(&mut self) {
        self.actlr |= ACTLR_SMP;
    }

    /// A register that just stores the written value, and its implemented bits.
    fn plain(&mut self, number: Number) -> Option<(&mut u32, u32)> {
        Some(match number {
            SCTLR => (&mut self.sctlr, SCTLR_WRITABLE),
            ACTLR => (&mut self.actlr, u32::MAX),
            (1, 0, 1, 0) => (&mut self.scr, 0x7e),
            (1, 0, 1, 1) => (&mut self.sder, 3),
            (1, 0, 1, 2) => (&mut self.nsacr, 0x0007_ffff),
            TTBR0 => (&mut self.ttbr[0], u32::MAX),
            (2, 0, 0, 1) => (&mut self.ttbr[1], u32::MAX),
            (2, 0, 0, 2) => (&mut self.ttbcr, TTBCR_MASK),
            DACR => (&mut self.dacr, u32::MAX),
            (5, 0, 0, 0) => (&mut self.dfsr, u32::MAX),
            (5, 0, 0, 1) => (&mut self.ifsr, u32::MAX),
            (6, 0, 0, 0) => (&mut self.dfar, u32::MAX),
            (6, 0, 0, 2) => (&mut self.ifar, u32::MAX),
            (7, 0, 4, 0) => (&mut self.par, u32::MAX),
            (10, 0, 2, 0) => (&mut self.prrr, u32::MAX),
            (10, 0, 2, 1) => (&mut self.nmrr, u32::MAX),
            (12, 0, 0, 0) => (&mut self.vbar, !0x1f),
            (12, 0, 0, 1) => (&mut self.mvbar, !0x1f),
            CONTEXTIDR => (&mut self.contextidr, u32::MAX),
            (13, 0, 0, n @ 2..=4) => (&mut self.tpidr[n as usize - 2], u32::MAX),
            (0, 2, 0, 0) => (&mut self.csselr, 0xf),
            timer::CNTKCTL => (&mut self.cntkctl, timer::CNTKCTL_MASK),
            _ => return None,
        })
    }
}

/// True for the registers, beside SCTLR and ACTLR, on which translation depends.
fn is_of_mapping(number: Number) -> bool {
    matches!(number, (2, ..) | (10, 0, 2, _) | CONTEXTIDR)
}

impl System {
    /// True if swp and swpb are enabled (SCTLR.SW).
    pub fn has_swap(&self) -> bool {
        self.registers.sctlr & SCTLR_SW != 0
    }

    /// TPIDRURW, TPIDRURO or TPIDRPRW, by opc2; `None` if it does not exist in this mode.
    #[inline]
    pub fn thread_id(&self, opc2: u32) -> Option<u32> {
        let index = opc2.checked_sub(2)? as usize;
        self.registers.tpidr.get(index).copied().filter(|_| opc2 != 4 || self.is_privileged())
    }

    /// Reads a register; `None` if it does not exist in this mode.
    pub(super) fn read_register(&self, number: Number, now: &Now) -> Option<u32> {
        if !self.is_privileged() && !self.user_may(number, false) {
            return None;
        }
        match number {
            (0, opc1, crm, opc2) => self.identification(opc1, crm, opc2),
            (1, 0, 0, 2) => Some(self.registers.cpacr),
            // Auxiliary fault status: always 0.
            (5, 0, 1, 0 | 1) => Some(0),
            (9, 0, 12, 0) => self.pmu.read(12, 0, self.config.counters, now).map(|pmcr| pmcr | self.config.pmcr_id()),
            (9, 0, crm, opc2) => self.pmu.read(crm, opc2, self.config.counters, now),
            (12, 0, 1, 0) => {
                let pending = |bit| u32::from(now.pending & bit != 0);
                Some(pending(PENDING_IRQ) << 7 | pending(PENDING_FIQ) << 6)
            }
            // The FCSE's process ID: there is no FCSE.
            (13, 0, 0, 0) => Some(0),
            (15, 4, 0, 0) => Some(self.config.cbar),
            timer::CNTKCTL if !self.config.generic_timer => None,
            (9, 1, 0, 2 | 3) => self.config.l2ctlr.map(|l2ctlr| if number.3 == 2 { l2ctlr } else { 0 }),
            // Reads a copy: one table serves both directions.
            _ => self.registers.clone().plain(number).map(|(register, _)| *register),
        }
    }

    /// Writes a register; `None` if it does not exist in this mode or is read-only.
    pub(super) fn write_register(&mut self, number: Number, value: u32, now: &Now) -> Option<Effect> {
        if !self.is_privileged() && !self.user_may(number, true) {
            return None;
        }
        match number {
            (1, 0, 0, 2) => self.set_cpacr(value),
            (5, 0, 1, 0 | 1) | (13, 0, 0, 0) => {}
            timer::CNTKCTL if !self.config.generic_timer => return None,
            // Latencies of the second-level cache cannot be set here.
            (9, 1, 0, 2 | 3) if self.config.l2ctlr.is_some() => {}
            (7, 0, crm, opc2) if crm != 4 => return maintenance::cache_operation(crm, opc2, value),
            (8, 0, crm, opc2) => return maintenance::tlb_operation(crm, opc2, value),
            (9, 0, crm, opc2) => {
                self.pmu.write(crm, opc2, value, self.config.counters, now)?;
                return Some(Effect::CountersChanged);
            }
            _ => {
                let (register, mask) = self.registers.plain(number)?;
                let before = std::mem::replace(register, *register & !mask | value & mask);
                if *register != before {
                    return Some(match number {
                        SCTLR | ACTLR => Effect::TranslationChanged,
                        DACR => Effect::DomainsChanged,
                        _ if is_of_mapping(number) => Effect::MappingChanged,
                        _ => Effect::Next,
                    });
                }
            }
        }
        Some(Effect::Next)
    }

    /// Writes the result of an [`Effect::Translate`] to PAR (ARM, PAR).
    pub fn translated(&mut self, result: Result<Translation, Abort>) {
        let attributes = |to: Translation| to.memory.with_cache(self.registers.sctlr & SCTLR_C != 0).par();
        self.registers.par = match result {
            Ok(to) if to.page_bytes > 1 << 20 => to.physical & 0xff00_0000 | attributes(to) | PAR_SS,
            Ok(to) => to.physical & 0xffff_f000 | attributes(to),
            Err(abort) => {
                let fsr = abort.fsr();
                PAR_F | (fsr & 15 | fsr >> 10 & 1 << 4 | fsr >> 12 << 5) << 1
            }
        };
    }

    /// True if an overflow of some counter raises the interrupt of the performance monitors.
    pub(in super::super) fn counters_may_interrupt(&self) -> bool {
        self.pmu.may_interrupt()
    }

    /// The level of that interrupt, and the cycle in which it has to be computed again.
    pub(in super::super) fn counter_interrupt(&self, now: &Now) -> (bool, Option<u64>) {
        (self.pmu.interrupts(now), self.pmu.next_look(now))
    }

    fn user_may(&self, number: Number, write: bool) -> bool {
        match number {
            (7, 0, crm, opc2) => write && maintenance::is_barrier(crm, opc2),
            (9, 0, 14, 0) => !write,
            (9, 0, 12 | 13, _) => self.pmu.for_user(),
            (13, 0, 0, 2) => true,
            (13, 0, 0, 3) => !write,
            _ => false,
        }
    }
}
