//! Counters that are computed from the time: the ticks of a clock that is divided by a prescaler, and a counter whose
//! value at a tick, and whose next tick at a value, follow from its value at an earlier tick. A timer that has one
//! needs no event for counting.

use crate::prelude::*;
use crate::support::axi_lite::edge_in_reach;

/// A clock that a prescaler divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// The clock.
    pub clock: Hz,
    /// Edges of the clock for each tick.
    pub divider: u64,
    /// The edge at which the prescaler was restarted: tick 0. It may be before edge 0, wrapped around, after a change
    /// of the clock's rate.
    pub origin: u64,
}

impl Ticks {
    /// The ticks of a prescaler that runs freely from reset.
    pub const fn of(clock: Hz, divider: u64) -> Ticks {
        Ticks { clock, divider, origin: 0 }
    }

    /// The last tick up to `now`.
    pub fn at(&self, now: Ps) -> u64 {
        self.clock.cycles_until_floor(now).0.wrapping_sub(self.origin) / self.divider
    }

    /// The time of a tick; `None` beyond the end of any run.
    pub fn time_of(&self, tick: u64) -> Option<Ps> {
        edge_in_reach(self.clock, tick.checked_mul(self.divider)?.wrapping_add(self.origin))
    }

    /// The time at which registers on another clock, `bus`, show a tick.
    pub fn seen_at(&self, tick: u64, bus: Hz) -> Option<Ps> {
        let at = self.time_of(tick)?;
        Some(if self.clock == bus { at } else { bus.edge_at_or_after(at) })
    }
}

/// The values that a counter takes: up from 0 to `end` and again from 0, or down from `end` to 0 and again from `end`.
/// Other registers that are compared with the counter are values for [`Counter::tick_of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The largest value of a period: the value of the reload register, or of the compare register that clears the
    /// counter. A counter that runs freely ends at the largest value that it has bits for, below 2^63.
    pub end: u64,
    /// The largest value that the counter has bits for. A counter above `end`, as after a write of it, counts on to
    /// `most`, and then from 0: with `end` 99 and `most` 255, from 200 by 255 and 0 to 99.
    pub most: u64,
    /// Counts down, not up.
    pub down: bool,
}

impl Range {
    /// Up to `end`, of a counter with values up to `most`.
    pub const fn up(end: u64, most: u64) -> Range {
        Range { end, most, down: false }
    }

    /// Down from `end`.
    pub const fn down(end: u64) -> Range {
        Range { end, most: u64::MAX, down: true }
    }

    /// Ticks of a period.
    const fn period(self) -> u64 {
        self.end + 1
    }

    /// Ticks from the first value of a period to `value`; `None` for a value that a period does not have.
    fn place(self, value: u64) -> Option<u64> {
        self.end.checked_sub(value).map(|left| if self.down { left } else { value })
    }

    /// Ticks from `value` to the first value of the next period, or to the wrap of a value that no period has.
    fn left(self, value: u64) -> u64 {
        match self.place(value) {
            Some(place) => self.period() - place,
            None if self.down => value + 1,
            None => self.most - value + 1,
        }
    }
}

/// A counter's value at a tick. A device that has one lists it by [`Counter::list`], or counts the accesses to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Counter {
    /// The value.
    pub value: u64,
    /// The tick.
    pub tick: u64,
}

impl Counter {
    /// Counts up to a tick; nothing happens for one in the past. Returns the number of reloads: of periods that have
    /// begun.
    pub fn settle(&mut self, tick: u64, range: Range) -> u64 {
        let ticks = tick.saturating_sub(self.tick);
        self.tick += ticks;
        let Some(past) = ticks.checked_sub(range.left(self.value)) else {
            self.value = if range.down { self.value - ticks } else { self.value + ticks };
            return 0;
        };
        // A value that no period has wraps to 0, or counts down to it: up, that is no reload.
        let reloads = past / range.period() + u64::from(range.down || self.value <= range.end);
        let place = past % range.period();
        self.value = if range.down { range.end - place } else { place };
        reloads
    }

    /// The next tick at which the counter becomes `value`, if it ever does.
    pub fn tick_of(&self, value: u64, range: Range) -> Option<u64> {
        self.ticks_to(value, range).map(|ticks| self.tick.saturating_add(ticks))
    }

    /// The tick of the next reload: the counter then has the first value of a period.
    pub fn reload_tick(&self, range: Range) -> u64 {
        self.tick.saturating_add(range.left(self.value))
    }

    /// Lists what an iteration of a polling loop must not change, after [`Counter::settle`]: the value of a counter
    /// that is stopped, the next reload of one that runs.
    pub fn list(&self, runs: bool, range: Range, poll: &mut Poll) {
        poll.state(if runs { self.reload_tick(range) } else { self.value });
    }

    /// The clock has changed from its edge `from` to the new one's edge `to`: later ticks keep their distance.
    pub fn renumber(&mut self, from: u64, to: u64) {
        self.tick = self.tick.saturating_sub(from) + to;
    }

    /// Ticks, at least one, until the counter becomes `value`.
    pub fn ticks_to(&self, value: u64, range: Range) -> Option<u64> {
        let ahead = if range.down { self.value.checked_sub(value) } else { value.checked_sub(self.value) };
        let is_beyond_the_end = range.place(self.value).is_none() && value <= range.most;
        match ahead.filter(|ahead| *ahead > 0 && (is_beyond_the_end || value <= range.end)) {
            Some(ahead) => Some(ahead),
            None => range.place(value).map(|place| range.left(self.value) + place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The ways to count of a 16-bit counter: with small values, an event happens within a small number of ticks.
    fn ranges() -> impl Strategy<Value = (Range, u64)> {
        (any::<u16>(), any::<u16>(), any::<bool>(), any::<bool>()).prop_map(|(end, value, is_near, down)| {
            let [end, value] = if is_near { [end % 64, value % 128] } else { [end, value] }.map(u64::from);
            (Range { end, most: 0xffff, down }, value)
        })
    }

    /// The next value, one tick later, and whether that is a reload.
    fn step(value: u64, range: Range) -> (u64, bool) {
        match (range.down, value) {
            (true, 0) => (range.end, true),
            (true, _) => (value - 1, false),
            (false, _) if value == range.end => (0, true),
            (false, _) => ((value + 1) & range.most, false),
        }
    }

    proptest! {
        /// The shortcut gives the same result as counting tick by tick.
        #[test]
        fn many_ticks_are_as_many_single_ones((range, value) in ranges(), target in 0u64..128, ticks in 1u64..300) {
            let (mut once, mut reloads, mut reached) = (value, 0, None);
            for tick in 1..=ticks {
                let (next, is_reload) = step(once, range);
                (once, reloads) = (next, reloads + u64::from(is_reload));
                reached = reached.or((once == target).then_some(tick));
            }
            let mut counter = Counter { value, tick: 0 };
            prop_assert_eq!(counter.tick_of(target, range).filter(|tick| *tick <= ticks), reached);
            prop_assert_eq!((counter.settle(ticks, range), counter), (reloads, Counter { value: once, tick: ticks }));
        }

        /// A value and a reload come at the predicted tick, and not before.
        #[test]
        fn values_come_when_foretold((range, value) in ranges(), target in 0u64..0x1_0000) {
            let counter = Counter { value, tick: 5 };
            let settled = |tick| { let mut later = counter; (later.settle(tick, range), later.value) };
            let reload = counter.reload_tick(range);
            prop_assert_eq!(settled(reload).1, if range.down { range.end } else { 0 });
            prop_assert_eq!(settled(reload - 1).0, 0);
            match counter.tick_of(target, range) {
                Some(tick) => prop_assert_eq!(settled(tick).1, target),
                None => prop_assert!((6..1000).all(|tick| settled(tick).1 != target)),
            }
        }
    }

    #[test]
    fn ticks_of_a_prescaler_begin_at_its_restart() {
        let ticks = Ticks { origin: 100, ..Ticks::of(Hz::new(1_000_000).unwrap(), 16) };
        assert_eq!([115, 116, 132].map(|us| ticks.at(Ps::from_us(us))), [0, 1, 2]);
        assert_eq!(ticks.time_of(2), Some(Ps::from_us(132)));
        assert_eq!(Ticks::of(ticks.clock, 16).seen_at(1, Hz::new(300_000).unwrap()), Some(Ps(16_666_666)));
    }
}
