//! The run loop: chooses the core that runs next, and how far.
//!
//! The core with the earliest local time runs, up to a quantum ahead of the others; [`engine::order`] keeps their
//! effects on each other in order. A core that waits for an interrupt stays where it is until one of its inputs goes
//! up: then it continues from that time. If all cores wait, their time advances to the next event.

use super::exchange::Pause;
use super::{Machine, Outcome, SLICE_CYCLES};
use engine::activity::{Detail, HELD_IN_RESET, IDLE, Kind};
use engine::clocks::{Change, User};
use engine::core::{Counted, Stop};
use engine::observe::profile::CoreProfile;
use engine::observe::waits::HELD;
use engine::state::{Fresh, State};
use engine::time::{Cycles, Ps};

/// What a core is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub(super) enum Activity {
    /// It runs instructions.
    #[default]
    Running,
    /// It waits for an interrupt.
    Waiting,
    /// It is held in reset.
    Held,
}

/// The scheduling state of a core.
#[derive(Clone, Debug, Default, State, Fresh)]
pub(super) struct Progress {
    pub activity: Activity,
    /// It waited at the end of its last run: an event may have woken it since.
    waited: bool,
    /// It stopped before an access at this time, which was not in order yet.
    wanted: Option<Ps>,
    /// It is at the start or end of a call whose window is kept.
    marked: bool,
    /// Its time in reset, which it counts as a wait.
    held: Cycles,
}

/// The cause of cores' waits.
const WAIT: &str = "wait for interrupt";

impl Progress {
    /// Splits the core's time in reset off its waits.
    pub fn name_time_held(&self, counted: &mut [Counted]) {
        let mut left_cycles = self.held.0;
        for Counted { causes, .. } in counted {
            let waits = causes.iter_mut().find(|(cause, waits)| cause == WAIT && waits.0 > 0 && left_cycles > 0);
            let Some((_, waits)) = waits else { continue };
            let held = waits.0.min(left_cycles);
            left_cycles -= held;
            *waits = Cycles(waits.0 - held);
            causes.push((HELD.to_owned(), Cycles(held)));
        }
    }

    /// As [`Progress::name_time_held`], in a profile: waits are in the order of paths and addresses, and the first ones
    /// are those in reset, since a core is held before it runs.
    pub fn name_time_held_in(&self, profile: &mut CoreProfile) {
        let Some(wait) = profile.causes.iter().position(|cause| cause == WAIT) else { return };
        let held_cause = profile.causes.len() as u32;
        let mut left_cycles = self.held.0;
        for cost in &mut profile.costs {
            let Some(place) = cost.charges.iter().position(|(cause, ..)| *cause == wait as u32) else { continue };
            let (_, rate, waits) = &mut cost.charges[place];
            let held = left_cycles.min(*waits);
            left_cycles -= held;
            *waits -= held;
            let charge = (held_cause, *rate, held);
            cost.charges.extend((held > 0).then_some(charge));
            cost.charges.retain(|(.., cycles)| *cycles > 0);
        }
        if self.held.0 > 0 {
            profile.causes.push(HELD.to_owned());
        }
    }

    /// The time of a core at `time` after the `end` of the run, and its cause: the run ends at an edge of one core's
    /// clock, and another core idles up to the next edge of its own.
    pub fn beyond(&self, time: Ps, end: Ps) -> Option<(String, Ps)> {
        let cause = if self.activity == Activity::Held { HELD } else { WAIT };
        (time > end).then(|| (cause.to_owned(), time - end))
    }
}

/// A core's time slice: it runs until the machine chooses the next core.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct TimeSlice {
    core: usize,
    /// The end of the slice.
    horizon: Ps,
}

impl TimeSlice {
    pub const fn new(core: usize, horizon: Ps) -> TimeSlice {
        TimeSlice { core, horizon }
    }

    /// The core.
    pub const fn core(&self) -> usize {
        self.core
    }
}

impl Machine {
    /// Runs to the end of the present slice, or of the next one. If the machine halts in it ([`Machine::resume`]), the
    /// slice stays the present one.
    pub(super) fn run_next_slice(&mut self, limit: Ps, pause: Pause) -> Option<Outcome> {
        let next = self.now().saturating_add(self.cores[0].clock().ps_at_floor(SLICE_CYCLES));
        let slice_end = self.slice_end.unwrap_or(next);
        let ended = self.run_slice(slice_end.min(limit).min(self.sampled_at()), limit, pause);
        let stops = self.debugging.is_halted() || ended == Some(Outcome::Interrupted);
        self.slice_end = stops.then_some(slice_end);
        self.stop.set_reached(self.now());
        ended
    }

    /// Runs up to `slice_end`: `None` if that was reached, and the run goes on.
    pub(super) fn run_slice(&mut self, slice_end: Ps, limit: Ps, pause: Pause) -> Option<Outcome> {
        self.ends_at = None;
        loop {
            if self.stop.is_made() {
                return Some(Outcome::Interrupted);
            }
            if let Some(TimeSlice { core, horizon }) = self.time_slice.take() {
                let outcome = self.run_time_slice(core, horizon.min(slice_end), pause);
                if outcome.is_some() || self.debugging.is_halted() {
                    return outcome;
                }
            }
            self.follow_others();
            let mut next = self.next_core();
            if next.is_none() {
                if let Some(outcome) = self.wait_together(slice_end, limit) {
                    return Some(outcome);
                }
                next = self.next_core();
            }
            // With all cores held in reset, only devices continue. During an access, a core's time may be far beyond
            // the end; other events after the end do not happen.
            let now = self.time_of(next);
            let seen = now.min(limit).min(self.debugging.until());
            self.bus.run_events(seen);
            // A core that was woken may be the next one, and other clocks change the times of all cores.
            if self.follow_others() | self.follow_clocks() {
                continue;
            }
            if let Some(endless) = self.endless_text() {
                return Some(Outcome::Fault(endless));
            }
            if let Some(outcome) = self.outcome_of_devices() {
                self.ends_at = self.bus.exit.map(|exit| exit.at);
                return Some(outcome);
            }
            if !self.hand_over_if_due(now, pause) {
                return Some(Outcome::Interrupted);
            }
            self.sample_totals(seen);
            if now >= slice_end {
                self.ends_at = (now >= limit).then_some(limit);
                return (now >= limit).then(|| Outcome::Limit(self.limit_text(limit)));
            }
            let Some((_, next)) = next else { continue };
            if self.has_to_evaluate(now) {
                self.evaluate_triggers(next);
            }
            if self.halt_for_watch(next) || self.debugging.halt_in_time(now) {
                return None;
            }
            if std::mem::take(&mut self.progress[next].marked) {
                self.follow_marks(next);
            }
            if let Some(outcome) = self.run_core(next, slice_end, pause) {
                return Some(outcome);
            }
            // Output is passed on, and the user may end the wait.
            if self.bus.host.is_waiting() || self.debugging.is_halted() {
                return None;
            }
        }
    }

    /// Runs a core as far as it may go.
    fn run_core(&mut self, core: usize, slice_end: Ps, pause: Pause) -> Option<Outcome> {
        let (mut horizon, mut until) = (slice_end, Ps::MAX);
        for other in (0..self.cores.len()).filter(|other| *other != core) {
            if let Some(time) = self.running_time(other) {
                // Two cores whose marked calls are looked at together do not pass each other.
                let ahead = if self.progress[other].marked { Ps(1) } else { self.quantum };
                horizon = horizon.min(time.saturating_add(ahead));
                // Of cores at the same time, the first one runs first.
                until = until.min(if core < other { time.saturating_add(Ps(1)) } else { time });
            }
        }
        self.bus.order.begin(until, self.quantum);
        self.run_time_slice(core, horizon, pause)
    }

    /// Continues a core's time slice up to `horizon`.
    fn run_time_slice(&mut self, core: usize, horizon: Ps, pause: Pause) -> Option<Outcome> {
        let stop = loop {
            self.bus.master = Some(core);
            let stop = match self.debugging.steps(core) {
                true => self.run_stepped(core, horizon, pause),
                false => self.run_to_time(core, horizon, pause),
            };
            self.bus.master = None;
            if stop != Some(Stop::Break) {
                break stop;
            }
            if self.halt_in_time_slice(core, horizon) {
                return None;
            }
        };
        // Before clocks change: the postponed access of a core is dropped with its clock's old rate.
        self.progress[core].wanted = self.bus.order.take_wanted();
        self.follow_clocks();
        self.progress[core].waited = stop == Some(Stop::Waiting);
        let Some(stop) = stop else { return Some(Outcome::Interrupted) };
        if matches!(stop, Stop::Exit(_) | Stop::Fault(_)) {
            self.ended_by = Some(core);
        }
        match stop {
            Stop::Horizon | Stop::Break => None,
            Stop::Mark => {
                self.progress[core].marked = true;
                None
            }
            Stop::Waiting => {
                self.progress[core].activity = Activity::Waiting;
                self.bus.order.sleeps(core);
                None
            }
            Stop::Exit(code) => Some(Outcome::Exit(code)),
            Stop::Fault(fault) => Some(Outcome::Fault(self.fault_text(core, &fault))),
        }
    }

    /// No core runs: time passes up to the next event, and waiting cores check again.
    fn wait_together(&mut self, slice_end: Ps, limit: Ps) -> Option<Outcome> {
        let due = self.bus.events.next_due();
        if due == Ps::MAX
            && !self.bus.lines.are_attended
            && let Some(why) = self.sleeps_for_ever(limit)
        {
            return Some(Outcome::Asleep(why));
        }
        for core in 0..self.cores.len() {
            self.pass_time(core, due.min(slice_end).min(self.stops_at()));
            if self.progress[core].activity == Activity::Waiting {
                self.progress[core].activity = Activity::Running;
                self.bus.order.wakes(core);
            }
        }
        None
    }

    /// Applies events and resets to cores that do not run. True if one of them may continue.
    fn follow_others(&mut self) -> bool {
        let joined = self.bus.order.take_joined();
        if joined {
            self.follow_resets();
            self.follow_wakes();
        }
        joined
    }

    /// Cores, interconnects and memories follow their clocks. True if one of their clocks has changed.
    pub(super) fn follow_clocks(&mut self) -> bool {
        if !self.bus.clocks.are_pending() {
            return false;
        }
        for change in self.bus.clocks.take_pending() {
            let Change { user, at, rate } = change;
            if let User::Core(core) = user
                && self.cores[core].clock() != rate
            {
                if self.is_idle(core) {
                    self.pass_time(core, at);
                }
                self.cores[core].change_clock(rate);
                self.progress[core].wanted = None;
            }
            self.bus.follow_change(change);
        }
        self.cores.iter_mut().for_each(|core| core.paths_changed());
        true
    }

    /// Applies the changes that devices made to the reset lines of cores.
    fn follow_resets(&mut self) {
        for change in self.bus.order.take_resets() {
            let Some(progress) = self.progress.get_mut(change.core) else { continue };
            let was_held = progress.activity == Activity::Held;
            if change.hold {
                progress.activity = Activity::Held;
                progress.wanted = None;
                self.bus.order.wakes(change.core);
                self.bus.core_sleeps(change.core, self.core_time(change.core));
            } else if was_held {
                self.pass_time(change.core, change.at);
                self.note_release(change.core);
                self.bus.master = Some(change.core);
                match change.start {
                    Some(start) => self.cores[change.core].start(&mut self.bus, start),
                    None => self.cores[change.core].reset(&mut self.bus),
                }
                self.bus.master = None;
                self.progress[change.core].activity = Activity::Running;
            }
        }
    }

    /// Wakes cores at the time at which one of their interrupt inputs went up.
    fn follow_wakes(&mut self) {
        for core in 0..self.cores.len() {
            if self.progress[core].activity == Activity::Waiting
                && let Some(at) = self.bus.order.take_woken(core)
            {
                self.pass_time(core, at);
                self.progress[core].activity = Activity::Running;
            }
        }
    }

    /// Advances the time of an idle core.
    pub(super) fn pass_time(&mut self, core: usize, until: Ps) {
        let (before, since) = (self.cores[core].cycles_had(), self.cores[core].now());
        self.cores[core].idle(until);
        if self.bus.activities.records(Kind::Core) {
            self.record_idle(core, since);
        }
        if self.progress[core].activity == Activity::Held {
            let passed = self.cores[core].cycles_had().0 - before.0;
            self.progress[core].held = self.progress[core].held + Cycles(passed);
        }
    }

    /// Records what a core has done since.
    #[cold]
    fn record_idle(&self, core: usize, since: Ps) {
        let what = if self.progress[core].activity == Activity::Held { &HELD_IN_RESET } else { &IDLE };
        let scope = self.bus.activities.scope(self.cores[core].name());
        scope.clocked_span(what, self.cores[core].clock(), since, self.cores[core].now(), Detail::None);
    }

    pub(super) fn core_time(&self, core: usize) -> Ps {
        self.cores[core].now()
    }

    /// The time from which a core may make accesses; `None` if it does not run.
    fn running_time(&self, core: usize) -> Option<Ps> {
        let Progress { activity, wanted, .. } = self.progress[core];
        (activity == Activity::Running).then(|| wanted.unwrap_or_else(|| self.core_time(core)))
    }

    /// The running core with the earliest [`Machine::running_time`], and that time; of equals the first.
    fn next_core(&self) -> Option<(Ps, usize)> {
        (0..self.cores.len()).filter_map(|core| Some((self.running_time(core)?, core))).min()
    }

    /// The machine's time: no running core is at an earlier time.
    pub(super) fn now(&self) -> Ps {
        self.time_of(self.next_core())
    }

    /// The same, for a known next core.
    fn time_of(&self, next: Option<(Ps, usize)>) -> Ps {
        match next {
            Some((time, core)) if self.progress[core].wanted.is_none() => time,
            Some((_, core)) => self.core_time(core),
            None => (0..self.cores.len()).map(|core| self.core_time(core)).max().unwrap_or(Ps::ZERO),
        }
    }

    /// A core's last activity.
    pub(super) fn last_activity(&self, core: usize) -> Activity {
        match self.progress[core] {
            Progress { activity: Activity::Running, waited: true, .. } => Activity::Waiting,
            Progress { activity, .. } => activity,
        }
    }

    /// True if a core waits for an interrupt, or is held in reset.
    pub(super) fn is_idle(&self, core: usize) -> bool {
        self.progress[core].activity != Activity::Running
    }
}
