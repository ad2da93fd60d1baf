//! A check that snapshots have all state of a board's devices.

use std::collections::BTreeMap;

use machine::board::build::build_with;
use machine::exercise as engine;
use pyo3::prelude::*;

use crate::arguments::Arg;
use crate::machine::board_error;
use crate::python::calls::Calls;
use crate::python::models::externals;

/// Finds state of a board's devices that snapshots lose, by random accesses, `accesses` of them: at most one line. For
/// tests, and for authors of models. Raises BoardError.
#[pyfunction]
#[pyo3(signature = (board, models=None, seed=Arg(0), accesses=Arg(10_000)))]
pub fn exercise(
    py: Python<'_>,
    board: &Bound<'_, PyAny>,
    models: Option<&Bound<'_, PyAny>>,
    seed: Arg<u64>,
    accesses: Arg<u32>,
) -> PyResult<Vec<String>> {
    let (root, calls) = (crate::nodes::node(board)?, Calls::default());
    let externals = externals(models, &calls)?;
    crate::caught::caught(|| {
        let built = engine::exercise(|| build_with(&root, &externals), seed.0, accesses.0);
        built.map_err(|faults| board_error(py, &faults))
    })
}

/// Compares polling loops that are skipped with loops that are run, `loops` random ones on random devices of a board:
/// at most one difference, and the number of skipped iterations by device. For tests, and for authors of models. Raises
/// BoardError.
#[pyfunction]
#[pyo3(signature = (board, seed=Arg(0), loops=Arg(1_000)))]
pub fn exercise_polls(
    py: Python<'_>,
    board: &Bound<'_, PyAny>,
    seed: Arg<u64>,
    loops: Arg<u32>,
) -> PyResult<(Vec<String>, BTreeMap<String, u64>)> {
    let (root, calls) = (crate::nodes::node(board)?, Calls::default());
    let externals = externals(None, &calls)?;
    crate::caught::caught(|| {
        let found = engine::exercise_polls(|| build_with(&root, &externals), seed.0, loops.0);
        let found = found.map_err(|faults| board_error(py, &faults))?;
        Ok((found.differences, found.skipped))
    })
}
