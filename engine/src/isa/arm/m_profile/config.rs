//! What a board says of the system side.

use super::super::op::Features;

/// What a board says of the system side of a Cortex-M4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemConfig {
    /// Instructions that there are.
    pub features: Features,
    /// External interrupts: 1 to 240.
    pub interrupts: u32,
    /// Bits of a priority that are there, the upper ones: 3 to 8.
    pub priority_bits: u32,
    /// VTOR after reset.
    pub vectors: u32,
}

impl SystemConfig {
    /// A Cortex-M4: all of ARMv7E-M, with or without its floating-point unit (FPv4-SP-D16).
    pub fn cortex_m4(vfp: bool, interrupts: u32, priority_bits: u32, vectors: u32) -> SystemConfig {
        let features = Features { divide: true, vfp, vfp_d32: false, m_profile: true, traps_division: false };
        SystemConfig { features, interrupts, priority_bits, vectors }
    }
}
