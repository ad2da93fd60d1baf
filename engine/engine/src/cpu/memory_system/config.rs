//! Configuration of a core's memory side by the board.

use super::fetch::on_demand::WordBuffer;
use super::prefetching::MOST_AHEAD;
use super::stores::MOST_ENTRIES;
pub use super::streaming::ReadAllocate;
pub use super::tlb::TlbShape;
use crate::dt::fault::FaultKind;
use crate::dt::reader::{NodeReader, PowerOfTwo};
use crate::memory::cache::CacheShape;
use crate::time::Hz;

/// Bytes per beat of a line, and of the core's bus.
pub const BUS_BYTES: u32 = 8;

const STORE_BUFFER: &str = "cyclescope,store-buffer-entries";
const DATA_PREFETCH: &str = "cyclescope,data-prefetch-lines";
const SLAVE_SWITCH: &str = "cyclescope,slave-switch-cycles";
const FETCH_BYTES: &str = "cyclescope,uncached-fetch-bytes";
/// The smallest span with access rights of its own: a region of an MPU (ARMv7-M Architecture Reference Manual, B3.5).
pub const PROTECTED_BYTES: u32 = 32;
/// The TLBs of a core without translation, and of a board with faulty properties.
const NO_TLB: TlbShape = TlbShape { micro_entries: 1, main_entries: 1, main_ways: 1 };

/// Shapes and timing of a core's memory side.
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
    /// A descriptor read that hits in the data cache.
    pub walk_hit_cycles: u64,
    /// Stores that the core does not wait for; with 0 it waits for each.
    pub store_buffer_entries: u32,
    /// Lines that stores write whole before they allocate none.
    pub read_allocate: ReadAllocate,
    /// Lines that the data cache requests ahead, at most [`MOST_AHEAD`].
    pub prefetch_lines: u32,
    /// Time of a victim line's write-back.
    pub write_back: WriteBack,
    /// Fetch policy for instructions that no cache holds.
    pub fetch: FetchPolicy,
    /// Bytes per beat of a load or store multiple where no cache holds the memory.
    pub multiple_beat_bytes: u32,
    /// If an unaligned access is split into several aligned ones: cycles of each of them beyond the first, without
    /// memory. `None`: it is made as one access to each of its words, at no extra cost.
    pub unaligned_cycles: Option<u64>,
    /// On a bus matrix: wait of an access by the system bus to another slave than the previous access.
    pub slave_switch_cycles: u64,
    /// A maintenance operation on one line, or on a whole TLB.
    pub maintenance_cycles: u64,
    /// Bytes per line of shortcuts where no data cache defines it: at most the granularity of access rights. It changes
    /// only the speed of the simulation.
    pub granule_bytes: u32,
}

/// Time at which a dirty victim line is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBack {
    /// Before the fill, which waits for it: the cache has no victim buffer.
    BeforeFill,
    /// After the fill, from a buffer: only the next miss waits for it.
    AfterFill,
}

/// Fetch policy for instructions that no cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchPolicy {
    /// Word by word, each when an instruction needs it: [`crate::cpu::memory_system::fetch::on_demand`].
    OnDemand,
    /// By chunks, as long as instructions are sequential.
    Chunks(Chunks),
}

/// Fetches of more than one instruction at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Bytes of a fetch: up to the next multiple of this.
    pub bytes: u32,
    /// The next fetch is under way while the instructions of the last one run.
    pub ahead: bool,
}

impl FetchPolicy {
    /// Its name for the user.
    pub const fn name(&self) -> &'static str {
        match self {
            FetchPolicy::OnDemand => WordBuffer::NAME,
            FetchPolicy::Chunks(Chunks { ahead: false, .. }) => "chunks",
            FetchPolicy::Chunks(Chunks { ahead: true, .. }) => "chunks, one ahead",
        }
    }

    /// Reads the policy of a core that fetches by chunks.
    fn from_node(reader: &mut NodeReader) -> FetchPolicy {
        let bytes = reader.timing_u32(FETCH_BYTES, PowerOfTwo(4..=32), "a fetch brings 4, 8, 16 or 32 bytes");
        let meaning = "0, or 1 for a fetch under way while the last one's instructions run";
        let ahead = reader.timing_u32("cyclescope,uncached-fetches-ahead", 0..=1, meaning) != 0;
        FetchPolicy::Chunks(Chunks { bytes, ahead })
    }
}

impl MemoryConfig {
    /// Reads the configuration, apart from the caches' shapes, from a core's node.
    pub fn from_node(
        reader: &mut NodeReader,
        clock: Hz,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> MemoryConfig {
        let tlb = read_tlb(reader);
        let cycles = |reader: &mut NodeReader, name, meaning| reader.timing_cycles(name, meaning).0;
        MemoryConfig {
            tlb,
            tlb_cycles: cycles(reader, "cyclescope,tlb-cycles", "from a micro TLB's miss to the main TLB's answer"),
            walk_hit_cycles: cycles(
                reader,
                "cyclescope,walk-hit-cycles",
                "a descriptor of a table walk that the data cache has",
            ),
            store_buffer_entries: read_store_buffer(reader),
            read_allocate: read_read_allocate(reader),
            prefetch_lines: read_prefetch_lines(reader),
            write_back: WriteBack::AfterFill,
            fetch: FetchPolicy::from_node(reader),
            multiple_beat_bytes: reader.timing_u32(
                "cyclescope,several-beat-bytes",
                PowerOfTwo(4..=BUS_BYTES),
                "a beat of several registers has 4 or 8 bytes",
            ),
            maintenance_cycles: cycles(reader, "cyclescope,maintenance-cycles", "a maintenance operation on one line"),
            granule_bytes: PROTECTED_BYTES,
            ..MemoryConfig::unbuffered(clock, icache, dcache)
        }
    }

    /// The configuration of a core without translation and without buffers of any kind: it waits for each store, for a
    /// line's write-back before the fill that replaces it, and for each word of code that no cache holds.
    pub const fn unbuffered(clock: Hz, icache: Option<CacheShape>, dcache: Option<CacheShape>) -> MemoryConfig {
        MemoryConfig {
            clock,
            icache,
            dcache,
            tlb: NO_TLB,
            tlb_cycles: 0,
            walk_hit_cycles: 0,
            store_buffer_entries: 0,
            read_allocate: ReadAllocate { lines: 0, outer_lines: 0 },
            prefetch_lines: 0,
            write_back: WriteBack::BeforeFill,
            fetch: FetchPolicy::OnDemand,
            multiple_beat_bytes: 4,
            unaligned_cycles: None,
            slave_switch_cycles: 0,
            maintenance_cycles: 0,
            granule_bytes: 256,
        }
    }

    /// Reads the configuration of a core without translation: as [`MemoryConfig::unbuffered`], with the buffers that
    /// its node gives.
    pub fn physical(
        reader: &mut NodeReader,
        clock: Hz,
        icache: Option<CacheShape>,
        dcache: Option<CacheShape>,
    ) -> MemoryConfig {
        let store_buffer_entries = reader.given(STORE_BUFFER, read_store_buffer).unwrap_or(0);
        let fetch = reader.given(FETCH_BYTES, FetchPolicy::from_node).unwrap_or(FetchPolicy::OnDemand);
        MemoryConfig { store_buffer_entries, fetch, ..MemoryConfig::unbuffered(clock, icache, dcache) }
    }

    /// Reads the configuration of a core without caches and translation.
    pub fn without_caches(reader: &mut NodeReader, clock: Hz) -> MemoryConfig {
        let meaning = "each aligned access that an unaligned one is made of, beyond the first";
        MemoryConfig {
            unaligned_cycles: Some(reader.timing_cycles("cyclescope,unaligned-cycles", meaning).0),
            slave_switch_cycles: read_slave_switch(reader),
            store_buffer_entries: read_store_buffer(reader),
            fetch: FetchPolicy::from_node(reader),
            granule_bytes: PROTECTED_BYTES,
            ..MemoryConfig::unbuffered(clock, None, None)
        }
    }
}

fn read_store_buffer(reader: &mut NodeReader) -> u32 {
    reader.timing_u32(STORE_BUFFER, 0..=MOST_ENTRIES as u32, "the store buffer has 0 to 8 entries")
}

fn read_read_allocate(reader: &mut NodeReader) -> ReadAllocate {
    let mut lines = |name, meaning| reader.given(name, |reader| reader.timing_u32(name, 0..=255, meaning)).unwrap_or(0);
    ReadAllocate {
        lines: lines(
            "cyclescope,read-allocate-lines",
            "lines in a row that stores write whole, after which the data cache allocates none for them; 0 for never",
        ),
        outer_lines: lines(
            "cyclescope,outer-read-allocate-lines",
            "then, lines in a row that stores write, after which the second level allocates none; 0 for never",
        ),
    }
}

fn read_prefetch_lines(reader: &mut NodeReader) -> u32 {
    let meaning = "lines that the data cache requests ahead after three misses of loads at a fixed stride; 0 for none";
    reader.given(DATA_PREFETCH, |reader| reader.timing_u32(DATA_PREFETCH, 0..=MOST_AHEAD as u32, meaning)).unwrap_or(0)
}

fn read_slave_switch(reader: &mut NodeReader) -> u64 {
    let meaning = "an access by the system bus, if it is of another slave of the bus matrix than the one before";
    reader.given(SLAVE_SWITCH, |reader| reader.timing_cycles(SLAVE_SWITCH, meaning).0).unwrap_or(0)
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
    // A missing number, or one out of range, has been reported already.
    if shape.micro_entries > 0 && shape.main_entries > 0 && shape.main_ways > 0 {
        let value = format!("{} entries, {} ways", shape.main_entries, shape.main_ways);
        let allowed = "ways times a power of two".to_owned();
        reader.fault_at(MAIN, FaultKind::OutOfRange { property: MAIN.into(), value, allowed });
    }
    NO_TLB
}
