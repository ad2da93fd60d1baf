//! A channel's registers, and the state of its transfer.

use super::registers::{
    Addressing, CBC, CC, CC_INITD, CC_RDIP, CC_WRIP, CDA, CDS_MSP, CDUS, CHANNEL, CIS, CNDA, CNDC, CSA, CSUS, CUBC,
    Config, NextDescriptor,
};
use crate::prelude::*;

/// The next step of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub enum Stage {
    /// Nothing: it is disabled.
    #[default]
    Off,
    /// It reads its next descriptor.
    Fetch,
    /// It reads data, once it is requested.
    Read,
    /// It writes the data that it has read.
    Write,
}

/// A channel.
#[derive(Debug, State, Polled)]
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
        Channel {
            registers: Registers::new(&CHANNEL),
            microblock: 0,
            microblocks_left: 0,
            stage: Stage::Off,
            linked: false,
            chunk_left: 0,
            asked: false,
            armed: false,
            generation: 0,
            data: Vec::new(),
            has_datum: false,
        }
    }

    /// A read of a register.
    pub fn read(&mut self, register: u32) -> u32 {
        let held = self.registers.held(register);
        self.registers.was_read(register);
        if register != CC {
            return held;
        }
        let moving = self.stage == Stage::Write || self.chunk_left > 0;
        held | CC_INITD | flag(CC_RDIP | CC_WRIP, moving)
    }

    /// XDMAC_CC.
    pub fn config(&self) -> Config {
        Config(self.registers[CC])
    }

    /// XDMAC_CNDC.
    pub fn next(&self) -> NextDescriptor {
        NextDescriptor(self.registers[CNDC])
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
        let now = self.next();
        let [next_address, control, first, second, config, block, data_stride, source_stride, destination_stride] =
            *words;
        let registers = &mut self.registers;
        registers.set(CNDA, next_address);
        registers.set(CUBC, control);
        registers.set(CNDC, control >> 24);
        if now.updates_source() {
            registers.set(CSA, first);
        }
        if now.updates_destination() {
            registers.set(CDA, if now.view() == 0 { first } else { second });
        }
        if now.view() >= 2 {
            registers.set(CC, config & !Config::STATE);
        }
        if now.view() == 3 {
            let values = [block, data_stride, source_stride, destination_stride];
            [CBC, CDS_MSP, CSUS, CDUS]
                .into_iter()
                .zip(values)
                .for_each(|(register, value)| registers.set(register, value));
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
        let (config, left) = (self.config(), self.left() - data);
        let strides = self.registers[CDS_MSP];
        self.advance(CSA, |at| after(at, config.source(), data, config.datum_bytes(), strides as u16 as i16));
        self.advance(CDA, |at| {
            after(at, config.destination(), data, config.datum_bytes(), (strides >> 16) as u16 as i16)
        });
        self.registers.set(CUBC, left);
        self.chunk_left = self.chunk_left.saturating_sub(data);
        self.stage = Stage::Read;
        if left > 0 {
            return true;
        }
        let [source, destination] = [CSUS, CDUS].map(|register| self.registers[register]);
        self.advance(CSA, |at| at.wrapping_add(stride(config.source(), source)));
        self.advance(CDA, |at| at.wrapping_add(stride(config.destination(), destination)));
        if self.microblocks_left == 0 {
            return false;
        }
        self.microblocks_left -= 1;
        self.registers.set(CUBC, self.microblock);
        true
    }

    fn advance(&mut self, register: u32, after: impl Fn(u32) -> u32) {
        self.registers.set(register, after(self.registers[register]));
    }

    /// Width of an access for (a part of) a datum.
    pub fn access_size(&self) -> AccessSize {
        match self.config().datum_bytes() {
            1 => AccessSize::Byte,
            2 => AccessSize::Half,
            _ => AccessSize::Word,
        }
    }
}

fn after(address: u32, addressing: Addressing, data: u32, bytes: u32, data_stride: i16) -> u32 {
    match addressing {
        Addressing::Fixed => address,
        Addressing::Incremented | Addressing::MicroblockStride => address.wrapping_add(data * bytes),
        Addressing::BothStrides => {
            address.wrapping_add(data.wrapping_mul(bytes.wrapping_add_signed(i32::from(data_stride))))
        }
    }
}

/// The signed 24-bit number that is added at a microblock's end.
fn stride(addressing: Addressing, register: u32) -> u32 {
    match addressing {
        Addressing::Fixed | Addressing::Incremented => 0,
        Addressing::MicroblockStride | Addressing::BothStrides => ((register << 8) as i32 >> 8) as u32,
    }
}
