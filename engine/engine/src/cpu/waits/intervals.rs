//! Intervals from one edge of windows (`machine::windows`) to the next, with the waits in each.
//!
//! Waits are attributed some time after they have ended, and one may continue beyond an edge. So edges are recorded,
//! and waits are split there, with their time and accesses, when they are attributed. A call, and its time, counts as a
//! whole in the interval in which it ends.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::sharing::{Growth, Waited};
use super::{MOST_BETWEEN, MOST_BETWEEN_ANSWERS, Point, Waits, between};
use crate::bus::Bus;
use crate::cpu::memory_system::Accounts;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// Number of ended calls that began in an earlier interval, from which those are dropped whose waits have all been
/// attributed.
const MANY_ENDED: usize = 1 << 10;

/// The calls of watched functions at an edge.
pub struct CallsAtEdge {
    /// Number of calls that have begun: it is one more than the last call's number.
    pub begun: u64,
    /// The calls under way, in order: the function, and the call's number.
    pub open: Vec<(usize, u64)>,
}

/// An edge.
#[derive(Clone, Debug, State, Fresh)]
struct Edge {
    /// The number of the interval that begins here.
    interval: u32,
    at: Ps,
    /// Calls that had begun.
    begun: u64,
}

/// A core's state at an edge, or at several between which it accessed nothing.
#[derive(Clone, Debug, State, Fresh)]
struct Stood {
    cycle: u64,
    memory: Accounts,
    /// The interval that ended there.
    ended: u32,
}

/// Waits in one or several intervals.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct IntervalWaits {
    /// All waits.
    pub all: Waited,
    /// Waits in calls that ended then, by function.
    pub sections: BTreeMap<usize, Waited>,
}

impl IntervalWaits {
    fn add(&mut self, more: &IntervalWaits) {
        self.all.add(&more.all);
        more.sections.iter().for_each(|(section, waited)| self.sections.entry(*section).or_default().add(waited));
    }
}

/// The intervals of a core. The first, before any edge, has the number 0.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Intervals {
    edges: Vec<Edge>,
    of: BTreeMap<u32, IntervalWaits>,
    /// Numbers of calls under way at the last edge, in order.
    open: Vec<u64>,
    /// By call number: intervals in which calls ended that had begun in earlier ones.
    ended: BTreeMap<u64, u32>,
    /// Edges beyond which a wait may continue.
    stood: Vec<Stood>,
}

impl Intervals {
    /// True if there has been no edge.
    pub fn are_none(&self) -> bool {
        self.edges.is_empty()
    }

    /// The current interval.
    fn last(&self) -> u32 {
        self.edges.last().map_or(0, |edge| edge.interval)
    }

    /// The interval that contains a time.
    pub fn at(&self, time: Ps) -> u32 {
        let place = self.edges.partition_point(|edge| edge.at <= time);
        place.checked_sub(1).map_or(0, |place| self.edges[place].interval)
    }

    /// Splits pieces of time that follow each other so that each is in one interval.
    pub fn cut<'a>(&self, pieces: &'a [(Ps, Ps)]) -> Cow<'a, [(Ps, Ps)]> {
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Cow::Borrowed(pieces) };
        let from = self.edges.partition_point(|edge| edge.at <= first.0);
        let to = self.edges.partition_point(|edge| edge.at < last.1);
        if from >= to {
            return Cow::Borrowed(pieces);
        }
        let mut cut = Vec::with_capacity(pieces.len() + to - from);
        for (begin, end) in pieces {
            let mut begin = *begin;
            for edge in &self.edges[from..to] {
                if begin < edge.at && edge.at < *end {
                    cut.push((begin, edge.at));
                    begin = edge.at;
                }
            }
            cut.push((begin, *end));
        }
        Cow::Owned(cut)
    }

    /// Growth of the sums of accesses between two points; the second is in the current interval.
    pub(super) fn grown(&self, from: &Point, to: &Point) -> Growth {
        let mut growth = Growth::default();
        let mut before = &from.memory;
        let first = self.stood.partition_point(|stood| stood.cycle <= from.cycle);
        for stood in &self.stood[first..] {
            growth.extend(stood.ended, before, &stood.memory);
            before = &stood.memory;
        }
        growth.extend(self.last(), before, &to.memory);
        growth
    }

    /// Follows a change of the clock: cycles are renumbered, and no wait is under way.
    pub(super) fn change_clock(&mut self) {
        self.stood.clear();
    }

    /// Begins an interval with this number, at a time, with the core's state at a point. Waits that ended before
    /// `reported` are complete; those that may continue began in `cycle` or later, if there are any.
    fn begin(
        &mut self,
        interval: u32,
        (at, reported): (Ps, Ps),
        point: &Point,
        cycle: Option<u64>,
        calls: &CallsAtEdge,
    ) {
        let ending = self.last();
        let is_open = |call: &u64| calls.open.binary_search_by_key(call, |(_, number)| *number).is_ok();
        self.ended.extend(self.open.iter().filter(|call| !is_open(call)).map(|call| (*call, ending)));
        self.open.clear();
        self.open.extend(calls.open.iter().map(|(_, number)| *number));
        self.edges.push(Edge { interval, at, begun: calls.begun });
        if self.ended.len() > MANY_ENDED {
            let oldest = self.at(reported);
            self.ended.retain(|_, interval| *interval >= oldest);
        }
        self.stood.retain(|stood| cycle.is_some_and(|cycle| cycle < stood.cycle));
        let is_new = self.stood.last().is_none_or(|stood| stood.memory != point.memory);
        if cycle.is_some() && is_new {
            self.stood.push(Stood { cycle: point.cycle, memory: point.memory.clone(), ended: ending });
        }
    }

    /// Adds waits to an interval.
    pub fn add(&mut self, interval: u32, waited: &Waited) {
        if !self.are_none() {
            self.of.entry(interval).or_default().all.add(waited);
        }
    }

    /// Adds waits of calls that have ended.
    pub fn add_calls(&mut self, ended: &[((usize, u64), Waited)]) {
        if self.are_none() {
            return;
        }
        for ((section, number), waited) in ended {
            let of = self.of.entry(self.ended_in(*number)).or_default();
            of.sections.entry(*section).or_default().add(waited);
        }
    }

    /// The interval in which a call ended.
    fn ended_in(&self, number: u64) -> u32 {
        if let Some(interval) = self.ended.get(&number) {
            return *interval;
        }
        if self.open.binary_search(&number).is_ok() {
            return self.last();
        }
        let place = self.edges.partition_point(|edge| edge.begun <= number);
        place.checked_sub(1).map_or(0, |place| self.edges[place].interval)
    }

    /// The waits from the start of one interval to that of another.
    pub fn between(&self, from: u32, to: u32) -> IntervalWaits {
        let mut sum = IntervalWaits::default();
        self.of.range(from..to.max(from)).for_each(|(_, of)| sum.add(of));
        sum
    }
}

impl Waits {
    /// Begins an interval with this number, with the core at this cycle after `instructions`.
    pub fn begin_interval(
        &mut self,
        interval: u32,
        (cycle, instructions): (u64, u64),
        memory: &Accounts,
        calls: &CallsAtEdge,
    ) {
        self.end_run();
        let instructions = instructions.wrapping_sub(self.skipped_instructions);
        let point = Point { cycle, instructions, idle: self.slept, memory: memory.clone() };
        self.looks.retain(|look| between(&look.at, &point) <= MOST_BETWEEN);
        self.answers.retain(|answer| between(&answer.look.at, &point) <= MOST_BETWEEN_ANSWERS);
        let looks = self.looks.iter().map(|look| look.at.cycle);
        let oldest = looks.chain(self.answers.iter().map(|answer| answer.from.cycle)).min();
        let (at, reported) = (self.time(cycle), self.begins().min().unwrap_or(Ps::MAX));
        // Ended calls, whose further waits may come later, are recorded before any is dropped.
        self.intervals.begin(interval, (at, reported.min(at)), &point, oldest, calls);
        self.intervals.add_calls(self.shared.close_calls(&calls.open));
    }

    /// The intervals with all waits so far; these calls are under way.
    pub fn by_interval(&self, bus: &Bus, open: &[(usize, u64)]) -> Intervals {
        let (mut shared, mut ranks, mut intervals) = (self.shared.clone(), self.ranks.clone(), self.intervals.clone());
        for episode in self.pending.iter().chain(&self.run_so_far()) {
            shared.share(bus, &mut ranks, &mut intervals, episode);
        }
        intervals.add_calls(shared.close_calls(open));
        intervals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{MapEntry, Target};
    use crate::cpu::memory_system::Purpose;
    use proptest::prelude::*;

    fn calls(begun: u64, open: &[u64]) -> CallsAtEdge {
        CallsAtEdge { begun, open: open.iter().map(|number| (0, *number)).collect() }
    }

    fn waited(ps: u64) -> Waited {
        Waited { looking: [(0, ps)].into(), ..Waited::default() }
    }

    fn looked(of: &Waited) -> u64 {
        of.looking.get(&0).copied().unwrap_or_default()
    }

    #[test]
    fn a_call_counts_in_the_interval_in_which_it_ends() {
        let mut intervals = Intervals::default();
        // Calls 0 and 1 end before the first edge, 2 in interval 1, 3 in interval 2, 4 and 5 in interval 1, 6 in
        // interval 4.
        let edges = [(3, &[2][..]), (6, &[3]), (6, &[]), (6, &[]), (7, &[])];
        for (interval, (begun, open)) in (1..).zip(edges) {
            let at = Ps(100 * u64::from(interval));
            intervals.begin(interval, (at, Ps::ZERO), &Point::default(), None, &calls(begun, open));
        }
        let ended: Vec<u32> = (0..8).map(|number| intervals.ended_in(number)).collect();
        assert_eq!(ended, [0, 0, 1, 2, 1, 1, 4, 5]);
        // A call that is under way at the last edge, and ends.
        intervals.begin(6, (Ps(600), Ps::ZERO), &Point::default(), None, &calls(9, &[8]));
        assert_eq!((intervals.ended_in(7), intervals.ended_in(8)), (5, 6));
        intervals.add_calls(&[((0, 3), waited(10)), ((0, 8), waited(5)), ((0, 3), waited(1))]);
        let sections = |from, to| intervals.between(from, to).sections.get(&0).map_or(0, looked);
        assert_eq!((sections(0, 2), sections(2, 3), sections(3, 7), sections(0, 7)), (0, 11, 5, 16));
    }

    #[test]
    fn calls_that_ended_long_ago_are_forgotten() {
        let mut intervals = Intervals::default();
        for n in 0..3 * MANY_ENDED as u64 {
            let at = Ps(100 * n);
            intervals.begin(n as u32 + 1, (at, at), &Point::default(), None, &calls(n + 1, &[n]));
        }
        assert!(intervals.ended.len() <= MANY_ENDED + 1, "{}", intervals.ended.len());
        assert_eq!(intervals.ended_in(3 * MANY_ENDED as u64 - 2), 3 * MANY_ENDED as u32 - 1);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_where_waits_are_cut(
            edges in prop::collection::btree_set(0..200u64, 0..12),
            pieces in prop::collection::vec((0..9u64, 1..60u64), 1..6),
            // By cycle: the duration of an access, at one of two targets.
            accesses in prop::collection::btree_map(0..200u64, (any::<bool>(), 0..3u64), 0..40),
            from in 0..200u64,
        ) {
            let mut bus = Bus::default();
            for base in [0, 0x1000] {
                let (name, target) = ("ram", Target::Ram(0));
                bus.map.push(MapEntry::new(name, base, base + 0xfff, target));
            }
            let at = |cycle: u64| {
                let mut memory = Accounts::default();
                memory.follow(&bus);
                for (_, (first, cycles)) in accesses.range(..cycle) {
                    memory.add_at(usize::from(*first), Purpose::Load, *cycles, 1);
                }
                Point { cycle, memory, ..Point::default() }
            };
            let mut intervals = Intervals::default();
            for (interval, cycle) in (1..).zip(&edges) {
                intervals.begin(interval, (Ps(*cycle), Ps::ZERO), &at(*cycle), Some(from), &calls(0, &[]));
            }
            let (from, to) = (at(from), at(200));
            let grown = intervals.grown(&from, &to);
            let mut whole = Growth::default();
            whole.extend(0, &from.memory, &to.memory);
            for (sum, cycles) in whole.sums() {
                prop_assert_eq!(grown.sums().filter(|(known, _)| *known == sum).map(|(_, n)| n).sum::<u64>(), cycles);
            }
            // Each interval has exactly its own accesses.
            for (interval, sum, cycles) in grown.by_interval() {
                let begin = interval.checked_sub(1).map_or(0, |before| intervals.edges[before as usize].at.0);
                let end = intervals.edges.get(interval as usize).map_or(200, |edge| edge.at.0);
                let mut own = Growth::default();
                own.extend(0, &at(begin.max(from.cycle)).memory, &at(end).memory);
                prop_assert_eq!(own.sums().filter(|(known, _)| *known == sum).map(|(_, n)| n).sum::<u64>(), cycles);
            }
            // Pieces of time in order, with gaps.
            let mut last = 0;
            let pieces: Vec<(Ps, Ps)> = pieces.iter().map(|(gap, length)| {
                let begin = last + gap;
                last = begin + length;
                (Ps(begin), Ps(last))
            }).collect();
            let cut = intervals.cut(&pieces);
            let is_in_one = |begin: &Ps, end: &Ps| begin < end && intervals.at(*begin) == intervals.at(Ps(end.0 - 1));
            prop_assert!(cut.iter().all(|(begin, end)| is_in_one(begin, end)));
            let time = |pieces: &[(Ps, Ps)]| pieces.iter().map(|(begin, end)| end.0 - begin.0).sum::<u64>();
            prop_assert_eq!(time(&cut), time(&pieces));
            prop_assert!(cut.windows(2).all(|two| two[0].1 <= two[1].0));
        }
    }
}
