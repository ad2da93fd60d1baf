//! Activities of devices as slices, and the assignment of stacks of calls to tracks: slices of a track do not cross.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::CoreSlice;
use super::flows::Flows;
use crate::activity::{Detail, Span, Track};
use crate::time::Ps;

/// The number of repetitions that get slices of their own: more of them, by one polling loop, are one slice.
pub const MOST_REPETITIONS: u64 = 64;
/// The number of details of a slice that stands for several: the first ones.
const MOST_DETAILS: usize = 4;

/// A slice of a device's track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The index of the track.
    pub track: u32,
    /// When it begins.
    pub begin: Ps,
    /// When it ends.
    pub end: Ps,
    /// The details: of repetitions of spans with different details, one of each.
    pub details: Vec<Detail>,
    /// The number of repetitions; more than 1 if the slice stands for all that a polling loop did.
    pub times: u64,
    /// The time of all repetitions together.
    pub busy: Ps,
    /// The index of the span that it begins with, which has its flows; `None` for repetitions.
    pub span: Option<usize>,
}

/// The order of slices: begin, distance from the core that they interrupt, number.
type Order = (Ps, Reverse<usize>, u64);

/// Slices of devices in the order of their begins: an interrupt comes before the interrupts that it leads to.
#[derive(Debug)]
pub struct Slices {
    spans: std::iter::Peekable<std::iter::Enumerate<std::vec::IntoIter<Span>>>,
    /// Tracks with recorded spans.
    tracks: Vec<u32>,
    /// By track: whether a span that follows without a pause extends the one before.
    joins: Vec<bool>,
    /// By span: its distance from the core.
    distances: BTreeMap<usize, usize>,
    window: (Ps, Ps),
    ready: BTreeMap<Order, Slice>,
    number: u64,
}

impl Slices {
    /// The slices of spans that are in the order of their begins.
    pub fn new(spans: Vec<Span>, tracks: &[Track], flows: &Flows, window: (Ps, Ps)) -> Slices {
        let mut used: Vec<u32> = spans.iter().map(|span| span.track).collect();
        used.sort_unstable();
        used.dedup();
        Slices {
            distances: flows.distances(),
            spans: spans.into_iter().enumerate().peekable(),
            tracks: used,
            joins: tracks.iter().map(|track| track.activity.joins()).collect(),
            window,
            ready: BTreeMap::new(),
            number: 0,
        }
    }

    /// The tracks of the slices.
    pub fn tracks(&self) -> impl Iterator<Item = u32> {
        self.tracks.iter().copied()
    }

    fn push(&mut self, slice: Slice) {
        let distance = slice.span.and_then(|place| self.distances.get(&place)).copied().unwrap_or(0);
        self.ready.insert((slice.begin, Reverse(distance), self.number), slice);
        self.number += 1;
    }

    /// Takes the next span. If a polling loop repeats it, takes all spans of the loop: what comes after it begins later
    /// than its last iteration.
    fn take(&mut self) {
        let Some((place, span)) = self.spans.next() else { return };
        if span.times == 1 {
            return self.push(Slice::of(place, span));
        }
        let last = span.instance(span.times - 1).0;
        let mut repeated: BTreeMap<u32, Vec<(usize, Span)>> = BTreeMap::new();
        repeated.entry(span.track).or_default().push((place, span));
        while let Some((place, span)) = self.spans.next_if(|(_, span)| span.begin < last) {
            if span.times == 1 {
                self.push(Slice::of(place, span));
            } else {
                repeated.entry(span.track).or_default().push((place, span));
            }
        }
        for (_, spans) in repeated {
            self.repeat(spans);
        }
    }

    /// Adds the spans of a loop's iterations on one track.
    fn repeat(&mut self, spans: Vec<(usize, Span)>) {
        let (from, to) = self.window;
        if spans.iter().any(|(_, span)| span.times_within(from, to) > MOST_REPETITIONS) {
            return self.push(Slice::of_all(&spans, self.window));
        }
        let mut each: Vec<Slice> = Vec::new();
        for (place, span) in &spans {
            let instances = span.instances_within(from, to).enumerate();
            each.extend(instances.map(|(nth, (begin, end))| {
                let details = vec![span.detail.clone()];
                let span = (nth == 0).then_some(*place);
                Slice { track: spans[0].1.track, begin, end, details, times: 1, busy: end - begin, span }
            }));
        }
        each.sort_by_key(|slice| slice.begin);
        let joins = self.joins[spans[0].1.track as usize];
        let mut joined: Vec<Slice> = Vec::new();
        for slice in each {
            if !joined.last_mut().is_some_and(|last| joins && last.goes_on_in(&slice)) {
                joined.push(slice);
            }
        }
        joined.into_iter().for_each(|slice| self.push(slice));
    }
}

impl Iterator for Slices {
    type Item = Slice;

    fn next(&mut self) -> Option<Slice> {
        while let Some((_, span)) = self.spans.peek()
            && self.ready.first_key_value().is_none_or(|((begin, ..), _)| span.begin <= *begin)
        {
            self.take();
        }
        self.ready.pop_first().map(|(_, slice)| slice)
    }
}

impl Slice {
    fn of(place: usize, span: Span) -> Slice {
        let Span { track, begin, end, detail, .. } = span;
        Slice { track, begin, end, details: vec![detail], times: 1, busy: end - begin, span: Some(place) }
    }

    /// One slice for all spans of a loop's iterations on a track.
    fn of_all(spans: &[(usize, Span)], (from, to): (Ps, Ps)) -> Slice {
        let mut all = Slice {
            track: spans[0].1.track,
            begin: Ps::MAX,
            end: Ps::ZERO,
            details: Vec::new(),
            times: 0,
            busy: Ps::ZERO,
            span: None,
        };
        for (_, span) in spans {
            let Some(within) = span.whole_within(from, to) else { continue };
            (all.begin, all.end) = (all.begin.min(within.begin), all.end.max(within.end));
            (all.times, all.busy) = (all.times + within.times, all.busy + within.busy);
            if all.details.len() < MOST_DETAILS && !all.details.contains(&span.detail) {
                all.details.push(span.detail.clone());
            }
        }
        all
    }

    /// Adds the other slice if it continues this one; false if not.
    fn goes_on_in(&mut self, other: &Slice) -> bool {
        let goes_on = self.end == other.begin && self.details[0].join(&other.details[0]);
        if goes_on {
            (self.end, self.busy) = (other.end, self.busy + other.busy);
        }
        goes_on
    }
}

/// A track for stacks of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The core's label.
    pub core: String,
    /// The task.
    pub task: String,
    /// The stacks, in the order of time.
    pub stacks: Vec<u32>,
}

/// The time of each stack's slices, by core and task.
type Stacks<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<u32, (Ps, Ps)>>;

/// The tracks for the slices: a task's stacks share a track unless one begins before another has ended. Two tasks with
/// one name that run alternately have a track each.
pub fn lanes(slices: &[CoreSlice]) -> Vec<Lane> {
    let mut stacks = Stacks::new();
    for slice in slices {
        let of_task = stacks.entry((&slice.core, &slice.task)).or_default();
        let ends = of_task.entry(slice.stack).or_insert((slice.begin, slice.end));
        *ends = (ends.0.min(slice.begin), ends.1.max(slice.end));
    }
    let mut lanes = Vec::new();
    for ((core, task), stacks) in stacks {
        let mut in_order: Vec<((Ps, Ps), u32)> = stacks.into_iter().map(|(stack, ends)| (ends, stack)).collect();
        in_order.sort_unstable();
        let mut of_task: Vec<(Ps, Lane)> = Vec::new();
        for ((begin, end), stack) in in_order {
            match of_task.iter_mut().find(|(ended, _)| *ended <= begin) {
                Some((ended, lane)) => {
                    *ended = end;
                    lane.stacks.push(stack);
                }
                None => {
                    let lane = Lane { core: core.to_owned(), task: task.to_owned(), stacks: vec![stack] };
                    of_task.push((end, lane));
                }
            }
        }
        lanes.extend(of_task.into_iter().map(|(_, lane)| lane));
    }
    lanes
}
