//! The register map (RM0432, RCC register map), of the STM32L4R5.

use super::{PLL, PLLSAI1};
use crate::support::registers::AccessKind::{Ro, Rw, Wo};
use crate::support::registers::Register;
use crate::support::stm32_rcc::{BDCR_BDRST, BDCR_LSEON, BDCR_RTCEN, BDCR_RTCSEL};

pub const CR: u32 = 0x00;
pub const CFGR: u32 = 0x08;
pub const PLLCFGR: u32 = 0x0c;
pub const PLLSAI1CFGR: u32 = 0x10;
pub const PLLSAI2CFGR: u32 = 0x14;
pub const CIER: u32 = 0x18;
pub const CIFR: u32 = 0x1c;
pub const CICR: u32 = 0x20;
pub const AHB1RSTR: u32 = 0x28;
pub const APB2RSTR: u32 = 0x40;
pub const AHB1ENR: u32 = 0x48;
pub const APB1ENR1: u32 = 0x58;
pub const APB2ENR: u32 = 0x60;
pub const CCIPR: u32 = 0x88;
pub const BDCR: u32 = 0x90;
pub const CSR: u32 = 0x94;
pub const CRRCR: u32 = 0x98;
pub const CCIPR2: u32 = 0x9c;

pub const CR_MSION: u32 = 1 << 0;
pub const CR_MSIRDY: u32 = 1 << 1;
/// Selects MSIRANGE. Only a reset clears it.
pub const CR_MSIRGSEL: u32 = 1 << 3;
pub const CR_MSIRANGE: u32 = 0xf << 4;
pub const CR_HSION: u32 = 1 << 8;
pub const CR_HSIRDY: u32 = 1 << 10;
pub const CR_HSEON: u32 = 1 << 16;
pub const CR_HSERDY: u32 = 1 << 17;
pub const CR_HSEBYP: u32 = 1 << 18;
pub const CR_PLLON: u32 = 1 << 24;
pub const CR_PLLRDY: u32 = 1 << 25;
pub const CR_PLLSAI1ON: u32 = 1 << 26;
pub const CR_PLLSAI1RDY: u32 = 1 << 27;
pub const CR_PLLSAI2ON: u32 = 1 << 28;
pub const CR_PLLSAI2RDY: u32 = 1 << 29;
/// RCC_CR also has MSIPLLEN, HSIKERON, HSIASFS, CSSON.
const CR_MASK: u32 = CR_MSION
    | 1 << 2
    | CR_MSIRGSEL
    | CR_MSIRANGE
    | CR_HSION
    | 1 << 9
    | 1 << 11
    | CR_HSEON
    | CR_HSEBYP
    | 1 << 19
    | CR_PLLON
    | CR_PLLSAI1ON
    | CR_PLLSAI2ON;
/// 4 MHz.
pub const MSI_RANGE_RESET: u32 = 6;

pub const CFGR_SWS: u32 = 3 << 2;
/// MCOSEL, MCOPRE.
pub const CFGR_MCO: u32 = 0xf << 24 | 7 << 28;
/// HPRE, PPRE1, PPRE2.
pub const CFGR_DIVIDERS: u32 = 0xf << 4 | 7 << 8 | 7 << 11;
/// RCC_CFGR also has SW and STOPWUCK.
const CFGR_MASK: u32 = 3 | CFGR_DIVIDERS | 1 << 15 | CFGR_MCO;

/// Enables output Q.
pub const PLL_QEN: u32 = 1 << 20;
/// Enables output R.
pub const PLL_REN: u32 = 1 << 24;
/// PEN, QEN, REN.
pub const PLL_OUTPUTS: u32 = 1 << 16 | PLL_QEN | PLL_REN;
/// PLLSRC, which all PLLs share, and PLLM.
pub const PLLCFGR_INPUT: u32 = 3 | 0xf << 4;
/// M, N, P, Q, R, PDIV.
const PLL_FACTORS: u32 = 0xf << 4 | 0x7f << 8 | 1 << 17 | 3 << 21 | 3 << 25 | 0x1f << 27;
const PLLSAI_MASK: u32 = PLL_FACTORS | PLL_OUTPUTS;

const INTERRUPTS: u32 = 0x6ff;
const FLAGS: u32 = INTERRUPTS | 1 << 8;

/// RCC_BDCR also has LSEBYP, LSEDRV, LSECSSON, LSCOEN, LSCOSEL.
const BDCR_MASK: u32 = BDCR_LSEON | 0xf << 2 | BDCR_RTCSEL | BDCR_RTCEN | BDCR_BDRST | 3 << 24;

pub const CSR_LSION: u32 = 1 << 0;
pub const CSR_LSIRDY: u32 = 1 << 1;
pub const CSR_MSISRANGE: u32 = 0xf << 8;
pub const CSR_RMVF: u32 = 1 << 23;
pub const CSR_RESET_FLAGS: u32 = 0xff00_0000;
const CSR_MASK: u32 = CSR_LSION | CSR_MSISRANGE | CSR_RMVF | CSR_RESET_FLAGS;
/// Power-on: BORRSTF and PINRSTF; MSISRANGE of 4 MHz.
const CSR_RESET: u32 = 0x0c00_0600;

pub const CRRCR_HSI48ON: u32 = 1 << 0;
pub const CRRCR_HSI48RDY: u32 = 1 << 1;

/// The map, without flags that the hardware sets.
pub const REGISTERS: &[Register] = &[
    Register::new("RCC_CR", CR, Rw, 0x0000_0061, CR_MASK),
    // MSITRIM, HSITRIM; MSICAL and HSICAL depend on the part, and read 0.
    Register::new("RCC_ICSCR", 0x04, Rw, 0x4000_0000, 0x7f00_ff00),
    Register::new("RCC_CFGR", CFGR, Rw, 0, CFGR_MASK),
    Register::new("RCC_PLLCFGR", PLLCFGR, Rw, 0x0000_1000, PLLSAI_MASK | 3),
    Register::new("RCC_PLLSAI1CFGR", PLLSAI1CFGR, Rw, 0x0000_1000, PLLSAI_MASK),
    Register::new("RCC_PLLSAI2CFGR", PLLSAI2CFGR, Rw, 0x0000_1000, PLLSAI_MASK),
    Register::new("RCC_CIER", CIER, Rw, 0, INTERRUPTS),
    Register::new("RCC_CIFR", CIFR, Ro, 0, FLAGS),
    Register::new("RCC_CICR", CICR, Wo, 0, FLAGS),
    Register::new("RCC_AHB1RSTR", AHB1RSTR, Rw, 0, 0x0003_1107),
    Register::new("RCC_AHB2RSTR", 0x2c, Rw, 0, 0x0054_71ff),
    Register::new("RCC_AHB3RSTR", 0x30, Rw, 0, 0x0000_0301),
    Register::new("RCC_APB1RSTR1", 0x38, Rw, 0, 0xf3fe_c03f),
    Register::new("RCC_APB1RSTR2", 0x3c, Rw, 0, 0x0000_0023),
    Register::new("RCC_APB2RSTR", APB2RSTR, Rw, 0, 0x0167_7801),
    Register::new("RCC_AHB1ENR", AHB1ENR, Rw, 0x0000_0100, 0x0003_1107),
    Register::new("RCC_AHB2ENR", 0x4c, Rw, 0, 0x0054_71ff),
    Register::new("RCC_AHB3ENR", 0x50, Rw, 0, 0x0000_0301),
    Register::new("RCC_APB1ENR1", APB1ENR1, Rw, 0x0000_0400, 0xf3fe_cc3f),
    Register::new("RCC_APB1ENR2", 0x5c, Rw, 0, 0x0000_0023),
    Register::new("RCC_APB2ENR", APB2ENR, Rw, 0, 0x0167_7881),
    Register::new("RCC_AHB1SMENR", 0x68, Rw, 0x0003_1307, 0x0003_1307),
    Register::new("RCC_AHB2SMENR", 0x6c, Rw, 0x0054_77ff, 0x0054_77ff),
    Register::new("RCC_AHB3SMENR", 0x70, Rw, 0x0000_0301, 0x0000_0301),
    Register::new("RCC_APB1SMENR1", 0x78, Rw, 0xf3fe_cc3f, 0xf3fe_cc3f),
    Register::new("RCC_APB1SMENR2", 0x7c, Rw, 0x0000_0023, 0x0000_0023),
    Register::new("RCC_APB2SMENR", 0x80, Rw, 0x0167_7801, 0x0167_7801),
    Register::new("RCC_CCIPR", CCIPR, Rw, 0, 0x3c3f_ffff),
    Register::new("RCC_BDCR", BDCR, Rw, 0, BDCR_MASK),
    Register::new("RCC_CSR", CSR, Rw, CSR_RESET, CSR_MASK),
    Register::new("RCC_CRRCR", CRRCR, Rw, 0, CRRCR_HSI48ON),
    Register::new("RCC_CCIPR2", CCIPR2, Rw, 0, 0x0033_57ff),
];

/// The register with a PLL's factors.
pub const fn pll_register(pll: usize) -> u32 {
    match pll {
        PLL => PLLCFGR,
        PLLSAI1 => PLLSAI1CFGR,
        _ => PLLSAI2CFGR,
    }
}
