//! The board's parameters of the chip.
//!
//! Linux's `jedec,spi-nor` binding: `compatible`, `reg`, `spi-max-frequency`, `spi-tx-bus-width`, `spi-rx-bus-width`,
//! `m25p,fast-read`; `size` (bits) as in Zephyr's. Cyclescope's own: busy times, typical and maximum, each under its
//! datasheet's name, and the image.

use super::array::Array;
use super::commands::EraseUnit;
use super::parts::{PAGE_BYTES, PARTS, Part, find};
use super::registers::{Registers, fl_l, n25q};
use crate::prelude::*;
use engine::dt::fault::{FaultKind, similar_names};

/// The time to program part of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialProgram {
    /// As long as a whole page.
    #[default]
    Page,
    /// The part's share of the page's time, in units of the bytes that the chip programs at once.
    Share {
        /// Bytes of a unit.
        unit_bytes: u32,
    },
    /// A time for the first byte and one for each further byte, but at most the page's.
    Bytes,
}

/// Times of the self-timed cycles, as chosen by `cyclescope,busy-times`; zero for those that the family does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// A program of a whole page of 256 bytes.
    pub page_program: Ps,
    /// A program of less than a page.
    pub partial_program: PartialProgram,
    /// The first byte of a program.
    pub first_byte: Ps,
    /// Each further byte of a program.
    pub further_byte: Ps,
    /// Erases, by their [`EraseUnit`].
    pub erase: [Ps; 4],
    /// A write of the nonvolatile status register.
    pub write_status: Ps,
    /// A write of the nonvolatile configuration register.
    pub write_nonvolatile: Ps,
    /// A program of the one-time programmable area.
    pub program_otp: Ps,
    /// From the suspend command to ready, for a program.
    pub program_suspend: Ps,
    /// From the suspend command to ready, for an erase.
    pub erase_suspend: Ps,
    /// From the release from deep power-down to ready.
    pub release: Ps,
}

/// A time in a family's table: its property, with `*` for the datasheet's column, its meaning, and its place.
type Row = (&'static str, &'static str, fn(&mut Times) -> &mut Ps);

/// The times of a Micron N25Q.
const N25Q: &[Row] = &[
    ("page-program-*-us", "PAGE PROGRAM cycle time of 256 bytes", |times| &mut times.page_program),
    ("subsector-erase-*-ms", "subsector ERASE cycle time", |times| &mut times.erase[EraseUnit::Subsector as usize]),
    ("sector-erase-*-ms", "sector ERASE cycle time", |times| &mut times.erase[EraseUnit::Sector as usize]),
    ("bulk-erase-*-ms", "bulk ERASE cycle time", |times| &mut times.erase[EraseUnit::Bulk as usize]),
    ("write-status-register-*-us", "WRITE STATUS REGISTER cycle time", |times| &mut times.write_status),
    ("write-nonvolatile-configuration-register-*-ms", "WRITE NONVOLATILE CONFIGURATION REGISTER cycle time", |times| {
        &mut times.write_nonvolatile
    }),
    ("program-otp-typical-us", "typical PROGRAM OTP cycle time", |times| &mut times.program_otp),
    ("program-suspend-latency-us", "time from a program's suspension to ready", |times| &mut times.program_suspend),
    ("erase-suspend-latency-us", "time from an erase's suspension to ready", |times| &mut times.erase_suspend),
];

/// The times of a Cypress FL-L.
const FL_L: &[Row] = &[
    ("page-program-*-us", "page programming time of 256 bytes (tPP)", |times| &mut times.page_program),
    ("first-byte-program-*-us", "programming time of the first byte (tBP1)", |times| &mut times.first_byte),
    ("further-byte-program-*-us", "programming time of each byte after the first (tBP2)", |times| {
        &mut times.further_byte
    }),
    ("sector-erase-*-ms", "sector (4 KiB) erase time (tSE)", |times| &mut times.erase[EraseUnit::Subsector as usize]),
    ("half-block-erase-*-ms", "half block (32 KiB) erase time (tHBE)", |times| {
        &mut times.erase[EraseUnit::HalfBlock as usize]
    }),
    ("block-erase-*-ms", "block (64 KiB) erase time (tBE)", |times| &mut times.erase[EraseUnit::Sector as usize]),
    ("chip-erase-*-ms", "chip erase time (tCE)", |times| &mut times.erase[EraseUnit::Bulk as usize]),
    ("write-registers-*-ms", "nonvolatile register write time (tW)", |times| &mut times.write_status),
    ("suspend-latency-us", "time from a suspension to ready (tSL)", |times| &mut times.program_suspend),
    ("release-us", "time from the release from deep power-down to ready (tRES)", |times| &mut times.release),
];

impl Times {
    /// A program of `bytes`, 1 to a page. Rounded down to a picosecond.
    pub fn program(&self, bytes: u32) -> Ps {
        let page = self.page_program;
        match self.partial_program {
            PartialProgram::Page => page,
            PartialProgram::Share { unit_bytes } => {
                let units = u64::from(bytes.div_ceil(unit_bytes));
                Ps((u128::from(page.0) * u128::from(units) / u128::from(PAGE_BYTES / unit_bytes)) as u64)
            }
            PartialProgram::Bytes => {
                let more = u64::from(bytes.saturating_sub(1));
                self.first_byte.saturating_add(Ps(self.further_byte.0.saturating_mul(more))).min(page)
            }
        }
    }

    /// Reads a family's table, with the times of the chosen column.
    fn read(reader: &mut NodeReader, is_typical: bool, rows: &[Row]) -> Times {
        let mut times = Times::default();
        for (name, meaning, place) in rows {
            *place(&mut times) = match name.split_once('*') {
                Some((name, unit)) => column(reader, is_typical, name, unit, meaning),
                None => reader.timing_ps(&format!("cyclescope,{name}"), meaning),
            };
        }
        times
    }
}

/// All properties of the node.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The part.
    pub part: &'static Part,
    /// The controller's chip select line.
    pub chip_select: u32,
    /// The fastest SCK that the board allows.
    pub max_clock: Option<Hz>,
    /// Registers at the start of the run.
    pub registers: Registers,
    /// Busy times.
    pub times: Times,
}

/// Reads the node, and gives an array of the part's size.
pub fn from_node(reader: &mut NodeReader) -> (Parameters, Array) {
    let part = part(reader);
    let chip_select = reader.u32("reg", 0..=31, "the chip select line, 0 to 31");
    let max_clock = reader.frequency_or("spi-max-frequency", None, "the fastest SCK that the board allows the chip");
    let bits = part.size_bytes * 8;
    let size = format!("this part has {bits} bits");
    reader.u32_or("size", bits, [bits], &size);
    for property in ["spi-tx-bus-width", "spi-rx-bus-width"] {
        reader.u32_or(property, 1, [1, 2, 4], "this part has 1, 2 or 4 data lines");
    }
    reader.flag("m25p,fast-read", "drivers may use the fast read command; changes nothing");
    let (registers, times) = (part.family.from_node)(reader, part);
    (Parameters { part, chip_select, max_clock, registers, times }, Array::erased(part.size_bytes))
}

fn part(reader: &mut NodeReader) -> &'static Part {
    let compatibles = reader.node.compatibles();
    if let Some(part) = find(&compatibles) {
        return part;
    }
    let first = compatibles.first().copied().unwrap_or_default();
    let similar = similar_names(first, PARTS.iter().map(|part| part.compatible));
    reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible: first.to_owned(), similar });
    &PARTS[0]
}

/// The column of the datasheet that the cycles use: true if each takes its typical time. Else each takes its maximum
/// time, part of a page as long as a whole page.
fn is_typical(reader: &mut NodeReader) -> bool {
    let columns = [("typical", true), ("maximum", false)];
    reader.word_or_first("cyclescope,busy-times", &columns, "which of the datasheet's columns cycles take")
}

/// A time from the chosen column. Both are read, so that both are checked and listed.
fn column(reader: &mut NodeReader, is_typical: bool, name: &str, unit: &str, meaning: &str) -> Ps {
    let typical = reader.timing_ps(&format!("cyclescope,{name}typical{unit}"), &format!("typical {meaning}"));
    let maximum = reader.timing_ps(&format!("cyclescope,{name}maximum{unit}"), &format!("maximum {meaning}"));
    if is_typical { typical } else { maximum }
}

/// Reads a Micron N25Q's node: typically eight bytes of a page are programmed at once; the maximum is the same for any
/// number.
pub fn n25q(reader: &mut NodeReader, part: &Part) -> (Registers, Times) {
    let nonvolatile = reader.u32_or(
        "cyclescope,nonvolatile-configuration-register",
        n25q::MAP.row(n25q::NVCR).map_or(0, |row| row.reset),
        0..=0xffff,
        "the nonvolatile configuration register at the start has 16 bits",
    );
    let is_typical = is_typical(reader);
    let mut times = Times::read(reader, is_typical, N25Q);
    if is_typical {
        times.partial_program = PartialProgram::Share { unit_bytes: 8 };
    }
    (Registers::new(&n25q::SET, part.size_bytes, 0).with(n25q::NVCR, nonvolatile), times)
}

/// Reads a Cypress FL-L's node.
pub fn fl_l(reader: &mut NodeReader, part: &Part) -> (Registers, Times) {
    let is_typical = is_typical(reader);
    let mut times = Times::read(reader, is_typical, FL_L);
    (times.partial_program, times.erase_suspend) = (PartialProgram::Bytes, times.program_suspend);
    let latency_code_0 = reader.timing_cycles(
        "cyclescope,latency-code-0-clocks",
        "dummy clocks of reads while the read latency (CR3V, bits 3 to 0) is 0",
    );
    let latency_code_0_clocks = u32::try_from(latency_code_0.0).unwrap_or(u32::MAX);
    (Registers::new(&fl_l::SET, part.size_bytes, latency_code_0_clocks), times)
}
