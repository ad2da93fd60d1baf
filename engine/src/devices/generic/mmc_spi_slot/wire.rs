//! The card on the wire: bytes, counted from the falling edge of chip select, most significant bit first; SPI mode 0.

use super::notes::Note;
use super::receiving::{Receiving, Stage};
use super::{Card, Data, State};
use crate::state;
use crate::time::{Cycles, Hz, Ps};
use crate::wire::bytes::single_lines;
use crate::wire::spi::{Burst, Drive, Lines, Rate};

/// What the card's line shows during a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh)]
pub(super) enum Out {
    /// Low while the card is busy, else high: bit by bit.
    Level,
    /// This byte.
    Byte(u8),
}

/// What the card knows of the clock.
#[derive(Clone, Copy, Debug, state::State)]
pub(super) struct Pace {
    /// How long 0 to 32 clocks take at the fastest.
    #[state(skip)]
    clocks: [Ps; 33],
    #[state(skip)]
    half_clock: Ps,
    last_edge: Ps,
    /// A clock that was too fast has been told of.
    reported: bool,
}

impl Pace {
    pub(super) fn new(max_clock: Hz) -> Pace {
        let clocks: [Ps; 33] = std::array::from_fn(|clocks| max_clock.ps_at_floor(Cycles(clocks as u64)));
        Pace { clocks, half_clock: Ps(clocks[1].0 / 2), last_edge: Ps::ZERO, reported: false }
    }

    /// The clock rests until `now`.
    pub(super) fn rest(&mut self, now: Ps) {
        self.last_edge = now;
    }

    /// A burst of clocks ends: their frequency at least, in hertz, if that is above the maximum for the first time.
    /// Spans of as many clocks differ by a picosecond, and so would the frequencies of later ones.
    #[inline]
    pub(super) fn too_fast(&mut self, clocks: u32, end: Ps) -> Option<u64> {
        let span = end.saturating_sub(self.last_edge);
        self.last_edge = end;
        if span >= self.clocks[clocks.min(32) as usize] || std::mem::replace(&mut self.reported, true) {
            return None;
        }
        Some(u64::from(clocks) * 1_000_000_000_000 / span.0.max(1))
    }

    /// When the last clock of so many ended that has `left` more behind it, the last of those ending at `end`.
    #[inline]
    fn before(&self, end: Ps, left: u32) -> Ps {
        end.saturating_sub(self.clocks[left.min(32) as usize])
    }

    /// The time of a byte at the fastest clock.
    pub(super) fn byte(&self) -> Ps {
        self.clocks[8]
    }
}

impl Card {
    /// Clocks pass. The result has the first edge highest.
    pub(super) fn pass(&mut self, burst: Burst, end: Ps) -> u32 {
        let Burst { lines: Lines::Single, rate: Rate::Single, drive, clocks, bits } = burst else {
            return self.pass_lines(burst, end);
        };
        // Without a controller on it, the card's input is pulled up; while it listens, the controller keeps it low.
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

    /// Clocks on lines that the card does not have: it sees IO0 on rising edges, and drives IO1.
    #[cold]
    fn pass_lines(&mut self, burst: Burst, end: Ps) -> u32 {
        if self.selected {
            self.notes.add(Note::WrongLines);
        }
        single_lines(burst, |io0, left| {
            let at = self.pace.before(end, left);
            self.bit(io0, at)
        })
    }

    /// A whole byte, whose last clock ends at `end`: what the controller samples.
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

    /// A clock that ends at `end`, and what the controller samples.
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

    /// The level of the card's line in a clock that ends at `end`, and is the next of its byte.
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

    /// Eight clocks of it, the last ending at `end`.
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

    /// A byte begins at `start`: the card puts out what it will show.
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

    /// What the card shows in a byte that begins at `start`.
    fn next(&self, start: Ps) -> Out {
        if self.reply.is_pending() {
            return self.reply.next();
        }
        match &self.data {
            Data::None => Out::Level,
            Data::Sending(sending) => sending.next(start, &self.buffer[..]),
            Data::Receiving(Receiving { stage: Stage::Token, .. }) => Out::Level,
            // A response, too, begins with ones.
            Data::Receiving(_) => Out::Byte(0xff),
        }
    }

    /// The level in the next clock, whenever that comes: at the last edge, as far as the card knows.
    pub(super) fn next_bit(&self) -> bool {
        let (now, end) = (self.pace.last_edge, self.pace.last_edge.saturating_add(self.pace.clocks[1]));
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

    /// A byte has come in.
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
