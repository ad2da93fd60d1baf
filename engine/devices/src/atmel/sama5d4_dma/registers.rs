//! The register map (SAMA5D2 Series datasheet, "DMA Controller (XDMAC)", "Register Summary"), and the fields.

use crate::support::registers::{AccessKind, Register};
use engine::state::State;

/// Channels.
pub const CHANNELS: usize = 16;
/// Request lines.
pub const REQUESTS: usize = 128;

pub const XDMAC_GTYPE: u32 = 0x00;
pub const XDMAC_GCFG: u32 = 0x04;
pub const XDMAC_GWAC: u32 = 0x08;
pub const XDMAC_GIE: u32 = 0x0c;
pub const XDMAC_GID: u32 = 0x10;
pub const XDMAC_GIM: u32 = 0x14;
pub const XDMAC_GIS: u32 = 0x18;
pub const XDMAC_GE: u32 = 0x1c;
pub const XDMAC_GD: u32 = 0x20;
pub const XDMAC_GS: u32 = 0x24;
pub const XDMAC_GRS: u32 = 0x28;
pub const XDMAC_GWS: u32 = 0x2c;
pub const XDMAC_GRWS: u32 = 0x30;
pub const XDMAC_GRWR: u32 = 0x34;
pub const XDMAC_GSWR: u32 = 0x38;
pub const XDMAC_GSWS: u32 = 0x3c;
pub const XDMAC_GSWF: u32 = 0x40;

/// Offset of the first channel's registers.
pub const CHANNEL_BASE: u32 = 0x50;
/// Bytes of a channel's registers.
pub const CHANNEL_BYTES: u32 = 0x40;

pub const XDMAC_CIE: u32 = 0x00;
pub const XDMAC_CID: u32 = 0x04;
pub const XDMAC_CIM: u32 = 0x08;
pub const XDMAC_CIS: u32 = 0x0c;
pub const XDMAC_CSA: u32 = 0x10;
pub const XDMAC_CDA: u32 = 0x14;
pub const XDMAC_CNDA: u32 = 0x18;
pub const XDMAC_CNDC: u32 = 0x1c;
pub const XDMAC_CUBC: u32 = 0x20;
pub const XDMAC_CBC: u32 = 0x24;
pub const XDMAC_CC: u32 = 0x28;
pub const XDMAC_CDS_MSP: u32 = 0x2c;
pub const XDMAC_CSUS: u32 = 0x30;
pub const XDMAC_CDUS: u32 = 0x34;

/// 16 channels, 51 request lines.
pub const GTYPE: u32 = (51 - 1) << 16 | 0x200 << 5 | (CHANNELS as u32 - 1);

const ALL: u32 = 0xffff;

/// The global registers.
pub const REGISTERS: &[Register] = &[
    Register::new("XDMAC_GTYPE", XDMAC_GTYPE, AccessKind::Ro, GTYPE, 0x007f_ffff),
    Register::new("XDMAC_GCFG", XDMAC_GCFG, AccessKind::Rw, 0, 0x10f),
    Register::new("XDMAC_GWAC", XDMAC_GWAC, AccessKind::Rw, 0, 0xffff),
    Register::new("XDMAC_GIE", XDMAC_GIE, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GID", XDMAC_GID, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GIM", XDMAC_GIM, AccessKind::Ro, 0, ALL),
    Register::new("XDMAC_GIS", XDMAC_GIS, AccessKind::Ro, 0, ALL),
    Register::new("XDMAC_GE", XDMAC_GE, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GD", XDMAC_GD, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GS", XDMAC_GS, AccessKind::Ro, 0, ALL),
    Register::new("XDMAC_GRS", XDMAC_GRS, AccessKind::Rw, 0, ALL),
    Register::new("XDMAC_GWS", XDMAC_GWS, AccessKind::Rw, 0, ALL),
    Register::new("XDMAC_GRWS", XDMAC_GRWS, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GRWR", XDMAC_GRWR, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GSWR", XDMAC_GSWR, AccessKind::Wo, 0, ALL),
    Register::new("XDMAC_GSWS", XDMAC_GSWS, AccessKind::Ro, 0, ALL),
    Register::new("XDMAC_GSWF", XDMAC_GSWF, AccessKind::Wo, 0, ALL),
];

/// A channel's registers.
pub const CHANNEL_REGISTERS: &[Register] = &[
    Register::new("XDMAC_CIE", XDMAC_CIE, AccessKind::Wo, 0, cis::ALL),
    Register::new("XDMAC_CID", XDMAC_CID, AccessKind::Wo, 0, cis::ALL),
    Register::new("XDMAC_CIM", XDMAC_CIM, AccessKind::Ro, 0, cis::ALL),
    Register::new("XDMAC_CIS", XDMAC_CIS, AccessKind::Ro, 0, cis::ALL),
    Register::new("XDMAC_CSA", XDMAC_CSA, AccessKind::Rw, 0, u32::MAX),
    Register::new("XDMAC_CDA", XDMAC_CDA, AccessKind::Rw, 0, u32::MAX),
    Register::new("XDMAC_CNDA", XDMAC_CNDA, AccessKind::Rw, 0, 0xffff_fffd),
    Register::new("XDMAC_CNDC", XDMAC_CNDC, AccessKind::Rw, 0, 0x1f),
    Register::new("XDMAC_CUBC", XDMAC_CUBC, AccessKind::Rw, 0, 0x00ff_ffff),
    Register::new("XDMAC_CBC", XDMAC_CBC, AccessKind::Rw, 0, 0xfff),
    Register::new("XDMAC_CC", XDMAC_CC, AccessKind::Rw, 0, 0x7fef_7ff7),
    Register::new("XDMAC_CDS_MSP", XDMAC_CDS_MSP, AccessKind::Rw, 0, u32::MAX),
    Register::new("XDMAC_CSUS", XDMAC_CSUS, AccessKind::Rw, 0, 0x00ff_ffff),
    Register::new("XDMAC_CDUS", XDMAC_CDUS, AccessKind::Rw, 0, 0x00ff_ffff),
];

/// Bits of XDMAC_CIS and of the channel's interrupt registers.
pub mod cis {
    /// End of block.
    pub const BIS: u32 = 1 << 0;
    /// End of linked list.
    pub const LIS: u32 = 1 << 1;
    /// End of disable operation.
    pub const DIS: u32 = 1 << 2;
    /// End of flush operation.
    pub const FIS: u32 = 1 << 3;
    /// Read bus error.
    pub const RBEIS: u32 = 1 << 4;
    /// Write bus error.
    pub const WBEIS: u32 = 1 << 5;
    /// Request overflow error.
    pub const ROIS: u32 = 1 << 6;
    pub const ALL: u32 = BIS | LIS | DIS | FIS | RBEIS | WBEIS | ROIS;
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Config(pub u32);

impl Config {
    /// INITD (bit 21) reads 1: the channel's initialisation is over.
    pub const INITD: u32 = 1 << 21;
    /// RDIP and WRIP: reads and writes are in progress.
    pub const IN_PROGRESS: u32 = 3 << 22;
    /// Bits that software can set.
    pub const WRITABLE: u32 = 0x7f0f_7ff7;

    /// TYPE: synchronised with a peripheral.
    pub const fn is_synchronised(self) -> bool {
        self.0 & 1 != 0
    }

    /// MBSIZE: data of a memory burst.
    pub const fn burst(self) -> u32 {
        match self.0 >> 1 & 3 {
            0 => 1,
            1 => 4,
            2 => 8,
            _ => 16,
        }
    }

    /// SWREQ: requests come from software.
    pub const fn asks_software(self) -> bool {
        self.0 & 1 << 6 != 0
    }

    /// MEMSET: only the first datum is read.
    pub const fn is_memset(self) -> bool {
        self.0 & 1 << 7 != 0
    }

    /// CSIZE: data of a chunk, for one request.
    pub const fn chunk(self) -> u32 {
        let code = self.0 >> 8 & 7;
        1 << if code > 4 { 4 } else { code }
    }

    /// DWIDTH: bytes of a datum.
    pub const fn datum_bytes(self) -> u32 {
        1 << (self.0 >> 11 & 3)
    }

    /// SAM.
    pub const fn source(self) -> Addressing {
        addressing(self.0 >> 16)
    }

    /// DAM.
    pub const fn destination(self) -> Addressing {
        addressing(self.0 >> 18)
    }

    /// PERID.
    pub const fn request_line(self) -> usize {
        (self.0 >> 24 & 0x7f) as usize
    }
}

const fn addressing(code: u32) -> Addressing {
    match code & 3 {
        0 => Addressing::Fixed,
        1 => Addressing::Incremented,
        2 => Addressing::MicroblockStride,
        _ => Addressing::BothStrides,
    }
}

/// XDMAC_CNDC, and bits 28 to 24 of a descriptor's MBR_UBC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct NextDescriptor(pub u32);

impl NextDescriptor {
    /// NDE: there is a descriptor.
    pub const fn exists(self) -> bool {
        self.0 & 1 != 0
    }

    /// NDSUP: the descriptor has the source's parameters.
    pub const fn updates_source(self) -> bool {
        self.0 & 2 != 0
    }

    /// NDDUP: the descriptor has the destination's parameters.
    pub const fn updates_destination(self) -> bool {
        self.0 & 4 != 0
    }

    /// NDVIEW.
    pub const fn view(self) -> u32 {
        self.0 >> 3 & 3
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
