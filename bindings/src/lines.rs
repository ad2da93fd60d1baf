//! Who is at the other end of a serial line, or on a CAN bus, from Python's objects.

use cyclescope_engine::serial::FarEnd;
use cyclescope_engine::serial::script::{Action, Script, Step};
use cyclescope_engine::time::Ps;
use cyclescope_engine::wire::can::script::{self as can, Partner, Pattern};
use cyclescope_engine::wire::can::{BitTime, Frame};
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

/// A frame: its identifier, whether that has 29 bits, whether it is a remote frame, its length code, its data.
pub type FrameItem = (u32, bool, bool, u8, Vec<u8>);
/// A step of a node on a CAN bus: its place, what it does, its frame, whether any data will do, its number.
pub type CanStepItem = (String, String, Option<FrameItem>, bool, Option<u64>);

/// A node on a CAN bus that no firmware drives. Raises EngineError for a step or a rate that is none.
pub fn partner(
    name: &str,
    steps: Option<List<CanStepItem>>,
    logs: bool,
    bits_per_second: Option<u32>,
) -> PyResult<Partner> {
    let time = match bits_per_second {
        None => None,
        Some(rate) => {
            let allowed = Some(rate).filter(|rate| (10_000..=1_000_000).contains(rate));
            Some(
                allowed
                    .and_then(BitTime::of_rate)
                    .ok_or_else(|| EngineError::new_err(format!("{rate} bit/s: a CAN bus has 10000 to 1000000")))?,
            )
        }
    };
    let steps: Option<PyResult<Vec<can::Step>>> = steps.map(|steps| steps.0.into_iter().map(can_step).collect());
    Ok(Partner::new(name, time, logs, steps.transpose()?))
}

fn can_step((place, what, frame, any_data, number): CanStepItem) -> PyResult<can::Step> {
    let frame = frame.map(|(id, is_extended, is_remote, length, bytes)| {
        let mut data = [0; 8];
        data.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        let id = id & if is_extended { 0x1fff_ffff } else { 0x7ff };
        Frame { id, is_extended, is_remote, length: length & 0xf, data }
    });
    let action = match (what.as_str(), frame, number) {
        ("expect", Some(frame), within) => can::Action::Expect(Pattern { frame, any_data }, within.map(Ps)),
        ("send", Some(frame), None) => can::Action::Send(frame),
        ("wait", None, Some(time)) => can::Action::Wait(Ps(time)),
        ("at", None, Some(time)) => can::Action::At(Ps(time)),
        ("end", None, Some(status)) => can::Action::End(i32::try_from(status).unwrap_or(i32::MAX)),
        _ => return Err(EngineError::new_err(format!("a script has no step '{}' like this", what.escape_debug()))),
    };
    Ok(can::Step { place, action })
}
