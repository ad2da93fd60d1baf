//! The clock tree: the outputs' frequencies by the settings and the oscillators (RM0436, "Reset and clock control
//! (RCC)", "Clock distribution").

use self::Clock::{Fixed, Hse, Hsi, Off, Over, Pll, Selected};
use super::registers::*;
use crate::registers::field;
use engine::time::Hz;

/// A clock.
#[derive(Clone, Copy)]
pub enum Clock {
    /// No clock.
    Off,
    /// The oscillators hse_ck and hsi_ck.
    Hse,
    Hsi,
    /// An oscillator of this frequency.
    Fixed(u64),
    /// A PLL's output: the PLL's number, from 0, and that of the output, from P on.
    Pll(usize, u32),
    /// The clock that a field of a register selects; `None` for values after the last.
    Selected(u32, u32, &'static [Clock]),
    /// A clock by the divisor that a field of a register means; without a divisor it is off.
    Over(&'static Clock, u32, u32, fn(u32) -> Option<u32>),
}

/// The oscillator CSI, 4 MHz.
const CSI: Clock = Fixed(4_000_000);
/// LSE, a watch crystal, and LSI (DS12505, LSI oscillator characteristics: typical 32 kHz).
const LSE: Clock = Fixed(32_768);
const LSI: Clock = Fixed(32_000);

const MPU: Clock = Selected(MPCKSELR, 3, &[Hsi, Hse, Pll(0, 0), DIVIDED]);
/// With MPUDIV of 0 the clock is off.
const DIVIDED: Clock = Over(&Pll(0, 0), MPCKDIVR, 7, |mpudiv| (mpudiv != 0).then(|| 1 << mpudiv.min(4)));
const AXI: Clock = Over(&Selected(ASSCKSELR, 7, &[Hsi, Hse, Pll(1, 0)]), AXIDIVR, 7, |axidiv| Some(axidiv.min(3) + 1));
const MCU: Clock =
    Over(&Selected(MSSCKSELR, 3, &[Hsi, Hse, CSI, Pll(2, 0)]), MCUDIVR, 0xf, |mcudiv| Some(1 << mcudiv.min(9)));
const PCLK1: Clock = Over(&MCU, APB1DIVR, 7, |divisor| Some(1 << divisor.min(4)));
const PCLK3: Clock = Over(&MCU, APB3DIVR, 7, |divisor| Some(1 << divisor.min(4)));
const PCLK4: Clock = Over(&AXI, APB4DIVR, 7, |divisor| Some(1 << divisor.min(4)));
const PCLK5: Clock = Over(&AXI, APB5DIVR, 7, |divisor| Some(1 << divisor.min(4)));
/// What kernel clocks are made of, by the values of their selectors.
const OF_UART: [Clock; 5] = [PCLK1, Pll(3, 1), Hsi, CSI, Hse];
const OF_I2C: [Clock; 4] = [PCLK1, Pll(3, 2), Hsi, CSI];
const OF_RNG: [Clock; 4] = [CSI, Pll(3, 2), LSE, LSI];
const OF_I2C46: [Clock; 4] = [PCLK5, Pll(2, 1), Hsi, CSI];
const OF_SDMMC: [Clock; 4] = [AXI, Pll(2, 2), Pll(3, 0), Hsi];
const OF_QSPI: [Clock; 4] = [AXI, Pll(2, 2), Pll(3, 0), Selected(CPERCKSELR, 3, &[Hsi, CSI, Hse])];
const OF_RTC: [Clock; 4] = [Off, LSE, LSI, Over(&Hse, RTCDIVR, 0x3f, |rtcdiv| Some(rtcdiv + 1))];

/// The clocks that the device drives, in the order of `cyclescope,outputs`.
pub const OUTPUTS: [(&str, Clock); 19] = [
    ("mpuss_ck, the clock of the Cortex-A7", MPU),
    ("axiss_ck, the clock of the AXI", AXI),
    ("mcuss_ck, the clock of the Cortex-M4", MCU),
    ("pclk1", PCLK1),
    ("pclk5", PCLK5),
    ("the clock of the DDR, PLL2 output R", Pll(1, 2)),
    ("the kernel clock of USART2 and UART4", Selected(UART24CKSELR, 7, &OF_UART)),
    ("the kernel clock of USART3 and UART5", Selected(UART35CKSELR, 7, &OF_UART)),
    ("the kernel clock of UART7 and UART8", Selected(UART78CKSELR, 7, &OF_UART)),
    ("the kernel clock of I2C1 and I2C2", Selected(I2C12CKSELR, 7, &OF_I2C)),
    ("the kernel clock of I2C3 and I2C5", Selected(I2C35CKSELR, 7, &OF_I2C)),
    ("the kernel clock of RNG1", Selected(RNG1CKSELR, 3, &OF_RNG)),
    ("the kernel clock of RNG2", Selected(RNG2CKSELR, 3, &OF_RNG)),
    ("the kernel clock of I2C4 and I2C6", Selected(I2C46CKSELR, 7, &OF_I2C46)),
    ("rtc_ck", Selected(BDCR, BDCR_RTCSRC, &OF_RTC)),
    ("pclk3", PCLK3),
    ("pclk4", PCLK4),
    ("the kernel clock of SDMMC1 and SDMMC2", Selected(SDMMC12CKSELR, 7, &OF_SDMMC)),
    ("the kernel clock of QUADSPI", Selected(QSPICKSELR, 3, &OF_QSPI)),
];
/// Index of the first kernel clock.
pub const KERNEL: usize = 6;

/// The inputs of the PLLs.
const REFERENCES: [Clock; 4] = [
    Selected(RCK12SELR, 3, &[Hsi, Hse]),
    Selected(RCK12SELR, 3, &[Hsi, Hse]),
    Selected(RCK3SELR, 3, &[Hsi, Hse, CSI]),
    Selected(RCK4SELR, 3, &[Hsi, Hse, CSI]),
];

/// A frequency as a fraction of hertz; `None` for a clock that does not run.
type Frequency = Option<(u128, u128)>;

/// The oscillators, and the registers by their offset.
pub struct Tree<'a> {
    /// hse_ck.
    pub hse: Hz,
    /// hsi_ck.
    pub hsi: Hz,
    /// The bit of RCC_PLLxCR that shows that a PLL runs: PLLxRDY, or PLLON to treat it as locked.
    pub runs: u32,
    /// The value of a register.
    pub register: &'a dyn Fn(u32) -> u32,
}

impl Tree<'_> {
    /// The frequency of each of [`OUTPUTS`] in hertz, rounded; `None` for a clock that does not run.
    pub fn frequencies(&self) -> [Option<u64>; OUTPUTS.len()] {
        OUTPUTS.map(|(_, clock)| {
            let (numerator, denominator) = self.frequency(&clock)?;
            Some(((numerator + denominator / 2) / denominator) as u64)
        })
    }

    fn frequency(&self, clock: &Clock) -> Frequency {
        match *clock {
            Off => None,
            Hse => Some((self.hse.get().into(), 1)),
            Hsi => Some((self.hsi.get().into(), 1)),
            Fixed(hz) => Some((hz.into(), 1)),
            Pll(pll, output) => self.pll(pll, output),
            Selected(register, mask, clocks) => {
                self.frequency(clocks.get(field((self.register)(register), mask) as usize)?)
            }
            Over(clock, register, mask, divisor) => {
                let divisor = divisor((self.register)(register) & mask)?;
                self.frequency(clock).map(|(numerator, denominator)| (numerator, denominator * u128::from(divisor)))
            }
        }
    }

    /// An output of a PLL. PLL1 and PLL2 double their frequency, and halve it at the output.
    fn pll(&self, pll: usize, output: u32) -> Frequency {
        let [cr, cfgr1, cfgr2, fracr] = [0, 4, 8, 0xc].map(|register| (self.register)(PLLS[pll] + register));
        let runs = cr & self.runs != 0 && cr & DIVPEN << output != 0;
        let (numerator, denominator) = self.frequency(&REFERENCES[pll]).filter(|_| runs)?;
        let eighths = 8192 * u128::from((cfgr1 & 0x1ff) + 1) + u128::from(fracr >> 3 & 0x1fff);
        let divisors = u128::from((cfgr1 >> 16 & 0x3f) + 1) * u128::from((cfgr2 >> (8 * output) & 0x7f) + 1);
        Some((numerator * eighths, denominator * 8192 * divisors))
    }
}
