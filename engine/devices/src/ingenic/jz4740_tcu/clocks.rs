//! The clocks of channels and the watchdog: three clocks with a prescaler.

use crate::prelude::*;
use crate::support::counter::Ticks;

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

impl Clocks {
    /// The clock that a TCSR selects; `None` for no clock or several, and for reserved prescalers.
    pub fn ticks(&self, control: u32) -> Option<Ticks> {
        let clock = match control & TCSR_CLOCKS {
            TCSR_PCK_EN => self.pclk.rate,
            TCSR_RTC_EN => self.rtc,
            TCSR_EXT_EN => self.ext,
            _ => return None,
        };
        let prescale = control >> 3 & 7;
        (prescale <= LARGEST_PRESCALE).then_some(Ticks::of(clock, 1 << (2 * prescale)))
    }
}
