//! The data path (RM0436, "Data path", DPSM): blocks on the data lines.

use super::*;
use std::collections::VecDeque;

/// Bytes that go between the wire and the FIFO at once: eight words.
pub(super) const CHUNK: usize = 32;
/// Bits of a block besides its data on each line: the start bit; CRC and end bit.
const START_BITS: u64 = 1;
const TAIL_BITS: u64 = 17;
/// Clocks before a block: NAC and NWR, at least.
const BLOCK_GAP: u64 = 2;
/// From the end bit of a written block to that of its CRC status: two clocks, and 5 bits.
const CRC_STATUS: u64 = 2 + 5;

/// The next step on the wire, with its edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub(super) enum Wire {
    /// The card begins a block at the first edge, or the second one is the timeout.
    Awaits(u64, u64),
    /// A block can begin from this edge on, once its first bytes are in the FIFO.
    Starts(u64),
    /// A chunk has been shifted by this edge.
    Shifts(u64),
    /// Since this edge, a chunk waits for room in the FIFO, or for data there.
    Stalls(u64),
    /// The end bit of a block.
    Ends(u64),
    /// The end of the CRC status of a block, which began at that time on the wire.
    Checks(u64, u64),
    /// The card is busy up to the first edge, or the second one is the timeout.
    Busy(u64, u64),
    /// All has been shifted. The FIFO may have data.
    #[default]
    Over,
}

/// A transfer of data.
#[derive(Clone, Debug, Default, State, Fresh, Polled)]
pub(super) struct Transfer {
    /// From the card.
    pub reads: bool,
    /// Bytes of a block.
    block_bytes: usize,
    /// Bytes that are still to be shifted (SDMMC_DCNTR).
    pub left: u32,
    /// Bytes that the IDMA or software still has to bring, of data for the card.
    pub to_bring: u32,
    pub wire: Wire,
    /// The block on the wire, and its bytes that have been shifted.
    #[poll(skip = "on the wire")]
    block: Vec<u8>,
    at: usize,
    #[poll(skip = "its length counts")]
    pub fifo: VecDeque<u8>,
    /// The end of the present burst of the IDMA, and its bytes for the FIFO.
    pub burst: Option<Ps>,
    #[poll(skip = "under way")]
    pub brought: Vec<u8>,
    /// Bytes moved within the IDMA's present buffer.
    pub moved: u32,
}

impl Transfer {
    /// The edge of the next step.
    pub(super) fn due(&self) -> Option<u64> {
        match self.wire {
            Wire::Awaits(edge, timeout) | Wire::Busy(edge, timeout) => Some(edge.min(timeout)),
            Wire::Shifts(edge) | Wire::Ends(edge) | Wire::Checks(edge, _) => Some(edge),
            Wire::Starts(edge) => Some(edge).filter(|_| self.fifo.len() >= self.block_bytes.min(CHUNK)),
            Wire::Stalls(_) | Wire::Over => None,
        }
    }

    /// The end of the IDMA's burst.
    pub(super) fn dma_due(&self) -> Option<Ps> {
        self.burst
    }

    /// Its clock has other edges from now on.
    pub(super) fn move_edges(&mut self, moved: impl Fn(u64) -> u64) {
        self.wire = match self.wire {
            Wire::Awaits(edge, timeout) => Wire::Awaits(moved(edge), moved(timeout)),
            Wire::Starts(edge) => Wire::Starts(moved(edge)),
            Wire::Shifts(edge) => Wire::Shifts(moved(edge)),
            Wire::Stalls(edge) => Wire::Stalls(moved(edge)),
            Wire::Ends(edge) => Wire::Ends(moved(edge)),
            Wire::Checks(edge, ended) => Wire::Checks(moved(edge), moved(ended)),
            Wire::Busy(edge, timeout) => Wire::Busy(moved(edge), moved(timeout)),
            Wire::Over => Wire::Over,
        };
    }

    /// True if the FIFO has room for the next chunk from the card, or has that for the card.
    fn fits(&self) -> bool {
        let bytes = self.chunk();
        if self.reads { self.fifo.len() + bytes <= 2 * CHUNK } else { self.fifo.len() >= bytes }
    }

    /// Bytes of the next chunk of the block.
    fn chunk(&self) -> usize {
        CHUNK.min(self.block_bytes - self.at)
    }
}

impl Sdmmc {
    /// The data path starts at `edge`.
    pub(super) fn begin_data(&mut self, edge: u64, ctx: &mut Ctx) {
        let (left, reads) = (self.registers[DLENR], self.registers.has(DCTRL, DCTRL_DTDIR));
        let block_bytes = 1_usize << self.registers.field(DCTRL, DCTRL_DBLOCKSIZE).min(14);
        if left == 0 || !left.is_multiple_of(block_bytes as u32) {
            ctx.note("SDMMC_DLENR is no multiple of SDMMC_DCTRL.DBLOCKSIZE: there is no transfer");
            return;
        }
        let wire = Wire::Starts(self.aligned(edge + BLOCK_GAP * self.period()));
        let to_bring = if reads { 0 } else { left };
        self.data = Some(Transfer { reads, block_bytes, left, to_bring, wire, ..Transfer::default() });
        if reads {
            self.await_block(edge);
        }
    }

    /// The card's next block begins when the card has it, and DTIMER ends the wait.
    fn await_block(&mut self, edge: u64) {
        let timeout = edge.saturating_add(u64::from(self.registers[DTIMER]) * self.period());
        let ready = self.card.first().and_then(|card| card.outgoing()).map(|(ready, _)| ready);
        let begins = ready.filter(|ready| *ready < Ps::MAX).map_or(u64::MAX, |ready| {
            self.aligned(self.clock.rate().cycles_until_ceil(ready).0.max(edge + BLOCK_GAP * self.period()))
        });
        if let Some(data) = &mut self.data {
            data.wire = Wire::Awaits(begins, timeout);
        }
    }

    /// CMD12 ends the transfer.
    pub(super) fn abort_data(&mut self) {
        if self.data.take().is_some() {
            self.raise(STAR_DABORT);
        }
    }

    /// The step of the data path that is due at `edge`.
    pub(super) fn step_data(&mut self, edge: u64, ctx: &mut Ctx) {
        let Some(wire) = self.data.as_ref().map(|data| data.wire) else { return };
        match wire {
            Wire::Awaits(begins, timeout) | Wire::Busy(begins, timeout) if timeout < begins => {
                self.data = None;
                self.raise(STAR_DTIMEOUT);
            }
            Wire::Awaits(..) | Wire::Starts(_) => self.begin_block(edge, ctx),
            Wire::Shifts(_) => self.pass_chunk(edge, ctx),
            Wire::Ends(_) => self.end_block(edge),
            Wire::Checks(_, ended) => self.check_block(edge, ended, ctx),
            Wire::Busy(..) => self.next_written(edge),
            Wire::Stalls(_) | Wire::Over => {}
        }
    }

    /// The start bit of a block is at `edge`.
    fn begin_block(&mut self, edge: u64, ctx: &mut Ctx) {
        let (lines, period) = (u64::from(self.lines()), self.period());
        let (begin, bytes) = (self.time(edge), self.data.as_ref().map_or(0, |data| data.block_bytes));
        let bits = START_BITS + 8 * bytes as u64 / lines + TAIL_BITS;
        ctx.span(&BLOCK, begin, self.time(edge + bits * period), Detail::Bytes(bytes as u32));
        let Some(data) = &mut self.data else { return };
        data.at = 0;
        data.block.clear();
        if data.reads
            && let Some((_, bytes)) = self.card.first().and_then(|card| card.outgoing())
        {
            data.block.extend_from_slice(bytes);
        }
        let bits = START_BITS + 8 * data.chunk() as u64 / lines;
        data.wire = Wire::Shifts(edge + bits * period);
    }

    /// A chunk goes between the wire and the FIFO, if that has room, or data. Else SDMMC_CK stops, or the transfer
    /// fails.
    fn pass_chunk(&mut self, edge: u64, ctx: &mut Ctx) {
        let (lines, period, flows) = (self.lines(), self.period(), self.registers.has(CLKCR, CLKCR_HWFC_EN));
        let Some(data) = &mut self.data else { return };
        let bytes = data.chunk();
        if !data.fits() {
            data.wire = Wire::Stalls(edge);
            if !flows {
                let why = if data.reads { STAR_RXOVERR } else { STAR_TXUNDERR };
                self.data = None;
                self.raise(why);
                ctx.note("the FIFO was full or empty within a block, and hardware flow control is off (HWFC_EN)");
            }
            return;
        }
        if data.reads {
            let (block, at) = (&data.block, data.at);
            data.fifo.extend((at..at + bytes).map(|at| block.get(at).copied().unwrap_or(0xff)));
        } else {
            data.block.extend(data.fifo.drain(..bytes));
        }
        data.at += bytes;
        data.left -= bytes as u32;
        let left = data.chunk() as u64;
        let bits = if left == 0 { TAIL_BITS } else { 8 * left / u64::from(lines) };
        let next = edge + bits * period;
        data.wire = if left == 0 { Wire::Ends(next) } else { Wire::Shifts(next) };
    }

    /// The FIFO may have changed: a chunk that waited for that goes on, and SDMMC_CK runs again.
    pub(super) fn resume(&mut self, ctx: &mut Ctx) {
        let (edge, period) = (self.clock.next_edge(ctx.now), self.period());
        if let Some(data) = &mut self.data
            && let Wire::Stalls(since) = data.wire
            && data.fits()
        {
            data.wire = Wire::Shifts(since + (edge.max(since) - since).next_multiple_of(period));
        }
    }

    /// The end bit of a block was at `edge`.
    fn end_block(&mut self, edge: u64) {
        self.blocks += 1;
        let (lines, end, checked) = (self.lines(), self.time(edge), edge + CRC_STATUS * self.period());
        let Some(data) = &mut self.data else { return };
        if !data.reads {
            data.wire = Wire::Checks(checked, edge);
            return;
        }
        let sent = data.block.len();
        let is_whole = sent == data.block_bytes && self.card.first().is_some_and(|card| card.lines() == lines);
        let is_last = data.left == 0;
        data.wire = Wire::Over;
        if let Some(card) = self.card.first_mut() {
            card.was_sent(end);
        }
        self.raise(if is_whole { STAR_DBCKEND } else { STAR_DCRCFAIL });
        if !is_whole {
            self.data = None;
        } else if !is_last {
            self.await_block(edge);
        }
    }

    /// The CRC status of a block that ended at `ended` is over.
    fn check_block(&mut self, edge: u64, ended: u64, ctx: &mut Ctx) {
        let (lines, end) = (self.lines(), self.time(ended));
        let block = self.data.as_mut().map_or_else(Vec::new, |data| std::mem::take(&mut data.block));
        let card = self.card.first_mut().filter(|card| card.lines() == lines);
        let status = card.and_then(|card| card.take_sd_block(&block, end));
        self.show_card(ctx);
        self.take_notes(ctx);
        if status != Some(true) {
            self.data = None;
            self.raise(STAR_DCRCFAIL);
            return;
        }
        let until = self.card.first().map_or(Ps::ZERO, |card| card.sd_busy_until());
        let timeout = edge.saturating_add(u64::from(self.registers[DTIMER]) * self.period());
        let free = if until == Ps::MAX { u64::MAX } else { self.aligned(self.clock.rate().cycles_until_ceil(until).0) };
        if let Some(data) = &mut self.data {
            data.wire = Wire::Busy(free.max(edge), timeout);
        }
    }

    /// The card can take another block.
    fn next_written(&mut self, edge: u64) {
        self.raise(STAR_DBCKEND);
        let next = self.aligned(edge + BLOCK_GAP * self.period());
        let Some(data) = &mut self.data else { return };
        data.wire = if data.left == 0 { Wire::Over } else { Wire::Starts(next) };
    }
}
