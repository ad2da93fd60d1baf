//! Registers of c0, which tell what the core is (ARM, B4.1).

use super::System;

/// ID_ISAR0.Divide_instrs: in A32 and T32.
const ISAR0_DIVIDE: u32 = 2 << 24;

impl System {
    /// The register with these numbers, of c0.
    pub(super) fn identification(&self, opc1: u32, crm: u32, opc2: u32) -> Option<u32> {
        let config = &self.config;
        Some(match (opc1, crm, opc2) {
            (0, 0, 1) => config.ctr,
            // No tightly coupled memory; a unified TLB; no revision of its own.
            (0, 0, 2 | 3 | 6) => 0,
            (0, 0, 5) => config.mpidr,
            (0, 0, _) => config.midr,
            (0, 1, n) => config.id_features[n as usize & 7],
            (0, 2, 0) => config.id_instructions[0] | if config.features.divide { ISAR0_DIVIDE } else { 0 },
            (0, 2, n) => config.id_instructions.get(n as usize).copied().unwrap_or(0),
            // Reserved for more of them: read as zero.
            (0, 3..=7, _) => 0,
            (1, 0, 0) => self.ccsidr(),
            (1, 0, 1) => config.clidr,
            (1, 0, 7) => 0,
            (2, 0, 0) => self.registers.csselr,
            _ => return None,
        })
    }

    /// CCSIDR of the cache that CSSELR selects: level 1, data or instructions; level 2.
    fn ccsidr(&self) -> u32 {
        match self.registers.csselr {
            0 => self.config.ccsidr[0],
            1 => self.config.ccsidr[1],
            2 => self.config.ccsidr2,
            _ => 0,
        }
    }
}
