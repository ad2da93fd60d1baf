//! A channel's registers, and the state of its transfer.

use super::registers::{
    Addressing, Config, NextDescriptor, XDMAC_CBC, XDMAC_CC, XDMAC_CDA, XDMAC_CDS_MSP, XDMAC_CDUS, XDMAC_CID,
    XDMAC_CIE, XDMAC_CIM, XDMAC_CIS, XDMAC_CNDA, XDMAC_CNDC, XDMAC_CSA, XDMAC_CSUS, XDMAC_CUBC,
};
use engine::bus::device::AccessSize;
use engine::state::{Fresh, State};

/// The next step of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
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
#[derive(Clone, Debug, Default, State)]
pub struct Channel {
    /// XDMAC_CIM.
    pub mask: u32,
    /// XDMAC_CIS.
    pub status: u32,
    pub source: u32,
    pub destination: u32,
    next_address: u32,
    pub next: NextDescriptor,
    /// XDMAC_CUBC: data left of the microblock.
    pub left: u32,
    /// The value of XDMAC_CUBC at the microblock's start.
    microblock: u32,
    /// XDMAC_CBC: microblocks of a block, less one.
    block: u32,
    /// Microblocks left of the block after this one.
    microblocks_left: u32,
    pub config: Config,
    data_stride: u32,
    source_stride: u32,
    destination_stride: u32,
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
    /// The value of a register; reading XDMAC_CIS clears it.
    pub fn register(&mut self, offset: u32) -> u32 {
        match offset {
            XDMAC_CIM => self.mask,
            XDMAC_CIS => std::mem::take(&mut self.status),
            XDMAC_CSA => self.source,
            XDMAC_CDA => self.destination,
            XDMAC_CNDA => self.next_address,
            XDMAC_CNDC => self.next.0,
            XDMAC_CUBC => self.left,
            XDMAC_CBC => self.block,
            XDMAC_CC => {
                let moving = matches!(self.stage, Stage::Write) || self.chunk_left > 0;
                self.config.0 | Config::INITD | if moving { Config::IN_PROGRESS } else { 0 }
            }
            XDMAC_CDS_MSP => self.data_stride,
            XDMAC_CSUS => self.source_stride,
            XDMAC_CDUS => self.destination_stride,
            _ => 0,
        }
    }

    /// A write; `value` has only bits that exist in the register.
    pub fn set_register(&mut self, offset: u32, value: u32) {
        match offset {
            XDMAC_CIE => self.mask |= value,
            XDMAC_CID => self.mask &= !value,
            XDMAC_CSA => self.source = value,
            XDMAC_CDA => self.destination = value,
            XDMAC_CNDA => self.next_address = value,
            XDMAC_CNDC => self.next = NextDescriptor(value),
            XDMAC_CUBC => self.left = value,
            XDMAC_CBC => self.block = value,
            XDMAC_CC => self.config = Config(value & Config::WRITABLE),
            XDMAC_CDS_MSP => self.data_stride = value,
            XDMAC_CSUS => self.source_stride = value,
            XDMAC_CDUS => self.destination_stride = value,
            _ => {}
        }
    }

    /// The address of the next descriptor; bit 0 of the register is the bus interface.
    pub fn next_descriptor(&self) -> u32 {
        self.next_address & !3
    }

    /// Loads a descriptor that was read: words in the order of its view.
    pub fn load_descriptor(&mut self, words: &[u32; 9]) {
        let NextDescriptor(current) = self.next;
        let now = NextDescriptor(current);
        let [next_address, control, first, second, config, block, data_stride, source_stride, destination_stride] =
            *words;
        self.next_address = next_address;
        self.left = control & 0x00ff_ffff;
        self.next = NextDescriptor(control >> 24 & 0x1f);
        if now.updates_source() {
            self.source = first;
        }
        if now.updates_destination() {
            self.destination = if now.view() == 0 { first } else { second };
        }
        if now.view() >= 2 {
            self.config = Config(config & Config::WRITABLE);
        }
        if now.view() == 3 {
            self.block = block & 0xfff;
            self.data_stride = data_stride;
            self.source_stride = source_stride & 0x00ff_ffff;
            self.destination_stride = destination_stride & 0x00ff_ffff;
        }
    }

    /// Starts a block with the registers' settings.
    pub fn begin_block(&mut self) {
        self.microblock = self.left;
        self.microblocks_left = self.block;
        self.chunk_left = 0;
        self.has_datum = false;
        self.stage = Stage::Read;
    }

    /// Updates addresses and counts after `data` data have been written. False at the end of the block.
    pub fn moved(&mut self, data: u32) -> bool {
        let bytes = self.config.datum_bytes();
        let (source_stride, destination_stride) =
            (self.data_stride as u16 as i16, (self.data_stride >> 16) as u16 as i16);
        self.source = after(self.source, self.config.source(), data, bytes, source_stride);
        self.destination = after(self.destination, self.config.destination(), data, bytes, destination_stride);
        self.left -= data;
        self.chunk_left = self.chunk_left.saturating_sub(data);
        self.stage = Stage::Read;
        if self.left > 0 {
            return true;
        }
        self.source = self.source.wrapping_add(stride(self.config.source(), self.source_stride));
        self.destination = self.destination.wrapping_add(stride(self.config.destination(), self.destination_stride));
        if self.microblocks_left == 0 {
            return false;
        }
        self.microblocks_left -= 1;
        self.left = self.microblock;
        true
    }

    /// Width of an access for (a part of) a datum.
    pub fn access_size(&self) -> AccessSize {
        match self.config.datum_bytes() {
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
