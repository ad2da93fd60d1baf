//! The bus timing from I2C_TIMINGR and the kernel clock (RM0436, "I2C timings" and "I2C master initialization").
//!
//! The master counts from edges on its own pins. It detects a falling edge of SCL tSYNC1 after it has pulled the line
//! low, a rising edge tSYNC2 after it has released it: the edge's slope, the analog filter, the digital filter of DNF
//! clocks, and the synchronisation to the kernel clock. So tSCL = tSYNC1 + tSYNC2 + (SCLL + 1 + SCLH + 1) * tPRESC.

use super::registers::*;
use crate::prelude::*;
use crate::st::i2c::master::Timing;

/// The delays that the board determines.
#[derive(Clone, Copy, Debug, Default)]
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

impl Delays {
    /// Reads the delays from the node.
    pub fn from_node(reader: &mut NodeReader) -> Delays {
        Delays {
            rising: reader.timing_ps("i2c-scl-rising-time-ns", "the rise time of SCL"),
            falling: reader.timing_ps("i2c-scl-falling-time-ns", "the fall time of SCL"),
            analog_filter: reader.timing_ps("cyclescope,analog-filter-ns", "the delay of the analog filter"),
            synchronisation: reader.timing_cycles(
                "cyclescope,synchronisation-cycles",
                "kernel clocks, counted from the first that samples an edge",
            ),
        }
    }

    /// The timing that registers select: `low` is tSCLL, `high` tSCLH, `data_delay` tSDADEL, `setup` tSCLDEL.
    pub const fn timing(&self, timingr: u32, cr1: u32, kernel_clock: Hz) -> Timing {
        let prescaler = field(timingr, TIMINGR_PRESC) as u64 + 1;
        let filter = if cr1 & CR1_ANFOFF == 0 { self.analog_filter } else { Ps::ZERO };
        let synchronised = self.synchronisation.0 + field(cr1, CR1_DNF) as u64;
        // Lines change on edges of the kernel clock, so a change is always sampled the same number of cycles later.
        let fall = kernel_clock.cycles_until_ceil(self.falling.saturating_add(filter)).0;
        let rise = kernel_clock.cycles_until_ceil(self.rising.saturating_add(filter)).0;
        Timing {
            sync1: fall + synchronised,
            sync2: rise + synchronised,
            low: (field(timingr, TIMINGR_SCLL) as u64 + 1) * prescaler,
            high: (field(timingr, TIMINGR_SCLH) as u64 + 1) * prescaler,
            data_delay: field(timingr, TIMINGR_SDADEL) as u64 * prescaler + 1,
            setup: (field(timingr, TIMINGR_SCLDEL) as u64 + 1) * prescaler,
        }
    }
}
