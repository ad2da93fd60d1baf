//! Notes for the user about what the wire does not show.

use std::fmt;

use engine::state::{Fresh, State};

/// A note; each is reported once a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Note {
    /// CMD0 came before the card had its 74 clocks.
    TooFewClocks { clocks: u32 },
    /// A command before CMD0.
    NotInSpiMode { index: u8 },
    /// A command that the card does not have, or that is illegal in its state.
    Illegal { name: &'static str, index: u8, when: &'static str },
    /// A command with a wrong CRC7.
    CommandCrc { index: u8 },
    /// A data block with a wrong CRC16.
    DataCrc { block: u32 },
    /// Chip select rose within a transfer.
    Abandoned { what: &'static str },
    /// A token that does not belong to the command.
    WrongToken { token: u8, expected: &'static str },
    /// A data or stop token while the card was busy.
    TokenWhileBusy { token: u8 },
    /// A write to a write-protected card.
    WriteProtected,
    /// An address or a transfer past the last block.
    PastTheEnd { blocks: u32 },
    /// SCK is faster than `spi-max-frequency`.
    TooFast { max_hz: u64, at_least_hz: u64 },
    /// More lines than the card has, or both edges.
    WrongLines,
    /// A fault that the board injected.
    Injected { what: &'static str },
    /// The image's file system has no locks.
    NotLocked,
    /// The image could not be read, written or erased.
    Image { what: &'static str, error: String },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::TooFewClocks { clocks } => {
                write!(f, "CMD0 ignored: {clocks} clocks with chip select high before it, the card needs 74")
            }
            Note::NotInSpiMode { index } => {
                write!(f, "CMD{index} ignored: no CMD0 with a correct CRC has brought the card into SPI mode")
            }
            Note::Illegal { name, index, when } => write!(f, "{name}{index} is an illegal command {when}"),
            Note::CommandCrc { index } => write!(f, "CMD{index} refused: its CRC7 is wrong"),
            Note::DataCrc { block } => write!(f, "data for block {block} refused: the CRC16 is wrong"),
            Note::Abandoned { what } => write!(f, "chip select rose within {what}: abandoned"),
            Note::WrongToken { token, expected } => {
                write!(f, "{token:02X}h is no token here; the card waits for {expected}")
            }
            Note::TokenWhileBusy { token } => write!(f, "token {token:02X}h ignored: the card is busy"),
            Note::WriteProtected => write!(f, "the card is write-protected: nothing was written or erased"),
            Note::PastTheEnd { blocks } => write!(f, "an access past the end of the card, which has {blocks} blocks"),
            Note::TooFast { max_hz, at_least_hz } => {
                write!(f, "SCK runs at {at_least_hz} Hz; spi-max-frequency is {max_hz}")
            }
            Note::WrongLines => write!(f, "the card has one data line a direction, and a bit a clock"),
            Note::Injected { what } => write!(f, "as the board asked: {what}"),
            Note::NotLocked => write!(f, "the image's file system has no locks: another run may write it as well"),
            Note::Image { what, error } => write!(f, "the image could not be {what}: {error}"),
        }
    }
}
