//! Core types: from a `cpu` node to a core.

use crate::CoreInfo;
use engine::core::Core;
use engine::cpu::memory_system::MemoryConfig;
use engine::cpu::memory_system::fetch::prefetch_next::PrefetchNext;
use engine::dt::fault::{FaultKind, similar_names};
use engine::dt::node::Node;
use engine::dt::reader::NodeReader;
use engine::isa::arm;
use engine::isa::mips;
use engine::isa::riscv::exceptions::{Interrupt, MACHINE_INTERRUPTS, PLATFORM_INTERRUPTS};
use engine::isa::riscv::instruction_set::{CoreConfig, SystemConfig, hart};
use engine::isa::riscv::picorv32;
use engine::isa::riscv::timing::CoreTiming;
use engine::memory::cache::{CacheShape, MOST_BYTES, Replacement, WritePolicy};

/// Extensions that the pipelined RISC-V core has.
const EXTENSIONS: [&str; 6] = ["i", "m", "c", "zicsr", "zifencei", "zicntr"];

/// How a core type is built from its node. Faults go to the reader, and then the result is never used.
type FromNode = fn(&mut NodeReader, u32) -> (Box<dyn Core>, CoreInfo);

/// A core type: its compatible, its constructor, and its description.
pub struct CoreType {
    /// The devicetree compatible.
    pub compatible: &'static str,
    from_node: FromNode,
    /// What the core is and what is modelled.
    pub about: &'static str,
}

/// Core types by compatible. The first one is the default of a `cpu` node without a known compatible.
pub const TYPES: &[CoreType] = &[
    CoreType {
        compatible: "riscv",
        from_node: read_pipelined,
        about: "A pipelined RISC-V core, RV32IMC with Zicsr and Zifencei in machine mode, in order, one instruction \
                at a time. What its instructions take is a table in the node. A `cpu` node with no other core type's \
                compatible beside it is one.",
    },
    CoreType {
        compatible: "intel,niosv",
        from_node: read_nios_v,
        about: "Intel's Nios V: the pipelined RISC-V core with sixteen platform interrupts in the place of an \
                external one (Nios V Processor Reference Manual).",
    },
    CoreType {
        compatible: "yosyshq,picorv32",
        from_node: read_picorv32,
        about: "PicoRV32 (YosysHQ/picorv32): a RISC-V core without caches, one instruction at a time over several \
                cycles, with interrupt instructions of its own.",
    },
    CoreType {
        compatible: "arm,cortex-a5",
        from_node: read_cortex_a5,
        about: "Arm's Cortex-A5: ARMv7-A in A32 and T32, in order, with MMU, first-level caches and floating-point \
                unit.",
    },
    CoreType {
        compatible: "arm,cortex-a7",
        from_node: read_cortex_a7,
        about: "Arm's Cortex-A7: ARMv7-A in A32 and T32 with division, in order, two instructions a cycle in some \
                cases, with MMU, first-level caches and floating-point unit.",
    },
    CoreType {
        compatible: "arm,cortex-m4",
        from_node: read_cortex_m4,
        about: "Arm's Cortex-M4: ARMv7E-M in T32, three stages, without caches, with its interrupt controller \
                (NVIC), MPU and single-precision floating-point unit.",
    },
    CoreType {
        compatible: "ingenic,xburst",
        from_node: read_xburst,
        about: "Ingenic's XBurst: MIPS32 release 1, little-endian, in order, with MMU, first-level caches and a \
                branch target buffer.",
    },
];

/// mip of a Nios V core: software and timer interrupt, and sixteen platform interrupts in the place of an external one
/// (Nios V Processor Reference Manual, Interrupt Controller).
const NIOS_V_INTERRUPTS: u32 = PLATFORM_INTERRUPTS | 1 << Interrupt::Software as u32 | 1 << Interrupt::Timer as u32;

/// Builds core number `index` from its node.
pub fn from_node(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let compatibles = reader.node.compatibles();
    // A node that says "riscv" too is of the type that its other compatible names.
    let known = compatibles.iter().find_map(|name| TYPES[1..].iter().find(|known| known.compatible == *name));
    if known.is_none() && !compatibles.contains(&TYPES[0].compatible) {
        report_unknown(reader, compatibles.first().copied());
    }
    (known.unwrap_or(&TYPES[0]).from_node)(reader, index)
}

fn report_unknown(reader: &mut NodeReader, compatible: Option<&str>) {
    let kind = match compatible {
        Some(compatible) => {
            let similar = similar_names(compatible, TYPES.iter().map(|known| known.compatible));
            FaultKind::UnknownCompatible { compatible: compatible.to_owned(), similar }
        }
        None => FaultKind::Missing {
            property: "compatible".to_owned(),
            meaning: format!(
                "the core's type: {}",
                TYPES.iter().map(|known| known.compatible).collect::<Vec<_>>().join(", ")
            ),
        },
    };
    reader.fault_at("compatible", kind);
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
    (picorv32::picorv32(config), info)
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
    (hart(config), info)
}

fn read_cortex_a5(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let [icache, dcache] = read_caches(reader);
    let config = arm::config::CoreConfig::cortex_a5(reader, index, icache, dcache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (arm::instruction_set::cortex_a(config), info)
}

fn read_cortex_a7(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let [icache, dcache] = read_caches(reader);
    let config = arm::config::CoreConfig::cortex_a7(reader, index, icache, dcache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (arm::instruction_set::cortex_a(config), info)
}

fn read_cortex_m4(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    // All lines of a flash interface's cache are in one set, as far as the documents say.
    let icache = read_cache(reader, "i-cache", Replacement::LeastRecentlyUsed, WritePolicy::WriteBack);
    let config = arm::config::CoreConfig::cortex_m4(reader, index, icache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (arm::instruction_set::cortex_m(config), info)
}

fn read_xburst(reader: &mut NodeReader, index: u32) -> (Box<dyn Core>, CoreInfo) {
    let [icache, dcache] = read_caches(reader);
    let config = mips::config::CoreConfig::xburst(reader, index, icache, dcache);
    let info = first_level_info(reader.node, config.isa(), &config.memory);
    (mips::instruction_set::mips(config), info)
}

/// The description of a core whose memory side is the first-level one, which has the core's clock.
fn first_level_info(node: &Node, isa: String, memory: &MemoryConfig) -> CoreInfo {
    CoreInfo {
        name: node.label().to_owned(),
        compatible: compatible_of(node),
        isa,
        clock: memory.clock,
        caches: cache_texts([memory.icache, memory.dcache]),
        fetch_policy: memory.fetch.name(),
    }
}

fn compatible_of(node: &Node) -> String {
    node.compatibles().first().map_or_else(String::new, |name| (*name).to_owned())
}

fn read_core(reader: &mut NodeReader, index: u32, interrupts: u32) -> CoreConfig {
    reader.known(&["riscv,isa", "riscv,isa-base", "mmu-type", "next-level-cache"]);
    reader.isa_extensions("the core", &EXTENSIONS);
    let [icache, dcache] = read_caches(reader);
    let clock = reader.clock(0, "clock of the core");
    CoreConfig {
        name: reader.node.label().to_owned(),
        index,
        clock,
        timing: CoreTiming::from_node(reader),
        memory: MemoryConfig::physical(reader, clock, icache, dcache),
        system: SystemConfig { hart: index, interrupts },
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
        "which way of a set of the caches is replaced",
    );
    let write = reader.word_or_first(
        "cyclescope,d-cache-write-policy",
        &[("write-back", WritePolicy::WriteBack), ("write-through", WritePolicy::WriteThrough)],
        "what a write that hits the data cache does",
    );
    ["i-cache", "d-cache"].map(|which| read_cache(reader, which, replacement, write))
}

fn read_cache(
    reader: &mut NodeReader,
    which: &str,
    replacement: Replacement,
    write: WritePolicy,
) -> Option<CacheShape> {
    let names = ["size", "block-size", "sets"].map(|what| format!("{which}-{what}"));
    let [size, line, sets] = &names;
    reader.allow(&[line, sets]);
    let meaning = "a cache has up to 16 MiB, or 0 bytes for none";
    let size_bytes = reader.given(size, |reader| reader.u32(size, 0..=MOST_BYTES, meaning)).unwrap_or(0);
    let is_there = format!("`{size}` is above 0");
    reader.only_if(size_bytes > 0, &is_there, |reader| {
        let line_bytes = reader.u32(line, 8..=256, "a line of the cache has 8 to 256 bytes, a power of two");
        let sets_count = reader.u32(sets, 1..=MOST_BYTES / 8, "a cache has 1 to 2097152 sets, a power of two");
        if size_bytes == 0 || line_bytes == 0 || sets_count == 0 {
            return None; // the reader has the fault
        }
        let shape = CacheShape::of_sets(size_bytes, line_bytes, sets_count, replacement, write);
        // An instruction may lie across two lines, and runs once both are present.
        let holds_any = which == "d-cache" || size_bytes > line_bytes;
        if shape.is_some() && holds_any {
            return shape;
        }
        let value = format!("{size_bytes} ({line_bytes}-byte lines, {sets_count} sets)");
        let allowed =
            "size, lines (8 to 256 bytes) and sets must be powers of two, and size a multiple of lines times sets, \
             with up to 1024 ways; an instruction cache has at least two lines"
                .to_owned();
        reader.fault_at(size, FaultKind::OutOfRange { property: size.clone(), value, allowed });
        None
    })?
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
    let platform = if config.system.interrupts & PLATFORM_INTERRUPTS == 0 { "" } else { ", platform interrupts" };
    CoreInfo {
        name: config.name.clone(),
        compatible: compatible_of(node),
        isa: format!("RV32IMC_Zicsr_Zifencei, machine mode{platform}"),
        clock: config.clock,
        caches: cache_texts([config.memory.icache, config.memory.dcache]),
        fetch_policy: config.memory.fetch.name(),
    }
}
