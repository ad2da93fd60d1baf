//! The fastest clock that a board allows a chip on SPI, and the note of a faster one.

use crate::prelude::*;

/// The longest burst that is compared.
const MOST_CLOCKS: usize = 32;

/// The clock.
#[derive(Clone, Copy, Debug)]
pub struct FastestClock {
    hz: Option<Hz>,
    /// The shortest time that 0 to 32 clocks may take.
    shortest: [Ps; MOST_CLOCKS + 1],
}

/// No limit.
impl Default for FastestClock {
    fn default() -> FastestClock {
        FastestClock { hz: None, shortest: [Ps::ZERO; MOST_CLOCKS + 1] }
    }
}

impl FastestClock {
    /// The limit; `None` without one.
    pub fn new(hz: Option<Hz>) -> FastestClock {
        let span = |clocks| hz.map_or(Ps::ZERO, |hz| hz.ps_at_floor(Cycles(clocks as u64)));
        FastestClock { hz, shortest: std::array::from_fn(span) }
    }

    /// The shortest time that some clocks may take.
    #[inline]
    pub fn shortest(&self, clocks: u32) -> Ps {
        self.shortest[(clocks as usize).min(MOST_CLOCKS)]
    }

    /// The note of clocks that take less.
    #[cold]
    pub fn note(&self, clocks: u32, span: Ps) -> String {
        let at_least_hz = u64::from(clocks) * 1_000_000_000_000 / span.0.max(1);
        format!("SCK runs at {at_least_hz} Hz; spi-max-frequency is {}", self.hz.map_or(0, Hz::get))
    }
}
