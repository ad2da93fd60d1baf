//! The settings of flash reads: lines, data rate, continuous read and dummy clocks, and the resulting cycles.

use engine::state::{Fresh, State};
use engine::wire::spi::Lines;

/// Commands, by the bits of the configuration register that choose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Width {
    /// 03h, all on one line: DDR 0, QSPI 0.
    Single,
    /// BBh, dual I/O: DDR 1, QSPI 0. Despite the bit's name its data rate is single.
    Dual,
    /// EBh, quad I/O: DDR 0, QSPI 1.
    Quad,
    /// EDh, quad I/O with bits on both edges: DDR 1, QSPI 1.
    QuadDdr,
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
    pub const RESET: Mode = Mode { width: Width::Single, continuous: false, dummy_clocks: 8 };

    /// The command byte.
    pub const fn opcode(self) -> u8 {
        match self.width {
            Width::Single => 0x03,
            Width::Dual => 0xbb,
            Width::Quad => 0xeb,
            Width::QuadDdr => 0xed,
        }
    }

    /// Lines of address, mode byte and data.
    pub const fn lines(self) -> Lines {
        match self.width {
            Width::Single => Lines::Single,
            Width::Dual => Lines::Dual,
            Width::Quad | Width::QuadDdr => Lines::Quad,
        }
    }

    /// True where address, mode byte and data have bits on both edges of a clock.
    pub const fn is_ddr(self) -> bool {
        matches!(self.width, Width::QuadDdr)
    }

    /// The byte after the address; 03h has no such byte.
    pub const fn mode_byte(self) -> Option<u8> {
        match (self.width, self.continuous) {
            (Width::Single, _) => None,
            (_, true) => Some(0xa5),
            (_, false) => Some(0xff),
        }
    }

    /// Dummy clocks that are sent.
    pub const fn dummies(self) -> u32 {
        if matches!(self.width, Width::Single) { 0 } else { self.dummy_clocks }
    }

    /// Cycles of a byte of address, mode byte or data: SCK is half the SoC's clock.
    pub const fn byte_cycles(self) -> u64 {
        match self.width {
            Width::Single => 16,
            Width::Dual => 8,
            Width::Quad => 4,
            Width::QuadDdr => 2,
        }
    }

    /// Cycles of address, mode byte and dummy clocks.
    pub const fn header_cycles(self) -> u64 {
        let bytes = 3 + self.mode_byte().is_some() as u64;
        bytes * self.byte_cycles() + 2 * self.dummies() as u64
    }

    /// Cycles from the end of a word's last clock until the word is held: DDR samples a cycle later.
    pub const fn capture_cycles(self) -> u64 {
        1 + self.is_ddr() as u64
    }
}
