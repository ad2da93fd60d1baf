//! The register map (RM0090, "USART registers"), and the bits that the model uses.

use crate::support::registers::{AccessKind, Register};

/// All registers.
pub const REGISTERS: &[Register] = &[
    Register::new("USART_SR", SR, AccessKind::Rw, SR_TXE | SR_TC, 0x3ff),
    Register::new("USART_DR", DR, AccessKind::Rw, 0, 0x1ff),
    Register::new("USART_BRR", BRR, AccessKind::Rw, 0, 0xffff),
    Register::new("USART_CR1", CR1, AccessKind::Rw, 0, CR1_MASK),
    Register::new("USART_CR2", CR2, AccessKind::Rw, 0, CR2_MASK),
    Register::new("USART_CR3", CR3, AccessKind::Rw, 0, CR3_MASK),
    Register::new("USART_GTPR", GTPR, AccessKind::Rw, 0, 0xffff),
];

pub const SR: u32 = 0x00;
pub const DR: u32 = 0x04;
pub const BRR: u32 = 0x08;
pub const CR1: u32 = 0x0c;
pub const CR2: u32 = 0x10;
pub const CR3: u32 = 0x14;
pub const GTPR: u32 = 0x18;

pub const SR_PE: u32 = 1 << 0;
pub const SR_FE: u32 = 1 << 1;
pub const SR_NF: u32 = 1 << 2;
pub const SR_ORE: u32 = 1 << 3;
pub const SR_IDLE: u32 = 1 << 4;
pub const SR_RXNE: u32 = 1 << 5;
pub const SR_TC: u32 = 1 << 6;
pub const SR_TXE: u32 = 1 << 7;
/// Names of the flags that interrupt.
pub const FLAGS: &[(u32, &str)] =
    &[(SR_ORE, "ORE"), (SR_IDLE, "IDLE"), (SR_RXNE, "RXNE"), (SR_TC, "TC"), (SR_TXE, "TXE")];

pub const CR1_SBK: u32 = 1 << 0;
pub const CR1_RE: u32 = 1 << 2;
pub const CR1_TE: u32 = 1 << 3;
pub const CR1_IDLEIE: u32 = 1 << 4;
pub const CR1_RXNEIE: u32 = 1 << 5;
pub const CR1_TCIE: u32 = 1 << 6;
pub const CR1_TXEIE: u32 = 1 << 7;
pub const CR1_PEIE: u32 = 1 << 8;
pub const CR1_UE: u32 = 1 << 13;
pub const CR1_MASK: u32 = 0xbfff;
pub const CR2_MASK: u32 = 0x7f6f;
/// STOP: the bits of USART_CR2 that determine the frame.
pub const CR2_FORMAT: u32 = 3 << 12;
/// LINEN, CLKEN.
pub const CR2_UNMODELLED: u32 = 1 << 14 | 1 << 11;
pub const CR3_EIE: u32 = 1 << 0;
pub const CR3_DMAR: u32 = 1 << 6;
pub const CR3_DMAT: u32 = 1 << 7;
pub const CR3_RTSE: u32 = 1 << 8;
pub const CR3_MASK: u32 = 0xfff;
/// IREN, HDSEL, SCEN, CTSE.
pub const CR3_UNMODELLED: u32 = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 9;
