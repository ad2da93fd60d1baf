//! The interface's down counter: counts clocks from the written value to 0, where it stays.

use crate::prelude::*;

/// The counter as a function of time.
#[derive(Debug, State)]
pub struct DownCounter {
    loaded: u32,
    loaded_at: Cycles,
    /// The flag in the clock after [`DownCounter::loaded_at`], which does not depend on the load yet.
    flag_at_load: bool,
    /// Reads and loads so far.
    accesses: u64,
}

impl Default for DownCounter {
    fn default() -> DownCounter {
        DownCounter { loaded: 0, loaded_at: Cycles(0), flag_at_load: true, accesses: 0 }
    }
}

impl DownCounter {
    /// Takes a value at edge `at`.
    pub fn load(&mut self, value: u32, at: Cycles) {
        let flag_at_load = self.flag(at);
        *self = DownCounter { loaded: value, loaded_at: at, flag_at_load, accesses: self.accesses + 1 };
    }

    /// The value that software reads in clock `cycle`.
    pub fn read(&mut self, cycle: Cycles) -> u32 {
        self.accesses += 1;
        self.value(cycle)
    }

    /// The flag for zero in clock `cycle`: a register, so it has the state of the clock before.
    #[inline]
    pub fn flag(&self, cycle: Cycles) -> bool {
        if cycle <= self.loaded_at { self.flag_at_load } else { self.value(Cycles(cycle.0 - 1)) == 0 }
    }

    #[inline]
    fn value(&self, cycle: Cycles) -> u32 {
        let elapsed = cycle.0.saturating_sub(self.loaded_at.0);
        u64::from(self.loaded).saturating_sub(elapsed) as u32
    }

    /// Lists the state in `cycle`. While the counter runs, a loop may read only the flag, which changes at a fixed
    /// time: a loop that reads or loads the counter is in another state each iteration.
    pub fn list(&mut self, clock: Hz, cycle: Cycles, poll: &mut Poll) {
        let flagged = Cycles(self.loaded_at.0 + u64::from(self.loaded) + 1);
        if cycle < flagged {
            poll.state(self.accesses);
            // The flag from before the load is gone a clock after it.
            poll.until(clock.ps_at_floor(Cycles(self.loaded_at.0 + 1)));
            poll.until(clock.ps_at_floor(flagged));
        } else {
            poll.counter(&mut self.accesses);
        }
    }
}
