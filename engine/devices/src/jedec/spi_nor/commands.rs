//! The commands of the flashes. Each family's command set is a table of them.

pub mod fl_l;
pub mod n25q;

use super::parts::{HALF_BLOCK_BYTES, SECTOR_BYTES, SUBSECTOR_BYTES};
use crate::prelude::*;
use engine::state::{Damaged, Loader, Saver};
use engine::wire::spi::{Lines, Rate};

/// The number of lines that carry command, address and data in a protocol. In the extended protocol, which stands for
/// itself as [`Lines::Single`], the command is on one line, address and data are on those that the command says.
pub type Protocol = Lines;

/// The width of a phase that has `extended` lines in the extended protocol.
pub const fn lines_in(protocol: Protocol, extended: Lines) -> Lines {
    match protocol {
        Lines::Single => extended,
        all => all,
    }
}

/// Dummy clocks between address and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dummies {
    /// None.
    None,
    /// A fixed number.
    Fixed(u32),
    /// A number that a configuration register sets, with this default.
    Configured(u32),
}

/// The source of a read command's data. Registers are those of the family's map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub enum Source {
    /// The memory array.
    Array,
    /// The 20 bytes of READ ID.
    Id,
    /// The first three of them (MULTIPLE I/O READ ID).
    ShortId,
    /// The serial flash discovery parameters.
    Sfdp,
    /// A register that shows the progress of a cycle, or that a cycle can't change, repeatedly.
    Live(u32),
    /// Another register, low byte first.
    Register(u32),
    /// The lock register of the addressed sector.
    Lock,
    /// The one-time programmable area.
    Otp,
    /// The addressed register, repeatedly.
    AnyRegister,
    /// The device ID; also ends deep power-down.
    DeviceId,
}

impl Source {
    /// True for a register that shows the progress of a cycle, and for one that a cycle can't change.
    pub(super) const fn works_while_busy(self) -> bool {
        matches!(self, Source::Live(_) | Source::AnyRegister)
    }
}

/// A register that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The status register, in its own time.
    Status(u32),
    /// The lock register of the addressed sector.
    Lock,
    /// The nonvolatile configuration register, low byte first, in its own time.
    Nonvolatile(u32),
    /// A volatile register.
    Volatile(u32),
    /// Status register 1, then configuration registers 1, 2 and 3, as many as there are bytes.
    Registers,
    /// The addressed register.
    AnyRegister,
}

impl Target {
    /// The fewest and the most bytes that the command takes, and that rule in words.
    pub const fn bytes(self) -> (u32, u32, &'static str) {
        match self {
            Target::Nonvolatile(_) => (2, 2, "after exactly two bytes of data"),
            Target::Registers => (1, 4, "after one to four bytes of data"),
            _ => (1, 1, "after exactly one byte of data"),
        }
    }
}

/// The unit that an erase command erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub enum EraseUnit {
    /// 4 KiB.
    Subsector,
    /// 32 KiB.
    HalfBlock,
    /// 64 KiB.
    Sector,
    /// All.
    Bulk,
}

impl EraseUnit {
    /// Its bytes on a chip of `size_bytes`.
    pub const fn bytes(self, size_bytes: u32) -> u32 {
        [SUBSECTOR_BYTES, HALF_BLOCK_BYTES, SECTOR_BYTES, size_bytes][self as usize]
    }
}

/// The action of a command.
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
    /// Allows one write of volatile registers.
    WriteEnableVolatile,
    /// Clears the write enable latch.
    WriteDisable,
    /// Writes a register.
    Write(Target),
    /// Clears the error bits of the flag status register.
    ClearFlagStatus,
    /// Clears the error bits, and ends the busy state in which an error leaves the chip.
    ClearStatus,
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
    /// Enters deep power-down: the chip then only answers its release.
    PowerDown,
    /// Does nothing: the ones of its code end continuous reads.
    ModeBitReset,
}

impl Action {
    /// True if it is only executed while the write enable latch is set.
    pub const fn needs_write_enable(self) -> bool {
        matches!(self, Action::Write(_) | Action::Program | Action::Erase(_) | Action::ProgramOtp)
    }

    /// True if it is decoded while a program, erase or write cycle is in progress.
    pub const fn works_while_busy(self) -> bool {
        matches!(self, Action::Suspend | Action::ClearStatus | Action::ResetEnable | Action::ResetMemory)
            || matches!(self, Action::Read(source) if source.works_while_busy())
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
    /// True if it exists only while the quad data lines are enabled.
    pub needs_quad: bool,
    /// Lines of the 24 address bits in the extended protocol; `None` where the command has no address.
    pub address: Option<Lines>,
    /// A mode byte follows the address, on the same lines: it says whether the next frame continues with its address.
    pub mode: bool,
    /// Dummy clocks.
    pub dummies: Dummies,
    /// Lines of the data in the extended protocol.
    pub data: Lines,
    /// Rate of address, mode byte and data.
    pub rate: Rate,
    /// Its action.
    pub action: Action,
}

/// A row of a command set: a command of three address bytes at most, at the single rate.
const fn row(
    opcode: u8,
    name: &'static str,
    protocols: u8,
    address: Option<Lines>,
    dummies: Dummies,
    data: Lines,
    action: Action,
) -> Command {
    let rate = Rate::Single;
    Command { opcode, name, protocols, needs_quad: false, address, mode: false, dummies, data, rate, action }
}

/// Short names of columns.
mod columns {
    use super::{Dummies, Lines, Protocol};

    pub const E: u8 = Protocol::Single as u8;
    pub const D: u8 = Protocol::Dual as u8;
    pub const Q: u8 = Protocol::Quad as u8;
    pub const A1: Option<Lines> = Some(Lines::Single);
    pub const A2: Option<Lines> = Some(Lines::Dual);
    pub const A4: Option<Lines> = Some(Lines::Quad);
    pub const NO: Dummies = Dummies::None;
}

impl Command {
    /// The same command, which exists only while the quad data lines are enabled.
    const fn quad(self) -> Command {
        Command { needs_quad: true, ..self }
    }

    /// The same command, with a mode byte.
    const fn with_mode(self) -> Command {
        Command { mode: true, ..self }
    }

    /// The same command, with address, mode byte and data on both edges.
    const fn ddr(self) -> Command {
        Command { rate: Rate::Double, ..self }
    }

    /// True if the command exists in `protocol`.
    pub const fn exists_in(&self, protocol: Protocol) -> bool {
        self.protocols & protocol as u8 != 0
    }
}

/// Saved as the command set and the code.
impl State for &'static Command {
    fn save(&self, to: &mut Saver) {
        let set = SETS.iter().position(|set| set.find(self.opcode).is_some_and(|found| std::ptr::eq(*self, found)));
        match to.is_shown() {
            true => self.name.save(to),
            false => to.raw(&[set.unwrap_or(SETS.len()) as u8, self.opcode]),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let [set, opcode] = <[u8; 2]>::loaded(from)?;
        *self = SETS.get(usize::from(set)).and_then(|set| set.find(opcode)).ok_or(Damaged)?;
        Ok(())
    }
}

impl Polled for &'static Command {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.opcode);
        true
    }
}

impl Fresh for &'static Command {
    fn fresh() -> &'static Command {
        &n25q::COMMANDS[0]
    }
}

/// All command sets.
static SETS: [&Table; 2] = [&n25q::TABLE, &fl_l::TABLE];

/// A command set.
#[derive(Debug)]
pub struct Table {
    /// All commands.
    pub commands: &'static [Command],
    /// Row of each opcode; 0xff for an opcode without a command.
    rows: [u8; 256],
}

impl Table {
    /// The table of `commands`, fewer than 255.
    const fn new(commands: &'static [Command]) -> Table {
        let mut rows = [0xff; 256];
        let mut index = 0;
        while index < commands.len() {
            rows[commands[index].opcode as usize] = index as u8;
            index += 1;
        }
        Table { commands, rows }
    }

    /// The command with this code.
    pub fn find(&self, opcode: u8) -> Option<&'static Command> {
        self.commands.get(usize::from(self.rows[usize::from(opcode)]))
    }

    /// True if a command of the table erases such units.
    pub fn erases(&self, unit: EraseUnit) -> bool {
        self.commands.iter().any(|command| command.action == Action::Erase(unit))
    }
}
