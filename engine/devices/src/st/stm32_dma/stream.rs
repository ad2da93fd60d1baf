//! A stream: its registers, its FIFO, and the remaining data (RM0090, "DMA stream x configuration register" and
//! following).

use std::collections::VecDeque;

use engine::state::State;

/// Bits of DMA_SxCR.
pub mod cr {
    pub const EN: u32 = 1 << 0;
    /// DMEIE, TEIE, HTIE and TCIE.
    pub const INTERRUPTS: u32 = 0x1e;
    pub const PFCTRL: u32 = 1 << 5;
    pub const DIR: u32 = 6;
    pub const CIRC: u32 = 1 << 8;
    pub const PINC: u32 = 1 << 9;
    pub const MINC: u32 = 1 << 10;
    pub const PSIZE: u32 = 11;
    pub const MSIZE: u32 = 13;
    pub const PINCOS: u32 = 1 << 15;
    pub const PL: u32 = 16;
    pub const DBM: u32 = 1 << 18;
    pub const CT: u32 = 1 << 19;
    pub const PBURST: u32 = 21;
    pub const MBURST: u32 = 23;
    pub const CHSEL: u32 = 25;
}

/// Bits of DMA_SxFCR.
pub mod fcr {
    pub const FTH: u32 = 3;
    pub const DMDIS: u32 = 1 << 2;
    pub const FS: u32 = 3;
    pub const FEIE: u32 = 1 << 7;
    pub const RESET: u32 = 0x21;
}

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

/// DIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToMemory,
    ToPeripheral,
    Memories,
}

/// The two sides of a transfer; each has a port of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Peripheral,
    Memory,
}

/// A DMA stream.
#[derive(Clone, Debug, State)]
pub struct Stream {
    pub control: u32,
    pub fifo_control: u32,
    /// DMA_SxNDTR at the enable.
    pub items: u32,
    /// DMA_SxNDTR as last written.
    pub programmed: u32,
    /// DMA_SxPAR, DMA_SxM0AR and DMA_SxM1AR.
    pub peripheral: u32,
    pub memories: [u32; 2],
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

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            control: 0,
            fifo_control: fcr::RESET,
            items: 0,
            programmed: 0,
            peripheral: 0,
            memories: [0; 2],
            flags: 0,
            fifo: VecDeque::with_capacity(FIFO_BYTES as usize),
            draining: false,
            closing: false,
            next: [0; 2],
            left: [0; 2],
        }
    }
}

const fn field(register: u32, shift: u32, mask: u32) -> u32 {
    register >> shift & mask
}

impl Stream {
    pub const fn is_enabled(&self) -> bool {
        self.control & cr::EN != 0
    }

    pub const fn direction(&self) -> Direction {
        match field(self.control, cr::DIR, 3) {
            0 => Direction::ToMemory,
            1 => Direction::ToPeripheral,
            _ => Direction::Memories,
        }
    }

    /// True in direct mode, without the FIFO. Transfers between memories always use the FIFO.
    pub fn is_direct(&self) -> bool {
        self.fifo_control & fcr::DMDIS == 0 && self.direction() != Direction::Memories
    }

    pub const fn priority(&self) -> u32 {
        field(self.control, cr::PL, 3)
    }

    pub const fn channel(&self) -> usize {
        field(self.control, cr::CHSEL, 7) as usize
    }

    /// Bytes of an item of a side. In direct mode PSIZE applies to both.
    pub fn size(&self, side: Side) -> u32 {
        let shift = if side == Side::Peripheral || self.is_direct() { cr::PSIZE } else { cr::MSIZE };
        1 << field(self.control, shift, 3).min(2)
    }

    /// Bytes of a burst of a side.
    pub fn burst(&self, side: Side) -> u32 {
        let shift = if side == Side::Peripheral { cr::PBURST } else { cr::MBURST };
        let beats = [1, 4, 8, 16][field(self.control, shift, 3) as usize];
        self.size(side) * if self.is_direct() { 1 } else { beats }
    }

    /// Bytes from one item's address to the next one's.
    pub fn step(&self, side: Side) -> u32 {
        let (increments, offset) = match side {
            Side::Peripheral => (cr::PINC, self.control & cr::PINCOS != 0),
            Side::Memory => (cr::MINC, false),
        };
        match self.control & increments {
            0 => 0,
            _ if offset => 4,
            _ => self.size(side),
        }
    }

    /// The side that is the source of the data.
    pub fn source(&self) -> Side {
        if self.direction() == Direction::ToPeripheral { Side::Memory } else { Side::Peripheral }
    }

    /// The number of bytes in the FIFO at which memory is written.
    const fn threshold(&self) -> u32 {
        FIFO_BYTES / 4 * ((self.fifo_control & fcr::FTH) + 1)
    }

    /// DMA_SxFCR, with the FIFO's status.
    pub fn fifo_register(&self) -> u32 {
        let status = match self.fifo.len() as u32 {
            0 => 4,
            FIFO_BYTES.. => 5,
            bytes => bytes * 4 / FIFO_BYTES,
        };
        self.fifo_control & !(7 << fcr::FS) | status << fcr::FS
    }

    /// DMA_SxNDTR: remaining items of the peripheral side.
    pub fn items_left(&self) -> u32 {
        if self.is_enabled() || self.closing {
            self.left[Side::Peripheral as usize] / self.size(Side::Peripheral)
        } else {
            self.items
        }
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
            self.items = self.programmed;
        }
    }

    /// Starts a buffer.
    pub fn begin(&mut self) {
        let bytes = self.items * self.size(Side::Peripheral);
        let memory = self.memories[usize::from(self.control & cr::CT != 0)];
        (self.next, self.left) = ([self.peripheral, memory], [bytes, bytes]);
    }

    /// Bytes of the next access of a side, if it has an access to make; `asked`: the peripheral requests a transfer.
    pub fn wants(&self, side: Side, asked: bool) -> Option<u32> {
        let is_on = self.is_enabled() || self.closing && self.direction() != Direction::ToPeripheral;
        if !is_on {
            return None;
        }
        let reads = side == self.source();
        let (fifo, left, burst) = (self.fifo.len() as u32, self.left[side as usize], self.burst(side));
        let bytes = if reads {
            let room = if self.is_direct() { flag_bytes(fifo == 0, burst) } else { FIFO_BYTES - fifo };
            let bytes = burst.min(left);
            if bytes <= room && !self.closing { bytes } else { 0 }
        } else {
            let is_last = self.left[self.source() as usize] == 0 || self.closing;
            let waits = side == Side::Memory && !self.is_direct() && !self.draining;
            let bytes = burst.min(left).min(fifo);
            if (waits || bytes < burst.min(left)) && !is_last { 0 } else { bytes }
        };
        let asked = asked || side == Side::Memory || self.direction() == Direction::Memories;
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
        self.control &= !cr::EN;
        (self.closing, self.draining) = (false, false);
        self.fifo.clear();
    }
}

const fn flag_bytes(is_set: bool, bytes: u32) -> u32 {
    if is_set { bytes } else { 0 }
}
