//! The SPI wire as single pins, for a controller whose lines firmware drives and reads by hand.
//!
//! For targets that take SPI modes 0 and 3: they sample on the rising edge of the clock (at the double rate also on the
//! falling edge) and change their outputs on the falling edge. The clock may rest at either level. On an edge, the
//! lines have the levels from before it: a line that changes together with the clock counts from the next edge on. In
//! modes 1 and 2 these targets sample on their own edges, as on a board.
//!
//! A target gets each clock with the times of its edges ([`SpiTarget::edges`]).

use super::spi::{Burst, Drive, Edges, Lines, NextClock, Rate, SpiTarget};
use crate::polling::Poll;
use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};

/// All four data lines.
const ALL: u8 = Lines::Quad.mask();

/// The controller's side of the pins. The default is its state at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct PinLevels {
    /// Chip select is active (low).
    pub selected: bool,
    /// Level of the clock.
    pub clock: bool,
    /// Data lines that the controller drives: bit n is IOn.
    pub enables: u8,
    /// The levels to which it drives them; bits of other lines have no meaning.
    pub levels: u8,
}

impl PinLevels {
    /// The levels of IO0 (bit 0) to IO3 as the controller reads them: its own where it drives, else the target's, else
    /// 1, as pulled up. `is_after_edge`: the rising edge of the target's next clock has passed. Without side effects.
    #[inline]
    pub fn read(self, target: &dyn SpiTarget, is_after_edge: bool) -> u8 {
        let next_clock = if self.selected { target.next_clock() } else { NextClock::default() };
        let chip = next_clock.levels[usize::from(is_after_edge)];
        let free = !self.enables & ALL;
        self.levels & self.enables & ALL | chip & next_clock.driven & free | free & !next_clock.driven
    }
}

impl PinLevels {
    fn polled(self, poll: &mut Poll) {
        for state in [u8::from(self.selected), u8::from(self.clock), self.enables, self.levels] {
            poll.state(state);
        }
    }
}

/// The rising edge of a clock that has not ended.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Rising {
    /// The controller's side of the lines just before it.
    seen: PinLevels,
    at: Ps,
    /// The time since which IO0 has had its level.
    data_since: Ps,
    /// When IO0 changed after the edge, if it has.
    data_until: Option<Ps>,
}

/// The pins of one target.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
pub struct Pins {
    now: PinLevels,
    rising: Option<Rising>,
    /// The time since which IO0 has had its level.
    data_since: Ps,
    /// True if the clock was high when the frame began, and has not fallen since.
    rested_high: bool,
}

impl Pins {
    /// Pins at rest.
    pub fn new() -> Pins {
        Pins::default()
    }

    /// Pins that another part of the controller has driven until now, at these levels: if chip select is active, the
    /// frame continues.
    #[inline]
    pub fn taken_over(now: PinLevels) -> Pins {
        Pins { now, ..Pins::default() }
    }

    /// The controller's levels now.
    #[inline]
    pub fn levels(&self) -> PinLevels {
        self.now
    }

    /// Sets all pins at once, at `at`. A clock reaches the target when it ends: on the falling edge, or when chip
    /// select rises before that.
    pub fn set(&mut self, next: PinLevels, at: Ps, target: &mut dyn SpiTarget) {
        let before = std::mem::replace(&mut self.now, next);
        if before.clock && !next.clock || before.selected && !next.selected {
            self.end_clock(before, at, target);
        }
        match (before.selected, next.selected) {
            (false, true) => {
                self.rested_high = next.clock;
                target.select(at);
            }
            (true, false) => target.deselect(at),
            _ => {}
        }
        if next.selected && !next.clock && std::mem::take(&mut self.rested_high) {
            target.falls_first(at);
        }
        if next.selected && next.clock && !before.clock {
            self.rising = Some(Rising { seen: before, at, data_since: self.data_since, data_until: None });
        }
        if (seen(before) ^ seen(next)) & 1 != 0 {
            self.data_since = at;
            if let Some(rising) = &mut self.rising {
                rising.data_until.get_or_insert(at);
            }
        }
    }

    /// For skipping of polling loops: the levels, and the times of their changes by edges of the controller's `clock`.
    #[inline]
    pub fn polled(&mut self, clock: Hz, poll: &mut Poll) {
        self.now.polled(poll);
        poll.state(self.rested_high);
        poll.edge_ps(clock, &mut self.data_since);
        poll.state(self.rising.is_some());
        if let Some(Rising { seen, at, data_since, data_until }) = &mut self.rising {
            seen.polled(poll);
            poll.state(data_until.is_some());
            for time in [at, data_since].into_iter().chain(data_until) {
                poll.edge_ps(clock, time);
            }
        }
    }

    /// The result of [`PinLevels::read`] now.
    #[inline]
    pub fn read(&self, target: &dyn SpiTarget) -> u8 {
        self.now.read(target, self.rising.is_some())
    }

    /// The lines that the target drives at `at`, and those after its output delay: masks and levels.
    #[inline]
    pub fn driven(&self, target: &dyn SpiTarget, at: Ps) -> [(u8, u8); 2] {
        if !self.now.selected {
            return [(0, 0); 2];
        }
        let half = usize::from(self.rising.is_some());
        [target.next_clock_at(at), target.next_clock()]
            .map(|next_clock| (next_clock.driven, next_clock.levels[half] & next_clock.driven))
    }

    /// Passes a clock to the target, with the levels of the lines on its two edges.
    fn end_clock(&mut self, falling: PinLevels, at: Ps, target: &mut dyn SpiTarget) {
        let Some(rising) = self.rising.take() else { return };
        target.edges(Edges {
            data_since: rising.data_since,
            first_rise: rising.at,
            period: Ps::ZERO,
            high: at.saturating_sub(rising.at),
            held: rising.data_until.unwrap_or(at).saturating_sub(rising.at),
        });
        let next_clock = target.next_clock();
        let (lines, drive) = direction(rising.seen.enables, next_clock.driven);
        let bits_of = |pins: PinLevels| u32::from(seen(pins) & lines.mask());
        let bits = match (drive, next_clock.rate) {
            (Drive::Controller, Rate::Single) => bits_of(rising.seen),
            (Drive::Controller, Rate::Double) => bits_of(rising.seen) << lines.bits() | bits_of(falling),
            (Drive::Target | Drive::Nobody, _) => 0,
        };
        target.shift(Burst { lines, rate: next_clock.rate, drive, clocks: 1, bits }, at);
    }
}

/// The controller's lines; those that it does not drive are pulled up.
fn seen(pins: PinLevels) -> u8 {
    (pins.levels | !pins.enables) & ALL
}

/// The lines and the direction of a clock: from the lines that the controller drives or, if it drives none, from those
/// of the target. IO2 and IO3 alone are W# and HOLD#, and carry no data.
fn direction(enables: u8, driven_by_target: u8) -> (Lines, Drive) {
    match (enables & ALL, driven_by_target) {
        (0b1111, _) => (Lines::Quad, Drive::Controller),
        (enables, _) if enables & 0b11 == 0b11 => (Lines::Dual, Drive::Controller),
        (enables, _) if enables & 0b01 != 0 => (Lines::Single, Drive::Controller),
        (_, 0) => (Lines::Quad, Drive::Nobody),
        (_, 0b0010) => (Lines::Single, Drive::Target),
        (_, 0b0011) => (Lines::Dual, Drive::Target),
        _ => (Lines::Quad, Drive::Target),
    }
}
