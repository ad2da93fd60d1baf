//! The commands of the FL-L family: one row a command, in the order of the datasheet, without the commands for 4-byte
//! addresses, individual protection, security regions and data learning, which are not modelled.
//!
//! Cypress S25FL256L/S25FL128L datasheet (002-00124), section "Command Set Summary".

use super::Action::{Erase, Program, Read, Write};
use super::Dummies::{Configured, Fixed};
use super::{Action, Command, Dummies, EraseUnit, Protocol, Source, Table, Target};
use engine::wire::spi::Lines::{self, Dual as X2, Quad as X4, Single as X1};
use engine::wire::spi::Rate;

/// The kind of a command, apart from its lines.
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
    /// With a mode byte, only while QUAD is set, with address, mode byte and data on both edges.
    ModeOnFourDouble,
}

use Kind::{Mode, ModeOnFour, ModeOnFourDouble, OnFour, Plain};

const A1: Option<Lines> = Some(Lines::Single);
const A2: Option<Lines> = Some(Lines::Dual);
const A4: Option<Lines> = Some(Lines::Quad);
const NO: Dummies = Dummies::None;
/// Configuration register 3 as delivered.
const RL: Dummies = Configured(8);
const F24: Dummies = Fixed(24);

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
    //  code  name                                    kind              addr  dummy data action
    row(0x9f, "READ ID",                              Plain,            None, NO,  X1, Read(Source::Id)),
    row(0xaf, "READ QUAD ID",                         OnFour,           None, NO,  X4, Read(Source::Id)),
    row(0x05, "READ STATUS REGISTER 1",               Plain,            None, NO,  X1, Read(Source::Status)),
    row(0x07, "READ STATUS REGISTER 2",               Plain,            None, NO,  X1, Read(Source::Status2)),
    row(0x35, "READ CONFIGURATION REGISTER 1",        Plain,            None, NO,  X1, Read(Source::Configuration(1))),
    row(0x15, "READ CONFIGURATION REGISTER 2",        Plain,            None, NO,  X1, Read(Source::Configuration(2))),
    row(0x33, "READ CONFIGURATION REGISTER 3",        Plain,            None, NO,  X1, Read(Source::Configuration(3))),
    row(0x65, "READ ANY REGISTER",                    Plain,            A1,   RL,  X1, Read(Source::AnyRegister)),
    row(0x01, "WRITE REGISTERS",                      Plain,            None, NO,  X1, Write(Target::Registers)),
    row(0x04, "WRITE DISABLE",                        Plain,            None, NO,  X1, Action::WriteDisable),
    row(0x06, "WRITE ENABLE",                         Plain,            None, NO,  X1, Action::WriteEnable),
    row(0x50, "WRITE ENABLE FOR VOLATILE REGISTERS",  Plain,            None, NO,  X1, Action::WriteEnableVolatile),
    row(0x71, "WRITE ANY REGISTER",                   Plain,            A1,   NO,  X1, Write(Target::AnyRegister)),
    row(0x30, "CLEAR STATUS REGISTER",                Plain,            None, NO,  X1, Action::ClearStatus),
    row(0x03, "READ",                                 Plain,            A1,   NO,  X1, Read(Source::Array)),
    row(0x0b, "FAST READ",                            Plain,            A1,   RL,  X1, Read(Source::Array)),
    row(0x3b, "DUAL OUTPUT READ",                     Plain,            A1,   RL,  X2, Read(Source::Array)),
    row(0x6b, "QUAD OUTPUT READ",                     OnFour,           A1,   RL,  X4, Read(Source::Array)),
    row(0xbb, "DUAL I/O READ",                        Mode,             A2,   RL,  X2, Read(Source::Array)),
    row(0xeb, "QUAD I/O READ",                        ModeOnFour,       A4,   RL,  X4, Read(Source::Array)),
    row(0xed, "DDR QUAD I/O READ",                    ModeOnFourDouble, A4,   RL,  X4, Read(Source::Array)),
    row(0x02, "PAGE PROGRAM",                         Plain,            A1,   NO,  X1, Program),
    row(0x32, "QUAD PAGE PROGRAM",                    OnFour,           A1,   NO,  X4, Program),
    row(0x20, "SECTOR ERASE",                         Plain,            A1,   NO,  X1, Erase(EraseUnit::Subsector)),
    row(0x52, "HALF BLOCK ERASE",                     Plain,            A1,   NO,  X1, Erase(EraseUnit::HalfBlock)),
    row(0xd8, "BLOCK ERASE",                          Plain,            A1,   NO,  X1, Erase(EraseUnit::Sector)),
    row(0x60, "CHIP ERASE",                           Plain,            None, NO,  X1, Erase(EraseUnit::Bulk)),
    row(0xc7, "CHIP ERASE",                           Plain,            None, NO,  X1, Erase(EraseUnit::Bulk)),
    row(0x75, "ERASE / PROGRAM SUSPEND",              Plain,            None, NO,  X1, Action::Suspend),
    row(0x7a, "ERASE / PROGRAM RESUME",               Plain,            None, NO,  X1, Action::Resume),
    row(0x66, "SOFTWARE RESET ENABLE",                Plain,            None, NO,  X1, Action::ResetEnable),
    row(0x99, "SOFTWARE RESET",                       Plain,            None, NO,  X1, Action::ResetMemory),
    row(0xff, "MODE BIT RESET",                       Plain,            None, NO,  X1, Action::ModeBitReset),
    row(0xb9, "DEEP POWER DOWN",                      Plain,            None, NO,  X1, Action::PowerDown),
    row(0xab, "RELEASE FROM DEEP POWER DOWN",         Plain,            None, F24, X1, Read(Source::DeviceId)),
];

/// The command set.
pub static TABLE: Table = Table::new(&COMMANDS);
