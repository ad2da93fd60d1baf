//! Registers of a bxCAN (RM0090, "CAN registers"), without those of its filters.

use crate::support::registers::{AccessKind, Register};

use AccessKind::{Ro, Rw};

/// The register map: control and status, transmit mailboxes, receive mailboxes.
pub const REGISTERS: &[Register] = &[
    Register::new("CAN_MCR", MCR, Rw, 0x0001_0002, 0x0001_80ff),
    Register::new("CAN_MSR", MSR, Rw, 0x0000_0c02, 0x0f1f),
    Register::new("CAN_TSR", TSR, Rw, 0x1c00_0000, u32::MAX),
    Register::new("CAN_RF0R", RF0R, Rw, 0, 0x3b),
    Register::new("CAN_RF1R", RF1R, Rw, 0, 0x3b),
    Register::new("CAN_IER", IER, Rw, 0, 0x0003_8f7f),
    Register::new("CAN_ESR", ESR, Rw, 0, 0xffff_0077),
    Register::new("CAN_BTR", BTR, Rw, 0x0123_0000, BTR_MASK),
    Register::new("CAN_TI0R", TI0R, Rw, 0, u32::MAX),
    Register::new("CAN_TDT0R", 0x184, Rw, 0, 0xffff_010f),
    Register::new("CAN_TDL0R", 0x188, Rw, 0, u32::MAX),
    Register::new("CAN_TDH0R", 0x18c, Rw, 0, u32::MAX),
    Register::new("CAN_TI1R", 0x190, Rw, 0, u32::MAX),
    Register::new("CAN_TDT1R", 0x194, Rw, 0, 0xffff_010f),
    Register::new("CAN_TDL1R", 0x198, Rw, 0, u32::MAX),
    Register::new("CAN_TDH1R", 0x19c, Rw, 0, u32::MAX),
    Register::new("CAN_TI2R", 0x1a0, Rw, 0, u32::MAX),
    Register::new("CAN_TDT2R", 0x1a4, Rw, 0, 0xffff_010f),
    Register::new("CAN_TDL2R", 0x1a8, Rw, 0, u32::MAX),
    Register::new("CAN_TDH2R", TDH2R, Rw, 0, u32::MAX),
    Register::new("CAN_RI0R", RI0R, Ro, 0, 0xffff_fffe),
    Register::new("CAN_RDT0R", 0x1b4, Ro, 0, 0xffff_ff0f),
    Register::new("CAN_RDL0R", 0x1b8, Ro, 0, u32::MAX),
    Register::new("CAN_RDH0R", 0x1bc, Ro, 0, u32::MAX),
    Register::new("CAN_RI1R", 0x1c0, Ro, 0, 0xffff_fffe),
    Register::new("CAN_RDT1R", 0x1c4, Ro, 0, 0xffff_ff0f),
    Register::new("CAN_RDL1R", 0x1c8, Ro, 0, u32::MAX),
    Register::new("CAN_RDH1R", RDH1R, Ro, 0, u32::MAX),
];

pub const MCR: u32 = 0x00;
pub const MSR: u32 = 0x04;
pub const TSR: u32 = 0x08;
pub const RF0R: u32 = 0x0c;
pub const RF1R: u32 = 0x10;
pub const IER: u32 = 0x14;
pub const ESR: u32 = 0x18;
pub const BTR: u32 = 0x1c;
pub const TI0R: u32 = 0x180;
pub const TDH2R: u32 = 0x1ac;
pub const RI0R: u32 = 0x1b0;
pub const RDH1R: u32 = 0x1cc;

pub const MCR_INRQ: u32 = 1 << 0;
pub const MCR_SLEEP: u32 = 1 << 1;
pub const MCR_TXFP: u32 = 1 << 2;
pub const MCR_RFLM: u32 = 1 << 3;
pub const MCR_NART: u32 = 1 << 4;
pub const MCR_AWUM: u32 = 1 << 5;
pub const MCR_ABOM: u32 = 1 << 6;
pub const MCR_TTCM: u32 = 1 << 7;
pub const MCR_RESET: u32 = 1 << 15;
/// Debug freeze, without effect in the model.
pub const MCR_DBF: u32 = 1 << 16;
pub const MCR_MASK: u32 = 0x0001_00ff;

pub const MSR_INAK: u32 = 1 << 0;
pub const MSR_SLAK: u32 = 1 << 1;
pub const MSR_ERRI: u32 = 1 << 2;
pub const MSR_WKUI: u32 = 1 << 3;
pub const MSR_SLAKI: u32 = 1 << 4;
pub const MSR_TXM: u32 = 1 << 8;
pub const MSR_RXM: u32 = 1 << 9;
/// The last sample and RX, which are always recessive.
pub const MSR_SAMP_RX: u32 = 3 << 10;

/// Bits of mailbox 0; the next mailboxes' follow, eight bits apart.
pub const TSR_RQCP: u32 = 1 << 0;
pub const TSR_TXOK: u32 = 1 << 1;
pub const TSR_ALST: u32 = 1 << 2;
pub const TSR_TERR: u32 = 1 << 3;
pub const TSR_ABRQ: u32 = 1 << 7;
pub const TSR_CODE: u32 = 24;
pub const TSR_TME: u32 = 26;
pub const TSR_LOW: u32 = 29;

pub const RFR_FULL: u32 = 1 << 3;
pub const RFR_FOVR: u32 = 1 << 4;
pub const RFR_RFOM: u32 = 1 << 5;

pub const IER_TMEIE: u32 = 1 << 0;
/// Bits of FIFO 0; those of FIFO 1 are three bits above.
pub const IER_FMPIE: u32 = 1 << 1;
pub const IER_FFIE: u32 = 1 << 2;
pub const IER_FOVIE: u32 = 1 << 3;
pub const IER_EWGIE: u32 = 1 << 8;
pub const IER_EPVIE: u32 = 1 << 9;
pub const IER_BOFIE: u32 = 1 << 10;
pub const IER_LECIE: u32 = 1 << 11;
pub const IER_ERRIE: u32 = 1 << 15;
pub const IER_WKUIE: u32 = 1 << 16;
pub const IER_SLKIE: u32 = 1 << 17;
pub const IER_MASK: u32 = 0x0003_8f7f;

pub const ESR_EWGF: u32 = 1 << 0;
pub const ESR_EPVF: u32 = 1 << 1;
pub const ESR_BOFF: u32 = 1 << 2;
pub const ESR_LEC: u32 = 4;

pub const BTR_MASK: u32 = 0xc37f_03ff;
pub const BTR_RESET: u32 = 0x0123_0000;
pub const BTR_LBKM: u32 = 1 << 30;
pub const BTR_SILM: u32 = 1 << 31;

pub const TIR_TXRQ: u32 = 1 << 0;
pub const TIR_RTR: u32 = 1 << 1;
pub const TIR_IDE: u32 = 1 << 2;
pub const TDTR_TGT: u32 = 1 << 8;
