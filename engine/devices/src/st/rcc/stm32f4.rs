//! `st,stm32f4-rcc`: the reset and clock control of an STM32F4 (RM0090, "Reset and clock control for STM32F405xx/07xx
//! and STM32F415xx/17xx (RCC)"; RM0383, the same chapter).
//!
//! Modelled: the oscillators and PLLs with their ready flags and interrupts, start-up and lock times; the selection of
//! SYSCLK; the dividers of AHB, APB1 and APB2, and the doubled clocks of timers; the PLL's outputs; RTC's clock; enable
//! registers, which gate peripherals; the backup domain's write protection (PWR_CR.DBP); reset flags. The board's clock
//! nodes follow: see [`OUTPUTS`]. A clock whose source is off is stopped.
//!
//! A source that the board lacks (HSE without a crystal) never becomes ready, as on a board. A PLL out of its range,
//! and a clock above its limit, run at the set rate, with a note.
//!
//! A peripheral's reset returns its model to the state at the start; PWR and SYSCFG keep their state, with a note.
//!
//! Not modelled: spread spectrum, MCO pins and HSE failures (so CSSON only keeps its value); low-power enables, as
//! Sleep is the only low-power mode.

#[cfg(test)]
mod tests;

use crate::prelude::*;

use super::Rcc;
use super::family::Kind::{Crystal, Oscillator};
use super::family::Name::{Hse, Hsi, I2s, Lse, Lsi, Main};
use super::family::{Family, Interrupts, Kind, Peripherals, SourceRow, with_peripherals};
use super::pll::{Factor, Input, Limits, MHZ, Output, Pll};
use super::tree::{BUSES, Clock};
use crate::support::activities::CLOCKS;
use crate::support::stm32f4_part::of_part;

registers! {
    /// The registers that are the same in all parts (RM0090, 7.3.24, RCC register map; RM0383, 6.3.22).
    pub const COMMON "RCC_" {
        /// HSICAL depends on the part, and reads 0.
        CR 0x00 rw reset 0x81 {
            HSION 0, HSIRDY 1 ro, HSITRIM 3..8, HSEON 16, HSERDY 17 ro, HSEBYP 18, CSSON 19, PLLON 24, PLLRDY 25 ro,
            PLLI2SON 26, PLLI2SRDY 27 ro
        };
        /// Bit 29 is reserved, and 1.
        PLLCFGR 0x04 rw reset 0x2400_3010 {
            PLLM 0..6, PLLN 6..15, PLLP 16..18, PLLSRC 22, PLLQ 24..28, RESERVED 29 ro
        };
        CFGR 0x08 rw {
            SW 0..2, SWS 2..4 ro, HPRE 4..8, PPRE1 10..13, PPRE2 13..16, RTCPRE 16..21, MCO1 21..23, I2SSRC 23,
            MCO1PRE 24..27, MCO2PRE 27..30, MCO2 30..32
        };
        CIR 0x0c rw {
            LSIRDYF 0 ro, LSERDYF 1 ro, HSIRDYF 2 ro, HSERDYF 3 ro, PLLRDYF 4 ro, PLLI2SRDYF 5 ro, CSSF 7 ro,
            LSIRDYIE 8, LSERDYIE 9, HSIRDYIE 10, HSERDYIE 11, PLLRDYIE 12, PLLI2SRDYIE 13,
            LSIRDYC 16, LSERDYC 17, HSIRDYC 18, HSERDYC 19, PLLRDYC 20, PLLI2SRDYC 21, CSSC 23
        };
        /// After power-on: BORRSTF, PINRSTF, PORRSTF.
        CSR 0x74 rw reset 0x0e00_0000 { LSION 0, LSIRDY 1 ro, RMVF 24, FLAGS 25..32 ro };
        SSCGR 0x80 rw mask 0xcfff_ffff { SSCGEN 31 };
    }
}

registers! {
    /// Those of the peripherals, whose bits depend on the part.
    const PERIPHERALS "RCC_" {
        AHB1RSTR "AHB{}RSTR" [1..3; 4] 0x10 rw;
        APB1RSTR "APB{}RSTR" [1..3; 4] 0x20 rw;
        AHB1ENR "AHB{}ENR" [1..3; 4] 0x30 rw;
        APB1ENR "APB{}ENR" [1..3; 4] 0x40 rw;
        AHB1LPENR "AHB{}LPENR" [1..3; 4] 0x50 rw;
        APB1LPENR "APB{}LPENR" [1..3; 4] 0x60 rw;
    }

    /// The further registers of STM32F405 and STM32F407.
    pub const OF_F407 "RCC_" {
        AHB3RSTR 0x18 rw mask 1;
        AHB3ENR 0x38 rw mask 1;
        AHB3LPENR 0x58 rw reset 1 mask 1;
        BDCR 0x70 rw { LSEON 0, LSERDY 1 ro, LSEBYP 2, RTCSEL 8..10, RTCEN 15, BDRST 16 };
        PLLI2SCFGR 0x84 rw reset 0x2000_3000 { PLLI2SN 6..15, PLLI2SR 28..31 };
    }

    /// What only STM32F411 has.
    const ALONE "RCC_" {
        DCKCFGR 0x8c rw { TIMPRE 24 };
    }
}

/// The peripherals on AHB1, AHB2, APB1 and APB2.
const BITS_OF_F407: [Peripherals; 4] = [
    [0x2260_11ff, 0x0010_0000, 0x7e74_11ff, 0x7e67_91ff, 0x7e67_91ff],
    [0x0000_00f1, 0, 0x0000_00f1, 0x0000_00f1, 0x0000_00f1],
    [0x36fe_c9ff, 0, 0x36fe_c9ff, 0x36fe_c9ff, 0x36fe_c9ff],
    [0x0007_5933, 0, 0x0007_5f33, 0x0007_5f33, 0x0007_5f33],
];

/// The further registers of STM32F411.
mod f411 {
    use super::*;

    registers! {
        pub const MAP "RCC_" {
            BDCR 0x70 rw { LSEON 0, LSERDY 1 ro, LSEBYP 2, LSEMOD 3, RTCSEL 8..10, RTCEN 15, BDRST 16 };
            PLLI2SCFGR 0x84 rw reset 0x2000_3010 { PLLI2SM 0..6, PLLI2SN 6..15, PLLI2SR 28..31 };
        }
    }

    /// The peripherals on AHB1, AHB2, APB1 and APB2.
    pub const BITS: [Peripherals; 4] = [
        [0x0060_109f, 0, 0x0060_109f, 0x0061_909f, 0x0061_909f],
        [0x0000_0080, 0, 0x0000_0080, 0x0000_0080, 0x0000_0080],
        [0x10e2_c80f, 0, 0x10e2_c80f, 0x10e2_c80f, 0x10e2_c80f],
        [0x0017_7931, 0, 0x0017_7931, 0x0017_7931, 0x0017_7931],
    ];
}

/// The registers of both, with their names.
const NAMED: Map =
    joined!(COMMON, OF_F407, Map::new(&with_peripherals::<12>(&PERIPHERALS, &BITS_OF_F407), &[], 4), ALONE);

/// The sources; the STM32F407's PLLs share the divisor of their input.
const fn sources(m_of_i2s: u32) -> [SourceRow; 6] {
    const Q: Output = Output::new("Q", 0, Factor::plain(PLLCFGR_PLLQ));
    const P: Output = Output::new("P", 0, Factor::even(PLLCFGR_PLLP));
    const R: Output = Output::new("R", 0, Factor::plain(PLLI2SCFGR_PLLI2SR));
    let m = Factor::plain(PLLCFGR_PLLM);
    let main = Pll { register: PLLCFGR, m: (PLLCFGR, m), n: Factor::plain(PLLCFGR_PLLN), outputs: &[P, Q] };
    let n = Factor::plain(PLLI2SCFGR_PLLI2SN);
    let i2s = Pll { register: PLLI2SCFGR, m: (m_of_i2s, m), n, outputs: &[R] };
    [
        SourceRow::new(Hsi, "HSI", CR, [CR_HSION, CR_HSIRDY, CIR_HSIRDYF], Oscillator("hsi", "ns")),
        SourceRow::new(Hse, "HSE", CR, [CR_HSEON, CR_HSERDY, CIR_HSERDYF], Crystal),
        SourceRow::new(Lse, "LSE", BDCR, [BDCR_LSEON, BDCR_LSERDY, CIR_LSERDYF], Oscillator("lse", "us")),
        SourceRow::new(Lsi, "LSI", CSR, [CSR_LSION, CSR_LSIRDY, CIR_LSIRDYF], Oscillator("lsi", "us")),
        SourceRow::new(Main, "the PLL", CR, [CR_PLLON, CR_PLLRDY, CIR_PLLRDYF], Kind::Pll(main)),
        SourceRow::new(I2s, "PLLI2S", CR, [CR_PLLI2SON, CR_PLLI2SRDY, CIR_PLLI2SRDYF], Kind::Pll(i2s)),
    ]
}

/// What RCC_BDCR.RTCSEL selects.
const OF_RTC: [Clock; 4] = [
    Clock::Nothing("RCC_BDCR.RTCSEL"),
    Clock::Source(Lse),
    Clock::Source(Lsi),
    Clock::OverField(&Clock::Source(Hse), CFGR, CFGR_RTCPRE),
];

/// The further clocks that the device drives.
const OUTPUTS: [(&str, Clock); 3] = [
    ("the PLL's output Q, for USB, RNG and SDIO", Clock::Output(Main, "Q")),
    ("the PLLI2S's output R, for I2S", Clock::Output(I2s, "R")),
    ("RTCCLK", Clock::Selected(BDCR, BDCR_RTCSEL, &OF_RTC)),
];

/// STM32F405 and STM32F407 (limits: DS8626, General operating conditions).
pub static F407: Family = Family {
    map: &joined!(COMMON, OF_F407, Map::new(&with_peripherals::<12>(&PERIPHERALS, &BITS_OF_F407), &[], 4)),
    sources: &sources(PLLCFGR),
    input: Input { shared: PLLCFGR_PLLSRC | PLLCFGR_PLLM, ..F411.input },
    most_mhz: (&[168, 42, 84], ""),
    ..F411
};

/// STM32F411.
pub const F411: Family = Family {
    map: &joined!(COMMON, f411::MAP, Map::new(&with_peripherals::<12>(&PERIPHERALS, &f411::BITS), &[], 4), ALONE),
    sources: &sources(PLLI2SCFGR),
    reset_hz: Hz::new(16 * MHZ).expect("a rate"),
    sysclk: &[Hsi, Hse, Main],
    input: Input {
        register: PLLCFGR,
        select: PLLCFGR_PLLSRC,
        sources: &[Some(Hsi), Some(Hse)],
        shared: PLLCFGR_PLLSRC,
        outputs: 0,
        is_boards: true,
    },
    // RM0090, RCC_PLLCFGR.
    limits: Limits { m: 2..=63, n: 50..=432, input_hz: 950_000..=2_100_000, input: "1 to 2 MHz", vco_mhz: 100..=432 },
    mco: (
        CFGR_MCO1 | CFGR_MCO1PRE | CFGR_MCO2PRE | CFGR_MCO2,
        "the MCO pins (RCC_CFGR) are not modelled: they have no output",
    ),
    dividers: CFGR_HPRE | CFGR_PPRE1 | CFGR_PPRE2 | CFGR_RTCPRE | CFGR_I2SSRC,
    apb_dividers: [CFGR_PPRE1, CFGR_PPRE2],
    // RM0383, RCC_DCKCFGR.TIMPRE: only some parts have it.
    timers_by_4: Some((DCKCFGR, DCKCFGR_TIMPRE)),
    enables: AHB1ENR..=APB1ENR + 4,
    apb_enables: [APB1ENR, APB1ENR + 4],
    // ES0182 and ES0287, "Delay after an RCC peripheral clock enabling": 2 cycles of AHB, or 1 plus the bus's divider.
    enabled_at: |now, hclk, bus| hclk.after(now, Cycles(1 + hclk.get() / bus.get().max(1))),
    bdcr: BDCR,
    dbp: "PWR_CR",
    csr: CSR,
    rmvf: CSR_RMVF,
    reset_flags: CSR_FLAGS,
    interrupts: Interrupts { enables: CIR, shift: 8, flags: CIR, clears: 0xff << 16, clear_shift: 16 },
    settings: &[CFGR, DCKCFGR, BDCR],
    outputs: &[&BUSES, &OUTPUTS],
    // DS10314, General operating conditions.
    most_mhz: (&[100, 50, 100], ""),
    wrote: |rcc, register, _, ctx| {
        if register == SSCGR && rcc.registers.has(SSCGR, SSCGR_SSCGEN) {
            ctx.note("spread spectrum (RCC_SSCGR) is not modelled: the PLL's rate stays constant");
        }
    },
    tune: |_| {},
};

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32f4-rcc", "st,stm32-rcc", "st,stm32f42xx-rcc"], 1, from_node)
        .with_activities(CLOCKS)
        .naming(NAMED.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let oscillators = F407.oscillators(reader);
    let family = of_part(reader, "registers and limits", [&F407, &F411]);
    Rcc::from_node(family, oscillators, reader)
}
