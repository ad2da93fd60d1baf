//! A converter that samples by its own clock, as sensors do: the times of samples, and their number.

use crate::prelude::*;

/// The converter. It is off until it is started.
#[derive(Debug, Default, State, Polled)]
pub struct Sampler {
    rate: Option<Hz>,
    /// Periods of the rate between two samples.
    every: u64,
    first: Ps,
    taken: u64,
}

impl Sampler {
    /// Samples come at `rate` from now on, the first one at `first`.
    pub fn start(&mut self, rate: Hz, first: Ps) {
        *self = Sampler { rate: Some(rate), every: 1, first, taken: 0 };
    }

    /// Starts sampling every `every` periods of `rate`, at least 1: for rates that are not a whole number of hertz.
    pub fn start_divided(&mut self, rate: Hz, every: u64, first: Ps) {
        *self = Sampler { rate: Some(rate), every, first, taken: 0 };
    }

    /// Starts sampling `periods` periods of `rate` after `now`.
    pub fn start_after(&mut self, rate: Hz, now: Ps, periods: u64) {
        self.start(rate, now.saturating_add(rate.ps_at_floor(Cycles(periods))));
    }

    /// Goes on sampling every `every` periods of `rate`: the next sample comes as long after `now`, and, if sampling
    /// was off, `turn_on` later.
    pub fn go_on_divided(&mut self, rate: Hz, every: u64, now: Ps, turn_on: Ps) {
        let wait = if self.rate.is_some() { Ps::ZERO } else { turn_on };
        self.start_divided(rate, every, now.saturating_add(wait).saturating_add(rate.ps_at_floor(Cycles(every))));
    }

    /// Stops sampling.
    pub fn stop(&mut self) {
        self.rate = None;
    }

    /// The rate; `None` if it is off.
    pub const fn rate(&self) -> Option<Hz> {
        self.rate
    }

    /// True if a sample has come since it was started.
    pub const fn has_any(&self) -> bool {
        self.taken > 0
    }

    /// The time of the next sample, after the samples that [`Sampler::take`] has counted.
    pub fn next_at(&self) -> Option<Ps> {
        self.rate.map(|rate| self.first.saturating_add(rate.ps_at_floor(Cycles(self.taken.saturating_mul(self.every)))))
    }

    /// The number of samples since the last call, up to `now`.
    pub fn take(&mut self, now: Ps) -> u64 {
        let Some(rate) = self.rate.filter(|_| now >= self.first) else { return 0 };
        let taken = 1 + rate.cycles_until_floor(now - self.first).0 / self.every;
        let new = taken.saturating_sub(self.taken);
        self.taken += new;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_at_their_times() {
        let mut sampler = Sampler::default();
        assert_eq!((sampler.take(Ps::from_us(5)), sampler.next_at()), (0, None));
        // At 7, 9, 11 and 13 us.
        sampler.start(Hz::new(500_000).unwrap(), Ps::from_us(7));
        assert_eq!((sampler.take(Ps::from_us(7) - Ps(1)), sampler.has_any()), (0, false));
        assert_eq!(sampler.next_at(), Some(Ps::from_us(7)));
        assert_eq!((sampler.take(Ps::from_us(7)), sampler.has_any()), (1, true));
        assert_eq!(sampler.next_at(), Some(Ps::from_us(9)));
        assert_eq!((sampler.take(Ps::from_us(13)), sampler.take(Ps::from_us(14))), (3, 0));
        sampler.start_after(Hz::new(500_000).unwrap(), Ps::from_us(14), 3);
        assert_eq!((sampler.has_any(), sampler.next_at()), (false, Some(Ps::from_us(20))));
        assert_eq!(sampler.take(Ps::from_us(20)), 1);
        // 100 Hz, as a 16th of 1600 Hz.
        sampler.start_divided(Hz::new(1600).unwrap(), 16, Ps::from_us(30));
        assert_eq!((sampler.take(Ps::from_us(10_029)), sampler.next_at()), (1, Some(Ps::from_us(10_030))));
        assert_eq!((sampler.take(Ps::from_us(30_030)), sampler.next_at()), (3, Some(Ps::from_us(40_030))));
        sampler.stop();
        assert_eq!((sampler.take(Ps::from_us(30)), sampler.next_at(), sampler.has_any()), (0, None, true));
    }
}
