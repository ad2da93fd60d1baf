//! The register map of an advanced-control timer, which has all registers (RM0090, "TIM1 and TIM8 register map"), and
//! the bits that the model uses.

use crate::support::registers::{AccessKind, Register, find};

/// All registers. Simpler timers lack some registers, or some bits.
pub const REGISTERS: &[Register] = &[
    Register::new("TIM_CR1", CR1, AccessKind::Rw, 0, 0x0bff),
    Register::new("TIM_CR2", CR2, AccessKind::Rw, 0, 0x00ff_fffd),
    Register::new("TIM_SMCR", SMCR, AccessKind::Rw, 0, 0x0001_fff7),
    Register::new("TIM_DIER", DIER, AccessKind::Rw, 0, 0x7fff),
    Register::new("TIM_SR", SR, AccessKind::Rw, 0, 0x0003_3fff),
    Register::new("TIM_EGR", EGR, AccessKind::Wo, 0, 0x01ff),
    Register::new("TIM_CCMR1", CCMR1, AccessKind::Rw, 0, 0x0101_ffff),
    Register::new("TIM_CCMR2", CCMR2, AccessKind::Rw, 0, 0x0101_ffff),
    Register::new("TIM_CCER", CCER, AccessKind::Rw, 0, 0x0033_ffff),
    Register::new("TIM_CNT", CNT, AccessKind::Rw, 0, u32::MAX),
    Register::new("TIM_PSC", PSC, AccessKind::Rw, 0, 0xffff),
    Register::new("TIM_ARR", ARR, AccessKind::Rw, u32::MAX, u32::MAX),
    Register::new("TIM_RCR", RCR, AccessKind::Rw, 0, 0xffff),
    Register::new("TIM_CCR1", CCR1, AccessKind::Rw, 0, u32::MAX),
    Register::new("TIM_CCR2", CCR1 + 4, AccessKind::Rw, 0, u32::MAX),
    Register::new("TIM_CCR3", CCR1 + 8, AccessKind::Rw, 0, u32::MAX),
    Register::new("TIM_CCR4", CCR4, AccessKind::Rw, 0, u32::MAX),
    Register::new("TIM_BDTR", BDTR, AccessKind::Rw, 0, 0x03ff_ffff),
    Register::new("TIM_DCR", DCR, AccessKind::Rw, 0, 0x1f1f),
    Register::new("TIM_DMAR", DMAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("TIM_OR", OR, AccessKind::Rw, 0, u32::MAX),
];

pub const CR1: u32 = 0x00;
pub const CR2: u32 = 0x04;
pub const SMCR: u32 = 0x08;
pub const DIER: u32 = 0x0c;
pub const SR: u32 = 0x10;
pub const EGR: u32 = 0x14;
pub const CCMR1: u32 = 0x18;
pub const CCMR2: u32 = 0x1c;
pub const CCER: u32 = 0x20;
pub const CNT: u32 = 0x24;
pub const PSC: u32 = 0x28;
pub const ARR: u32 = 0x2c;
pub const RCR: u32 = 0x30;
pub const CCR1: u32 = 0x34;
pub const CCR4: u32 = 0x40;
pub const BDTR: u32 = 0x44;
pub const DCR: u32 = 0x48;
pub const DMAR: u32 = 0x4c;
pub const OR: u32 = 0x50;

pub const CR1_CEN: u32 = 1 << 0;
pub const CR1_UDIS: u32 = 1 << 1;
pub const CR1_URS: u32 = 1 << 2;
pub const CR1_OPM: u32 = 1 << 3;
pub const CR1_DIR: u32 = 1 << 4;
/// CMS, two bits.
pub const CR1_CMS: u32 = 5;
pub const CR1_ARPE: u32 = 1 << 7;
/// UIFREMAP (L4): bit 31 of TIM_CNT is a copy of UIF.
pub const CR1_UIFREMAP: u32 = 1 << 11;

/// MMS, three bits: the source of TRGO: a reset by UG, CEN, or updates.
pub const CR2_MMS: u32 = 4;
pub const CR2_MMS_RESET: u32 = 0;
pub const CR2_MMS_ENABLE: u32 = 1;
pub const CR2_MMS_UPDATE: u32 = 2;

/// SMS, with its fourth bit on the L4.
pub const SMCR_SMS: u32 = 7 | 1 << 16;
/// ECE: external clock mode 2.
pub const SMCR_ECE: u32 = 1 << 14;

/// UIF, and UIE in TIM_DIER, and UG in TIM_EGR.
pub const UPDATE: u32 = 1 << 0;
/// CC1IF to CC4IF, CC1IE to CC4IE, CC1G to CC4G.
pub const COMPARE: u32 = 0xf << 1;
/// COMIF.
pub const COM: u32 = 1 << 5;
/// TIF.
pub const TRIGGER: u32 = 1 << 6;
/// BIF.
pub const BREAK: u32 = 1 << 7;
/// Names of the flags of TIM_SR that interrupt.
pub const FLAGS: &[(u32, &str)] = &[
    (UPDATE, "UIF"),
    (1 << 1, "CC1IF"),
    (1 << 2, "CC2IF"),
    (1 << 3, "CC3IF"),
    (1 << 4, "CC4IF"),
    (COM, "COMIF"),
    (TRIGGER, "TIF"),
    (BREAK, "BIF"),
];
/// CC1OF.
pub const SR_CC1OF: u32 = 9;
/// UDE, and CC1DE to CC4DE from the next bit on.
pub const DIER_UDE: u32 = 8;

/// CCxS of a channel's eight bits of TIM_CCMRx.
pub const CCMR_SELECT: u32 = 3;
/// OCxPE.
pub const CCMR_OCPE: u32 = 1 << 3;
/// OCxM, three bits and, on the L4, bit 16.
pub const CCMR_OCM: u32 = 4;
pub const CCMR_OCM_HIGH: u32 = 1 << 16;
/// ICxPSC, two bits.
pub const CCMR_ICPSC: u32 = 2;

/// CCxE, CCxP and CCxNP of a channel's four bits of TIM_CCER.
pub const CCER_E: u32 = 1 << 0;
pub const CCER_P: u32 = 1 << 1;
pub const CCER_NP: u32 = 1 << 3;

pub const BDTR_MOE: u32 = 1 << 15;

/// Maximum number of channels.
pub const CHANNELS: usize = 4;

/// The bits of a register in a timer with `channels` channels.
pub fn mask(offset: u32, channels: u32) -> u32 {
    let mask = find(REGISTERS, offset).map_or(0, |row| row.mask);
    let lacking = |bits: fn(u32) -> u32| (channels..CHANNELS as u32).map(bits).sum::<u32>();
    let absent = match offset {
        CCMR1 => lacking(|channel| if channel < 2 { (0xff | CCMR_OCM_HIGH) << (8 * channel) } else { 0 }),
        CCMR2 => lacking(|channel| if channel < 2 { 0 } else { (0xff | CCMR_OCM_HIGH) << (8 * (channel - 2)) }),
        CCER => lacking(|channel| 0xf << (4 * channel)),
        // Flags, enables, and requests or flags of overcaptures, which have the same bit positions.
        DIER | SR | EGR => lacking(|channel| 1 << (1 + channel) | 1 << (SR_CC1OF + channel)),
        CCR1..=CCR4 if (offset - CCR1) / 4 >= channels => u32::MAX,
        _ => 0,
    };
    mask & !absent
}
