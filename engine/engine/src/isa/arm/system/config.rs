//! Configuration of a core's system side, and the identification registers that follow from it.

use super::super::op::Features;
use super::{DebugConfig, System};
use crate::memory::cache::CacheShape;

/// Main ID register of the Cortex-A5 r0p1: Arm, part 0xc05.
const MIDR_CORTEX_A5_R0P1: u32 = 0x410f_c051;

/// Of the Cortex-A7 r0p5: part 0xc07.
const MIDR_CORTEX_A7_R0P5: u32 = 0x410f_c075;

/// CCSIDR of 256 KiB in 8 ways of 512 sets of 64 bytes: write-back, with allocation.
const CCSIDR_256_KIB: u32 = 7 << 28 | 511 << 13 | 7 << 3 | 2;

/// Configuration of a core's system side by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemConfig {
    /// Main ID.
    pub midr: u32,
    /// Multiprocessor affinity.
    pub mpidr: u32,
    /// Cache type.
    pub ctr: u32,
    /// Cache level ID.
    pub clidr: u32,
    /// Cache size ID of the first-level data and instruction cache.
    pub ccsidr: [u32; 2],
    /// Cache size ID of the second level, if it belongs to the core.
    pub ccsidr2: u32,
    /// Base of the peripherals inside the processor; 0 without any.
    pub cbar: u32,
    /// Values of ID_PFR0 to ID_MMFR3: c0, CRm 1.
    pub id_features: [u32; 8],
    /// Values of ID_ISAR0 to ID_ISAR4, without division: c0, CRm 2.
    pub id_instructions: [u32; 5],
    /// Values of FPSID, MVFR1 and MVFR0 (without the number of registers).
    pub id_vfp: [u32; 3],
    /// Its optional instructions.
    pub features: Features,
    /// L2 control, in a core whose cluster has a second-level cache.
    pub l2ctlr: Option<u32>,
    /// Its data cache holds no lines while ACTLR.SMP is 0.
    pub caches_need_smp: bool,
    /// It has the generic timer's registers.
    pub generic_timer: bool,
    /// Event counters of its performance monitors, up to [`super::pmu::MAX_COUNTERS`].
    pub counters: u8,
    /// Its debug logic.
    pub debug: DebugConfig,
}

impl SystemConfig {
    /// A single Cortex-A5 (not MPCore) with these first-level caches.
    pub fn cortex_a5(features: Features, icache: Option<CacheShape>, dcache: Option<CacheShape>) -> SystemConfig {
        SystemConfig {
            midr: MIDR_CORTEX_A5_R0P1,
            // A uniprocessor (bit 30) with the multiprocessing format (bit 31).
            mpidr: 0xc000_0000,
            // ARMv7 format, write-back and exclusives granules of 8 words, instruction cache physically tagged.
            ctr: 0x8330_8000 | line_words(dcache) << 16 | line_words(icache),
            // Unified to the core and coherent beyond the first level; separate caches there.
            clidr: 1 << 27 | 1 << 24 | 1 << 21 | u32::from(dcache.is_some()) << 1 | u32::from(icache.is_some()),
            ccsidr: [
                dcache.map_or(0, |shape| 1 << 30 | 1 << 29 | 1 << 28 | ccsidr_shape(shape)),
                icache.map_or(0, |shape| 1 << 29 | ccsidr_shape(shape)),
            ],
            ccsidr2: 0,
            cbar: 0,
            id_features: [0x0000_1231, 0x0000_0011, 0x0201_0444, 0, 0x0010_0103, 0x4000_0000, 0x0123_0000, 0x0010_2211],
            id_instructions: [0x0010_1111, 0x1311_2111, 0x2123_2041, 0x1111_2131, 0x0001_1142],
            id_vfp: [0x4102_3051, 0x1100_0011, 0x1011_0220],
            features,
            l2ctlr: None,
            caches_need_smp: false,
            generic_timer: false,
            counters: 2,
            debug: DebugConfig::CORTEX_A5,
        }
    }

    /// A Cortex-A7 with these first-level caches, the first of a cluster. It lacks the extensions for virtualization
    /// and large addresses, and the ID registers do not name them; it also lacks Advanced SIMD, except for the
    /// registers.
    pub fn cortex_a7(features: Features, icache: Option<CacheShape>, dcache: Option<CacheShape>) -> SystemConfig {
        SystemConfig {
            midr: MIDR_CORTEX_A7_R0P5,
            // Processor 0 of cluster 0, of several.
            mpidr: 0x8000_0000,
            // ARMv7 format, write-back and exclusives granules of 16 words, instruction cache virtually indexed.
            ctr: 0x8440_8000 | line_words(dcache) << 16 | line_words(icache),
            // As the A5's, with a unified cache on the second level: coherent beyond that.
            clidr: 1 << 27
                | 2 << 24
                | 1 << 21
                | 4 << 3
                | u32::from(dcache.is_some()) << 1
                | u32::from(icache.is_some()),
            ccsidr2: CCSIDR_256_KIB,
            // With the generic timer (ID_PFR1); short descriptors only (ID_MMFR0).
            id_features: [0x0000_1131, 0x0001_0011, 0x0201_0555, 0, 0x1010_1103, 0x4000_0000, 0x0124_0000, 0x0010_2211],
            id_instructions: [0x0010_1110, 0x1311_2111, 0x2123_2041, 0x1111_2131, 0x1001_1142],
            id_vfp: [0x4102_3075, 0x1100_0011, 0x1011_0220],
            // Two processors.
            l2ctlr: Some(1 << 24),
            caches_need_smp: true,
            generic_timer: true,
            counters: 4,
            debug: DebugConfig::CORTEX_A7,
            ..SystemConfig::cortex_a5(features, icache, dcache)
        }
    }

    /// Implementer and identification code of PMCR: Arm, and the low byte of the part's number.
    pub(super) fn pmcr_id(&self) -> u32 {
        self.midr & 0xff00_0000 | (self.midr >> 4 & 0xff) << 16
    }
}

/// Binary logarithm of a line's words.
fn line_words(cache: Option<CacheShape>) -> u32 {
    cache.map_or(3, |shape| (shape.line_bytes / 4).trailing_zeros())
}

/// NumSets, Associativity and LineSize of a CCSIDR (ARM, CCSIDR). A value that does not fit a field is replaced by the
/// nearest one.
fn ccsidr_shape(shape: CacheShape) -> u32 {
    let sets = shape.size_bytes / (shape.line_bytes * shape.ways);
    let (sets, ways, line) = ((sets - 1).min(0x7fff), (shape.ways - 1).min(0x3ff), (shape.line_bytes / 16).max(1));
    sets << 13 | ways << 3 | line.trailing_zeros()
}

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
            // Reserved for further registers: read as zero.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::cache::{Replacement, WritePolicy};

    #[test]
    fn the_cache_registers_report_the_shapes() {
        let shape = |ways| CacheShape {
            size_bytes: 32 << 10,
            line_bytes: 32,
            ways,
            replacement: Replacement::LeastRecentlyUsed,
            write: WritePolicy::WriteBack,
        };
        let config = SystemConfig::cortex_a5(Features::default(), Some(shape(2)), Some(shape(4)));
        assert_eq!(config.ctr, 0x8333_8003);
        assert_eq!(config.clidr, 0x0920_0003);
        assert_eq!(config.ccsidr, [0x701f_e019, 0x203f_e009]);
    }

    #[test]
    fn a_cortex_a7_has_its_lines_and_a_second_level() {
        let shape = |line_bytes, ways| CacheShape {
            size_bytes: 32 << 10,
            line_bytes,
            ways,
            replacement: Replacement::PseudoRandom,
            write: WritePolicy::WriteBack,
        };
        let config = SystemConfig::cortex_a7(Features::default(), Some(shape(32, 2)), Some(shape(64, 4)));
        assert_eq!(config.ctr, 0x8444_8003);
        assert_eq!(config.clidr, 0x0a20_0023);
        assert_eq!(config.ccsidr, [0x700f_e01a, 0x203f_e009]);
    }
}
