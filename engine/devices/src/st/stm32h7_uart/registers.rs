//! The register map (RM0436, "USART registers"), and the bits that the model uses.

use crate::support::registers::{AccessKind, Register};

/// All registers.
pub const REGISTERS: &[Register] = &[
    Register::new("USART_CR1", CR1, AccessKind::Rw, 0, u32::MAX),
    Register::new("USART_CR2", CR2, AccessKind::Rw, 0, CR2_MASK),
    Register::new("USART_CR3", CR3, AccessKind::Rw, 0, CR3_MASK),
    Register::new("USART_BRR", BRR, AccessKind::Rw, 0, 0xffff),
    Register::new("USART_GTPR", GTPR, AccessKind::Rw, 0, 0xffff),
    Register::new("USART_RTOR", RTOR, AccessKind::Rw, 0, u32::MAX),
    Register::new("USART_RQR", RQR, AccessKind::Wo, 0, 0x1f),
    Register::new("USART_ISR", ISR, AccessKind::Ro, ISR_TC | ISR_TXE, 0x0fff_ffff),
    Register::new("USART_ICR", ICR, AccessKind::Wo, 0, 0x0012_3bff),
    Register::new("USART_RDR", RDR, AccessKind::Ro, 0, 0x1ff),
    Register::new("USART_TDR", TDR, AccessKind::Rw, 0, 0x1ff),
    Register::new("USART_PRESC", PRESC, AccessKind::Rw, 0, 0xf),
    Register::new("USART_HWCFGR2", HWCFGR2, AccessKind::Ro, CONFIGURATION, 0xff),
    Register::new("USART_HWCFGR1", HWCFGR1, AccessKind::Ro, CONFIGURATION, u32::MAX),
    Register::new("USART_VERR", VERR, AccessKind::Ro, VERSION, 0xff),
    Register::new("USART_IPIDR", IPIDR, AccessKind::Ro, IDENTIFICATION, u32::MAX),
    Register::new("USART_SIDR", SIDR, AccessKind::Ro, SIZE_IDENTIFICATION, u32::MAX),
];

pub const CR1: u32 = 0x00;
pub const CR2: u32 = 0x04;
pub const CR3: u32 = 0x08;
pub const BRR: u32 = 0x0c;
pub const GTPR: u32 = 0x10;
pub const RTOR: u32 = 0x14;
pub const RQR: u32 = 0x18;
pub const ISR: u32 = 0x1c;
pub const ICR: u32 = 0x20;
pub const RDR: u32 = 0x24;
pub const TDR: u32 = 0x28;
pub const PRESC: u32 = 0x2c;
pub const HWCFGR2: u32 = 0x3ec;
pub const HWCFGR1: u32 = 0x3f0;
pub const VERR: u32 = 0x3f4;
pub const IPIDR: u32 = 0x3f8;
pub const SIDR: u32 = 0x3fc;

pub const CR1_UE: u32 = 1 << 0;
pub const CR1_RE: u32 = 1 << 2;
pub const CR1_TE: u32 = 1 << 3;
pub const CR1_IDLEIE: u32 = 1 << 4;
/// RXFNEIE with the FIFO.
pub const CR1_PEIE: u32 = 1 << 8;
pub const CR1_RXNEIE: u32 = 1 << 5;
pub const CR1_TCIE: u32 = 1 << 6;
/// TXFNFIE with the FIFO.
pub const CR1_TXEIE: u32 = 1 << 7;
pub const CR1_RTOIE: u32 = 1 << 26;
pub const CR1_FIFOEN: u32 = 1 << 29;
pub const CR1_TXFEIE: u32 = 1 << 30;
pub const CR1_RXFFIE: u32 = 1 << 31;
/// PS, PCE, WAKE, M0, OVER8, DEDT, DEAT, M1, FIFOEN: writable while UE is 0.
pub const CR1_LOCKED: u32 = 0x33ff_9e00;
pub const CR2_RTOEN: u32 = 1 << 23;
/// USART_RTOR.RTO: number of bits without a start bit after a character.
pub const RTOR_RTO: u32 = 0x00ff_ffff;
pub const CR2_MASK: u32 = 0xffff_ff79;
pub const CR2_UNMODELLED: u32 = 1 << 0 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 20;
pub const CR3_EIE: u32 = 1 << 0;
pub const CR3_RTSE: u32 = 1 << 8;
pub const CR3_OVRDIS: u32 = 1 << 12;
pub const CR3_RXFTCFG: u32 = 25;
pub const CR3_RXFTIE: u32 = 1 << 28;
pub const CR3_TXFTIE: u32 = 1 << 23;
pub const CR3_TXFTCFG: u32 = 29;
pub const CR3_MASK: u32 = 0xfffe_ffff;
pub const CR3_DMAR: u32 = 1 << 6;
pub const CR3_DMAT: u32 = 1 << 7;
/// IREN, HDSEL, SCEN, CTSE.
pub const CR3_UNMODELLED: u32 = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 9;
pub const RQR_SBKRQ: u32 = 1 << 1;
pub const RQR_RXFRQ: u32 = 1 << 3;
pub const RQR_TXFRQ: u32 = 1 << 4;
pub const ISR_PE: u32 = 1 << 0;
pub const ISR_FE: u32 = 1 << 1;
pub const ISR_NE: u32 = 1 << 2;
pub const ISR_ORE: u32 = 1 << 3;
pub const ISR_IDLE: u32 = 1 << 4;
/// RXFNE with the FIFO.
pub const ISR_RXNE: u32 = 1 << 5;
pub const ISR_TC: u32 = 1 << 6;
pub const ISR_TXE: u32 = 1 << 7;
pub const ISR_RTOF: u32 = 1 << 11;
pub const ISR_TEACK: u32 = 1 << 21;
pub const ISR_REACK: u32 = 1 << 22;
pub const ISR_TXFE: u32 = 1 << 23;
pub const ISR_RXFF: u32 = 1 << 24;
pub const ISR_RXFT: u32 = 1 << 26;
pub const ISR_TXFT: u32 = 1 << 27;
/// Names of the flags that interrupt.
pub const FLAGS: &[(u32, &str)] = &[
    (ISR_ORE, "ORE"),
    (ISR_IDLE, "IDLE"),
    (ISR_RXNE, "RXNE"),
    (ISR_TC, "TC"),
    (ISR_TXE, "TXE"),
    (ISR_RTOF, "RTOF"),
    (ISR_TXFE, "TXFE"),
    (ISR_RXFF, "RXFF"),
    (ISR_RXFT, "RXFT"),
    (ISR_TXFT, "TXFT"),
];
/// PECF, FECF and NECF have the positions of their flags.
pub const ICR_ERRORS: u32 = 7;
pub const ICR_ORECF: u32 = 1 << 3;
pub const ICR_IDLECF: u32 = 1 << 4;
pub const ICR_TCCF: u32 = 1 << 6;
pub const ICR_RTOCF: u32 = 1 << 11;

/// Reset values of RM0436.
pub const CONFIGURATION: u32 = 0x14;
pub const VERSION: u32 = 0x23;
pub const IDENTIFICATION: u32 = 0x0013_0003;
pub const SIZE_IDENTIFICATION: u32 = 0xa3c5_dd01;
