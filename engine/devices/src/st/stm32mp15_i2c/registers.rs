//! The register map (RM0436, "I2C registers"), and the bits that the model uses.

use crate::support::registers::{AccessKind, Register};

/// All registers, but those that identify the part (I2C_HWCFGR to I2C_SIDR), which read 0.
pub const REGISTERS: &[Register] = &[
    Register::new("I2C_CR1", CR1, AccessKind::Rw, 0, 0x00ff_dfff),
    Register::new("I2C_CR2", CR2, AccessKind::Rw, 0, 0x07ff_ffff),
    Register::new("I2C_OAR1", OAR1, AccessKind::Rw, 0, 0x87ff),
    Register::new("I2C_OAR2", OAR2, AccessKind::Rw, 0, 0x87fe),
    Register::new("I2C_TIMINGR", TIMINGR, AccessKind::Rw, 0, 0xf0ff_ffff),
    Register::new("I2C_TIMEOUTR", TIMEOUTR, AccessKind::Rw, 0, 0x8fff_9fff),
    Register::new("I2C_ISR", ISR, AccessKind::Ro, ISR_TXE, 0x00ff_bfff),
    Register::new("I2C_ICR", ICR, AccessKind::Wo, 0, 0x3f38),
    Register::new("I2C_PECR", PECR, AccessKind::Ro, 0, 0xff),
    Register::new("I2C_RXDR", RXDR, AccessKind::Ro, 0, 0xff),
    Register::new("I2C_TXDR", TXDR, AccessKind::Rw, 0, 0xff),
];

pub const CR1: u32 = 0x00;
pub const CR2: u32 = 0x04;
pub const OAR1: u32 = 0x08;
pub const OAR2: u32 = 0x0c;
pub const TIMINGR: u32 = 0x10;
pub const TIMEOUTR: u32 = 0x14;
pub const ISR: u32 = 0x18;
pub const ICR: u32 = 0x1c;
pub const PECR: u32 = 0x20;
pub const RXDR: u32 = 0x24;
pub const TXDR: u32 = 0x28;

pub const CR1_PE: u32 = 1 << 0;
pub const CR1_TXIE: u32 = 1 << 1;
pub const CR1_RXIE: u32 = 1 << 2;
pub const CR1_NACKIE: u32 = 1 << 4;
pub const CR1_STOPIE: u32 = 1 << 5;
pub const CR1_TCIE: u32 = 1 << 6;
/// DNF, a number of kernel clocks.
pub const CR1_DNF: u32 = 8;
pub const CR1_ANFOFF: u32 = 1 << 12;
/// DNF and ANFOFF: writable while PE is 0.
pub const CR1_LOCKED: u32 = 0x1f00;
pub const CR1_TXDMAEN: u32 = 1 << 14;
pub const CR1_RXDMAEN: u32 = 1 << 15;
/// SBC, NOSTRETCH, WUPEN, GCEN, SMBHEN, SMBDEN, ALERTEN, PECEN.
pub const CR1_UNMODELLED: u32 = 0x00ff_0000;

/// SADD[7:1], the address of a chip.
pub const CR2_SADD: u32 = 1;
pub const CR2_RD_WRN: u32 = 1 << 10;
pub const CR2_ADD10: u32 = 1 << 11;
pub const CR2_START: u32 = 1 << 13;
pub const CR2_STOP: u32 = 1 << 14;
/// START, STOP, NACK and PECBYTE, which software can set but not clear.
pub const CR2_SET_ONLY: u32 = 7 << 13 | 1 << 26;
pub const CR2_NBYTES: u32 = 16;
pub const CR2_RELOAD: u32 = 1 << 24;
pub const CR2_AUTOEND: u32 = 1 << 25;

/// TIMOUTEN, TEXTEN.
pub const TIMEOUTR_ENABLES: u32 = 1 << 15 | 1 << 31;

pub const ISR_TXE: u32 = 1 << 0;
pub const ISR_TXIS: u32 = 1 << 1;
pub const ISR_RXNE: u32 = 1 << 2;
pub const ISR_NACKF: u32 = 1 << 4;
pub const ISR_STOPF: u32 = 1 << 5;
pub const ISR_TC: u32 = 1 << 6;
pub const ISR_TCR: u32 = 1 << 7;
pub const ISR_BUSY: u32 = 1 << 15;

/// ADDRCF, which clears I2C_CR2.START, too.
pub const ICR_ADDRCF: u32 = 1 << 3;
/// NACKCF and STOPCF, at the positions of their flags.
pub const ICR_FLAGS: u32 = ISR_NACKF | ISR_STOPF;
