//! The counters of the RTC: RTCCLK, divided by two prescalers, in seconds of the calendar; and the times of their
//! events.

use super::calendar::Moment;
use crate::prelude::*;

/// The counters. Edges are numbers of RTCCLK's edges.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Counting {
    /// PREDIV_A and PREDIV_S, plus one each.
    pub dividers: [u64; 2],
    pub is_running: bool,
    /// The calendar at the edge `base`, and the edges of its second that had passed; negative in a second that
    /// RTC_SHIFTR has lengthened.
    moment: Moment,
    base: u64,
    passed: i64,
}

/// A point of time of the calendar: its second, and the ticks of the second prescaler since; negative as above.
pub type Tick = (u64, i64);

impl Counting {
    /// The calendar after reset, which counts from edge 0 on.
    pub fn new(dividers: [u64; 2]) -> Counting {
        Counting { dividers, is_running: true, moment: Moment::default(), base: 0, passed: 0 }
    }

    /// Edges of a second.
    pub const fn second_edges(&self) -> u64 {
        self.dividers[0] * self.dividers[1]
    }

    const fn passed_by(&self, edge: u64) -> i64 {
        self.passed + if self.is_running { edge.saturating_sub(self.base) as i64 } else { 0 }
    }

    /// The calendar at an edge.
    pub fn moment(&self, edge: u64) -> Moment {
        let seconds = self.passed_by(edge).max(0) as u64 / self.second_edges();
        Moment { second: self.moment.second + seconds, ..self.moment }
    }

    /// Edges of the present second that have passed, from those since `base`.
    fn within(&self, passed: i64) -> i64 {
        if passed < 0 { passed } else { passed % self.second_edges() as i64 }
    }

    /// Second and ticks at an edge.
    pub fn tick(&self, edge: u64) -> Tick {
        let within = self.within(self.passed_by(edge));
        (self.moment(edge).second, within.div_euclid(self.dividers[0] as i64))
    }

    /// RTC_SSR at an edge: it counts down, from more than PREDIV_S in a lengthened second.
    pub fn sub_seconds(&self, edge: u64) -> u32 {
        (self.dividers[1] as i64 - 1 - self.tick(edge).1) as u32
    }

    /// The edge of a tick, while the RTC runs. `None` for a tick in the past.
    pub fn edge_of(&self, (second, ticks): Tick) -> Option<u64> {
        let wanted = second.checked_sub(self.moment.second)?.checked_mul(self.second_edges())?;
        let from_base = wanted.checked_add_signed(ticks * self.dividers[0] as i64 - self.passed)?;
        self.base.checked_add(from_base).filter(|_| self.is_running)
    }

    /// Counts up to an edge, and continues from `again`, which may be the number of another clock's edge, or stops.
    pub fn settle(&mut self, edge: u64, again: u64, is_running: bool) {
        let passed = self.passed_by(edge);
        self.moment = self.moment(edge);
        (self.base, self.passed, self.is_running) = (again, self.within(passed), is_running);
    }

    /// Sets the calendar to this time at the edge `base`.
    pub const fn set(&mut self, moment: Moment, base: u64) {
        (self.moment, self.base, self.passed) = (moment, base, 0);
    }

    /// Adds seconds to the time.
    pub fn add(&mut self, edge: u64, seconds: i64) {
        self.settle(edge, edge, self.is_running);
        self.moment.second = self.moment.second.saturating_add_signed(seconds);
    }

    /// RTC_SHIFTR: adds ticks to RTC_SSR, a counter of 16 bits, which lengthens the second. Returns by how many edges.
    pub fn lengthen(&mut self, edge: u64, ticks: u32) -> i64 {
        self.settle(edge, edge, self.is_running);
        let before = self.sub_seconds(edge);
        let edges = (i64::from((before + ticks) & 0xffff) - i64::from(before)) * self.dividers[0] as i64;
        self.passed -= edges;
        edges
    }

    /// The first tick after `edge` that matches an alarm's RTC_ALRMxR and RTC_ALRMxSSR.
    pub fn next_alarm(&self, edge: u64, alarm: u32, sub_seconds: u32, is_12h: bool) -> Option<Tick> {
        let (now, ticks) = self.tick(edge);
        // First the rest of this second, then whole seconds.
        let mut from = (now, Some(ticks + 1));
        for _ in 0..2 {
            let moment = Moment { second: from.0, ..self.moment };
            let second = moment.next_match(alarm, is_12h)?;
            let left_from = from.1.filter(|_| second == from.0);
            if let Some(tick) = self.matching_tick(left_from, sub_seconds) {
                return Some((second, tick));
            }
            from = (second + 1, None);
        }
        None
    }

    /// The first tick of a second at which the low MASKSS bits of RTC_SSR match the alarm's; the second's first tick if
    /// no bits are compared. In a second that has begun, from `left_from` on.
    fn matching_tick(&self, left_from: Option<i64>, alarm: u32) -> Option<i64> {
        let bits = alarm >> 24 & 0xf;
        if bits == 0 {
            return left_from.is_none().then_some(0);
        }
        let (mask, first) = ((1i64 << bits) - 1, left_from.unwrap_or(0));
        let at_first = self.dividers[1] as i64 - 1 - first;
        let until = (at_first - i64::from(alarm & 0x7fff)) & mask;
        (until <= at_first).then_some(first + until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32.768 kHz, divided by 128 and 256.
    fn running() -> Counting {
        Counting::new([128, 256])
    }

    #[test]
    fn ticks_and_edges_are_the_same() {
        let counting = running();
        for (edge, tick, ssr) in [(0, (0, 0), 255), (127, (0, 0), 255), (128, (0, 1), 254), (32_767, (0, 255), 0)] {
            assert_eq!((counting.tick(edge), counting.sub_seconds(edge)), (tick, ssr));
        }
        assert_eq!(counting.edge_of((2, 3)), Some(2 * 32_768 + 3 * 128));
        let mut other = counting;
        // 1000 edges before second 2, and 32 kHz from there on.
        other.settle(2 * 32_768 - 1000, 64_000, true);
        assert_eq!((other.tick(64_999), other.tick(65_000)), ((1, 255), (2, 0)));
        assert_eq!((other.edge_of((2, 0)), other.edge_of((0, 0))), (Some(65_000), None));
    }

    #[test]
    fn a_shift_makes_the_second_longer() {
        let mut counting = running();
        let edge = 10 * 32_768 + 16_384;
        // At 10.5 s: three quarters of a second later, within the same lengthened second.
        assert_eq!((counting.sub_seconds(edge), counting.lengthen(edge, 192)), (127, 24_576));
        assert_eq!((counting.tick(edge), counting.sub_seconds(edge)), ((10, -64), 319));
        assert_eq!(counting.tick(edge + 127), (10, -64));
        assert_eq!((counting.tick(edge + 8_192), counting.sub_seconds(edge + 8_192)), ((10, 0), 255));
        assert_eq!((counting.edge_of((10, -1)), counting.edge_of((11, 0))), (Some(edge + 8_064), Some(edge + 40_960)));
        // A change of the clock does not change that.
        counting.settle(edge + 100, 500, true);
        assert_eq!((counting.tick(500 + 27), counting.tick(500 + 28)), ((10, -64), (10, -63)));
        // Half a second forward and one back: half a second later.
        counting = running();
        counting.lengthen(edge, 128);
        counting.add(edge, 1);
        assert_eq!((counting.tick(edge), counting.tick(edge + 32_768)), ((11, 0), (12, 0)));
    }

    #[test]
    fn alarms_wait_for_what_is_left_of_a_longer_second() {
        let mut counting = running();
        counting.lengthen(0, 64);
        let next = |edge, sub| counting.next_alarm(edge, 0x8080_8080, sub, false);
        // The second does not restart; RTC_SSR passes 260 and 100 in it.
        assert_eq!((next(0, 0), next(9_000, 0)), (Some((1, 0)), Some((1, 0))));
        assert_eq!((next(0, 15 << 24 | 260), next(0, 15 << 24 | 100)), (Some((0, -5)), Some((0, 155))));
    }

    #[test]
    fn alarms_compare_what_is_not_masked() {
        const ALL: u32 = 0x8080_8080;
        let counting = running();
        let next = |edge, alarm, sub| counting.next_alarm(edge, alarm, sub, false);
        assert_eq!(next(0, ALL, 0), Some((1, 0)));
        // 8 bits: once a second, when RTC_SSR is 100; 4 bits: every 16 ticks.
        assert_eq!(next(0, ALL, 8 << 24 | 100), Some((0, 155)));
        assert_eq!(next(155 * 128, ALL, 8 << 24 | 100), Some((1, 155)));
        assert_eq!(next(155 * 128, ALL, 4 << 24 | 4), Some((0, 171)));
        // A value that RTC_SSR never has.
        assert_eq!(next(0, ALL, 9 << 24 | 300), None);
        // Second 30, when RTC_SSR is 0.
        assert_eq!(next(0, ALL & !0x80 | 0x30, 15 << 24), Some((30, 255)));
    }
}
