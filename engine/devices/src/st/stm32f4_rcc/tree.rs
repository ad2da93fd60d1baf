//! The clock tree (RM0090, figure "Clock tree"): the clocks by the registers and the sources.

use super::registers::DCKCFGR_TIMPRE;
use super::{HSE, HSI, LSE, LSI, PLL, PLLI2S, Part, Rcc};
use crate::support::stm32_clock_sources::{Driven, ahb_divider, apb_divider, publish, scaled, unselected};
use engine::bus::device::Ctx;
use engine::state::State;
use engine::time::Hz;

const MHZ: u64 = 1_000_000;

/// The source that SW selects; `None` for the value that is not allowed.
pub const fn source_of_sw(cfgr: u32) -> Option<usize> {
    match cfgr & 3 {
        0 => Some(HSI),
        1 => Some(HSE),
        2 => Some(PLL),
        _ => None,
    }
}

/// The value of SWS for a source.
pub const fn sw_of(source: usize) -> u32 {
    match source {
        HSE => 1,
        PLL => 2,
        _ => 0,
    }
}

/// A PLL's factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dividers {
    /// Divisor of the input.
    pub m: u64,
    /// The multiplier.
    pub n: u64,
    /// Divisor of the output: P of the PLL, R of PLLI2S.
    pub main: u64,
    /// Divisor of the output Q of the PLL.
    pub q: u64,
}

impl Dividers {
    /// The factors in PLLCFGR.
    pub const fn of_pll(pllcfgr: u32) -> Dividers {
        Dividers {
            m: (pllcfgr & 0x3f) as u64,
            n: (pllcfgr >> 6 & 0x1ff) as u64,
            main: 2 + 2 * (pllcfgr >> 16 & 3) as u64,
            q: (pllcfgr >> 24 & 0xf) as u64,
        }
    }

    /// The factors in PLLI2SCFGR; the STM32F407 shares the input's divisor.
    pub const fn of_plli2s(part: Part, pllcfgr: u32, plli2scfgr: u32) -> Dividers {
        let m = match part {
            Part::F407 => pllcfgr,
            Part::F411 => plli2scfgr,
        };
        let r = (plli2scfgr >> 28 & 7) as u64;
        Dividers { m: (m & 0x3f) as u64, n: (plli2scfgr >> 6 & 0x1ff) as u64, main: r, q: r }
    }

    /// The rate after an output divider.
    pub fn output(&self, input: Hz, divider: u64) -> Hz {
        scaled(input, self.n, self.m.max(1) * divider.max(1))
    }

    /// Describes a violation of the manual's limits (RM0090, RCC_PLLCFGR).
    pub fn complaint(&self, input: Hz) -> Option<String> {
        let into_vco = input.get() / self.m.max(1);
        let vco = input.get().saturating_mul(self.n) / self.m.max(1);
        if self.m < 2 {
            Some(format!("PLLM is {}, and has to be 2 to 63", self.m))
        } else if !(50..=432).contains(&self.n) {
            Some(format!("PLLN is {}, and has to be 50 to 432", self.n))
        } else if self.q < 2 {
            Some(format!("PLLQ or PLLI2SR is {}, and has to be 2 or more", self.q))
        } else if !(950_000..=2_100_000).contains(&into_vco) {
            Some(format!("the VCO's input has {into_vco} Hz, and takes 1 to 2 MHz"))
        } else if !(100 * MHZ..=432 * MHZ).contains(&vco) {
            Some(format!("the VCO would run at {vco} Hz, and does from 100 to 432 MHz"))
        } else {
            None
        }
    }
}

/// Dividers and selections in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Settings {
    cfgr: u32,
    dckcfgr: u32,
    bdcr: u32,
}

impl Settings {
    /// The settings in the registers.
    pub const fn of(cfgr: u32, dckcfgr: u32, bdcr: u32) -> Settings {
        Settings { cfgr, dckcfgr, bdcr }
    }
}

/// The rates of the buses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    pub sysclk: Hz,
    pub hclk: Hz,
    pub pclk: [Hz; 2],
    pub timers: [Hz; 2],
}

impl Rcc {
    /// The present rates.
    pub fn tree(&self) -> Tree {
        let hsi = self.params.oscillators[HSI].unwrap_or_else(|| Hz::new(16 * MHZ).expect("a rate"));
        let sysclk = self.state.sources.rate(self.state.sources.selected()).unwrap_or(hsi);
        let hclk = scaled(sysclk, 1, ahb_divider(self.settings.cfgr >> 4));
        let dividers = [10, 13].map(|shift| apb_divider(self.settings.cfgr >> shift));
        let pclk = dividers.map(|divider| scaled(hclk, 1, divider));
        // RM0090, RCC_DCKCFGR.TIMPRE, where there is one: twice or four times PCLK, up to HCLK.
        let factor = if self.settings.dckcfgr & DCKCFGR_TIMPRE != 0 { 4 } else { 2 };
        let timers = dividers.map(|divider| scaled(hclk, factor.min(divider), divider));
        Tree { sysclk, hclk, pclk, timers }
    }

    /// Sets the board's clocks to their rates.
    pub(super) fn publish(&mut self, ctx: &mut Ctx) {
        let tree = self.tree();
        let buses = [tree.sysclk, tree.hclk, scaled(tree.hclk, 1, 8), tree.pclk[0], tree.pclk[1]];
        let others = [self.pll_output(PLL), self.pll_output(PLLI2S), self.rtc_clock()];
        publish(&self.params.outputs, buses.into_iter().chain(tree.timers).map(Ok).chain(others), ctx);
        self.check_limits(tree, ctx);
    }

    /// The PLL's output Q, or PLLI2S's R.
    fn pll_output(&self, pll: usize) -> Driven {
        self.state.sources.driven(pll)?;
        let input = self.state.sources.driven(self.pll_source())?;
        let dividers = self.pll_dividers(pll);
        Ok(dividers.output(input, dividers.q))
    }

    /// RTCCLK.
    fn rtc_clock(&self) -> Driven {
        match self.settings.bdcr >> 8 & 3 {
            1 => self.state.sources.driven(LSE),
            2 => self.state.sources.driven(LSI),
            3 => {
                let divider = u64::from(self.settings.cfgr >> 16 & 0x1f).max(1);
                self.state.sources.driven(HSE).map(|hse| scaled(hse, 1, divider))
            }
            _ => unselected("RCC_BDCR.RTCSEL"),
        }
    }

    fn check_limits(&self, tree: Tree, ctx: &mut Ctx) {
        let most = self.params.part.most_mhz();
        let clocks = [("HCLK", tree.hclk), ("PCLK1", tree.pclk[0]), ("PCLK2", tree.pclk[1])];
        for ((name, rate), most) in clocks.into_iter().zip(most) {
            if rate.get() > most * MHZ {
                ctx.note(&format!("{name} runs at {} Hz, above its maximum of {most} MHz", rate.get()));
            }
        }
    }
}

impl Part {
    /// Maximum HCLK, PCLK1 and PCLK2 (DS8626, General operating conditions; DS10314, the same).
    const fn most_mhz(self) -> [u64; 3] {
        match self {
            Part::F407 => [168, 42, 84],
            Part::F411 => [100, 50, 100],
        }
    }
}
