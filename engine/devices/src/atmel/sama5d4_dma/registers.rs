//! The register map (SAMA5D2 Series datasheet, "DMA Controller (XDMAC)", "Register Summary"), and the fields.

use crate::registers::{Banks, registers};

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
/// The places of their registers.
pub const PLACES: Banks = Banks { first: 0x50, bytes: 0x40, count: CHANNELS, begin: CIE };

/// All channels.
const ALL: u32 = 0xffff;
/// All events of a channel.
const EVENTS: u32 = 0x7f;

/// A side of a transfer: where registers have its settings.
pub struct Side {
    /// The address.
    pub address: u32,
    /// The addressing mode in XDMAC_CC.
    pub mode: u32,
    /// The position of the data stride in XDMAC_CDS_MSP.
    pub data_stride: u32,
    /// The microblock stride.
    pub stride: u32,
}

/// The sides.
pub const SOURCE: Side = Side { address: CSA, mode: CC_SAM, data_stride: 0, stride: CSUS };
pub const DESTINATION: Side = Side { address: CDA, mode: CC_DAM, data_stride: 16, stride: CDUS };

/// How an address changes after each datum: FIXED_AM; INCREMENTED_AM; UBS_AM, which is incremented, with a stride after
/// each microblock; UBS_DS_AM, which has both strides.
pub const FIXED: u32 = 0;
pub const INCREMENTED: u32 = 1;
pub const MICROBLOCK_STRIDE: u32 = 2;
pub const BOTH_STRIDES: u32 = 3;
