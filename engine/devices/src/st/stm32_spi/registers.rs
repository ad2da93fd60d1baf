//! The register map (RM0090 and RM0432, "SPI register map"), and the bits that the model uses.

use crate::support::registers::{AccessKind, Register};

/// All registers, with the bits of the interface with FIFOs.
pub const REGISTERS: &[Register] = &[
    Register::new("SPI_CR1", CR1, AccessKind::Rw, 0, 0xffff),
    Register::new("SPI_CR2", CR2, AccessKind::Rw, CR2_DS_RESET, 0x7fff),
    Register::new("SPI_SR", SR, AccessKind::Ro, SR_TXE, 0x1ff3),
    Register::new("SPI_DR", DR, AccessKind::Rw, 0, 0xffff),
    Register::new("SPI_CRCPR", CRCPR, AccessKind::Rw, 7, 0xffff),
    Register::new("SPI_RXCRCR", 0x14, AccessKind::Ro, 0, 0xffff),
    Register::new("SPI_TXCRCR", 0x18, AccessKind::Ro, 0, 0xffff),
    Register::new("SPI_I2SCFGR", I2SCFGR, AccessKind::Rw, 0, 0x0fbf),
    Register::new("SPI_I2SPR", I2SPR, AccessKind::Rw, 2, 0x03ff),
];

pub const CR1: u32 = 0x00;
pub const CR2: u32 = 0x04;
pub const SR: u32 = 0x08;
pub const DR: u32 = 0x0c;
pub const CRCPR: u32 = 0x10;
pub const I2SCFGR: u32 = 0x1c;
pub const I2SPR: u32 = 0x20;

pub const CR1_CPHA: u32 = 1 << 0;
pub const CR1_CPOL: u32 = 1 << 1;
pub const CR1_MSTR: u32 = 1 << 2;
/// BR, three bits: SCK is PCLK / 2^(BR + 1).
pub const CR1_BR: u32 = 3;
pub const CR1_SPE: u32 = 1 << 6;
pub const CR1_LSBFIRST: u32 = 1 << 7;
pub const CR1_SSI: u32 = 1 << 8;
pub const CR1_SSM: u32 = 1 << 9;
pub const CR1_RXONLY: u32 = 1 << 10;
pub const CR1_DFF: u32 = 1 << 11;
pub const CR1_CRCEN: u32 = 1 << 13;
/// With BIDIMODE: the data line is an output.
pub const CR1_BIDIOE: u32 = 1 << 14;
/// One data line, MOSI, for both directions.
pub const CR1_BIDIMODE: u32 = 1 << 15;

pub const CR2_RXDMAEN: u32 = 1 << 0;
pub const CR2_TXDMAEN: u32 = 1 << 1;
pub const CR2_SSOE: u32 = 1 << 2;
pub const CR2_ERRIE: u32 = 1 << 5;
pub const CR2_RXNEIE: u32 = 1 << 6;
pub const CR2_TXEIE: u32 = 1 << 7;
/// Bits of SPI_CR2 in the interface without FIFOs.
pub const CR2_WITHOUT_FIFOS: u32 = 0xf7;
/// DS, four bits: the size of a word, minus one.
pub const CR2_DS: u32 = 8;
pub const CR2_DS_RESET: u32 = 7 << CR2_DS;
pub const CR2_FRXTH: u32 = 1 << 12;

pub const SR_RXNE: u32 = 1 << 0;
pub const SR_TXE: u32 = 1 << 1;
pub const SR_MODF: u32 = 1 << 5;
pub const SR_OVR: u32 = 1 << 6;
pub const SR_BSY: u32 = 1 << 7;
pub const SR_FRLVL: u32 = 9;
pub const SR_FTLVL: u32 = 11;
