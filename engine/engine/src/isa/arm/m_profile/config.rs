//! Configuration of the system side by the board, and identification registers of the core.

use super::super::op::Features;

/// Configuration of the system side of a Cortex-M4 by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemConfig {
    /// Features of the instruction set.
    pub features: Features,
    /// External interrupts: 1 to 240.
    pub interrupts: u32,
    /// Number of implemented bits of a priority, the upper ones: 3 to 8.
    pub priority_bits: u32,
    /// VTOR after reset.
    pub vectors: u32,
}

impl SystemConfig {
    /// A Cortex-M4: all of ARMv7E-M, with or without its floating-point unit (FPv4-SP-D16).
    pub fn cortex_m4(vfp: bool, interrupts: u32, priority_bits: u32, vectors: u32) -> SystemConfig {
        let features = Features {
            divide: true,
            vfp,
            vfp_d32: false,
            m_profile: true,
            traps_division: false,
            ends_division_early: true,
        };
        SystemConfig { features, interrupts, priority_bits, vectors }
    }
}

/// An identification register, of a Cortex-M4 r0p1 (TRM, table 4-1 and chapter 7): the one at `offset` in the system
/// control space, if there is one.
pub(super) fn identification(offset: u32, vfp: bool) -> Option<u32> {
    Some(match offset {
        // CPUID.
        0xd00 => 0x410f_c241,
        // ID_PFR0, ID_PFR1, ID_DFR0, ID_AFR0.
        0xd40 => 0x0000_0030,
        0xd44 => 0x0000_0200,
        0xd48 => 0x0010_0000,
        0xd4c => 0,
        // ID_MMFR0 to ID_MMFR3.
        0xd50 => 0x0010_0030,
        0xd54 => 0,
        0xd58 => 0x0100_0000,
        0xd5c => 0,
        // ID_ISAR0 to ID_ISAR4: with divisions, DSP and exclusive accesses.
        0xd60 => 0x0114_1110,
        0xd64 => 0x0211_2000,
        0xd68 => 0x2123_2231,
        0xd6c => 0x0111_1131,
        0xd70 => 0x0131_0132,
        // MVFR0, MVFR1: single precision with division and square root; fused products, half precision.
        0xf40 if vfp => 0x1011_0021,
        0xf44 if vfp => 0x1100_0011,
        0xf40 | 0xf44 | 0xf48 => 0,
        _ => return None,
    })
}
