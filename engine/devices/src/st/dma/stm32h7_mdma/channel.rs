//! A channel's registers, and the state of its transfer.

use super::*;
use crate::prelude::*;

/// The unit that one request moves (MDMA_CxTCR.TRGM): more than a buffer, more than a block, a whole list.
pub const BLOCK: u32 = 1;
pub const BLOCKS: u32 = 2;
pub const LIST: u32 = 3;

/// One side of a transfer: its addressing and its accesses.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Bytes of a datum.
    pub size: u32,
    /// Bytes of a burst.
    pub burst: u32,
    /// Address increment for each datum.
    pub step: i32,
}

/// A channel.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Channel {
    /// MDMA_CxISR is without CRQA; BNDT and BRC of MDMA_CxBNDTR count down.
    pub registers: Registers,
    pub stage: Stage,
    /// Bytes of the block at its start.
    block_bytes: u32,
    /// Bytes that are still to be read for the buffer.
    pub to_read: u32,
    /// Bytes that have been read and not written yet.
    pub data: Vec<u8>,
    /// Incremented at each start and stop; events of earlier generations are ignored.
    pub generation: u32,
}

impl Channel {
    /// A channel after reset.
    pub fn new() -> Channel {
        Channel { registers: Registers::new(&MAP), ..Channel::default() }
    }

    /// MDMA_CxCR.EN.
    pub fn is_enabled(&self) -> bool {
        self.registers.has(CCR, CCR_EN)
    }

    /// True if an enabled flag is set.
    pub fn interrupts(&self) -> bool {
        self.registers[CISR] & self.registers.field(CCR, CCR_INTERRUPTS) != 0
    }

    /// Sets flags.
    pub fn raise(&mut self, flags: u32) {
        self.registers.put(CISR, flags, true);
    }

    /// A field of MDMA_CxTCR.
    fn field(&self, mask: u32) -> u32 {
        self.registers.field(CTCR, mask)
    }

    fn side(&self, mode: u32, size: u32, offset: u32, burst: u32) -> Side {
        let (size, offset) = (1 << self.field(size), 1 << self.field(offset));
        let step = [0, 0, offset, -offset][self.field(mode) as usize];
        Side { size, burst: size << self.field(burst), step }
    }

    /// The source side.
    pub fn reads(&self) -> Side {
        self.side(CTCR_SINC, CTCR_SSIZE, CTCR_SINCOS, CTCR_SBURST)
    }

    /// The destination side.
    pub fn writes(&self) -> Side {
        self.side(CTCR_DINC, CTCR_DSIZE, CTCR_DINCOS, CTCR_DBURST)
    }

    /// Bytes of a buffer.
    fn buffer_bytes(&self) -> u32 {
        self.field(CTCR_TLEN) + 1
    }

    /// The unit that a request moves.
    pub fn trigger(&self) -> u32 {
        self.field(CTCR_TRGM)
    }

    /// Remaining bytes of the block.
    pub fn left(&self) -> u32 {
        self.registers.field(CBNDTR, CBNDTR_BNDT)
    }

    /// MDMA_CxESR for invalid settings: addresses that are not aligned, offsets smaller than a datum, counts that are
    /// not a multiple of a datum.
    pub fn faults(&self) -> u32 {
        let (reads, writes) = (self.reads(), self.writes());
        let is_off = |side: Side, address: u32| {
            !address.is_multiple_of(side.size) || side.step != 0 && side.step.unsigned_abs() < side.size
        };
        let part = |bytes: u32| !bytes.is_multiple_of(reads.size) || !bytes.is_multiple_of(writes.size);
        flag(CESR_ASE, is_off(reads, self.registers[CSAR]) || is_off(writes, self.registers[CDAR]))
            | flag(CESR_BSE, self.left() == 0 || part(self.left()) || part(self.buffer_bytes()))
    }

    /// Starts the block in the registers.
    pub fn begin_block(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.block_bytes = self.left();
    }

    /// Starts a request: its first buffer is to be filled.
    pub fn begin_request(&mut self) {
        self.to_read = self.buffer_bytes().min(self.left());
    }

    /// Stops the channel.
    pub fn stop(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.stage = Stage::Idle;
        self.registers.put(CCR, CCR_EN, false);
        self.data.clear();
    }

    /// Ends the transfer with an error.
    pub fn fail(&mut self, error: u32) {
        self.registers.set(CESR, error);
        self.raise(CISR_TEIF);
        self.stop();
    }

    /// Counts `bytes` written bytes.
    pub fn count(&mut self, bytes: u32) {
        self.registers.set(CBNDTR, self.registers[CBNDTR] - bytes);
    }

    /// Ends the block. True if it is repeated; then the next one has started.
    pub fn repeats(&mut self) -> bool {
        let (block, left) = (self.registers[CBNDTR], self.registers.field(CBNDTR, CBNDTR_BRC));
        if left == 0 {
            return false;
        }
        for (address, by, down) in [(CSAR, CBRUR_SUV, CBNDTR_BRSUM), (CDAR, CBRUR_DUV, CBNDTR_BRDUM)] {
            let (from, by) = (self.registers[address], self.registers.field(CBRUR, by));
            let updated = if block & down != 0 { from.wrapping_sub(by) } else { from.wrapping_add(by) };
            self.registers.set(address, updated);
        }
        let repeats = (left - 1) << CBNDTR_BRC.trailing_zeros();
        self.registers.set(CBNDTR, repeats | block & (CBNDTR_BRSUM | CBNDTR_BRDUM) | self.block_bytes);
        true
    }

    /// Loads a node, given as its words in memory.
    pub fn load(&mut self, words: &[u32; 10]) {
        for (register, word) in (CTCR..).step_by(4).zip(words) {
            self.registers.set(register, *word);
        }
        self.begin_block();
    }
}
