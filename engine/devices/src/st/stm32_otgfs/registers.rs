//! The register map (RM0090 and RM0432, "OTG_FS control and status registers"; RM0090, "OTG_HS control and status
//! registers"), with the names of RM0432. Offsets 0x040 to 0x050 are Synopsys' identification registers, which the
//! manuals omit and USB stacks read; their values are from TinyUSB's list of cores.

use crate::support::registers::AccessKind::{Ro, Rw, W1c};
use crate::support::registers::{Register, find};

/// The part that the core belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// OTG_FS of an STM32F405/407 or STM32F411.
    F4Fs,
    /// OTG_HS of an STM32F405/407.
    F4Hs,
    /// OTG_FS of an STM32L4R or L4S.
    L4Fs,
}

impl Part {
    /// Endpoints of each direction, including endpoint 0.
    pub const fn endpoints(self) -> u32 {
        if matches!(self, Part::F4Fs) { 4 } else { 6 }
    }

    /// Channels of a host.
    pub const fn channels(self) -> u32 {
        if matches!(self, Part::F4Fs) { 8 } else { 12 }
    }
}

pub const GOTGCTL: u32 = 0x000;
pub const GOTGINT: u32 = 0x004;
pub const GAHBCFG: u32 = 0x008;
pub const GUSBCFG: u32 = 0x00c;
pub const GRSTCTL: u32 = 0x010;
pub const GINTSTS: u32 = 0x014;
pub const GINTMSK: u32 = 0x018;
pub const GRXFSIZ: u32 = 0x024;
/// HNPTXFSIZ of a host.
pub const DIEPTXF0: u32 = 0x028;
pub const HNPTXSTS: u32 = 0x02c;
const GI2CCTL: u32 = 0x030;
pub const GCCFG: u32 = 0x038;
const CID: u32 = 0x03c;
const GSNPSID: u32 = 0x040;
const GHWCFG2: u32 = 0x048;
const GHWCFG3: u32 = 0x04c;
const GHWCFG4: u32 = 0x050;
const GLPMCFG: u32 = 0x054;
const GPWRDN: u32 = 0x058;
const GADPCTL: u32 = 0x060;
/// Sizes of the FIFOs: the first one's, then endpoint 1's.
pub const HPTXFSIZ: u32 = 0x100;
pub const HCFG: u32 = 0x400;
pub const HAINT: u32 = 0x414;
pub const HAINTMSK: u32 = 0x418;
/// Registers of channel 0; the next channels follow every 0x20 bytes.
pub const CHANNELS: u32 = 0x500;
pub const DCFG: u32 = 0x800;
pub const DCTL: u32 = 0x804;
pub const DSTS: u32 = 0x808;
pub const DIEPMSK: u32 = 0x810;
pub const DOEPMSK: u32 = 0x814;
pub const DAINT: u32 = 0x818;
pub const DAINTMSK: u32 = 0x81c;
pub const DIEPEMPMSK: u32 = 0x834;
/// Registers of endpoint 0; the next endpoints follow every 0x20 bytes.
pub const IN_ENDPOINTS: u32 = 0x900;
pub const OUT_ENDPOINTS: u32 = 0xb00;
pub const PCGCCTL: u32 = 0xe00;
/// The first FIFO; each has 4 KiB of addresses.
pub const FIFOS: u32 = 0x1000;

/// Offsets from an endpoint's first register: DIEPCTLx and DOEPCTLx, their interrupts, DTXFSTSx. From a channel's:
/// HCCHARx, HCINTx, HCINTMSKx.
pub const CONTROL: u32 = 0x00;
pub const INTERRUPT: u32 = 0x08;
pub const INTERRUPT_MASK: u32 = 0x0c;
pub const FIFO_STATUS: u32 = 0x18;

/// Override of the session by software, in an STM32L4.
pub const GOTGCTL_BVALOEN: u32 = 1 << 6;
pub const GOTGCTL_BVALOVAL: u32 = 1 << 7;
/// ID is not pulled low: device mode.
const GOTGCTL_CIDSTS: u32 = 1 << 16;
pub const GOTGCTL_BSVLD: u32 = 1 << 19;
pub const GAHBCFG_GINTMSK: u32 = 1 << 0;
pub const GAHBCFG_TXFELVL: u32 = 1 << 7;
pub const GUSBCFG_PHYSEL: u32 = 1 << 6;
pub const GUSBCFG_FHMOD: u32 = 1 << 29;
pub const GUSBCFG_FDMOD: u32 = 1 << 30;
pub const GRSTCTL_CSRST: u32 = 1 << 0;
pub const GRSTCTL_RXFFLSH: u32 = 1 << 4;
pub const GRSTCTL_TXFFLSH: u32 = 1 << 5;
/// TXFNUM, five bits; ALL_FIFOS selects all.
pub const GRSTCTL_TXFNUM: u32 = 6;
pub const ALL_FIFOS: u32 = 0x10;
pub const GRSTCTL_AHBIDL: u32 = 1 << 31;

pub const INT_CMOD: u32 = 1 << 0;
pub const INT_MMIS: u32 = 1 << 1;
pub const INT_OTGINT: u32 = 1 << 2;
pub const INT_NPTXFE: u32 = 1 << 5;
pub const INT_GINAKEFF: u32 = 1 << 6;
pub const INT_GONAKEFF: u32 = 1 << 7;
pub const INT_ESUSP: u32 = 1 << 10;
pub const INT_USBSUSP: u32 = 1 << 11;
pub const INT_IEPINT: u32 = 1 << 18;
pub const INT_OEPINT: u32 = 1 << 19;
pub const INT_HCINT: u32 = 1 << 25;
pub const INT_PTXFE: u32 = 1 << 26;
const INT_CIDSCHG: u32 = 1 << 28;
pub const INT_SRQINT: u32 = 1 << 30;
/// Flags that a write of 1 clears.
pub const INT_LATCHED: u32 = 0xf8f0_fc0a;

pub const GCCFG_PWRDWN: u32 = 1 << 16;
/// GCCFG of an STM32F4.
pub const GCCFG_NOVBUSSENS: u32 = 1 << 21;
/// GCCFG of an STM32L4.
pub const GCCFG_VBDEN: u32 = 1 << 21;

pub const DCTL_RWUSIG: u32 = 1 << 0;
pub const DCTL_SDIS: u32 = 1 << 1;
pub const DCTL_GINSTS: u32 = 1 << 2;
pub const DCTL_GONSTS: u32 = 1 << 3;
pub const DCTL_SGINAK: u32 = 1 << 7;
pub const DCTL_CGINAK: u32 = 1 << 8;
pub const DCTL_SGONAK: u32 = 1 << 9;
pub const DCTL_CGONAK: u32 = 1 << 10;
/// RWUSIG, SDIS, TCTL, POPRGDNE.
pub const DCTL_KEPT: u32 = 0x873;
pub const DSTS_SUSPSTS: u32 = 1 << 0;

pub const EP_USBAEP: u32 = 1 << 15;
pub const EP_DPID: u32 = 1 << 16;
pub const EP_NAKSTS: u32 = 1 << 17;
pub const EP_CNAK: u32 = 1 << 26;
pub const EP_SNAK: u32 = 1 << 27;
pub const EP_SD0PID: u32 = 1 << 28;
pub const EP_SODDFRM: u32 = 1 << 29;
pub const EP_EPDIS: u32 = 1 << 30;
pub const EP_EPENA: u32 = 1 << 31;
pub const EPINT_EPDISD: u32 = 1 << 1;
pub const EPINT_INEPNE: u32 = 1 << 6;
pub const EPINT_TXFE: u32 = 1 << 7;
/// HCCHARx.CHDIS and CHENA, HCINTx.CHH.
pub const CHAR_CHDIS: u32 = 1 << 30;
pub const CHAR_CHENA: u32 = 1 << 31;
pub const HCINT_CHH: u32 = 1 << 1;

pub const PCGCCTL_STPPCLK: u32 = 1 << 0;
pub const PCGCCTL_PHYSUSP: u32 = 1 << 4;

/// Registers that exist once, and those of channels and endpoints, by number.
macro_rules! register_map {
    ([$($row:expr),* $(,)?], [$($channel:literal)*], [$($device:expr),* $(,)?], [$($in:literal)*], [$($out:literal)*],
     [$($last:expr),* $(,)?]) => {
        &[
            $($row,)*
            $(
                Register::new(concat!("OTG_HCCHAR", $channel), CHANNELS + 0x20 * $channel, Rw, 0, u32::MAX),
                Register::new(concat!("OTG_HCSPLT", $channel), CHANNELS + 0x20 * $channel + 4, Rw, 0, 0x8001_ffff),
                Register::new(concat!("OTG_HCINT", $channel), CHANNELS + 0x20 * $channel + 8, W1c, 0, 0x7ff),
                Register::new(concat!("OTG_HCINTMSK", $channel), CHANNELS + 0x20 * $channel + 0xc, Rw, 0, 0x7ff),
                Register::new(concat!("OTG_HCTSIZ", $channel), CHANNELS + 0x20 * $channel + 0x10, Rw, 0, u32::MAX),
                Register::new(concat!("OTG_HCDMA", $channel), CHANNELS + 0x20 * $channel + 0x14, Rw, 0, u32::MAX),
            )*
            $($device,)*
            $(
                Register::new(concat!("OTG_DIEPCTL", $in), IN_ENDPOINTS + 0x20 * $in, Rw, first_of($in), u32::MAX),
                Register::new(concat!("OTG_DIEPINT", $in), IN_ENDPOINTS + 0x20 * $in + 8, W1c, 0x80, 0x3bfb),
                Register::new(concat!("OTG_DIEPTSIZ", $in), IN_ENDPOINTS + 0x20 * $in + 0x10, Rw, 0, 0x7fff_ffff),
                Register::new(concat!("OTG_DIEPDMA", $in), IN_ENDPOINTS + 0x20 * $in + 0x14, Rw, 0, u32::MAX),
                Register::new(concat!("OTG_DTXFSTS", $in), IN_ENDPOINTS + 0x20 * $in + 0x18, Ro, 0, 0xffff),
            )*
            $(
                Register::new(concat!("OTG_DOEPCTL", $out), OUT_ENDPOINTS + 0x20 * $out, Rw, first_of($out), u32::MAX),
                Register::new(concat!("OTG_DOEPINT", $out), OUT_ENDPOINTS + 0x20 * $out + 8, W1c, 0, 0xf17f),
                Register::new(concat!("OTG_DOEPTSIZ", $out), OUT_ENDPOINTS + 0x20 * $out + 0x10, Rw, 0, 0x7fff_ffff),
                Register::new(concat!("OTG_DOEPDMA", $out), OUT_ENDPOINTS + 0x20 * $out + 0x14, Rw, 0, u32::MAX),
            )*
            $($last,)*
        ]
    };
}

/// Endpoint 0 is always active.
const fn first_of(endpoint: u32) -> u32 {
    if endpoint == 0 { EP_USBAEP } else { 0 }
}

/// All registers, as in the OTG_HS of an STM32F4; [`row`] applies the differences of other parts.
pub const REGISTERS: &[Register] = register_map!(
    [
        Register::new("OTG_GOTGCTL", GOTGCTL, Rw, GOTGCTL_CIDSTS, 0x001f_1fff),
        Register::new("OTG_GOTGINT", GOTGINT, W1c, 0, 0x001e_0304),
        Register::new("OTG_GAHBCFG", GAHBCFG, Rw, 0, 0x1bf),
        Register::new("OTG_GUSBCFG", GUSBCFG, Rw, 0xa00, 0xe3fe_bf47),
        Register::new("OTG_GRSTCTL", GRSTCTL, Rw, GRSTCTL_AHBIDL, 0xc000_07f7),
        Register::new("OTG_GINTSTS", GINTSTS, W1c, INT_PTXFE | INT_NPTXFE, 0xf77c_fcff),
        Register::new("OTG_GINTMSK", GINTMSK, Rw, 0, 0xf77e_fcfe),
        Register::new("OTG_GRXSTSR", 0x01c, Ro, 0, 0x01ff_ffff),
        Register::new("OTG_GRXSTSP", 0x020, Ro, 0, 0x01ff_ffff),
        Register::new("OTG_GRXFSIZ", GRXFSIZ, Rw, 0x200, 0xffff),
        Register::new("OTG_DIEPTXF0", DIEPTXF0, Rw, 0x200, u32::MAX),
        Register::new("OTG_HNPTXSTS", HNPTXSTS, Ro, 0x0008_0200, 0x7fff_ffff),
        Register::new("OTG_GI2CCTL", GI2CCTL, Rw, 0x0200_0400, u32::MAX),
        Register::new("OTG_GCCFG", GCCFG, Rw, 0, 0x003f_0000),
        Register::new("OTG_CID", CID, Rw, 0x1100, u32::MAX),
        Register::new("OTG_GSNPSID", GSNPSID, Ro, 0x4f54_281a, u32::MAX),
        Register::new("OTG_GHWCFG1", 0x044, Ro, 0, u32::MAX),
        Register::new("OTG_GHWCFG2", GHWCFG2, Ro, 0x229e_d590, u32::MAX),
        Register::new("OTG_GHWCFG3", GHWCFG3, Ro, 0x03f4_03e8, u32::MAX),
        Register::new("OTG_GHWCFG4", GHWCFG4, Ro, 0x17f0_0030, u32::MAX),
        Register::new("OTG_GLPMCFG", GLPMCFG, Rw, 0, 0x1fff_ffff),
        Register::new("OTG_GPWRDN", GPWRDN, Rw, 0, 0x0080_0001),
        Register::new("OTG_GADPCTL", GADPCTL, Rw, 0, 0x1fff_ffff),
        Register::new("OTG_HPTXFSIZ", HPTXFSIZ, Rw, 0x0200_0600, u32::MAX),
        Register::new("OTG_DIEPTXF1", 0x104, Rw, 0x0200_0400, u32::MAX),
        Register::new("OTG_DIEPTXF2", 0x108, Rw, 0x0200_0400, u32::MAX),
        Register::new("OTG_DIEPTXF3", 0x10c, Rw, 0x0200_0400, u32::MAX),
        Register::new("OTG_DIEPTXF4", 0x110, Rw, 0x0200_0400, u32::MAX),
        Register::new("OTG_DIEPTXF5", 0x114, Rw, 0x0200_0400, u32::MAX),
        Register::new("OTG_HCFG", HCFG, Rw, 0, 7),
        Register::new("OTG_HFIR", 0x404, Rw, 0xea60, 0xffff),
        Register::new("OTG_HFNUM", 0x408, Ro, 0x3fff, u32::MAX),
        Register::new("OTG_HPTXSTS", 0x410, Ro, 0x0008_0100, u32::MAX),
        Register::new("OTG_HAINT", HAINT, Ro, 0, 0xffff),
        Register::new("OTG_HAINTMSK", HAINTMSK, Rw, 0, 0xffff),
        Register::new("OTG_HPRT", 0x440, Rw, 0, 0x0001_f1c0),
    ],
    [0 1 2 3 4 5 6 7 8 9 10 11],
    [
        Register::new("OTG_DCFG", DCFG, Rw, 0x0220_0000, 0x0320_fff7),
        Register::new("OTG_DCTL", DCTL, Rw, 0, 0xfff),
        Register::new("OTG_DSTS", DSTS, Ro, 0x10, 0x003f_ff1f),
        Register::new("OTG_DIEPMSK", DIEPMSK, Rw, 0, 0x3b7b),
        Register::new("OTG_DOEPMSK", DOEPMSK, Rw, 0, 0xf17b),
        Register::new("OTG_DAINT", DAINT, Ro, 0, u32::MAX),
        Register::new("OTG_DAINTMSK", DAINTMSK, Rw, 0, u32::MAX),
        Register::new("OTG_DVBUSDIS", 0x828, Rw, 0x17d7, 0xffff),
        Register::new("OTG_DVBUSPULSE", 0x82c, Rw, 0x05b8, 0x0fff),
        Register::new("OTG_DTHRCTL", 0x830, Rw, 0, 0x0bff_1fff),
        Register::new("OTG_DIEPEMPMSK", DIEPEMPMSK, Rw, 0, 0xffff),
        Register::new("OTG_DEACHINT", 0x838, Ro, 0, 0x0002_0002),
        Register::new("OTG_DEACHINTMSK", 0x83c, Rw, 0, 0x0002_0002),
        Register::new("OTG_DIEPEACHMSK1", 0x844, Rw, 0, 0x237b),
        Register::new("OTG_DOEPEACHMSK1", 0x884, Rw, 0, 0x737b),
    ],
    [0 1 2 3 4 5],
    [0 1 2 3 4 5],
    [Register::new("OTG_PCGCCTL", PCGCCTL, Rw, 0, 0x13)]
);

/// Registers of the OTG_HS only: threshold and DMA, separate interrupts of endpoint 1, I2C.
const fn is_of_high_speed(offset: u32) -> bool {
    match offset {
        GI2CCTL | 0x830 | 0x838 | 0x83c | 0x844 | 0x884 => true,
        CHANNELS..DCFG => matches!(offset % 0x20, 4 | 0x14),
        IN_ENDPOINTS..PCGCCTL => offset % 0x20 == 0x14,
        _ => false,
    }
}

/// True if a register belongs to channels or endpoints that the part lacks.
const fn is_beyond(part: Part, offset: u32) -> bool {
    match offset {
        0x10c..HCFG => (offset - HPTXFSIZ) / 4 >= part.endpoints(),
        CHANNELS..DCFG => (offset - CHANNELS) / 0x20 >= part.channels(),
        IN_ENDPOINTS..OUT_ENDPOINTS => (offset - IN_ENDPOINTS) / 0x20 >= part.endpoints(),
        OUT_ENDPOINTS..PCGCCTL => (offset - OUT_ENDPOINTS) / 0x20 >= part.endpoints(),
        _ => false,
    }
}

/// A register of a part.
pub fn row(part: Part, offset: u32) -> Option<Register> {
    let row = *find(REGISTERS, offset)?;
    let lacks = matches!(offset, GLPMCFG | GPWRDN | GADPCTL) && part != Part::L4Fs
        || part != Part::F4Hs && is_of_high_speed(offset)
        || is_beyond(part, offset);
    if lacks {
        return None;
    }
    let reset = match (part, offset) {
        (Part::F4Fs, CID) => 0x1200,
        (Part::F4Fs, GHWCFG2) => 0x229d_cd20,
        (Part::F4Fs, GHWCFG3) => 0x0200_01e8,
        (Part::F4Fs, GHWCFG4) => 0x0ff0_8030,
        // TRDT 5, PHYSEL.
        (Part::L4Fs, GUSBCFG) => 0x1440,
        (Part::L4Fs, GINTSTS) => INT_CIDSCHG | INT_PTXFE | INT_NPTXFE,
        (Part::L4Fs, DIEPTXF0) => 0x0200_0200,
        (Part::L4Fs, DCTL) => DCTL_SDIS,
        (Part::L4Fs, CID) => 0x3000,
        (Part::L4Fs, GSNPSID) => 0x4f54_330a,
        (Part::L4Fs, GHWCFG2) => 0x229e_d520,
        (Part::L4Fs, GHWCFG3) => 0x0200_d1e8,
        (Part::L4Fs, GHWCFG4) => 0x17f0_8030,
        _ => row.reset,
    };
    let mask = match (part, offset) {
        (Part::F4Fs | Part::L4Fs, GAHBCFG) => 0x181,
        // PHYSEL is write-only or read-only.
        (Part::F4Fs | Part::L4Fs, GUSBCFG) => 0xe000_3f07 | reset,
        (Part::F4Fs, GINTMSK) => 0xf73e_fcfe,
        (Part::L4Fs, GINTMSK) => 0xffbc_fcfe,
        (Part::F4Fs, GCCFG) => 0x003d_0000,
        _ => row.mask,
    };
    Some(row.with(reset, mask))
}
