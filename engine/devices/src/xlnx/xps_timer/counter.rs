//! A counter of the AXI Timer as a function of time.
//!
//! In generate mode a rollover takes a cycle of its own: counting up, the counter goes from all ones to 0 and shows 0
//! for that cycle; with auto reload the load register's value follows in the next cycle. So a period has `MAX - TLR +
//! 2` cycles counting up and `TLR + 2` counting down, as PG079 specifies (Generate Mode). Without auto reload the
//! counter holds the value that it rolled over to.

use engine::state::State;

/// The counting mode of a counter, from its registers.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// All ones.
    pub max: u64,
    /// The load register.
    pub reload: u64,
    /// Counts down, not up.
    pub down: bool,
    /// Enabled and not being loaded.
    pub runs: bool,
    /// Auto reload.
    pub reloads: bool,
    /// Generate mode: a rollover counts as an event, and reloads or holds. Otherwise (capture mode) it wraps.
    pub generates: bool,
}

/// The state of a counter at a cycle of its clock.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Counter {
    /// The value; [`Counter::set`] sets it.
    pub value: u64,
    /// The cycle of this state.
    pub cycle: u64,
    /// True in the cycle of a rollover: the reload comes next.
    rolled: bool,
    /// True if it has rolled over without auto reload, and has not been loaded or stopped since.
    held: bool,
}

impl Counter {
    /// Sets the value.
    pub const fn set(&mut self, value: u64) {
        *self = Counter { value, cycle: self.cycle, rolled: false, held: false };
    }

    /// Counts up to `cycle`; true if it rolled over, in generate mode. A cycle in the past changes nothing.
    pub fn settle(&mut self, setting: &Setting, cycle: u64) -> bool {
        let Some(elapsed) = cycle.checked_sub(self.cycle) else { return false };
        self.cycle = cycle;
        if !setting.runs {
            self.held = false;
            return false;
        }
        if elapsed == 0 || self.held {
            return false;
        }
        if !setting.generates {
            self.value = setting.moved(self.value, elapsed);
            return false;
        }
        let Some(past) = u128::from(elapsed).checked_sub(self.until_rollover(setting)) else {
            self.count(setting, elapsed);
            return false;
        };
        self.value = setting.rollover_value();
        self.rolled = setting.reloads;
        self.held = !setting.reloads;
        if setting.reloads {
            // The remainder is less than a period of 64 bits and a cycle: it fits, but for the cycle before a rollover
            // of the longest period, which takes 5800 years at 100 MHz.
            self.count(setting, (past % (1 + setting.until_rollover(setting.reload))) as u64);
        }
        true
    }

    /// The cycle of the next rollover with these settings; `None` if there is no further one.
    pub fn rollover_cycle(&self, setting: &Setting) -> Option<u64> {
        let comes = setting.runs && setting.generates && !self.held;
        let cycle = u128::from(self.cycle) + self.until_rollover(setting);
        u64::try_from(cycle).ok().filter(|_| comes)
    }

    /// Counts less than a period.
    fn count(&mut self, setting: &Setting, cycles: u64) {
        if cycles == 0 {
            return;
        }
        self.value =
            if self.rolled { setting.moved(setting.reload, cycles - 1) } else { setting.moved(self.value, cycles) };
        self.rolled = false;
    }

    fn until_rollover(&self, setting: &Setting) -> u128 {
        if self.rolled { 1 + setting.until_rollover(setting.reload) } else { setting.until_rollover(self.value) }
    }
}

impl Setting {
    /// `value` after `cycles` without a reload.
    const fn moved(&self, value: u64, cycles: u64) -> u64 {
        (if self.down { value.wrapping_sub(cycles) } else { value.wrapping_add(cycles) }) & self.max
    }

    const fn until_rollover(&self, value: u64) -> u128 {
        1 + (if self.down { value } else { self.max - value }) as u128
    }

    const fn rollover_value(&self) -> u64 {
        if self.down { self.max } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cycle of the hardware: the counter's next value, and whether it is a rollover.
    fn step(value: u64, rolled: bool, setting: &Setting) -> (u64, bool) {
        if rolled {
            (setting.reload, false)
        } else {
            let next = setting.moved(value, 1);
            (next, next == setting.rollover_value())
        }
    }

    proptest! {
        #[test]
        fn jumps_equal_single_cycles(
            start in 0u64..16, reload in 0u64..16, down: bool, jumps in prop::collection::vec(0u64..40, 1..20),
        ) {
            let setting = Setting { max: 15, reload, down, runs: true, reloads: true, generates: true };
            let mut counter = Counter::default();
            counter.set(start);
            let (mut value, mut rolled, mut cycle) = (start, false, 0);
            for jump in jumps {
                let mut rollovers = 0;
                for _ in 0..jump {
                    (value, rolled) = step(value, rolled, &setting);
                    rollovers += u32::from(rolled);
                }
                cycle += jump;
                prop_assert_eq!(counter.settle(&setting, cycle), rollovers > 0);
                prop_assert_eq!(counter.value, value);
            }
        }
    }

    #[test]
    fn the_next_rollover_is_where_single_cycles_find_it() {
        let setting = Setting { max: 15, reload: 13, down: false, runs: true, reloads: true, generates: true };
        let mut counter = Counter::default();
        counter.set(14);
        // 14, 15, 0 (cycle 2), 13, 14, 15, 0 (cycle 6).
        assert_eq!(counter.rollover_cycle(&setting), Some(2));
        assert!(counter.settle(&setting, 2));
        assert_eq!((counter.value, counter.rollover_cycle(&setting)), (0, Some(6)));
    }
}
