//! `st,stm32l4-rcc`: the reset and clock control of an STM32L4+ (RM0432, "Reset and clock control (RCC)").
//!
//! Modelled: the oscillators (MSI in its twelve ranges) and the three PLLs with their ready flags and interrupts,
//! start-up and lock times; the selection of SYSCLK; the dividers of AHB, APB1 and APB2, and the doubled clocks of
//! timers; kernel clocks of peripherals (CCIPR, CCIPR2) and CLK48; RTC's clock; enable registers, which gate
//! peripherals; the backup domain's write protection (PWR_CR1.DBP); reset flags. The board's clock nodes follow: see
//! [`OUTPUTS`]. A clock whose source is off is stopped.
//!
//! A source that the board lacks (HSE without a crystal) never becomes ready, as on a board. A PLL out of its range,
//! and a clock above its limit, run at the set rate, with a note.
//!
//! A peripheral's reset returns its model to the state at the start; PWR and SYSCFG keep their state, with a note.
//!
//! Not modelled: trimming, and MSI's lock to LSE, as all oscillators are exact; MCO and LSCO pins; clock failures (so
//! CSSON only keeps its value); enables in Sleep and Stop.

#[cfg(test)]
mod tests;

use crate::prelude::*;

use super::Rcc;
use super::family::Kind::{Crystal, Oscillator, Ranges};
use super::family::Name::{self, Hse, Hsi, Hsi48, Lse, Lsi, Main, Msi, Sai1, Sai2};
use super::family::{Family, Interrupts, Kind, Peripherals, SourceRow, with_peripherals};
use super::pll::{Factor, Input, Limits, MHZ, Output, Pll};
use super::tree::{BUSES, Clock};
use crate::support::activities::CLOCKS;

registers! {
    /// The registers that STM32G4 has as well.
    pub const SHARED "RCC_" {
        PLLCFGR 0x0c rw reset 0x1000 {
            PLLSRC 0..2, PLLM 4..8, PLLN 8..15, PLLPEN 16, PLLP 17, PLLQEN 20, PLLQ 21..23, PLLREN 24, PLLR 25..27,
            PLLPDIV 27..32
        };
        BDCR 0x90 rw {
            LSEON 0, LSERDY 1 ro, LSEBYP 2, LSEDRV 3..5, LSECSSON 5, RTCSEL 8..10, RTCEN 15, BDRST 16, LSCOEN 24,
            LSCOSEL 25
        };
        CRRCR 0x98 rw { HSI48ON 0, HSI48RDY 1 ro };
    }

    /// Those of the peripherals, whose bits depend on the family.
    pub const PERIPHERALS "RCC_" {
        AHB1RSTR "AHB{}RSTR" [1..4; 4] 0x28 rw;
        APB1RSTR "APB1RSTR{}" [1..3; 4] 0x38 rw;
        APB2RSTR 0x40 rw;
        AHB1ENR "AHB{}ENR" [1..4; 4] 0x48 rw;
        APB1ENR "APB1ENR{}" [1..3; 4] 0x58 rw;
        APB2ENR 0x60 rw;
        AHB1SMENR "AHB{}SMENR" [1..4; 4] 0x68 rw;
        APB1SMENR "APB1SMENR{}" [1..3; 4] 0x78 rw;
        APB2SMENR 0x80 rw;
    }

    /// The others (RM0432, RCC register map), of the STM32L4R5.
    const OF_L4 "RCC_" {
        CR 0x00 rw reset 0x61 {
            MSION 0, MSIRDY 1 ro, MSIPLLEN 2,
            /// Selects MSIRANGE. Only a reset clears it.
            MSIRGSEL 3,
            MSIRANGE 4..8, HSION 8, HSIKERON 9, HSIRDY 10 ro, HSIASFS 11, HSEON 16, HSERDY 17 ro, HSEBYP 18, CSSON 19,
            PLLON 24, PLLRDY 25 ro, PLLSAI1ON 26, PLLSAI1RDY 27 ro, PLLSAI2ON 28, PLLSAI2RDY 29 ro
        };
        /// MSICAL and HSICAL depend on the part, and read 0.
        ICSCR 0x04 rw reset 0x4000_0000 { MSITRIM 8..16, HSITRIM 24..31 };
        CFGR 0x08 rw {
            SW 0..2, SWS 2..4 ro, HPRE 4..8, PPRE1 8..11, PPRE2 11..14, STOPWUCK 15, MCOSEL 24..28, MCOPRE 28..31
        };
        PLLSAI1CFGR 0x10 rw reset 0x1000 {
            PLLSAI1M 4..8, PLLSAI1N 8..15, PLLSAI1PEN 16, PLLSAI1P 17, PLLSAI1QEN 20, PLLSAI1Q 21..23, PLLSAI1REN 24,
            PLLSAI1R 25..27, PLLSAI1PDIV 27..32
        };
        PLLSAI2CFGR 0x14 rw reset 0x1000 {
            PLLSAI2M 4..8, PLLSAI2N 8..15, PLLSAI2PEN 16, PLLSAI2P 17, PLLSAI2QEN 20, PLLSAI2Q 21..23, PLLSAI2REN 24,
            PLLSAI2R 25..27, PLLSAI2PDIV 27..32
        };
        CIER 0x18 rw mask 0x6ff;
        CIFR 0x1c ro {
            LSIRDYF 0, LSERDYF 1, MSIRDYF 2, HSIRDYF 3, HSERDYF 4, PLLRDYF 5, PLLSAI1RDYF 6, PLLSAI2RDYF 7, CSSF 8,
            LSECSSF 9, HSI48RDYF 10
        };
        CICR 0x20 clear CIFR mask 0x7ff;
        CCIPR 0x88 rw {
            USART1SEL 0..2, USART2SEL 2..4, USART3SEL 4..6, UART4SEL 6..8, UART5SEL 8..10, LPUART1SEL 10..12,
            I2C1SEL 12..14, I2C2SEL 14..16, I2C3SEL 16..18, LPTIM1SEL 18..20, LPTIM2SEL 20..22, CLK48SEL 26..28,
            ADCSEL 28..30
        };
        /// After power-on: BORRSTF and PINRSTF; MSISRANGE of 4 MHz.
        CSR 0x94 rw reset 0x0c00_0600 { LSION 0, LSIRDY 1 ro, MSISRANGE 8..12, RMVF 23, FLAGS 24..32 ro };
        CCIPR2 0x9c rw mask 0x0033_57ff { I2C4SEL 0..2, OSPISEL 20..22 };
    }
}

/// The peripherals on AHB1 to AHB3, on APB1 (two registers) and on APB2.
const BITS: [Peripherals; 6] = [
    [0x0003_1107, 0x100, 0x0003_1107, 0x0003_1307, 0x0003_1307],
    [0x0054_71ff, 0, 0x0054_71ff, 0x0054_77ff, 0x0054_77ff],
    [0x0000_0301, 0, 0x0000_0301, 0x0000_0301, 0x0000_0301],
    [0xf3fe_c03f, 0x400, 0xf3fe_cc3f, 0xf3fe_cc3f, 0xf3fe_cc3f],
    [0x0000_0023, 0, 0x0000_0023, 0x0000_0023, 0x0000_0023],
    [0x0167_7801, 0, 0x0167_7881, 0x0167_7801, 0x0167_7801],
];

/// The register map of the STM32L4R5.
const MAP: Map = joined!(OF_L4, SHARED, Map::new(&with_peripherals::<18>(&PERIPHERALS, &BITS), &[], 4));

/// R, which SYSCLK can have.
pub const R: Output = Output::new("R", PLLCFGR_PLLREN, Factor::even(PLLCFGR_PLLR));
/// Q, for other clocks.
pub const Q: Output = Output::new("Q", PLLCFGR_PLLQEN, Factor::even(PLLCFGR_PLLQ));

/// A PLL; all have their factors at the same places in their registers.
pub const fn pll(
    source: Name,
    name: &'static str,
    register: u32,
    bits: [u32; 3],
    outputs: &'static [Output],
) -> SourceRow {
    let (m, n) = (Factor::next(PLLCFGR_PLLM), Factor::plain(PLLCFGR_PLLN));
    SourceRow::new(source, name, CR, bits, Kind::Pll(Pll { register, m: (register, m), n, outputs }))
}

/// The oscillators that STM32G4 has as well.
pub const OSCILLATORS: [SourceRow; 5] = [
    SourceRow::new(Hsi, "HSI16", CR, [CR_HSION, CR_HSIRDY, CIFR_HSIRDYF], Oscillator("hsi", "ns")),
    SourceRow::new(Hse, "HSE", CR, [CR_HSEON, CR_HSERDY, CIFR_HSERDYF], Crystal),
    SourceRow::new(Lse, "LSE", BDCR, [BDCR_LSEON, BDCR_LSERDY, CIFR_LSERDYF], Oscillator("lse", "us")),
    SourceRow::new(Lsi, "LSI", CSR, [CSR_LSION, CSR_LSIRDY, CIFR_LSIRDYF], Oscillator("lsi", "us")),
    SourceRow::new(Hsi48, "HSI48", CRRCR, [CRRCR_HSI48ON, CRRCR_HSI48RDY, CIFR_HSI48RDYF], Oscillator("hsi48", "ns")),
];

const SOURCES: [SourceRow; 9] = {
    let [hsi, hse, lse, lsi, hsi48] = OSCILLATORS;
    [
        SourceRow::new(Msi, "MSI", CR, [CR_MSION, CR_MSIRDY, CIFR_MSIRDYF], Ranges("msi", "ns")),
        hsi,
        hse,
        lse,
        lsi,
        hsi48,
        pll(Main, "the PLL", PLLCFGR, [CR_PLLON, CR_PLLRDY, CIFR_PLLRDYF], &[R, Q]),
        pll(Sai1, "PLLSAI1", PLLSAI1CFGR, [CR_PLLSAI1ON, CR_PLLSAI1RDY, CIFR_PLLSAI1RDYF], &[R, Q]),
        pll(Sai2, "PLLSAI2", PLLSAI2CFGR, [CR_PLLSAI2ON, CR_PLLSAI2RDY, CIFR_PLLSAI2RDYF], &[R, Q]),
    ]
};

// What selectors select, by their values.
/// No clock, as a field of RCC_CCIPR says.
pub const NONE: Clock = Clock::Nothing("RCC_CCIPR");
/// No clock, as a field of RCC_CCIPR2 says.
pub const NONE_2: Clock = Clock::Nothing("RCC_CCIPR2");
/// HSI16.
pub const HSI16: Clock = Clock::Source(Hsi);
const OF_UART1: [Clock; 4] = [Clock::Pclk(1), Clock::Sysclk, HSI16, Clock::Source(Lse)];
const OF_UARTS: [Clock; 4] = [Clock::Pclk(0), Clock::Sysclk, HSI16, Clock::Source(Lse)];
/// Those of I2C1 to I2C3.
pub const OF_I2C: [Clock; 4] = [Clock::Pclk(0), Clock::Sysclk, HSI16, NONE];
/// Those of I2C4, whose selector is in RCC_CCIPR2.
pub const OF_I2C4: [Clock; 4] = [Clock::Pclk(0), Clock::Sysclk, HSI16, NONE_2];
/// Those of a low-power timer.
pub const OF_LPTIM: [Clock; 4] = [Clock::Pclk(0), Clock::Source(Lsi), HSI16, Clock::Source(Lse)];
const OF_CLK48: [Clock; 4] =
    [Clock::Source(Hsi48), Clock::Output(Sai1, "Q"), Clock::Output(Main, "Q"), Clock::Source(Msi)];
const OF_ADC: [Clock; 4] = [NONE, Clock::Output(Sai1, "R"), NONE, Clock::Sysclk];
const OF_OSPI: [Clock; 4] = [Clock::Sysclk, Clock::Source(Msi), Clock::Output(Main, "Q"), NONE_2];
const OF_RTC: [Clock; 4] =
    [Clock::Nothing("RCC_BDCR.RTCSEL"), Clock::Source(Lse), Clock::Source(Lsi), Clock::Over(&Clock::Source(Hse), 32)];

/// RTC's clock, and the kernel clocks that RCC_CCIPR selects in STM32G4 as well.
pub const KERNELS: [(&str, Clock); 10] = [
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
];

const MSI_AND_CLK48: [(&str, Clock); 2] =
    [("MSI", Clock::Source(Msi)), ("CLK48, for USB, RNG and SDMMC", Clock::Selected(CCIPR, CCIPR_CLK48SEL, &OF_CLK48))];

const OTHERS: [(&str, Clock); 5] = [
    ("I2C4's", Clock::Selected(CCIPR2, CCIPR2_I2C4SEL, &OF_I2C4)),
    ("LPTIM1's", Clock::Selected(CCIPR, CCIPR_LPTIM1SEL, &OF_LPTIM)),
    ("LPTIM2's", Clock::Selected(CCIPR, CCIPR_LPTIM2SEL, &OF_LPTIM)),
    ("the ADC's clock", Clock::Selected(CCIPR, CCIPR_ADCSEL, &OF_ADC)),
    ("the OCTOSPIs' clock", Clock::Selected(CCIPR2, CCIPR2_OSPISEL, &OF_OSPI)),
];

/// The index of MSI among the sources.
const MSI: usize = 0;
/// MSI's ranges in kilohertz (RM0432, RCC_CR.MSIRANGE).
const MSI_KHZ: [u64; 12] = [100, 200, 400, 800, 1_000, 2_000, 4_000, 8_000, 16_000, 24_000, 32_000, 48_000];
/// 4 MHz.
const MSI_RESET: Hz = Hz::new(4 * MHZ).expect("a rate");

/// The STM32L4+.
pub const L4: Family = Family {
    map: &MAP,
    sources: &SOURCES,
    reset_hz: MSI_RESET,
    sysclk: &[Msi, Hsi, Hse, Main],
    input: Input {
        register: PLLCFGR,
        select: PLLCFGR_PLLSRC,
        sources: &[None, Some(Msi), Some(Hsi), Some(Hse)],
        shared: PLLCFGR_PLLSRC | PLLCFGR_PLLM,
        outputs: PLLCFGR_PLLPEN | PLLCFGR_PLLQEN | PLLCFGR_PLLREN,
        is_boards: false,
    },
    // RM0432, RCC_PLLCFGR; DS12023, PLL characteristics.
    limits: Limits {
        m: 1..=16,
        n: 8..=127,
        input_hz: 2_660_000..=16 * MHZ,
        input: "2.66 to 16 MHz",
        vco_mhz: 64..=344,
    },
    mco: (CFGR_MCOSEL | CFGR_MCOPRE, "the MCO pin (RCC_CFGR) is not modelled: it has no output"),
    dividers: CFGR_HPRE | CFGR_PPRE1 | CFGR_PPRE2,
    apb_dividers: [CFGR_PPRE1, CFGR_PPRE2],
    timers_by_4: None,
    enables: AHB1ENR..=APB2ENR,
    apb_enables: [APB1ENR, APB2ENR],
    // RM0432, "Peripheral clock enable register": a delay of 2 cycles of that clock.
    enabled_at: |now, _, bus| bus.after(now, Cycles(2)),
    bdcr: BDCR,
    dbp: "PWR_CR1",
    csr: CSR,
    rmvf: CSR_RMVF,
    reset_flags: CSR_FLAGS,
    interrupts: Interrupts { enables: CIER, shift: 0, flags: CIFR, clears: 0, clear_shift: 0 },
    settings: &[CFGR, CCIPR, CCIPR2, BDCR, CR],
    outputs: &[&BUSES, &MSI_AND_CLK48, &KERNELS, &OTHERS],
    most_mhz: (&[120], " (DS12023)"),
    wrote,
    // PLLs with MSI as their source follow its range.
    tune: |rcc| rcc.sources.list[MSI].rate = Some(rcc.msi_rate()),
};

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32l4-rcc"], 1, from_node).with_activities(CLOCKS).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Rcc::from_node(&L4, L4.oscillators(reader), reader)
}

/// Writes of MSI's ranges.
fn wrote(rcc: &mut Rcc, register: u32, old: u32, ctx: &mut Ctx) {
    match register {
        CR => rcc.wrote_msi(old, ctx),
        // MSI's range after Standby can be written while RCC_CR.MSIRANGE is in use.
        CSR if !rcc.registers.has(CR, CR_MSIRGSEL) => {
            rcc.registers.set(CSR, rcc.registers[CSR] & !CSR_MSISRANGE | old & CSR_MSISRANGE);
        }
        _ => {}
    }
}

impl Rcc {
    fn wrote_msi(&mut self, old: u32, ctx: &mut Ctx) {
        // Writing 0 does not change MSIRGSEL.
        self.registers.put(CR, old & CR_MSIRGSEL, true);
        if (self.registers[CR] ^ old) & (CR_MSIRANGE | CR_MSIRGSEL) != 0 {
            if self.sources.list[MSI].is_on() && !self.sources.list[MSI].is_ready() {
                ctx.note("MSI's range (RCC_CR.MSIRANGE) was written while MSI was starting, which the manual forbids");
            }
            self.settings_change(ctx);
        }
    }

    /// MSI's rate by the settings in force. It has its reset range until MSIRGSEL is set: CSR.MSISRANGE applies after
    /// Standby. Ranges that are not allowed act as that of reset.
    fn msi_rate(&self) -> Hz {
        let range = self.in_force.field(CR, CR_MSIRANGE) as usize;
        let khz = MSI_KHZ.get(range).filter(|_| self.in_force.field(CR, CR_MSIRGSEL) != 0);
        khz.and_then(|khz| Hz::new(khz * 1_000)).unwrap_or(MSI_RESET)
    }
}
