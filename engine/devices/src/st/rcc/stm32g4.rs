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

use super::Rcc;
use super::family::Name::{Hse, Hsi, Hsi48, Main};
use super::family::{Family, Peripherals, SourceRow, with_peripherals};
use super::pll::{Factor, Input, Limits, MHZ, Output};
use super::stm32l4::*;
use super::tree::{BUSES, Clock};
use crate::support::activities::CLOCKS;

registers! {
    /// The registers that differ from those of an STM32L4+ (RM0440, RCC register map).
    const OF_G4 "RCC_" {
        CR 0x00 rw reset 0x500 {
            HSION 8, HSIKERON 9, HSIRDY 10 ro, HSEON 16, HSERDY 17 ro, HSEBYP 18, CSSON 19, PLLON 24, PLLRDY 25 ro
        };
        /// HSICAL depends on the part, and reads 0.
        ICSCR 0x04 rw reset 0x4000_0000 { HSITRIM 24..31 };
        CFGR 0x08 rw reset 5 {
            SW 0..2, SWS 2..4 ro, HPRE 4..8, PPRE1 8..11, PPRE2 11..14, MCOSEL 24..28, MCOPRE 28..31
        };
        CIER 0x18 rw mask 0x63b;
        CIFR 0x1c ro { LSIRDYF 0, LSERDYF 1, HSIRDYF 3, HSERDYF 4, PLLRDYF 5, CSSF 8, LSECSSF 9, HSI48RDYF 10 };
        CICR 0x20 clear CIFR mask 0x73b;
        CCIPR 0x88 rw {
            USART1SEL 0..2, USART2SEL 2..4, USART3SEL 4..6, UART4SEL 6..8, UART5SEL 8..10, LPUART1SEL 10..12,
            I2C1SEL 12..14, I2C2SEL 14..16, I2C3SEL 16..18, LPTIM1SEL 18..20, SAI1SEL 20..22, I2S23SEL 22..24,
            FDCANSEL 24..26, CLK48SEL 26..28, ADC12SEL 28..30, ADC345SEL 30..32
        };
        /// After power-on: BORRSTF and PINRSTF.
        CSR 0x94 rw reset 0x0c00_0000 { LSION 0, LSIRDY 1 ro, RMVF 23, FLAGS 25..32 ro };
        CCIPR2 0x9c rw mask 0x0030_0003 { I2C4SEL 0..2, QSPISEL 20..22 };
    }
}

/// The peripherals on AHB1 to AHB3, on APB1 (two registers) and on APB2.
const BITS: [Peripherals; 6] = [
    [0x0000_111f, 0x100, 0x0000_111f, 0x0000_130f, 0x0000_131f],
    [0x050f_607f, 0, 0x050f_607f, 0x050f_667f, 0x050f_667f],
    [0x0000_0101, 0, 0x0000_0101, 0x0000_0101, 0x0000_0101],
    [0xd2fe_c13f, 0x400, 0xd2fe_cd3f, 0xd2fe_cd3f, 0xd2fe_cd3f],
    [0x0000_0103, 0, 0x0000_0103, 0x0000_0103, 0x0000_0103],
    [0x0437_f801, 0, 0x0437_f801, 0x0437_f801, 0x0437_f801],
];

/// The register map.
const MAP: Map = joined!(OF_G4, SHARED, Map::new(&with_peripherals::<18>(&PERIPHERALS, &BITS), &[], 4));

/// The PLL's output P is divided by PLLPDIV, and if that is 0 by 7 or 17, as PLLP selects.
const P: Output = Output::new("P", PLLCFGR_PLLPEN, Factor::plain(PLLCFGR_PLLPDIV)).or(Factor::of(PLLCFGR_PLLP, 7, 10));

const SOURCES: [SourceRow; 6] = {
    let [hsi, hse, lse, lsi, hsi48] = OSCILLATORS;
    [hsi, hse, lse, lsi, hsi48, pll(Main, "the PLL", PLLCFGR, [CR_PLLON, CR_PLLRDY, CIFR_PLLRDYF], &[R, Q, P])]
};

// What selectors select, by their values (RM0440, RCC_CCIPR and RCC_CCIPR2).
const OF_CLK48: [Clock; 4] = [Clock::Source(Hsi48), NONE, Clock::Output(Main, "Q"), NONE];
const OF_ADC: [Clock; 4] = [NONE, Clock::Output(Main, "P"), Clock::Sysclk, NONE];
const OF_QSPI: [Clock; 4] = [Clock::Sysclk, HSI16, Clock::Output(Main, "Q"), NONE_2];

const CLK48: [(&str, Clock); 1] = [("CLK48, for USB and RNG", Clock::Selected(CCIPR, CCIPR_CLK48SEL, &OF_CLK48))];

const OTHERS: [(&str, Clock); 5] = [
    ("I2C4's", Clock::Selected(CCIPR2, CCIPR2_I2C4SEL, &OF_I2C4)),
    ("LPTIM1's", Clock::Selected(CCIPR, CCIPR_LPTIM1SEL, &OF_LPTIM)),
    ("the clock of ADC1 and ADC2", Clock::Selected(CCIPR, CCIPR_ADC12SEL, &OF_ADC)),
    ("the clock of ADC3 to ADC5", Clock::Selected(CCIPR, CCIPR_ADC345SEL, &OF_ADC)),
    ("the QUADSPI's clock", Clock::Selected(CCIPR2, CCIPR2_QSPISEL, &OF_QSPI)),
];

/// The STM32G4: the registers that it shares with the STM32L4+ have the same places and fields.
static G4: Family = Family {
    map: &MAP,
    sources: &SOURCES,
    reset_hz: Hz::new(16 * MHZ).expect("a rate"),
    // SW's value 0 is reserved.
    sysclk: &[Hsi, Hsi, Hse, Main],
    input: Input { sources: &[None, None, Some(Hsi), Some(Hse)], ..L4.input },
    // RM0440, RCC_PLLCFGR; DS12288, PLL characteristics.
    limits: Limits { vco_mhz: 96..=344, ..L4.limits },
    reset_flags: CSR_FLAGS,
    settings: &[CFGR, CCIPR, CCIPR2, BDCR],
    outputs: &[&BUSES, &CLK48, &KERNELS, &OTHERS],
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
    Rcc::from_node(&G4, G4.oscillators(reader), reader)
}
