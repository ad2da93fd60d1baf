//! Configuration of a core by the board, and the identification registers that follow from it.

use super::timing::CoreTiming;
use crate::cpu;
use crate::cpu::memory_system::MemoryConfig;
use crate::dt::reader::NodeReader;
use crate::memory::cache::CacheShape;

/// PRId of a JZ4720 and JZ4740: company 0xd0 (Ingenic), implementation 2 (XBurst with MXU) (Linux,
/// arch/mips/include/asm/cpu.h).
const PRID_JZ4740: u32 = 0x0ad0_024f;
/// Config of a JZ4720, as a boot loader leaves it: Config1 follows (M), a TLB (MT = 1), kseg0 is cached (K0 = 3). It
/// says release 2 (AR = 1) though the core has only the instructions of release 1 (Linux,
/// arch/mips/kernel/cpu-probe.c).
const CONFIG_JZ4740: u32 = 0x8000_0483;
/// Pairs of pages in the TLB of an XBurst.
const TLB_ENTRIES: u32 = 32;
/// Entries that a branch target buffer can have.
const MOST_BRANCH_TARGETS: u32 = 1 << 12;

/// Configuration of a core by the board.
pub type CoreConfig = cpu::Config<CoreTiming, SystemConfig>;

/// Configuration of a core's system side by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemConfig {
    /// Processor identification.
    pub prid: u32,
    /// Configuration; K0 can be written.
    pub config: u32,
    /// Configuration 1: sizes of the TLB and the caches.
    pub config1: u32,
    /// Entries of the TLB, each a pair of pages; 1 to 64.
    pub tlb_entries: u32,
    /// Entries of the branch target buffer: a power of two, or 0.
    pub branch_targets: u32,
}

impl SystemConfig {
    /// An XBurst with these first-level caches, and no branch target buffer.
    pub fn xburst(icache: Option<CacheShape>, dcache: Option<CacheShape>) -> SystemConfig {
        SystemConfig {
            prid: PRID_JZ4740,
            config: CONFIG_JZ4740,
            // No Config2 after it, no coprocessor 2, no counters, no MIPS16, no floating point. A real one also has
            // watch registers and a debug unit (0x3e63318a: Rockbox's wiki, IngenicJz47xx).
            config1: (TLB_ENTRIES - 1) << 25 | cache_shape(icache) << 16 | cache_shape(dcache) << 7,
            tlb_entries: TLB_ENTRIES,
            branch_targets: 0,
        }
    }
}

impl CoreConfig {
    /// Reads an XBurst core from its node.
    pub fn xburst(
        reader: &mut NodeReader,
        index: u32,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> CoreConfig {
        reader.known(&["mmu-type"]);
        let clock = reader.clock_input(0, "clock of the core").rate;
        let timing = CoreTiming::from_node(reader);
        let branch_targets = reader.timing_u32(
            "cyclescope,branch-targets",
            |n: u32| n == 0 || n.is_power_of_two() && n <= MOST_BRANCH_TARGETS,
            "the branch target buffer has a power of two of entries, 4096 at most, or none",
        );
        CoreConfig {
            name: reader.node.label().to_owned(),
            index,
            clock,
            timing,
            system: SystemConfig { branch_targets, ..SystemConfig::xburst(icache, dcache) },
            memory: MemoryConfig::from_node(reader, clock, icache, dcache),
        }
    }

    /// Its instruction set, for the user.
    pub fn isa(&self) -> String {
        "MIPS32 release 1, MMU".to_owned()
    }
}

/// Sets, line size and ways of a cache in the encoding of Config1, nine bits; 0 without a cache (PRA, Config1). A value
/// that exceeds a field is replaced by its maximum.
fn cache_shape(cache: Option<CacheShape>) -> u32 {
    let Some(shape) = cache else { return 0 };
    let sets = shape.size_bytes / (shape.line_bytes * shape.ways);
    // 64 sets are 0, 32 are 7; a line of 4 bytes is 1.
    let sets = if sets == 32 { 7 } else { (sets / 64).max(1).trailing_zeros().min(6) };
    sets << 6 | (shape.line_bytes / 2).trailing_zeros().min(6) << 3 | (shape.ways - 1).min(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::cache::{Replacement, WritePolicy};

    fn shape(size_bytes: u32, ways: u32) -> Option<CacheShape> {
        let (replacement, write) = (Replacement::LeastRecentlyUsed, WritePolicy::WriteBack);
        Some(CacheShape { size_bytes, line_bytes: 32, ways, replacement, write })
    }

    #[test]
    fn config1_reports_the_shapes() {
        let config = SystemConfig::xburst(shape(16 << 10, 4), shape(8 << 10, 2));
        // 32 entries; 128 sets of 4 lines; 128 sets of 2.
        assert_eq!(config.config1, 31 << 25 | (1 << 6 | 4 << 3 | 3) << 16 | (1 << 6 | 4 << 3 | 1) << 7);
        // 32 sets are a special case; no cache has lines of size 0.
        assert_eq!(SystemConfig::xburst(shape(4 << 10, 4), None).config1 & 0x1ff_ffff, (7 << 6 | 4 << 3 | 3) << 16);
        assert_eq!(SystemConfig::xburst(None, shape(2 << 10, 1)).config1 & 0x1ff_ffff, (4 << 3) << 7);
    }
}
