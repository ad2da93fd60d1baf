//! Evaluates the conditions of triggers, and performs the actions.

use super::super::Machine;
use super::condition::{Moment, Number};
use super::{Action, Trigger, Triggers};
use engine::observe::waves::SignalId;
use engine::time::{Cycles, Ps};

/// The state of a machine at a core's time.
struct Now<'a> {
    machine: &'a mut Machine,
    at: Ps,
    /// The time of the next evaluation, as far as it is known.
    alarm: Ps,
}

impl Now<'_> {
    fn again_at(&mut self, at: Ps) {
        if at > self.at {
            self.alarm = self.alarm.min(at);
        }
    }

    /// Evaluates again this many cycles of a core later.
    fn again_after(&mut self, core: usize, cycles: u128) {
        let clock = self.machine.cores[core].clock();
        let cycles = Cycles(u64::try_from(cycles).unwrap_or(u64::MAX));
        self.again_at(self.machine.core_time(core).saturating_add(clock.ps_at_floor(cycles).max(Ps(1))));
    }
}

impl Moment for Now<'_> {
    fn signal(&mut self, signal: SignalId) -> bool {
        let (machine, at) = (&*self.machine, self.at);
        let (level, next) = match machine.triggers.tracks.0.get(&signal) {
            Some(tracks) => machine.bus.activities.goes_on(tracks, at),
            None => machine.bus.waves.live_level(signal, at),
        };
        self.again_at(next);
        level
    }

    fn in_call(&mut self, core: usize, function: u32) -> bool {
        self.machine.cores[core].is_in_call(function)
    }

    fn number(&mut self, number: &Number) -> i128 {
        let machine = &mut *self.machine;
        match number {
            Number::Time => self.at.0.into(),
            Number::Cycles(core) => machine.cores[*core].cycles_had().0.into(),
            Number::Instructions(core) => machine.position(*core).instructions.into(),
            Number::Counter(device, name) => {
                let Some(device) = machine.bus.devices[device.0 as usize].as_mut() else { return 0 };
                device.learn();
                device.counters().into_iter().filter(|(counter, _)| counter == name).map(|(_, n)| i128::from(n)).sum()
            }
            _ => 0,
        }
    }

    fn evaluate_after(&mut self, number: &Number, distance: u128) {
        match number {
            Number::Time if distance == 1 => self.again_after(self.machine.main, 1),
            Number::Time => self.again_at(self.at.saturating_add(Ps(u64::try_from(distance).unwrap_or(u64::MAX)))),
            Number::Cycles(core) => self.again_after(*core, distance),
            // At most two instructions run in a cycle.
            Number::Instructions(core) => self.again_after(*core, distance.div_ceil(2)),
            _ => {}
        }
    }
}

impl Machine {
    /// True if conditions have to be evaluated when a core has reached `now`.
    #[inline]
    pub(in super::super) fn has_to_evaluate(&self, now: Ps) -> bool {
        self.triggers.are_set() && (now >= self.triggers.alarm() || self.bus.watches.stop_core())
    }

    /// Evaluates all conditions after a core has stopped, and performs actions.
    pub(in super::super) fn evaluate_triggers(&mut self, core: usize) {
        self.bus.watches.take_changes();
        self.follow_new_tracks();
        let now = self.core_time(core);
        let mut all = std::mem::take(&mut self.triggers.all);
        // Signals change between instructions, and more than once in one; calls don't.
        let mut due: Vec<bool> = all.iter_mut().map(|trigger| self.evaluate_at_changes(trigger, now)).collect();
        let mut alarm = Ps::MAX;
        for (trigger, due) in all.iter_mut().zip(&mut due) {
            let (fires, again) = self.evaluate(trigger, now);
            *due |= fires;
            alarm = alarm.min(again);
        }
        self.triggers.all = all;
        self.triggers.alarm = Some(alarm);
        self.bus.waves.looked_at(now);
        self.bus.activities.looked_at();
        for number in (0..due.len()).filter(|number| due[*number]) {
            self.act(core, number, now);
        }
    }

    /// The run is over at `end`: checks signals that may have changed since the last evaluation.
    pub(in super::super) fn evaluate_at_end(&mut self, end: Ps) {
        let mut all = std::mem::take(&mut self.triggers.all);
        for trigger in &mut all {
            self.evaluate_at_changes(trigger, end);
        }
        self.triggers.all = all;
    }

    /// Evaluates a condition at each time before `now` at which one of its signals changed. True if it became true.
    fn evaluate_at_changes(&mut self, trigger: &mut Trigger, now: Ps) -> bool {
        if trigger.signals.is_empty() {
            return false;
        }
        let (since, reported) = trigger.checked;
        let first = trigger.signals.iter().map(|signal| match self.triggers.tracks.0.get(signal) {
            Some(tracks) => self.bus.activities.first_change(tracks, since, reported),
            None => self.bus.waves.first_change(*signal),
        });
        let (mut next, mut has_fired) = (first.min().unwrap_or(Ps::MAX), false);
        while next < now {
            has_fired |= self.evaluate(trigger, next).0;
            next = self.next_change(trigger);
        }
        has_fired
    }

    /// The time of the next change of a signal in a condition that has not been evaluated since.
    fn next_change(&self, trigger: &Trigger) -> Ps {
        let (since, _) = trigger.checked;
        let changes = trigger.signals.iter().map(|signal| match self.triggers.tracks.0.get(signal) {
            Some(tracks) => self.bus.activities.next_change(tracks, since),
            None => self.bus.waves.live_level(*signal, since).1,
        });
        changes.min().unwrap_or(Ps::MAX)
    }

    /// Evaluates a condition at a time: whether it has become true, and when to evaluate it again.
    fn evaluate(&mut self, trigger: &mut Trigger, at: Ps) -> (bool, Ps) {
        let mut now = Now { machine: self, at, alarm: Ps::MAX };
        let holds = trigger.condition.holds(&mut now);
        let alarm = now.alarm;
        trigger.checked = (at, self.bus.activities.recorded());
        (trigger.seen.is(holds, at), alarm)
    }

    fn act(&mut self, core: usize, number: usize, at: Ps) {
        match self.triggers.all[number].action {
            Action::Halt => self.halt_for(core, number),
            Action::Count => {}
            Action::Trace(recorded) if !self.triggers.has_traced => {
                self.triggers.has_traced = true;
                let to = at.saturating_add(recorded.to);
                self.record_timeline(super::Recorded { from: at, to, ..recorded });
            }
            Action::Snapshot if self.triggers.snapshot.is_none() => {
                self.triggers.snapshot = Some(self.snapshot().map_err(|error| error.to_string()));
            }
            Action::Trace(_) | Action::Snapshot => {}
        }
    }

    /// Some tracks are known only when something happens on them.
    fn follow_new_tracks(&mut self) {
        let count = self.bus.activities.track_count();
        let Triggers { tracks: (tracks, known), .. } = &mut self.triggers;
        if *known != count && !tracks.is_empty() {
            for (signal, own) in tracks.iter_mut() {
                *own = self.bus.device_signals.tracks_of(*signal, &self.bus.activities).0;
            }
            *known = count;
        }
    }
}
