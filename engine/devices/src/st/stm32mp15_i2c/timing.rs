//! The bus timing from I2C_TIMINGR and the kernel clock (RM0436, "I2C timings" and "I2C master initialization").
//!
//! The master counts from edges on its own pins. It detects a falling edge of SCL tSYNC1 after it has pulled the line
//! low, a rising edge tSYNC2 after it has released it: the edge's slope, the analog filter, the digital filter of DNF
//! clocks, and the synchronisation to the kernel clock. So tSCL = tSYNC1 + tSYNC2 + (SCLL + 1 + SCLH + 1) * tPRESC.

use super::registers::{CR1_ANFOFF, CR1_DNF};
use engine::time::{Cycles, Hz, Ps};

/// The delays that the board determines.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// Time from the start of a falling edge until SCL is low.
    pub falling: Ps,
    /// Time from the start of a rising edge until SCL is high.
    pub rising: Ps,
    /// The delay of the analog filter.
    pub analog_filter: Ps,
    /// Kernel clocks of the synchronisation, counted from the first that samples the level.
    pub synchronisation: Cycles,
}

/// Times in cycles of the kernel clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// tSYNC1: from pulling SCL or SDA low to the detection.
    pub sync1: u64,
    /// tSYNC2: from releasing a line to the detection.
    pub sync2: u64,
    /// tSCLL, also for tBUF and tSU;STA.
    pub low: u64,
    /// tSCLH, also for tHD;STA and tSU;STO.
    pub high: u64,
    /// tSDADEL: from a detected falling edge to the change of SDA.
    pub data_delay: u64,
    /// tSCLDEL: SCL stays low for this time after the change of SDA.
    pub setup: u64,
}

impl Timing {
    /// The timing that registers select.
    pub const fn of(timingr: u32, cr1: u32, kernel_clock: Hz, delays: &Delays) -> Timing {
        let prescaler = (timingr >> 28) as u64 + 1;
        let filter = if cr1 & CR1_ANFOFF == 0 { delays.analog_filter } else { Ps::ZERO };
        let synchronised = delays.synchronisation.0 + (cr1 >> CR1_DNF & 0xf) as u64;
        // Lines change on edges of the kernel clock, so a change is always sampled the same number of cycles later.
        let fall = kernel_clock.cycles_until_ceil(delays.falling.saturating_add(filter)).0;
        let rise = kernel_clock.cycles_until_ceil(delays.rising.saturating_add(filter)).0;
        Timing {
            sync1: fall + synchronised,
            sync2: rise + synchronised,
            low: ((timingr & 0xff) as u64 + 1) * prescaler,
            high: ((timingr >> 8 & 0xff) as u64 + 1) * prescaler,
            data_delay: (timingr >> 16 & 0xf) as u64 * prescaler + 1,
            setup: ((timingr >> 20 & 0xf) as u64 + 1) * prescaler,
        }
    }

    /// The minimum time from a falling edge of SCL to its release.
    pub const fn least_low(&self) -> u64 {
        let data = self.data_delay + self.setup;
        self.sync1 + if self.low > data { self.low } else { data }
    }

    /// tSCL of clocks without clock stretching.
    pub const fn period(&self) -> u64 {
        self.least_low() + self.rise_to_fall()
    }

    /// Time from the release of SCL to its falling edge.
    pub const fn rise_to_fall(&self) -> u64 {
        self.sync2 + self.high
    }
}
