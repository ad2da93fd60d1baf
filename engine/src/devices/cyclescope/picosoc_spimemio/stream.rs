//! The stream of words: which word the interface holds in which cycle, as arithmetic on cycles of the SoC's clock.
//!
//! The interface holds one word, answers a request for it at once, and reads on by itself: the word behind a jump's,
//! and three bytes more. A word that came while nobody asked *holds back* the last byte of its successor until the next
//! request. A request for neither the held word nor its successor cuts the stream off and starts a new one (a *jump*).
//!
//! All is worked out when a request comes: what has happened since the last one, then the answer. This works because
//! requests come in order and one at a time, so that of past requests only the last one's end matters.

use super::mode::Mode;
use crate::polling::Poll;
use crate::state::{Fresh, State};
use crate::time::Hz;

/// Cycles from a configuration write to the end of the preamble (FFh, ABh, and the command, with gaps between them):
/// the first in which an address can begin.
pub const PREAMBLE_CYCLES: u64 = 55;
/// Cycles of a byte on one line.
pub const COMMAND_CYCLES: u64 = 16;
/// Cycles from a jump's request to its frame's first clock.
const TURN_CYCLES: u64 = 2;
/// Addresses have 24 bits.
pub const ADDRESS_MASK: u32 = 0xff_ffff;
/// The successor of the held word waits for a request.
const HELD_BACK: u64 = u64::MAX;

/// What the stream does with the lines, in the order of time. Cycles as in [`Stream`].
pub trait Frames {
    /// FFh, ABh and the command are sent, the command to its end at `ready`, and what is not over by `until` is cut
    /// off.
    fn preamble(&mut self, ready: u64, until: u64);
    /// A new frame begins at `start`, with the command if `command` is set. [`Frames::address`] comes next.
    fn frame(&mut self, start: u64, command: bool);
    /// Address, mode byte and dummy clocks are sent from `start` on.
    fn address(&mut self, start: u64, address: u32);
    /// The word at `address` is read to its end at `end`.
    fn word(&mut self, address: u32, end: u64);
    /// The word that is being read is cut off at `at`, after `clocks` of its clocks. Those of its last byte, if it has
    /// had any, began at `last_byte`.
    fn cut(&mut self, at: u64, clocks: u32, last_byte: u64);
}

/// Where the stream is on the lines, in a cycle in which no request is up.
///
/// The pins are registers: what the stream does in one cycle stands on them in the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Position {
    /// Before the first address: in the preamble, which ends at `ready`, or behind it.
    Preamble {
        /// As in [`Frames::preamble`].
        ready: u64,
    },
    /// In the word behind the held one.
    Word {
        /// Cycles of the word that have stood on the pins before this one. An odd number: SCK is high. All of the
        /// word's: the one behind it is beginning, and it is not held yet.
        passed: u64,
        /// The last whole clock of these was over at this cycle, at the latest.
        over: u64,
    },
}

/// The interface's state machine while it is on. Cycle 0 is the first after reset.
#[derive(Clone, Copy, Debug, State)]
pub struct Stream {
    mode: Mode,
    byte_cycles: u64,
    capture_cycles: u64,
    /// A jump's R - V.
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

    /// A configuration write in cycle `at` starts all over.
    pub fn restart(&mut self, at: u64, mode: Mode) {
        *self = Stream::new(mode, at + PREAMBLE_CYCLES);
    }

    /// Everything is dropped in cycle `at`; [`Stream::restart`] goes on.
    pub fn stop(&mut self, at: u64, frames: &mut impl Frames) {
        if self.streaming {
            self.catch_up(at, frames);
            self.cut(at, frames);
        } else {
            frames.preamble(self.ready, at);
        }
    }

    /// A request for the word at `address` (a multiple of 4 below 2^24) is up from cycle `at` on: the cycle in which it
    /// is answered. Should another master's request still be up, this one waits for its answer.
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
                // The request is up until the word comes, so this word holds nothing back.
                self.take_next(frames);
                self.next = self.held + 4 * self.byte_cycles;
            } else {
                self.jump(at, address, frames);
            }
            self.answered = self.held;
        }
        self.answered
    }

    /// Where the stream is on the lines in cycle `at`. Should another master's request still be up: where it is in the
    /// cycle of the answer.
    pub fn look(&mut self, at: u64, frames: &mut impl Frames) -> Position {
        if !self.streaming {
            return Position::Preamble { ready: self.ready };
        }
        let at = at.max(self.answered);
        self.catch_up(at, frames);
        let passed = self.passed(at - 1);
        Position::Word { passed, over: at - 1 - passed % 2 }
    }

    /// The next cycle behind `at` in which [`Stream::look`] finds a word over, or the part of it that comes without a
    /// request; `None` if all waits for a request.
    pub fn next_end(&self, at: u64) -> Option<u64> {
        let end = match (self.streaming, self.next) {
            (false, _) => self.ready,
            (true, HELD_BACK) => self.word_end() + 3 * self.byte_cycles + 1,
            (true, next) => next,
        };
        (end > at).then_some(end)
    }

    /// True if the lines in cycle `at` are those of any later one, until something is asked for.
    pub fn is_at_rest(&self, at: u64) -> bool {
        // They show a cycle later what ended.
        self.next_end(at.saturating_sub(2)).is_none()
    }

    /// For skipping of polling loops; cycles are those of `clock`. The mode is listed with what sets it.
    pub fn polled(&mut self, clock: Hz, poll: &mut Poll) {
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

    /// The words that came by themselves up to cycle `at`.
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

    /// A frame's address phase begins at `start`.
    fn begin(&mut self, start: u64, address: u32, frames: &mut impl Frames) {
        self.streaming = true;
        self.address = address;
        self.held = start + self.read_cycles();
        self.answered = self.held;
        // The word behind a first one is read in any case.
        self.next = self.held + 4 * self.byte_cycles;
        frames.address(start, address);
        frames.word(address, self.word_end());
    }

    /// The successor's clocks so far, at cycle `at`, before which it has not come.
    fn cut(&self, at: u64, frames: &mut impl Frames) {
        frames.cut(at, (self.passed(at) / 2) as u32, self.last_byte());
    }

    /// Cycles that the held word's successor has had by cycle `at`, before which it has not come.
    fn passed(&self, at: u64) -> u64 {
        let first_bytes = at.saturating_sub(self.word_end()).min(3 * self.byte_cycles);
        let last_byte =
            if self.next == HELD_BACK { 0 } else { at.saturating_sub(self.last_byte()).min(self.byte_cycles) };
        first_bytes + last_byte
    }

    /// When the last byte of the held word's successor begins, unless it is held back.
    fn last_byte(&self) -> u64 {
        self.next - self.capture_cycles - self.byte_cycles
    }

    /// When the held word's last clock ended and its successor's first began.
    #[inline]
    fn word_end(&self) -> u64 {
        self.held - self.capture_cycles
    }

    /// From the start of an address to its word.
    fn read_cycles(&self) -> u64 {
        self.mode.header_cycles() + 4 * self.byte_cycles + self.capture_cycles
    }
}

/// The address of the word behind that at `address`; the last one is followed by the first.
#[inline]
const fn successor(address: u32) -> u32 {
    (address + 4) & ADDRESS_MASK
}

#[cfg(test)]
mod tests;
