//! What a core is made with, and what its identification registers say of that.

use super::super::op::Features;
use crate::memory::cache::CacheShape;

/// Main ID register of the Cortex-A5 r0p1: Arm, part 0xc05.
const MIDR_CORTEX_A5_R0P1: u32 = 0x410f_c051;

/// What a board says of the system side of a core.
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
    /// Base of the peripherals inside the processor; 0 where there are none.
    pub cbar: u32,
    /// Instructions that it has.
    pub features: Features,
    /// Event counters of its performance monitors, up to [`super::pmu::MAX_COUNTERS`].
    pub counters: u8,
}

impl SystemConfig {
    /// A single Cortex-A5 (not MPCore) with these first-level caches.
    pub fn cortex_a5(features: Features, icache: Option<CacheShape>, dcache: Option<CacheShape>) -> SystemConfig {
        let line_words = |cache: Option<CacheShape>| cache.map_or(3, |shape| (shape.line_bytes / 4).trailing_zeros());
        SystemConfig {
            midr: MIDR_CORTEX_A5_R0P1,
            // A uniprocessor (bit 30) with the multiprocessing format (bit 31).
            mpidr: 0xc000_0000,
            // ARMv7 format, write-back and exclusives granules of 8 words, instruction cache physically tagged.
            ctr: 0x8330_8000 | line_words(dcache) << 16 | line_words(icache),
            // Unified to the core and coherent behind the first level; separate caches there.
            clidr: 1 << 27 | 1 << 24 | 1 << 21 | u32::from(dcache.is_some()) << 1 | u32::from(icache.is_some()),
            ccsidr: [
                dcache.map_or(0, |shape| 1 << 30 | 1 << 29 | 1 << 28 | ccsidr_shape(shape)),
                icache.map_or(0, |shape| 1 << 29 | ccsidr_shape(shape)),
            ],
            cbar: 0,
            features,
            counters: 2,
        }
    }
}

/// NumSets, Associativity and LineSize of a CCSIDR (ARM, CCSIDR).
fn ccsidr_shape(shape: CacheShape) -> u32 {
    let sets = shape.size_bytes / (shape.line_bytes * shape.ways);
    (sets - 1) << 13 | (shape.ways - 1) << 3 | (shape.line_bytes / 16).trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::cache::{Replacement, WritePolicy};

    #[test]
    fn the_cache_registers_tell_the_shapes() {
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
}
