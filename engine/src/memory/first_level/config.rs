//! What the board says of a core's memory side.

use super::stores::MOST_ENTRIES;
pub use super::tlb::TlbShape;
use crate::board::fault::FaultKind;
use crate::board::reader::{NodeReader, PowerOfTwo};
use crate::memory::cache::CacheShape;
use crate::time::Hz;

/// Bytes of a beat of a line, and of the core's bus.
pub const BUS_BYTES: u32 = 8;

/// Shapes and times of a core's memory side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Clock of the core.
    pub clock: Hz,
    /// The instruction cache.
    pub icache: Option<CacheShape>,
    /// The data cache.
    pub dcache: Option<CacheShape>,
    /// Translation lookaside buffers.
    pub tlb: TlbShape,
    /// From a miss in a micro TLB to the main TLB's answer.
    pub tlb_cycles: u64,
    /// A descriptor that the data cache has.
    pub walk_hit_cycles: u64,
    /// Stores that the core does not wait for; 0: it waits for each.
    pub store_buffer_entries: u32,
    /// Bytes that a fetch brings where no cache holds the instructions: up to the next multiple of this.
    pub uncached_fetch_bytes: u32,
    /// The next such fetch is under way while the instructions of the last one run.
    pub fetches_ahead: bool,
    /// Bytes of a beat of a transfer of several registers to or from memory that no cache holds.
    pub several_beat_bytes: u32,
    /// A maintenance operation on one line, or on all of a TLB.
    pub maintenance_cycles: u64,
}

impl MemoryConfig {
    /// Reads what is not the caches' shapes from a core's node.
    pub fn from_node(
        reader: &mut NodeReader,
        clock: Hz,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> MemoryConfig {
        let tlb = read_tlb(reader);
        MemoryConfig {
            clock,
            icache,
            dcache,
            tlb,
            tlb_cycles: reader
                .timing_cycles("cyclescope,tlb-cycles", "from a micro TLB's miss to the main TLB's answer")
                .0,
            walk_hit_cycles: reader
                .timing_cycles("cyclescope,walk-hit-cycles", "a descriptor of a table walk that the data cache has")
                .0,
            store_buffer_entries: read_store_buffer(reader),
            uncached_fetch_bytes: read_fetch_bytes(reader),
            fetches_ahead: read_fetches_ahead(reader),
            several_beat_bytes: reader.timing_u32(
                "cyclescope,several-beat-bytes",
                PowerOfTwo(4..=BUS_BYTES),
                "a beat of several registers has 4 or 8 bytes",
            ),
            maintenance_cycles: reader
                .timing_cycles("cyclescope,maintenance-cycles", "a maintenance operation on one line")
                .0,
        }
    }
}

impl MemoryConfig {
    /// Reads that of a core without caches and translation.
    pub fn without_caches(reader: &mut NodeReader, clock: Hz) -> MemoryConfig {
        MemoryConfig {
            clock,
            icache: None,
            dcache: None,
            tlb: TlbShape { micro_entries: 1, main_entries: 1, main_ways: 1 },
            tlb_cycles: 0,
            walk_hit_cycles: 0,
            store_buffer_entries: read_store_buffer(reader),
            uncached_fetch_bytes: read_fetch_bytes(reader),
            fetches_ahead: read_fetches_ahead(reader),
            several_beat_bytes: 4,
            maintenance_cycles: 0,
        }
    }
}

fn read_store_buffer(reader: &mut NodeReader) -> u32 {
    reader.timing_u32("cyclescope,store-buffer-entries", 0..=MOST_ENTRIES as u32, "the store buffer has 0 to 8 entries")
}

fn read_fetch_bytes(reader: &mut NodeReader) -> u32 {
    reader.timing_u32("cyclescope,uncached-fetch-bytes", PowerOfTwo(4..=32), "a fetch brings 4, 8, 16 or 32 bytes")
}

fn read_fetches_ahead(reader: &mut NodeReader) -> bool {
    reader.timing_u32(
        "cyclescope,uncached-fetches-ahead",
        0..=1,
        "0, or 1 for a fetch under way while the last one's instructions run",
    ) != 0
}

fn read_tlb(reader: &mut NodeReader) -> TlbShape {
    const MICRO: &str = "cyclescope,micro-tlb-entries";
    const MAIN: &str = "cyclescope,tlb-entries";
    const WAYS: &str = "cyclescope,tlb-ways";
    let some = || 1..=1024;
    let shape = TlbShape {
        micro_entries: reader.timing_u32(MICRO, some(), "a micro TLB has 1 to 1024 entries"),
        main_entries: reader.timing_u32(MAIN, some(), "the main TLB has 1 to 1024 entries"),
        main_ways: reader.timing_u32(WAYS, some(), "the main TLB has 1 to 1024 ways"),
    };
    if shape.is_sound() {
        return shape;
    }
    // Where a number is missing or out of range, there is a fault already.
    if shape.micro_entries > 0 && shape.main_entries > 0 && shape.main_ways > 0 {
        let value = format!("{} entries, {} ways", shape.main_entries, shape.main_ways);
        let allowed = "ways times a power of two".to_owned();
        reader.fault_at(MAIN, FaultKind::OutOfRange { property: MAIN.into(), value, allowed });
    }
    TlbShape { micro_entries: 1, main_entries: 1, main_ways: 1 }
}
