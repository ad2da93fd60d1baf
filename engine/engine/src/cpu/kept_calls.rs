//! Single calls of a watched function: the range of durations of all calls, and the longest calls one by one.
//!
//! The waits in a call are known only some time after its end ([`super::waits`]), and may come in several parts.

use super::sections::Totals;
use super::waits::Waited;
use crate::bus::Bus;
use crate::core::{CallReport, Counted, KeptReport};
use crate::observe::waits::WaitedFor;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// Start of a call.
#[derive(Clone, Debug, State, Fresh)]
pub(crate) struct Entry {
    /// A number unique among the calls of all functions: later calls have higher ones.
    pub number: u64,
    /// Number of the call among those of its function, from 1 on.
    pub nth: u64,
    /// When it began.
    pub at: Ps,
    /// Its return address.
    pub return_pc: u32,
    /// The registers with the first arguments.
    pub arguments: [u32; CallReport::REGISTERS],
}

/// A call that has ended.
#[derive(Clone, Debug, State, Fresh)]
pub(crate) struct KeptCall<T: Totals> {
    pub entry: Entry,
    /// Its totals, at each rate that the clock had meanwhile.
    pub parts: Vec<(Hz, T)>,
    /// Their time.
    pub time: Ps,
    /// The waits in it, as far as known.
    pub waited: Waited,
}

/// The calls of a function that have ended.
#[derive(Clone, Debug, State, Fresh)]
pub(crate) struct KeptCalls<T: Totals> {
    /// Number of calls that are kept one by one.
    most: usize,
    /// The shortest duration of all.
    pub shortest: Option<Ps>,
    /// The longest calls, in descending order; among equally long ones, the first.
    pub longest: Vec<KeptCall<T>>,
}

impl<T: Totals> KeptCalls<T> {
    /// No calls yet; keeps up to `most` of them, at least one.
    pub fn new(most: usize) -> KeptCalls<T> {
        KeptCalls { most: most.max(1), shortest: None, longest: Vec::new() }
    }

    /// Adds a call that has ended. It had all the core's time between two moments at each rate; `nothing` is a zero
    /// total.
    pub fn add(&mut self, entry: &Entry, spans: &[(Hz, &T, &T)], nothing: &T) {
        let time_at = |(rate, from, to): &(Hz, &T, &T)| rate.ps_at_floor(Cycles(to.cycles() - from.cycles()));
        let time = spans.iter().map(time_at).fold(Ps::ZERO, |sum, time| sum + time);
        self.shortest = Some(self.shortest.map_or(time, |shortest| shortest.min(time)));
        let place = self.longest.partition_point(|call| call.time >= time);
        if place == self.most {
            return;
        }
        let part = |(rate, from, to): &(Hz, &T, &T)| {
            let mut part = nothing.clone();
            part.add_difference(to, from, 1);
            (*rate, part)
        };
        let parts = spans.iter().map(part).collect();
        self.longest.truncate(self.most - 1);
        self.longest.insert(place, KeptCall { entry: entry.clone(), parts, time, waited: Waited::default() });
    }

    /// The calls for the user; `reported` converts their waits.
    pub fn report(&self, bus: &Bus, reported: impl Fn(&Waited) -> Option<WaitedFor>) -> KeptReport {
        let call = |call: &KeptCall<T>| CallReport {
            nth: call.entry.nth,
            begun: call.entry.at,
            registers: call.entry.arguments,
            arguments: Vec::new(),
            return_pc: call.entry.return_pc,
            caller: None,
            instructions: call.parts.iter().map(|(_, part)| part.instructions()).sum(),
            counted: call.parts.iter().map(|(rate, part)| Counted { rate: *rate, causes: part.named(bus) }).collect(),
            waited: reported(&call.waited),
        };
        KeptReport { shortest: self.shortest, longest: self.longest.iter().map(call).collect() }
    }

    /// Adds waits to the call with this number.
    pub fn waited(&mut self, number: u64, waited: &Waited) {
        if let Some(call) = self.longest.iter_mut().find(|call| call.entry.number == number) {
            call.waited.add(waited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, State, Fresh)]
    struct Spent(u64);

    impl Totals for Spent {
        fn add_difference(&mut self, to: &Spent, from: &Spent, times: u64) {
            self.0 += (to.0 - from.0) * times;
        }

        fn cycles(&self) -> u64 {
            self.0
        }

        fn instructions(&self) -> u64 {
            0
        }

        fn named(&self, _: &Bus) -> Vec<(String, Cycles)> {
            Vec::new()
        }
    }

    /// Calls that take these numbers of cycles of 1 ns, one after the other.
    fn kept(most: usize, lasting: &[u64]) -> KeptCalls<Spent> {
        let mut kept = KeptCalls::new(most);
        let (mut now, rate) = (0, Hz::new(1_000_000_000).unwrap());
        for (number, cycles) in (0..).zip(lasting) {
            let entry = Entry { number, nth: number + 1, at: Ps::from_ns(now), return_pc: 0, arguments: [0; 4] };
            kept.add(&entry, &[(rate, &Spent(now), &Spent(now + cycles))], &Spent(0));
            now += cycles;
        }
        kept
    }

    fn numbers(kept: &KeptCalls<Spent>) -> Vec<u64> {
        kept.longest.iter().map(|call| call.entry.nth).collect()
    }

    #[test]
    fn the_longest_are_kept_in_order_and_of_equal_ones_the_first() {
        let lasting = [5, 9, 2, 9, 7, 9, 7];
        assert_eq!(numbers(&kept(1, &lasting)), [2]);
        assert_eq!(numbers(&kept(4, &lasting)), [2, 4, 6, 5]);
        assert_eq!(numbers(&kept(100, &lasting)), [2, 4, 6, 5, 7, 1, 3]);
        assert_eq!(numbers(&kept(0, &lasting)), [2]);
        let kept = kept(3, &lasting);
        assert_eq!((kept.shortest, kept.longest[0].time), (Some(Ps::from_ns(2)), Ps::from_ns(9)));
        assert_eq!((kept.longest[1].parts[0].1.0, kept.longest[1].entry.at), (9, Ps::from_ns(16)));
    }

    #[test]
    fn a_call_at_several_rates_has_the_time_at_each() {
        let mut kept = KeptCalls::new(1);
        let (fast, slow) = (Hz::new(1_000_000_000).unwrap(), Hz::new(3_000_000).unwrap());
        let entry = Entry { number: 0, nth: 1, at: Ps::ZERO, return_pc: 0, arguments: [0; 4] };
        kept.add(&entry, &[(fast, &Spent(10), &Spent(15)), (slow, &Spent(15), &Spent(16))], &Spent(0));
        // 333333.3 ps a cycle at 3 MHz.
        assert_eq!(kept.longest[0].time, Ps(5_000 + 333_333));
    }

    #[test]
    fn waits_that_come_late_are_those_of_the_call_if_it_is_still_kept() {
        let mut kept = kept(2, &[5, 3, 4]);
        let some = |ps| Waited { looking: [(0, ps)].into(), ..Waited::default() };
        for (number, ps) in [(0, 100), (1, 50), (2, 30), (0, 20)] {
            kept.waited(number, &some(ps));
        }
        let waited: Vec<&Waited> = kept.longest.iter().map(|call| &call.waited).collect();
        assert_eq!(waited, [&some(120), &some(30)]);
    }
}
