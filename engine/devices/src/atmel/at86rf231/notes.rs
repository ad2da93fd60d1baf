//! Notes for the user about what the wire does not show.

use std::fmt;

use super::limits::Violation;
use super::states::{Command, State};

use engine::state;

/// A note; each is reported once a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, state::State, state::Fresh)]
pub enum Note {
    /// The controller broke a limit of the wire.
    Timing(Violation),
    /// An access while the chip sleeps, or before its clock runs.
    NotAccessible { state: State },
    /// A command that the state does not allow.
    Refused { command: Command, state: State },
    /// A command in the middle of a transition.
    InTransition { command: Command },
    /// A command that the part does not have.
    NoCommand { command: Command },
    /// SLP_TR rose while the receiver listens.
    NoClock,
    /// A register that does not exist.
    NoRegister { address: u8 },
    /// A write to a read-only register.
    ReadOnly { name: &'static str },
    /// More bytes than a register access has.
    LongAccess,
    /// Chip select rose within a byte.
    WithinByte,
    /// More lines than the chip has, or both edges.
    WrongLines,
    /// The clock rests high.
    WrongMode,
    /// The frame buffer was written or read too late or too early.
    Underrun { what: &'static str },
    /// The receiver is set to another data rate than the air's.
    OtherRate,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Timing(violation) => violation.fmt(f),
            Note::NotAccessible { state } => {
                write!(f, "an access in {state} was ignored: registers and buffer are off")
            }
            Note::Refused { command, state } => write!(f, "{command} has no effect in {state}"),
            Note::InTransition { command } => write!(f, "{command} was ignored: a state transition is in progress"),
            Note::NoCommand { command } => write!(f, "{command} was ignored: the AT86RF230 does not have it"),
            Note::NoClock => {
                write!(f, "SLP_TR rose in a receive state: RX_ON_NOCLK is not modelled, the chip stays there")
            }
            Note::NoRegister { address } => write!(f, "there is no register {address:#04x}: it reads 0"),
            Note::ReadOnly { name } => write!(f, "{name} is read-only: a write had no effect"),
            Note::LongAccess => write!(f, "a register access has two bytes: more were ignored"),
            Note::WithinByte => write!(f, "/SEL rose within a byte: its bits were ignored"),
            Note::WrongLines => write!(f, "the chip has one data line a direction, and a bit a clock"),
            Note::WrongMode => {
                write!(f, "SCLK rests high: the chip takes SPI mode 0, and what it shows is a bit ahead")
            }
            Note::Underrun { what } => write!(f, "TRX_UR: {what}"),
            Note::OtherRate => {
                write!(f, "frames come at another data rate than OQPSK_DATA_RATE says: none is received")
            }
        }
    }
}
