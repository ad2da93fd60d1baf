//! Registers and bits of the controller (RM0432, "OCTOSPI registers").

use crate::support::registers::AccessKind::{Ro, Rw, Wo};
use crate::support::registers::Register;

pub const CR: u32 = 0x000;
pub const DCR1: u32 = 0x008;
pub const DCR2: u32 = 0x00c;
pub const DCR3: u32 = 0x010;
pub const SR: u32 = 0x020;
pub const FCR: u32 = 0x024;
pub const DLR: u32 = 0x040;
pub const AR: u32 = 0x048;
pub const DR: u32 = 0x050;
pub const PSMKR: u32 = 0x080;
pub const PSMAR: u32 = 0x088;
pub const PIR: u32 = 0x090;
pub const CCR: u32 = 0x100;
pub const TCR: u32 = 0x108;
pub const IR: u32 = 0x110;
pub const ABR: u32 = 0x120;
pub const LPTR: u32 = 0x130;

pub const CR_EN: u32 = 1 << 0;
pub const CR_ABORT: u32 = 1 << 1;
pub const CR_DMAEN: u32 = 1 << 2;
pub const CR_TCEN: u32 = 1 << 3;
/// DQM: two memories in parallel.
pub const CR_DQM: u32 = 1 << 6;
pub const CR_FSEL: u32 = 1 << 7;
pub const CR_FTHRES: u32 = 8;
/// Enables of the flags of SR, in their order.
pub const CR_ENABLES: u32 = 16;
pub const CR_APMS: u32 = 1 << 22;
pub const CR_PMM: u32 = 1 << 23;
pub const CR_FMODE: u32 = 28;

pub const DCR1_CKMODE: u32 = 1 << 0;
pub const DCR1_CSHT: u32 = 8;
pub const DCR1_DEVSIZE: u32 = 16;

pub const SR_TEF: u32 = 1 << 0;
pub const SR_TCF: u32 = 1 << 1;
pub const SR_FTF: u32 = 1 << 2;
pub const SR_SMF: u32 = 1 << 3;
pub const SR_TOF: u32 = 1 << 4;
pub const SR_BUSY: u32 = 1 << 5;
pub const SR_FLEVEL: u32 = 8;
/// Flags that have a bit in CR.
pub const SR_FLAGS: u32 = 0x1f;
/// Flags that FCR clears.
pub const FCR_MASK: u32 = 0x1b;

pub const CCR_SIOO: u32 = 1 << 31;

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("OCTOSPI_CR", CR, Rw, 0, 0x30df_1fcd),
    Register::new("OCTOSPI_DCR1", DCR1, Rw, 0, 0x071f_0703),
    Register::new("OCTOSPI_DCR2", DCR2, Rw, 0, 0x0007_00ff),
    Register::new("OCTOSPI_DCR3", DCR3, Rw, 0, 0x001f_00ff),
    Register::new("OCTOSPI_SR", SR, Ro, 0, 0x3f3f),
    Register::new("OCTOSPI_FCR", FCR, Wo, 0, FCR_MASK),
    Register::new("OCTOSPI_DLR", DLR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_AR", AR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_DR", DR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_PSMKR", PSMKR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_PSMAR", PSMAR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_PIR", PIR, Rw, 0, 0xffff),
    Register::new("OCTOSPI_CCR", CCR, Rw, 0, 0xaf3f_3f3f),
    Register::new("OCTOSPI_TCR", TCR, Rw, 0, 0x5000_001f),
    Register::new("OCTOSPI_IR", IR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_ABR", ABR, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_LPTR", LPTR, Rw, 0, 0xffff),
    Register::new("OCTOSPI_WCCR", 0x180, Rw, 0, 0x2f3f_3f3f),
    Register::new("OCTOSPI_WTCR", 0x188, Rw, 0, 0x1f),
    Register::new("OCTOSPI_WIR", 0x190, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_WABR", 0x1a0, Rw, 0, u32::MAX),
    Register::new("OCTOSPI_HLCR", 0x200, Rw, 0, 0x00ff_ff03),
];
