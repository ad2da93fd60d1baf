//! Registers and bits of the converter (RM0432, "ADC registers").

use crate::support::registers::AccessKind::{Ro, Rw, W1c};
use crate::support::registers::Register;

pub const ISR: u32 = 0x00;
pub const IER: u32 = 0x04;
pub const CR: u32 = 0x08;
pub const CFGR: u32 = 0x0c;
pub const CFGR2: u32 = 0x10;
pub const SMPR1: u32 = 0x14;
pub const SMPR2: u32 = 0x18;
pub const TR1: u32 = 0x20;
pub const SQR1: u32 = 0x30;
pub const DR: u32 = 0x40;
pub const JSQR: u32 = 0x4c;
pub const OFR1: u32 = 0x60;
pub const OFR4: u32 = 0x6c;
pub const AWD2CR: u32 = 0xa0;
pub const AWD3CR: u32 = 0xa4;
pub const DIFSEL: u32 = 0xb0;
pub const CCR: u32 = 0x308;

pub const ISR_ADRDY: u32 = 1 << 0;
pub const ISR_EOC: u32 = 1 << 2;
pub const ISR_EOS: u32 = 1 << 3;
pub const ISR_OVR: u32 = 1 << 4;
pub const ISR_AWD1: u32 = 1 << 7;

pub const CR_ADEN: u32 = 1 << 0;
pub const CR_ADDIS: u32 = 1 << 1;
pub const CR_ADSTART: u32 = 1 << 2;
pub const CR_JADSTART: u32 = 1 << 3;
pub const CR_ADSTP: u32 = 1 << 4;
/// ADEN, ADDIS, ADSTART, JADSTART, ADSTP, ADCAL: while any of them is 1, the clock can't be changed.
pub const CR_BUSY: u32 = 0x1f | CR_ADCAL;
pub const CR_ADVREGEN: u32 = 1 << 28;
pub const CR_DEEPPWD: u32 = 1 << 29;
pub const CR_ADCALDIF: u32 = 1 << 30;
pub const CR_ADCAL: u32 = 1 << 31;

pub const CFGR_DMAEN: u32 = 1 << 0;
pub const CFGR_RES: u32 = 3;
pub const CFGR_ALIGN: u32 = 1 << 5;
pub const CFGR_OVRMOD: u32 = 1 << 12;
pub const CFGR_CONT: u32 = 1 << 13;
pub const CFGR_AUTDLY: u32 = 1 << 14;
pub const CFGR_AWD1SGL: u32 = 1 << 22;
pub const CFGR_AWD1EN: u32 = 1 << 23;
pub const CFGR_AWD1CH: u32 = 26;
/// DFSDMCFG, EXTEN, DISCEN, JDISCEN, JAWD1EN, JAUTO.
pub const CFGR_UNMODELLED: u32 = 1 << 2 | 3 << 10 | 1 << 16 | 1 << 20 | 3 << 24;

pub const CFGR2_ROVSE: u32 = 1 << 0;
/// JOVSE, TROVS, ROVSM.
pub const CFGR2_UNMODELLED: u32 = 1 << 1 | 3 << 9;

/// SMPPLUS of ADC_SMPR1: lengthens the shortest sample time by a cycle.
pub const SMPR1_SMPPLUS: u32 = 1 << 31;

pub const CCR_CKMODE: u32 = 16;
pub const CCR_PRESC: u32 = 18;
pub const CCR_VREFEN: u32 = 1 << 22;
pub const CCR_CH17SEL: u32 = 1 << 23;
pub const CCR_CH18SEL: u32 = 1 << 24;

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("ADC_ISR", ISR, W1c, 0, 0x7ff),
    Register::new("ADC_IER", IER, Rw, 0, 0x7ff),
    Register::new("ADC_CR", CR, Rw, CR_DEEPPWD, 0xf000_003f),
    Register::new("ADC_CFGR", CFGR, Rw, 1 << 31, 0xffff_7fff),
    Register::new("ADC_CFGR2", CFGR2, Rw, 0, 0x7ff),
    Register::new("ADC_SMPR1", SMPR1, Rw, 0, 0xbfff_ffff),
    Register::new("ADC_SMPR2", SMPR2, Rw, 0, 0x07ff_ffff),
    Register::new("ADC_TR1", TR1, Rw, 0x0fff_0000, 0x0fff_0fff),
    Register::new("ADC_TR2", 0x24, Rw, 0x00ff_0000, 0x00ff_00ff),
    Register::new("ADC_TR3", 0x28, Rw, 0x00ff_0000, 0x00ff_00ff),
    Register::new("ADC_SQR1", SQR1, Rw, 0, 0x1f7d_f7cf),
    Register::new("ADC_SQR2", 0x34, Rw, 0, 0x1f7d_f7df),
    Register::new("ADC_SQR3", 0x38, Rw, 0, 0x1f7d_f7df),
    Register::new("ADC_SQR4", 0x3c, Rw, 0, 0x7df),
    Register::new("ADC_DR", DR, Ro, 0, 0xffff),
    Register::new("ADC_JSQR", JSQR, Rw, 0, 0x7df7_dfff),
    Register::new("ADC_OFR1", OFR1, Rw, 0, 0xfc00_0fff),
    Register::new("ADC_OFR2", 0x64, Rw, 0, 0xfc00_0fff),
    Register::new("ADC_OFR3", 0x68, Rw, 0, 0xfc00_0fff),
    Register::new("ADC_OFR4", OFR4, Rw, 0, 0xfc00_0fff),
    Register::new("ADC_JDR1", 0x80, Ro, 0, 0xffff),
    Register::new("ADC_JDR2", 0x84, Ro, 0, 0xffff),
    Register::new("ADC_JDR3", 0x88, Ro, 0, 0xffff),
    Register::new("ADC_JDR4", 0x8c, Ro, 0, 0xffff),
    Register::new("ADC_AWD2CR", AWD2CR, Rw, 0, 0x7_ffff),
    Register::new("ADC_AWD3CR", AWD3CR, Rw, 0, 0x7_ffff),
    Register::new("ADC_DIFSEL", DIFSEL, Rw, 0, 0x7_fffe),
    Register::new("ADC_CALFACT", 0xb4, Rw, 0, 0x007f_007f),
    Register::new("ADC_CCR", CCR, Rw, 0, 0x01ff_0000),
];
