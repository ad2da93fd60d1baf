//! `st,stm32g4-rcc`: the reset and clock control of an STM32G4 (RM0440, "Reset and clock control (RCC)").
//!
//! Modelled: the oscillators and the PLL with their ready flags and interrupts, start-up and lock times; the selection
//! of SYSCLK; the dividers of AHB, APB1 and APB2, and the doubled clocks of timers; kernel clocks of peripherals
//! (CCIPR, CCIPR2) and CLK48; RTC's clock; enable registers, which gate peripherals; the backup domain's write
//! protection (PWR_CR1.DBP); reset flags. The registers are those of an STM32G474, which has most peripherals. A clock
//! whose source is off is stopped.
//!
//! A source that the board lacks (HSE without a crystal) never becomes ready, as on a board. A PLL out of its range,
//! and a clock above its limit, run at the set rate, with a note.
//!
//! Not modelled: trimming, as all oscillators are exact; MCO and LSCO pins; clock failures (so CSSON only keeps its
//! value); enables in Sleep and Stop; SAI's, I2S's and FDCAN's kernel clocks.

#[cfg(test)]
mod tests;

use crate::prelude::*;

use super::family::{Family, Kind, SourceRow};
use super::pll::{Factor, Input, Limits, MHZ, Output, Pll};
use super::stm32l4::L4;
use super::tree::Clock;
use super::{Params, Rcc};
use crate::support::activities::CLOCKS;

registers! {
    /// The register map (RM0440, RCC register map).
    const MAP "RCC_" {
        CR 0x00 rw reset 0x500 {
            HSION 8, HSIKERON 9, HSIRDY 10 ro, HSEON 16, HSERDY 17 ro, HSEBYP 18, CSSON 19, PLLON 24, PLLRDY 25 ro
        };
        /// HSICAL depends on the part, and reads 0.
        ICSCR 0x04 rw reset 0x4000_0000 { HSITRIM 24..31 };
        CFGR 0x08 rw reset 5 {
            SW 0..2, SWS 2..4 ro, HPRE 4..8, PPRE1 8..11, PPRE2 11..14, MCOSEL 24..28, MCOPRE 28..31
        };
        PLLCFGR 0x0c rw reset 0x1000 {
            PLLSRC 0..2, PLLM 4..8, PLLN 8..15, PLLPEN 16, PLLP 17, PLLQEN 20, PLLQ 21..23, PLLREN 24, PLLR 25..27,
            PLLPDIV 27..32
        };
        CIER 0x18 rw mask 0x63b;
        CIFR 0x1c ro { LSIRDYF 0, LSERDYF 1, HSIRDYF 3, HSERDYF 4, PLLRDYF 5, CSSF 8, LSECSSF 9, HSI48RDYF 10 };
        CICR 0x20 clear CIFR mask 0x73b;
        AHB1RSTR 0x28 rw mask 0x0000_111f;
        AHB2RSTR 0x2c rw mask 0x050f_607f;
        AHB3RSTR 0x30 rw mask 0x0000_0101;
        APB1RSTR1 0x38 rw mask 0xd2fe_c13f;
        APB1RSTR2 0x3c rw mask 0x0000_0103;
        APB2RSTR 0x40 rw mask 0x0437_f801;
        AHB1ENR 0x48 rw reset 0x0000_0100 mask 0x0000_111f;
        AHB2ENR 0x4c rw mask 0x050f_607f;
        AHB3ENR 0x50 rw mask 0x0000_0101;
        APB1ENR1 0x58 rw reset 0x0000_0400 mask 0xd2fe_cd3f;
        APB1ENR2 0x5c rw mask 0x0000_0103;
        APB2ENR 0x60 rw mask 0x0437_f801;
        AHB1SMENR 0x68 rw reset 0x0000_130f mask 0x0000_131f;
        AHB2SMENR 0x6c rw reset 0x050f_667f mask 0x050f_667f;
        AHB3SMENR 0x70 rw reset 0x0000_0101 mask 0x0000_0101;
        APB1SMENR1 0x78 rw reset 0xd2fe_cd3f mask 0xd2fe_cd3f;
        APB1SMENR2 0x7c rw reset 0x0000_0103 mask 0x0000_0103;
        APB2SMENR 0x80 rw reset 0x0437_f801 mask 0x0437_f801;
        CCIPR 0x88 rw {
            USART1SEL 0..2, USART2SEL 2..4, USART3SEL 4..6, UART4SEL 6..8, UART5SEL 8..10, LPUART1SEL 10..12,
            I2C1SEL 12..14, I2C2SEL 14..16, I2C3SEL 16..18, LPTIM1SEL 18..20, SAI1SEL 20..22, I2S23SEL 22..24,
            FDCANSEL 24..26, CLK48SEL 26..28, ADC12SEL 28..30, ADC345SEL 30..32
        };
        BDCR 0x90 rw {
            LSEON 0, LSERDY 1 ro, LSEBYP 2, LSEDRV 3..5, LSECSSON 5, RTCSEL 8..10, RTCEN 15, BDRST 16, LSCOEN 24,
            LSCOSEL 25
        };
        /// After power-on: BORRSTF and PINRSTF.
        CSR 0x94 rw reset 0x0c00_0000 { LSION 0, LSIRDY 1 ro, RMVF 23, FLAGS 25..32 ro };
        CRRCR 0x98 rw { HSI48ON 0, HSI48RDY 1 ro };
        CCIPR2 0x9c rw mask 0x0030_0003 { I2C4SEL 0..2, QSPISEL 20..22 };
    }
}

const HSI: usize = 0;
const HSE: usize = 1;
const LSE: usize = 2;
const LSI: usize = 3;
const HSI48: usize = 4;
const PLL: usize = 5;

/// The outputs of the PLL. P is divided by PLLPDIV, and if that is 0 by 7 or 17, as PLLP selects.
const OUTPUTS_OF_PLL: [Output; 3] = [
    Output::new("R", PLLCFGR_PLLREN, Factor::even(PLLCFGR_PLLR)),
    Output::new("Q", PLLCFGR_PLLQEN, Factor::even(PLLCFGR_PLLQ)),
    Output::new("P", PLLCFGR_PLLPEN, Factor::plain(PLLCFGR_PLLPDIV)).or(Factor::of(PLLCFGR_PLLP, 7, 10)),
];
const Q: usize = 1;
const P: usize = 2;

const SOURCES: [SourceRow; 6] = [
    SourceRow::new("HSI16", CR, [CR_HSION, CR_HSIRDY, CIFR_HSIRDYF], Kind::Oscillator("hsi", "hsi-start-ns")),
    SourceRow::new("HSE", CR, [CR_HSEON, CR_HSERDY, CIFR_HSERDYF], Kind::Hse("hse")),
    SourceRow::new("LSE", BDCR, [BDCR_LSEON, BDCR_LSERDY, CIFR_LSERDYF], Kind::Oscillator("lse", "lse-start-us")),
    SourceRow::new("LSI", CSR, [CSR_LSION, CSR_LSIRDY, CIFR_LSIRDYF], Kind::Oscillator("lsi", "lsi-start-us")),
    SourceRow::new(
        "HSI48",
        CRRCR,
        [CRRCR_HSI48ON, CRRCR_HSI48RDY, CIFR_HSI48RDYF],
        Kind::Oscillator("hsi48", "hsi48-start-ns"),
    ),
    SourceRow::new(
        "the PLL",
        CR,
        [CR_PLLON, CR_PLLRDY, CIFR_PLLRDYF],
        Kind::Pll(Pll {
            register: PLLCFGR,
            m: (PLLCFGR, Factor::next(PLLCFGR_PLLM)),
            n: Factor::plain(PLLCFGR_PLLN),
            outputs: &OUTPUTS_OF_PLL,
        }),
    ),
];

// What selectors select, by their values (RM0440, RCC_CCIPR and RCC_CCIPR2).
const NONE: Clock = Clock::Nothing("RCC_CCIPR");
const HSI16: Clock = Clock::Source(HSI);
const OF_UART1: [Clock; 4] = [Clock::Pclk(1), Clock::Sysclk, HSI16, Clock::Source(LSE)];
const OF_UARTS: [Clock; 4] = [Clock::Pclk(0), Clock::Sysclk, HSI16, Clock::Source(LSE)];
const OF_I2C: [Clock; 4] = [Clock::Pclk(0), Clock::Sysclk, HSI16, NONE];
const OF_LPTIM: [Clock; 4] = [Clock::Pclk(0), Clock::Source(LSI), HSI16, Clock::Source(LSE)];
const OF_CLK48: [Clock; 4] = [Clock::Source(HSI48), NONE, Clock::Output(PLL, Q), NONE];
const OF_ADC: [Clock; 4] = [NONE, Clock::Output(PLL, P), Clock::Sysclk, NONE];
const OF_QSPI: [Clock; 4] = [Clock::Sysclk, HSI16, Clock::Output(PLL, Q), Clock::Nothing("RCC_CCIPR2")];
const OF_RTC: [Clock; 4] =
    [Clock::Nothing("RCC_BDCR.RTCSEL"), Clock::Source(LSE), Clock::Source(LSI), Clock::Over(&Clock::Source(HSE), 32)];

/// The clocks that the device drives, in the order of `cyclescope,outputs`.
const OUTPUTS: [(&str, Clock); 23] = [
    ("SYSCLK", Clock::Sysclk),
    ("HCLK", Clock::Hclk),
    ("HCLK / 8, SysTick's external clock", Clock::Over(&Clock::Hclk, 8)),
    ("PCLK1", Clock::Pclk(0)),
    ("PCLK2", Clock::Pclk(1)),
    ("the clock of APB1's timers", Clock::Timers(0)),
    ("the clock of APB2's timers", Clock::Timers(1)),
    ("CLK48, for USB and RNG", Clock::Selected(CCIPR, CCIPR_CLK48SEL, &OF_CLK48)),
    ("RTCCLK", Clock::Selected(BDCR, BDCR_RTCSEL, &OF_RTC)),
    ("USART1's kernel clock", Clock::Selected(CCIPR, CCIPR_USART1SEL, &OF_UART1)),
    ("USART2's", Clock::Selected(CCIPR, CCIPR_USART2SEL, &OF_UARTS)),
    ("USART3's", Clock::Selected(CCIPR, CCIPR_USART3SEL, &OF_UARTS)),
    ("UART4's", Clock::Selected(CCIPR, CCIPR_UART4SEL, &OF_UARTS)),
    ("UART5's", Clock::Selected(CCIPR, CCIPR_UART5SEL, &OF_UARTS)),
    ("LPUART1's", Clock::Selected(CCIPR, CCIPR_LPUART1SEL, &OF_UARTS)),
    ("I2C1's", Clock::Selected(CCIPR, CCIPR_I2C1SEL, &OF_I2C)),
    ("I2C2's", Clock::Selected(CCIPR, CCIPR_I2C2SEL, &OF_I2C)),
    ("I2C3's", Clock::Selected(CCIPR, CCIPR_I2C3SEL, &OF_I2C)),
    ("I2C4's", Clock::Selected(CCIPR2, CCIPR2_I2C4SEL, &OF_I2C)),
    ("LPTIM1's", Clock::Selected(CCIPR, CCIPR_LPTIM1SEL, &OF_LPTIM)),
    ("the clock of ADC1 and ADC2", Clock::Selected(CCIPR, CCIPR_ADC12SEL, &OF_ADC)),
    ("the clock of ADC3 to ADC5", Clock::Selected(CCIPR, CCIPR_ADC345SEL, &OF_ADC)),
    ("the QUADSPI's clock", Clock::Selected(CCIPR2, CCIPR2_QSPISEL, &OF_QSPI)),
];

/// The STM32G4: the registers that it shares with the STM32L4+ have the same places and fields.
static G4: Family = Family {
    map: &MAP,
    sources: &SOURCES,
    hse: HSE,
    lse: LSE,
    reset_hz: Hz::new(16 * MHZ).expect("a rate"),
    // SW's value 0 is reserved.
    sysclk: &[HSI, HSI, HSE, PLL],
    input: Input {
        register: PLLCFGR,
        select: PLLCFGR_PLLSRC,
        sources: &[None, None, Some(HSI), Some(HSE)],
        shared: PLLCFGR_PLLSRC | PLLCFGR_PLLM,
        outputs: PLLCFGR_PLLPEN | PLLCFGR_PLLQEN | PLLCFGR_PLLREN,
        is_boards: false,
    },
    // RM0440, RCC_PLLCFGR; DS12288, PLL characteristics.
    limits: Limits {
        m: 1..=16,
        n: 8..=127,
        input_hz: 2_660_000..=16 * MHZ,
        input: "2.66 to 16 MHz",
        vco_mhz: 96..=344,
    },
    reset_flags: CSR_FLAGS,
    settings: &[CFGR, CCIPR, CCIPR2, BDCR],
    outputs: &OUTPUTS,
    most_mhz: (&[170], " (DS12288)"),
    wrote: |_, _, _, _| (),
    tune: |_| (),
    ..L4
};

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32g4-rcc"], 1, from_node).with_activities(CLOCKS).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let oscillators = G4.oscillators(reader);
    Box::new(Rcc::new(&G4, Params::from_node(reader, &G4, oscillators)))
}
