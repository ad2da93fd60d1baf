//! The board's parameters of the chip.
//!
//! Linux's `atmel,at86rf231` binding: `compatible`, `reg`, `spi-max-frequency`, `interrupts`, `reset-gpio`,
//! `sleep-gpio`, `xtal-trim`. Cyclescope's own: times, limits of the wire, and the traffic on the air.

use super::air::{LEAST_ADDRESSED_BYTES, Others, Peer};
use super::limits::Limits;
use crate::prelude::*;
use engine::dt::fault::FaultKind;
use engine::dt::node::Property;
use engine::dt::reader::{Allowed, Declared};
use engine::wire::spi::{CONTROLS, INTERRUPT};

/// The datasheet's times of the radio: typical values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Supply on to P_ON with a running clock, tTR1.
    pub power_on: Ps,
    /// P_ON to TRX_OFF: tuning of the filters, tTR16.
    pub filter_tuning: Ps,
    /// SLEEP to TRX_OFF, tTR2.
    pub wake_up: Ps,
    /// TRX_OFF to SLEEP, tTR3.
    pub fall_asleep: Ps,
    /// TRX_OFF to PLL_ON and RX_ON, tTR4 and tTR6.
    pub pll_start: Ps,
    /// Between states that need no settling, tTR5, tTR7 to tTR9, tTR12, tTR14.
    pub change: Ps,
    /// TX_START to the first symbol, tTR10.
    pub transmit_start: Ps,
    /// Settling after a transmission, tTR11.
    pub transmit_end: Ps,
    /// /RST to TRX_OFF, tTR13.
    pub reset: Ps,
    /// Settling on another channel, tTR20.
    pub channel: Ps,
    /// From an event to the interrupt pin, tIRQ.
    pub interrupt: Ps,
    /// A measurement of the energy or of a clear channel.
    pub measurement: Ps,
}

/// All properties of the node.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Times of the radio.
    pub times: Times,
    /// Limits of the wire.
    pub limits: Limits,
    /// The peer on the air.
    pub peer: Peer,
    /// Other stations.
    pub others: Others,
}

/// Reads the node.
pub fn from_node(reader: &mut NodeReader) -> Parameters {
    reader.u32("reg", 0..=31, "the chip select line, 0 to 31");
    reader.known(&["xtal-trim"]);
    // The chip's host reads these.
    reader.declare(Declared::new("interrupts", "interrupts", INTERRUPT));
    for (property, .., meaning) in CONTROLS {
        reader.declare(Declared::new(property, "pins", meaning));
    }
    let max_hz = reader.frequency_or("spi-max-frequency", Some(7_500_000), "the fastest SCK that the chip takes");
    let max_clock = max_hz.unwrap_or_else(|| Hz::new(1).expect("1 Hz is a frequency"));
    let limits = limits(reader, max_clock.ps_at_floor(Cycles(1)));
    Parameters { times: times(reader), limits, peer: peer(reader), others: others(reader) }
}

fn times(reader: &mut NodeReader) -> Times {
    let mut time = |name: &str, meaning: &str| reader.timing_ps(name, meaning);
    Times {
        power_on: time("cyclescope,power-on-us", "tTR1, from the supply to P_ON with a running clock"),
        filter_tuning: time("cyclescope,filter-tuning-us", "P_ON to TRX_OFF"),
        wake_up: time("cyclescope,wake-up-us", "tTR2, SLEEP to TRX_OFF"),
        fall_asleep: time("cyclescope,fall-asleep-us", "tTR3, TRX_OFF to SLEEP"),
        pll_start: time("cyclescope,pll-start-us", "tTR4 and tTR6, TRX_OFF to PLL_ON and RX_ON"),
        change: time("cyclescope,state-change-us", "tTR5, tTR7 to tTR9, tTR12 and tTR14, between other states"),
        transmit_start: time("cyclescope,transmit-start-us", "tTR10, TX_START to the first symbol"),
        transmit_end: time("cyclescope,transmit-end-us", "tTR11, settling after a transmission"),
        reset: time("cyclescope,reset-us", "tTR13, reset to TRX_OFF"),
        channel: time("cyclescope,channel-us", "tTR20, settling on another channel"),
        interrupt: time("cyclescope,interrupt-latency-us", "tIRQ, from an event to the interrupt pin"),
        measurement: time("cyclescope,measurement-us", "a measurement of the energy, or of a clear channel"),
    }
}

fn limits(reader: &mut NodeReader, period: Ps) -> Limits {
    let mut time = |name: &str, meaning: &str| reader.timing_ps(name, meaning);
    [
        period,
        time("cyclescope,sel-to-miso-ns", "t1, /SEL's falling edge to MISO active"),
        time("cyclescope,miso-out-ns", "t2, SCLK's falling edge to MISO"),
        time("cyclescope,mosi-setup-ns", "t3, MOSI before SCLK's rising edge"),
        time("cyclescope,mosi-hold-ns", "t4, MOSI after SCLK's rising edge"),
        time("cyclescope,byte-gap-ns", "t5, the last bit of a byte to the first of the next"),
        time("cyclescope,sleep-pulse-ps", "t7, the width of a pulse of SLP_TR"),
        time("cyclescope,sel-idle-ns", "t8, /SEL's rising edge to its falling edge"),
        time("cyclescope,sel-release-ns", "t9, SCLK's last rising edge to /SEL's rising edge"),
    ]
}

/// The peer's properties; without an interval it sends nothing.
fn peer(reader: &mut NodeReader) -> Peer {
    const INTERVAL: &str = "cyclescope,air-interval-us";
    let interval = reader.u32_or(
        INTERVAL,
        0,
        0..=1_000_000_000,
        "frames on the air come 1 to 1000000000 us apart; 0 for no frames",
    );
    let destination = destination(reader);
    let least = if destination.is_some() { LEAST_ADDRESSED_BYTES } else { 1 };
    let lengths = lengths(reader, least);
    Peer {
        lengths: if interval == 0 { Vec::new() } else { lengths },
        interval: Ps::from_us(u64::from(interval)),
        rate: rate(reader),
        destination,
        acknowledged_pct: u64::from(reader.u32_or(
            "cyclescope,air-acknowledged-percent",
            0,
            0..=100,
            "the number of frames, 0 to 100 of 100 that request it, that the peer acknowledges",
        )),
    }
}

fn lengths(reader: &mut NodeReader, least: u8) -> Vec<u8> {
    const NAME: &str = "cyclescope,air-frame-bytes";
    let range = u32::from(least)..=127;
    reader.declare(Declared {
        range: (1..=127).in_words().map(|range| format!("each {range}")),
        ..Declared::new(
            NAME,
            "numbers",
            "lengths of the PSDUs of the frames that a peer sends, used in rotation; empty for no frames",
        )
    });
    let Some(property) = reader.node.property(NAME).filter(|property| !property.value.is_empty()) else {
        return Vec::new();
    };
    let lengths: Vec<u32> = Property::cells(property).unwrap_or_default();
    if let Some(wrong) = lengths.iter().find(|length| !range.contains(*length)) {
        let allowed = match least {
            1 => "a frame's PSDU has 1 to 127 bytes".to_owned(),
            _ => format!("a frame's PSDU has {least} to 127 bytes with the header of cyclescope,air-destination"),
        };
        reader.fault_at(NAME, FaultKind::OutOfRange { property: NAME.into(), value: wrong.to_string(), allowed });
    }
    lengths.iter().map(|length| (*length).clamp(1, 127) as u8).collect()
}

/// The peer's data rate, as a value of OQPSK_DATA_RATE.
fn rate(reader: &mut NodeReader) -> u8 {
    const NAME: &str = "cyclescope,air-rate-kbps";
    const RATES: [u32; 4] = [250, 500, 1000, 2000];
    let kbps = reader.u32_or(NAME, 250, 250..=2000, "data rate of the peer's frames: 250, 500, 1000 or 2000 kbit/s");
    RATES.iter().position(|rate| *rate == kbps).unwrap_or_else(|| {
        let allowed = "250, 500, 1000 or 2000 kbit/s".to_owned();
        reader.fault_at(NAME, FaultKind::OutOfRange { property: NAME.into(), value: kbps.to_string(), allowed });
        0
    }) as u8
}

fn destination(reader: &mut NodeReader) -> Option<(u16, u16)> {
    let meaning = "PAN (upper 16 bits) and short address (lower 16) to which the peer's frames go, as data frames \
        that request an acknowledgement; 0: they have no header";
    let both = reader.u32_or("cyclescope,air-destination", 0, 0..=u32::MAX, meaning);
    (both != 0).then_some(((both >> 16) as u16, both as u16))
}

/// Other stations on the channel; without an interval there are no stations.
fn others(reader: &mut NodeReader) -> Others {
    let mut us = |name: &str, meaning: &str| Ps::from_us(u64::from(reader.u32_or(name, 0, 0..=1_000_000_000, meaning)));
    Others {
        busy: us(
            "cyclescope,air-busy-us",
            "the time for which other stations use the channel in each interval, 0 to 1000000000 us",
        ),
        interval: us(
            "cyclescope,air-busy-interval-us",
            "other stations' interval, 0 to 1000000000 us; 0 for no stations",
        ),
        ed_level: reader.u32_or(
            "cyclescope,air-busy-ed-level",
            60,
            0..=84,
            "other stations' energy as a value of PHY_ED_LEVEL, 0 to 84",
        ) as u8,
    }
}
