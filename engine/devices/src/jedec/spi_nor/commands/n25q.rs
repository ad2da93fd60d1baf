//! The commands of the N25Q128A: one row a command, in the order of the datasheet.
//!
//! Micron N25Q128A datasheet (n25q_128mb_3v_65nm, Rev. R), section "Command Definitions", table "Command Set".

use super::Action::{Erase, Program, Read, Write};
use super::columns::{A1, A2, A4, D, E, NO, Q};
use super::{Action, Command, Dummies, EraseUnit, Source, Table, Target, row};
use crate::jedec::spi_nor::registers::n25q::{EVCR, FSR, NVCR, SR, VCR};
use engine::wire::spi::Lines::{Dual as X2, Quad as X4, Single as X1};

const ALL: u8 = E + D + Q;
const F8: Dummies = Dummies::Fixed(8);
const C8: Dummies = Dummies::Configured(8);
const C10: Dummies = Dummies::Configured(10);

/// All commands.
#[rustfmt::skip]
pub static COMMANDS: [Command; 38] = [
    //  code  name                                              in     addr  dummy data action
    row(0x66, "RESET ENABLE",                                   ALL,   None, NO,  X1, Action::ResetEnable),
    row(0x99, "RESET MEMORY",                                   ALL,   None, NO,  X1, Action::ResetMemory),
    row(0x9e, "READ ID",                                        E,     None, NO,  X1, Read(Source::Id)),
    row(0x9f, "READ ID",                                        E,     None, NO,  X1, Read(Source::Id)),
    row(0xaf, "MULTIPLE I/O READ ID",                           D + Q, None, NO,  X1, Read(Source::ShortId)),
    row(0x5a, "READ SERIAL FLASH DISCOVERY PARAMETER",          ALL,   A1,   F8,  X1, Read(Source::Sfdp)),
    row(0x03, "READ",                                           E,     A1,   NO,  X1, Read(Source::Array)),
    row(0x0b, "FAST READ",                                      ALL,   A1,   C8,  X1, Read(Source::Array)),
    row(0x3b, "DUAL OUTPUT FAST READ",                          E + D, A1,   C8,  X2, Read(Source::Array)),
    row(0xbb, "DUAL INPUT/OUTPUT FAST READ",                    E + D, A2,   C8,  X2, Read(Source::Array)),
    row(0x6b, "QUAD OUTPUT FAST READ",                          E + Q, A1,   C8,  X4, Read(Source::Array)),
    row(0xeb, "QUAD INPUT/OUTPUT FAST READ",                    E + Q, A4,   C10, X4, Read(Source::Array)),
    row(0x06, "WRITE ENABLE",                                   ALL,   None, NO,  X1, Action::WriteEnable),
    row(0x04, "WRITE DISABLE",                                  ALL,   None, NO,  X1, Action::WriteDisable),
    row(0x05, "READ STATUS REGISTER",                           ALL,   None, NO,  X1, Read(Source::Live(SR))),
    row(0x01, "WRITE STATUS REGISTER",                          ALL,   None, NO,  X1, Write(Target::Status(SR))),
    row(0xe8, "READ LOCK REGISTER",                             ALL,   A1,   NO,  X1, Read(Source::Lock)),
    row(0xe5, "WRITE LOCK REGISTER",                            ALL,   A1,   NO,  X1, Write(Target::Lock)),
    row(0x70, "READ FLAG STATUS REGISTER",                      ALL,   None, NO,  X1, Read(Source::Live(FSR))),
    row(0x50, "CLEAR FLAG STATUS REGISTER",                     ALL,   None, NO,  X1, Action::ClearFlagStatus),
    row(0xb5, "READ NONVOLATILE CONFIGURATION REGISTER",        ALL,   None, NO,  X1, Read(Source::Register(NVCR))),
    row(0xb1, "WRITE NONVOLATILE CONFIGURATION REGISTER",       ALL,   None, NO,  X1, Write(Target::Nonvolatile(NVCR))),
    row(0x85, "READ VOLATILE CONFIGURATION REGISTER",           ALL,   None, NO,  X1, Read(Source::Register(VCR))),
    row(0x81, "WRITE VOLATILE CONFIGURATION REGISTER",          ALL,   None, NO,  X1, Write(Target::Volatile(VCR))),
    row(0x65, "READ ENHANCED VOLATILE CONFIGURATION REGISTER",  ALL,   None, NO,  X1, Read(Source::Register(EVCR))),
    row(0x61, "WRITE ENHANCED VOLATILE CONFIGURATION REGISTER", ALL,   None, NO,  X1, Write(Target::Volatile(EVCR))),
    row(0x02, "PAGE PROGRAM",                                   ALL,   A1,   NO,  X1, Program),
    row(0xa2, "DUAL INPUT FAST PROGRAM",                        E + D, A1,   NO,  X2, Program),
    row(0xd2, "EXTENDED DUAL INPUT FAST PROGRAM",               E + D, A2,   NO,  X2, Program),
    row(0x32, "QUAD INPUT FAST PROGRAM",                        E + Q, A1,   NO,  X4, Program),
    row(0x12, "EXTENDED QUAD INPUT FAST PROGRAM",               E + Q, A4,   NO,  X4, Program),
    row(0x20, "SUBSECTOR ERASE",                                ALL,   A1,   NO,  X1, Erase(EraseUnit::Subsector)),
    row(0xd8, "SECTOR ERASE",                                   ALL,   A1,   NO,  X1, Erase(EraseUnit::Sector)),
    row(0xc7, "BULK ERASE",                                     ALL,   None, NO,  X1, Erase(EraseUnit::Bulk)),
    row(0x7a, "PROGRAM/ERASE RESUME",                           ALL,   None, NO,  X1, Action::Resume),
    row(0x75, "PROGRAM/ERASE SUSPEND",                          ALL,   None, NO,  X1, Action::Suspend),
    row(0x4b, "READ OTP ARRAY",                                 ALL,   A1,   C8,  X1, Read(Source::Otp)),
    row(0x42, "PROGRAM OTP ARRAY",                              ALL,   A1,   NO,  X1, Action::ProgramOtp),
];

/// The command set.
pub static TABLE: Table = Table::new(&COMMANDS);
