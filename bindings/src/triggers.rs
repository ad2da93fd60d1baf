//! Triggers of a run: conditions, and actions for when they become true.

use cyclescope_debugger::conditions::{condition, refusal};
use engine::time::Ps;
use machine::Machine;
use machine::tracing::Recorded;
use machine::triggers::Action;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::EngineError;
use crate::activities::kinds_of;
use crate::arguments::{Arg, List};

/// Condition, action, number of times that it became true, first and last of them, and how long it was true.
pub type TriggerItem = (String, &'static str, u64, Option<u64>, Option<u64>, u64);
/// The contents of a timeline: kinds of activities, bytes of memory, calls of functions, and its length in picoseconds.
pub type TimelineItem = (List<String>, Arg<usize>, Option<usize>, Arg<u64>);

const HALT: &str = "halt";
const COUNT: &str = "count";
const TRACE: &str = "trace";
const SNAPSHOT: &str = "snapshot";

/// Adds a trigger.
pub fn add(engine: &mut Machine, text: &str, action: &str, timeline: Option<TimelineItem>) -> PyResult<usize> {
    let truth = condition(engine, text).map_err(|why| EngineError::new_err(refusal(text, &why)))?;
    let action = match (action, timeline) {
        (HALT, None) => Action::Halt,
        (COUNT, None) => Action::Count,
        (SNAPSHOT, None) => Action::Snapshot,
        (TRACE, Some((kinds, Arg(most_bytes), calls, length_ps))) => {
            let (kinds, to) = (kinds_of(Some(kinds))?, Ps(length_ps.0));
            Action::Trace(Recorded { kinds, calls, most_bytes, from: Ps::ZERO, to })
        }
        _ => {
            return Err(EngineError::new_err(format!(
                "no action '{}': halt, count, trace, snapshot",
                action.escape_debug()
            )));
        }
    };
    Ok(engine.add_trigger(text, truth, action))
}

/// All triggers, with their counts up to `now`.
pub fn all(engine: &Machine, now: Ps) -> Vec<TriggerItem> {
    let items = engine.triggers().iter().map(|trigger| {
        let action = match trigger.action {
            Action::Halt => HALT,
            Action::Count => COUNT,
            Action::Trace(_) => TRACE,
            Action::Snapshot => SNAPSHOT,
        };
        let seen = trigger.seen;
        let ps = |at: Option<Ps>| at.map(|at| at.0);
        (trigger.text.clone(), action, seen.count, ps(seen.first), ps(seen.last), seen.held_until(now).0)
    });
    items.collect()
}

/// Takes the snapshot that a trigger has made.
pub fn snapshot<'py>(py: Python<'py>, engine: &mut Machine) -> PyResult<Option<Bound<'py, PyBytes>>> {
    match engine.take_triggered_snapshot() {
        None => Ok(None),
        Some(Ok(snapshot)) => Ok(Some(PyBytes::new(py, &snapshot.to_bytes()))),
        Some(Err(why)) => Err(EngineError::new_err(why)),
    }
}
