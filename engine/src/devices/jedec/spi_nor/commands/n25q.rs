//! The commands of the N25Q128A: one row a command, in the order of the datasheet.
//!
//! Micron N25Q128A datasheet (n25q_128mb_3v_65nm, Rev. R), section "Command Definitions", table "Command Set".

use super::Action::{Erase, Program, Read, Write};
use super::Dummies::{Configured, Fixed};
use super::{Action, Command, Dummies, EraseUnit, Protocol, Source, Table, Target};
use crate::wire::spi::Lines::{self, Dual, Quad, Single};
use crate::wire::spi::Rate;

const E: u8 = Protocol::Extended as u8;
const D: u8 = Protocol::Dual as u8;
const Q: u8 = Protocol::Quad as u8;
const ALL: u8 = E + D + Q;
const A1: Option<Lines> = Some(Lines::Single);
const A2: Option<Lines> = Some(Lines::Dual);
const A4: Option<Lines> = Some(Lines::Quad);

const fn row(
    opcode: u8,
    name: &'static str,
    protocols: u8,
    address: Option<Lines>,
    dummies: Dummies,
    data: Lines,
    action: Action,
) -> Command {
    Command {
        opcode,
        name,
        protocols,
        needs_quad: false,
        address,
        mode: false,
        dummies,
        data,
        rate: Rate::Single,
        action,
    }
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

/// The command set.
pub static TABLE: Table = Table::new(&COMMANDS);
