//! Core types: from a `cpu` node to a core.

use super::fault::FaultKind;
use super::node::Node;
use super::reader::NodeReader;
use crate::core::Core;
use crate::isa::arm::{
    self,
    core::{CortexA, CortexM},
};
use crate::isa::mips::{self, core::Mips};
use crate::isa::riscv::core::{CoreConfig, Hart};
use crate::isa::riscv::exceptions::{Interrupt, MACHINE_INTERRUPTS, PLATFORM_INTERRUPTS};
use crate::isa::riscv::picorv32::{self, Picorv32};
use crate::isa::riscv::timing::CoreTiming;
use crate::machine::CoreInfo;
use crate::memory::cache::{CacheShape, MOST_BYTES, Replacement, WritePolicy};
use crate::memory::fetch::on_demand::WordBuffer;
use crate::memory::fetch::prefetch_next::PrefetchNext;
use crate::memory::first_level::MemoryConfig;

/// Extensions that the pipelined RISC-V core has.
const EXTENSIONS: [&str; 6] = ["i", "m", "c", "zicsr", "zifencei", "zicntr"];

/// A core type: how it is built from its node. Faults go to the reader, and then the result is never used.
type FromNode = fn(&mut NodeReader, u32) -> (Box<dyn Core>, CoreInfo);

/// Core types by compatible. Any other `cpu` is a pipelined RISC-V core.
const TYPES: &[(&str, FromNode)] = &[
    ("intel,niosv", read_nios_v),
    ("yosyshq,picorv32", read_picorv32),
    ("arm,cortex-a5", read_cortex_a5),
    ("arm,cortex-a7", read_cortex_a7),
    ("arm,cortex-m4", read_cortex_m4),
    ("ingenic,xburst", read_xburst),
];

/// mip of a Nios V core: software and timer interrupt, and sixteen platform interrupts in the place of an external one (Nios V Processor
/// Reference Manual, Interrupt Controller).
const NIOS_V_INTERRUPTS: u32 = PLATFORM_INTERRUPTS | 1 << Interrupt::Software as u32 | 1 << Interrupt::Timer as u32;

/// Builds core number `index` from its node.
pub fn from_node(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let compatibles = reader.node.compatibles();
    let known = compatibles.iter().find_map(|compatible| TYPES.iter().find(|(name, _)| name == compatible));
    known.map_or(read_pipelined as FromNode, |(_, from_node)| *from_node)(reader, index)
}

fn read_picorv32(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let config = picorv32::from_node(reader, index);
    let multiplies = match (config.extensions.multiply, config.extensions.divide) {
        (_, true) => "RV32IMC",
        (true, false) => "RV32IC_Zmmul",
        (false, false) => "RV32IC",
    };
    let info = CoreInfo {
        name: config.name.clone(),
        compatible: compatible_of(reader.node),
        isa: format!("{multiplies}, PicoRV32's counters and interrupts"),
        clock: config.clock,
        caches: Vec::new(),
        fetch_policy: PrefetchNext::NAME,
    };
    (Box::new(Picorv32::new(config)), info)
}

fn read_pipelined(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    read_hart(reader, index, MACHINE_INTERRUPTS)
}

fn read_nios_v(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    read_hart(reader, index, NIOS_V_INTERRUPTS)
}

fn read_hart(reader: &mut NodeReader, index: u32, interrupts: u32) -> (Box<dyn Core>, CoreInfo) {
    let config = read_core(reader, index, interrupts);
    let info = core_info(reader.node, &config);
    (Box::new(Hart::new(config)), info)
}

fn read_cortex_a5(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let [icache, dcache] = read_caches(reader);
    let config = arm::config::CoreConfig::cortex_a5(reader, index, icache, dcache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (Box::new(CortexA::new(config)), info)
}

fn read_cortex_a7(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let [icache, dcache] = read_caches(reader);
    let config = arm::config::CoreConfig::cortex_a7(reader, index, icache, dcache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (Box::new(CortexA::new(config)), info)
}

fn read_cortex_m4(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let config = arm::config::CoreConfig::cortex_m4(reader, index);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (Box::new(CortexM::new(config)), info)
}

fn read_xburst(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let [icache, dcache] = read_caches(reader);
    let config = mips::config::CoreConfig::xburst(reader, index, icache, dcache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (Box::new(Mips::new(config)), info)
}

/// What is said of a core whose memory side is the first-level one, which has the core's clock.
fn first_level_info(node: &Node, isa: String, memory: &MemoryConfig) -> CoreInfo {
    CoreInfo {
        name: node.label().to_owned(),
        compatible: compatible_of(node),
        isa,
        clock: memory.clock,
        caches: cache_texts([memory.icache, memory.dcache]),
        fetch_policy: if memory.fetches_ahead { PrefetchNext::NAME } else { WordBuffer::NAME },
    }
}

fn compatible_of(node: &Node) -> String {
    node.compatibles().first().map_or_else(String::new, |name| (*name).to_owned())
}

fn read_core(reader: &mut NodeReader, index: u32, interrupts: u32) -> CoreConfig {
    reader.known(&["riscv,isa", "riscv,isa-base", "mmu-type"]);
    reader.isa_extensions("the core", &EXTENSIONS);
    let [icache, dcache] = read_caches(reader);
    CoreConfig {
        name: reader.node.label().to_owned(),
        index,
        clock: reader.clock(0, "clock of the core"),
        timing: CoreTiming::from_node(reader),
        icache,
        dcache,
        interrupts,
    }
}

/// Instruction and data cache.
fn read_caches(reader: &mut NodeReader) -> [Option<CacheShape>; 2] {
    let replacement = reader.word_or_first(
        "cyclescope,cache-replacement",
        &[
            ("lru", Replacement::LeastRecentlyUsed),
            ("round-robin", Replacement::RoundRobin),
            ("random", Replacement::PseudoRandom),
        ],
    );
    let write = reader.word_or_first(
        "cyclescope,d-cache-write-policy",
        &[("write-back", WritePolicy::WriteBack), ("write-through", WritePolicy::WriteThrough)],
    );
    ["i-cache", "d-cache"].map(|which| read_cache(reader, which, replacement, write))
}

fn read_cache(
    reader: &mut NodeReader,
    which: &str,
    replacement: Replacement,
    write: WritePolicy,
) -> Option<CacheShape> {
    let (size, line, sets) = (format!("{which}-size"), format!("{which}-block-size"), format!("{which}-sets"));
    reader.known(&[&size, &line, &sets]);
    reader.node.property(&size)?;
    let size_bytes = reader.u32(&size, |n| n <= MOST_BYTES, "a cache has up to 16 MiB, or 0 bytes for none");
    if size_bytes == 0 {
        return None;
    }
    let line_bytes = reader.u32(&line, |n| (8..=256).contains(&n), "a line of the cache has 8 to 256 bytes");
    let sets_count = reader.u32(&sets, |n| (1..=MOST_BYTES / 8).contains(&n), "a cache has 1 to 2097152 sets");
    if line_bytes == 0 || sets_count == 0 {
        return None; // a fault already
    }
    let shape = CacheShape::of_sets(size_bytes, line_bytes, sets_count, replacement, write);
    // An instruction may lie across two lines, and runs once both are present.
    let holds_any = which == "d-cache" || size_bytes > line_bytes;
    if shape.is_some() && holds_any {
        return shape;
    }
    let value = format!("{size_bytes} ({line_bytes}-byte lines, {sets_count} sets)");
    let allowed = "size, lines (8 to 256 bytes) and sets must be powers of two, and size a multiple of lines times \
                   sets, with up to 1024 ways; an instruction cache has at least two lines"
        .to_owned();
    reader.fault_at(&size, FaultKind::OutOfRange { property: size.clone(), value, allowed });
    None
}

fn cache_texts(caches: [Option<CacheShape>; 2]) -> Vec<String> {
    let present = ["i-cache", "d-cache"].into_iter().zip(caches).filter_map(|(name, shape)| Some((name, shape?)));
    let texts = present.map(|(name, shape)| {
        let ways = if shape.ways == 1 { "way" } else { "ways" };
        format!("{name} {} KiB, {}-byte lines, {} {ways}", shape.size_bytes >> 10, shape.line_bytes, shape.ways)
    });
    texts.collect()
}

fn core_info(node: &Node, config: &CoreConfig) -> CoreInfo {
    let platform = if config.interrupts & PLATFORM_INTERRUPTS == 0 { "" } else { ", platform interrupts" };
    CoreInfo {
        name: config.name.clone(),
        compatible: compatible_of(node),
        isa: format!("RV32IMC_Zicsr_Zifencei, machine mode{platform}"),
        clock: config.clock,
        caches: cache_texts([config.icache, config.dcache]),
        fetch_policy: WordBuffer::NAME,
    }
}
