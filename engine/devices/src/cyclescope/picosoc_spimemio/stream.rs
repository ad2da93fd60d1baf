//! The stream of words: the word that the interface holds in each cycle, as arithmetic on cycles of the SoC's clock.
//!
//! The interface holds one word, answers a request for it at once, and reads ahead: the word after a jump's, and three
//! more bytes. A word that was read without a request *holds back* the last byte of its successor until the next
//! request. A request for neither the held word nor its successor ends the stream and starts a new one (a *jump*).
//!
//! All is computed when a request comes: first the changes since the last request, then the answer. This works because
//! requests come in order and one at a time, so that only the end of the last request matters.

use super::mode::Mode;
use crate::prelude::*;

/// Cycles from a configuration write to the end of the preamble (FFh, ABh and the command, with gaps between them), the
/// first cycle in which an address can begin.
pub const PREAMBLE_CYCLES: u64 = 55;
/// Cycles of a byte on one line.
pub const COMMAND_CYCLES: u64 = 16;
/// Cycles from a jump's request to its frame's first clock.
const TURN_CYCLES: u64 = 2;
/// Addresses have 24 bits.
pub const ADDRESS_MASK: u32 = 0xff_ffff;
/// The successor of the held word waits for a request.
const HELD_BACK: u64 = u64::MAX;

/// The actions of the stream on the lines, in the order of time. Cycles as in [`Stream`].
pub trait Frames {
    /// FFh, ABh and the command are sent, the command to its end at `ready`; the part that has not ended by `until` is
    /// cut off.
    fn preamble(&mut self, ready: u64, until: u64);
    /// A new frame begins at `start`, with the command if `command` is set. [`Frames::address`] comes next.
    fn frame(&mut self, start: u64, command: bool);
    /// Address, mode byte and dummy clocks are sent from `start` on.
    fn address(&mut self, start: u64, address: u32);
    /// The word at `address` is read to its end at `end`.
    fn word(&mut self, address: u32, end: u64);
    /// The word in progress is cut off at `at`, after `clocks` of its clocks. The clocks of its last byte, if there
    /// were any, began at `last_byte`.
    fn cut(&mut self, at: u64, clocks: u32, last_byte: u64);
}

/// The position of the stream on the lines, in a cycle without a request.
///
/// The pins are registers: an action in one cycle is on the pins in the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Position {
    /// Before the first address: in the preamble, which ends at `ready`, or after it.
    Preamble {
        /// As in [`Frames::preamble`].
        ready: u64,
    },
    /// In the word after the held one.
    Word {
        /// Cycles of the word that have been on the pins before this one. If odd, SCK is high. If all cycles of the
        /// word have been, its successor starts, and the word is not held yet.
        passed: u64,
        /// The end of the last whole clock among them, at the latest.
        over: u64,
    },
}

/// The interface's state machine while it is on. Cycle 0 is the first after reset.
#[derive(Clone, Copy, Debug, State)]
pub struct Stream {
    mode: Mode,
    byte_cycles: u64,
    capture_cycles: u64,
    /// The value R - V of a jump.
    jump_cycles: u64,
    /// False from a restart to the first request.
    streaming: bool,
    /// The first cycle in which an address can begin, from a restart to the first request.
    ready: u64,
    /// Address of the held word.
    address: u32,
    /// The first cycle in which it is held.
    held: u64,
    /// The cycle in which its successor replaces it, or [`HELD_BACK`].
    next: u64,
    /// The cycle in which the last request was answered.
    answered: u64,
}

impl Stream {
    /// After reset, which counts as a configuration write in the cycle before the first.
    pub fn reset() -> Stream {
        Stream::new(Mode::RESET, PREAMBLE_CYCLES - 1)
    }

    fn new(mode: Mode, ready: u64) -> Stream {
        let (byte_cycles, capture_cycles) = (mode.byte_cycles(), mode.capture_cycles());
        let command_cycles = if mode.continuous { 0 } else { COMMAND_CYCLES };
        Stream {
            mode,
            byte_cycles,
            capture_cycles,
            jump_cycles: TURN_CYCLES + command_cycles + mode.header_cycles() + 4 * byte_cycles + capture_cycles,
            streaming: false,
            ready,
            address: 0,
            held: 0,
            next: HELD_BACK,
            answered: 0,
        }
    }

    /// A configuration write in cycle `at` restarts the stream.
    pub fn restart(&mut self, at: u64, mode: Mode) {
        *self = Stream::new(mode, at + PREAMBLE_CYCLES);
    }

    /// Drops everything in cycle `at`; [`Stream::restart`] follows.
    pub fn stop(&mut self, at: u64, frames: &mut impl Frames) {
        if self.streaming {
            self.catch_up(at, frames);
            self.cut(at, frames);
        } else {
            frames.preamble(self.ready, at);
        }
    }

    /// A request for the word at `address` (a multiple of 4 below 2^24) from cycle `at` on: returns the cycle of the
    /// answer. A request during another master's request waits for the answer to that.
    #[inline]
    pub fn request(&mut self, at: u64, address: u32, frames: &mut impl Frames) -> u64 {
        if !self.streaming {
            return self.first(at, address, frames);
        }
        let at = at.max(self.answered + 1);
        self.catch_up(at, frames);
        if self.next == HELD_BACK {
            let last_byte = (self.word_end() + 3 * self.byte_cycles).max(at + 1);
            self.next = last_byte + self.byte_cycles + self.capture_cycles;
        }
        self.answered = at;
        if address != self.address {
            if address == successor(self.address) {
                // The request lasts until the word is complete, so this word holds nothing back.
                self.take_next(frames);
                self.next = self.held + 4 * self.byte_cycles;
            } else {
                self.jump(at, address, frames);
            }
            self.answered = self.held;
        }
        self.answered
    }

    /// The position of the stream on the lines in cycle `at`; during another master's request, the position in the
    /// cycle of its answer.
    pub fn look(&mut self, at: u64, frames: &mut impl Frames) -> Position {
        if !self.streaming {
            return Position::Preamble { ready: self.ready };
        }
        let at = at.max(self.answered);
        self.catch_up(at, frames);
        let passed = self.passed(at - 1);
        Position::Word { passed, over: at - 1 - passed % 2 }
    }

    /// The next cycle after `at` in which [`Stream::look`] finds the end of a word, or of the part that is read without
    /// a request; `None` if everything waits for a request.
    pub fn next_end(&self, at: u64) -> Option<u64> {
        let end = match (self.streaming, self.next) {
            (false, _) => self.ready,
            (true, HELD_BACK) => self.word_end() + 3 * self.byte_cycles + 1,
            (true, next) => next,
        };
        (end > at).then_some(end)
    }

    /// True if the lines are the same from cycle `at` on until the next request.
    pub fn is_at_rest(&self, at: u64) -> bool {
        // The lines show the end a cycle later.
        self.next_end(at.saturating_sub(2)).is_none()
    }

    /// For skipping of polling loops; cycles are those of `clock`. The setter of the mode lists it.
    pub fn list(&mut self, clock: Hz, poll: &mut Poll) {
        let held_back = self.next == HELD_BACK;
        for flag in [self.streaming, held_back] {
            poll.state(flag);
        }
        poll.state(self.address);
        for cycle in [&mut self.ready, &mut self.held, &mut self.answered] {
            poll.edge(clock, cycle);
        }
        if !held_back {
            poll.edge(clock, &mut self.next);
        }
    }

    /// Reads the words that need no request, up to cycle `at`.
    #[inline]
    fn catch_up(&mut self, at: u64, frames: &mut impl Frames) {
        while self.next <= at {
            let asked = self.next - 1 <= self.answered;
            self.take_next(frames);
            self.next = if asked { self.held + 4 * self.byte_cycles } else { HELD_BACK };
        }
    }

    #[inline]
    fn take_next(&mut self, frames: &mut impl Frames) {
        self.address = successor(self.address);
        self.held = self.next;
        frames.word(self.address, self.word_end());
    }

    fn first(&mut self, at: u64, address: u32, frames: &mut impl Frames) -> u64 {
        let start = self.ready.max(at + 1);
        frames.preamble(self.ready, start);
        self.begin(start, address, frames);
        self.held
    }

    #[cold]
    fn jump(&mut self, at: u64, address: u32, frames: &mut impl Frames) {
        self.cut(at, frames);
        let start = at + TURN_CYCLES;
        frames.frame(start, !self.mode.continuous);
        self.begin(at + self.jump_cycles - self.read_cycles(), address, frames);
    }

    /// Begins a frame's address phase at `start`.
    fn begin(&mut self, start: u64, address: u32, frames: &mut impl Frames) {
        self.streaming = true;
        self.address = address;
        self.held = start + self.read_cycles();
        self.answered = self.held;
        // The word after the first one is read in any case.
        self.next = self.held + 4 * self.byte_cycles;
        frames.address(start, address);
        frames.word(address, self.word_end());
    }

    /// Cuts off the successor's clocks at cycle `at`, before it is complete.
    fn cut(&self, at: u64, frames: &mut impl Frames) {
        frames.cut(at, (self.passed(at) / 2) as u32, self.last_byte());
    }

    /// Cycles of the held word's successor by cycle `at`, before it is complete.
    fn passed(&self, at: u64) -> u64 {
        let first_bytes = at.saturating_sub(self.word_end()).min(3 * self.byte_cycles);
        let last_byte =
            if self.next == HELD_BACK { 0 } else { at.saturating_sub(self.last_byte()).min(self.byte_cycles) };
        first_bytes + last_byte
    }

    /// The start of the last byte of the held word's successor, unless it is held back.
    fn last_byte(&self) -> u64 {
        self.next - self.capture_cycles - self.byte_cycles
    }

    /// The end of the held word's last clock, which is the start of its successor's first.
    #[inline]
    fn word_end(&self) -> u64 {
        self.held - self.capture_cycles
    }

    /// Cycles from the start of an address to its word.
    fn read_cycles(&self) -> u64 {
        self.mode.header_cycles() + 4 * self.byte_cycles + self.capture_cycles
    }
}

/// The address of the word after `address`; the first word follows the last.
#[inline]
const fn successor(address: u32) -> u32 {
    (address + 4) & ADDRESS_MASK
}

#[cfg(test)]
mod tests;
