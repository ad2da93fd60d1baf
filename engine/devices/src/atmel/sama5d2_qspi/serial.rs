//! QSPI_TDR and QSPI_RDR: words in SPI mode, bytes of a frame in serial memory mode with SMRM, and frames without data.
//!
//! The state is brought up to an edge of the peripheral clock by [`Serial::advance`]. A transfer's clocks pass on the
//! wire when it begins.

use super::registers::{SR_CSR, SR_INSTRE, SR_OVRES, SR_RDRF, SR_TDRE, SR_TXEMPTY, SelectMode, Settings};
use super::wire::{Wire, renumbered};
use crate::prelude::*;
use engine::state;
use engine::wire::spi::{Burst, Lines, Rate};

/// The use of the words on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh)]
pub enum Flow {
    /// Unused: disabled, or the window uses the wire.
    #[default]
    None,
    /// Full duplex, from QSPI_TDR and to QSPI_RDR.
    Spi,
    /// Data of a frame that begins with the first byte in QSPI_TDR.
    Send,
    /// Data of a frame that has begun, one byte ahead of the reader of QSPI_RDR.
    Receive,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh)]
enum State {
    #[default]
    Idle,
    /// A word is on the wire.
    Word { ends: u64, received: Option<u16> },
    /// The delay after a word.
    Gap { until: u64 },
    /// A frame without data is on the wire.
    Frame { ends: u64 },
}

/// The data registers and what passes through them.
#[derive(Clone, Copy, Debug, Default, state::State)]
pub struct Serial {
    /// The use of the words.
    pub flow: Flow,
    /// The registers' settings, as they are in effect.
    pub settings: Settings,
    /// QSPI_TDR, and when it was written.
    waiting: Option<(u16, u64)>,
    /// QSPI_RDR.
    received: u16,
    full: bool,
    /// When QSPI_RDR was last read.
    read_at: u64,
    state: State,
    /// The end of the last delay: no word begins before.
    ready: u64,
    /// True if LASTXFER was written.
    last: bool,
    /// True if a receiving frame has not ended.
    receiving: bool,
    /// CSR, INSTRE and OVRES since the last read of QSPI_SR.
    pub flags: u32,
}

impl Serial {
    /// True if no transfer on the wire ends after `edge`.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// RDRF, TDRE, TXEMPTY.
    pub fn status(&self) -> u32 {
        flag(SR_RDRF, self.full)
            | flag(SR_TDRE, self.waiting.is_none())
            | flag(SR_TXEMPTY, self.waiting.is_none() && !matches!(self.state, State::Word { .. }))
    }

    /// The edge of the next change of state without an access.
    pub fn next_change(&self) -> Option<u64> {
        match self.state {
            State::Idle => None,
            State::Word { ends, .. } | State::Frame { ends } => Some(ends),
            State::Gap { until } => Some(until),
        }
    }

    /// Carries out everything up to `edge`.
    pub fn advance(&mut self, edge: u64, wire: &mut Wire) {
        loop {
            match self.state {
                State::Word { ends, received } if ends <= edge => self.end_word(ends, received),
                State::Gap { until } if until <= edge => self.end_gap(until, wire),
                State::Frame { ends } if ends <= edge => {
                    self.state = State::Idle;
                    self.end_frame(ends, wire);
                }
                State::Idle => {
                    if !self.begin_word(wire) {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// The edge `from` of the peripheral clock, up to which everything has been carried out, is renumbered to `to`.
    pub fn renumber(&mut self, (from, to): (u64, u64)) {
        match &mut self.state {
            State::Idle => {}
            State::Word { ends: edge, .. } | State::Gap { until: edge } | State::Frame { ends: edge } => {
                *edge = renumbered(*edge, (from, to));
            }
        }
        let written = self.waiting.as_mut().map(|(_, written)| written);
        for edge in written.into_iter().chain([&mut self.read_at, &mut self.ready]) {
            *edge = renumbered(*edge, (from, to));
        }
    }

    /// QSPI_TDR is written. False if it was full: the previous word is lost.
    pub fn write(&mut self, word: u16, edge: u64) -> bool {
        self.waiting.replace((word, edge)).is_none()
    }

    /// QSPI_RDR is read.
    pub fn read(&mut self, edge: u64) -> u16 {
        self.full = false;
        self.read_at = edge;
        self.received
    }

    /// QSPI_CR.LASTXFER is written.
    pub fn end_after_this(&mut self, edge: u64, wire: &mut Wire) {
        if self.is_idle() && (self.waiting.is_none() || self.flow == Flow::None) {
            self.end_frame(edge, wire);
        } else {
            self.last = true;
        }
    }

    /// Sends a frame without data from `edge` on.
    pub fn send_frame(&mut self, edge: u64, wire: &mut Wire) {
        wire.select(edge);
        let header = wire.header(self.settings.instruction, true);
        wire.send_header(edge, &header, self.settings.address);
        self.state = State::Frame { ends: wire.free };
    }

    /// Begins a frame that receives its data.
    pub fn begin_receiving(&mut self, edge: u64) {
        self.last = false;
        self.full = false;
        self.receiving = true;
        self.read_at = edge;
    }

    /// Drops the operation in progress: a disable or a reset.
    pub fn stop(&mut self, edge: u64, wire: &mut Wire) {
        let flags = self.flags;
        self.end_frame(edge, wire);
        *self = Serial { settings: self.settings, flags: flags | self.flags, ..Serial::default() };
    }

    /// Chip select goes inactive, if it is active.
    pub fn end_frame(&mut self, edge: u64, wire: &mut Wire) {
        self.last = false;
        self.receiving = false;
        if wire.selected {
            wire.deselect(edge);
            self.frame_ended();
        }
    }

    /// Sets the flags of QSPI_SR at the end of a frame.
    pub fn frame_ended(&mut self) {
        self.flags |= SR_CSR | flag(SR_INSTRE, self.settings.mode.serial_memory());
    }

    fn end_word(&mut self, ends: u64, received: Option<u16>) {
        if let Some(word) = received {
            self.flags |= flag(SR_OVRES, self.full);
            self.received = word;
            self.full = true;
        }
        self.state = State::Gap { until: ends + self.settings.mode.after_word_cycles() };
    }

    fn end_gap(&mut self, until: u64, wire: &mut Wire) {
        self.state = State::Idle;
        self.ready = until;
        let reloaded = self.waiting.is_some_and(|(_, written)| written <= until);
        let ends = match self.settings.mode.select_mode() {
            SelectMode::NotReloaded => !reloaded,
            SelectMode::LastTransfer => self.last && (self.flow == Flow::Receive || !reloaded),
            SelectMode::Systematically => true,
        };
        if ends {
            self.end_frame(until, wire);
        }
    }

    /// Begins a word: true if one was begun.
    fn begin_word(&mut self, wire: &mut Wire) -> bool {
        match (self.flow, self.waiting) {
            (Flow::Spi, Some((word, at))) if !(self.full && self.settings.mode.waits_for_read()) => {
                self.waiting = None;
                let at = if self.settings.mode.waits_for_read() { at.max(self.read_at) } else { at };
                self.exchange(word, at.max(self.ready), wire);
            }
            (Flow::Send, Some((word, at))) => {
                self.waiting = None;
                self.open(at, wire);
                let (.., lines) = self.settings.instruction.lines();
                wire.shift(at, Burst::byte_out(lines, word as u8));
                self.state = State::Word { ends: wire.free, received: None };
            }
            // The byte after the last one is not fetched: LASTXFER is written before the last byte is read.
            (Flow::Receive, _) if self.receiving && !self.full && !self.last => {
                let at = self.read_at;
                self.open(at, wire);
                let (.., lines) = self.settings.instruction.lines();
                let byte = wire.shift(at, Burst::byte_in(lines)) as u16;
                self.state = State::Word { ends: wire.free, received: Some(byte) };
            }
            _ => return false,
        }
        true
    }

    fn exchange(&mut self, word: u16, at: u64, wire: &mut Wire) {
        if !wire.selected {
            wire.select(at);
        }
        let bits = self.settings.mode.word_bits();
        let mask = u16::MAX >> (16 - bits);
        let sampled = wire.shift(at, Burst::output(Lines::Single, Rate::Single, bits, u32::from(word & mask))) as u16;
        let received = if self.settings.mode.loopback() { word & mask } else { sampled & mask };
        self.state = State::Word { ends: wire.free, received: Some(received) };
    }

    /// Sends the frame up to its data, unless it has begun.
    fn open(&mut self, at: u64, wire: &mut Wire) {
        if !wire.selected {
            wire.select(at);
            let header = wire.header(self.settings.instruction, true);
            wire.send_header(at, &header, self.settings.address);
        }
    }

    /// Lists its state. By hand: ends that lie ahead are edges of the controller's `clock`.
    pub fn polled(&mut self, poll: &mut Poll, clock: Hz) {
        let (kind, received) = match &mut self.state {
            State::Idle => (0, None),
            State::Word { ends, received } => {
                poll.end_edge(clock, ends);
                (1, *received)
            }
            State::Gap { until } => {
                poll.end_edge(clock, until);
                (2, None)
            }
            State::Frame { ends } => {
                poll.end_edge(clock, ends);
                (3, None)
            }
        };
        let word = |word: Option<u16>| word.map_or(u32::MAX, u32::from);
        let waiting = self.waiting.map(|(word, _)| word);
        let bits = u32::from(self.full) | u32::from(self.last) << 1 | u32::from(self.receiving) << 2;
        for state in [kind, bits, self.flags, word(received), word(waiting), u32::from(self.received)] {
            poll.state(state);
        }
    }
}
