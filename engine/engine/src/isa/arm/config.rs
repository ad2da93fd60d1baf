//! Configuration of a core by the board.

use super::m_profile;
use super::op::Features;
use super::system::SystemConfig;
use super::timing::CoreTiming;
use crate::cpu;
use crate::cpu::memory_system::MemoryConfig;
use crate::dt::reader::{MultipleOf, NodeReader};
use crate::memory::cache::CacheShape;

/// Configuration of a core by the board.
pub type CoreConfig<C = SystemConfig> = cpu::Config<CoreTiming, C>;

/// What the property says that the names below are for.
const FPU: &str = "the core's floating-point unit";
/// Floating-point units that a Cortex-A5 can have, by the names that compilers give them: D registers, or none.
const FPUS: [(&str, u32); 3] = [("none", 0), ("vfpv4-d16", 16), ("vfpv4", 32)];
/// The same for a Cortex-A7. Of Advanced SIMD only the registers exist.
const FPUS_OF_A7: [(&str, u32); 3] = [("none", 0), ("vfpv4-d16", 16), ("neon-vfpv4", 32)];

impl CoreConfig<SystemConfig> {
    /// Reads a Cortex-A5 from its node.
    pub fn cortex_a5(
        reader: &mut NodeReader,
        index: u32,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> CoreConfig {
        let features = read_features(reader, &FPUS, false);
        CoreConfig::cortex_a(reader, index, SystemConfig::cortex_a5(features, icache, dcache), icache, dcache)
    }

    /// Reads a Cortex-A7 from its node.
    pub fn cortex_a7(
        reader: &mut NodeReader,
        index: u32,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> CoreConfig {
        let features = read_features(reader, &FPUS_OF_A7, true);
        let meaning = "base of the registers inside the cluster (PERIPHBASE): a multiple of 32 KiB";
        let cbar = reader.u32_or("cyclescope,peripheral-base", 0, MultipleOf(0x8000), meaning);
        let first = SystemConfig::cortex_a7(features, icache, dcache);
        let system = SystemConfig { cbar, mpidr: first.mpidr | index, ..first };
        CoreConfig::cortex_a(reader, index, system, icache, dcache)
    }

    fn cortex_a(
        reader: &mut NodeReader,
        index: u32,
        system: SystemConfig,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> CoreConfig {
        let clock = reader.clock_input(0, "clock of the core").rate;
        CoreConfig {
            name: reader.node.label().to_owned(),
            index,
            clock,
            timing: CoreTiming::from_node(reader, system.features.divide, system.features.vfp),
            system,
            memory: MemoryConfig::from_node(reader, clock, icache, dcache),
        }
    }

    /// Its instruction sets, for the user.
    pub fn isa(&self) -> String {
        let fpu = match (self.system.features.vfp, self.system.features.vfp_d32) {
            (false, _) => "",
            (true, false) => ", VFPv4-D16",
            (true, true) => ", VFPv4-D32",
        };
        let divide = if self.system.features.divide { ", division" } else { "" };
        format!("ARMv7-A (A32, T32){divide}{fpu}, MMU")
    }
}

/// The features of a core of the application profile, with one of the given floating-point units.
fn read_features(reader: &mut NodeReader, fpus: &[(&str, u32)], divide: bool) -> Features {
    reader.known(&["next-level-cache", "mmu-type"]);
    let registers = reader.word_or_first("cyclescope,fpu", fpus, FPU);
    Features { divide, vfp: registers > 0, vfp_d32: registers > 16, ..Features::default() }
}

/// Floating-point units that a Cortex-M4 can have.
const FPUS_OF_M4: [(&str, bool); 2] = [("none", false), ("fpv4-sp-d16", true)];

/// The property for bit-banding, and its meaning.
pub const BIT_BAND: (&str, &str) = (
    "cyclescope,bit-band",
    "the core has bit-banding: words at 0x22000000 and 0x42000000 are bits of SRAM and of peripherals",
);

impl CoreConfig<m_profile::SystemConfig> {
    /// Reads a Cortex-M4 from its node; `icache` is the cache of the flash interface, if the chip has one.
    pub fn cortex_m4(
        reader: &mut NodeReader,
        index: u32,
        icache: Option<CacheShape>,
    ) -> CoreConfig<m_profile::SystemConfig> {
        let vfp = reader.word_or_first("cyclescope,fpu", &FPUS_OF_M4, FPU);
        let interrupts = reader.u32(
            "cyclescope,external-interrupts",
            1..=240,
            "the interrupt controller has 1 to 240 external interrupts",
        );
        let priority_bits =
            reader.u32("cyclescope,priority-bits", 3..=8, "the priority of an interrupt has 3 to 8 bits");
        // The memory map has the effect: the board adds the regions.
        reader.flag(BIT_BAND.0, BIT_BAND.1);
        let clock = reader.clock_input(0, "clock of the core").rate;
        CoreConfig {
            name: reader.node.label().to_owned(),
            index,
            clock,
            timing: CoreTiming::cortex_m4(reader, vfp),
            system: m_profile::SystemConfig::cortex_m4(vfp, interrupts, priority_bits, 0),
            memory: MemoryConfig { icache, ..MemoryConfig::without_caches(reader, clock) },
        }
    }

    /// Its instruction set, for the user.
    pub fn isa(&self) -> String {
        format!("ARMv7E-M (T32){}, MPU", if self.system.features.vfp { ", FPv4-SP-D16" } else { "" })
    }
}
