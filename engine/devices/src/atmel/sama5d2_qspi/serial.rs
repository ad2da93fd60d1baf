//! QSPI_TDR and QSPI_RDR: words in SPI mode, bytes of a frame in serial memory mode with SMRM, and frames without data.
//!
//! The state is brought up to an edge of the peripheral clock by [`Serial::advance`]. A transfer's clocks pass on the
//! wire when it begins.

use super::frames::{Wire, renumbered};
use super::registers::{MR_CSMODE, MR_LLB, SR_CSR, SR_INSTRE, SR_OVRES, SR_RDRF, SR_TDRE, SR_TXEMPTY, Settings};
use crate::prelude::*;
use engine::wire::spi::{Burst, Lines, Rate};

/// Values of QSPI_MR.CSMODE in SPI mode: chip select goes inactive if the next word is missing when a transfer ends, or
/// after the word that was in QSPI_TDR when QSPI_CR.LASTXFER was written; other values: after each transfer.
const CSMODE_NOT_RELOADED: u32 = 0;
const CSMODE_LASTXFER: u32 = 1;

/// The use of the words on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
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

/// The operation on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
enum Doing {
    #[default]
    Nothing,
    /// A word is on the wire.
    Word,
    /// The delay after a word.
    Gap,
    /// A frame without data is on the wire.
    Frame,
}

/// The data registers and what passes through them.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct Serial {
    /// The use of the words.
    #[poll(skip = "it follows from the registers")]
    pub flow: Flow,
    /// The registers' settings, as they are in effect.
    #[poll(skip = "they follow from the registers")]
    pub settings: Settings,
    /// QSPI_TDR.
    waiting: Option<u16>,
    /// When it was written.
    #[poll(skip = "it has passed: a word that waits begins after a read")]
    written_at: u64,
    /// QSPI_RDR.
    received: u16,
    full: bool,
    /// When QSPI_RDR was last read.
    #[poll(skip = "it has passed: a word that waits begins after the next read")]
    read_at: u64,
    doing: Doing,
    /// The edge at which that ends.
    #[poll(skip = "the device lists it, with the clock of its ends")]
    pub ends: u64,
    /// What the word on the wire puts into QSPI_RDR.
    arriving: Option<u16>,
    /// The end of the last delay: no word begins before.
    #[poll(skip = "it has passed")]
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
        self.doing == Doing::Nothing
    }

    /// RDRF, TDRE, TXEMPTY.
    pub fn status(&self) -> u32 {
        flag(SR_RDRF, self.full)
            | flag(SR_TDRE, self.waiting.is_none())
            | flag(SR_TXEMPTY, self.waiting.is_none() && self.doing != Doing::Word)
    }

    /// The edge of the next change of state without an access.
    pub fn next_change(&self) -> Option<u64> {
        (!self.is_idle()).then_some(self.ends)
    }

    /// Carries out everything up to `edge`.
    pub fn advance(&mut self, edge: u64, wire: &mut Wire) {
        loop {
            match self.doing {
                Doing::Nothing => {
                    if !self.begin_word(wire) {
                        return;
                    }
                }
                _ if self.ends > edge => return,
                Doing::Word => self.end_word(),
                Doing::Gap => self.end_gap(wire),
                Doing::Frame => {
                    self.doing = Doing::Nothing;
                    self.end_frame(self.ends, wire);
                }
            }
        }
    }

    /// The edge `from` of the peripheral clock, up to which everything has been carried out, is renumbered to `to`.
    pub fn renumber(&mut self, renumbering: (u64, u64)) {
        for edge in [&mut self.ends, &mut self.written_at, &mut self.read_at, &mut self.ready] {
            *edge = renumbered(*edge, renumbering);
        }
    }

    /// QSPI_TDR is written. False if it was full: the previous word is lost.
    pub fn write(&mut self, word: u16, edge: u64) -> bool {
        self.written_at = edge;
        self.waiting.replace(word).is_none()
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
        self.open(edge, wire);
        (self.doing, self.ends) = (Doing::Frame, wire.line.free);
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
        if wire.line.selected {
            wire.deselect(edge);
            self.frame_ended();
        }
    }

    /// Sets the flags of QSPI_SR at the end of a frame.
    pub fn frame_ended(&mut self) {
        self.flags |= SR_CSR | flag(SR_INSTRE, self.settings.serial_memory());
    }

    fn end_word(&mut self) {
        if let Some(word) = self.arriving.take() {
            self.flags |= flag(SR_OVRES, self.full);
            self.received = word;
            self.full = true;
        }
        self.doing = Doing::Gap;
        self.ends += self.settings.after_word_cycles();
    }

    fn end_gap(&mut self, wire: &mut Wire) {
        self.doing = Doing::Nothing;
        self.ready = self.ends;
        let reloaded = self.waiting.is_some() && self.written_at <= self.ends;
        // The condition for chip select to go inactive. In serial memory mode it is LASTXFER for all values of CSMODE.
        let ends = match field(self.settings.mode, MR_CSMODE) {
            mode if mode == CSMODE_LASTXFER || self.settings.serial_memory() => {
                self.last && (self.flow == Flow::Receive || !reloaded)
            }
            CSMODE_NOT_RELOADED => !reloaded,
            _ => true,
        };
        if ends {
            self.end_frame(self.ends, wire);
        }
    }

    /// Begins a word: true if one was begun.
    fn begin_word(&mut self, wire: &mut Wire) -> bool {
        let waits_for_read = self.settings.waits_for_read();
        match (self.flow, self.waiting) {
            (Flow::Spi, Some(word)) if !(self.full && waits_for_read) => {
                let at = if waits_for_read { self.written_at.max(self.read_at) } else { self.written_at };
                self.exchange(word, at.max(self.ready), wire);
            }
            (Flow::Send, Some(word)) => {
                self.open(self.written_at, wire);
                wire.shift(self.written_at, Burst::byte_out(self.data_lines(), word as u8));
            }
            // The byte after the last one is not fetched: LASTXFER is written before the last byte is read.
            (Flow::Receive, _) if self.receiving && !self.full && !self.last => {
                self.open(self.read_at, wire);
                let byte = wire.shift(self.read_at, Burst::byte_in(self.data_lines()));
                self.arriving = Some(byte as u16);
                (self.doing, self.ends) = (Doing::Word, wire.line.free);
                return true;
            }
            _ => return false,
        }
        self.waiting = None;
        (self.doing, self.ends) = (Doing::Word, wire.line.free);
        true
    }

    fn data_lines(&self) -> Lines {
        self.settings.lines().2
    }

    fn exchange(&mut self, word: u16, at: u64, wire: &mut Wire) {
        if !wire.line.selected {
            wire.select(at);
        }
        let bits = self.settings.word_bits();
        let mask = u16::MAX >> (16 - bits);
        let sampled = wire.shift(at, Burst::output(Lines::Single, Rate::Single, bits, u32::from(word & mask))) as u16;
        let is_looped_back = self.settings.mode & MR_LLB != 0;
        self.arriving = Some(mask & if is_looped_back { word } else { sampled });
    }

    /// Sends the frame up to its data, unless it has begun.
    fn open(&mut self, at: u64, wire: &mut Wire) {
        if !wire.line.selected {
            let header = wire.header(self.settings, true);
            wire.begin(at, &header, self.settings.address);
        }
    }
}
