//! The card on the wire: bytes, counted from the falling edge of chip select, most significant bit first; SPI mode 0.

use super::*;
use crate::support::fastest_clock::FastestClock;
use engine::wire::bytes::single_lines;
use engine::wire::spi::{Drive, Lines};

/// The card's output during a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh)]
pub(super) enum Out {
    /// Low while the card is busy, else high: bit by bit.
    #[default]
    Level,
    /// This byte.
    Byte(u8),
}

/// The card's measurement of the clock.
#[derive(Clone, Copy, Debug, Default, state::State)]
pub(super) struct Pace {
    #[state(skip)]
    fastest: FastestClock,
    #[state(skip)]
    half_clock: Ps,
    last_edge: Ps,
    /// True if a clock that was too fast has been noted.
    is_noted: bool,
}

impl Pace {
    pub(super) fn new(max_clock: Option<Hz>) -> Pace {
        let fastest = FastestClock::new(max_clock);
        Pace { fastest, half_clock: Ps(fastest.shortest(1).0 / 2), ..Pace::default() }
    }

    /// The clock is idle until `now`.
    pub(super) fn rest(&mut self, now: Ps) {
        self.last_edge = now;
    }

    /// Checks the rate of a burst: returns a note the first time that it is above the maximum. The durations of later
    /// bursts differ by a picosecond, and their frequencies would do so, too.
    #[inline]
    pub(super) fn too_fast(&mut self, clocks: u32, end: Ps) -> Option<String> {
        let span = end.saturating_sub(self.last_edge);
        self.last_edge = end;
        let is_new = span < self.fastest.shortest(clocks) && !std::mem::replace(&mut self.is_noted, true);
        is_new.then(|| self.fastest.note(clocks, span))
    }

    /// The end of `clocks` clocks with `left` more after them, the last of those ending at `end`.
    #[inline]
    fn before(&self, end: Ps, left: u32) -> Ps {
        end.saturating_sub(self.fastest.shortest(left))
    }

    /// The time of a byte at the fastest clock.
    pub(super) fn byte(&self) -> Ps {
        self.fastest.shortest(8)
    }
}

impl Card {
    /// Shifts the clocks of a burst. The result has the first edge in the highest bits.
    pub(super) fn pass(&mut self, burst: Burst, end: Ps) -> u32 {
        let Burst { lines: Lines::Single, rate: Rate::Single, drive, clocks, bits } = burst else {
            return self.pass_lines(burst, end);
        };
        // If the controller does not drive it, the card's input is pulled up; while the controller reads, it keeps it
        // low.
        let bits = if drive == Drive::Nobody { u32::MAX } else { bits };
        let mut left = clocks;
        let mut sampled = 0;
        while left > 0 {
            let took = if left >= 8 && self.line.bits() == 0 { 8 } else { 1 };
            left -= took;
            let input = bits.checked_shr(left).unwrap_or(u32::MAX * u32::from(drive == Drive::Nobody));
            let at = self.pace.before(end, left);
            let output = if took == 8 { self.byte(input as u8, at) } else { self.bit(input & 1 != 0, at).into() };
            sampled = sampled << took | u32::from(output);
        }
        sampled
    }

    /// Clocks on lines that the card does not have: it samples IO0 on rising edges, and drives IO1.
    #[cold]
    fn pass_lines(&mut self, burst: Burst, end: Ps) -> u32 {
        if self.selected {
            self.notes.add("the card has one data line a direction, and a bit a clock".to_owned());
        }
        single_lines(burst, |io0, left| {
            let at = self.pace.before(end, left);
            self.bit(io0, at)
        })
    }

    /// Shifts a whole byte, whose last clock ends at `end`: returns the bits that the controller samples.
    fn byte(&mut self, input: u8, end: Ps) -> u8 {
        if !self.selected {
            self.idle(8);
            return 0xff;
        }
        self.begin_byte(self.pace.before(end, 8));
        if self.removed {
            return 0xff;
        }
        let output = match self.out {
            Out::Byte(byte) => byte,
            Out::Level => self.levels(end),
        };
        self.totals.busy_bytes += u64::from(self.out == Out::Level && output & 0x80 == 0);
        self.end_byte(input, end);
        output
    }

    /// Shifts a clock that ends at `end`: returns the bit that the controller samples.
    fn bit(&mut self, input: bool, end: Ps) -> bool {
        if !self.selected {
            self.idle(1);
            return true;
        }
        if self.line.bits() == 0 {
            self.begin_byte(self.pace.before(end, 1));
        }
        let output = self.level(end);
        self.totals.busy_bytes += u64::from(self.line.bits() == 0 && self.out == Out::Level && !output);
        if let Some(byte) = self.line.clock(input).filter(|_| !self.removed) {
            self.end_byte(byte, end);
        }
        output
    }

    fn idle(&mut self, clocks: u32) {
        self.power_up_clocks = self.power_up_clocks.saturating_add(clocks).min(super::POWER_UP_CLOCKS);
    }

    /// The level of the card's line in the clock that ends at `end`, the next of its byte.
    fn level(&self, end: Ps) -> bool {
        match self.out {
            _ if self.removed => true,
            Out::Byte(byte) => self.line.level(byte),
            Out::Level => !self.is_busy(end),
        }
    }

    /// True if the card signals busy in the clock that ends at `end`. The host samples in its middle.
    fn is_busy(&self, end: Ps) -> bool {
        end <= self.busy_until.saturating_add(self.pace.half_clock)
    }

    /// The busy signal in eight clocks that end at `end`.
    #[inline]
    fn levels(&self, end: Ps) -> u8 {
        if self.is_busy(end) {
            return 0;
        }
        if !self.is_busy(self.pace.before(end, 7)) {
            return 0xff;
        }
        (0..8).rev().fold(0, |byte, left| byte << 1 | u8::from(!self.is_busy(self.pace.before(end, left))))
    }

    /// A byte begins at `start`: the card selects its output.
    fn begin_byte(&mut self, start: Ps) {
        if self.is_gone(start) {
            return;
        }
        self.out = self.next(start);
        if self.reply.is_pending() {
            self.reply.advance();
            return;
        }
        match &mut self.data {
            Data::Sending(sending) => sending.advance(start),
            Data::Receiving(Receiving { stage: Stage::Check(end), .. }) => {
                let end = *end;
                self.out = Out::Byte(self.finish_block(end));
            }
            Data::None | Data::Receiving(_) => {}
        }
    }

    /// The card's output in a byte that begins at `start`.
    fn next(&self, start: Ps) -> Out {
        if self.reply.is_pending() {
            return self.reply.next();
        }
        match &self.data {
            Data::None => Out::Level,
            Data::Sending(sending) => sending.next(start, &self.buffer[..]),
            Data::Receiving(Receiving { stage: Stage::Token, .. }) => Out::Level,
            // A response begins with ones, too.
            Data::Receiving(_) => Out::Byte(0xff),
        }
    }

    /// The level in the next clock, at any time: as of the last edge.
    pub(super) fn next_bit(&self) -> bool {
        let (now, end) = (self.pace.last_edge, self.pace.last_edge.saturating_add(self.pace.fastest.shortest(1)));
        let out = if self.line.bits() == 0 { self.next(now) } else { self.out };
        match out {
            Out::Byte(byte) => self.line.level(byte),
            Out::Level => !self.is_busy(end),
        }
    }

    /// True if the card drives its line while it is selected.
    pub(super) fn drives(&self) -> bool {
        self.selected && !self.removed && self.state != State::PowerUp
    }

    /// Takes a byte from the host.
    #[inline]
    fn end_byte(&mut self, byte: u8, end: Ps) {
        match &mut self.data {
            Data::Receiving(Receiving { stage: Stage::Block(at), .. }) => {
                self.buffer[usize::from(*at)] = byte;
                *at += 1;
                if usize::from(*at) == self.buffer.len() {
                    self.take_block(end);
                }
                return;
            }
            Data::Sending(sending) if sending.is_over() => self.next_block(end),
            _ => {}
        }
        if self.command_bytes > 0 || byte & 0xc0 == 0x40 {
            self.take_command(byte, end);
        } else if byte != 0xff
            && let Data::Receiving(_) = self.data
        {
            self.take_token(byte, end);
        }
    }
}
