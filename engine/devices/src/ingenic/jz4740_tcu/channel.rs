//! A channel's counter, as a function of the ticks of its clock.

use engine::state::State;

/// Values of a 16-bit counter.
const VALUES: u64 = 1 << 16;

/// The state of a channel; its registers.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Channel {
    /// TDFR.
    pub full: u16,
    /// TDHR.
    pub half: u16,
    /// TCNT, as of `tick`.
    pub value: u16,
    /// TCSR.
    pub control: u32,
    tick: u64,
}

impl Channel {
    /// Counts up to tick number `tick`: true if it reached TDFR, and if it reached TDHR.
    pub fn settle(&mut self, tick: u64) -> (bool, bool) {
        let ticks = tick.saturating_sub(self.tick);
        let came_to = |target: u16| self.ticks_to(target).is_some_and(|needed| needed <= ticks);
        let flags = (came_to(self.full), came_to(self.half));
        self.value = self.value_after(ticks);
        self.tick = tick;
        flags
    }

    /// Restarts counting at tick number `tick`.
    pub fn stand_at(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// The tick at which the counter next reaches `target`, if it ever does.
    pub fn tick_of(&self, target: u16) -> Option<u64> {
        self.ticks_to(target).map(|ticks| self.tick + ticks)
    }

    /// Ticks of a period, from 0 to 0.
    fn period(&self) -> u64 {
        u64::from(self.full) + 1
    }

    fn value_after(&self, ticks: u64) -> u16 {
        let sum = u64::from(self.value) + ticks;
        // Above TDFR it first has to wrap.
        let value = match (self.value <= self.full, sum >= VALUES) {
            (true, _) => sum % self.period(),
            (false, false) => sum,
            (false, true) => (sum - VALUES) % self.period(),
        };
        value as u16
    }

    /// Ticks, at least one, until the counter reaches `target`.
    fn ticks_to(&self, target: u16) -> Option<u64> {
        let (value, wanted) = (u64::from(self.value), u64::from(target));
        if self.value > self.full {
            return match (target > self.value, target <= self.full) {
                (true, _) => Some(wanted - value),
                (false, true) => Some(VALUES - value + wanted),
                (false, false) => None,
            };
        }
        (target <= self.full).then(|| (wanted + self.period() - value - 1) % self.period() + 1)
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
            let mut once = Channel { full, half, value, ..Channel::default() };
            let mut flags = (false, false);
            for _ in 0..ticks {
                once.value = if once.value == full { 0 } else { once.value.wrapping_add(1) };
                flags = (flags.0 || once.value == full, flags.1 || once.value == half);
            }
            let mut channel = Channel { full, half, value, ..Channel::default() };
            prop_assert_eq!(channel.settle(ticks), flags);
            prop_assert_eq!(channel.value, once.value);
        }

        /// A flag is set at the predicted tick, and not before.
        #[test]
        fn flags_come_when_foretold(full: u16, half: u16, value: u16) {
            let channel = Channel { full, half, value, ..Channel::default() };
            let tick = channel.tick_of(full).unwrap();
            let settled = |tick| channel.clone().settle(tick);
            prop_assert_eq!((settled(tick - 1).0, settled(tick).0), (false, true));
            match channel.tick_of(half) {
                Some(tick) => {
                    prop_assert_eq!((settled(tick - 1).1, settled(tick).1), (false, true));
                }
                None => prop_assert!(!settled(1 << 20).1),
            }
        }
    }
}
