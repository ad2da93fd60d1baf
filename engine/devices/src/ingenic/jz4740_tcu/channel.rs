//! A channel's counter, as a function of the ticks of its clock.

use engine::state::State;

/// Values of a 16-bit counter.
const VALUES: u64 = 1 << 16;

/// The counter of a channel or of the watchdog, which counts from 0 to `full` and again from 0.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Counter {
    /// TCNT, as of `tick`.
    pub value: u16,
    /// The tick up to which it has counted.
    pub tick: u64,
}

impl Counter {
    /// Counts up to tick number `tick`: true if it reached TDFR, and if it reached TDHR.
    pub fn settle(&mut self, tick: u64, [full, half]: [u16; 2]) -> [bool; 2] {
        let ticks = tick.saturating_sub(self.tick);
        let flags = [full, half].map(|target| self.ticks_to(target, full).is_some_and(|needed| needed <= ticks));
        *self = Counter { value: self.value_after(ticks, full), tick };
        flags
    }

    /// The tick at which the counter next reaches `target`, if it ever does.
    pub fn tick_of(&self, target: u16, full: u16) -> Option<u64> {
        self.ticks_to(target, full).map(|ticks| self.tick + ticks)
    }

    fn value_after(&self, ticks: u64, full: u16) -> u16 {
        let (sum, period) = (u64::from(self.value) + ticks, u64::from(full) + 1);
        // Above TDFR it first has to wrap.
        let value = match (self.value <= full, sum >= VALUES) {
            (true, _) => sum % period,
            (false, false) => sum,
            (false, true) => (sum - VALUES) % period,
        };
        value as u16
    }

    /// Ticks, at least one, until the counter reaches `target`.
    fn ticks_to(&self, target: u16, full: u16) -> Option<u64> {
        let (value, wanted) = (u64::from(self.value), u64::from(target));
        if self.value > full {
            return match (target > self.value, target <= full) {
                (true, _) => Some(wanted - value),
                (false, true) => Some(VALUES - value + wanted),
                (false, false) => None,
            };
        }
        let period = u64::from(full) + 1;
        (target <= full).then(|| (wanted + period - value - 1) % period + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The shortcut gives the same result as counting tick by tick.
        #[test]
        fn many_ticks_are_as_many_single_ones(full: u16, half: u16, value: u16, near: bool, ticks in 1u64..300) {
            // Values close together, so that their events happen within this small number of ticks.
            let [full, half, value] = if near { [full % 64, half % 64, value % 128] } else { [full, half, value] };
            let mut once = Counter { value, tick: 0 };
            let mut flags = [false; 2];
            for _ in 0..ticks {
                once.value = if once.value == full { 0 } else { once.value.wrapping_add(1) };
                flags = [flags[0] || once.value == full, flags[1] || once.value == half];
            }
            let mut channel = Counter { value, tick: 0 };
            prop_assert_eq!(channel.settle(ticks, [full, half]), flags);
            prop_assert_eq!(channel.value, once.value);
        }

        /// A flag is set at the predicted tick, and not before.
        #[test]
        fn flags_come_when_foretold(full: u16, half: u16, value: u16) {
            let channel = Counter { value, tick: 0 };
            let tick = channel.tick_of(full, full).unwrap();
            let settled = |tick| channel.clone().settle(tick, [full, half]);
            prop_assert_eq!((settled(tick - 1)[0], settled(tick)[0]), (false, true));
            match channel.tick_of(half, full) {
                Some(tick) => {
                    prop_assert_eq!((settled(tick - 1)[1], settled(tick)[1]), (false, true));
                }
                None => prop_assert!(!settled(1 << 20)[1]),
            }
        }
    }
}
