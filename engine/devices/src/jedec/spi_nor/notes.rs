//! Notes for the user about what the wire does not show.

use std::fmt;

use engine::state::{Fresh, State};
use engine::wire::spi::{Lines, Rate};

/// A note; each is reported once a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Note {
    /// The first byte of a frame is no command of this part (in this protocol).
    UnknownCommand { opcode: u8, part: &'static str },
    /// Chip select rose before the command's eighth bit.
    PartialCommand,
    /// A command that the chip does not decode while busy.
    Busy { opcode: u8, with: &'static str },
    /// A command that needs the write enable latch.
    NotWriteEnabled { opcode: u8 },
    /// A write, program or erase whose frame ended too early, too late or within a byte.
    WrongLength { opcode: u8, expected: &'static str },
    /// A program or erase of a protected sector.
    Protected { opcode: u8, address: u32 },
    /// A quad command while the quad data lines are not enabled.
    QuadDisabled { opcode: u8 },
    /// A command other than the release while in deep power-down.
    Asleep { opcode: u8 },
    /// A write of a register that does not exist.
    NoRegister { address: u32 },
    /// Status and configuration are locked until power-up.
    RegistersLocked,
    /// A register's bits that the model does not have.
    NotModelled { register: &'static str, value: u8 },
    /// A lock register that is locked down.
    LockedDown { address: u32 },
    /// A command that is not allowed while something is suspended.
    Suspended { opcode: u8 },
    /// Suspend or resume with nothing to suspend or resume.
    Nothing { opcode: u8 },
    /// RESET MEMORY without RESET ENABLE just before.
    ResetNotEnabled,
    /// A reset in the middle of a cycle.
    ResetWhileBusy { with: &'static str },
    /// The controller began to read after too few or too many dummy clocks.
    DummyClocks { opcode: u8, got: u32, expected: u32 },
    /// A phase on a wrong number of lines.
    WrongLines { opcode: Option<u8>, phase: &'static str, got: Lines, expected: Lines },
    /// A phase at a wrong data rate.
    WrongRate { opcode: u8, phase: &'static str, expected: Rate },
    /// Both sides drive the same lines.
    Contention { opcode: u8 },
    /// Nobody drives the lines that the chip reads.
    Undriven { opcode: Option<u8>, phase: &'static str },
    /// SCK is faster than `spi-max-frequency`.
    TooFast { max_hz: u64, at_least_hz: u64 },
    /// The protocol on the wire changes.
    ProtocolChanged { lines: Lines },
    /// The image's file system has no locks.
    NotLocked,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::UnknownCommand { opcode, part } => {
                write!(f, "command {opcode:02X}h ignored: the {part} has no such command in this protocol")
            }
            Note::PartialCommand => write!(f, "a frame ended within its command byte: ignored"),
            Note::Busy { opcode, with } => write!(f, "command {opcode:02X}h ignored: the chip is busy with a {with}"),
            Note::NotWriteEnabled { opcode } => {
                write!(f, "command {opcode:02X}h ignored: no WRITE ENABLE (06h) before it")
            }
            Note::WrongLength { opcode, expected } => {
                write!(f, "command {opcode:02X}h ignored: its frame must end {expected}")
            }
            Note::Protected { opcode, address } => {
                write!(f, "command {opcode:02X}h failed: {address:#08x} is in a protected sector")
            }
            Note::QuadDisabled { opcode } => {
                write!(f, "command {opcode:02X}h ignored: quad data lines are not enabled (CR1V, bit 1)")
            }
            Note::Asleep { opcode } => {
                write!(f, "command {opcode:02X}h ignored: the chip is in deep power-down (ABh ends it)")
            }
            Note::NoRegister { address } => write!(f, "command 71h ignored: no register at {address:06X}h"),
            Note::RegistersLocked => {
                write!(f, "a register write was ignored: SRP1 (CR1V, bit 0) locks them until power-up")
            }
            Note::NotModelled { register, value } => {
                write!(f, "{register} was written with {value:02X}h: some of its bits are not modelled and stay 0")
            }
            Note::LockedDown { address } => {
                write!(f, "command E5h ignored: the lock register of {address:#08x} is locked down until reset")
            }
            Note::Suspended { opcode } => {
                write!(f, "command {opcode:02X}h ignored: not allowed while a program or erase there is suspended")
            }
            Note::Nothing { opcode } => {
                write!(f, "command {opcode:02X}h ignored: there is nothing to suspend or resume")
            }
            Note::ResetNotEnabled => write!(f, "command 99h ignored: no RESET ENABLE (66h) just before it"),
            Note::ResetWhileBusy { with } => write!(
                f,
                "reset during a {with}: a real chip's contents are undefined there, here the cycle counts as done"
            ),
            Note::DummyClocks { opcode, got, expected } => {
                write!(f, "command {opcode:02X}h: {got} dummy clocks, the chip expects {expected}")
            }
            Note::WrongLines { opcode, phase, got, expected } => {
                let (command, got, expected) = (command(*opcode), *got as u32, *expected as u32);
                write!(f, "{command}: {phase} on {got} line(s), the chip uses {expected}")
            }
            Note::WrongRate { opcode, phase, expected } => {
                let edges = if *expected == Rate::Double { "both edges" } else { "one edge" };
                write!(f, "command {opcode:02X}h: the chip takes {phase} on {edges} of each clock")
            }
            Note::Contention { opcode } => {
                write!(f, "command {opcode:02X}h: the controller drives the lines on which the chip puts out data")
            }
            Note::Undriven { opcode, phase } => {
                write!(f, "{}: {phase} taken by the chip while the controller drives nothing", command(*opcode))
            }
            Note::TooFast { max_hz, at_least_hz } => {
                write!(f, "SCK runs at {at_least_hz} Hz; spi-max-frequency is {max_hz}")
            }
            Note::ProtocolChanged { lines } => {
                write!(f, "commands, addresses and data now go over {} line(s)", *lines as u32)
            }
            Note::NotLocked => write!(f, "the image's file system has no locks: another run may write it as well"),
        }
    }
}

fn command(opcode: Option<u8>) -> String {
    opcode.map_or_else(|| "a command".to_owned(), |opcode| format!("command {opcode:02X}h"))
}
