//! Skipping of polling loops: devices list their state to show that only time passes in a loop.
//!
//! A core that runs the same loop of device accesses repeatedly, in the same state each time, can be fast-forwarded by
//! many iterations at once, with exactly the same result, for as long as no device changes its answers. For that, each
//! device (and each chip on its wires) lists its state to a [`Poll`] at two points of the loop, one iteration apart. If
//! both lists are equal, iterations can be skipped up to the first of the deadlines in them. The same list then updates
//! everything that depends on time: ends of transfers in progress, and totals.

mod listing;

pub use self::listing::{Edge, End, Phase, Polled, Total, Until};

use crate::time::{Cycles, Hz, Ps};

/// The purpose of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// To record the state.
    Look,
    /// To fast-forward by this many iterations of this many cycles.
    Skip { iterations: u64, cycles: Cycles },
}

/// A list of state, made by [`Polled::polled`].
///
/// Every implementation lists *all* state that its answers can depend on, in the same order each time. A configuration
/// that the firmware cannot change is not listed.
#[derive(Debug)]
pub struct Poll {
    purpose: Purpose,
    clock: Hz,
    now: Cycles,
    state: Vec<u64>,
    /// When something ends; zero if it has ended.
    ends: Vec<Cycles>,
    counters: Vec<u64>,
    /// Edges of other clocks: the edge's number, and the clock's count.
    edges: Vec<(u64, u64)>,
    /// Deadlines of loops that read something that changes then: the number of reads so far, and the deadline.
    looked_at: Vec<(u64, Ps)>,
    /// Which of the ends move along with the loop, and how much each counter grows in an iteration; in order.
    moving: Vec<bool>,
    growth: Vec<u64>,
    next_end: usize,
    next_counter: usize,
    next_edge: usize,
    /// How far each edge moves in an iteration, if it does.
    edge_steps: Vec<u64>,
    until: Ps,
    sound: bool,
}

impl Poll {
    /// An empty list of the state at cycle `now` of the polling core's `clock`.
    pub fn look(clock: Hz, now: Cycles) -> Poll {
        Poll {
            purpose: Purpose::Look,
            clock,
            now,
            state: Vec::new(),
            ends: Vec::new(),
            counters: Vec::new(),
            edges: Vec::new(),
            looked_at: Vec::new(),
            moving: Vec::new(),
            growth: Vec::new(),
            next_end: 0,
            next_counter: 0,
            next_edge: 0,
            edge_steps: Vec::new(),
            until: Ps::MAX,
            sound: true,
        }
    }

    /// The clock of the polling core. A device with times in the cycles of another clock cannot be fast-forwarded
    /// exactly: it refuses.
    #[inline]
    pub fn clock(&self) -> Hz {
        self.clock
    }

    /// The time of the list.
    #[inline]
    pub fn now(&self) -> Ps {
        self.clock.ps_at_floor(self.now)
    }

    /// State that has to be the same one iteration later.
    #[inline]
    pub fn state(&mut self, value: impl Into<u64>) {
        if self.purpose == Purpose::Look {
            self.state.push(value.into());
        }
    }

    /// The device's accesses happen on the edges of `clock`: the loop's phase between them is part of the state. If the
    /// clock never falls in step with [`Poll::clock`], no two iterations have the same phase.
    #[inline]
    pub fn phase(&mut self, clock: Hz) {
        match self.clock.cycles_in_step(clock) {
            Some(cycles) => self.state(self.now.0 % cycles.0),
            None => self.refuse(),
        }
    }

    /// The number of an edge of `clock`, whose [`Poll::phase`] is listed, at which something happened or will happen.
    /// It stays fixed, or moves along with the loop. It is no deadline: an effect that becomes visible has an end of
    /// its own.
    #[inline]
    pub fn edge(&mut self, clock: Hz, edge: &mut u64) {
        match self.purpose {
            Purpose::Look => self.edges.push((*edge, clock.cycles_until_floor(self.now()).0)),
            Purpose::Skip { iterations, .. } => {
                *edge += iterations * self.edge_steps.get(self.next_edge).copied().unwrap_or(0);
                self.next_edge += 1;
            }
        }
    }

    /// As [`Poll::edge`], for an edge that is stored in picoseconds. A time between two edges can't be moved exactly:
    /// it has to stay.
    #[inline]
    pub fn edge_ps(&mut self, clock: Hz, at: &mut Ps) {
        let edge = clock.cycles_until_ceil(*at).0;
        if clock.ps_at_floor(Cycles(edge)) != *at {
            self.state(at.0);
            return;
        }
        let mut moved = edge;
        self.edge(clock, &mut moved);
        if moved != edge {
            *at = clock.ps_at_floor(Cycles(moved));
        }
    }

    /// A time, in cycles of [`Poll::clock`], at which something ends that the firmware started, for example a transfer.
    /// If the loop starts one each iteration, the end moves along with it; else it is a deadline. Once it has passed,
    /// only that fact counts.
    #[inline]
    pub fn end(&mut self, at: &mut Cycles) {
        at.0 += self.step_of_end(*at);
    }

    /// Lists an end. Returns by how many cycles it moves now: 0 in a look, which changes nothing.
    #[inline]
    fn step_of_end(&mut self, at: Cycles) -> u64 {
        match self.purpose {
            Purpose::Look => {
                self.ends.push(if at > self.now { at } else { Cycles(0) });
                0
            }
            Purpose::Skip { iterations, cycles } => {
                let moves = self.moving.get(self.next_end) == Some(&true);
                self.next_end += 1;
                if moves { iterations * cycles.0 } else { 0 }
            }
        }
    }

    /// As [`Poll::end`], for a time stored in picoseconds: it has to be an edge of the polling clock while it is in the
    /// future.
    #[inline]
    pub fn end_ps(&mut self, at: &mut Ps) {
        let cycles = self.clock.cycles_until_ceil(*at);
        if cycles > self.now && self.clock.ps_at_floor(cycles) != *at {
            self.refuse();
        }
        let step = self.step_of_end(cycles);
        if step > 0 {
            *at = self.clock.ps_at_floor(Cycles(cycles.0 + step));
        }
    }

    /// As [`Poll::end_ps`], for the number of an edge of `clock`.
    #[inline]
    pub fn end_edge(&mut self, clock: Hz, edge: &mut u64) {
        let at = clock.ps_at_floor(Cycles(*edge));
        let mut moved = at;
        self.end_ps(&mut moved);
        if moved != at {
            *edge = clock.cycles_until_ceil(moved).0;
        }
    }

    /// A total since reset, which may grow by the same number each iteration.
    #[inline]
    pub fn counter(&mut self, total: &mut u64) {
        match self.purpose {
            Purpose::Look => self.counters.push(*total),
            Purpose::Skip { iterations, .. } => {
                *total += iterations * self.growth.get(self.next_counter).copied().unwrap_or(0);
                self.next_counter += 1;
            }
        }
    }

    /// A deadline independent of the loop (the end of a busy time): from then on answers may differ. A time that has
    /// passed is ignored.
    #[inline]
    pub fn until(&mut self, deadline: Ps) {
        if deadline > self.now() {
            self.until = self.until.min(deadline);
        }
    }

    /// [`Poll::until`] for loops that read something that changes then: `looks` is the number of reads so far. Other
    /// loops ignore it.
    #[inline]
    pub fn until_for(&mut self, looks: u64, deadline: Ps) {
        if self.purpose == Purpose::Look {
            self.looked_at.push((looks, deadline));
        }
    }

    /// The state can't be listed: no iteration may be skipped.
    #[inline]
    pub fn refuse(&mut self) {
        self.sound = false;
    }

    /// True if an iteration from the state `before` to the state `self` changed nothing but times and totals.
    pub fn repeats(&self, before: &Poll) -> bool {
        // A deadline that passed within the iteration may have come after the last access that could show it.
        self.sound
            && before.sound
            && before.until > self.now()
            && before.looked_at_until(self) > self.now()
            && self.state == before.state
            && self.ends.len() == before.ends.len()
            && self
                .ends
                .iter()
                .zip(&before.ends)
                .all(|(after, before_end)| after == before_end || self.moves(*after, *before_end, before))
            && self.edges.len() == before.edges.len()
            && self.edges.iter().zip(&before.edges).all(|(after, before)| edge_steps(*after, *before).is_some())
            && self.counters.len() == before.counters.len()
            && self.counters.iter().zip(&before.counters).all(|(after, before)| after >= before)
    }

    /// The first deadline: one that was listed, or an end that stayed fixed in the iteration since `before`.
    #[inline]
    pub fn deadline(&self, before: &Poll) -> Ps {
        let ends = self.ends.iter().zip(&before.ends);
        let staying = ends.filter(|(after, before)| after == before && after.0 != 0).map(|(after, _)| *after);
        let until = self.until.min(self.looked_at_until(before));
        staying.min().map_or(until, |end| until.min(self.clock.ps_at_floor(end)))
    }

    /// The first of this list's deadlines for things that were read in the iteration between it and `other`.
    fn looked_at_until(&self, other: &Poll) -> Ps {
        let pairs = self.looked_at.iter().zip(&other.looked_at);
        pairs.filter(|(own, other)| own.0 != other.0).map(|(own, _)| own.1).min().unwrap_or(Ps::MAX)
    }

    /// The latest future end that moves along with the loop, whose first iteration began in the state `before`; zero if
    /// no end moves.
    #[inline]
    pub fn latest_end(&self, before: &Poll) -> Cycles {
        let ends = self.ends.iter().zip(&before.ends);
        let moving = ends.filter(|(after, end)| self.moves(**after, **end, before));
        moving.map(|(after, _)| *after).max().unwrap_or_default()
    }

    /// True if a future end is as far ahead as its predecessor was one iteration before.
    fn moves(&self, after: Cycles, earlier: Cycles, before: &Poll) -> bool {
        after.0 != 0 && earlier.0 != 0 && after.0 - self.now.0 == earlier.0 - before.now.0
    }

    /// The list that fast-forwards the loop by `iterations`, each like the one from `before` to `self`.
    #[inline]
    pub fn skip(mut self, before: &Poll, iterations: u64) -> Poll {
        let cycles = Cycles(self.now.0 - before.now.0);
        self.growth = self.counters.iter().zip(&before.counters).map(|(after, before)| after - before).collect();
        self.moving = self.ends.iter().zip(&before.ends).map(|(after, end)| self.moves(*after, *end, before)).collect();
        let edges = self.edges.iter().zip(&before.edges);
        self.edge_steps = edges.map(|(after, before)| edge_steps(*after, *before).unwrap_or(0)).collect();
        self.purpose = Purpose::Skip { iterations, cycles };
        self
    }
}

/// The cycle of `clock` until which a loop certainly repeats whose devices have these lists, each with the list one
/// iteration before: the first deadline, less the time by which work that the loop starts ends, and may be seen by a
/// chip, later than the loop's own time, `cycle`.
pub fn repeats_until<'a>(lists: impl Iterator<Item = (&'a Poll, &'a Poll)> + Clone, clock: Hz, cycle: u64) -> u64 {
    let deadline = lists.clone().map(|(after, before)| after.deadline(before)).min().unwrap_or(Ps::MAX);
    let ahead = lists.map(|(after, before)| after.latest_end(before).0.saturating_sub(cycle)).max().unwrap_or(0);
    match deadline {
        Ps::MAX => u64::MAX,
        deadline => clock.cycles_until_floor(deadline).0.saturating_sub(ahead),
    }
}

/// How far an edge moved together with its clock, each given with the clock's count: 0 if it stayed; `None` if it did
/// neither.
fn edge_steps((after, now): (u64, u64), (before, then): (u64, u64)) -> Option<u64> {
    let step = now - then;
    (after == before).then_some(0).or_else(|| (after.checked_sub(before) == Some(step)).then_some(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transfer in progress, a total, a register, and a busy time.
    struct Part {
        end: Cycles,
        end_ps: Ps,
        transfers: u64,
        register: u32,
        busy_until: Ps,
    }

    impl Part {
        fn polled(&mut self, poll: &mut Poll) {
            poll.end(&mut self.end);
            poll.end_ps(&mut self.end_ps);
            poll.counter(&mut self.transfers);
            poll.state(self.register);
            poll.until(self.busy_until);
        }
    }

    fn clock() -> Hz {
        Hz::new(99_038_462).unwrap()
    }

    fn part(cycle: u64, transfers: u64) -> Part {
        let end = Cycles(cycle + 34);
        Part { end, end_ps: clock().ps_at_floor(end), transfers, register: 7, busy_until: Ps::from_us(900) }
    }

    fn look(part: &mut Part, now: u64) -> Poll {
        let mut poll = Poll::look(clock(), Cycles(now));
        part.polled(&mut poll);
        poll
    }

    #[test]
    fn equal_iterations_are_fast_forwarded() {
        let (before, mut after) = (look(&mut part(1000, 5), 1000), part(1060, 7));
        let list = look(&mut after, 1060);
        assert!(list.repeats(&before));
        assert_eq!(list.deadline(&before), Ps::from_us(900));
        after.polled(&mut list.skip(&before, 10));
        assert_eq!((after.end, after.transfers), (Cycles(1060 + 34 + 600), 27));
        assert_eq!(after.end_ps, clock().ps_at_floor(after.end));
    }

    #[test]
    fn a_look_changes_no_time_even_where_it_refuses() {
        let slower = Hz::new(32_768).unwrap();
        let between_edges = Ps(clock().ps_at_floor(Cycles(1094)).0 - 1);
        let (mut part, mut edge, mut at) = (Part { end_ps: between_edges, ..part(1000, 5) }, 5, between_edges);
        let mut look = || {
            let mut poll = Poll::look(clock(), Cycles(1000));
            part.polled(&mut poll);
            poll.end_edge(slower, &mut edge);
            poll.edge_ps(slower, &mut at);
            poll
        };
        let (before, after) = (look(), look());
        assert!(!after.repeats(&before));
        assert_eq!(format!("{after:?}"), format!("{before:?}"));
        assert_eq!((part.end_ps, edge, at), (between_edges, 5, between_edges));
    }

    #[test]
    fn ends_and_edges_of_a_slower_clock_move_along() {
        let slower = Hz::new(33_000_000).unwrap();
        let at = |now: u64, end: u64| {
            let mut poll = Poll::look(Hz::new(99_000_000).unwrap(), Cycles(now));
            let (mut edge, mut time) = (end, slower.ps_at_floor(Cycles(end)));
            poll.end_edge(slower, &mut edge);
            poll.edge_ps(slower, &mut time);
            poll
        };
        let (before, after) = (at(999, 400), at(1059, 420));
        assert!(after.repeats(&before));
        let (mut edge, mut time) = (420, slower.ps_at_floor(Cycles(420)));
        let mut skip = after.skip(&before, 10);
        skip.end_edge(slower, &mut edge);
        skip.edge_ps(slower, &mut time);
        assert_eq!((edge, time), (620, slower.ps_at_floor(Cycles(620))));
    }

    #[test]
    fn what_differs_is_no_repetition() {
        let before = look(&mut part(1000, 5), 1000);
        let other_register = &mut Part { register: 8, ..part(1060, 7) };
        assert!(!look(other_register, 1060).repeats(&before));
        let other_end = &mut Part { end: Cycles(1060 + 33), ..part(1060, 7) };
        assert!(!look(other_end, 1060).repeats(&before));
        let late = &mut Part { busy_until: clock().ps_at_floor(Cycles(1050)), ..part(1000, 5) };
        assert!(!look(&mut part(1060, 7), 1060).repeats(&look(late, 1000)));
        let between_edges = &mut Part { end_ps: Ps(clock().ps_at_floor(Cycles(1094)).0 - 1), ..part(1060, 7) };
        assert!(!look(between_edges, 1060).repeats(&before));
    }

    #[test]
    fn iterations_repeat_between_the_same_edges_of_a_slower_clock() {
        let at = |now: u64, slower: u64| {
            let mut poll = Poll::look(Hz::new(498_000_000).unwrap(), Cycles(now));
            poll.phase(Hz::new(slower).unwrap());
            poll
        };
        assert!(at(1060, 83_000_000).repeats(&at(1000, 83_000_000)));
        assert!(!at(1061, 83_000_000).repeats(&at(1000, 83_000_000)));
        assert!(at(1061, 498_000_000).repeats(&at(1000, 498_000_000)));
        assert!(!at(1060, 82_000_000).repeats(&at(1000, 82_000_000)));
    }

    #[test]
    fn an_edge_stays_or_moves_and_is_no_deadline() {
        let slower = Hz::new(80_000_000).unwrap();
        let at = |now: u64, edges: [u64; 2]| {
            let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(now));
            poll.phase(slower);
            edges.into_iter().for_each(|mut edge| poll.edge(slower, &mut edge));
            poll
        };
        // 50 cycles are 40 edges. One edge has passed and stays, one is ahead and moves.
        let (before, after) = (at(1000, [700, 900]), at(1050, [700, 940]));
        assert!(after.repeats(&before));
        assert_eq!((after.deadline(&before), after.latest_end(&before)), (Ps::MAX, Cycles(0)));
        let mut skip = after.skip(&before, 10);
        let edges = [700, 940].map(|mut edge| {
            skip.edge(slower, &mut edge);
            edge
        });
        assert_eq!(edges, [700, 1340]);
        assert!(!at(1050, [700, 939]).repeats(&before));
        assert!(!at(1052, [700, 940]).repeats(&before), "between other edges");
    }

    #[test]
    fn what_changes_by_itself_matters_to_loops_that_look_at_it() {
        let at = |now: u64, looks: u64, next: u64| {
            let mut poll = Poll::look(clock(), Cycles(now));
            poll.until_for(looks, clock().ps_at_floor(Cycles(next)));
            poll
        };
        let before = at(1000, 5, 1100);
        assert_eq!(at(1060, 5, 1100).deadline(&before), Ps::MAX);
        assert!(at(1160, 5, 1200).repeats(&before));
        assert_eq!(at(1060, 6, 1100).deadline(&before), clock().ps_at_floor(Cycles(1100)));
        assert!(at(1060, 6, 1100).repeats(&before));
        assert!(!at(1160, 6, 1200).repeats(&before), "it has changed in between");
    }

    #[test]
    fn an_end_that_stays_is_a_deadline() {
        let (mut early, mut late) = (part(1000, 5), part(1000, 5));
        let (before, list) = (look(&mut early, 1000), look(&mut late, 1010));
        assert!(list.repeats(&before));
        assert_eq!(list.deadline(&before), late.end_ps);
        late.polled(&mut list.skip(&before, 2));
        assert_eq!(late.end, Cycles(1034));
    }

    #[test]
    fn times_that_have_passed_stay_where_they_are() {
        let (mut early, mut late) = (part(100, 1), part(100, 1));
        early.busy_until = Ps::ZERO;
        late.busy_until = Ps::ZERO;
        let (before, list) = (look(&mut early, 1000), look(&mut late, 1060));
        assert!(list.repeats(&before));
        assert_eq!(list.deadline(&before), Ps::MAX);
        late.polled(&mut list.skip(&before, 10));
        assert_eq!((late.end, late.transfers), (Cycles(134), 1));
    }
}
