//! Activities that several models have in common ([`engine::activity`]).

use engine::activity::{Activity, Kind};

/// A character on a UART's line to the far end.
pub static SENT: Activity =
    Activity::new(Kind::Serial, "character sent", "from the start bit to the end of the stop bits; the character");
/// One from the far end.
pub static RECEIVED: Activity = Activity::new(
    Kind::Serial,
    "character received",
    "from the start bit to its reception, in the stop bit; the character",
);
/// Activities of all UARTs.
pub const SERIAL: &[&Activity] = &[&SENT, &RECEIVED];

/// The transmit FIFO.
pub static TX_FIFO: Activity = Activity::new(
    Kind::Queue,
    "TX FIFO",
    "an entry of an enabled FIFO, from its write to the time at which the firmware can see its place free; its value",
);
/// The receive FIFO.
pub static RX_FIFO: Activity = Activity::new(
    Kind::Queue,
    "RX FIFO",
    "an entry of an enabled FIFO, from the time at which the firmware can see it to its read; its value",
);
/// Activities of UARTs with FIFOs.
pub const SERIAL_WITH_FIFOS: &[&Activity] = &[&SENT, &RECEIVED, &TX_FIFO, &RX_FIFO];

/// A DMA channel at work.
pub static TRANSFER: Activity = Activity::new(
    Kind::Transfer,
    "DMA transfer",
    "a channel, by its number, from its enable to the end of its last transfer, including waits for requests; the \
     source address, and the number of bytes",
);

/// Activities of DMA engines.
pub const DMA: &[&Activity] = &[&TRANSFER];

/// Flash memory of a microcontroller.
pub static PROGRAM: Activity = Activity::new(
    Kind::Busy,
    "program",
    "the flash memory programs a word (BSY); the address, and the number of bytes",
);
/// An erase of such a memory.
pub static ERASE: Activity =
    Activity::new(Kind::Busy, "erase", "the flash memory erases (BSY); the address, and the number of bytes");
/// Activities of its controllers.
pub const FLASH: &[&Activity] = &[&PROGRAM, &ERASE];

/// An ADC.
pub static CONVERSION: Activity = Activity::new(
    Kind::Conversion,
    "conversion",
    "from the start, or the end of the conversion before, to the result; the channel's number",
);
/// The calibration of an ADC.
pub static CALIBRATION: Activity = Activity::new(Kind::Conversion, "calibration", "of the converter");
/// The power-up of an ADC.
pub static POWER_UP: Activity = Activity::new(Kind::Conversion, "power-up", "from ADEN to ADRDY");
/// Activities of ADCs.
pub const ADC: &[&Activity] = &[&CONVERSION];
/// Activities of ADCs that are calibrated.
pub const CALIBRATED_ADC: &[&Activity] = &[&CONVERSION, &CALIBRATION, &POWER_UP];

/// A timer with an interrupt or an output for its tick.
pub static COUNTING: Activity = Activity::new(
    Kind::Timer,
    "counting",
    "a timer with an interrupt or an output counts: from its start, or from the handling of the previous tick, to the \
     tick that it signals",
);
/// Activities of timers.
pub const TIMER: &[&Activity] = &[&COUNTING];

/// An oscillator or PLL.
pub static CLOCK_START: Activity = Activity::new(
    Kind::Other,
    "clock starting",
    "an oscillator or PLL, by its number in the controller, from its start until it is ready",
);
/// Activities of clock controllers.
pub const CLOCKS: &[&Activity] = &[&CLOCK_START];

/// A regulator.
pub static VOLTAGE: Activity =
    Activity::new(Kind::Other, "voltage settling", "a regulator changes its voltage, or starts");
/// Activities of power controllers.
pub const POWER: &[&Activity] = &[&VOLTAGE];

/// A mailbox.
pub static MESSAGE: Activity = Activity::new(
    Kind::Other,
    "message under way",
    "a channel, by its number, from the time at which the sender marks it as occupied until the receiver frees it",
);
/// Activities of mailboxes.
pub const MAILBOX: &[&Activity] = &[&MESSAGE];

/// A random number generator.
pub static GENERATING: Activity = Activity::new(Kind::Conversion, "generating", "of a random number");
/// Activities of such generators.
pub const GENERATOR: &[&Activity] = &[&GENERATING];
