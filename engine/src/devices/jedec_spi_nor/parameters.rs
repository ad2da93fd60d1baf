//! What the board says about the chip.
//!
//! Linux's `jedec,spi-nor` binding: `compatible`, `reg`, `spi-max-frequency`, `spi-tx-bus-width`, `spi-rx-bus-width`,
//! `m25p,fast-read`; `size` (bits) as in Zephyr's. Ours: busy times, typical and maximum, and the image.

use super::array::Array;
use super::parts::{PARTS, Part, find};
use super::registers::NONVOLATILE_DEFAULT;
use crate::board::fault::{FaultKind, near_matches};
use crate::board::reader::NodeReader;
use crate::time::{Hz, Ps};

/// Typical or maximum busy times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyTimes {
    /// Each cycle takes its typical time.
    Typical,
    /// Each cycle takes its maximum time, a part of a page as long as a whole one.
    Maximum,
}

/// Times of the self-timed cycles, as chosen by `cyclescope,busy-times`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Which of the sheet's columns they are.
    pub choice: BusyTimes,
    /// PAGE PROGRAM cycle time of 256 bytes (tPP).
    pub page_program: Ps,
    /// Subsector ERASE cycle time (tSSE).
    pub subsector_erase: Ps,
    /// Sector ERASE cycle time (tSE).
    pub sector_erase: Ps,
    /// Bulk ERASE cycle time (tBE).
    pub bulk_erase: Ps,
    /// WRITE STATUS REGISTER cycle time (tW).
    pub write_status: Ps,
    /// WRITE NONVOLATILE CONFIGURATION REGISTER cycle time (tWNVCR).
    pub write_nonvolatile: Ps,
    /// PROGRAM OTP cycle time of 64 bytes (tPOTP); the sheet has no maximum.
    pub program_otp: Ps,
    /// From PROGRAM/ERASE SUSPEND to ready, for a program; the sheet has no maximum.
    pub program_suspend: Ps,
    /// From PROGRAM/ERASE SUSPEND to ready, for an erase; the sheet has no maximum.
    pub erase_suspend: Ps,
}

/// All that the node says.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The part.
    pub part: &'static Part,
    /// The controller's chip select line.
    pub chip_select: u32,
    /// The fastest SCK that the board allows.
    pub max_clock: Option<Hz>,
    /// Nonvolatile configuration register at the start of the run.
    pub nonvolatile: u16,
    /// Busy times.
    pub times: Times,
}

/// Reads the node; the contents come from its image.
pub fn from_node(reader: &mut NodeReader) -> (Parameters, Array) {
    let part = part(reader);
    let chip_select = reader.u32("reg", |line| line < 32, "the chip select line, 0 to 31");
    let max_hz = reader.u32_or("spi-max-frequency", 0, |hz| hz > 0, "it is a frequency in hertz, above 0");
    let bits = part.size_bytes * 8;
    let size = format!("this part has {bits} bits");
    reader.u32_or("size", bits, |value| value == bits, &size);
    for property in ["spi-tx-bus-width", "spi-rx-bus-width"] {
        reader.u32_or(property, 1, |lines| matches!(lines, 1 | 2 | 4), "this part has 1, 2 or 4 data lines");
    }
    reader.flag("m25p,fast-read");
    let nonvolatile = reader.u32_or(
        "cyclescope,nonvolatile-configuration-register",
        u32::from(NONVOLATILE_DEFAULT),
        |value| value <= 0xffff,
        "the register has 16 bits",
    );
    let times = times(reader);
    let array = array(reader, part);
    let max_clock = Hz::new(u64::from(max_hz));
    (Parameters { part, chip_select, max_clock, nonvolatile: nonvolatile as u16, times }, array)
}

fn part(reader: &mut NodeReader) -> &'static Part {
    let compatibles = reader.node.compatibles();
    if let Some(part) = find(&compatibles) {
        return part;
    }
    let first = compatibles.first().copied().unwrap_or_default();
    let near = near_matches(first, PARTS.iter().map(|part| part.compatible));
    reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible: first.to_owned(), near });
    &PARTS[0]
}

fn times(reader: &mut NodeReader) -> Times {
    let choice = reader
        .word_or_first("cyclescope,busy-times", &[("typical", BusyTimes::Typical), ("maximum", BusyTimes::Maximum)]);
    // Both columns are read, so that both are checked and shown whichever is in use.
    let mut column = |name: &str, unit: &str, meaning: &str| {
        let typical = reader.timing_ps(&format!("cyclescope,{name}-typical-{unit}"), &format!("typical {meaning}"));
        let maximum = reader.timing_ps(&format!("cyclescope,{name}-maximum-{unit}"), &format!("maximum {meaning}"));
        if choice == BusyTimes::Typical { typical } else { maximum }
    };
    Times {
        choice,
        page_program: column("page-program", "us", "PAGE PROGRAM cycle time of 256 bytes"),
        subsector_erase: column("subsector-erase", "ms", "subsector ERASE cycle time"),
        sector_erase: column("sector-erase", "ms", "sector ERASE cycle time"),
        bulk_erase: column("bulk-erase", "ms", "bulk ERASE cycle time"),
        write_status: column("write-status-register", "us", "WRITE STATUS REGISTER cycle time"),
        write_nonvolatile: column(
            "write-nonvolatile-configuration-register",
            "ms",
            "WRITE NONVOLATILE CONFIGURATION REGISTER cycle time",
        ),
        program_otp: reader.timing_ps("cyclescope,program-otp-typical-us", "typical PROGRAM OTP cycle time"),
        program_suspend: reader
            .timing_ps("cyclescope,program-suspend-latency-us", "time from a program's suspension to ready"),
        erase_suspend: reader
            .timing_ps("cyclescope,erase-suspend-latency-us", "time from an erase's suspension to ready"),
    }
}

/// The contents: `cyclescope,image` is a path as the user's shell would take it; empty is none.
fn array(reader: &mut NodeReader, part: &Part) -> Array {
    let mut array = Array::erased(part.size_bytes);
    if let Some(image) = reader.string("cyclescope,image").filter(|image| !image.is_empty())
        && let Err(error) = array.load(image.as_ref())
    {
        let kind = FaultKind::OutOfRange {
            property: "cyclescope,image".to_owned(),
            value: image.to_owned(),
            allowed: error.to_string(),
        };
        reader.fault_at("cyclescope,image", kind);
    }
    array
}
