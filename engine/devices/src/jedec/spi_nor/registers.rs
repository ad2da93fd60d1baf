//! The registers of a chip and the meaning of their bits: one file a family, and here their common interface.

pub mod fl_l;
pub mod n25q;

use super::commands::{Command, Dummies, Protocol, Source, Target};
use super::notes::Note;
use engine::state::{Damaged, Loader, Saver, State};
use engine::wire::spi::Rate;

/// Register bits that follow from the chip's condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// A cycle is in progress.
    pub busy: bool,
    /// The write enable latch is set.
    pub write_enabled: bool,
    /// An erase is suspended.
    pub erase_suspended: bool,
    /// A program is suspended.
    pub program_suspended: bool,
}

/// A write of registers.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// The register that the command names.
    pub target: Target,
    /// The address of the frame.
    pub address: u32,
    /// The frame's data: as many bytes as the target takes.
    pub data: &'a [u8],
    /// Only volatile registers were enabled for writing.
    pub volatile_only: bool,
}

/// How long a write takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTime {
    /// Less than chip select must stay high: nothing to wait for.
    None,
    /// That of the status register.
    Status,
    /// That of the nonvolatile configuration register.
    Nonvolatile,
}

/// The result of a write.
#[derive(Debug)]
pub struct Written {
    /// How long it takes.
    pub time: WriteTime,
    /// A note about bits that were not written.
    pub note: Option<Note>,
}

/// The end of a read from the array.
#[derive(Clone, Copy, Debug)]
pub struct ReadEnd {
    /// The rate of its address.
    pub rate: Rate,
    /// The level of IO0 in the first dummy clock.
    pub confirmation: Option<bool>,
    /// The mode byte, if the frame continued to the data.
    pub mode: Option<u8>,
    /// True if the frame had no command.
    pub continuing: bool,
}

/// The operation that failed because its sector is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A program.
    Program,
    /// An erase.
    Erase,
}

/// The registers of one of the families.
#[derive(Clone, Debug)]
pub enum Registers {
    /// Micron N25Q.
    N25q(n25q::Registers),
    /// Cypress FL-L.
    FlL(fl_l::Registers),
}

/// Passes a call to the family's registers.
macro_rules! each {
    ($self:ident, $registers:ident => $call:expr) => {
        match $self {
            Registers::N25q($registers) => $call,
            Registers::FlL($registers) => $call,
        }
    };
}

/// A part's family never changes.
impl State for Registers {
    fn save(&self, to: &mut Saver) {
        each!(self, registers => registers.save(to));
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        each!(self, registers => registers.load(from))
    }
}

impl Registers {
    /// Power-up and a software reset: loads the volatile registers from the nonvolatile ones.
    pub fn reset(&mut self) {
        each!(self, registers => registers.reset());
    }

    /// The protocol in use.
    pub fn protocol(&self) -> Protocol {
        match self {
            Registers::N25q(registers) => registers.protocol(),
            Registers::FlL(_) => Protocol::Extended,
        }
    }

    /// True if all four data lines may carry data.
    pub fn quad_enabled(&self) -> bool {
        match self {
            Registers::N25q(_) => true,
            Registers::FlL(registers) => registers.quad_enabled(),
        }
    }

    /// Dummy clocks of a command.
    pub fn dummy_clocks(&self, dummies: Dummies) -> u32 {
        each!(self, registers => registers.dummy_clocks(dummies))
    }

    /// Bytes after which a read by `command` wraps, if it does.
    pub fn wrap_bytes(&self, command: &Command) -> Option<u32> {
        each!(self, registers => registers.wrap_bytes(command))
    }

    /// The read that is active right after power-up, without a command.
    pub fn opcode_at_power_up(&self) -> Option<u8> {
        match self {
            Registers::N25q(registers) => registers.xip_opcode_at_power_up(),
            Registers::FlL(_) => None,
        }
    }

    /// True if the next frame continues the read with its address, without a command.
    pub fn continues(&mut self, end: ReadEnd) -> bool {
        match self {
            Registers::N25q(registers) => registers.continues(end),
            Registers::FlL(_) => fl_l::continues(end),
        }
    }

    /// Byte `index` of a register; FFh if `source` is not a register.
    pub fn read(&self, source: Source, address: u32, index: u32, condition: Condition) -> u8 {
        each!(self, registers => registers.read(source, address, index, condition))
    }

    /// Writes registers.
    pub fn write(&mut self, writing: Writing) -> Written {
        each!(self, registers => registers.write(writing))
    }

    /// Records an error for the firmware to read. True if the chip stays busy until the error is cleared.
    pub fn fail(&mut self, failure: Failure) -> bool {
        each!(self, registers => registers.fail(failure))
    }

    /// Clears the error bits.
    pub fn clear_errors(&mut self) {
        each!(self, registers => registers.clear_errors());
    }

    /// True if a program or erase at `address` fails.
    pub fn is_protected(&self, address: u32) -> bool {
        each!(self, registers => registers.is_protected(address))
    }

    /// True if an erase of everything fails.
    pub fn is_any_protected(&self) -> bool {
        each!(self, registers => registers.is_any_protected())
    }
}
