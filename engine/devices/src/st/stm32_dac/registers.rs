//! Registers of a DAC (RM0090 and RM0432, "DAC registers").

use crate::support::registers::{AccessKind, Register};

use AccessKind::{Ro, Rw, Wo};

/// Registers of an STM32F4.
pub const REGISTERS: &[Register] = &[
    Register::new("DAC_CR", CR, Rw, 0, F4_CR_MASK),
    Register::new("DAC_SWTRIGR", SWTRIGR, Wo, 0, 3),
    Register::new("DAC_DHR12R1", DHR12R1, Rw, 0, 0xfff),
    Register::new("DAC_DHR12L1", DHR12L1, Rw, 0, 0xfff0),
    Register::new("DAC_DHR8R1", DHR8R1, Rw, 0, 0xff),
    Register::new("DAC_DHR12R2", DHR12R2, Rw, 0, 0xfff),
    Register::new("DAC_DHR12L2", DHR12L2, Rw, 0, 0xfff0),
    Register::new("DAC_DHR8R2", DHR8R2, Rw, 0, 0xff),
    Register::new("DAC_DHR12RD", DHR12RD, Rw, 0, 0x0fff_0fff),
    Register::new("DAC_DHR12LD", DHR12LD, Rw, 0, 0xfff0_fff0),
    Register::new("DAC_DHR8RD", DHR8RD, Rw, 0, 0xffff),
    Register::new("DAC_DOR1", DOR1, Ro, 0, 0xfff),
    Register::new("DAC_DOR2", DOR2, Ro, 0, 0xfff),
    Register::new("DAC_SR", SR, Rw, 0, SR_DMAUDR | SR_DMAUDR << 16),
];

/// Further registers of an STM32L4+. The factory trimming in DAC_CCR is modelled as the middle of its range.
pub const WITH_SAMPLE_AND_HOLD: &[Register] = &[
    Register::new("DAC_CCR", CCR, Rw, MORE_RESETS[0], 0x001f_001f),
    Register::new("DAC_MCR", MCR, Rw, 0, 0x0007_0007),
    Register::new("DAC_SHSR1", 0x40, Rw, 0, 0x3ff),
    Register::new("DAC_SHSR2", 0x44, Rw, 0, 0x3ff),
    Register::new("DAC_SHHR", 0x48, Rw, MORE_RESETS[4], 0x03ff_03ff),
    Register::new("DAC_SHRR", SHRR, Rw, MORE_RESETS[5], 0x00ff_00ff),
];

/// Reset values of DAC_CCR to DAC_SHRR.
pub const MORE_RESETS: [u32; 6] = [0x0010_0010, 0, 0, 0, 0x0001_0001, 0x0001_0001];

pub const CR: u32 = 0x00;
pub const SWTRIGR: u32 = 0x04;
pub const DHR12R1: u32 = 0x08;
pub const DHR12L1: u32 = 0x0c;
pub const DHR8R1: u32 = 0x10;
pub const DHR12R2: u32 = 0x14;
pub const DHR12L2: u32 = 0x18;
pub const DHR8R2: u32 = 0x1c;
pub const DHR12RD: u32 = 0x20;
pub const DHR12LD: u32 = 0x24;
pub const DHR8RD: u32 = 0x28;
pub const DOR1: u32 = 0x2c;
pub const DOR2: u32 = 0x30;
pub const SR: u32 = 0x34;
pub const CCR: u32 = 0x38;
pub const MCR: u32 = 0x3c;
pub const SHRR: u32 = 0x4c;

pub const CHANNELS: usize = 2;
/// Bits of a code.
pub const BITS: usize = 12;

/// Bits of a channel's half of DAC_CR.
pub const CR_EN: u32 = 1 << 0;
/// WAVE, two bits.
pub const CR_WAVE: u32 = 6;
/// MAMP, four bits.
pub const CR_MAMP: u32 = 8;
pub const CR_DMAEN: u32 = 1 << 12;
pub const CR_DMAUDRIE: u32 = 1 << 13;
/// DAC_CR of an STM32F4: with BOFF, TEN and TSEL of three bits; the value of TSEL for the software trigger.
pub const F4_CR_MASK: u32 = 0x3fff_3fff;
pub const F4_TEN: u32 = 1 << 2;
pub const F4_TSEL: u32 = 3;
pub const F4_SOFTWARE: u32 = 7;
/// DAC_CR of an STM32L4+: with TSEL of four bits, CEN, and HFSEL in the first half.
pub const L4_CR_MASK: u32 = 0x7fff_ffff;
pub const L4_TEN: u32 = 1 << 1;
pub const L4_TSEL: u32 = 2;
pub const L4_SOFTWARE: u32 = 0;

/// DMAUDR1; DMAUDR2 is 16 bits above.
pub const SR_DMAUDR: u32 = 1 << 13;
/// The upper bit of MODE1 and MODE2.
pub const MCR_SAMPLE_AND_HOLD: u32 = 1 << 2 | 1 << 18;
