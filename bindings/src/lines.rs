//! Who is at the other end of a serial line, from Python's objects.

use cyclescope_engine::serial::FarEnd;
use cyclescope_engine::serial::script::{Action, Script, Step};
use cyclescope_engine::time::Ps;
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::List;

/// A step: its place, what it does, its characters, its number (a time in picoseconds, or an exit status).
pub type StepItem = (String, String, Vec<u8>, Option<u64>);

/// Somebody who types these characters, or follows a script.
pub fn far_end(characters: Vec<u8>, script: Option<List<StepItem>>) -> PyResult<FarEnd> {
    match script {
        None => Ok(FarEnd::typing(characters)),
        Some(steps) => {
            let steps: PyResult<Vec<Step>> = steps.0.into_iter().map(step).collect();
            Ok(FarEnd::following(Script::new(steps?)))
        }
    }
}

fn step((place, what, text, number): StepItem) -> PyResult<Step> {
    let action = match (what.as_str(), number) {
        ("expect", within) => Action::Expect(text, within.map(Ps)),
        ("send", None) => Action::Send(text),
        ("wait", Some(time)) => Action::Wait(Ps(time)),
        ("at", Some(time)) => Action::At(Ps(time)),
        ("end", Some(status)) => Action::End(i32::try_from(status).unwrap_or(i32::MAX)),
        _ => return Err(EngineError::new_err(format!("a script has no step '{}' like this", what.escape_debug()))),
    };
    Ok(Step { place, action })
}
