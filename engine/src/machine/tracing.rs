//! Recording a run for a timeline ([`crate::observe::trace`]).

use super::{Machine, RunReport};
use crate::activity::Kinds;
use crate::observe::profile::Slices;
use crate::observe::trace::{Counters, Source, Timeline};
use crate::time::Ps;

/// Totals are looked at so often at first; a window has some hundreds of samples.
const INTERVAL: Ps = Ps::from_us(100);
const SAMPLES_OF_WINDOW: u64 = 1000;

/// What a timeline is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Which activities.
    pub kinds: Kinds,
    /// The functions that cores are in, too: of so many calls at the most.
    pub calls: Option<usize>,
    /// The memory for them: what was told first goes first.
    pub most_bytes: usize,
    /// From when on.
    pub from: Ps,
    /// Up to when.
    pub to: Ps,
}

/// What is being recorded of activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Somebody wants to see it later, as a timeline.
    pub is_kept: bool,
    /// Which kinds, for whomever.
    pub kinds: Kinds,
}

impl Machine {
    /// Has the run recorded for a timeline from now on. It changes nothing else.
    pub fn record_timeline(&mut self, recorded: Recorded) {
        let Recorded { kinds, calls, most_bytes, from, to } = recorded;
        if let Some(most) = calls {
            self.profile_slices(Slices { from, to, most });
        }
        self.bus.activities.start_until(kinds, most_bytes, to);
        let interval = Ps(to.saturating_sub(from).0 / SAMPLES_OF_WINDOW).min(INTERVAL);
        self.totals_over_time = Counters::new(from, to, interval);
        self.timeline_window = (from, to);
    }

    /// What is recorded now, if anything is kept for a timeline, and what for others.
    pub fn recording(&self) -> Recording {
        Recording { is_kept: self.bus.activities.are_kept(), kinds: self.bus.activities.kinds() }
    }

    /// What was recorded up to where the machine is, with its totals there.
    pub fn timeline_so_far(&mut self) -> Timeline {
        let (totals, now) = (self.totals(), self.elapsed());
        self.totals_over_time.add(now, totals);
        self.timeline()
    }

    /// Records no more for a timeline: what was recorded `before` goes on. Functions are followed on.
    pub fn end_timeline(&mut self, before: Recording) {
        self.bus.activities.keep_no_more(before.kinds);
        self.totals_over_time = Counters::default();
        self.timeline_window = (Ps::ZERO, Ps::MAX);
    }

    /// What was recorded.
    pub fn timeline(&mut self) -> Timeline {
        let profiles = self.profiles();
        let (from, to) = self.timeline_window;
        let source = Source {
            cores: self.cores.iter().map(|core| core.name().to_owned()).collect(),
            from,
            to: to.min(self.elapsed()),
            counters: self.totals_over_time.clone(),
            slices: self.functions_in(&profiles),
            tasks: self.tasks_in(&profiles),
        };
        Timeline::new(&self.bus.activities, source)
    }

    /// When totals are to be looked at, where a core alone may stop for that: with others beside, when they see each
    /// other would depend on it.
    pub(super) fn sampled_at(&self) -> Ps {
        let alone = self.cores.len() == 1;
        self.totals_over_time.next().filter(|_| alone).unwrap_or(Ps::MAX)
    }

    /// The run is over: its last totals.
    pub(super) fn sample_last(&mut self, report: &RunReport) {
        if self.totals_over_time.next().is_some() {
            self.totals_over_time.add(report.elapsed, report.counters.iter().cloned());
        }
    }

    /// Looks at the totals, if it is time.
    pub(super) fn sample_totals(&mut self, now: Ps) {
        if self.totals_over_time.next().is_some_and(|next| next <= now) {
            let totals = self.totals();
            self.totals_over_time.add(now, totals);
        }
    }
}
