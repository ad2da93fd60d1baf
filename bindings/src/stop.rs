//! The class `Stop`.

use std::sync::{Mutex, PoisonError};

use machine::ending::StopRequest;
use pyo3::prelude::*;

use crate::python::calls::Calls;

/// A request to stop: any thread, or a signal handler, may make it.
#[pyclass(frozen, module = "cyclescope._engine")]
#[derive(Default)]
pub struct Stop {
    request: StopRequest,
    /// The machines whose devices in Python are interrupted by it.
    calls: Mutex<Vec<Calls>>,
}

impl Stop {
    /// The engine's side of the request.
    pub fn shared(&self) -> StopRequest {
        self.request.clone()
    }

    /// Also interrupts a machine's devices in Python.
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

    /// Requests the stop of runs with this object, now and later.
    fn request(&self, py: Python<'_>) {
        self.request.make();
        // The holder of this lock also holds the interpreter's lock.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|calls| calls.interrupt(py));
    }

    /// True if a stop was requested.
    #[getter]
    fn requested(&self) -> bool {
        self.request.is_made()
    }

    /// The simulated time that a run with this stop has reached, in picoseconds.
    ///
    /// The time is some tenths of a second old.
    #[getter]
    fn reached_ps(&self) -> u64 {
        self.request.reached().0
    }
}
