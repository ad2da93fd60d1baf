//! Snapshots of machines, as bytes.

use machine::Machine;
use machine::snapshots::{Snapshot, SnapshotError};
use pyo3::prelude::*;

use crate::EngineError;

/// A snapshot of a machine.
pub fn taken(engine: &mut Machine) -> PyResult<Vec<u8>> {
    Ok(engine.snapshot().map_err(engine_error)?.to_bytes())
}

/// Loads one.
pub fn load(engine: &mut Machine, bytes: &[u8]) -> PyResult<()> {
    Snapshot::from_bytes(bytes).and_then(|snapshot| engine.restore(&snapshot)).map_err(engine_error)
}

/// When one was taken, in picoseconds.
#[pyfunction]
pub fn snapshot_time_ps(snapshot: crate::arguments::Arg<pyo3::pybacked::PyBackedBytes>) -> PyResult<u64> {
    Snapshot::from_bytes(&snapshot.0).map(|snapshot| snapshot.time().0).map_err(engine_error)
}

fn engine_error(error: SnapshotError) -> PyErr {
    EngineError::new_err(error.to_string())
}
