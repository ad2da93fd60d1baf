//! The class `Stop`.

use cyclescope_engine::machine::ending::StopRequest;
use pyo3::prelude::*;

/// A wish to stop: any thread, or a signal handler, may ask a run for it.
#[pyclass(frozen, module = "cyclescope._engine")]
#[derive(Default)]
pub struct Stop(StopRequest);

impl Stop {
    /// The engine's end of it.
    pub fn shared(&self) -> StopRequest {
        self.0.clone()
    }
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Has the runs that were given this stop, now and later.
    fn request(&self) {
        self.0.make();
    }

    /// True if someone asked for it.
    #[getter]
    fn requested(&self) -> bool {
        self.0.is_made()
    }

    /// How far a run with this stop has come, in simulated picoseconds.
    ///
    /// That is some tenths of a second old.
    #[getter]
    fn reached_ps(&self) -> u64 {
        self.0.reached().0
    }
}
