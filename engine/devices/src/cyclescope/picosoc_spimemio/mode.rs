//! The settings of flash reads: lines, data rate, continuous read and dummy clocks, and the resulting cycles.

use engine::state::State;
use engine::wire::spi::{Burst, Lines, Rate};

/// Cycles of a clock: SCK is half the SoC's clock.
pub const CLOCK_CYCLES: u64 = 2;

/// A read command, with lines and rate of address, mode byte and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct Width {
    /// The command byte.
    pub opcode: u8,
    /// The lines.
    pub lines: Lines,
    /// The rate.
    pub rate: Rate,
}

impl Width {
    /// 03h, all on one line: DDR 0, QSPI 0.
    pub const SINGLE: Width = Width { opcode: 0x03, lines: Lines::Single, rate: Rate::Single };
    /// BBh, dual I/O: DDR 1, QSPI 0. Despite the bit's name its data rate is single.
    pub const DUAL: Width = Width { opcode: 0xbb, lines: Lines::Dual, rate: Rate::Single };
    /// EBh, quad I/O: DDR 0, QSPI 1.
    pub const QUAD: Width = Width { opcode: 0xeb, lines: Lines::Quad, rate: Rate::Single };
    /// EDh, quad I/O with bits on both edges: DDR 1, QSPI 1.
    pub const QUAD_DDR: Width = Width { opcode: 0xed, lines: Lines::Quad, rate: Rate::Double };

    /// `bits` bits of data.
    pub const fn data(self, bits: u32) -> Burst {
        Burst::input(self.lines, self.rate, bits)
    }
}

/// The settings of flash reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Mode {
    /// The command.
    pub width: Width,
    /// CRM: the mode byte asks the flash to take the next frame without a command.
    pub continuous: bool,
    /// Dummy clocks between the mode byte and the data, 0 to 15; not for 03h.
    pub dummy_clocks: u32,
}

impl Mode {
    /// The mode after reset.
    pub const RESET: Mode = Mode { width: Width::SINGLE, continuous: false, dummy_clocks: 8 };

    /// The byte after the address; 03h has no such byte.
    pub const fn mode_byte(self) -> Option<u8> {
        match (self.width.lines, self.continuous) {
            (Lines::Single, _) => None,
            (_, true) => Some(0xa5),
            (_, false) => Some(0xff),
        }
    }

    /// Dummy clocks that are sent.
    pub const fn dummies(self) -> u32 {
        if matches!(self.width.lines, Lines::Single) { 0 } else { self.dummy_clocks }
    }

    /// Cycles of a byte of address, mode byte or data.
    pub const fn byte_cycles(self) -> u64 {
        CLOCK_CYCLES * self.width.data(u8::BITS).clocks as u64
    }

    /// Cycles of address, mode byte and dummy clocks.
    pub const fn header_cycles(self) -> u64 {
        let bytes = 3 + self.mode_byte().is_some() as u64;
        bytes * self.byte_cycles() + CLOCK_CYCLES * self.dummies() as u64
    }

    /// Cycles from the end of a word's last clock until the word is held: DDR samples a cycle later.
    pub const fn capture_cycles(self) -> u64 {
        self.width.rate as u64
    }
}
