//! The board's parameters of the card.
//!
//! Linux's `mmc-spi-slot` binding: `compatible`, `reg`, `spi-max-frequency`, `voltage-ranges`, `disable-wp`.
//! Cyclescope's own: the contents and their size, the kind of card, its times, and injected faults.

use super::capacity::{Capacity, STANDARD_MAX_BYTES};
use super::medium::Medium;
use crate::prelude::*;
use engine::dt::fault::FaultKind;
use engine::host_image::{self, Access, HostImage};

/// Faults that the board injects. Blocks are counted from 1; `None` is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The card leaves the slot at this time.
    pub removed_at: Option<Ps>,
    /// The card leaves the slot when this many blocks have been acknowledged.
    pub removed_after_blocks: Option<u64>,
    /// A bit of this data block changes on the wire to the card.
    pub crc_error_block: Option<u64>,
    /// The card stays busy for ever after this block.
    pub stuck_busy_block: Option<u64>,
    /// This block of those read fails with an uncorrectable error.
    pub read_error_block: Option<u64>,
}

/// All properties of the node.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The fastest SCK that the board allows.
    pub max_clock: Option<Hz>,
    /// Size and kind.
    pub capacity: Capacity,
    /// SD_SPEC of the SCR: 1 for version 1.10 of the specification, which has no CMD8, and 2 for version 2.00.
    pub sd_spec: u8,
    /// The card has CMD23, and the SCR says so.
    pub set_block_count: bool,
    /// The card has High Speed, up to 50 MHz, in SD mode.
    pub high_speed: bool,
    /// True if the card is write-protected.
    pub write_protect: bool,
    /// NCR: byte times from the end of a command to its response, 1 to 8.
    pub response_bytes: u8,
    /// From the first ACMD41 or CMD1 to the end of the initialisation.
    pub initialisation: Ps,
    /// SPEED_CLASS of the SD Status.
    pub speed_class_code: u8,
    /// AU_SIZE of the SD Status.
    pub au_size_code: u8,
    /// Injected faults.
    pub faults: Faults,
}

/// Reads the node; the contents come from its image.
pub fn from_node(reader: &mut NodeReader) -> (Parameters, Medium, Option<HostImage>) {
    reader.u32("reg", 0..=31, "the chip select line, 0 to 31");
    reader.known(&["voltage-ranges", "disable-wp"]);
    let max_clock = reader.frequency_or("spi-max-frequency", Some(25_000_000), "the fastest SCK that the card takes");
    let write_protect = reader.flag("cyclescope,write-protect", "nothing can be written");
    let (medium, bytes, image) = contents(reader, write_protect);
    let capacity = capacity(reader, bytes);
    let sd_spec = sd_spec(reader, capacity);
    let clocks = reader.timing_cycles(
        "cyclescope,response-clocks",
        "NCR, clocks from a command to its response: a multiple of 8, up to 64",
    );
    let parameters = Parameters {
        max_clock,
        capacity,
        sd_spec,
        set_block_count: reader.flag("cyclescope,set-block-count", "the card has CMD23, and its SCR says so"),
        high_speed: reader.flag("cyclescope,high-speed", "in SD mode, CMD6 can select High Speed, up to 50 MHz"),
        write_protect,
        response_bytes: response_bytes(reader, clocks),
        initialisation: reader
            .timing_ps("cyclescope,initialisation-us", "time from the first ACMD41 to the end of the initialisation"),
        speed_class_code: speed_class_code(reader),
        au_size_code: au_size_code(reader),
        faults: faults(reader),
    };
    (parameters, medium, image)
}

fn response_bytes(reader: &mut NodeReader, clocks: Cycles) -> u8 {
    const NAME: &str = "cyclescope,response-clocks";
    if clocks.0.is_multiple_of(8) && (8..=64).contains(&clocks.0) {
        return (clocks.0 / 8) as u8;
    }
    if reader.node.property(NAME).is_some() {
        out_of_range(reader, NAME, clocks.0.to_string(), "NCR is 1 to 8 byte times: a multiple of 8, up to 64");
    }
    1
}

/// `cyclescope,image` is a path as in the user's shell; an empty string is no image.
fn contents(reader: &mut NodeReader, read_only: bool) -> (Medium, u64, Option<HostImage>) {
    const NAME: &str = "cyclescope,image";
    let bytes = capacity_bytes(reader);
    if reader.string(NAME, host_image::MEANING).is_none_or(str::is_empty) {
        if bytes.is_none() {
            let meaning = "the card's size, or cyclescope,image, a file that gives it".to_owned();
            let property = "cyclescope,capacity-bytes".to_owned();
            reader.fault_at("compatible", FaultKind::Missing { property, meaning });
        }
        return (Medium::default(), bytes.unwrap_or(STANDARD_MAX_BYTES), None);
    }
    let access = if read_only { Access::ReadOnly } else { Access::InPlace };
    if let Some((image, Some(file))) = HostImage::from_node(reader, access) {
        match Medium::image(file) {
            Ok((medium, bytes)) => return (medium, bytes, Some(image)),
            Err(error) => reader.fault_at(NAME, image.fault(&error).kind),
        }
    }
    (Medium::default(), STANDARD_MAX_BYTES, None)
}

/// One cell, or two for more than 4 GiB.
fn capacity_bytes(reader: &mut NodeReader) -> Option<u64> {
    const NAME: &str = "cyclescope,capacity-bytes";
    let meaning = "the card's size in one cell, or two for 4 GiB and more: needed without `cyclescope,image`, whose \
                   size counts else";
    match *reader.bytes(NAME, meaning)? {
        [a, b, c, d] => Some(u64::from(u32::from_be_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => {
            let expected = "one cell, or two for 4 GiB and more".to_owned();
            reader.fault_at(NAME, FaultKind::WrongType { property: NAME.to_owned(), expected });
            None
        }
    }
}

fn capacity(reader: &mut NodeReader, bytes: u64) -> Capacity {
    let kinds = [("automatic", None), ("standard", Some(false)), ("high", Some(true))];
    let is_high = reader.word_or_first(
        "cyclescope,capacity-class",
        &kinds,
        "an SDSC card, an SDHC card, or what the size asks for",
    );
    let high = is_high.unwrap_or(bytes > STANDARD_MAX_BYTES);
    let capacity = if high { Capacity::high(bytes) } else { Capacity::standard(bytes) };
    capacity.unwrap_or_else(|| {
        let card = if high { "an SDHC" } else { "an SDSC" };
        let advice = match Capacity::next(bytes, high) {
            Some(next) => format!("{card} card's CSD can't say that; the next size that it can is {next} bytes"),
            None if high => "an SDHC card has at most 34359738368 bytes (32 GiB)".to_owned(),
            None => {
                "an SDSC card has at most 2147483648 bytes (2 GiB); set cyclescope,capacity-class to \"high\"".into()
            }
        };
        let image = reader.node.property("cyclescope,image").is_some_and(|image| image.value.len() > 1);
        let (name, value) = if image {
            ("cyclescope,image", format!("a file of {bytes} bytes"))
        } else {
            ("cyclescope,capacity-bytes", bytes.to_string())
        };
        out_of_range(reader, name, value, &advice);
        Capacity::default()
    })
}

fn sd_spec(reader: &mut NodeReader, capacity: Capacity) -> u8 {
    const NAME: &str = "cyclescope,specification";
    let versions = [("2.00", 2), ("1.10", 1)];
    let sd_spec = reader.word_or_first(NAME, &versions, "the Physical Layer specification that the card meets");
    if sd_spec == 1 && capacity.is_high() {
        out_of_range(reader, NAME, "\"1.10\"".to_owned(), "SDHC cards came with 2.00");
    }
    sd_spec
}

/// `cyclescope,speed-class`: 0 (none), 2, 4, 6 or 10.
fn speed_class_code(reader: &mut NodeReader) -> u8 {
    const CLASSES: [u32; 5] = [0, 2, 4, 6, 10];
    let class = reader.u32_or("cyclescope,speed-class", 0, CLASSES, "a speed class is 2, 4, 6 or 10, or 0 for none");
    CLASSES.iter().position(|known| *known == class).unwrap_or(0) as u8
}

/// `cyclescope,au-bytes`: 0 (not defined), or 16 KiB to 4 MiB.
fn au_size_code(reader: &mut NodeReader) -> u8 {
    let allowed = |bytes: u32| bytes == 0 || bytes.is_power_of_two() && (1 << 14..=1 << 22).contains(&bytes);
    let meaning = "an allocation unit has 16384 to 4194304 bytes, a power of two, or 0 for not defined";
    let bytes = reader.u32_or("cyclescope,au-bytes", 0, allowed, meaning);
    if bytes == 0 { 0 } else { (bytes.trailing_zeros() - 13) as u8 }
}

/// Far more than the blocks of a card, or the milliseconds of a run.
const MOST_BLOCKS: u32 = i32::MAX as u32;

fn faults(reader: &mut NodeReader) -> Faults {
    let mut number = |name, what: &str| {
        let meaning = format!("{what}, 1 to 2147483647, or 0 for never");
        let value = reader.u32_or(name, 0, 0..=MOST_BLOCKS, &meaning);
        (value > 0).then_some(u64::from(value))
    };
    Faults {
        removed_at: number("cyclescope,removed-at-ms", "the time at which the card is pulled out")
            .map(|ms| Ps::from_us(ms * 1000)),
        removed_after_blocks: number(
            "cyclescope,removed-after-blocks",
            "the number of acknowledged blocks after which the card is pulled out",
        ),
        crc_error_block: number(
            "cyclescope,crc-error-block",
            "the data block in which a bit changes on the wire to the card",
        ),
        stuck_busy_block: number(
            "cyclescope,stuck-busy-block",
            "the written block after which the card stays busy for ever",
        ),
        read_error_block: number("cyclescope,read-error-block", "the block of those read that the card can't correct"),
    }
}

fn out_of_range(reader: &mut NodeReader, property: &str, value: String, allowed: &str) {
    let kind = FaultKind::OutOfRange { property: property.to_owned(), value, allowed: allowed.to_owned() };
    reader.fault_at(property, kind);
}
