//! The register map (SAMA5D2 Series datasheet, "DMA Controller (XDMAC)", "Register Summary"), and the fields.

use crate::registers::{field, registers};

registers! {
    /// The global registers.
    pub const GLOBAL "XDMAC_" {
        /// 16 channels, a FIFO of 512 bytes, 51 request lines.
        GTYPE 0x00 ro reset (51 - 1) << 16 | 0x200 << 5 | (CHANNELS as u32 - 1) mask 0x007f_ffff;
        GCFG 0x04 rw mask 0x10f;
        GWAC 0x08 rw mask 0xffff;
        GIE 0x0c set GIM mask ALL;
        GID 0x10 clear GIM mask ALL;
        GIM 0x14 ro mask ALL;
        GIS 0x18 ro volatile mask ALL;
        GE 0x1c wo mask ALL;
        GD 0x20 wo mask ALL;
        GS 0x24 ro volatile mask ALL;
        GRS 0x28 rw mask ALL;
        GWS 0x2c rw mask ALL;
        GRWS 0x30 wo mask ALL;
        GRWR 0x34 wo mask ALL;
        GSWR 0x38 wo mask ALL;
        GSWS 0x3c ro volatile mask ALL;
        GSWF 0x40 wo mask ALL;
    }

    /// A channel's registers.
    pub const CHANNEL "XDMAC_" {
        CIE 0x00 set CIM mask EVENTS;
        CID 0x04 clear CIM mask EVENTS;
        CIM 0x08 ro mask EVENTS;
        /// Ends of block, linked list, disable and flush; errors of reads, writes and requests.
        CIS 0x0c ro { BIS 0 rc, LIS 1 rc, DIS 2 rc, FIS 3 rc, RBEIS 4 rc, WBEIS 5 rc, ROIS 6 rc };
        CSA 0x10 rw;
        CDA 0x14 rw;
        CNDA 0x18 rw mask 0xffff_fffd;
        /// Those of bits 28 to 24 of a descriptor's MBR_UBC, too. NDE: there is a descriptor. NDSUP, NDDUP: it has the
        /// source's and the destination's parameters.
        CNDC 0x1c rw { NDE 0, NDSUP 1, NDDUP 2, NDVIEW 3..5 };
        CUBC 0x20 rw mask 0x00ff_ffff;
        CBC 0x24 rw mask 0xfff;
        /// INITD: the channel's initialisation is over. RDIP, WRIP: reads and writes are in progress.
        CC 0x28 rw mask 0x7fef_7ff7 {
            TYPE 0, MBSIZE 1..3, SWREQ 6, MEMSET 7, CSIZE 8..11, DWIDTH 11..13, SAM 16..18, DAM 18..20,
            INITD 21 ro, RDIP 22 ro, WRIP 23 ro, PERID 24..31
        };
        CDS_MSP 0x2c rw;
        CSUS 0x30 rw mask 0x00ff_ffff;
        CDUS 0x34 rw mask 0x00ff_ffff;
    }
}

/// Channels.
pub const CHANNELS: usize = 16;
/// Offset of the first channel's registers.
pub const CHANNEL_BASE: u32 = 0x50;
/// Bytes of a channel's registers.
pub const CHANNEL_BYTES: u32 = 0x40;

/// All channels.
const ALL: u32 = 0xffff;
/// All events of a channel.
const EVENTS: u32 = 0x7f;

/// How an address changes after each datum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// FIXED_AM.
    Fixed,
    /// INCREMENTED_AM.
    Incremented,
    /// UBS_AM: incremented, with a stride after each microblock.
    MicroblockStride,
    /// UBS_DS_AM: both strides.
    BothStrides,
}

/// XDMAC_CC.
#[derive(Clone, Copy, Debug)]
pub struct Config(pub u32);

impl Config {
    /// Bits that only the device sets.
    pub const STATE: u32 = CC_INITD | CC_RDIP | CC_WRIP;

    /// TYPE: synchronised with a peripheral.
    pub const fn is_synchronised(self) -> bool {
        self.0 & CC_TYPE != 0
    }

    /// MBSIZE: data of a memory burst.
    pub const fn burst(self) -> u32 {
        match field(self.0, CC_MBSIZE) {
            0 => 1,
            1 => 4,
            2 => 8,
            _ => 16,
        }
    }

    /// SWREQ: requests come from software.
    pub const fn asks_software(self) -> bool {
        self.0 & CC_SWREQ != 0
    }

    /// MEMSET: only the first datum is read.
    pub const fn is_memset(self) -> bool {
        self.0 & CC_MEMSET != 0
    }

    /// CSIZE: data of a chunk, for one request.
    pub const fn chunk(self) -> u32 {
        let code = field(self.0, CC_CSIZE);
        1 << if code > 4 { 4 } else { code }
    }

    /// DWIDTH: bytes of a datum.
    pub const fn datum_bytes(self) -> u32 {
        1 << field(self.0, CC_DWIDTH)
    }

    /// SAM.
    pub const fn source(self) -> Addressing {
        addressing(field(self.0, CC_SAM))
    }

    /// DAM.
    pub const fn destination(self) -> Addressing {
        addressing(field(self.0, CC_DAM))
    }

    /// PERID.
    pub const fn request_line(self) -> usize {
        field(self.0, CC_PERID) as usize
    }
}

const fn addressing(code: u32) -> Addressing {
    match code {
        0 => Addressing::Fixed,
        1 => Addressing::Incremented,
        2 => Addressing::MicroblockStride,
        _ => Addressing::BothStrides,
    }
}

/// XDMAC_CNDC, and bits 28 to 24 of a descriptor's MBR_UBC.
#[derive(Clone, Copy, Debug)]
pub struct NextDescriptor(pub u32);

impl NextDescriptor {
    /// NDE: there is a descriptor.
    pub const fn exists(self) -> bool {
        self.0 & CNDC_NDE != 0
    }

    /// NDSUP: the descriptor has the source's parameters.
    pub const fn updates_source(self) -> bool {
        self.0 & CNDC_NDSUP != 0
    }

    /// NDDUP: the descriptor has the destination's parameters.
    pub const fn updates_destination(self) -> bool {
        self.0 & CNDC_NDDUP != 0
    }

    /// NDVIEW.
    pub const fn view(self) -> u32 {
        field(self.0, CNDC_NDVIEW)
    }

    /// Words of a descriptor of that view.
    pub const fn words(self) -> u32 {
        match self.view() {
            0 => 3,
            1 => 4,
            2 => 5,
            _ => 9,
        }
    }
}
