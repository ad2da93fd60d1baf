//! Who is at the other end of a serial line, from Python's objects.

use cyclescope_engine::bus::Bus;
use cyclescope_engine::serial::FarEnd;
use cyclescope_engine::serial::script::{Action, Script, Step, Wanted};
use cyclescope_engine::time::Ps;
use cyclescope_engine::wires::Pin;
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::List;

/// A step: its place, what it does, its characters, its number (a time in picoseconds, or an exit status).
pub type StepItem = (String, String, Vec<u8>, Option<u64>);

/// Somebody who types these characters, or follows a script.
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

/// A step that has to do with pins: its characters are a name, and behind a blank what is done there or waited for.
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
