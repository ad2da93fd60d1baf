//! The register maps of the RTC.

use crate::support::registers::AccessKind::{Ro, Rw, Wo};
use crate::support::registers::Register;

pub const TR: u32 = 0x00;
pub const DR: u32 = 0x04;
pub const CR: u32 = 0x08;
pub const ISR: u32 = 0x0c;
pub const PRER: u32 = 0x10;
pub const WUTR: u32 = 0x14;
pub const CALIBR: u32 = 0x18;
pub const ALRMAR: u32 = 0x1c;
pub const ALRMBR: u32 = 0x20;
pub const WPR: u32 = 0x24;
pub const SSR: u32 = 0x28;
pub const SHIFTR: u32 = 0x2c;
pub const CALR: u32 = 0x3c;
/// RTC_TAFCR, and RTC_TAMPCR of an STM32L4.
pub const TAFCR: u32 = 0x40;
pub const OR: u32 = 0x4c;
pub const ALRMASSR: u32 = 0x44;
pub const ALRMBSSR: u32 = 0x48;
/// The first of the backup registers.
pub const BKP0R: u32 = 0x50;

pub const SHIFTR_SUBFS: u32 = 0x7fff;
pub const SHIFTR_ADD1S: u32 = 1 << 31;
/// RTC_SSR: a further shift would overflow.
pub const SSR_OVERFLOWS: u32 = 1 << 15;

pub const TR_MASK: u32 = 0x007f_7f7f;
pub const DR_MASK: u32 = 0x00ff_ff3f;
/// 1 January 2000, a Monday.
pub const DR_RESET: u32 = 0x0000_2101;
pub const PRER_RESET: u32 = 0x007f_00ff;

pub const CR_WUCKSEL: u32 = 7;
pub const CR_REFCKON: u32 = 1 << 4;
pub const CR_BYPSHAD: u32 = 1 << 5;
pub const CR_FMT: u32 = 1 << 6;
/// Coarse calibration of an STM32F4.
pub const CR_DCE: u32 = 1 << 7;
/// Enable of alarm A; alarm B's is the next bit.
pub const CR_ALRAE: u32 = 1 << 8;
pub const CR_WUTE: u32 = 1 << 10;
pub const CR_TSE: u32 = 1 << 11;
/// Interrupt enable of alarm A; alarm B's is the next bit.
pub const CR_ALRAIE: u32 = 1 << 12;
pub const CR_WUTIE: u32 = 1 << 14;
pub const CR_ADD1H: u32 = 1 << 16;
pub const CR_SUB1H: u32 = 1 << 17;
/// Bits that can only be written in initialization mode.
pub const CR_INIT_ONLY: u32 = CR_REFCKON | CR_FMT | CR_DCE;
/// COE.
pub const CR_COE: u32 = 1 << 23;

/// Write flag of alarm A; alarm B's is the next bit.
pub const ISR_ALRAWF: u32 = 1 << 0;
pub const ISR_WUTWF: u32 = 1 << 2;
pub const ISR_INITS: u32 = 1 << 4;
pub const ISR_RSF: u32 = 1 << 5;
pub const ISR_INITF: u32 = 1 << 6;
pub const ISR_INIT: u32 = 1 << 7;
/// Flag of alarm A; alarm B's is the next bit.
pub const ISR_ALRAF: u32 = 1 << 8;
pub const ISR_WUTF: u32 = 1 << 10;
/// Flags that a write of 0 clears, and that no key protects.
pub const ISR_FLAGS: u32 = 0x3f00;

/// The register map of an STM32F4 (RM0090, "RTC register map"); RTC_BKPxR follow.
pub const REGISTERS: &[Register] = &[
    Register::new("RTC_TR", TR, Rw, 0, TR_MASK),
    Register::new("RTC_DR", DR, Rw, DR_RESET, DR_MASK),
    Register::new("RTC_CR", CR, Rw, 0, 0x00fc_ffff),
    Register::new("RTC_ISR", ISR, Rw, 7, 0x0001_3fff),
    Register::new("RTC_PRER", PRER, Rw, PRER_RESET, 0x007f_7fff),
    Register::new("RTC_WUTR", WUTR, Rw, 0xffff, 0xffff),
    Register::new("RTC_CALIBR", CALIBR, Rw, 0, 0x9f),
    Register::new("RTC_ALRMAR", ALRMAR, Rw, 0, u32::MAX),
    Register::new("RTC_ALRMBR", ALRMBR, Rw, 0, u32::MAX),
    Register::new("RTC_WPR", WPR, Wo, 0, 0xff),
    Register::new("RTC_SSR", SSR, Ro, 0, 0xffff),
    Register::new("RTC_SHIFTR", SHIFTR, Wo, 0, 0x8000_7fff),
    Register::new("RTC_TSTR", 0x30, Ro, 0, TR_MASK),
    Register::new("RTC_TSDR", 0x34, Ro, 0, DR_MASK),
    Register::new("RTC_TSSSR", 0x38, Ro, 0, 0xffff),
    Register::new("RTC_CALR", CALR, Rw, 0, 0xe1ff),
    Register::new("RTC_TAFCR", TAFCR, Rw, 0, 0x0007_ff9f),
    Register::new("RTC_ALRMASSR", ALRMASSR, Rw, 0, 0x0f00_7fff),
    Register::new("RTC_ALRMBSSR", ALRMBSSR, Rw, 0, 0x0f00_7fff),
];

/// The register map of an STM32L4 (RM0432, "RTC register map"); RTC_BKPxR follow.
pub const REGISTERS_L4: &[Register] = &[
    Register::new("RTC_TR", TR, Rw, 0, TR_MASK),
    Register::new("RTC_DR", DR, Rw, DR_RESET, DR_MASK),
    Register::new("RTC_CR", CR, Rw, 0, 0x01fc_ff7f),
    Register::new("RTC_ISR", ISR, Rw, 7, 0x0003_ffff),
    Register::new("RTC_PRER", PRER, Rw, PRER_RESET, 0x007f_7fff),
    Register::new("RTC_WUTR", WUTR, Rw, 0xffff, 0xffff),
    Register::new("RTC_ALRMAR", ALRMAR, Rw, 0, u32::MAX),
    Register::new("RTC_ALRMBR", ALRMBR, Rw, 0, u32::MAX),
    Register::new("RTC_WPR", WPR, Wo, 0, 0xff),
    Register::new("RTC_SSR", SSR, Ro, 0, 0xffff),
    Register::new("RTC_SHIFTR", SHIFTR, Wo, 0, 0x8000_7fff),
    Register::new("RTC_TSTR", 0x30, Ro, 0, TR_MASK),
    Register::new("RTC_TSDR", 0x34, Ro, 0, DR_MASK),
    Register::new("RTC_TSSSR", 0x38, Ro, 0, 0xffff),
    Register::new("RTC_CALR", CALR, Rw, 0, 0xe1ff),
    Register::new("RTC_TAMPCR", TAFCR, Rw, 0, 0x01ff_ffff),
    Register::new("RTC_ALRMASSR", ALRMASSR, Rw, 0, 0x0f00_7fff),
    Register::new("RTC_ALRMBSSR", ALRMBSSR, Rw, 0, 0x0f00_7fff),
    Register::new("RTC_OR", OR, Rw, 0, 3),
];
