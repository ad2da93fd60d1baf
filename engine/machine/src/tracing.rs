//! Recording a run for a timeline ([`engine::observe::trace`]).

use super::{Machine, RunReport};
use engine::activity::Kinds;
use engine::observe::profile::Slices;
use engine::observe::trace::{Counters, Source, Timeline};
use engine::time::Ps;

/// The first interval between samples of totals; a window has some hundreds of samples.
const INTERVAL: Ps = Ps::from_us(100);
const SAMPLES_OF_WINDOW: u64 = 1000;

/// The contents of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The activities.
    pub kinds: Kinds,
    /// The functions that cores are in, too, for this many calls at the most.
    pub calls: Option<usize>,
    /// The memory limit: the oldest records are dropped first.
    pub most_bytes: usize,
    /// Start of the window.
    pub from: Ps,
    /// End of the window.
    pub to: Ps,
}

/// The recording of activities at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Activities are kept for a timeline.
    pub is_kept: bool,
    /// The kinds that are recorded, for any purpose.
    pub kinds: Kinds,
}

impl Machine {
    /// Records the run for a timeline from now on. It has no other effect.
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

    /// Which activities are recorded now, for a timeline or for others.
    pub fn recording(&self) -> Recording {
        Recording { is_kept: self.bus.activities.are_kept(), kinds: self.bus.activities.kinds() }
    }

    /// The timeline up to the machine's present time, with its totals there.
    pub fn timeline_so_far(&mut self) -> Timeline {
        let (totals, now) = (self.totals(), self.elapsed());
        self.totals_over_time.add(now, totals);
        self.timeline()
    }

    /// Stops recording for a timeline: recording continues as `before`. Functions are still followed.
    pub fn end_timeline(&mut self, before: Recording) {
        self.bus.activities.keep_no_more(before.kinds);
        self.totals_over_time = Counters::default();
        self.timeline_window = (Ps::ZERO, Ps::MAX);
    }

    /// The recorded timeline.
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

    /// The time at which totals are sampled, for a machine with a single core: with several cores, stopping one for it
    /// would change the order of their accesses.
    pub(super) fn sampled_at(&self) -> Ps {
        let alone = self.cores.len() == 1;
        self.totals_over_time.next().filter(|_| alone).unwrap_or(Ps::MAX)
    }

    /// The run is over: samples the last totals.
    pub(super) fn sample_last(&mut self, report: &RunReport) {
        if self.totals_over_time.next().is_some() {
            self.totals_over_time.add(report.elapsed, report.counters.iter().cloned());
        }
    }

    /// Samples the totals, if it is time.
    pub(super) fn sample_totals(&mut self, now: Ps) {
        if self.totals_over_time.next().is_some_and(|next| next <= now) {
            let totals = self.totals();
            self.totals_over_time.add(now, totals);
        }
    }
}
