//! What a board says of a core.

use super::system::SystemConfig;
use super::timing::CoreTiming;
use crate::cpu;
use crate::dt::reader::NodeReader;
use crate::memory::cache::CacheShape;
use crate::memory::first_level::MemoryConfig;

/// What a board says of a core.
pub type CoreConfig = cpu::Config<CoreTiming, SystemConfig>;

/// Entries that a branch target buffer can have.
const MOST_BRANCH_TARGETS: u32 = 1 << 12;

impl CoreConfig {
    /// Reads an XBurst core from its node.
    pub fn xburst(
        reader: &mut NodeReader,
        index: u32,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> CoreConfig {
        reader.known(&["mmu-type"]);
        let clock = reader.clock(0, "clock of the core");
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
