//! What the RTC counts: RTCCLK, divided by two prescalers, in seconds of the calendar; and when something comes of
//! that.

use super::calendar::Moment;

/// The counters. Edges are numbers of RTCCLK's.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// PREDIV_A and PREDIV_S, each and one.
    pub dividers: [u64; 2],
    pub is_running: bool,
    /// The calendar at the edge `base`, when so many edges of its second had passed.
    moment: Moment,
    base: u64,
    passed: u64,
}

/// A point of time of the calendar: its second, and ticks of the second prescaler since.
pub type Tick = (u64, u64);

impl Counting {
    /// The calendar out of reset, which counts from edge 0 on.
    pub const fn new(dividers: [u64; 2]) -> Counting {
        let moment = Moment { second: 0, weekday_shift: 0 };
        Counting { dividers, is_running: true, moment, base: 0, passed: 0 }
    }

    /// Edges of a second.
    pub const fn second_edges(&self) -> u64 {
        self.dividers[0] * self.dividers[1]
    }

    const fn passed_by(&self, edge: u64) -> u64 {
        self.passed + if self.is_running { edge.saturating_sub(self.base) } else { 0 }
    }

    /// The calendar at an edge.
    pub const fn moment(&self, edge: u64) -> Moment {
        let seconds = self.passed_by(edge) / self.second_edges();
        Moment { second: self.moment.second + seconds, ..self.moment }
    }

    /// Second and ticks at an edge.
    pub const fn tick(&self, edge: u64) -> Tick {
        (self.moment(edge).second, self.passed_by(edge) % self.second_edges() / self.dividers[0])
    }

    /// RTC_SSR at an edge: it counts down.
    pub const fn sub_seconds(&self, edge: u64) -> u32 {
        (self.dividers[1] - 1 - self.tick(edge).1) as u32
    }

    /// The edge of a tick, while it runs. `None` for what is past.
    pub fn edge_of(&self, (second, ticks): Tick) -> Option<u64> {
        let wanted = second.checked_sub(self.moment.second)?.checked_mul(self.second_edges())?;
        let from_base = wanted.checked_add(ticks * self.dividers[0])?.checked_sub(self.passed)?;
        self.base.checked_add(from_base).filter(|_| self.is_running)
    }

    /// It has counted up to an edge, and counts from `again` on, which may be another clock's number, or stands.
    pub const fn settle(&mut self, edge: u64, again: u64, is_running: bool) {
        let passed = self.passed_by(edge);
        self.moment = self.moment(edge);
        (self.base, self.passed, self.is_running) = (again, passed % self.second_edges(), is_running);
    }

    /// The calendar has this time at the edge `base`.
    pub const fn set(&mut self, moment: Moment, base: u64) {
        (self.moment, self.base, self.passed) = (moment, base, 0);
    }

    /// What time it is changes by so many seconds, less so many ticks (RTC_SHIFTR).
    pub fn shift(&mut self, edge: u64, seconds: i64, ticks_back: u64) {
        self.settle(edge, edge, self.is_running);
        let second_edges = self.second_edges();
        let back = ticks_back * self.dividers[0];
        let borrowed = back.saturating_sub(self.passed).div_ceil(second_edges);
        self.passed = self.passed + borrowed * second_edges - back;
        self.moment.second = self.moment.second.saturating_add_signed(seconds).saturating_sub(borrowed);
    }

    /// The first tick behind one that an alarm waits for, by RTC_ALRMxR and RTC_ALRMxSSR.
    pub fn next_alarm(&self, edge: u64, alarm: u32, sub_seconds: u32, is_12h: bool) -> Option<Tick> {
        let (now, ticks) = self.tick(edge);
        let mut from = (now, ticks + 1);
        for _ in 0..2 {
            let moment = Moment { second: from.0, ..self.moment };
            let second = moment.next_match(alarm, is_12h)?;
            let first = if second == from.0 { from.1 } else { 0 };
            if let Some(tick) = self.matching_tick(first, sub_seconds) {
                return Some((second, tick));
            }
            from = (second + 1, 0);
        }
        None
    }

    /// The first tick of a second, from one on, whose low MASKSS bits of RTC_SSR are those of the alarm; the second's
    /// first, if none are compared.
    fn matching_tick(&self, first: u64, alarm: u32) -> Option<u64> {
        let bits = alarm >> 24 & 0xf;
        if bits == 0 {
            return (first == 0).then_some(0);
        }
        let mask = (1u64 << bits) - 1;
        let at_first = (self.dividers[1] - 1).checked_sub(first)?;
        let until = at_first.wrapping_sub(u64::from(alarm & 0x7fff)) & mask;
        (until <= at_first).then_some(first + until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32.768 kHz by 128 and 256.
    const fn running() -> Counting {
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
        // 1000 edges before the second 2, and 32 kHz from there on.
        other.settle(2 * 32_768 - 1000, 64_000, true);
        assert_eq!((other.tick(64_999), other.tick(65_000)), ((1, 255), (2, 0)));
        assert_eq!((other.edge_of((2, 0)), other.edge_of((0, 0))), (Some(65_000), None));
    }

    #[test]
    fn a_shift_takes_ticks_away() {
        let mut counting = running();
        // At 10.5 s: one second forward, a quarter back; then a second and a half back.
        counting.shift(10 * 32_768 + 16_384, 1, 64);
        assert_eq!(counting.tick(10 * 32_768 + 16_384), (11, 64));
        counting.shift(10 * 32_768 + 16_384, 0, 384);
        assert_eq!(counting.tick(10 * 32_768 + 16_384), (9, 192));
    }

    #[test]
    fn alarms_compare_what_is_not_masked() {
        const ALL: u32 = 0x8080_8080;
        let counting = running();
        let next = |edge, alarm, sub| counting.next_alarm(edge, alarm, sub, false);
        assert_eq!(next(0, ALL, 0), Some((1, 0)));
        // 8 bits: once a second, where RTC_SSR is 100; 4 bits: each 16 ticks.
        assert_eq!(next(0, ALL, 8 << 24 | 100), Some((0, 155)));
        assert_eq!(next(155 * 128, ALL, 8 << 24 | 100), Some((1, 155)));
        assert_eq!(next(155 * 128, ALL, 4 << 24 | 4), Some((0, 171)));
        // A value that RTC_SSR never has.
        assert_eq!(next(0, ALL, 9 << 24 | 300), None);
        // Second 30, where RTC_SSR is 0.
        assert_eq!(next(0, ALL & !0x80 | 0x30, 15 << 24), Some((30, 255)));
    }
}
