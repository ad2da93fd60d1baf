//! Calls that are kept for a timeline: those that overlap its window; of too many, those that ended last.

use std::collections::VecDeque;

use super::paths::Call;
use super::reporting::AtRate;
use crate::observe::profile::Slices;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Ps};

/// The calls of a core.
#[derive(Debug, State, Fresh)]
pub struct KeptSlices {
    /// The requested selection.
    pub wanted: Slices,
    /// The window in cycles of the core, first and last.
    pub window: (u64, u64),
    /// Each with the number of skipped iterations that it stands for, in the order of their ends.
    calls: VecDeque<(Call, u64)>,
    /// End of the last call that was dropped.
    dropped_until: Option<u64>,
}

impl KeptSlices {
    /// No calls yet. Until the clock is known ([`KeptSlices::follow_rates`]) there is no window.
    pub fn new(wanted: Slices) -> KeptSlices {
        KeptSlices { wanted, window: (0, u64::MAX), calls: VecDeque::new(), dropped_until: None }
    }

    /// Sets the rates that the core's clock has had; the last of them is the present one.
    pub fn follow_rates(&mut self, rates: &[AtRate]) {
        self.window = (had_at(rates, self.wanted.from), had_at(rates, self.wanted.to));
    }

    /// Keeps a call that has ended, or one that stands for skipped iterations.
    #[inline]
    pub fn keep(&mut self, call: Call, skipped: u64) {
        let (from, to) = self.window;
        let end = call.begun.wrapping_add(call.cycles);
        if call.begun > to || end <= from {
            return;
        }
        self.calls.push_back((call, skipped));
        if self.calls.len() > self.wanted.most
            && let Some((first, _)) = self.calls.pop_front()
        {
            self.dropped_until = Some(first.begun.wrapping_add(first.cycles));
        }
    }

    /// The kept calls.
    pub fn calls(&self) -> impl Iterator<Item = &(Call, u64)> {
        self.calls.iter()
    }

    /// The cycle of the core from which on no call is missing.
    pub fn complete_from(&self) -> Option<u64> {
        self.dropped_until
    }
}

/// The core's cycles at a time, with these rates of its clock; the last rate continues.
fn had_at(rates: &[AtRate], at: Ps) -> u64 {
    let begin = |rate: &AtRate| rate.rate.ps_at_floor(Cycles(rate.from.wrapping_add(rate.ahead)));
    let Some(rate) = rates.iter().rev().find(|rate| begin(rate) <= at).or(rates.first()) else { return 0 };
    rate.rate.cycles_until_floor(at).0.wrapping_sub(rate.ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Hz;

    fn call(begun: u64, cycles: u64) -> Call {
        Call { path: 1, begun, cycles }
    }

    fn kept(slices: &KeptSlices) -> Vec<u64> {
        slices.calls().map(|(call, _)| call.begun).collect()
    }

    fn rate(mhz: u64, from: u64, ahead: u64) -> AtRate {
        AtRate { rate: Hz::new(mhz * 1_000_000).unwrap(), from, ahead }
    }

    #[test]
    fn calls_outside_of_the_window_take_no_room() {
        let wanted = Slices { from: Ps::from_us(10), to: Ps::from_us(20), most: 2 };
        let mut slices = KeptSlices::new(wanted);
        slices.follow_rates(&[rate(100, 0, 0)]);
        for begun in [0, 900, 990, 1000, 1500] {
            slices.keep(call(begun, 20), 0);
        }
        assert_eq!((kept(&slices), slices.complete_from()), (vec![1000, 1500], Some(1010)));
        for begun in 2001..3000 {
            slices.keep(call(begun, 20), 0);
        }
        // One that began before the window and ends after it.
        slices.keep(call(500, 4000), 0);
        assert_eq!((kept(&slices), slices.complete_from()), (vec![1500, 500], Some(1020)));
    }

    #[test]
    fn the_window_is_in_time_though_the_clock_changes() {
        let wanted = Slices { from: Ps::from_us(10), to: Ps::from_us(20), most: 8 };
        // After 5 us at 100 MHz the clock's rate is 20 MHz; its cycle number is then 100.
        let mut slices = KeptSlices::new(wanted);
        slices.follow_rates(&[rate(100, 0, 0), rate(20, 500, 0u64.wrapping_sub(400))]);
        // 10 us are its cycle 200, cycle 600 in total; 20 us are cycle 800 in total.
        for begun in [550, 590, 600, 800, 801] {
            slices.keep(call(begun, 20), 0);
        }
        assert_eq!(kept(&slices), [590, 600, 800]);
    }

    #[test]
    fn a_window_that_never_ends_has_all() {
        let wanted = Slices { from: Ps::ZERO, to: Ps::MAX, most: 8 };
        let mut slices = KeptSlices::new(wanted);
        slices.follow_rates(&[rate(100, 0, 0)]);
        slices.keep(call(0, 1), 0);
        slices.keep(call(1 << 40, 1), 0);
        assert_eq!(kept(&slices), [0, 1 << 40]);
    }
}
