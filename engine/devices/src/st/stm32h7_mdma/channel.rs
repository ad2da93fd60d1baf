//! A channel's registers, and the state of its transfer.

use super::{CBNDTR, CBRUR, CCR, CDAR, CESR, CISR, CLAR, CMAR, CMDR, CSAR, CTBR, CTCR};
use crate::support::registers::flag;
use engine::state::{Fresh, State};

/// Bits of MDMA_CxISR and MDMA_CxIFCR.
pub mod cisr {
    pub const TEIF: u32 = 1 << 0;
    pub const CTCIF: u32 = 1 << 1;
    pub const BRTIF: u32 = 1 << 2;
    pub const BTIF: u32 = 1 << 3;
    pub const TCIF: u32 = 1 << 4;
    pub const ALL: u32 = 0x1f;
    pub const CRQA: u32 = 1 << 16;
}

/// Bits of MDMA_CxESR.
pub mod cesr {
    pub const TEA: u32 = 0x7f;
    pub const TED: u32 = 1 << 7;
    pub const TELD: u32 = 1 << 8;
    pub const ASE: u32 = 1 << 10;
    pub const BSE: u32 = 1 << 11;
}

/// Bits of MDMA_CxCR.
pub mod ccr {
    pub const EN: u32 = 1 << 0;
    /// TEIE, CTCIE, BRTIE, BTIE, TCIE: the enables of the flags, one bit above them.
    pub const INTERRUPTS: u32 = 1;
    /// BEX, HEX, WEX.
    pub const EXCHANGES: u32 = 7 << 12;
    pub const SWRQ: u32 = 1 << 16;
}

/// Fields of MDMA_CxTCR.
pub mod ctcr {
    pub const SSIZE: u32 = 4;
    pub const DSIZE: u32 = 6;
    pub const SINCOS: u32 = 8;
    pub const DINCOS: u32 = 10;
    pub const SBURST: u32 = 12;
    pub const DBURST: u32 = 15;
    pub const TLEN: u32 = 18;
    pub const PAM: u32 = 3 << 26;
    pub const TRGM: u32 = 28;
    pub const SWRM: u32 = 1 << 30;
}

const BNDT: u32 = 0x1_ffff;
const BRSUM: u32 = 1 << 18;
const BRDUM: u32 = 1 << 19;
const BRC: u32 = 20;

/// The channel's next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub enum Stage {
    /// Wait for a request.
    #[default]
    Idle,
    /// Read the next node.
    Fetch,
    /// Fill the buffer.
    Read,
    /// Empty the buffer.
    Write,
}

/// The unit that one request moves (MDMA_CxTCR.TRGM).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    Buffer,
    Block,
    Blocks,
    List,
}

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

impl Side {
    /// True if the data are contiguous in memory.
    pub const fn is_contiguous(&self) -> bool {
        self.step == self.size as i32
    }
}

/// A channel.
#[derive(Clone, Debug, Default, State)]
pub struct Channel {
    /// MDMA_CxISR, without CRQA.
    pub status: u32,
    /// MDMA_CxESR.
    pub error: u32,
    /// MDMA_CxCR.
    pub control: u32,
    /// MDMA_CxTCR.
    pub transfer: u32,
    /// MDMA_CxBNDTR; BNDT and BRC go down.
    pub block: u32,
    pub source: u32,
    pub destination: u32,
    update: u32,
    /// MDMA_CxLAR: the next node.
    pub link: u32,
    bus: u32,
    mask_address: u32,
    mask_data: u32,
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
    /// The value of a register.
    pub fn get(&self, offset: u32) -> u32 {
        match offset {
            CISR => self.status | flag(cisr::CRQA, self.stage != Stage::Idle),
            CESR => self.error,
            CCR => self.control,
            CTCR => self.transfer,
            CBNDTR => self.block,
            CSAR => self.source,
            CDAR => self.destination,
            CBRUR => self.update,
            CLAR => self.link,
            CTBR => self.bus,
            CMAR => self.mask_address,
            CMDR => self.mask_data,
            _ => 0,
        }
    }

    /// Writes a register that EN locks; `value` is masked with the register's bits.
    pub fn set(&mut self, offset: u32, value: u32) {
        match offset {
            CTCR => self.transfer = value,
            CBNDTR => self.block = value,
            CSAR => self.source = value,
            CDAR => self.destination = value,
            CBRUR => self.update = value,
            CLAR => self.link = value,
            CTBR => self.bus = value,
            CMAR => self.mask_address = value,
            CMDR => self.mask_data = value,
            _ => {}
        }
    }

    /// MDMA_CxCR.EN.
    pub const fn is_enabled(&self) -> bool {
        self.control & ccr::EN != 0
    }

    /// True if an enabled flag is set.
    pub const fn interrupts(&self) -> bool {
        self.status & (self.control >> ccr::INTERRUPTS) & cisr::ALL != 0
    }

    const fn field(&self, shift: u32, mask: u32) -> u32 {
        self.transfer >> shift & mask
    }

    const fn side(&self, mode: u32, size: u32, offset: u32, burst: u32) -> Side {
        let size = 1 << self.field(size, 3);
        let offset = 1 << self.field(offset, 3);
        let step = match self.field(mode, 3) {
            2 => offset,
            3 => -offset,
            _ => 0,
        };
        Side { size, burst: size << self.field(burst, 7), step }
    }

    /// The source side.
    pub const fn reads(&self) -> Side {
        self.side(0, ctcr::SSIZE, ctcr::SINCOS, ctcr::SBURST)
    }

    /// The destination side.
    pub const fn writes(&self) -> Side {
        self.side(2, ctcr::DSIZE, ctcr::DINCOS, ctcr::DBURST)
    }

    /// Bytes of a buffer.
    const fn buffer_bytes(&self) -> u32 {
        self.field(ctcr::TLEN, 0x7f) + 1
    }

    /// The unit that a request moves.
    pub const fn trigger(&self) -> Trigger {
        match self.field(ctcr::TRGM, 3) {
            0 => Trigger::Buffer,
            1 => Trigger::Block,
            2 => Trigger::Blocks,
            _ => Trigger::List,
        }
    }

    /// Remaining bytes of the block.
    pub const fn left(&self) -> u32 {
        self.block & BNDT
    }

    /// MDMA_CxESR for invalid settings: addresses that are not aligned, offsets smaller than a datum, counts that are
    /// not a multiple of a datum.
    pub fn faults(&self) -> u32 {
        let (reads, writes) = (self.reads(), self.writes());
        let is_off = |side: Side, address: u32| {
            !address.is_multiple_of(side.size) || side.step != 0 && side.step.unsigned_abs() < side.size
        };
        let part = |bytes: u32| !bytes.is_multiple_of(reads.size) || !bytes.is_multiple_of(writes.size);
        flag(cesr::ASE, is_off(reads, self.source) || is_off(writes, self.destination))
            | flag(cesr::BSE, self.left() == 0 || part(self.left()) || part(self.buffer_bytes()))
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
        self.control &= !ccr::EN;
        self.data.clear();
    }

    /// Ends the transfer with an error.
    pub fn fail(&mut self, error: u32) {
        self.error = error;
        self.status |= cisr::TEIF;
        self.stop();
    }

    /// Counts `bytes` written bytes.
    pub fn count(&mut self, bytes: u32) {
        self.block = self.block & !BNDT | (self.left() - bytes);
    }

    /// Ends the block. True if it is repeated; then the next one has started.
    pub fn repeats(&mut self) -> bool {
        let left = self.block >> BRC;
        if left == 0 {
            return false;
        }
        let updated = |address: u32, by: u32, down: bool| {
            if down { address.wrapping_sub(by) } else { address.wrapping_add(by) }
        };
        self.source = updated(self.source, self.update & 0xffff, self.block & BRSUM != 0);
        self.destination = updated(self.destination, self.update >> 16, self.block & BRDUM != 0);
        self.block = (left - 1) << BRC | (self.block & (BRSUM | BRDUM)) | self.block_bytes;
        true
    }

    /// Loads a node, given as its words in memory.
    pub fn load(&mut self, words: &[u32; 10]) {
        let [transfer, block, source, destination, update, link, bus, _, mask_address, mask_data] = *words;
        (self.transfer, self.block, self.source, self.destination) = (transfer, block, source, destination);
        (self.update, self.link, self.bus) = (update, link & !7, bus);
        (self.mask_address, self.mask_data) = (mask_address, mask_data);
        self.begin_block();
    }
}
