//! A chip in Python: the common part of SPI and I2C chips.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use engine::state::State;
use engine::time::Ps;
use engine::wire::notes::{ChipReport, Notes};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::CALLS_BETWEEN_LOOKS;
use super::base::Effect;
use super::instance::{Failed, Instance};

/// More events of a chip than this at one time count as endless.
const MOST_EVENTS_AT_ONCE: u32 = 100_000;

/// The chip.
#[derive(State)]
pub struct PythonChip {
    instance: Instance,
    /// The level of its interrupt pin, if it has one.
    interrupt: Option<bool>,
    /// When the event of each token is due, and its number among all requests.
    events: BTreeMap<u32, (Ps, u64)>,
    asked: u64,
    chip_report: ChipReport,
    notes: Notes<String>,
    /// The number of calls. After some of them, the host is checked for a stop.
    #[state(skip)]
    calls: u32,
}

impl PythonChip {
    /// A chip after power-on at time 0, with its interrupt pin low or without one.
    ///
    /// # Errors
    /// Why the chip can't continue.
    pub fn after_reset(instance: Instance, has_interrupt: bool) -> Result<PythonChip, String> {
        let interrupt = has_interrupt.then_some(false);
        let (chip_report, notes) = (ChipReport::default(), Notes::default());
        let mut chip =
            PythonChip { instance, interrupt, events: BTreeMap::new(), asked: 0, chip_report, notes, calls: 0 };
        chip.notify("reset", Ps::ZERO, ());
        chip.chip_report.failure.take().map_or(Ok(chip), Err)
    }

    /// Calls a method, and carries out its requests. `None` if the chip can't continue; then the run ends.
    pub fn call<T>(
        &mut self,
        method: &str,
        now: Ps,
        arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple>,
        result: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let (called, effects) = self.instance.call(method, now, 0, arguments, result);
        effects.into_iter().for_each(|effect| self.take_up(effect));
        self.calls = self.calls.wrapping_add(1);
        self.chip_report.has_taken_long |= self.calls.is_multiple_of(CALLS_BETWEEN_LOOKS);
        match called {
            Ok(value) => Some(value),
            Err(Failed::Ended(text)) => {
                self.chip_report.failure.get_or_insert(text);
                None
            }
            Err(Failed::Bus | Failed::Before) => None,
        }
    }

    /// Calls a method without a result.
    pub fn notify(&mut self, method: &str, now: Ps, arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple>) {
        self.call(method, now, arguments, |_| Ok(()));
    }

    fn take_up(&mut self, effect: Effect) {
        match effect {
            Effect::Schedule { due_ps, token } => {
                self.asked += 1;
                self.events.insert(token, (Ps(due_ps), self.asked));
            }
            Effect::Cancel { token } => drop(self.events.remove(&token)),
            Effect::Irq { level, .. } => self.interrupt = self.interrupt.map(|_| level),
            // A chip has no pins of ports: registering a chip with pins is refused.
            Effect::Drive { .. } => {}
            Effect::Note(text) => self.notes.add(text),
            Effect::Print(text) => self.chip_report.printed.extend(text.into_bytes()),
            Effect::Exit(status) => drop(self.chip_report.exit.get_or_insert(status)),
        }
    }

    /// Calls `event` for the events that are due by then.
    pub fn advance(&mut self, now: Ps) {
        let (mut last, mut at_once) = (Ps::ZERO, 0);
        while let Some((due, token)) = self.next_event().filter(|(due, _)| *due <= now) {
            at_once = if due == last { at_once + 1 } else { 0 };
            last = due;
            if at_once == MOST_EVENTS_AT_ONCE {
                let what = format!("a chip in Python has events without end at {due}: no time passes between them");
                self.chip_report.failure.get_or_insert(what);
                self.events.clear();
                return;
            }
            self.events.remove(&token);
            self.notify("event", due, (token,));
        }
    }

    /// When the next event is due.
    pub fn wakes_at(&self) -> Option<Ps> {
        self.next_event().map(|(due, _)| due)
    }

    /// The level of the interrupt pin, if there is one.
    pub fn interrupt(&self) -> Option<bool> {
        self.interrupt
    }

    /// Notes since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    /// The counters of the chip.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.instance.counters().into_iter().map(|(name, count)| (kept_name(name), count)).collect()
    }

    /// The chip's notes, output and end of the run.
    pub fn chip_report(&mut self) -> &mut ChipReport {
        &mut self.chip_report
    }

    /// The next event: when, and its token.
    fn next_event(&self) -> Option<(Ps, u32)> {
        let (token, (due, _)) = self.events.iter().min_by_key(|(_, event)| **event)?;
        Some((*due, *token))
    }
}

/// A counter's name for as long as the program runs: there are as many as in the user's classes.
fn kept_name(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = names.get(name.as_str()) {
        return kept;
    }
    let kept: &'static str = Box::leak(name.into_boxed_str());
    names.insert(kept);
    kept
}
