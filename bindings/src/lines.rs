//! The other ends of serial lines and CAN buses, from Python's objects.

use engine::bus::Bus;
use engine::pins::Pin;
use engine::serial::FarEnd;
use engine::serial::script::{Action, Script, Step, Wanted};
use engine::time::Ps;
use engine::wire::can::script::{self as can, Partner, Pattern};
use engine::wire::can::{BitTime, Frame};
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::List;

/// A step: its place, its action, its characters, its number (a time in picoseconds, or an exit status).
pub type StepItem = (String, String, Vec<u8>, Option<u64>);

/// Someone who types these characters or follows a script.
pub fn far_end(characters: Vec<u8>, script: Option<List<StepItem>>, bus: &Bus) -> PyResult<FarEnd> {
    match script {
        None => Ok(FarEnd::typing(characters)),
        Some(steps) => {
            let steps: PyResult<Vec<Step>> = steps.0.into_iter().map(|item| step(item, bus)).collect();
            Ok(FarEnd::following(Script::new(steps?)))
        }
    }
}

fn step((place, what, text, number): StepItem, bus: &Bus) -> PyResult<Step> {
    let action = match (what.as_str(), number) {
        ("expect", within) => Action::Expect(text, within.map(Ps)),
        ("send", None) => Action::Send(text),
        ("wait", Some(time)) => Action::Wait(Ps(time)),
        ("at", Some(time)) => Action::At(Ps(time)),
        ("end", Some(status)) => Action::End(i32::try_from(status).unwrap_or(i32::MAX)),
        _ => pin_step(&what, &text, number, bus).ok_or_else(|| {
            let (what, text) = (what.escape_debug(), text.escape_ascii());
            EngineError::new_err(format!("{place}: a script has no step '{what} {text}' like this"))
        })?,
    };
    Ok(Step { place, action })
}

/// A step for pins: its characters are the name, a blank, and what is driven or expected.
fn pin_step(what: &str, text: &[u8], number: Option<u64>, bus: &Bus) -> Option<Action> {
    let (name, how) = std::str::from_utf8(text).ok()?.rsplit_once(' ')?;
    let within = number.map(Ps);
    match (what, how) {
        ("pin", "low" | "high") => Some(Action::Drive(bus.pin_named(name)?, Some(how == "high"))),
        ("pin", "release") => Some(Action::Drive(bus.pin_named(name)?, None)),
        ("key", "press" | "release") => {
            let key = bus.keys().find(|key| key.names.iter().any(|known| known == name))?;
            Some(Action::Drive(key.pin, (how == "press").then_some(!key.active_low)))
        }
        ("expect pin", "low" | "high") => {
            let missing = format!("{name} did not go {how}");
            Some(expect(bus.pin_named(name)?, (how == "high", false), missing, ["low", "high"], within))
        }
        ("expect pin", "rise" | "fall") => {
            let missing = format!("{name} did not {how}");
            Some(expect(bus.pin_named(name)?, (how == "rise", true), missing, ["low", "high"], within))
        }
        ("expect led", "on" | "off") => {
            let light = bus.lights(Ps::ZERO).into_iter().find(|light| light.names.iter().any(|known| known == name))?;
            let missing = format!("{name} did not go {how}");
            let words = if light.active_low { ["on", "off"] } else { ["off", "on"] };
            Some(expect(light.pin, ((how == "on") != light.active_low, false), missing, words, within))
        }
        _ => None,
    }
}

fn expect(pin: Pin, (level, is_edge): (bool, bool), missing: String, words: [&str; 2], within: Option<Ps>) -> Action {
    Action::ExpectPin(Wanted { pin, level, is_edge, missing, words: words.map(str::to_owned) }, within)
}

/// A frame: its identifier, whether that has 29 bits, whether it is a remote frame, its length code, its data.
pub type FrameItem = (u32, bool, bool, u8, Vec<u8>);
/// A step of a node on a CAN bus: its place, its action, its frame, whether any data matches, its number.
pub type CanStepItem = (String, String, Option<FrameItem>, bool, Option<u64>);

/// A node on a CAN bus without firmware. Raises EngineError for an unknown step or an impossible rate.
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
