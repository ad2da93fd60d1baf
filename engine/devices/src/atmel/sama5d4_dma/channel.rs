//! A channel's registers, and the state of its transfer.

use super::registers::*;
use crate::prelude::*;
use crate::support::bus_master::Stage;

/// A channel.
#[derive(Debug, Default, State, Polled)]
pub struct Channel {
    /// XDMAC_CUBC is the data left of the microblock.
    pub registers: Registers,
    /// The value of XDMAC_CUBC at the microblock's start.
    microblock: u32,
    /// Microblocks left of the block after this one.
    microblocks_left: u32,
    pub stage: Stage,
    /// True if the transfer is part of a linked list.
    pub linked: bool,
    /// Data left of the requested chunk.
    pub chunk_left: u32,
    /// XDMAC_GSWS: software has requested a chunk.
    pub asked: bool,
    /// True if an event was requested.
    pub armed: bool,
    /// Incremented by each enable and disable: earlier events are stale.
    pub generation: u32,
    /// Data that have been read and not yet written.
    pub data: Vec<u8>,
    /// True if a memory set has read its datum.
    pub has_datum: bool,
}

impl Channel {
    /// After reset.
    pub fn new() -> Channel {
        Channel { registers: Registers::new(&CHANNEL), ..Channel::default() }
    }

    /// XDMAC_CC, which holds `held`.
    pub fn configuration(&self, held: u32) -> u32 {
        let moving = self.stage == Stage::Write || self.chunk_left > 0;
        held | CC_INITD | flag(CC_RDIP | CC_WRIP, moving)
    }

    /// True if a bit of XDMAC_CC is set.
    pub fn is(&self, bit: u32) -> bool {
        self.registers.has(CC, bit)
    }

    /// A field of XDMAC_CC.
    pub fn field(&self, mask: u32) -> u32 {
        self.registers.field(CC, mask)
    }

    /// Data of a memory burst (MBSIZE).
    pub fn burst(&self) -> u32 {
        [1, 4, 8, 16][self.field(CC_MBSIZE) as usize]
    }

    /// Data of a chunk, for one request (CSIZE).
    pub fn chunk(&self) -> u32 {
        1 << self.field(CC_CSIZE).min(4)
    }

    /// Bytes of a datum (DWIDTH).
    pub fn datum_bytes(&self) -> u32 {
        1 << self.field(CC_DWIDTH)
    }

    /// True if there is a descriptor.
    pub fn has_next(&self) -> bool {
        self.registers.has(CNDC, CNDC_NDE)
    }

    /// Words of a descriptor of the present view.
    pub fn descriptor_words(&self) -> usize {
        [3, 4, 5, 9][self.registers.field(CNDC, CNDC_NDVIEW) as usize]
    }

    /// The data left of the microblock.
    pub fn left(&self) -> u32 {
        self.registers[CUBC]
    }

    /// The address of the next datum to read.
    pub fn source(&self) -> u32 {
        self.registers[CSA]
    }

    /// Sets bits of XDMAC_CIS.
    pub fn raise(&mut self, bits: u32) {
        self.registers.put(CIS, bits, true);
    }

    /// The address of the next descriptor; bit 0 of the register is the bus interface.
    pub fn next_descriptor(&self) -> u32 {
        self.registers[CNDA] & !3
    }

    /// Loads a descriptor that was read: words in the order of its view.
    pub fn load_descriptor(&mut self, words: &[u32; 9]) {
        let (control, view) = (self.registers[CNDC], self.registers.field(CNDC, CNDC_NDVIEW));
        let [next_address, microblock, first, second, configuration, rest @ ..] = *words;
        let registers = &mut self.registers;
        registers.set(CNDA, next_address);
        registers.set(CUBC, microblock);
        registers.set(CNDC, microblock >> 24);
        if control & CNDC_NDSUP != 0 {
            registers.set(CSA, first);
        }
        if control & CNDC_NDDUP != 0 {
            registers.set(CDA, if view == 0 { first } else { second });
        }
        if view >= 2 {
            registers.set(CC, configuration & !(CC_INITD | CC_RDIP | CC_WRIP));
        }
        if view == 3 {
            let others = [CBC, CDS_MSP, CSUS, CDUS].into_iter().zip(rest);
            others.for_each(|(register, value)| registers.set(register, value));
        }
    }

    /// Starts a block with the registers' settings.
    pub fn begin_block(&mut self) {
        self.microblock = self.left();
        self.microblocks_left = self.registers[CBC];
        self.chunk_left = 0;
        self.has_datum = false;
        self.stage = Stage::Read;
    }

    /// Updates addresses and counts after `data` data have been written. False at the end of the block.
    pub fn moved(&mut self, data: u32) -> bool {
        let left = self.left() - data;
        [&SOURCE, &DESTINATION].into_iter().for_each(|side| self.advance(side, data, left == 0));
        self.registers.set(CUBC, left);
        self.chunk_left = self.chunk_left.saturating_sub(data);
        self.stage = Stage::Read;
        if left > 0 {
            return true;
        }
        if self.microblocks_left == 0 {
            return false;
        }
        self.microblocks_left -= 1;
        self.registers.set(CUBC, self.microblock);
        true
    }

    /// Updates the address of a side after some data; a microblock may have ended with them.
    fn advance(&mut self, side: &Side, data: u32, ends_microblock: bool) {
        let (mode, bytes) = (self.field(side.mode), self.datum_bytes());
        let data_stride = (self.registers[CDS_MSP] >> side.data_stride) as i16;
        let step = match mode {
            FIXED => 0,
            BOTH_STRIDES => bytes.wrapping_add_signed(data_stride.into()),
            _ => bytes,
        };
        // A signed number of 24 bits.
        let stride = (self.registers[side.stride] << 8) as i32 >> 8;
        let stride = if ends_microblock && mode >= MICROBLOCK_STRIDE { stride } else { 0 };
        let address = self.registers[side.address].wrapping_add(data.wrapping_mul(step));
        self.registers.set(side.address, address.wrapping_add_signed(stride));
    }
}
