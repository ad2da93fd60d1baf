//! Memories: from a node to the plan of a RAM.

use super::overlays;
use engine::dt::fault::FaultKind;
use engine::dt::reader::{NodeReader, PowerOfTwo};
use engine::memory::dram::{Decoding, DramTiming, MOST_BANKS};
use engine::memory::ram::{MOST_GRANT_CYCLES, PortTiming};

/// Largest RAM: a 32-bit board has no more.
const LARGEST_RAM_BYTES: u64 = 1 << 32;

/// A RAM that is made once the board has no faults.
pub struct RamPlan {
    /// Size of the whole RAM.
    pub size_bytes: u32,
    /// Timing of its port.
    pub timing: PortTiming,
    /// Timing of the SDRAM at that port, if it is one.
    pub dram: Option<DramTiming>,
    /// More than one core writes it.
    pub shared: bool,
    /// Instructions can't be fetched from it.
    pub data_only: bool,
    /// It answers in place of another node.
    pub overlay: bool,
}

/// Reads the node of a memory with these ranges.
pub fn read(reader: &mut NodeReader, ranges: &[(u32, u32)]) -> RamPlan {
    let timing = read_port(reader);
    let (base, last) = ranges.first().copied().unwrap_or((0, 0));
    let size_bytes = last - base + 1;
    let dram = read_dram(reader, size_bytes);
    let shared = reader.flag("cyclescope,shared", "more than one core writes the memory");
    let data_only = reader.flag("cyclescope,data-only", "no instructions can be fetched from it: a bus fault");
    let overlay = reader.flag(overlays::OVERLAY.0, overlays::OVERLAY.1);
    RamPlan { size_bytes, timing, dram, shared, data_only, overlay }
}

/// A memory's addresses, then its aliases.
pub fn read_ranges(reader: &mut NodeReader) -> Vec<(u32, u32)> {
    let ranges = read_device_ranges(reader, 1);
    let bytes = |(base, last): &(u32, u32)| last - base;
    if let Some(odd) = ranges.iter().find(|range| bytes(range) != bytes(&ranges[0])) {
        let value = format!("{:#x} + {:#x}", odd.0, u64::from(bytes(odd)) + 1);
        let allowed = "all ranges of a memory show all of it".to_owned();
        reader.fault_at("reg", FaultKind::OutOfRange { property: "reg".into(), value, allowed });
    }
    ranges
}

/// A node's ranges as first and last address.
pub fn read_device_ranges(reader: &mut NodeReader, least: usize) -> Vec<(u32, u32)> {
    let mut ranges = Vec::new();
    if least == 0 && reader.node.property("reg").is_none() {
        return ranges;
    }
    for (base, size) in reader.reg(least) {
        let fits = size > 0 && u64::from(base) + u64::from(size) <= LARGEST_RAM_BYTES;
        if fits {
            ranges.push((base, base + (size - 1)));
        } else {
            let value = format!("{base:#x} + {size:#x}");
            let allowed = "a range has at least a byte and ends below 4 GiB".to_owned();
            reader.fault_at("reg", FaultKind::OutOfRange { property: "reg".into(), value, allowed });
        }
    }
    ranges
}

const IDLE_GRANT: &str = "cyclescope,idle-grant-cycles";

fn read_port(reader: &mut NodeReader) -> PortTiming {
    reader.known(&["ranges"]);
    let first_word_cycles = reader.timing_cycles("cyclescope,first-word-cycles", "from a request to its first beat");
    let write_first_word_cycles = reader.optional_timing_cycles(
        "cyclescope,write-first-word-cycles",
        "from a write to its first beat, where that differs",
    );
    let idle_grant_cycles = reader.given(IDLE_GRANT, |reader| {
        let meaning = "an access waits for the grant of a bus matrix for 0 to 15 cycles, if it begins on an idle bus";
        reader.timing_u32(IDLE_GRANT, 0..=u32::from(MOST_GRANT_CYCLES), meaning) as u8
    });
    PortTiming {
        // An SDRAM's times stay the same numbers of its cycles, as in the registers of its controller.
        clock: reader.clock_input(0, "clock of the memory's port").rate,
        first_word_cycles,
        write_first_word_cycles: write_first_word_cycles.unwrap_or(first_word_cycles),
        beat_cycles: reader.timing_cycles("cyclescope,beat-cycles", "from one beat of a burst to the next"),
        beat_bytes: reader
            .u32_or("cyclescope,beat-bytes", 4, PowerOfTwo(1..=64), "a beat has 1 to 64 bytes, a power of two")
            .max(1),
        idle_grant_cycles: idle_grant_cycles.unwrap_or(0),
    }
}

const BANKS: &str = "cyclescope,banks";

/// Banks and rows of an SDRAM, for a memory whose node describes them.
fn read_dram(reader: &mut NodeReader, size_bytes: u32) -> Option<DramTiming> {
    reader.given(BANKS, |reader| read_banks(reader, size_bytes)).flatten()
}

fn read_banks(reader: &mut NodeReader, size_bytes: u32) -> Option<DramTiming> {
    let timing = DramTiming {
        banks: reader.timing_u32(BANKS, PowerOfTwo(1..=MOST_BANKS as u32), "a memory has 1 to 8 banks, a power of two"),
        row_bytes: reader.timing_u32(
            "cyclescope,row-bytes",
            PowerOfTwo(64..=1 << 20),
            "a row has 64 bytes to 1 MiB, a power of two",
        ),
        decoding: reader.word_or_first(
            "cyclescope,bank-decoding",
            &[("interleaved", Decoding::Interleaved), ("sequential", Decoding::Sequential)],
            "where a bank's number is in an address: below the row's, or above",
        ),
        size_bytes,
        cas_cycles: reader.timing_cycles("cyclescope,cas-cycles", "from a command to its first data").0,
        activate_cycles: reader.timing_cycles("cyclescope,trcd-cycles", "from activating a row to a command in it").0,
        precharge_cycles: reader.timing_cycles("cyclescope,trp-cycles", "from closing a row to activating another").0,
        row_cycles: reader.timing_cycles("cyclescope,tras-cycles", "from activating a row to closing it").0,
        write_recovery_cycles: reader.timing_cycles("cyclescope,twr-cycles", "from written data to closing the row").0,
        write_to_read_cycles: reader.timing_cycles("cyclescope,twtr-cycles", "from written data to a read command").0,
        burst_cycles: reader.timing_cycles("cyclescope,burst-cycles", "clocks of data of a burst").0,
        refresh_interval_cycles: reader.timing_cycles("cyclescope,trefi-cycles", "from one refresh to the next").0,
        refresh_cycles: reader.timing_cycles("cyclescope,trfc-cycles", "from a refresh to the next command").0,
    };
    if timing.is_sound() {
        return Some(timing);
    }
    if reader.node.property("cyclescope,trefi-cycles").is_some() {
        let value = timing.refresh_interval_cycles.to_string();
        let allowed = "refreshes come more than twice as long after each other as they take".to_owned();
        reader.fault_at(
            "cyclescope,trefi-cycles",
            FaultKind::OutOfRange { property: "cyclescope,trefi-cycles".into(), value, allowed },
        );
    }
    None
}
