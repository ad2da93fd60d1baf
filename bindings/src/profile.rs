//! Profiles as Python's objects.

use engine::elf::debug::Place;
use engine::observe::profile::{CallPath, CoreProfile, PathKind, TakenInterrupt, TimedCall};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A call path: parent (-1: none), kind, address (-1: none), name, number of calls; cycles of all calls together, of
/// the longest and of the shortest; when the longest began.
type PathItem<'a> = (i64, &'static str, i64, &'a str, u64, u64, u64, u64, u64);

/// A place: function, file, line, column.
pub type PlaceItem = (String, Option<String>, Option<u32>, Option<u32>);

/// The profile of a core.
pub fn profile<'py>(py: Python<'py>, profile: &CoreProfile) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("core", &profile.name)?;
    let rates: Vec<(u64, u64)> = profile.rates.iter().map(|(rate, cycles)| (rate.get(), cycles.0)).collect();
    dict.set_item("rates", rates)?;
    dict.set_item("causes", &profile.causes)?;
    dict.set_item("paths", profile.paths.iter().map(path).collect::<Vec<_>>())?;
    // where the calls of each path return to
    let sites = profile.paths.iter().map(|path| path.return_address.map_or(-1, i64::from));
    dict.set_item("sites", sites.collect::<Vec<_>>())?;
    let address = |address: Option<u32>| address.map_or(-1, i64::from);
    let costs = profile.costs.iter().map(|cost| (cost.path, address(cost.address), cost.executions));
    dict.set_item("costs", costs.collect::<Vec<_>>())?;
    let of_cost = |(index, cost): (usize, &engine::observe::profile::InstructionCost)| {
        cost.charges.iter().map(move |(cause, rate, cycles)| (index, *cause, *rate, *cycles)).collect::<Vec<_>>()
    };
    let charges: Vec<(usize, u32, u32, u64)> = profile.costs.iter().enumerate().flat_map(of_cost).collect();
    dict.set_item("charges", charges)?;
    let took = |call: &TimedCall| (call.path, call.begun.0, call.elapsed.0, call.ended.0.saturating_sub(call.begun.0));
    let calls = profile.calls.iter().map(|calls| calls.iter().map(took).collect::<Vec<_>>());
    dict.set_item("calls", calls.collect::<Vec<_>>())?;
    let waits = profile.waits.iter().map(|(path, what, time)| (*path, what, time.0));
    dict.set_item("waits", waits.collect::<Vec<_>>())?;
    dict.set_item("interrupts", profile.interrupts.iter().map(interrupt).collect::<Vec<_>>())?;
    dict.set_item("notes", &profile.notes)?;
    Ok(dict)
}

fn path(path: &CallPath) -> PathItem<'_> {
    let kind = match path.kind {
        PathKind::Task => "task",
        PathKind::Function => "function",
        PathKind::Exception => "exception",
    };
    let number = |number: Option<u32>| number.map_or(-1, i64::from);
    let times = (path.elapsed.0, path.longest.0, path.shortest.0, path.longest_at.0);
    let (elapsed, longest, shortest, longest_at) = times;
    (number(path.parent), kind, number(path.address), &path.name, path.calls, elapsed, longest, shortest, longest_at)
}

/// Path, device, input, when the line went high, when it was taken, when its handler began and ended, cycles of the
/// handler.
type InterruptItem<'a> = (u32, Option<&'a str>, Option<u32>, Option<u64>, u64, u64, u64, u64);

fn interrupt(interrupt: &TakenInterrupt) -> InterruptItem<'_> {
    let TakenInterrupt { path, input, by, raised, taken, begun, ended, cycles } = interrupt;
    (*path, by.as_deref(), *input, raised.map(|at| at.0), taken.0, begun.0, ended.0, cycles.0)
}

/// A place in the source.
pub fn place(place: Place) -> PlaceItem {
    (place.function, place.file, place.line, place.column)
}
