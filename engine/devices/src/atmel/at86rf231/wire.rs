//! The chip on the wire: SPI mode 0, most significant bit first, from the falling edge of /SEL on.

use super::*;
use engine::wire::bytes::{ByteLine, single_lines};
use engine::wire::spi::{Lines, MISO, Rate};

/// The chip's state on the wire within an access.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct Line {
    pub selected: bool,
    byte: ByteLine,
    /// The byte that is being sent.
    out: u8,
    /// The level of MISO before SCLK last fell.
    before: bool,
    /// True if the clock rests high: MISO has changed once before the first bit.
    ahead: bool,
}

impl Line {
    /// The level of MISO in the next clock.
    fn level(self) -> bool {
        u16::from(self.out) << (self.byte.bits() + u32::from(self.ahead)) & 0x80 != 0
    }
}

impl Transceiver {
    /// /SEL falls.
    pub(super) fn begin_frame_on_wire(&mut self, now: Ps) {
        self.checker.select(now, &mut self.notes);
        self.access = Access::Command;
        self.line = Line { selected: true, out: self.phy_status(), ..Line::default() };
    }

    /// /SEL rises.
    pub(super) fn end_frame_on_wire(&mut self, now: Ps) {
        self.checker.release(now, &mut self.notes);
        if self.line.byte.bits() > 0 {
            self.notes.add("/SEL rose within a byte: its bits were ignored".to_owned());
        }
        self.line.selected = false;
        self.end_access();
    }

    /// SCLK falls before its first rise: MISO changes to its next bit on each falling edge.
    pub(super) fn begin_ahead(&mut self) {
        self.line.ahead = true;
        self.notes.add("SCLK rests high: the chip takes SPI mode 0, and what it shows is a bit ahead".to_owned());
    }

    /// Shifts the clocks of a burst. The result has the first edge in the highest bits.
    pub(super) fn pass(&mut self, burst: Burst, end: Ps) -> u32 {
        let edges = self.edges.take();
        if !self.line.selected || !self.checker.powered {
            return u32::MAX;
        }
        self.checker.clocked(burst.clocks, end, edges, &mut self.notes);
        if burst.lines != Lines::Single || burst.rate != Rate::Single {
            self.notes.add("the chip has one data line a direction, and a bit a clock".to_owned());
        }
        self.totals.spi_clocks += u64::from(burst.clocks);
        single_lines(burst, |io0, left| self.bit(io0, clock_end(edges, end, left)))
    }

    /// Shifts a clock that ends at `end`: returns the bit that the controller samples.
    fn bit(&mut self, input: bool, end: Ps) -> bool {
        self.pass_to(end);
        let level = self.line.level();
        self.line.before = level;
        if let Some(byte) = self.line.byte.clock(input) {
            self.line.out = self.take_byte(byte);
        }
        level
    }

    /// The output on MISO at `now`, before the next clock.
    pub(super) fn shown(&self, now: Option<Ps>) -> NextClock {
        let drives = self.line.selected && self.checker.powered;
        if !drives || now.is_some_and(|now| now < self.checker.miso_active_at()) {
            return NextClock::default();
        }
        let early = now.is_some_and(|now| now < self.checker.miso_changes_at()) && self.checker.is_clocked();
        let level = if early { self.line.before } else { self.line.level() };
        NextClock { rate: Rate::Single, driven: MISO, levels: [if level { MISO } else { 0 }; 2] }
    }
}

/// The end of a clock with `left` clocks after it; the end of the last clock if the edges are not known.
fn clock_end(edges: Option<Edges>, end: Ps, left: u32) -> Ps {
    end.saturating_sub(Ps(edges.map_or(0, |edges| edges.period.0.saturating_mul(u64::from(left)))))
}
