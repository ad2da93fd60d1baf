//! The commands of the FL-L family: one row a command, in the order of the datasheet, but for those of
//! 4-byte addresses, individual protection, security regions and data learning, which are not modelled.
//!
//! Cypress S25FL256L/S25FL128L datasheet (002-00124), section "Command Set Summary".

use super::Action::{Erase, Program, Read, Write};
use super::Dummies::{Configured, Fixed};
use super::{Action, Command, Dummies, EraseUnit, Protocol, Source, Table, Target};
use crate::wire::spi::Lines::{self, Dual, Quad, Single};
use crate::wire::spi::Rate;

/// What a command is beyond its lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing special.
    Plain,
    /// Only while QUAD (CR1V, bit 1) is set.
    OnFour,
    /// With a mode byte.
    Mode,
    /// With a mode byte, only while QUAD is set.
    ModeOnFour,
    /// The same, with address, mode byte and data on both edges.
    ModeOnFourDouble,
}

use Kind::{Mode, ModeOnFour, ModeOnFourDouble, OnFour, Plain};

const A1: Option<Lines> = Some(Lines::Single);
const A2: Option<Lines> = Some(Lines::Dual);
const A4: Option<Lines> = Some(Lines::Quad);
const NO: Dummies = Dummies::None;
/// Configuration register 3 as delivered.
const RL: Dummies = Configured(8);

const fn row(
    opcode: u8,
    name: &'static str,
    kind: Kind,
    address: Option<Lines>,
    dummies: Dummies,
    data: Lines,
    action: Action,
) -> Command {
    Command {
        opcode,
        name,
        protocols: Protocol::Extended as u8,
        needs_quad: matches!(kind, OnFour | ModeOnFour | ModeOnFourDouble),
        address,
        mode: matches!(kind, Mode | ModeOnFour | ModeOnFourDouble),
        dummies,
        data,
        rate: if matches!(kind, ModeOnFourDouble) { Rate::Double } else { Rate::Single },
        action,
    }
}

/// All commands.
#[rustfmt::skip]
pub static COMMANDS: [Command; 35] = [
    //  code  name                                   kind              addr  dummies    data    action
    row(0x9f, "READ ID",                             Plain,            None, NO,        Single, Read(Source::Id)),
    row(0xaf, "READ QUAD ID",                        OnFour,           None, NO,        Quad,   Read(Source::Id)),
    row(0x05, "READ STATUS REGISTER 1",              Plain,            None, NO,        Single, Read(Source::Status)),
    row(0x07, "READ STATUS REGISTER 2",              Plain,            None, NO,        Single, Read(Source::Status2)),
    row(0x35, "READ CONFIGURATION REGISTER 1",       Plain,            None, NO,        Single, Read(Source::Configuration(1))),
    row(0x15, "READ CONFIGURATION REGISTER 2",       Plain,            None, NO,        Single, Read(Source::Configuration(2))),
    row(0x33, "READ CONFIGURATION REGISTER 3",       Plain,            None, NO,        Single, Read(Source::Configuration(3))),
    row(0x65, "READ ANY REGISTER",                   Plain,            A1,   RL,        Single, Read(Source::AnyRegister)),
    row(0x01, "WRITE REGISTERS",                     Plain,            None, NO,        Single, Write(Target::StatusAndConfiguration)),
    row(0x04, "WRITE DISABLE",                       Plain,            None, NO,        Single, Action::WriteDisable),
    row(0x06, "WRITE ENABLE",                        Plain,            None, NO,        Single, Action::WriteEnable),
    row(0x50, "WRITE ENABLE FOR VOLATILE REGISTERS", Plain,            None, NO,        Single, Action::WriteEnableVolatile),
    row(0x71, "WRITE ANY REGISTER",                  Plain,            A1,   NO,        Single, Write(Target::AnyRegister)),
    row(0x30, "CLEAR STATUS REGISTER",               Plain,            None, NO,        Single, Action::ClearStatus),
    row(0x03, "READ",                                Plain,            A1,   NO,        Single, Read(Source::Array)),
    row(0x0b, "FAST READ",                           Plain,            A1,   RL,        Single, Read(Source::Array)),
    row(0x3b, "DUAL OUTPUT READ",                    Plain,            A1,   RL,        Dual,   Read(Source::Array)),
    row(0x6b, "QUAD OUTPUT READ",                    OnFour,           A1,   RL,        Quad,   Read(Source::Array)),
    row(0xbb, "DUAL I/O READ",                       Mode,             A2,   RL,        Dual,   Read(Source::Array)),
    row(0xeb, "QUAD I/O READ",                       ModeOnFour,       A4,   RL,        Quad,   Read(Source::Array)),
    row(0xed, "DDR QUAD I/O READ",                   ModeOnFourDouble, A4,   RL,        Quad,   Read(Source::Array)),
    row(0x02, "PAGE PROGRAM",                        Plain,            A1,   NO,        Single, Program),
    row(0x32, "QUAD PAGE PROGRAM",                   OnFour,           A1,   NO,        Quad,   Program),
    row(0x20, "SECTOR ERASE",                        Plain,            A1,   NO,        Single, Erase(EraseUnit::Subsector)),
    row(0x52, "HALF BLOCK ERASE",                    Plain,            A1,   NO,        Single, Erase(EraseUnit::HalfBlock)),
    row(0xd8, "BLOCK ERASE",                         Plain,            A1,   NO,        Single, Erase(EraseUnit::Sector)),
    row(0x60, "CHIP ERASE",                          Plain,            None, NO,        Single, Erase(EraseUnit::Bulk)),
    row(0xc7, "CHIP ERASE",                          Plain,            None, NO,        Single, Erase(EraseUnit::Bulk)),
    row(0x75, "ERASE / PROGRAM SUSPEND",             Plain,            None, NO,        Single, Action::Suspend),
    row(0x7a, "ERASE / PROGRAM RESUME",              Plain,            None, NO,        Single, Action::Resume),
    row(0x66, "SOFTWARE RESET ENABLE",               Plain,            None, NO,        Single, Action::ResetEnable),
    row(0x99, "SOFTWARE RESET",                      Plain,            None, NO,        Single, Action::ResetMemory),
    row(0xff, "MODE BIT RESET",                      Plain,            None, NO,        Single, Action::ModeBitReset),
    row(0xb9, "DEEP POWER DOWN",                     Plain,            None, NO,        Single, Action::PowerDown),
    row(0xab, "RELEASE FROM DEEP POWER DOWN",        Plain,            None, Fixed(24), Single, Read(Source::DeviceId)),
];

/// The command set.
pub static TABLE: Table = Table::new(&COMMANDS);
