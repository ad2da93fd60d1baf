//! The lines of a frame: the core's command decoder in dual and quad mode (PG153 v3.2, "AXI Quad SPI Core Behavior in
//! Legacy and Enhanced Mode", slave device Micron; "XIP Mode Commands", table of supported commands).
//!
//! In these modes the first byte of a frame is a command, sent on one line. From its own table the core takes the
//! number of address and dummy bytes, and the lines and the direction of the rest. Dummy bytes in the transmit FIFO are
//! not sent: they count clocks, at the width of the data. The number of dummy clocks is that of a Micron N25Q with its
//! configuration registers at their defaults (PG153, "Micron Memory"; N25Q128A data sheet, command set and dummy
//! cycles).

use engine::state::{Fresh, State};
use engine::wire::spi::Lines;

/// The data after the address and the dummies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Data {
    /// On one line both directions work at the same time: data in either direction, or no data.
    Single,
    /// To the memory.
    Out(Lines),
    /// From the memory.
    In(Lines),
}

/// A command of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Command {
    /// The command byte.
    pub opcode: u8,
    /// The memory's name for it.
    pub name: &'static str,
    /// Address bytes: 0 or 3.
    pub address_bytes: u8,
    /// Lines of the address.
    pub address_lines: Lines,
    /// Dummy bytes, each 8 bits at the width of the data.
    pub dummy_bytes: u8,
    /// The rest of the frame.
    pub data: Data,
}

impl Command {
    /// Bytes of the command, the address and the dummies.
    pub const fn header_bytes(&self) -> u32 {
        1 + self.address_bytes as u32 + self.dummy_bytes as u32
    }

    /// Lines of the dummies and the data.
    pub const fn data_lines(&self) -> Lines {
        match self.data {
            Data::Single => Lines::Single,
            Data::Out(lines) | Data::In(lines) => lines,
        }
    }
}

use Data::{In, Out};
use Lines::{Dual, Quad, Single};

/// A command with an address.
const fn row(opcode: u8, name: &'static str, address_lines: Lines, dummy_bytes: u8, data: Data) -> Command {
    Command { opcode, name, address_bytes: 3, address_lines, dummy_bytes, data }
}

/// A command without an address.
const fn plain(opcode: u8, name: &'static str) -> Command {
    Command { address_bytes: 0, ..addressed(opcode, name, 0) }
}

/// A command with an address, on one line throughout.
const fn addressed(opcode: u8, name: &'static str, dummy_bytes: u8) -> Command {
    row(opcode, name, Single, dummy_bytes, Data::Single)
}

/// The decoder's table, by opcode.
pub const COMMANDS: &[Command] = &[
    plain(0x01, "WRITE STATUS REGISTER"),
    addressed(0x02, "PAGE PROGRAM", 0),
    addressed(0x03, "READ", 0),
    plain(0x04, "WRITE DISABLE"),
    plain(0x05, "READ STATUS REGISTER"),
    plain(0x06, "WRITE ENABLE"),
    addressed(0x0b, "FAST READ", 1),
    row(0x12, "EXTENDED QUAD INPUT FAST PROGRAM", Quad, 0, Out(Quad)),
    addressed(0x20, "SUBSECTOR ERASE", 0),
    row(0x32, "QUAD INPUT FAST PROGRAM", Single, 0, Out(Quad)),
    row(0x3b, "DUAL OUTPUT FAST READ", Single, 2, In(Dual)),
    addressed(0x42, "PROGRAM OTP ARRAY", 0),
    addressed(0x4b, "READ OTP ARRAY", 1),
    plain(0x50, "CLEAR FLAG STATUS REGISTER"),
    addressed(0x5a, "READ SERIAL FLASH DISCOVERY PARAMETER", 1),
    plain(0x61, "WRITE ENHANCED VOLATILE CONFIGURATION REGISTER"),
    plain(0x65, "READ ENHANCED VOLATILE CONFIGURATION REGISTER"),
    row(0x6b, "QUAD OUTPUT FAST READ", Single, 4, In(Quad)),
    plain(0x70, "READ FLAG STATUS REGISTER"),
    plain(0x75, "PROGRAM/ERASE SUSPEND"),
    plain(0x7a, "PROGRAM/ERASE RESUME"),
    plain(0x81, "WRITE VOLATILE CONFIGURATION REGISTER"),
    plain(0x85, "READ VOLATILE CONFIGURATION REGISTER"),
    plain(0x9e, "READ ID"),
    plain(0x9f, "READ ID"),
    row(0xa2, "DUAL INPUT FAST PROGRAM", Single, 0, Out(Dual)),
    plain(0xb1, "WRITE NONVOLATILE CONFIGURATION REGISTER"),
    plain(0xb5, "READ NONVOLATILE CONFIGURATION REGISTER"),
    row(0xbb, "DUAL INPUT/OUTPUT FAST READ", Dual, 2, In(Dual)),
    plain(0xc7, "BULK ERASE"),
    row(0xd2, "EXTENDED DUAL INPUT FAST PROGRAM", Dual, 0, Out(Dual)),
    addressed(0xd8, "SECTOR ERASE", 0),
    addressed(0xe5, "WRITE LOCK REGISTER", 0),
    addressed(0xe8, "READ LOCK REGISTER", 0),
    row(0xeb, "QUAD INPUT/OUTPUT FAST READ", Quad, 5, In(Quad)),
];

/// The command that starts with `opcode`, if a core with `lines` data lines supports it.
pub fn find(opcode: u8, lines: Lines) -> Option<Command> {
    let index = COMMANDS.binary_search_by_key(&opcode, |command| command.opcode).ok()?;
    Some(COMMANDS[index]).filter(|command| command.data_lines() <= lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_ascend_and_lines_never_narrow() {
        assert!(COMMANDS.windows(2).all(|pair| pair[0].opcode < pair[1].opcode));
        for command in COMMANDS {
            assert!(command.address_lines <= command.data_lines(), "{}", command.name);
            assert!(matches!(command.address_bytes, 0 | 3), "{}", command.name);
        }
    }

    #[test]
    fn dummy_clocks_are_the_memorys_defaults() {
        // N25Q128A: 8 dummy clocks, but 10 for EBh.
        for (opcode, clocks) in [(0x0b, 8), (0x3b, 8), (0x6b, 8), (0xbb, 8), (0xeb, 10), (0x5a, 8), (0x4b, 8)] {
            let command = find(opcode, Quad).unwrap();
            assert_eq!(command.data_lines().clocks(8) * u32::from(command.dummy_bytes), clocks, "{}", command.name);
        }
    }

    #[test]
    fn a_core_knows_only_commands_that_fit_its_lines() {
        assert!(find(0x6b, Dual).is_none());
        assert!(find(0x3b, Dual).is_some());
        assert!(find(0x3b, Quad).is_some());
        assert!(find(0xff, Quad).is_none());
    }
}
