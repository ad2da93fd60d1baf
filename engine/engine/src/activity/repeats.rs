//! Skipped iterations of polling loops: the spans of one iteration are repeated for each one that was skipped.

use super::recording::Recording;
use super::span::{Detail, Step};
use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};

/// A position in the recording. Empty if nothing is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Mark {
    pub(super) recorded: u64,
    pub(super) changes: u64,
    pub(super) begun: u64,
    /// Of open frames: track, number, and bytes so far.
    frames: Vec<(u32, u64, (u64, u64))>,
}

impl Recording {
    /// The current position. Spans before it do not change any more.
    #[inline]
    pub fn mark(&mut self) -> Mark {
        self.fixed = self.recorded();
        let frames = self.open.iter().filter_map(|(track, open)| match &open.detail {
            Detail::Data(data) => Some((*track, open.number, data.totals())),
            _ => None,
        });
        Mark { recorded: self.recorded(), changes: self.changes, begun: self.begun, frames: frames.collect() }
    }

    fn step(clock: Hz, cycles: u64, hz: u64, ends: (Ps, Ps)) -> Option<Step> {
        Step::of(clock, cycles, Hz::new(hz), ends)
    }

    pub fn can_repeat(&self, mark: &Mark, clock: Hz, cycles: u64) -> bool {
        if self.changes != mark.changes || self.first > mark.recorded {
            return false;
        }
        let mut recorded = self.ring.iter().skip((mark.recorded - self.first) as usize);
        if !recorded.all(|span| Recording::step(clock, cycles, span.step.hz, (span.begin, span.end)).is_some()) {
            return false;
        }
        // A span that was opened since continues where one that was opened before ended.
        let ended =
            |track: u32| self.ring.iter().skip((mark.recorded - self.first) as usize).any(|span| span.track == track);
        self.open.iter().all(|(track, open)| {
            let is_whole = match &open.detail {
                Detail::Data(data) => data.is_whole(),
                _ => true,
            };
            let is_new = open.number > mark.begun;
            let hz = open.clock.map_or(0, Hz::get);
            let moves = || Recording::step(clock, cycles, hz, (open.begin, open.begin)).is_some();
            is_whole && (!is_new || ended(*track) && moves())
        })
    }

    pub fn repeat(&mut self, mark: &Mark, clock: Hz, cycles: u64, count: u64) {
        if self.first > mark.recorded {
            return;
        }
        for span in self.ring.iter_mut().skip((mark.recorded - self.first) as usize) {
            if let Some(step) = Recording::step(clock, cycles, span.step.hz, (span.begin, span.end)) {
                (span.step, span.times) = (step, span.times + count);
            }
        }
        for (track, open) in &mut self.open {
            if open.number > mark.begun {
                let hz = open.clock.map_or(0, Hz::get);
                if let Some(step) = Recording::step(clock, cycles, hz, (open.begin, open.begin)) {
                    open.begin = step.shift(open.begin, count);
                }
            } else if let Detail::Data(data) = &mut open.detail {
                let before = mark.frames.iter().find(|(known, number, _)| (known, *number) == (track, open.number));
                data.repeat(before.map_or((0, 0), |(.., totals)| *totals), count);
            }
        }
        self.fixed = self.recorded();
    }
}
