//! What I2C_TIMINGR makes of the kernel clock (RM0436, "I2C timings" and "I2C master initialization").
//!
//! The master counts from what it sees on its own pins. It sees a falling edge of SCL tSYNC1 after it has pulled the
//! line low, a rising one tSYNC2 after it has let it go: the edge's slope, the analog filter, the digital one of DNF
//! clocks, and the synchronisation to the kernel clock. So tSCL = tSYNC1 + tSYNC2 + (SCLL + 1 + SCLH + 1) * tPRESC.

use super::registers::{CR1_ANFOFF, CR1_DNF};
use crate::time::{Cycles, Hz, Ps};

/// What of the timing is the board's.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// From where SCL begins to fall to where it is low.
    pub falling: Ps,
    /// From where it begins to rise to where it is high.
    pub rising: Ps,
    /// The delay of the analog filter.
    pub analog_filter: Ps,
    /// Kernel clocks of the synchronisation, from the first edge of it that sees the level.
    pub synchronisation: Cycles,
}

/// Times in cycles of the kernel clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// tSYNC1: from SCL, or SDA, pulled low to where that is detected.
    pub sync1: u64,
    /// tSYNC2: likewise, from a line let go.
    pub sync2: u64,
    /// tSCLL, also for tBUF and tSU;STA.
    pub low: u64,
    /// tSCLH, also for tHD;STA and tSU;STO.
    pub high: u64,
    /// tSDADEL: from a falling edge that is detected to the change of SDA.
    pub data_delay: u64,
    /// tSCLDEL: SCL stays low for so long behind that.
    pub setup: u64,
}

impl Timing {
    /// What registers select.
    pub const fn of(timingr: u32, cr1: u32, kernel_clock: Hz, delays: &Delays) -> Timing {
        let prescaler = (timingr >> 28) as u64 + 1;
        let filter = if cr1 & CR1_ANFOFF == 0 { delays.analog_filter } else { Ps::ZERO };
        let synchronised = delays.synchronisation.0 + (cr1 >> CR1_DNF & 0xf) as u64;
        // Lines change on edges of the kernel clock, so the next edge that sees a change comes after the same number
        // of cycles each time.
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

    /// From a falling edge of SCL to where it is let go, at the least.
    pub const fn least_low(&self) -> u64 {
        let data = self.data_delay + self.setup;
        self.sync1 + if self.low > data { self.low } else { data }
    }

    /// tSCL of clocks that nobody stretches.
    pub const fn period(&self) -> u64 {
        self.least_low() + self.rise_to_fall()
    }

    /// From where SCL is let go to its falling edge.
    pub const fn rise_to_fall(&self) -> u64 {
        self.sync2 + self.high
    }
}
