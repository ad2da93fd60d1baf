//! The SPI wire: 1, 2 or 4 data lines, seen clock by clock.
//!
//! A controller drives a [`SpiTarget`] with stretches of clocks in which nothing about the lines changes. The target keeps
//! its own idea of what each clock means (command, address, mode, dummy, data), as the chip does: a controller that sends too few
//! dummy clocks, or on the wrong number of lines, reads wrong data, and nobody has to detect it.

use crate::time::Ps;

/// How many data lines carry bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lines {
    /// Standard SPI: IO0 (MOSI) from the controller, IO1 (MISO) from the target, both at once.
    Single = 1,
    /// IO0 and IO1, one direction at a time.
    Dual = 2,
    /// IO0 to IO3, one direction at a time.
    Quad = 4,
}

impl Lines {
    /// Data bits a clock.
    pub const fn bits_per_clock(self) -> u32 {
        self as u32
    }

    /// Clocks that `bits` take; a rest of a clock counts whole.
    pub const fn clocks(self, bits: u32) -> u32 {
        bits.div_ceil(self as u32)
    }
}

/// Who puts bits on the lines during a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// The controller drives all `lines` (on a single line: IO0), and samples what the target drives on IO1 if single.
    Controller,
    /// The controller has let go of all lines and samples them; on a single line IO0 stays driven low.
    Target,
}

/// Clocks in which width and direction stay the same. At most 32 bits of data: `clocks * lines <= 32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Width of the data.
    pub lines: Lines,
    /// Who drives.
    pub drive: Drive,
    /// Number of serial clocks.
    pub clocks: u32,
    /// What the controller drives, right-aligned, first clock in the highest bits; 0 where the target drives.
    pub bits: u32,
}

impl Stretch {
    /// One byte from the controller.
    pub const fn byte_out(lines: Lines, byte: u8) -> Stretch {
        Stretch { lines, drive: Drive::Controller, clocks: lines.clocks(8), bits: byte as u32 }
    }

    /// One byte to the controller.
    pub const fn byte_in(lines: Lines) -> Stretch {
        Stretch { lines, drive: Drive::Target, clocks: lines.clocks(8), bits: 0 }
    }
}

/// A chip on an SPI wire. Times are those at which the wire changes, never earlier than in the call before.
pub trait SpiTarget: Send {
    /// Chip select goes active.
    fn select(&mut self, now: Ps);

    /// `stretch.clocks` serial clocks pass, the last of them ending at `end`. Returns the bits that the controller samples
    /// (right-aligned, first clock highest, `clocks * lines` of them); a line that nobody drives reads 1, as pulled up.
    fn shift(&mut self, stretch: Stretch, end: Ps) -> u32;

    /// Chip select goes inactive. What the chip does on this edge (program, erase) begins at `now`.
    fn deselect(&mut self, now: Ps);

    /// What a user should know and the wire does not show (a frame that the chip ignored, a wait too short), as one line
    /// each, taken away by the call.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Stored bytes from `addr` on, copied to `into` without time or side effects: what a controller's execute-in-place
    /// window shows. `false` if the chip stores none there.
    fn peek(&self, _addr: u32, _into: &mut [u8]) -> bool {
        false
    }

    /// The run is over: what the chip still holds for a file is written.
    fn finish(&mut self, _now: Ps) {}

    /// Named totals since reset, for the results ("pages_programmed", ...).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
