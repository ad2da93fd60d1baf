//! The commands of the FL-L family: one row a command, in the order of the datasheet, without the commands for 4-byte
//! addresses, individual protection, security regions and data learning, which are not modelled.
//!
//! Cypress S25FL256L/S25FL128L datasheet (002-00124), section "Command Set Summary".

use super::Action::{Erase, Program, Read, Write};
use super::columns::{A1, A2, A4, E, NO};
use super::{Action, Command, Dummies, EraseUnit, Source, Table, Target, row};
use crate::jedec::spi_nor::registers::fl_l::{CR1V, CR2V, CR3V, SR1V, SR2V};
use engine::wire::spi::Lines::{Dual as X2, Quad as X4, Single as X1};

/// Configuration register 3 as delivered.
const RL: Dummies = Dummies::Configured(8);
const F24: Dummies = Dummies::Fixed(24);

/// All commands.
#[rustfmt::skip]
pub static COMMANDS: [Command; 35] = [
    //  code  name                                    in addr  dummy data action
    row(0x9f, "READ ID",                              E, None, NO,  X1, Read(Source::Id)),
    row(0xaf, "READ QUAD ID",                         E, None, NO,  X4, Read(Source::Id)).quad(),
    row(0x05, "READ STATUS REGISTER 1",               E, None, NO,  X1, Read(Source::Live(SR1V))),
    row(0x07, "READ STATUS REGISTER 2",               E, None, NO,  X1, Read(Source::Live(SR2V))),
    row(0x35, "READ CONFIGURATION REGISTER 1",        E, None, NO,  X1, Read(Source::Live(CR1V))),
    row(0x15, "READ CONFIGURATION REGISTER 2",        E, None, NO,  X1, Read(Source::Live(CR2V))),
    row(0x33, "READ CONFIGURATION REGISTER 3",        E, None, NO,  X1, Read(Source::Live(CR3V))),
    row(0x65, "READ ANY REGISTER",                    E, A1,   RL,  X1, Read(Source::AnyRegister)),
    row(0x01, "WRITE REGISTERS",                      E, None, NO,  X1, Write(Target::Registers)),
    row(0x04, "WRITE DISABLE",                        E, None, NO,  X1, Action::WriteDisable),
    row(0x06, "WRITE ENABLE",                         E, None, NO,  X1, Action::WriteEnable),
    row(0x50, "WRITE ENABLE FOR VOLATILE REGISTERS",  E, None, NO,  X1, Action::WriteEnableVolatile),
    row(0x71, "WRITE ANY REGISTER",                   E, A1,   NO,  X1, Write(Target::AnyRegister)),
    row(0x30, "CLEAR STATUS REGISTER",                E, None, NO,  X1, Action::ClearStatus),
    row(0x03, "READ",                                 E, A1,   NO,  X1, Read(Source::Array)),
    row(0x0b, "FAST READ",                            E, A1,   RL,  X1, Read(Source::Array)),
    row(0x3b, "DUAL OUTPUT READ",                     E, A1,   RL,  X2, Read(Source::Array)),
    row(0x6b, "QUAD OUTPUT READ",                     E, A1,   RL,  X4, Read(Source::Array)).quad(),
    row(0xbb, "DUAL I/O READ",                        E, A2,   RL,  X2, Read(Source::Array)).with_mode(),
    row(0xeb, "QUAD I/O READ",                        E, A4,   RL,  X4, Read(Source::Array)).quad().with_mode(),
    row(0xed, "DDR QUAD I/O READ",                    E, A4,   RL,  X4, Read(Source::Array)).quad().with_mode().ddr(),
    row(0x02, "PAGE PROGRAM",                         E, A1,   NO,  X1, Program),
    row(0x32, "QUAD PAGE PROGRAM",                    E, A1,   NO,  X4, Program).quad(),
    row(0x20, "SECTOR ERASE",                         E, A1,   NO,  X1, Erase(EraseUnit::Subsector)),
    row(0x52, "HALF BLOCK ERASE",                     E, A1,   NO,  X1, Erase(EraseUnit::HalfBlock)),
    row(0xd8, "BLOCK ERASE",                          E, A1,   NO,  X1, Erase(EraseUnit::Sector)),
    row(0x60, "CHIP ERASE",                           E, None, NO,  X1, Erase(EraseUnit::Bulk)),
    row(0xc7, "CHIP ERASE",                           E, None, NO,  X1, Erase(EraseUnit::Bulk)),
    row(0x75, "ERASE / PROGRAM SUSPEND",              E, None, NO,  X1, Action::Suspend),
    row(0x7a, "ERASE / PROGRAM RESUME",               E, None, NO,  X1, Action::Resume),
    row(0x66, "SOFTWARE RESET ENABLE",                E, None, NO,  X1, Action::ResetEnable),
    row(0x99, "SOFTWARE RESET",                       E, None, NO,  X1, Action::ResetMemory),
    row(0xff, "MODE BIT RESET",                       E, None, NO,  X1, Action::ModeBitReset),
    row(0xb9, "DEEP POWER DOWN",                      E, None, NO,  X1, Action::PowerDown),
    row(0xab, "RELEASE FROM DEEP POWER DOWN",         E, None, F24, X1, Read(Source::DeviceId)),
];

/// The command set.
pub static TABLE: Table = Table::new(&COMMANDS);
