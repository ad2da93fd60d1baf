//! Which core runs next, and how far: the run loop.
//!
//! The core that is furthest behind runs, up to a quantum before the others; [`crate::order`] keeps what they do to
//! each other in order. A core that waits for an interrupt stays where it is until one of its inputs goes up: then it
//! goes on from that time. Cores that all wait pass the time together, up to the next event.

use super::host::Pause;
use super::{Machine, Outcome, SLICE_CYCLES};
use crate::activity::{Detail, HELD_IN_RESET, IDLE, Kind};
use crate::clocks::{Change, User};
use crate::core::{Counted, Stop};
use crate::observe::profile::CoreProfile;
use crate::observe::waits::HELD;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Ps};

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

/// How a core is getting on.
#[derive(Clone, Debug, Default, State, Fresh)]
pub(super) struct Progress {
    pub activity: Activity,
    /// It waited when it was run last: it may have been told to look again since.
    waited: bool,
    /// It stopped before an access at this time, which was not its turn.
    wanted: Option<Ps>,
    /// It is at the begin or end of a call whose window is kept.
    marked: bool,
    /// Its time in reset, which it counts as a wait itself.
    held: Cycles,
}

/// The cause under which cores count their waits.
const WAIT: &str = "wait for interrupt";

impl Progress {
    /// Tells the core's time in reset from its waits.
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

    /// The same in a profile: of waits in the order of paths and addresses, the first are those in reset, as a core is
    /// held before it runs.
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

    /// What a core that is at `time` has beyond the `end` of the run, and the cause of it: the run ends at an edge of
    /// one core's clock, another one idles up to the next edge of its own.
    pub fn beyond(&self, time: Ps, end: Ps) -> Option<(String, Ps)> {
        let cause = if self.activity == Activity::Held { HELD } else { WAIT };
        (time > end).then(|| (cause.to_owned(), time - end))
    }
}

/// What a core does before the machine looks which is next.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct Turn {
    core: usize,
    /// It runs up to here.
    horizon: Ps,
}

impl Turn {
    pub const fn new(core: usize, horizon: Ps) -> Turn {
        Turn { core, horizon }
    }

    /// The core.
    pub const fn core(&self) -> usize {
        self.core
    }
}

impl Machine {
    /// Runs to the end of the slice that is under way, or of the next one. Where the machine halts in it
    /// ([`Machine::resume`]), it is under way still.
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
            if let Some(Turn { core, horizon }) = self.turn.take() {
                let outcome = self.run_turn(core, horizon.min(slice_end), pause);
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
            // With all of them held in reset, only devices go on.
            // A core in the midst of an access may be far beyond the end; what comes after that does not.
            let now = self.time_of(next);
            let seen = now.min(limit).min(self.debugging.until());
            self.bus.run_events(seen);
            // One that was woken may be the one to run, and with other clocks all have other times.
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
            if self.has_to_look(now) {
                self.look_at_triggers(next);
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
            // What was printed is shown, and the user may end the wait.
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
                // One that is to be looked at together with this one is not passed.
                let ahead = if self.progress[other].marked { Ps(1) } else { self.quantum };
                horizon = horizon.min(time.saturating_add(ahead));
                // At the same time, the first core comes first.
                until = until.min(if core < other { time.saturating_add(Ps(1)) } else { time });
            }
        }
        self.bus.order.begin(until, self.quantum);
        self.run_turn(core, horizon, pause)
    }

    /// Runs a core on in its turn, which has begun and goes up to `horizon`.
    fn run_turn(&mut self, core: usize, horizon: Ps, pause: Pause) -> Option<Outcome> {
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
            if self.halt_in_turn(core, horizon) {
                return None;
            }
        };
        // Before clocks change: what a core wants is forgotten with its clock's old rate.
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

    /// No core runs: time passes up to the next event, and those that wait look again.
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

    /// Brings in what was done to cores that do nothing. True if one of them may go on.
    fn follow_others(&mut self) -> bool {
        let joined = self.bus.order.take_joined();
        if joined {
            self.follow_resets();
            self.follow_wakes();
        }
        joined
    }

    /// Cores, interconnects and memories follow their clocks. True if one of those has changed.
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

    /// Brings in what devices did to the reset lines of cores.
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
                self.cores[change.core].reset(&mut self.bus);
                self.bus.master = None;
                self.progress[change.core].activity = Activity::Running;
            }
        }
    }

    /// Cores of which an interrupt input went up go on from there.
    fn follow_wakes(&mut self) {
        for core in 0..self.cores.len() {
            if self.progress[core].activity == Activity::Waiting
                && let Some(at) = self.bus.order.take_roused(core)
            {
                self.pass_time(core, at);
                self.progress[core].activity = Activity::Running;
            }
        }
    }

    /// Lets time pass in which a core does nothing.
    pub(super) fn pass_time(&mut self, core: usize, until: Ps) {
        let (before, since) = (self.cores[core].cycles_had(), self.cores[core].now());
        self.cores[core].idle(until);
        if self.bus.activities.records(Kind::Core) {
            self.report_idle(core, since);
        }
        if self.progress[core].activity == Activity::Held {
            let passed = self.cores[core].cycles_had().0 - before.0;
            self.progress[core].held = self.progress[core].held + Cycles(passed);
        }
    }

    /// Tells what a core has done since.
    #[cold]
    fn report_idle(&self, core: usize, since: Ps) {
        let what = if self.progress[core].activity == Activity::Held { &HELD_IN_RESET } else { &IDLE };
        let scope = self.bus.activities.scope(self.cores[core].name());
        scope.clocked_span(what, self.cores[core].clock(), since, self.cores[core].now(), Detail::None);
    }

    pub(super) fn core_time(&self, core: usize) -> Ps {
        self.cores[core].now()
    }

    /// The time from which on a core may access anything; `None` if it does not run.
    fn running_time(&self, core: usize) -> Option<Ps> {
        let Progress { activity, wanted, .. } = self.progress[core];
        (activity == Activity::Running).then(|| wanted.unwrap_or_else(|| self.core_time(core)))
    }

    /// Of the cores that run, the one that is furthest behind, and its [`Machine::running_time`]; of equals the first.
    fn next_core(&self) -> Option<(Ps, usize)> {
        (0..self.cores.len()).filter_map(|core| Some((self.running_time(core)?, core))).min()
    }

    /// How far the machine has come: no core that runs is behind it.
    pub(super) fn now(&self) -> Ps {
        self.time_of(self.next_core())
    }

    /// The same, where that core is known.
    fn time_of(&self, next: Option<(Ps, usize)>) -> Ps {
        match next {
            Some((time, core)) if self.progress[core].wanted.is_none() => time,
            Some((_, core)) => self.core_time(core),
            None => (0..self.cores.len()).map(|core| self.core_time(core)).max().unwrap_or(Ps::ZERO),
        }
    }

    /// What a core did last.
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
