//! The clock tree (RM0432, figure "Clock tree"): the clocks by the registers and the sources.

use super::registers::{CCIPR, CCIPR2, CFGR, CR, CR_MSIRGSEL, PLL_QEN, PLL_REN, PLLCFGR, pll_register};
use super::{BDCR, HSE, HSI, HSI48, LSE, LSI, MSI, MSI_RANGE_RESET, PLL, PLLSAI1, Rcc};
use crate::support::stm32_clock_sources::{Driven, ahb_divider, apb_divider, publish, scaled, unselected};
use engine::bus::device::Ctx;
use engine::state::State;
use engine::time::Hz;

const MHZ: u64 = 1_000_000;

/// MSI's ranges in kilohertz (RM0432, RCC_CR.MSIRANGE).
const MSI_KHZ: [u64; 12] = [100, 200, 400, 800, 1_000, 2_000, 4_000, 8_000, 16_000, 24_000, 32_000, 48_000];

/// The rate of a range; values that are not allowed act as the reset value.
pub fn msi_rate(range: u32) -> Hz {
    let khz = MSI_KHZ.get(range as usize).unwrap_or(&MSI_KHZ[MSI_RANGE_RESET as usize]);
    Hz::new(khz * 1_000).expect("a range has a rate")
}

/// The source that SW selects.
pub const fn source_of_sw(cfgr: u32) -> usize {
    match cfgr & 3 {
        0 => MSI,
        1 => HSI,
        2 => HSE,
        _ => PLL,
    }
}

/// The value of SWS for a source.
pub const fn sw_of(source: usize) -> u32 {
    match source {
        HSI => 1,
        HSE => 2,
        PLL => 3,
        _ => 0,
    }
}

/// The source of all PLLs.
pub const fn pll_source(pllcfgr: u32) -> Option<usize> {
    match pllcfgr & 3 {
        1 => Some(MSI),
        2 => Some(HSI),
        3 => Some(HSE),
        _ => None,
    }
}

/// A PLL's factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pll {
    /// Divisor of the input.
    pub m: u64,
    /// The multiplier.
    pub n: u64,
    /// Divisors of the outputs.
    pub q: u64,
    pub r: u64,
}

impl Pll {
    /// The factors in PLLCFGR, PLLSAI1CFGR, PLLSAI2CFGR.
    pub const fn of(register: u32) -> Pll {
        Pll {
            m: 1 + (register >> 4 & 0xf) as u64,
            n: (register >> 8 & 0x7f) as u64,
            q: 2 + 2 * (register >> 21 & 3) as u64,
            r: 2 + 2 * (register >> 25 & 3) as u64,
        }
    }

    /// The rate after an output divider.
    pub fn output(&self, input: Hz, divider: u64) -> Hz {
        scaled(input, self.n, self.m * divider)
    }

    /// Describes a violation of the limits (RM0432, RCC_PLLCFGR; DS12023, PLL characteristics).
    pub fn complaint(&self, input: Hz) -> Option<String> {
        let into_vco = input.get() / self.m;
        let vco = input.get().saturating_mul(self.n) / self.m;
        if !(8..=127).contains(&self.n) {
            Some(format!("PLLN is {}, and has to be 8 to 127", self.n))
        } else if !(2_660_000..=16 * MHZ).contains(&into_vco) {
            Some(format!("the VCO's input has {into_vco} Hz, and takes 2.66 to 16 MHz"))
        } else if !(64 * MHZ..=344 * MHZ).contains(&vco) {
            Some(format!("the VCO would run at {vco} Hz, and does from 64 to 344 MHz"))
        } else {
            None
        }
    }
}

/// Dividers and selections in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Settings {
    cfgr: u32,
    ccipr: u32,
    ccipr2: u32,
    bdcr: u32,
    msi_range: Option<u32>,
}

impl Settings {
    /// The settings in the registers. MSI has its reset range until MSIRGSEL is set: CSR.MSISRANGE applies after
    /// Standby.
    pub fn of(register: impl Fn(u32) -> u32) -> Settings {
        let cr = register(CR);
        let msi_range = if cr & CR_MSIRGSEL != 0 { cr >> 4 & 0xf } else { MSI_RANGE_RESET };
        Settings {
            cfgr: register(CFGR),
            ccipr: register(CCIPR),
            ccipr2: register(CCIPR2),
            bdcr: register(BDCR),
            msi_range: Some(msi_range),
        }
    }

    /// MSI's range.
    pub fn msi_range(&self) -> u32 {
        self.msi_range.unwrap_or(MSI_RANGE_RESET)
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
    /// The present rates. A PLL with MSI as its source follows MSI's range.
    pub fn tree(&self) -> Tree {
        let selected = self.state.sources.selected();
        let rate = if selected == PLL { self.pll_output(PLL, &R).ok() } else { self.state.sources.rate(selected) };
        let sysclk = rate.unwrap_or_else(|| msi_rate(MSI_RANGE_RESET));
        let hclk = scaled(sysclk, 1, ahb_divider(self.settings.cfgr >> 4));
        let dividers = [8, 11].map(|shift| apb_divider(self.settings.cfgr >> shift));
        let pclk = dividers.map(|divider| scaled(hclk, 1, divider));
        let timers = dividers.map(|divider| scaled(hclk, 2.min(divider), divider));
        Tree { sysclk, hclk, pclk, timers }
    }

    /// One of the outputs of a PLL.
    fn pll_output(&self, pll: usize, output: &PllOutput) -> Driven {
        self.state.sources.driven(pll)?;
        let register = self.state.get(pll_register(pll));
        if register & output.enable == 0 {
            let (name, letter) =
                (["PLLCFGR.PLL", "PLLSAI1CFGR.PLLSAI1", "PLLSAI2CFGR.PLLSAI2"][pll - PLL], output.name);
            return Err(Some(format!("output {letter} of a PLL, which is off (RCC_{name}{letter}EN)")));
        }
        let input =
            pll_source(self.state.get(PLLCFGR)).map_or(Err(None), |source| self.state.sources.driven(source))?;
        let factors = Pll::of(register);
        Ok(factors.output(input, (output.divider)(&factors)))
    }

    /// Sets the board's clocks to their rates.
    pub(super) fn publish(&mut self, ctx: &mut Ctx) {
        let tree = self.tree();
        let buses = [tree.sysclk, tree.hclk, scaled(tree.hclk, 1, 8), tree.pclk[0], tree.pclk[1]];
        let mut driven: Vec<Driven> = buses.into_iter().chain(tree.timers).map(Ok).collect();
        driven.extend([self.state.sources.driven(MSI), self.clk48(), self.rtc_clock()]);
        driven.extend(self.kernel_clocks(tree));
        publish(&self.params.outputs, driven, ctx);
        if tree.hclk.get() > 120 * MHZ {
            let hz = tree.hclk.get();
            ctx.note(&format!("HCLK runs at {hz} Hz, above its maximum of 120 MHz (DS12023)"));
        }
    }

    fn clk48(&self) -> Driven {
        match self.settings.ccipr >> 26 & 3 {
            0 => self.state.sources.driven(HSI48),
            1 => self.pll_output(PLLSAI1, &Q),
            2 => self.pll_output(PLL, &Q),
            _ => self.state.sources.driven(MSI),
        }
    }

    /// RTCCLK.
    fn rtc_clock(&self) -> Driven {
        match self.settings.bdcr >> 8 & 3 {
            1 => self.state.sources.driven(LSE),
            2 => self.state.sources.driven(LSI),
            3 => self.state.sources.driven(HSE).map(|hse| scaled(hse, 1, 32)),
            _ => unselected("RCC_BDCR.RTCSEL"),
        }
    }

    /// The kernel clocks of RCC_CCIPR and RCC_CCIPR2, in the order of the outputs.
    fn kernel_clocks(&self, tree: Tree) -> Vec<Driven> {
        let (ccipr, ccipr2) = (self.settings.ccipr, self.settings.ccipr2);
        let [hsi, lse, lsi] = [HSI, LSE, LSI].map(|source| self.state.sources.driven(source));
        let (pclk1, pclk2, sysclk) = (Ok(tree.pclk[0]), Ok(tree.pclk[1]), Ok(tree.sysclk));
        let of = |field: u32, choices: [&Driven; 4]| choices[(field & 3) as usize].clone();
        let uart = |shift: u32, bus| of(ccipr >> shift, [bus, &sysclk, &hsi, &lse]);
        let (none, none2) = (unselected("RCC_CCIPR"), unselected("RCC_CCIPR2"));
        let i2c = |field: u32, none| of(field, [&pclk1, &sysclk, &hsi, none]);
        let lptim = |shift: u32| of(ccipr >> shift, [&pclk1, &lsi, &hsi, &lse]);
        let adc = [&none, &self.pll_output(PLLSAI1, &R), &none, &sysclk];
        let ospi = [&sysclk, &self.state.sources.driven(MSI), &self.pll_output(PLL, &Q), &none2];
        let mut clocks = vec![uart(0, &pclk2)];
        clocks.extend([2, 4, 6, 8, 10].map(|shift| uart(shift, &pclk1)));
        clocks.extend([12, 14, 16].map(|shift| i2c(ccipr >> shift, &none)));
        clocks.push(i2c(ccipr2, &none2));
        clocks.extend([lptim(18), lptim(20), of(ccipr >> 28, adc), of(ccipr2 >> 20, ospi)]);
        clocks
    }
}

/// An output of a PLL: its letter, its enable bit, its divider.
struct PllOutput {
    name: &'static str,
    enable: u32,
    divider: fn(&Pll) -> u64,
}

const Q: PllOutput = PllOutput { name: "Q", enable: PLL_QEN, divider: |pll| pll.q };
const R: PllOutput = PllOutput { name: "R", enable: PLL_REN, divider: |pll| pll.r };
