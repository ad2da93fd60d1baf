//! The clocks of channels and the watchdog: three clocks with a prescaler.

use crate::prelude::*;
use crate::support::axi_lite::edge_in_reach;

const TCSR_PCK_EN: u32 = 1 << 0;
const TCSR_RTC_EN: u32 = 1 << 1;
const TCSR_EXT_EN: u32 = 1 << 2;
const TCSR_CLOCKS: u32 = TCSR_PCK_EN | TCSR_RTC_EN | TCSR_EXT_EN;
/// The largest prescaler, 1024; larger numbers are reserved.
const LARGEST_PRESCALE: u32 = 5;

/// The unit's clocks.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Clocks {
    /// RTCCLK.
    #[state(skip)]
    pub rtc: Hz,
    /// EXTAL.
    #[state(skip)]
    pub ext: Hz,
    /// PCLK, that of the bus and the registers.
    #[poll(phase)]
    pub pclk: ClockInput,
}

/// A clock divided by its prescaler.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    clock: Hz,
    divider: u64,
}

impl Clocks {
    /// The clock that a TCSR selects; `None` for no clock or several, and for reserved prescalers.
    pub fn source(&self, control: u32) -> Option<Source> {
        let clock = match control & TCSR_CLOCKS {
            TCSR_PCK_EN => self.pclk.rate,
            TCSR_RTC_EN => self.rtc,
            TCSR_EXT_EN => self.ext,
            _ => return None,
        };
        let prescale = control >> 3 & 7;
        (prescale <= LARGEST_PRESCALE).then_some(Source { clock, divider: 1 << (2 * prescale) })
    }
}

impl Source {
    /// Ticks up to `now`.
    pub fn tick(&self, now: Ps) -> u64 {
        self.clock.cycles_until_floor(now).0 / self.divider
    }

    /// The time at which registers on `pclk` show tick number `tick`; `None` beyond the end of any run.
    pub fn time_of(&self, tick: u64, pclk: Hz) -> Option<Ps> {
        let at = edge_in_reach(self.clock, tick.checked_mul(self.divider)?)?;
        Some(pclk.edge_at_or_after(at))
    }
}
