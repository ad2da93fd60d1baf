//! Totals of cores and devices, sampled for the counters of a timeline.

use std::collections::BTreeMap;

use crate::state::{Fresh, State};
use crate::time::Ps;

/// With more samples than this, every other one is dropped, and sampling continues at half the rate.
const MOST_SAMPLES: usize = 4096;

/// Totals at one time, as far as they have changed.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Sample {
    /// When.
    pub at: Ps,
    /// Indices of totals in [`Counters::names`], and their values.
    pub changed: Vec<(u32, u64)>,
}

/// Totals over time. The default has none.
#[derive(Clone, Debug, Default, State)]
pub struct Counters {
    interval: Ps,
    /// When the next sample is due, and the time from which on no more are taken.
    next: Option<Ps>,
    until: Ps,
    names: Vec<String>,
    places: BTreeMap<String, u32>,
    last: Vec<u64>,
    samples: Vec<Sample>,
}

impl Counters {
    /// Takes samples from `from` until `until`, at least `interval` apart.
    pub fn new(from: Ps, until: Ps, interval: Ps) -> Counters {
        Counters { interval: interval.max(Ps(1)), next: Some(from), until, ..Counters::default() }
    }

    /// When a sample is due; `None` if never.
    pub fn next(&self) -> Option<Ps> {
        self.next.filter(|next| *next < self.until)
    }

    /// Totals by their names: `scope.what`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// By total: whether it had more than one value between two times.
    pub fn moved(&self, from: Ps, to: Ps) -> Vec<bool> {
        let mut counts = vec![0; self.names.len()];
        let within = self.samples.iter().filter(|sample| from <= sample.at && sample.at <= to);
        within.flat_map(|sample| &sample.changed).for_each(|(place, _)| counts[*place as usize] += 1);
        counts.into_iter().map(|times| times > 1).collect()
    }

    /// The samples in the order of time.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Adds the totals at `at`.
    pub fn add(&mut self, at: Ps, totals: impl IntoIterator<Item = (String, u64)>) {
        let mut changed = Vec::new();
        for (name, total) in totals {
            let place = *self.places.entry(name).or_insert_with_key(|name| {
                self.names.push(name.clone());
                self.last.push(u64::MAX);
                self.names.len() as u32 - 1
            });
            if std::mem::replace(&mut self.last[place as usize], total) != total {
                changed.push((place, total));
            }
        }
        if !changed.is_empty() {
            self.samples.push(Sample { at, changed });
        }
        if self.samples.len() >= MOST_SAMPLES {
            self.thin_out();
        }
        self.next = Some(Ps((at.0 / self.interval.0 + 1).saturating_mul(self.interval.0)));
    }

    /// Keeps every other sample, and adds to it the changes of the one before it.
    fn thin_out(&mut self) {
        self.interval = self.interval + self.interval;
        let pairs: Vec<Sample> = std::mem::take(&mut self.samples);
        let mut pairs = pairs.into_iter();
        while let Some(first) = pairs.next() {
            let Some(Sample { at, changed }) = pairs.next() else {
                self.samples.push(first);
                break;
            };
            let mut all: BTreeMap<u32, u64> = first.changed.into_iter().collect();
            all.extend(changed);
            self.samples.push(Sample { at, changed: all.into_iter().collect() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_that_do_not_change_are_not_sampled_again() {
        let mut counters = Counters::new(Ps(5), Ps(100), Ps(10));
        assert_eq!(counters.next(), Some(Ps(5)));
        for (at, fills, bytes) in [(5, 1, 0), (13, 1, 0), (27, 1, 8)] {
            counters.add(Ps(at), [("cpu0.fills".to_owned(), fills), ("spi0.bytes".to_owned(), bytes)]);
        }
        assert_eq!(counters.names(), ["cpu0.fills", "spi0.bytes"]);
        let first = Sample { at: Ps(5), changed: vec![(0, 1), (1, 0)] };
        assert_eq!(counters.samples(), [first, Sample { at: Ps(27), changed: vec![(1, 8)] }]);
        assert_eq!(counters.next(), Some(Ps(30)));
        counters.add(Ps(99), []);
        assert_eq!(counters.next(), None);
    }

    #[test]
    fn many_samples_are_thinned_out_and_end_with_the_same_totals() {
        let mut counters = Counters::new(Ps::ZERO, Ps::MAX, Ps(10));
        let mut at = Ps::ZERO;
        for total in 0..100_000 {
            at = counters.next().unwrap();
            let odd = ("odd".to_owned(), total / 1000);
            counters.add(at, [("spi0.bytes".to_owned(), total), odd]);
        }
        let samples = counters.samples();
        assert!(samples.len() < MOST_SAMPLES);
        assert_eq!(samples.last().map(|sample| sample.at), Some(at));
        let last = |place| samples.iter().flat_map(|sample| &sample.changed).rfind(|it| it.0 == place).unwrap().1;
        assert_eq!((last(0), last(1)), (99_999, 99));
    }
}
