//! The memory window (AHB, and its alias through the AES bridge): data of instruction frames.
//!
//! With TRSFR_READ_MEMORY, reads at consecutive addresses continue one frame, clock by clock as they come; any other
//! address ends the frame and begins a new one. Nothing is read ahead. With the other types one frame continues until
//! QSPI_CR.LASTXFER, and only the address of its first access counts (SAMA5D2 Series datasheet, "Instruction Frame
//! Transmission", "Read Memory Transfer").

use super::Sama5d2Qspi;
use super::registers::{IMR, Transfer};
use super::serial::Flow;
use crate::prelude::*;
use engine::bus::repeated_reads::{ReadRecord, RepeatedReads};
use engine::wire::spi::{Burst, Header, Rate};

/// Bytes of one beat of the 64-bit matrix in front of the controller, which has 32 bits: two transfers.
pub const BEAT_BYTES: u32 = 8;

const WORD_BYTES: u32 = 4;

/// The use of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub enum Access {
    /// Closed: the reason, for the user.
    Closed(&'static str),
    /// Reads at any address.
    #[default]
    Memory,
    /// Reads of one frame.
    Read,
    /// Writes of one frame.
    Write,
}

impl Access {
    /// The reason why an access has no effect: the window is closed, or `other`.
    fn why_not(self, other: &'static str) -> &'static str {
        if let Access::Closed(why) = self { why } else { other }
    }
}

/// The state of the window's frame.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct Window {
    /// The effect of accesses.
    #[poll(skip = "it follows from the registers")]
    pub access: Access,
    /// If a frame is open, the address of its next byte.
    pub next: Option<u32>,
    /// True if the instruction has been sent since QSPI_IFR was written: not sent again in continuous read mode.
    pub sent: bool,
    /// True if QSPI_IFR has been written and has not been read back since.
    pub unsynchronised: bool,
    /// Reads and writes that continued a frame.
    #[poll(total)]
    pub continued: u64,
    /// The headers of frames without the instruction and with it, once a frame has begun.
    #[poll(skip = "they follow from the registers")]
    pub headers: [Option<Header>; 2],
    /// True if compiled code makes identical reads by itself.
    #[poll(skip = "compiled code reads as the device does")]
    pub is_shared: bool,
    /// The record of those reads.
    #[poll(skip = "it is accounted for before the list")]
    pub record: ReadRecord,
    /// Frames of a word among them, which compiled code does not count.
    #[poll(skip = "it is accounted for before the list")]
    pub words: u64,
}

impl Sama5d2Qspi {
    /// A read of the window.
    #[inline]
    pub(super) fn window_read(&mut self, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let at = self.arrive(ctx);
        if !matches!(self.window.access, Access::Memory | Access::Read) {
            return Err(self.refuse_read(ctx));
        }
        self.seek(offset, at, ctx);
        let bytes = size.bytes();
        let bits = self.wire.read(at, self.data_lines, 8 * bytes);
        // The first byte on the wire is the one at the lowest address.
        let mut value = bits.swap_bytes() >> (32 - 8 * bytes);
        if self.scrambler.is_on() && self.window.access == Access::Memory {
            let mut data = value.to_le_bytes();
            self.scrambler.apply(offset, &mut data[..bytes as usize]);
            value = u32::from_le_bytes(data);
        }
        self.moved(offset, bytes, ctx);
        Ok(Reply::read(value, self.answer()))
    }

    /// A burst: a line fill.
    pub(super) fn window_burst(&mut self, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        let at = self.arrive(ctx);
        match self.window.access {
            Access::Memory => {}
            Access::Read => ctx.note(
                "a burst (a cacheable read) in a TRSFR_READ frame: its clocks pass, and the data is that of the \
                 memory",
            ),
            _ => return Err(self.refuse_read(ctx)),
        }
        let single = !self.params.reads_go_on && bytes <= BEAT_BYTES;
        for word in (0..bytes).step_by(4) {
            if word == 0 || single {
                self.seek(offset.wrapping_add(word), at, ctx);
            }
            self.wire.read(at, self.data_lines, 8 * (bytes - word).min(4));
            if single {
                self.moved(offset.wrapping_add(word), 4, ctx);
            }
        }
        self.moved(offset, bytes, ctx);
        Ok(self.answer())
    }

    /// A write to the window.
    pub(super) fn window_write(&mut self, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let at = self.arrive(ctx);
        if self.window.access != Access::Write {
            let why = self.window.access.why_not("QSPI_IFR.TFRTYP is a read");
            ctx.note(&format!("a write to the memory window has no effect: {why}"));
            return Ok(Reply::written(ctx.now));
        }
        self.seek(offset, at, ctx);
        let bytes = size.bytes();
        let mut data = value.to_le_bytes();
        if self.settings().transfer() == Transfer::WriteMemory {
            self.scrambler.apply(offset, &mut data[..bytes as usize]);
        }
        let bits = u32::from_be_bytes(data) >> (32 - 8 * bytes);
        self.wire.shift(at, Burst::output(self.data_lines, Rate::Single, 8 * bytes, bits));
        self.moved(offset, bytes, ctx);
        Ok(Reply::written(self.answer()))
    }

    /// The edge from which on an access can have serial clocks.
    #[inline]
    fn arrive(&mut self, ctx: &mut Ctx) -> u64 {
        let edge = self.edge(ctx.now) + self.params.request_cycles.0;
        if self.serial.is_idle() && self.serial.flow == Flow::None {
            return edge;
        }
        self.end_transfers(edge)
    }

    /// Waits for the end of a transfer through QSPI_TDR, or of a frame without data.
    #[cold]
    pub(super) fn end_transfers(&mut self, edge: u64) -> u64 {
        let mut edge = edge;
        self.serial.advance(edge, &mut self.wire);
        while let Some(change) = self.serial.next_change() {
            edge = edge.max(change);
            self.serial.advance(edge, &mut self.wire);
        }
        edge
    }

    /// Prepares the frame so that its next byte is the one at `offset`.
    #[inline]
    fn seek(&mut self, offset: u32, at: u64, ctx: &mut Ctx) {
        match self.window.next {
            Some(next) if next == offset && self.goes_on() => self.window.continued += 1,
            Some(_) if self.window.access != Access::Memory => self.go_on_elsewhere(ctx),
            _ => self.begin(offset, at, ctx),
        }
    }

    /// True if a frame stays open for the next access.
    #[inline]
    fn goes_on(&self) -> bool {
        self.params.reads_go_on || self.window.access != Access::Memory
    }

    #[cold]
    fn go_on_elsewhere(&mut self, ctx: &mut Ctx) {
        self.window.continued += 1;
        ctx.note(
            "an access to the memory window does not follow the last address: a frame that is not a memory read \
             continues nevertheless, up to QSPI_CR.LASTXFER",
        );
    }

    /// Begins a new frame at `offset`.
    fn begin(&mut self, offset: u32, at: u64, ctx: &mut Ctx) {
        if std::mem::take(&mut self.window.unsynchronised) {
            ctx.note(
                "the memory window was accessed without a read of QSPI_IFR after its write: on the chip the access \
                 may come before the new settings; here they are in effect",
            );
        }
        self.serial.end_frame(at, &mut self.wire);
        let with_opcode = self.sends_opcode();
        let settings = *self.settings();
        self.window.sent = true;
        let header = *self.window.headers[usize::from(with_opcode)]
            .get_or_insert_with(|| self.wire.header(settings, with_opcode));
        let reads_memory = self.window.access == Access::Memory;
        self.wire.line.signals.set_in_place(reads_memory);
        if !(reads_memory && self.wire.start_repeated_read(at, &header, offset)) {
            self.wire.begin(at, &header, offset);
        }
        self.look.framed(ctx);
    }

    /// A read of `bytes` whose request arrives at `edge`, if it ends within the memory and its frame is like the
    /// previous ones: returns its first word, and the edge of the answer.
    pub(super) fn read_window_alone(&mut self, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        if self.window.record.holds != 0
            && let Some(read) = self.read_repeatedly(offset, bytes, edge)
        {
            return Some(read);
        }
        self.learn_of_reads();
        let is_plain = self.window.access == Access::Memory
            && self.serial.is_idle()
            && self.serial.flow == Flow::None
            && self.registers[IMR] == 0
            && !self.scrambler.is_on();
        if !is_plain || self.window.unsynchronised || !self.look.is_settled() || !self.wire.line.ends_quietly() {
            return None;
        }
        let at = edge + self.params.request_cycles.0;
        let single = !self.params.reads_go_on && bytes <= BEAT_BYTES;
        let mut first = 0;
        for word in (0..bytes).step_by(4) {
            if (word == 0 || single) && !self.seek_alone(offset.wrapping_add(word), at) {
                return None;
            }
            let bits = 8 * (bytes - word).min(4);
            let data = self.wire.read(at, self.data_lines, bits);
            if word == 0 {
                first = data.swap_bytes() >> (32 - bits);
            }
            if single {
                self.window.next = Some(offset.wrapping_add(word + 4));
            }
        }
        self.window.next = Some(offset.wrapping_add(bytes));
        self.wire.line.notes_due = false;
        if self.window.is_shared && single {
            self.share();
        }
        Some((first, self.wire.line.free + self.params.response_cycles.0))
    }

    /// The same for repeated reads: a word or a beat, which are one frame or two.
    #[inline]
    fn read_repeatedly(&mut self, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        let mut word = [0; 4];
        if bytes != WORD_BYTES && bytes != BEAT_BYTES || !self.wire.line.chip.peek_word(offset, &mut word) {
            return None;
        }
        let record = &mut self.window.record;
        let free = record.free_edge.max(edge + self.params.request_cycles.0);
        if bytes == BEAT_BYTES {
            (record.reads, record.last, record.free_edge) =
                (record.reads + 1, u64::from(offset), free + record.busy_cycles);
        } else {
            // As the second word of a beat.
            let last = u64::from(offset.wrapping_sub(WORD_BYTES));
            (record.last, record.free_edge) = (last, free + record.busy_cycles / 2);
            self.window.words += 1;
        }
        Some((u32::from_le_bytes(word), record.free_edge + self.params.response_cycles.0))
    }

    /// Reads of one beat each, which repeat: two frames a read.
    pub(super) fn pairs(&mut self) -> Option<RepeatedReads> {
        if self.params.reads_go_on {
            return None;
        }
        self.window.is_shared = true;
        Some(RepeatedReads {
            words_ahead: 0,
            bytes: BEAT_BYTES,
            before_cycles: self.params.request_cycles.0,
            after_cycles: self.params.response_cycles.0 as i64,
            record: (&raw mut self.window.record).expose_provenance(),
        })
    }

    /// Lets compiled code make such reads until the next call: the conditions of [`Sama5d2Qspi::read_window_alone`]
    /// hold, and only a call changes them.
    fn share(&mut self) {
        let Some(header) = self.next_header() else { return };
        if let Some(busy_cycles) = self.wire.pair_cycles(header, self.data_lines) {
            self.window.words = 0;
            let free_edge = self.wire.line.free;
            self.window.record = ReadRecord { holds: 1, free_edge, busy_cycles, ..ReadRecord::default() };
        }
    }

    /// Accounts for the reads that compiled code has made: at the start of each call.
    #[inline]
    pub(super) fn learn_of_reads(&mut self) {
        if self.window.record.holds != 0 {
            self.learn_of_pairs();
        }
    }

    fn learn_of_pairs(&mut self) {
        let ReadRecord { free_edge, reads, last, .. } = std::mem::take(&mut self.window.record);
        let frames = 2 * reads + std::mem::take(&mut self.window.words);
        if frames > 0
            && let Some(header) = self.next_header().copied()
        {
            let next = (last as u32).wrapping_add(BEAT_BYTES);
            self.serial.frame_ended();
            self.wire.have_passed(frames, next, free_edge, &header, self.data_lines);
            self.window.next = Some(next);
        }
    }

    /// The header of the next frame, if a frame with it has begun.
    fn next_header(&self) -> Option<&Header> {
        self.window.headers[usize::from(self.sends_opcode())].as_ref()
    }

    /// True unless the window's next frame has no instruction: it continues continuous read mode.
    pub(super) fn sends_opcode(&self) -> bool {
        !(self.settings().continuous() && self.window.sent)
    }

    /// [`Sama5d2Qspi::seek`] by a repeated read. Returns false if the memory does not support such a frame; the end of
    /// the previous frame may have been carried out then.
    #[inline]
    fn seek_alone(&mut self, offset: u32, at: u64) -> bool {
        if self.window.next == Some(offset) && self.params.reads_go_on {
            self.window.continued += 1;
            return true;
        }
        let Some(header) = self.next_header().copied() else { return false };
        self.serial.end_frame(at, &mut self.wire);
        self.window.sent = true;
        self.wire.start_repeated_read(at, &header, offset)
    }

    #[inline]
    fn moved(&mut self, offset: u32, bytes: u32, ctx: &mut Ctx) {
        self.window.next = Some(offset.wrapping_add(bytes));
        self.follow_chip(ctx);
        if self.wire.line.notes_due {
            self.after_frame(ctx);
        }
    }

    /// A frame has ended, and another one has begun.
    fn after_frame(&mut self, ctx: &mut Ctx) {
        self.wire.line.take_notes(ctx);
        if self.registers[IMR] != 0 {
            self.update_lines(ctx);
        }
    }

    /// The time of the answer after the data's last clock.
    #[inline]
    fn answer(&self) -> Ps {
        self.params.clock.rate.ps_at_floor(Cycles(self.wire.line.free + self.params.response_cycles.0))
    }

    #[cold]
    fn refuse_read(&self, ctx: &mut Ctx) -> SlaveError {
        let why = self.window.access.why_not("QSPI_IFR.TFRTYP is a write");
        ctx.note(&format!("a read of the memory window is answered with an error: {why}"));
        SlaveError { done: ctx.now }
    }

    /// The use of the words in the data registers, and the effect of accesses to the window, with the present settings.
    pub(super) fn uses(&self) -> (Flow, Access) {
        let settings = self.settings();
        if !self.enabled {
            return (Flow::None, Access::Closed("the controller is disabled (QSPI_CR.QSPIEN has not been written)"));
        }
        if !settings.serial_memory() {
            return (Flow::Spi, Access::Closed("the controller is in SPI mode (QSPI_MR.SMM is 0)"));
        }
        if !settings.has_data() {
            return (Flow::None, Access::Closed("the instruction frame has no data (QSPI_IFR.DATAEN is 0)"));
        }
        let by_registers = Access::Closed("the frame's data passes through QSPI_RDR and QSPI_TDR (QSPI_MR.SMRM is 1)");
        match (settings.transfer(), settings.register_mode()) {
            (Transfer::ReadMemory, _) => (Flow::None, Access::Memory),
            (Transfer::Read, false) => (Flow::None, Access::Read),
            (Transfer::Write, false) | (Transfer::WriteMemory, _) => (Flow::None, Access::Write),
            (Transfer::Read, true) => (Flow::Receive, by_registers),
            (Transfer::Write, true) => (Flow::Send, by_registers),
        }
    }
}
