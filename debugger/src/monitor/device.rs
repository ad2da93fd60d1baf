//! `monitor device`: a device's registers, and its state by its model's names for it.

use std::fmt::Write as _;

use engine::dt::fault::similar_names;
use machine::Machine;

use super::values::{self, Line};

/// The number of lines of a state, and of registers, that are shown without `all`: together a screen or two.
pub const LINES: usize = 40;

/// Describes a device or a chip, by its label, with at most `most` lines of each part.
pub fn describe(machine: &mut Machine, label: &str, most: Option<usize>) -> String {
    let Some(state) = machine.device_state(label) else { return unknown(machine, label) };
    let mut text = title(machine, label);
    match machine.named_registers(label) {
        Ok(registers) if registers.is_empty() => {}
        Ok(registers) => {
            let lines: Vec<Line> = registers
                .into_iter()
                .map(|(register, value)| {
                    let value = value.map_or_else(|| "an error answers".to_owned(), |value| format!("{value:#010x}"));
                    (format!("{} at {:#010x}", register.name, register.addr), value)
                })
                .collect();
            add(&mut text, "registers, as a core would read them now:", &lines, label, most);
        }
        Err(why) => {
            let _ = writeln!(text, "registers can't be read: {why}");
        }
    }
    let lines = values::lines(&state, most.is_none());
    if lines.is_empty() {
        text.push_str("it has no state\n");
    } else {
        add(&mut text, "state, as of when it last did something:", &lines, label, most);
    }
    text
}

fn title(machine: &Machine, label: &str) -> String {
    let hosts = machine.labels_with_states();
    let host = hosts.into_iter().find(|(own, _)| own == label).and_then(|(_, host)| host);
    let known = machine.description().devices.iter().find(|device| device.name == label);
    match (host, known) {
        (Some(host), _) => format!("{label}, on {host}\n"),
        (None, Some(device)) => {
            let ranges: Vec<String> =
                device.ranges.iter().map(|(base, last)| format!("{base:#010x}-{last:#010x}")).collect();
            format!("{label}: {}, {}\n", device.compatible, ranges.join(", "))
        }
        (None, None) => format!("{label}\n"),
    }
}

fn add(text: &mut String, title: &str, lines: &[Line], label: &str, most: Option<usize>) {
    let shown = most.unwrap_or(lines.len()).min(lines.len());
    let width = lines[..shown].iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "{title}");
    for (name, value) in &lines[..shown] {
        let _ = writeln!(text, "  {name:<width$}  {value}");
    }
    if shown < lines.len() {
        let _ = writeln!(text, "  ... and {} more: monitor device {label} all", lines.len() - shown);
    }
}

fn unknown(machine: &Machine, label: &str) -> String {
    let labels: Vec<String> = machine.labels_with_states().into_iter().map(|(label, _)| label).collect();
    let similar = similar_names(label, labels.iter().map(String::as_str));
    let hint = match similar.is_empty() {
        true => "monitor devices lists them".to_owned(),
        false => format!("did you mean {}?", similar.join(" or ")),
    };
    format!("the board has no device '{}'; {hint}\n", label.escape_debug())
}
