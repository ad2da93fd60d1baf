//! The command set as data: one row a command, in the order of the datasheet.
//!
//! Micron N25Q128A datasheet (n25q_128mb_3v_65nm, Rev. R), section "Command Definitions", table "Command Set".

use crate::wire::spi::Lines;

/// How many lines carry command, address and data (enhanced volatile configuration register, bits 7 and 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The command on one line; address and data as the command says.
    Extended = 1,
    /// All on two lines.
    Dual = 2,
    /// All on four lines.
    Quad = 4,
}

impl Protocol {
    /// The width of a phase that has `extended` lines in the extended protocol.
    pub const fn lines(self, extended: Lines) -> Lines {
        match self {
            Protocol::Extended => extended,
            Protocol::Dual => Lines::Dual,
            Protocol::Quad => Lines::Quad,
        }
    }
}

/// Dummy clocks between address and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dummies {
    /// None.
    None,
    /// A fixed number.
    Fixed(u32),
    /// As the volatile configuration register says; by default so many, and 10 in the quad protocol. The first of them
    /// carries the XIP confirmation bit.
    Configured(u32),
}

/// Where the data of a read command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The memory array.
    Array,
    /// The 20 bytes of READ ID.
    Id,
    /// The first three of them (MULTIPLE I/O READ ID).
    ShortId,
    /// The serial flash discovery parameters.
    Sfdp,
    /// The status register, over and over.
    Status,
    /// The flag status register, over and over.
    FlagStatus,
    /// The lock register of the addressed sector.
    Lock,
    /// The nonvolatile configuration register, low byte first.
    NonvolatileConfiguration,
    /// The volatile configuration register.
    VolatileConfiguration,
    /// The enhanced volatile configuration register.
    EnhancedVolatileConfiguration,
    /// The one-time programmable area.
    Otp,
}

/// A register that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The status register: bits 7 to 2.
    Status,
    /// The lock register of the addressed sector.
    Lock,
    /// The nonvolatile configuration register, low byte first.
    NonvolatileConfiguration,
    /// The volatile configuration register.
    VolatileConfiguration,
    /// The enhanced volatile configuration register.
    EnhancedVolatileConfiguration,
}

impl Target {
    /// Bytes that the command takes: not one more or less.
    pub const fn bytes(self) -> u32 {
        if matches!(self, Target::NonvolatileConfiguration) { 2 } else { 1 }
    }
}

/// What an erase command erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseUnit {
    /// 4 KiB.
    Subsector,
    /// 64 KiB.
    Sector,
    /// All.
    Bulk,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The next command may be RESET MEMORY.
    ResetEnable,
    /// As at power-up, if the command before was RESET ENABLE.
    ResetMemory,
    /// Puts out bytes until deselected.
    Read(Source),
    /// Sets the write enable latch.
    WriteEnable,
    /// Clears it.
    WriteDisable,
    /// Writes a register.
    Write(Target),
    /// Clears the error bits of the flag status register.
    ClearFlagStatus,
    /// Programs up to 256 bytes within a page.
    Program,
    /// Erases.
    Erase(EraseUnit),
    /// Continues what was suspended last.
    Resume,
    /// Suspends a program or an erase.
    Suspend,
    /// Programs the one-time programmable area.
    ProgramOtp,
}

impl Action {
    /// Only done while the write enable latch is set.
    pub const fn needs_write_enable(self) -> bool {
        matches!(self, Action::Write(_) | Action::Program | Action::Erase(_) | Action::ProgramOtp)
    }

    /// Decoded while a program, erase or write cycle is in progress.
    pub const fn works_while_busy(self) -> bool {
        matches!(
            self,
            Action::Read(Source::Status | Source::FlagStatus)
                | Action::Suspend
                | Action::ResetEnable
                | Action::ResetMemory
        )
    }
}

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Its code.
    pub opcode: u8,
    /// The datasheet's name.
    pub name: &'static str,
    /// Protocols in which it exists: a sum of [`Protocol`] values.
    pub protocols: u8,
    /// Lines of the 24 address bits in the extended protocol; `None` where the command has no address.
    pub address: Option<Lines>,
    /// Dummy clocks.
    pub dummies: Dummies,
    /// Lines of the data in the extended protocol.
    pub data: Lines,
    /// What it does.
    pub action: Action,
}

impl Command {
    /// True if the command exists in `protocol`.
    pub const fn exists_in(&self, protocol: Protocol) -> bool {
        self.protocols & protocol as u8 != 0
    }
}

const E: u8 = Protocol::Extended as u8;
const D: u8 = Protocol::Dual as u8;
const Q: u8 = Protocol::Quad as u8;
const ALL: u8 = E + D + Q;
const A1: Option<Lines> = Some(Lines::Single);
const A2: Option<Lines> = Some(Lines::Dual);
const A4: Option<Lines> = Some(Lines::Quad);

use Action::{Erase, Program, Read, Write};
use Dummies::{Configured, Fixed};
use Lines::{Dual, Quad, Single};

const fn row(
    opcode: u8,
    name: &'static str,
    protocols: u8,
    address: Option<Lines>,
    dummies: Dummies,
    data: Lines,
    action: Action,
) -> Command {
    Command { opcode, name, protocols, address, dummies, data, action }
}

/// All commands.
#[rustfmt::skip]
pub static COMMANDS: [Command; 38] = [
    //  code  name                                       in     addr  dummies         data    action
    row(0x66, "RESET ENABLE",                            ALL,   None, Dummies::None,  Single, Action::ResetEnable),
    row(0x99, "RESET MEMORY",                            ALL,   None, Dummies::None,  Single, Action::ResetMemory),
    row(0x9e, "READ ID",                                 E,     None, Dummies::None,  Single, Read(Source::Id)),
    row(0x9f, "READ ID",                                 E,     None, Dummies::None,  Single, Read(Source::Id)),
    row(0xaf, "MULTIPLE I/O READ ID",                    D + Q, None, Dummies::None,  Single, Read(Source::ShortId)),
    row(0x5a, "READ SERIAL FLASH DISCOVERY PARAMETER",   ALL,   A1,   Fixed(8),       Single, Read(Source::Sfdp)),
    row(0x03, "READ",                                    E,     A1,   Dummies::None,  Single, Read(Source::Array)),
    row(0x0b, "FAST READ",                               ALL,   A1,   Configured(8),  Single, Read(Source::Array)),
    row(0x3b, "DUAL OUTPUT FAST READ",                   E + D, A1,   Configured(8),  Dual,   Read(Source::Array)),
    row(0xbb, "DUAL INPUT/OUTPUT FAST READ",             E + D, A2,   Configured(8),  Dual,   Read(Source::Array)),
    row(0x6b, "QUAD OUTPUT FAST READ",                   E + Q, A1,   Configured(8),  Quad,   Read(Source::Array)),
    row(0xeb, "QUAD INPUT/OUTPUT FAST READ",             E + Q, A4,   Configured(10), Quad,   Read(Source::Array)),
    row(0x06, "WRITE ENABLE",                            ALL,   None, Dummies::None,  Single, Action::WriteEnable),
    row(0x04, "WRITE DISABLE",                           ALL,   None, Dummies::None,  Single, Action::WriteDisable),
    row(0x05, "READ STATUS REGISTER",                    ALL,   None, Dummies::None,  Single, Read(Source::Status)),
    row(0x01, "WRITE STATUS REGISTER",                   ALL,   None, Dummies::None,  Single, Write(Target::Status)),
    row(0xe8, "READ LOCK REGISTER",                      ALL,   A1,   Dummies::None,  Single, Read(Source::Lock)),
    row(0xe5, "WRITE LOCK REGISTER",                     ALL,   A1,   Dummies::None,  Single, Write(Target::Lock)),
    row(0x70, "READ FLAG STATUS REGISTER",               ALL,   None, Dummies::None,  Single, Read(Source::FlagStatus)),
    row(0x50, "CLEAR FLAG STATUS REGISTER",              ALL,   None, Dummies::None,  Single, Action::ClearFlagStatus),
    row(0xb5, "READ NONVOLATILE CONFIGURATION REGISTER", ALL,   None, Dummies::None,  Single, Read(Source::NonvolatileConfiguration)),
    row(0xb1, "WRITE NONVOLATILE CONFIGURATION REGISTER", ALL,  None, Dummies::None,  Single, Write(Target::NonvolatileConfiguration)),
    row(0x85, "READ VOLATILE CONFIGURATION REGISTER",    ALL,   None, Dummies::None,  Single, Read(Source::VolatileConfiguration)),
    row(0x81, "WRITE VOLATILE CONFIGURATION REGISTER",   ALL,   None, Dummies::None,  Single, Write(Target::VolatileConfiguration)),
    row(0x65, "READ ENHANCED VOLATILE CONFIGURATION REGISTER", ALL, None, Dummies::None, Single, Read(Source::EnhancedVolatileConfiguration)),
    row(0x61, "WRITE ENHANCED VOLATILE CONFIGURATION REGISTER", ALL, None, Dummies::None, Single, Write(Target::EnhancedVolatileConfiguration)),
    row(0x02, "PAGE PROGRAM",                            ALL,   A1,   Dummies::None,  Single, Program),
    row(0xa2, "DUAL INPUT FAST PROGRAM",                 E + D, A1,   Dummies::None,  Dual,   Program),
    row(0xd2, "EXTENDED DUAL INPUT FAST PROGRAM",        E + D, A2,   Dummies::None,  Dual,   Program),
    row(0x32, "QUAD INPUT FAST PROGRAM",                 E + Q, A1,   Dummies::None,  Quad,   Program),
    row(0x12, "EXTENDED QUAD INPUT FAST PROGRAM",        E + Q, A4,   Dummies::None,  Quad,   Program),
    row(0x20, "SUBSECTOR ERASE",                         ALL,   A1,   Dummies::None,  Single, Erase(EraseUnit::Subsector)),
    row(0xd8, "SECTOR ERASE",                            ALL,   A1,   Dummies::None,  Single, Erase(EraseUnit::Sector)),
    row(0xc7, "BULK ERASE",                              ALL,   None, Dummies::None,  Single, Erase(EraseUnit::Bulk)),
    row(0x7a, "PROGRAM/ERASE RESUME",                    ALL,   None, Dummies::None,  Single, Action::Resume),
    row(0x75, "PROGRAM/ERASE SUSPEND",                   ALL,   None, Dummies::None,  Single, Action::Suspend),
    row(0x4b, "READ OTP ARRAY",                          ALL,   A1,   Configured(8),  Single, Read(Source::Otp)),
    row(0x42, "PROGRAM OTP ARRAY",                       ALL,   A1,   Dummies::None,  Single, Action::ProgramOtp),
];

/// Row of each opcode; 0xff where there is none.
static ROWS: [u8; 256] = {
    let mut rows = [0xff; 256];
    let mut index = 0;
    while index < COMMANDS.len() {
        rows[COMMANDS[index].opcode as usize] = index as u8;
        index += 1;
    }
    rows
};

/// The command with this code.
pub fn find(opcode: u8) -> Option<&'static Command> {
    COMMANDS.get(usize::from(ROWS[usize::from(opcode)]))
}
