//! The lines in one cycle, as the configuration register shows them while the interface is on.
//!
//! Words are sent on the wire when they are complete. If firmware reads the register before that, the clocks that have
//! ended are sent at once, and the chip shows its output in the next clock: the register shows the bits that the
//! interface will read, also with wrong settings.

use super::lines::Wire;
use super::stream::{COMMAND_CYCLES, Position};
use crate::prelude::*;
use engine::wire::spi::{Burst, Lines};
use engine::wire::spi_pins::PinLevels;

/// The part of the preamble, or of the word in progress, that has been sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub(super) struct Ahead {
    /// Commands of the preamble that have begun.
    pub frames: usize,
    /// Clocks of the last command, or of the word. The totals do not include a word's clocks yet.
    pub clocks: u32,
    /// The word's bits in these clocks, right-aligned.
    pub bits: u32,
}

impl Ahead {
    /// This many commands of the preamble have begun, the last without a clock so far.
    pub const fn begun(frames: usize) -> Ahead {
        Ahead { frames, clocks: 0, bits: 0 }
    }
}

impl Wire {
    /// The pins in cycle `at`, in which the stream is at `position`, and the levels of IO0 (bit 0) to IO3.
    pub fn look(&mut self, position: Position, at: u64) -> (PinLevels, u8) {
        let pins = match position {
            Position::Preamble { ready } => self.look_at_preamble(ready, at),
            Position::Word { passed, over } => self.look_at_word(passed, over),
        };
        (pins, pins.read(&*self.line.chip, pins.clock))
    }

    /// IO0 is driven in all modes, low while it carries no bit.
    fn look_at_preamble(&mut self, ready: u64, at: u64) -> PinLevels {
        self.send_preamble(ready, at, at.saturating_sub(1));
        let idle = PinLevels { enables: Lines::Single.mask(), ..PinLevels::default() };
        let last = self.preamble_frames(ready).into_iter().rfind(|(start, _)| *start <= at);
        let Some((start, command)) = last.filter(|(start, _)| *start < at) else { return idle };
        let phase = at - start - 1;
        let selected = PinLevels { selected: true, ..idle };
        if phase >= COMMAND_CYCLES {
            return selected;
        }
        PinLevels { clock: phase % 2 == 1, levels: command << (phase / 2) >> 7, ..selected }
    }

    /// On a single line IO0 stays driven, to 0.
    fn look_at_word(&mut self, passed: u64, over: u64) -> PinLevels {
        self.send_ahead((passed / 2) as u32, over);
        let enables = if self.mode.width.lines == Lines::Single { Lines::Single.mask() } else { 0 };
        PinLevels { selected: true, clock: passed % 2 == 1, enables, levels: 0 }
    }

    /// Sends the rest of a word's first `clocks` clocks, up to cycle `end`: returns them with all of their bits.
    pub(super) fn send_word(&mut self, clocks: u32, end: u64) -> Ahead {
        self.send_ahead(clocks, end);
        std::mem::take(&mut self.ahead)
    }

    fn send_ahead(&mut self, clocks: u32, end: u64) {
        let burst = Burst { clocks: clocks.saturating_sub(self.ahead.clocks), ..self.data() };
        if burst.clocks > 0 {
            let end = self.line.time(end);
            let bits = u64::from(self.line.chip.shift(burst, end));
            self.ahead.bits = (u64::from(self.ahead.bits) << (burst.clocks * burst.bits_per_clock()) | bits) as u32;
            self.ahead.clocks += burst.clocks;
        }
    }
}
