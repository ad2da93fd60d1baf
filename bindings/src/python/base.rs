//! The class `DeviceBase`: the interface to the engine for a device in Python during a call.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A request of a device during a call. They are kept in order.
pub enum Effect {
    /// `event(token)` at a time. A token has at most one pending event.
    Schedule { due_ps: u64, token: u32 },
    /// Cancels the event with this token.
    Cancel { token: u32 },
    /// The level of an interrupt line.
    Irq { index: usize, level: bool },
    /// A pin is driven to a level, or released.
    Drive { index: usize, level: Option<bool> },
    /// A note for the user.
    Note(String),
    /// Complete lines of output.
    Print(String),
    /// The end of the run.
    Exit(i32),
}

/// State that the engine and the object share.
#[derive(Default)]
pub struct State {
    /// The time of the call.
    pub now_ps: u64,
    /// Which of the node's ranges is accessed.
    pub range: usize,
    /// The levels of its pins at the time of the call.
    pub levels: Vec<bool>,
    /// The requests during the call.
    pub effects: Vec<Effect>,
}

/// The base class of `cyclescope.devices.Device` and of chips.
#[pyclass(frozen, subclass, module = "cyclescope._engine")]
#[derive(Default)]
pub struct DeviceBase(Mutex<State>);

impl DeviceBase {
    /// The shared state. Python must not be called while the guard is held.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, effect: Effect) {
        self.state().effects.push(effect);
    }
}

#[pymethods]
impl DeviceBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> DeviceBase {
        DeviceBase::default()
    }

    /// The simulated time of the access or event, in picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.state().now_ps
    }

    /// Which of the ranges of the node's `reg` is accessed, from 0.
    #[getter]
    fn range(&self) -> usize {
        self.state().range
    }

    /// Requests `event(token)` at a time. It replaces an earlier request with this token.
    fn _schedule(&self, due_ps: u64, token: u32) {
        self.ask(Effect::Schedule { due_ps, token });
    }

    /// Cancels the event with this token.
    fn _cancel(&self, token: u32) {
        self.ask(Effect::Cancel { token });
    }

    /// Sets the level of an interrupt line.
    fn _irq(&self, index: usize, level: bool) {
        self.ask(Effect::Irq { index, level });
    }

    /// Drives a pin, or releases it.
    fn _drive(&self, index: usize, level: Option<bool>) {
        let mut state = self.state();
        if let (Some(known), Some(level)) = (state.levels.get_mut(index), level) {
            *known = level;
        }
        state.effects.push(Effect::Drive { index, level });
    }

    /// The level of a pin.
    fn _level(&self, index: usize) -> bool {
        self.state().levels.get(index).copied().unwrap_or(false)
    }

    /// Gives the user a note.
    fn _note(&self, text: String) {
        self.ask(Effect::Note(text));
    }

    /// Prints lines.
    fn _print(&self, text: String) {
        self.ask(Effect::Print(text));
    }

    /// Ends the run.
    fn _exit(&self, status: i32) {
        self.ask(Effect::Exit(status));
    }
}
