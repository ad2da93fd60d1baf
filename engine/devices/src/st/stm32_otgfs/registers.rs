//! The register map (RM0090 and RM0432, "OTG_FS control and status registers"; RM0090, "OTG_HS control and status
//! registers"), with the names of RM0432. Offsets 0x040 to 0x050 are Synopsys' identification registers, which the
//! manuals omit and USB stacks read; their values are from TinyUSB's list of cores.

use crate::prelude::*;

registers! {
    /// Registers that all parts have: those of 4 endpoints in each direction, and of 8 channels.
    pub const COMMON "OTG_" {
        /// BVALOEN and BVALOVAL override the session, in an STM32L4. CIDSTS: ID is not pulled low, device mode.
        GOTGCTL 0x000 rw reset GOTGCTL_CIDSTS mask 0x001f_1fff {
            SRQSCS 0 ro, BVALOEN 6, BVALOVAL 7, HNGSCS 8 ro, CIDSTS 16 ro, DBCT 17 ro, ASVLD 18 ro, BSVLD 19 ro,
        };
        GOTGINT 0x004 w1c mask 0x001e_0304;
        /// TXFNUM: ALL_FIFOS selects all.
        GRSTCTL 0x010 rw reset GRSTCTL_AHBIDL mask 0xc000_07f7 {
            CSRST 0, RXFFLSH 4, TXFFLSH 5, TXFNUM 6..11, AHBIDL 31,
        };
        GRXSTSR 0x01c ro mask 0x01ff_ffff;
        GRXSTSP 0x020 ro mask 0x01ff_ffff;
        GRXFSIZ 0x024 rw reset 0x200 mask 0xffff;
        HNPTXSTS 0x02c ro reset 0x0008_0200 mask 0x7fff_ffff;
        GHWCFG1 0x044 ro;
        /// Sizes of the FIFOs: the first one's, then endpoint 1's.
        HPTXFSIZ 0x100 rw reset 0x0200_0600;
        DIEPTXF [1..4; 4] 0x104 rw reset 0x0200_0400;

        HCFG 0x400 rw mask 7;
        HFIR 0x404 rw reset 0xea60 mask 0xffff;
        HFNUM 0x408 ro reset 0x3fff;
        HPTXSTS 0x410 ro reset 0x0008_0100;
        HAINT 0x414 ro mask 0xffff;
        HAINTMSK 0x418 rw mask 0xffff;
        HPRT 0x440 rw mask 0x0001_f1c0;
        HCCHAR [0..8; 0x20] 0x500 rw mask u32::MAX { CHDIS 30, CHENA 31 };
        HCINT [0..8; 0x20] 0x508 w1c mask 0x7ff { CHH 1 };
        HCINTMSK [0..8; 0x20] 0x50c rw mask 0x7ff;
        HCTSIZ [0..8; 0x20] 0x510 rw;

        DCFG 0x800 rw reset 0x0220_0000 mask 0x0320_fff7;
        DSTS 0x808 ro reset 0x10 mask 0x003f_ff1f { SUSPSTS 0 };
        DIEPMSK 0x810 rw mask 0x3b7b;
        DOEPMSK 0x814 rw mask 0xf17b;
        DAINT 0x818 ro;
        DAINTMSK 0x81c rw;
        DVBUSDIS 0x828 rw reset 0x17d7 mask 0xffff;
        DVBUSPULSE 0x82c rw reset 0x05b8 mask 0x0fff;
        DIEPEMPMSK 0x834 rw mask 0xffff;
        /// Endpoint 0 is always active.
        DIEPCTL0 0x900 rw reset DIEPCTL_USBAEP;
        DIEPCTL [1..4; 0x20] 0x920 rw mask u32::MAX {
            USBAEP 15, DPID 16, NAKSTS 17, TXFNUM 22..26, CNAK 26, SNAK 27, SD0PID 28, SODDFRM 29, EPDIS 30, EPENA 31,
        };
        DIEPINT [0..4; 0x20] 0x908 w1c reset 0x80 mask 0x3bfb { EPDISD 1, INEPNE 6, TXFE 7 };
        DIEPTSIZ [0..4; 0x20] 0x910 rw mask 0x7fff_ffff;
        DTXFSTS [0..4; 0x20] 0x918 ro mask 0xffff;
        DOEPCTL0 0xb00 rw reset DIEPCTL_USBAEP;
        DOEPCTL [1..4; 0x20] 0xb20 rw;
        DOEPINT [0..4; 0x20] 0xb08 w1c mask 0xf17f;
        DOEPTSIZ [0..4; 0x20] 0xb10 rw mask 0x7fff_ffff;

        PCGCCTL 0xe00 rw mask 0x13 { STPPCLK 0, GATEHCLK 1, PHYSUSP 4 ro };
    }

    /// Registers of the OTG_HS alone: threshold and DMA, separate interrupts of endpoint 1, I2C.
    const OF_HIGH_SPEED "OTG_" {
        GI2CCTL 0x030 rw reset 0x0200_0400;
        HCSPLT [0..12; 0x20] 0x504 rw mask 0x8001_ffff;
        HCDMA [0..12; 0x20] 0x514 rw;
        DTHRCTL 0x830 rw mask 0x0bff_1fff;
        DEACHINT 0x838 ro mask 0x0002_0002;
        DEACHINTMSK 0x83c rw mask 0x0002_0002;
        DIEPEACHMSK1 0x844 rw mask 0x237b;
        DOEPEACHMSK1 0x884 rw mask 0x737b;
        DIEPDMA [0..6; 0x20] 0x914 rw;
        DOEPDMA [0..6; 0x20] 0xb14 rw;
    }

    /// Registers of an STM32L4 alone.
    const OF_L4 "OTG_" {
        GLPMCFG 0x054 rw mask 0x1fff_ffff;
        GPWRDN 0x058 rw mask 0x0080_0001;
        GADPCTL 0x060 rw mask 0x1fff_ffff;
    }

    /// Registers that each part has in its own way: those of the OTG_HS.
    pub const OWN "OTG_" {
        GAHBCFG 0x008 rw mask 0x1bf { GINTMSK 0, TXFELVL 7 };
        GUSBCFG 0x00c rw reset 0xa00 mask 0xe3fe_bf47 { PHYSEL 6, FHMOD 29, FDMOD 30 };
        GINTSTS 0x014 w1c reset GINTSTS_PTXFE | GINTSTS_NPTXFE mask 0xf77c_fcff {
            CMOD 0, MMIS 1, OTGINT 2, NPTXFE 5, GINAKEFF 6, GONAKEFF 7, ESUSP 10, USBSUSP 11, IEPINT 18, OEPINT 19,
            HCINT 25, PTXFE 26, CIDSCHG 28, SRQINT 30,
        };
        GINTMSK 0x018 rw mask 0xf77e_fcfe;
        /// HNPTXFSIZ of a host.
        DIEPTXF0 0x028 rw reset 0x200;
        /// NOVBUSSENS of an STM32F4 is VBDEN of an STM32L4.
        GCCFG 0x038 rw mask 0x003f_0000 { PWRDWN 16, NOVBUSSENS 21 };
        CID 0x03c rw reset 0x1100;
        GSNPSID 0x040 ro reset 0x4f54_281a;
        GHWCFG2 0x048 ro reset 0x229e_d590;
        GHWCFG3 0x04c ro reset 0x03f4_03e8;
        GHWCFG4 0x050 ro reset 0x17f0_0030;
        DCTL 0x804 rw mask 0xfff {
            RWUSIG 0, SDIS 1, GINSTS 2, GONSTS 3, SGINAK 7, CGINAK 8, SGONAK 9, CGONAK 10,
        };
    }
}

/// Registers of two more endpoints, and of four more channels.
mod more {
    use crate::registers::registers;

    registers! {
        pub(super) const MAP "OTG_" {
            DIEPTXF [4..6; 4] 0x110 rw reset 0x0200_0400;
            HCCHAR [8..12; 0x20] 0x600 rw;
            HCINT [8..12; 0x20] 0x608 w1c mask 0x7ff;
            HCINTMSK [8..12; 0x20] 0x60c rw mask 0x7ff;
            HCTSIZ [8..12; 0x20] 0x610 rw;
            DIEPCTL [4..6; 0x20] 0x980 rw;
            DIEPINT [4..6; 0x20] 0x988 w1c reset 0x80 mask 0x3bfb;
            DIEPTSIZ [4..6; 0x20] 0x990 rw mask 0x7fff_ffff;
            DTXFSTS [4..6; 0x20] 0x998 ro mask 0xffff;
            DOEPCTL [4..6; 0x20] 0xb80 rw;
            DOEPINT [4..6; 0x20] 0xb88 w1c mask 0xf17f;
            DOEPTSIZ [4..6; 0x20] 0xb90 rw mask 0x7fff_ffff;
        }
    }
}

/// The OTG_FS of an STM32F4.
mod f4fs {
    use crate::registers::registers;

    registers! {
        pub(super) const OWN "OTG_" {
            GAHBCFG 0x008 rw mask 0x181;
            GUSBCFG 0x00c rw reset 0xa00 mask 0xe000_3f07;
            GINTSTS 0x014 w1c reset 0x0400_0020 mask 0xf77c_fcff;
            GINTMSK 0x018 rw mask 0xf73e_fcfe;
            DIEPTXF0 0x028 rw reset 0x200;
            GCCFG 0x038 rw mask 0x003d_0000;
            CID 0x03c rw reset 0x1200;
            GSNPSID 0x040 ro reset 0x4f54_281a;
            GHWCFG2 0x048 ro reset 0x229d_cd20;
            GHWCFG3 0x04c ro reset 0x0200_01e8;
            GHWCFG4 0x050 ro reset 0x0ff0_8030;
            DCTL 0x804 rw mask 0xfff;
        }
    }
}

/// The OTG_FS of an STM32L4. GUSBCFG has TRDT 5, and PHYSEL, which is read-only; DCTL has SDIS.
mod l4 {
    use crate::registers::registers;

    registers! {
        pub(super) const OWN "OTG_" {
            GAHBCFG 0x008 rw mask 0x181;
            GUSBCFG 0x00c rw reset 0x1440 mask 0xe000_3f47 { PHYSEL 6 ro };
            GINTSTS 0x014 w1c reset 0x1400_0020 mask 0xf77c_fcff;
            GINTMSK 0x018 rw mask 0xffbc_fcfe;
            DIEPTXF0 0x028 rw reset 0x0200_0200;
            GCCFG 0x038 rw mask 0x003f_0000;
            CID 0x03c rw reset 0x3000;
            GSNPSID 0x040 ro reset 0x4f54_330a;
            GHWCFG2 0x048 ro reset 0x229e_d520;
            GHWCFG3 0x04c ro reset 0x0200_d1e8;
            GHWCFG4 0x050 ro reset 0x17f0_8030;
            DCTL 0x804 rw reset 2 mask 0xfff;
        }
    }
}

/// All registers, as in the OTG_HS of an STM32F4.
pub const ALL: Map = joined!(COMMON, more::MAP, OF_HIGH_SPEED, OF_L4, OWN);

/// The part that a core belongs to: its differences from others.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// Its registers.
    pub map: Map,
    /// Endpoints of each direction, including endpoint 0.
    pub endpoints: u32,
    /// Channels of a host.
    pub channels: u32,
    /// The PHY is outside, by ULPI, until PHYSEL is set.
    pub has_ulpi: bool,
    /// The bits of GCCFG, and of GOTGCTL, that decide on the session, and their values in a valid one.
    session: [(u32, u32); 2],
}

const OVERRIDE: u32 = GOTGCTL_BVALOEN | GOTGCTL_BVALOVAL;

/// OTG_FS of an STM32F405/407 or STM32F411.
pub static F4FS: Part = Part {
    map: joined!(COMMON, f4fs::OWN),
    endpoints: 4,
    channels: 8,
    has_ulpi: false,
    session: [(GCCFG_NOVBUSSENS, GCCFG_NOVBUSSENS), (0, 0)],
};

/// OTG_HS of an STM32F405/407.
pub static F4HS: Part = Part {
    map: joined!(COMMON, more::MAP, OF_HIGH_SPEED, OWN),
    endpoints: 6,
    channels: 12,
    has_ulpi: true,
    session: [(GCCFG_NOVBUSSENS, GCCFG_NOVBUSSENS), (0, 0)],
};

/// OTG_FS of an STM32L4R or L4S.
pub static L4FS: Part = Part {
    map: joined!(COMMON, more::MAP, OF_L4, l4::OWN),
    endpoints: 6,
    channels: 12,
    has_ulpi: false,
    session: [(GCCFG_NOVBUSSENS, 0), (OVERRIDE, OVERRIDE)],
};

impl Part {
    /// True if the session is valid: VBUS is assumed present unless sensing, which needs a cable, is on.
    pub fn has_session(&self, registers: &Registers) -> bool {
        let [(gccfg, sensing), (gotgctl, overridden)] = self.session;
        registers.has(GCCFG, GCCFG_PWRDWN)
            && registers[GCCFG] & gccfg == sensing
            && registers[GOTGCTL] & gotgctl == overridden
    }
}

/// The value of GRSTCTL.TXFNUM for all FIFOs.
pub const ALL_FIFOS: u32 = 0x10;
/// Flags of GINTSTS that a write of 1 clears.
pub const LATCHED: u32 = 0xf8f0_fc0a;
/// Bits of DCTL that keep a written value: RWUSIG, SDIS, TCTL, POPRGDNE.
pub const DCTL_KEPT: u32 = 0x873;
/// The first FIFO; each has 4 KiB of addresses.
pub const FIFOS: u32 = 0x1000;

/// Registers of channel 0, and of endpoint 0; the next ones follow every 0x20 bytes.
pub const CHANNELS: u32 = HCCHAR;
pub const IN_ENDPOINTS: u32 = DIEPCTL0;
pub const OUT_ENDPOINTS: u32 = DOEPCTL0;
/// Offsets from an endpoint's first register: DIEPCTLx and DOEPCTLx, their interrupts, DTXFSTSx. From a channel's:
/// HCCHARx, HCINTx, HCINTMSKx.
pub const CONTROL: u32 = 0x00;
pub const INTERRUPT: u32 = 0x08;
pub const INTERRUPT_MASK: u32 = 0x0c;
pub const FIFO_STATUS: u32 = 0x18;
