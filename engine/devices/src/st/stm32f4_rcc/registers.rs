//! The register maps (RM0090, 7.3.24, RCC register map; RM0383, 6.3.22).

use super::Part;
use crate::support::registers::AccessKind::Rw;
use crate::support::registers::Register;
use crate::support::stm32_rcc::{BDCR_BDRST, BDCR_LSEON, BDCR_RTCEN, BDCR_RTCSEL};

pub const CR: u32 = 0x00;
pub const PLLCFGR: u32 = 0x04;
pub const CFGR: u32 = 0x08;
pub const CIR: u32 = 0x0c;
pub const AHB1RSTR: u32 = 0x10;
pub const APB2RSTR: u32 = 0x24;
pub const AHB1ENR: u32 = 0x30;
pub const APB1ENR: u32 = 0x40;
pub const APB2ENR: u32 = 0x44;
pub const BDCR: u32 = 0x70;
pub const CSR: u32 = 0x74;
pub const SSCGR: u32 = 0x80;
pub const PLLI2SCFGR: u32 = 0x84;
pub const DCKCFGR: u32 = 0x8c;

pub const CR_HSION: u32 = 1 << 0;
pub const CR_HSIRDY: u32 = 1 << 1;
pub const CR_HSEON: u32 = 1 << 16;
pub const CR_HSERDY: u32 = 1 << 17;
pub const CR_HSEBYP: u32 = 1 << 18;
pub const CR_PLLON: u32 = 1 << 24;
pub const CR_PLLRDY: u32 = 1 << 25;
pub const CR_PLLI2SON: u32 = 1 << 26;
pub const CR_PLLI2SRDY: u32 = 1 << 27;
/// HSITRIM, and the enables; HSICAL depends on the part, and reads 0.
const CR_MASK: u32 = 0x1f << 3 | CR_HSION | CR_HSEON | CR_HSEBYP | 1 << 19 | CR_PLLON | CR_PLLI2SON;

pub const PLLCFGR_PLLSRC: u32 = 1 << 22;
/// A reserved bit with a reset value of 1.
pub const PLLCFGR_RESERVED: u32 = 1 << 29;
const PLLCFGR_MASK: u32 = 0x0f43_7fff | PLLCFGR_RESERVED;

pub const CFGR_SWS: u32 = 3 << 2;
/// MCO1, MCO1PRE, MCO2PRE, MCO2.
pub const CFGR_MCO: u32 = 3 << 21 | 7 << 24 | 7 << 27 | 3 << 30;
/// HPRE, PPRE1, PPRE2, RTCPRE, I2SSRC.
pub const CFGR_DIVIDERS: u32 = 0xf << 4 | 7 << 10 | 7 << 13 | 0x1f << 16 | 1 << 23;
const CFGR_MASK: u32 = 0xffff_fcf3;

pub const CIR_FLAGS: u32 = 0xbf;
pub const CIR_ENABLES: u32 = 0x3f << 8;
/// The upper bits clear, and read 0.
const CIR_MASK: u32 = CIR_ENABLES | 0xbf << 16;

const BDCR_MASK: u32 = BDCR_LSEON | 1 << 2 | BDCR_RTCSEL | BDCR_RTCEN | BDCR_BDRST;

pub const CSR_LSION: u32 = 1 << 0;
pub const CSR_LSIRDY: u32 = 1 << 1;
pub const CSR_RMVF: u32 = 1 << 24;
pub const CSR_RESET_FLAGS: u32 = 0xfe00_0000;
/// Power-on: BORRSTF, PINRSTF, PORRSTF.
const CSR_RESET: u32 = 0x0e00_0000;

pub const SSCGR_SSCGEN: u32 = 1 << 31;
pub const DCKCFGR_TIMPRE: u32 = 1 << 24;

const F407: &[Register] = &[
    Register::new("RCC_CR", CR, Rw, 0x0000_0081, CR_MASK),
    Register::new("RCC_PLLCFGR", PLLCFGR, Rw, 0x2400_3010, PLLCFGR_MASK),
    Register::new("RCC_CFGR", CFGR, Rw, 0, CFGR_MASK),
    Register::new("RCC_CIR", CIR, Rw, 0, CIR_MASK),
    Register::new("RCC_AHB1RSTR", AHB1RSTR, Rw, 0, 0x2260_11ff),
    Register::new("RCC_AHB2RSTR", 0x14, Rw, 0, 0x0000_00f1),
    Register::new("RCC_AHB3RSTR", 0x18, Rw, 0, 0x0000_0001),
    Register::new("RCC_APB1RSTR", 0x20, Rw, 0, 0x36fe_c9ff),
    Register::new("RCC_APB2RSTR", APB2RSTR, Rw, 0, 0x0007_5933),
    Register::new("RCC_AHB1ENR", AHB1ENR, Rw, 0x0010_0000, 0x7e74_11ff),
    Register::new("RCC_AHB2ENR", 0x34, Rw, 0, 0x0000_00f1),
    Register::new("RCC_AHB3ENR", 0x38, Rw, 0, 0x0000_0001),
    Register::new("RCC_APB1ENR", APB1ENR, Rw, 0, 0x36fe_c9ff),
    Register::new("RCC_APB2ENR", APB2ENR, Rw, 0, 0x0007_5f33),
    Register::new("RCC_AHB1LPENR", 0x50, Rw, 0x7e67_91ff, 0x7e67_91ff),
    Register::new("RCC_AHB2LPENR", 0x54, Rw, 0x0000_00f1, 0x0000_00f1),
    Register::new("RCC_AHB3LPENR", 0x58, Rw, 0x0000_0001, 0x0000_0001),
    Register::new("RCC_APB1LPENR", 0x60, Rw, 0x36fe_c9ff, 0x36fe_c9ff),
    Register::new("RCC_APB2LPENR", 0x64, Rw, 0x0007_5f33, 0x0007_5f33),
    Register::new("RCC_BDCR", BDCR, Rw, 0, BDCR_MASK),
    Register::new("RCC_CSR", CSR, Rw, CSR_RESET, CSR_RESET_FLAGS | CSR_RMVF | CSR_LSION),
    Register::new("RCC_SSCGR", SSCGR, Rw, 0, 0xcfff_ffff),
    Register::new("RCC_PLLI2SCFGR", PLLI2SCFGR, Rw, 0x2000_3000, 0x7000_7fc0),
];

const F411: &[Register] = &[
    Register::new("RCC_CR", CR, Rw, 0x0000_0081, CR_MASK),
    Register::new("RCC_PLLCFGR", PLLCFGR, Rw, 0x2400_3010, PLLCFGR_MASK),
    Register::new("RCC_CFGR", CFGR, Rw, 0, CFGR_MASK),
    Register::new("RCC_CIR", CIR, Rw, 0, CIR_MASK),
    Register::new("RCC_AHB1RSTR", AHB1RSTR, Rw, 0, 0x0060_109f),
    Register::new("RCC_AHB2RSTR", 0x14, Rw, 0, 0x0000_0080),
    Register::new("RCC_APB1RSTR", 0x20, Rw, 0, 0x10e2_c80f),
    Register::new("RCC_APB2RSTR", APB2RSTR, Rw, 0, 0x0017_7931),
    Register::new("RCC_AHB1ENR", AHB1ENR, Rw, 0, 0x0060_109f),
    Register::new("RCC_AHB2ENR", 0x34, Rw, 0, 0x0000_0080),
    Register::new("RCC_APB1ENR", APB1ENR, Rw, 0, 0x10e2_c80f),
    Register::new("RCC_APB2ENR", APB2ENR, Rw, 0, 0x0017_7931),
    Register::new("RCC_AHB1LPENR", 0x50, Rw, 0x0061_909f, 0x0061_909f),
    Register::new("RCC_AHB2LPENR", 0x54, Rw, 0x0000_0080, 0x0000_0080),
    Register::new("RCC_APB1LPENR", 0x60, Rw, 0x10e2_c80f, 0x10e2_c80f),
    Register::new("RCC_APB2LPENR", 0x64, Rw, 0x0017_7931, 0x0017_7931),
    Register::new("RCC_BDCR", BDCR, Rw, 0, BDCR_MASK | 1 << 3),
    Register::new("RCC_CSR", CSR, Rw, CSR_RESET, CSR_RESET_FLAGS | CSR_RMVF | CSR_LSION),
    Register::new("RCC_SSCGR", SSCGR, Rw, 0, 0xcfff_ffff),
    Register::new("RCC_PLLI2SCFGR", PLLI2SCFGR, Rw, 0x2000_3010, 0x7000_7fff),
    Register::new("RCC_DCKCFGR", DCKCFGR, Rw, 0, DCKCFGR_TIMPRE),
];

impl Part {
    /// The bits of PLLCFGR that both PLLs share: PLLSRC, and PLLM if PLLI2S has no PLLM of its own.
    pub const fn pll_input(self) -> u32 {
        match self {
            Part::F407 => PLLCFGR_PLLSRC | 0x3f,
            Part::F411 => PLLCFGR_PLLSRC,
        }
    }

    /// The register map, without flags that the hardware sets.
    pub const fn registers(self) -> &'static [Register] {
        match self {
            Part::F407 => F407,
            Part::F411 => F411,
        }
    }
}
