//! The `monitor` commands for conditions.

use std::fmt::Write as _;

use machine::Machine;
use machine::triggers::Action;

use crate::conditions::{condition, refusal};

/// Runs a command for conditions, and returns its text for the user; `None` for other commands.
pub fn run(machine: &mut Machine, command: &str) -> Option<String> {
    let (name, rest) = command.trim().split_once(char::is_whitespace).unwrap_or((command.trim(), ""));
    let rest = rest.trim();
    Some(match (name, rest) {
        ("break-when", text) if !text.is_empty() => add(machine, text, Action::Halt),
        ("count-when", text) if !text.is_empty() => add(machine, text, Action::Count),
        ("triggers", "") => list(machine),
        ("remove-trigger", number) => match number.parse().is_ok_and(|number| machine.remove_trigger(number)) {
            true => String::new(),
            false => format!("there is no trigger '{}'; monitor triggers lists them\n", number.escape_debug()),
        },
        _ => return None,
    })
}

fn add(machine: &mut Machine, text: &str, action: Action) -> String {
    match condition(machine, text) {
        Ok(truth) => format!("trigger {}: {text}\n", machine.add_trigger(text, truth, action)),
        Err(why) => format!("{}\n", refusal(text, &why)),
    }
}

fn list(machine: &Machine) -> String {
    let (mut text, now) = (String::new(), machine.time_of_core(machine.main_core()));
    for (number, trigger) in machine.triggers().iter().enumerate() {
        let what = if trigger.action == Action::Halt { "break-when" } else { "count-when" };
        let seen = trigger.seen;
        let times = if seen.count == 1 { "once".to_owned() } else { format!("{} times", seen.count) };
        let _ = write!(text, "{number}: {what} {}: {times}, true for {}", trigger.text, seen.held_until(now));
        let _ = match seen.last {
            Some(last) => writeln!(text, ", last from {last} ({} ps) on", last.0),
            None => writeln!(text),
        };
    }
    if text.is_empty() { "there are no triggers: monitor break-when CONDITION\n".to_owned() } else { text }
}
