//! Access to VFP, and its system registers (ARM, B1.11 and B4.1).

use super::super::architecture::SystemSide as _;
use super::super::op::Features;
use super::super::vfp::is_allowed;
use super::System;
use super::effect::Effect;

/// CPACR: cp10 and cp11, and D32DIS (bit 30), ASEDIS (bit 31).
const CPACR_WRITABLE: u32 = 0xf << 20 | 3 << 30;
/// FPEXC.EN.
pub(super) const FPEXC_EN: u32 = 1 << 30;
/// Stored bits of FPSCR: flags, QC (which only Advanced SIMD would set), AHP, DN, FZ, rounding mode, Stride, Len, and
/// the cumulative exceptions. Exceptions do not trap, so their enables do not exist.
pub(super) const FPSCR_MASK: u32 = 0xfff7_009f;
/// Number of FPSCR in vmrs and vmsr.
const FPSCR: u32 = 1;

/// Identification: with 16 or 32 registers; both precisions, division, square root, no trapped exceptions; no Advanced
/// SIMD.
fn identification(number: u32, [fpsid, mvfr1, mvfr0]: [u32; 3], features: Features) -> Option<u32> {
    Some(match number {
        0 => fpsid,
        6 => mvfr1,
        7 => mvfr0 | if features.vfp_d32 { 2 } else { 1 },
        _ => return None,
    })
}

impl System {
    pub(super) fn cpacr_allows_vfp(&self) -> bool {
        self.config.features.vfp && is_allowed(self.registers.cpacr, self.is_privileged())
    }

    pub(super) fn set_cpacr(&mut self, value: u32) {
        // The fields of absent coprocessors read as zero.
        self.registers.cpacr = if self.config.features.vfp { value & CPACR_WRITABLE } else { 0 };
    }

    /// Reads a system register of VFP; `None` if it is undefined here.
    pub(super) fn read_vfp(&self, number: u32) -> Option<u32> {
        if !self.cpacr_allows_vfp() {
            return None;
        }
        match number {
            FPSCR => self.vfp_is_ready().then_some(self.registers.fpscr),
            8 => self.is_privileged().then_some(self.registers.fpexc),
            _ => identification(number, self.config.id_vfp, self.config.features).filter(|_| self.is_privileged()),
        }
    }

    /// Writes a system register of VFP; `None` if it is undefined here.
    pub(super) fn write_vfp(&mut self, number: u32, value: u32) -> Option<Effect> {
        if !self.cpacr_allows_vfp() {
            return None;
        }
        match number {
            FPSCR if self.vfp_is_ready() => self.set_fpscr(value),
            0 if self.is_privileged() => {}
            8 if self.is_privileged() => self.registers.fpexc = value & FPEXC_EN,
            _ => return None,
        }
        Some(Effect::Next)
    }
}
