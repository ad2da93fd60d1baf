//! Triggers: conditions on the state of a board ([`condition`]), and actions when one becomes true.
//!
//! Conditions are evaluated only when something may have changed. Devices report changes of their signals, and are
//! called for their counters: the running core stops after the instruction that caused it
//! ([`engine::bus::watches::Watches::stop_core`]). A core that follows its calls stops where a call in a condition
//! begins or ends. Values that change without a report, such as time or a signal with a known end, have a time at which
//! cores stop, as they do for a debugger. A stopped core continues its time slice, so triggers change nothing else.

pub mod condition;
mod evaluation;

use std::collections::{BTreeMap, BTreeSet};

use super::Machine;
use super::snapshots::Snapshot;
use super::tracing::Recorded;
use condition::{Input, Number, Truth};
use engine::activity::{Kind, Kinds};
use engine::bus::device::DeviceId;
use engine::observe::waves::{Live, SignalId};
use engine::time::Ps;

/// The action when a condition becomes true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Halts the machine, for the caller that runs it ([`Machine::resume`]).
    Halt,
    /// Only counts, as all triggers do.
    Count,
    /// Begins a timeline, the first time. It begins at that time; `to` is its length.
    Trace(Recorded),
    /// Takes a snapshot, the first time.
    Snapshot,
}

/// A condition, and how often it became true.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The condition as the user wrote it.
    pub text: String,
    condition: Truth,
    /// Its action.
    pub action: Action,
    /// The signals in it.
    signals: Vec<SignalId>,
    /// Its history.
    pub seen: Seen,
    /// The time up to which its signals have been checked, and the number of activities recorded by then.
    checked: (Ps, u64),
}

/// The history of a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Since when it is true, if it is.
    pub since: Option<Ps>,
    /// Start and end of the last period in which it was true.
    before: Option<(Ps, Ps)>,
    /// How often it became true.
    pub count: u64,
    /// When it became true first.
    pub first: Option<Ps>,
    /// When it became true last.
    pub last: Option<Ps>,
    /// Total time in which it was true, up to when it became false last.
    pub held: Ps,
}

impl Seen {
    /// Records whether the condition is true at `now`. True if it has become true.
    fn is(&mut self, holds: bool, now: Ps) -> bool {
        match (self.since, holds) {
            // The period was not over: it has been extended.
            (None, true) if self.before.is_some_and(|(_, end)| end == now) => {
                self.since = self.before.map(|(since, _)| since);
                let before = self.before.map_or(Ps::ZERO, |(since, end)| end.saturating_sub(since));
                self.held = self.held.saturating_sub(before);
                false
            }
            (None, true) => {
                (self.since, self.last) = (Some(now), Some(now));
                self.first = self.first.or(self.last);
                self.count += 1;
                true
            }
            (Some(since), false) => {
                self.held = self.held.saturating_add(now.saturating_sub(since));
                (self.since, self.before) = (None, Some((since, now)));
                false
            }
            _ => false,
        }
    }

    /// Total time in which it was true, up to `now`.
    pub fn held_until(&self, now: Ps) -> Ps {
        self.held.saturating_add(self.since.map_or(Ps::ZERO, |since| now.saturating_sub(since)))
    }
}

/// The states of all triggers, which change during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggerState {
    seen: Vec<(String, Seen, (Ps, u64))>,
    live: Live,
}

/// The triggers of a run.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    all: Vec<Trigger>,
    /// By core: functions whose calls occur in conditions.
    functions: BTreeMap<usize, BTreeSet<u32>>,
    /// Signals that are made of activities, and their tracks; and the number of tracks at the last lookup.
    tracks: (BTreeMap<SignalId, Vec<u32>>, usize),
    /// When conditions have to be evaluated, if no change is reported before.
    alarm: Option<Ps>,
    /// Some conditions have counters of devices.
    has_counters: bool,
    /// Triggers do not halt the machine.
    are_quiet: bool,
    /// A trigger has begun a timeline.
    has_traced: bool,
    /// The snapshot that a trigger took, or why it failed.
    snapshot: Option<Result<Snapshot, String>>,
}

impl Triggers {
    /// True if there are triggers.
    #[inline]
    pub fn are_set(&self) -> bool {
        !self.all.is_empty()
    }

    /// The time at which cores have to stop.
    #[inline]
    pub fn alarm(&self) -> Ps {
        self.alarm.unwrap_or(Ps::MAX)
    }

    /// Evaluates conditions as soon as the machine continues.
    pub fn evaluate_again(&mut self) {
        self.alarm = self.are_set().then_some(Ps::ZERO);
    }

    /// True if each iteration of a polling loop has to be run.
    pub fn see_iterations(&self) -> bool {
        self.has_counters
    }
}

impl Machine {
    /// Adds a trigger, from now on. Returns its number.
    pub fn add_trigger(&mut self, text: &str, condition: Truth, action: Action) -> usize {
        let mut all = std::mem::take(&mut self.triggers.all);
        let mut signals = Vec::new();
        condition.visit(&mut |input| {
            if let Input::Signal(signal) = input {
                signals.push(signal);
            }
        });
        let checked = (self.now(), self.bus.activities.recorded());
        let (text, seen) = (text.to_owned(), Seen::default());
        all.push(Trigger { text, condition, action, signals, seen, checked });
        self.set_triggers(all);
        self.triggers.all.len() - 1
    }

    /// Removes trigger `number`; false if it does not exist.
    pub fn remove_trigger(&mut self, number: usize) -> bool {
        let mut all = std::mem::take(&mut self.triggers.all);
        let is_there = number < all.len();
        if is_there {
            all.remove(number);
        }
        self.set_triggers(all);
        is_there
    }

    /// All triggers.
    pub fn triggers(&self) -> &[Trigger] {
        &self.triggers.all
    }

    /// Takes the snapshot that a trigger took; or why it failed.
    pub fn take_triggered_snapshot(&mut self) -> Option<Result<Snapshot, String>> {
        self.triggers.snapshot.take()
    }

    /// The states of triggers for a snapshot of this machine, if there are any.
    pub(super) fn trigger_state(&self) -> Option<TriggerState> {
        let Triggers { all, .. } = &self.triggers;
        let seen = all.iter().map(|trigger| (trigger.text.clone(), trigger.seen, trigger.checked)).collect();
        let state = || TriggerState { seen, live: self.bus.waves.live() };
        self.triggers.are_set().then(state)
    }

    /// Restores those states. Newer triggers have no history.
    pub(super) fn set_trigger_state(&mut self, state: Option<&TriggerState>) {
        let none = TriggerState::default();
        let state = state.unwrap_or(&none);
        self.triggers.evaluate_again();
        let now = (self.now(), self.bus.activities.recorded());
        for trigger in &mut self.triggers.all {
            let before = state.seen.iter().find(|(text, ..)| *text == trigger.text);
            (trigger.seen, trigger.checked) = before.map_or((Seen::default(), now), |(_, seen, at)| (*seen, *at));
        }
        // The snapshot has the calls that cores are in.
        self.ask_for_calls();
        self.bus.waves.set_live(&state.live);
    }

    /// Sets the triggers, and follows all inputs of their conditions. Conditions are evaluated as soon as the machine
    /// continues.
    fn set_triggers(&mut self, all: Vec<Trigger>) {
        let (mut signals, mut counted) = (BTreeSet::new(), Vec::new());
        let mut functions: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for trigger in &all {
            trigger.condition.visit(&mut |input| match input {
                Input::Signal(signal) => _ = signals.insert(signal),
                Input::Call(core, function) => _ = functions.entry(core).or_default().insert(function),
                Input::Number(Number::Counter(device, _)) => counted.push(*device),
                Input::Number(_) => {}
            });
        }
        self.triggers.all = all;
        self.triggers.functions = functions;
        self.triggers.has_counters = !counted.is_empty();
        self.triggers.evaluate_again();
        self.follow_signals(&signals);
        self.bus.follow_devices(!signals.is_empty(), counted);
        self.ask_for_calls();
        self.choose_skipping();
    }

    /// Makes cores follow the calls in conditions.
    fn ask_for_calls(&mut self) {
        for core in 0..self.cores.len() {
            let functions = self.triggers.functions.get(&core).cloned().unwrap_or_default();
            if !functions.is_empty() {
                self.know_functions(core);
            }
            self.cores[core].ask_for_calls(&functions);
        }
    }

    fn follow_signals(&mut self, signals: &BTreeSet<SignalId>) {
        let (mut kinds, mut tracks, mut wires) = (Vec::new(), BTreeMap::new(), Vec::new());
        for signal in signals {
            let (of_signal, its_kinds) = self.bus.device_signals.tracks_of(*signal, &self.bus.activities);
            if its_kinds.is_empty() {
                wires.push((*signal, self.bus.wires.level_of(*signal)));
            } else {
                tracks.insert(*signal, of_signal);
                kinds.extend(its_kinds);
            }
        }
        self.triggers.tracks = (tracks, self.bus.activities.track_count());
        if !self.bus.waves.is_on() {
            self.bus.wires.record_levels(&self.bus.waves);
        }
        self.bus.waves.follow(&wires);
        self.bus.activities.follow(Kinds::of(&kinds));
    }

    /// The signal of a node with a name from waveforms.
    ///
    /// # Errors
    /// `None` if there is no such signal; the reason if it can't be followed.
    pub fn signal_to_follow(&self, scope: &str, name: &str) -> Result<SignalId, Option<&'static str>> {
        let bus = &self.bus;
        let Some(signal) = bus.device_signals.named(scope, name) else {
            return bus.waves.wire_named(scope, name).ok_or(None);
        };
        let (_, kinds) = bus.device_signals.tracks_of(signal, &bus.activities);
        match kinds.first() {
            Some(Kind::Queue) => Err(Some("the contents of a FIFO are recorded only when they leave it")),
            Some(Kind::Core) => Err(Some("what a core does is recorded only when it is over")),
            _ => Ok(signal),
        }
    }

    /// A node's counter with this name.
    pub fn counter_of(&self, scope: &str, name: &str) -> Option<Number> {
        let counters = self.counters_of_node(scope).into_iter();
        counters.filter(|(counter, _)| counter == name).map(|(_, number)| number).next()
    }

    /// The names of a node's signals and counters, for messages.
    pub fn names_of(&self, scope: &str) -> Vec<String> {
        let signals = self.bus.waves.signals().into_iter().filter(|signal| signal.scope == scope);
        let counters = self.counters_of_node(scope).into_iter();
        signals.map(|signal| signal.name).chain(counters.map(|(name, _)| name)).collect()
    }

    /// A device's counters; for a chip, its device's counters of that chip.
    fn counters_of_node(&self, scope: &str) -> Vec<(String, Number)> {
        let own = self.bus.device_names.iter().position(|label| label == scope).map(|place| DeviceId(place as u32));
        let Some(device) = own.or_else(|| self.bus.hosts.get(scope).copied()) else { return Vec::new() };
        let Some(model) = self.bus.devices.get(device.0 as usize).and_then(Option::as_ref) else { return Vec::new() };
        let prefix = if own.is_some() { String::new() } else { format!("{scope}.") };
        let counters = model.counters().into_iter().filter_map(|(name, _)| {
            let short = name.strip_prefix(&prefix)?.to_owned();
            Some((short, Number::Counter(device, name)))
        });
        counters.collect()
    }

    /// The labels of cores, and of nodes that have signals or counters.
    pub fn scopes(&self) -> Vec<String> {
        let signals = self.bus.waves.signals().into_iter().map(|signal| signal.scope);
        let cores = self.cores.iter().map(|core| core.name().to_owned());
        let all: BTreeSet<String> = signals.chain(cores).chain(self.bus.device_names.iter().cloned()).collect();
        all.into_iter().collect()
    }

    /// The address of a function of a core's program.
    pub fn function_of(&self, core: usize, name: &str) -> Option<u32> {
        let of_core = format!("{}:{name}", self.cores.get(core)?.name());
        self.find_function(&of_core).map(|(_, _, addr)| addr)
    }

    /// The message for an ambiguous function name of a core's program.
    pub fn several_functions_of(&self, core: usize, name: &str) -> Option<String> {
        self.several_functions(&format!("{}:{name}", self.cores.get(core)?.name()))
    }

    /// Stops triggers from halting the machine, or lets them again: for runs to a known time.
    pub fn quiet_triggers(&mut self, quiet: bool) {
        self.triggers.are_quiet = quiet;
    }

    /// Removes triggers that only halt: there is no debugger any more.
    pub fn drop_halting_triggers(&mut self) {
        let mut all = std::mem::take(&mut self.triggers.all);
        all.retain(|trigger| trigger.action != Action::Halt);
        self.set_triggers(all);
    }

    /// Halts for a trigger, unless the machine halts for another reason.
    fn halt_for(&mut self, core: usize, number: usize) {
        if !self.triggers.are_quiet {
            self.debugging.halt_for_trigger(core, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_counted_when_it_becomes_true_and_its_time_adds_up() {
        let mut seen = Seen::default();
        let steps = [(5, false), (10, true), (15, true), (20, false), (30, true), (50, false)];
        let became: Vec<u64> = steps.iter().filter(|(at, holds)| seen.is(*holds, Ps(*at))).map(|(at, _)| *at).collect();
        assert_eq!(became, [10, 30]);
        assert_eq!((seen.count, seen.first, seen.last), (2, Some(Ps(10)), Some(Ps(30))));
        assert_eq!((seen.held_until(Ps(60)), seen.since), (Ps(30), None));
    }

    #[test]
    fn a_period_that_is_extended_was_not_over() {
        let mut seen = Seen::default();
        assert!(seen.is(true, Ps(10)) && !seen.is(false, Ps(20)));
        assert!(!seen.is(true, Ps(20)), "it goes on");
        assert_eq!((seen.count, seen.held_until(Ps(25))), (1, Ps(15)));
        assert!(!seen.is(false, Ps(30)));
        assert_eq!(seen.held_until(Ps(99)), Ps(20));
    }
}
