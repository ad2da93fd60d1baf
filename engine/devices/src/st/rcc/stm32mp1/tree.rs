//! The clock tree: the outputs' frequencies by the settings and the oscillators (RM0436, "Reset and clock control
//! (RCC)", "Clock distribution").

use super::registers::*;
use engine::time::Hz;

/// The clocks that the device drives, in the order of `cyclescope,outputs`.
pub const OUTPUTS: [&str; 13] = [
    "mpuss_ck, the clock of the Cortex-A7",
    "axiss_ck, the clock of the AXI",
    "mcuss_ck, the clock of the Cortex-M4",
    "pclk1",
    "pclk5",
    "the clock of the DDR, PLL2 output R",
    "the kernel clock of USART2 and UART4",
    "the kernel clock of USART3 and UART5",
    "the kernel clock of UART7 and UART8",
    "the kernel clock of I2C1 and I2C2",
    "the kernel clock of I2C3 and I2C5",
    "the kernel clock of RNG1",
    "the kernel clock of RNG2",
];
/// Index of the first kernel clock.
pub const KERNEL: usize = 6;

/// The oscillator CSI, 4 MHz.
const CSI_HZ: u64 = 4_000_000;
/// LSE, a watch crystal, and LSI (DS12505, LSI oscillator characteristics: typical 32 kHz).
const LSE_HZ: u64 = 32_768;
const LSI_HZ: u64 = 32_000;

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

/// The outputs of a PLL.
#[derive(Clone, Copy)]
enum Output {
    P,
    Q,
    R,
}

impl Tree<'_> {
    /// The frequency of each of [`OUTPUTS`] in hertz, rounded; `None` for a clock that does not run.
    pub fn frequencies(&self) -> [Option<u64>; OUTPUTS.len()] {
        let (mpu, axi, mcu) = (self.mpu(), self.axi(), self.mcu());
        let pclk1 = over(mcu, 1 << self.field(APB1DIVR, 7).min(4));
        let pclk5 = over(axi, 1 << self.field(APB5DIVR, 7).min(4));
        let [uart24, uart35, uart78] =
            [UART24CKSELR, UART35CKSELR, UART78CKSELR].map(|offset| match self.field(offset, 7) {
                0 => pclk1,
                1 => self.pll(3, Output::Q),
                source => self.oscillator(source),
            });
        let [i2c12, i2c35] = [I2C12CKSELR, I2C35CKSELR].map(|offset| match self.field(offset, 7) {
            0 => pclk1,
            1 => self.pll(3, Output::R),
            4.. => None,
            source => self.oscillator(source),
        });
        let [rng1, rng2] = [RNG1CKSELR, RNG2CKSELR].map(|offset| match self.field(offset, 3) {
            0 => whole(CSI_HZ),
            1 => self.pll(3, Output::R),
            2 => whole(LSE_HZ),
            _ => whole(LSI_HZ),
        });
        let ddr = self.pll(1, Output::R);
        let all = [mpu, axi, mcu, pclk1, pclk5, ddr, uart24, uart35, uart78, i2c12, i2c35, rng1, rng2];
        all.map(in_hertz)
    }

    fn field(&self, offset: u32, mask: u32) -> u32 {
        (self.register)(offset) & mask
    }

    /// hsi_ker_ck, csi_ker_ck and hse_ker_ck, by their values in the selectors of kernel clocks.
    fn oscillator(&self, source: u32) -> Frequency {
        match source {
            2 => whole(self.hsi.get()),
            3 => whole(CSI_HZ),
            4 => whole(self.hse.get()),
            _ => None,
        }
    }

    fn mpu(&self) -> Frequency {
        match self.field(MPCKSELR, 3) {
            0 => whole(self.hsi.get()),
            1 => whole(self.hse.get()),
            2 => self.pll(0, Output::P),
            // With MPUDIV of 0 the clock is off.
            _ => match self.field(MPCKDIVR, 7) {
                0 => None,
                mpudiv => over(self.pll(0, Output::P), 1 << mpudiv.min(4)),
            },
        }
    }

    fn axi(&self) -> Frequency {
        let source = match self.field(ASSCKSELR, 7) {
            0 => whole(self.hsi.get()),
            1 => whole(self.hse.get()),
            2 => self.pll(1, Output::P),
            _ => None,
        };
        over(source, self.field(AXIDIVR, 7).min(3) + 1)
    }

    fn mcu(&self) -> Frequency {
        let source = match self.field(MSSCKSELR, 3) {
            0 => whole(self.hsi.get()),
            1 => whole(self.hse.get()),
            2 => whole(CSI_HZ),
            _ => self.pll(2, Output::P),
        };
        over(source, 1 << self.field(MCUDIVR, 0xf).min(9))
    }

    /// The input of PLL number `index`, from 0.
    fn reference(&self, index: usize) -> Frequency {
        match (self.field([RCK12SELR, RCK12SELR, RCK3SELR, RCK4SELR][index], 3), index) {
            (0, _) => whole(self.hsi.get()),
            (1, _) => whole(self.hse.get()),
            (2, 2 | 3) => whole(CSI_HZ),
            _ => None,
        }
    }

    /// An output of PLL number `index`, from 0. PLL1 and PLL2 double their frequency, and halve it at the output.
    fn pll(&self, index: usize, output: Output) -> Frequency {
        let [cr, cfgr1, cfgr2, fracr] = [0, 4, 8, 0xc].map(|register| (self.register)(PLLS[index] + register));
        let (enable, place) = match output {
            Output::P => (DIVPEN, 0),
            Output::Q => (DIVPEN << 1, 8),
            Output::R => (DIVPEN << 2, 16),
        };
        let (numerator, denominator) = self.reference(index).filter(|_| cr & self.runs != 0 && cr & enable != 0)?;
        let eighths = 8192 * u128::from((cfgr1 & 0x1ff) + 1) + u128::from(fracr >> 3 & 0x1fff);
        let divisors = u128::from((cfgr1 >> 16 & 0x3f) + 1) * u128::from((cfgr2 >> place & 0x7f) + 1);
        Some((numerator * eighths, denominator * 8192 * divisors))
    }
}

fn whole(hz: u64) -> Frequency {
    Some((hz.into(), 1))
}

fn over(frequency: Frequency, divisor: u32) -> Frequency {
    frequency.map(|(numerator, denominator)| (numerator, denominator * u128::from(divisor)))
}

fn in_hertz(frequency: Frequency) -> Option<u64> {
    frequency.map(|(numerator, denominator)| ((numerator + denominator / 2) / denominator) as u64)
}
