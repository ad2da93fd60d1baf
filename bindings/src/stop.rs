//! The class `Stop`.

use std::sync::{Mutex, PoisonError};

use cyclescope_engine::machine::ending::StopRequest;
use pyo3::prelude::*;

use crate::python::calls::Calls;

/// A wish to stop: any thread, or a signal handler, may ask a run for it.
#[pyclass(frozen, module = "cyclescope._engine")]
#[derive(Default)]
pub struct Stop {
    request: StopRequest,
    /// Of the machines whose devices in Python are to be interrupted.
    calls: Mutex<Vec<Calls>>,
}

impl Stop {
    /// The engine's end of it.
    pub fn shared(&self) -> StopRequest {
        self.request.clone()
    }

    /// It is to interrupt a machine's devices in Python, too.
    pub fn reaches(&self, calls: &Calls) {
        let mut all = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(Calls::has_devices);
        all.push(calls.clone());
    }
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Has the runs that were given this stop, now and later.
    fn request(&self, py: Python<'_>) {
        self.request.make();
        // The interpreter's lock is held by who holds this one.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|calls| calls.interrupt(py));
    }

    /// True if someone asked for it.
    #[getter]
    fn requested(&self) -> bool {
        self.request.is_made()
    }

    /// How far a run with this stop has come, in simulated picoseconds.
    ///
    /// That is some tenths of a second old.
    #[getter]
    fn reached_ps(&self) -> u64 {
        self.request.reached().0
    }
}
