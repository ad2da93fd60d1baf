//! The FIFO, and the IDMA, which moves bursts between it and memory (RM0436, "FIFO", "SDMMC direct access").

use super::data::{CHUNK, Transfer, Wire};
use super::*;
use crate::support::bus_master::{read_data, read_words, write_data};

/// Bytes of the FIFO.
const FIFO_BYTES: usize = 64;
/// Bytes of a datum of the IDMA.
const WORD: u32 = 4;

impl Transfer {
    /// Flags of the FIFO for software; none while the IDMA is in its place.
    pub(super) fn fifo_flags(&self, has_dma: bool) -> u32 {
        let len = self.fifo.len();
        match (has_dma, self.reads) {
            (true, _) => 0,
            (false, true) => {
                flag(STAR_RXFIFOHF, len >= CHUNK) | flag(STAR_RXFIFOF, len >= FIFO_BYTES) | flag(STAR_RXFIFOE, len == 0)
            }
            (false, false) => {
                flag(STAR_TXFIFOHE, len <= CHUNK && self.to_bring > 0)
                    | flag(STAR_TXFIFOF, len >= FIFO_BYTES)
                    | flag(STAR_TXFIFOE, len == 0)
            }
        }
    }
}

impl Sdmmc {
    /// True if the IDMA moves the data.
    pub(super) fn has_dma(&self) -> bool {
        self.registers.has(IDMACTRLR, IDMACTRLR_IDMAEN)
    }

    /// Software reads a word of the FIFO.
    pub(super) fn pop_word(&mut self) -> u32 {
        let Some(data) = self.data.as_mut().filter(|data| data.reads) else { return 0 };
        let bytes = data.fifo.len().min(4);
        data.fifo.drain(..bytes).rev().fold(0, |word, byte| word << 8 | u32::from(byte))
    }

    /// Software writes a word of the FIFO.
    pub(super) fn push_word(&mut self, word: u32, ctx: &mut Ctx) {
        let Some(data) = self.data.as_mut().filter(|data| !data.reads && data.to_bring > 0) else {
            ctx.note("a word was written to the FIFO while no data go to the card: it is lost");
            return;
        };
        let bytes = data.to_bring.min(4);
        data.to_bring -= bytes;
        data.fifo.extend(&word.to_le_bytes()[..bytes as usize]);
    }

    /// Ends a burst of the IDMA, begins the next ones, lets the wire go on, and ends the transfer when all is done.
    pub(super) fn serve_fifo(&mut self, ctx: &mut Ctx) {
        while let Some(data) = &mut self.data {
            if data.burst.is_some_and(|due| due > ctx.now) {
                break;
            }
            data.burst = None;
            let brought = std::mem::take(&mut data.brought);
            data.fifo.extend(brought);
            if !self.has_dma() || !self.begin_burst(ctx) {
                break;
            }
        }
        self.resume(ctx);
        let is_over = |data: &Transfer| data.wire == Wire::Over && data.left == 0 && data.burst.is_none();
        if self.data.as_ref().is_some_and(|data| is_over(data) && data.fifo.is_empty()) {
            self.data = None;
            self.raise(STAR_DATAEND);
        }
    }

    /// Begins a burst, if the FIFO has data or room for one.
    fn begin_burst(&mut self, ctx: &mut Ctx) -> bool {
        let Some(data) = &self.data else { return false };
        let (all, room) = (data.fifo.len(), FIFO_BYTES - data.fifo.len().min(FIFO_BYTES));
        let bytes = if data.reads {
            if all >= CHUNK || data.left == 0 { all.min(CHUNK) } else { 0 }
        } else {
            if room >= CHUNK { CHUNK.min(data.to_bring as usize) } else { 0 }
        };
        if bytes == 0 {
            return false;
        }
        let (bytes, moved, reads) = (bytes as u32, data.moved, data.reads);
        let is_list = self.registers.has(IDMACTRLR, IDMACTRLR_IDMABMODE);
        let goes_on = is_list && self.registers.has(IDMALAR, IDMALAR_ULA);
        let buffer = if goes_on { self.registers[IDMABSIZER].saturating_sub(moved) } else { u32::MAX };
        let result = if buffer == 0 {
            self.next_buffer(ctx)
        } else {
            self.move_bytes(bytes.min(buffer), reads, self.registers[IDMABASER].wrapping_add(moved), ctx)
        };
        let is_done = result.is_some();
        if let (Some(done), Some(data)) = (result, &mut self.data) {
            data.burst = Some(done);
        } else {
            self.data = None;
            self.raise(STAR_IDMATE);
        }
        is_done
    }

    /// A burst between memory and the FIFO: the time of its end, or none for a bus error.
    fn move_bytes(&mut self, bytes: u32, reads: bool, address: u32, ctx: &mut Ctx) -> Option<Ps> {
        self.bursts += 1;
        let data = self.data.as_mut()?;
        data.moved += bytes;
        if reads {
            let all: Vec<u8> = data.fifo.drain(..bytes as usize).collect();
            write_data(address, WORD, &all, ctx).ok()
        } else {
            data.to_bring -= bytes;
            let mut all = vec![0; bytes as usize];
            let done = read_data(address, WORD, &mut all, ctx).ok()?;
            data.brought = all;
            Some(done)
        }
    }

    /// Loads the next buffer of the linked list.
    fn next_buffer(&mut self, ctx: &mut Ctx) -> Option<Ps> {
        self.raise(STAR_IDMABTC);
        let at = self.registers[IDMABAR].wrapping_add(self.registers[IDMALAR] & IDMALAR_IDMALA);
        let mut node = [0; 3];
        let done = read_words(at, &mut node, ctx).ok()?;
        let has_size = self.registers.has(IDMALAR, IDMALAR_ULS);
        self.registers.set(IDMALAR, node[0]);
        self.registers.set(IDMABASER, node[1]);
        if has_size {
            self.registers.set(IDMABSIZER, node[2]);
        }
        self.data.as_mut()?.moved = 0;
        Some(done)
    }
}
