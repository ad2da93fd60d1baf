//! A stream: its registers, its FIFO, and the remaining data (RM0090, "DMA stream x configuration register" and
//! following).

use std::collections::VecDeque;

use super::*;

/// Flags of a stream, at their positions in DMA_LISR for stream 0.
pub mod flags {
    pub const FEIF: u32 = 1 << 0;
    pub const TEIF: u32 = 1 << 3;
    pub const HTIF: u32 = 1 << 4;
    pub const TCIF: u32 = 1 << 5;
    pub const ALL: u32 = 0x3d;
}

/// The FIFO has four words.
const FIFO_BYTES: u32 = 16;

/// The two sides of a transfer; each has a port of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Peripheral,
    Memory,
}

/// A DMA stream.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Stream {
    /// DMA_SxNDTR is as last written.
    pub registers: Registers,
    /// DMA_SxNDTR at the enable.
    pub items: u32,
    pub flags: u32,
    pub fifo: VecDeque<u8>,
    /// The FIFO has reached its threshold, and is being emptied into memory.
    pub draining: bool,
    /// The stream was disabled, and has an access under way or bytes left for memory.
    pub closing: bool,
    /// Addresses of the next accesses of the two sides, and remaining bytes.
    pub next: [u32; 2],
    pub left: [u32; 2],
}

impl Stream {
    /// A stream after reset.
    pub fn new() -> Stream {
        Stream { registers: Registers::new(&STREAM), ..Stream::default() }
    }

    /// A field of DMA_SxCR.
    pub fn field(&self, mask: u32) -> u32 {
        self.registers.field(CR, mask)
    }

    pub fn is_enabled(&self) -> bool {
        self.registers.has(CR, CR_EN)
    }

    /// True until the stream is off: its registers are locked.
    pub fn is_on(&self) -> bool {
        self.is_enabled() || self.closing
    }

    /// True between memories (DIR).
    pub fn is_between_memories(&self) -> bool {
        self.field(CR_DIR) >= 2
    }

    /// True in direct mode, without the FIFO. Transfers between memories always use the FIFO.
    pub fn is_direct(&self) -> bool {
        !self.registers.has(FCR, FCR_DMDIS) && !self.is_between_memories()
    }

    /// Bytes of an item of a side. In direct mode PSIZE applies to both.
    pub fn size(&self, side: Side) -> u32 {
        let size = if side == Side::Peripheral || self.is_direct() { CR_PSIZE } else { CR_MSIZE };
        1 << self.field(size).min(2)
    }

    /// Bytes of a burst of a side.
    pub fn burst(&self, side: Side) -> u32 {
        let burst = if side == Side::Peripheral { CR_PBURST } else { CR_MBURST };
        let beats = [1, 4, 8, 16][self.field(burst) as usize];
        self.size(side) * if self.is_direct() { 1 } else { beats }
    }

    /// Bytes from one item's address to the next one's.
    pub fn step(&self, side: Side) -> u32 {
        let control = self.registers[CR];
        match side {
            Side::Peripheral if control & CR_PINC == 0 => 0,
            Side::Memory if control & CR_MINC == 0 => 0,
            Side::Peripheral if control & CR_PINCOS != 0 => 4,
            _ => self.size(side),
        }
    }

    /// The side that is the source of the data.
    pub fn source(&self) -> Side {
        if self.field(CR_DIR) == 1 { Side::Memory } else { Side::Peripheral }
    }

    /// The number of bytes in the FIFO at which memory is written.
    fn threshold(&self) -> u32 {
        FIFO_BYTES / 4 * (self.registers.field(FCR, FCR_FTH) + 1)
    }

    /// The value of a register, which holds `held`.
    pub fn shown(&self, register: u32, held: u32) -> u32 {
        match register {
            CR => held | flag(CR_EN, self.closing),
            NDTR => self.items_left(),
            FCR => self.fifo_register(),
            _ => held,
        }
    }

    /// A write of another register than DMA_SxCR, which held `old`. False if EN locks it: it keeps that value.
    pub fn takes(&mut self, register: u32, old: u32, new: u32) -> bool {
        let is_second = self.registers.has(CR, CR_CT);
        let is_free = match register {
            // In double-buffer mode, the address of the buffer that is not in use can be changed.
            M0AR => !self.is_on() || is_second,
            M1AR => !self.is_on() || !is_second,
            FCR if self.is_on() => {
                self.registers.set(FCR, old & !FCR_FEIE | new & FCR_FEIE);
                return true;
            }
            _ => !self.is_on(),
        };
        if !is_free {
            self.registers.set(register, old);
        } else if register == NDTR {
            self.items = new;
        }
        is_free
    }

    /// DMA_SxFCR, with the FIFO's status.
    fn fifo_register(&self) -> u32 {
        let status = match self.fifo.len() as u32 {
            0 => 4,
            FIFO_BYTES.. => 5,
            bytes => bytes * 4 / FIFO_BYTES,
        };
        self.registers[FCR] & !FCR_FS | status << FCR_FS.trailing_zeros()
    }

    /// DMA_SxNDTR: remaining items of the peripheral side.
    pub fn items_left(&self) -> u32 {
        if self.is_on() { self.left[Side::Peripheral as usize] / self.size(Side::Peripheral) } else { self.items }
    }

    /// True if a memory burst does not fit the threshold (RM0090, "FIFO threshold configurations") or the number of
    /// items.
    pub fn burst_is_wrong(&self) -> bool {
        let (burst, size) = (self.burst(Side::Memory), self.size(Side::Memory));
        !self.is_direct() && burst > size && !self.threshold().is_multiple_of(burst)
    }

    /// EN is set: after the end of a transfer DMA_SxNDTR is loaded again with what was written (RM0090, 10.5.6).
    pub fn reload(&mut self) {
        if self.items == 0 {
            self.items = self.registers[NDTR];
        }
    }

    /// Starts a buffer.
    pub fn begin(&mut self) {
        let bytes = self.items * self.size(Side::Peripheral);
        let memory = if self.registers.has(CR, CR_CT) { M1AR } else { M0AR };
        (self.next, self.left) = ([PAR, memory].map(|address| self.registers[address]), [bytes, bytes]);
    }

    /// Bytes of the next access of a side, if it has an access to make; `asked`: the peripheral requests a transfer.
    pub fn wants(&self, side: Side, asked: bool) -> Option<u32> {
        let is_on = self.is_enabled() || self.closing && self.source() == Side::Peripheral;
        if !is_on {
            return None;
        }
        let reads = side == self.source();
        let (fifo, left, burst) = (self.fifo.len() as u32, self.left[side as usize], self.burst(side));
        let bytes = if reads {
            let room = if self.is_direct() { flag(burst, fifo == 0) } else { FIFO_BYTES - fifo };
            let bytes = burst.min(left);
            if bytes <= room && !self.closing { bytes } else { 0 }
        } else {
            let is_last = self.left[self.source() as usize] == 0 || self.closing;
            let waits = side == Side::Memory && !self.is_direct() && !self.draining;
            let bytes = burst.min(left).min(fifo);
            if (waits || bytes < burst.min(left)) && !is_last { 0 } else { bytes }
        };
        let asked = asked || side == Side::Memory || self.is_between_memories();
        (bytes > 0 && asked).then_some(bytes)
    }

    /// Checks the FIFO after it was filled or emptied: at its threshold, all of it is written to memory (RM0090,
    /// "FIFO").
    pub fn check_fifo(&mut self) {
        let bytes = self.fifo.len() as u32;
        self.draining = bytes >= self.threshold() || self.draining && bytes > 0;
    }

    /// Counts the bytes that a side has moved.
    pub fn moved(&mut self, side: Side, bytes: u32) {
        let items = bytes.div_ceil(self.size(side));
        let distance = items * self.step(side);
        self.left[side as usize] -= bytes;
        self.next[side as usize] = self.next[side as usize].wrapping_add(distance);
    }

    /// Ends the stream: DMA_SxNDTR keeps the number of remaining items.
    pub fn stop(&mut self) {
        self.items = self.items_left();
        self.registers.put(CR, CR_EN, false);
        (self.closing, self.draining) = (false, false);
        self.fifo.clear();
    }
}
