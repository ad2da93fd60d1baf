//! The register map (RM0090, "I2C register map"), and the bits that the model uses.

use crate::support::registers::{AccessKind, Register};

/// All registers.
pub const REGISTERS: &[Register] = &[
    Register::new("I2C_CR1", CR1, AccessKind::Rw, 0, 0xbffb),
    Register::new("I2C_CR2", CR2, AccessKind::Rw, 0, 0x1f3f),
    Register::new("I2C_OAR1", OAR1, AccessKind::Rw, 0, 0xc3ff),
    Register::new("I2C_OAR2", OAR2, AccessKind::Rw, 0, 0xff),
    Register::new("I2C_DR", DR, AccessKind::Rw, 0, 0xff),
    Register::new("I2C_SR1", SR1, AccessKind::Rw, 0, 0xdfdf),
    Register::new("I2C_SR2", SR2, AccessKind::Ro, 0, 0xfff7),
    Register::new("I2C_CCR", CCR, AccessKind::Rw, 0, 0xcfff),
    Register::new("I2C_TRISE", TRISE, AccessKind::Rw, 2, 0x3f),
    Register::new("I2C_FLTR", FLTR, AccessKind::Rw, 0, 0x1f),
];

pub const CR1: u32 = 0x00;
pub const CR2: u32 = 0x04;
pub const OAR1: u32 = 0x08;
pub const OAR2: u32 = 0x0c;
pub const DR: u32 = 0x10;
pub const SR1: u32 = 0x14;
pub const SR2: u32 = 0x18;
pub const CCR: u32 = 0x1c;
pub const TRISE: u32 = 0x20;
pub const FLTR: u32 = 0x24;

pub const CR1_PE: u32 = 1 << 0;
/// SMBUS, ENARP, ENPEC, PEC, ALERT.
pub const CR1_UNMODELLED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 12 | 1 << 13;
pub const CR1_START: u32 = 1 << 8;
pub const CR1_STOP: u32 = 1 << 9;
pub const CR1_ACK: u32 = 1 << 10;
pub const CR1_POS: u32 = 1 << 11;
pub const CR1_SWRST: u32 = 1 << 15;
/// START, STOP, ACK, POS, PEC and ALERT, which hardware clears while PE is 0.
pub const CR1_CLEARED_WITHOUT_PE: u32 = CR1_START | CR1_STOP | CR1_ACK | CR1_POS | 1 << 12 | 1 << 13;
pub const TRISE_RESET: u32 = 2;

pub const CR2_ITERREN: u32 = 1 << 8;
pub const CR2_ITEVTEN: u32 = 1 << 9;
pub const CR2_ITBUFEN: u32 = 1 << 10;
pub const CR2_DMAEN: u32 = 1 << 11;
pub const CR2_LAST: u32 = 1 << 12;

pub const SR1_SB: u32 = 1 << 0;
pub const SR1_ADDR: u32 = 1 << 1;
pub const SR1_BTF: u32 = 1 << 2;
pub const SR1_RXNE: u32 = 1 << 6;
pub const SR1_TXE: u32 = 1 << 7;
pub const SR1_AF: u32 = 1 << 10;
/// Flags that a write of 0 clears.
pub const SR1_ERRORS: u32 = 0xdf00;

pub const SR2_MSL: u32 = 1 << 0;
pub const SR2_BUSY: u32 = 1 << 1;
pub const SR2_TRA: u32 = 1 << 2;

/// CCR, twelve bits; DUTY; F/S.
pub const CCR_COUNT: u32 = 0xfff;
pub const CCR_DUTY: u32 = 1 << 14;
pub const CCR_FAST: u32 = 1 << 15;
