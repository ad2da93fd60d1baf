//! The `monitor` commands: the parts of a board with real timing that a debugger does not show otherwise.

mod conditions;
mod device;
mod files;
mod timeline;
mod values;

use std::fmt::Write as _;

use engine::bus::device::AccessSize;
use engine::bus::watches::Watch;
use engine::core::CoreReport;
use engine::dt::fault::similar_names;
use engine::time::{Cycles, Ps};
use machine::Machine;

use crate::history::OutputLength;
use crate::target::Held;

const HELP: &str = "\
time                    simulated time, of all cores
cycles                  each core's cycles since the last halt, by cause; steps are no halts
stack                   each core's cycles since the run began, by cause
devices                 the board's devices, with their addresses, and chips on them
device NAME [all]       a device's registers and state, or a chip's, without side effects
wires                   levels of wires
events                  pending events of devices, the next one first
read ADDR [SIZE]        load 1, 2 or 4 bytes (4) like a core, with side effects on devices
write ADDR VALUE [SIZE] store like a core, with side effects on devices
snapshot FILE           writes a snapshot, to run on from with --from FILE
trace on [KIND,...]     records a timeline from now on: activities of the given kinds, or of most
trace off FILE          ends the recording, and writes it for Perfetto
reset [halt|init|run]   back to reset; the debugger's own writes are gone (then: maintenance flush register-cache)
halt, init              nothing: the board is halted, and needs no initialization (as OpenOCD has them)
last-write ADDR [SIZE]  the last store there: its instruction, and when
break-when CONDITION    halt where a condition becomes true, as in: time > duration(\"2ms\") && card0.busy
count-when CONDITION    count how often a condition becomes true
triggers                the conditions: how often each became true, and for how long
remove-trigger NUMBER   forget a condition
interrupts over|into    whether a step runs an interrupt's handler or enters it (over)
help                    this list
";

/// The part of an unknown command that is shown.
const MOST_SHOWN_CHARACTERS: usize = 80;

/// The reports of the cores at the last two halts; the ends of steps are no halts.
#[derive(Clone, Debug)]
pub struct Halts {
    last: Vec<CoreReport>,
    before: Vec<CoreReport>,
}

impl Halts {
    /// The machine is at its first halt.
    pub fn new(machine: &mut Machine) -> Halts {
        let last = machine.debug_reports();
        Halts { before: last.clone(), last }
    }

    /// The machine is at its next halt.
    pub fn add(&mut self, machine: &mut Machine) {
        self.before = std::mem::replace(&mut self.last, machine.debug_reports());
    }

    /// The reports from which cycles are counted for a machine with the reports `now`: at a halt, those of the one
    /// before.
    fn since(&self, now: &[CoreReport]) -> &[CoreReport] {
        if self.last == now { &self.before } else { &self.last }
    }
}

/// Restarts the run from where history starts. Later writes of the debugger are lost.
///
/// # Errors
/// Why that is not possible.
pub fn reset(held: &mut Held) -> Result<(), String> {
    held.history.reset(held.machine)?;
    if held.machine.begin_at_reset_vector() {
        held.history.begin_anew(held.machine);
    }
    (held.step, held.over) = (None, None);
    // The firmware's output is new again.
    (held.furthest, held.is_anew) = (OutputLength::default(), true);
    // Recorded characters are typed again, before people are asked.
    held.known_until = held.machine.last_typed().unwrap_or(Ps::ZERO);
    held.halts = Halts::new(held.machine);
    Ok(())
}

/// Runs a command, and returns its text for the user.
///
/// # Errors
/// The text for the user, if the command is not known.
pub fn run(held: &mut Held, command: &str) -> Result<String, String> {
    if let Some(answer) = conditions::run(held.machine, command) {
        return Ok(answer);
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    Ok(match words[..] {
        [] | ["help"] => HELP.to_owned(),
        ["time"] => time(held.machine),
        ["cycles"] => {
            let now = held.machine.debug_reports();
            cycles(&now, held.halts.since(&now))
        }
        ["stack"] => cycles(&held.machine.debug_reports(), &[]),
        ["devices"] => devices(held.machine),
        ["device", name] => device::describe(held.machine, name, Some(device::LINES)),
        ["device", name, "all"] => device::describe(held.machine, name, None),
        ["snapshot", ..] => files::with_file(command, 1, |path| files::snapshot(held.machine, path)),
        ["trace", "on", ref kinds @ ..] => timeline::on(held, kinds),
        ["trace", "off", ..] => files::with_file(command, 2, |path| timeline::off(held, path)),
        ["wires"] => wires(held.machine),
        ["events"] => events(held.machine),
        ["read", addr] => access(held, |machine| read(machine, addr, "4")),
        ["read", addr, size] => access(held, |machine| read(machine, addr, size)),
        ["write", addr, value] => access(held, |machine| write(machine, addr, value, "4")),
        ["write", addr, value, size] => access(held, |machine| write(machine, addr, value, size)),
        // Debuggers' set-ups send these to OpenOCD: while a client may send commands, the board is halted.
        ["halt" | "init"] | ["arm", "semihosting", "enable"] => String::new(),
        ["reset", ..] if !held.is_live && is_reset(&words) => "the run is over; run begins another one\n".to_owned(),
        ["reset", ..] if is_reset(&words) => match reset(held) {
            Ok(()) if words.last() == Some(&"run") => {
                "the board is at reset; it runs by continue or detach\n".to_owned()
            }
            Ok(()) => "the board is at reset\n".to_owned(),
            Err(why) => format!("no way back: {why}\n"),
        },
        ["last-write", addr] => last_write(held, addr, "4"),
        ["last-write", addr, size] => last_write(held, addr, size),
        ["interrupts", how @ ("over" | "into")] => {
            held.into_handlers = how == "into";
            format!("steps go {how} interrupt handlers\n")
        }
        [name, ..] => return Err(not_understood(name, command)),
    })
}

/// OpenOCD's words for kinds of resets.
fn is_reset(words: &[&str]) -> bool {
    matches!(words, ["reset"] | ["reset", "halt" | "init" | "run"])
}

fn not_understood(name: &str, command: &str) -> String {
    let names = HELP.lines().filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = names.filter_map(|line| line.split([' ', ',']).next()).collect();
    let shown: String = command.trim().chars().take(MOST_SHOWN_CHARACTERS).collect();
    // A long word is not a misspelt command.
    let similar =
        if name.len() > MOST_SHOWN_CHARACTERS { Vec::new() } else { similar_names(name, names.iter().copied()) };
    let hint = match (names.contains(&name), similar.is_empty()) {
        (true, _) => "it takes other words, or more".to_owned(),
        (false, true) => "there is no such command".to_owned(),
        (false, false) => format!("did you mean {}?", similar.join(" or ")),
    };
    format!("monitor {} is not understood: {hint}; monitor help lists the commands\n", shown.escape_debug())
}

fn time(machine: &Machine) -> String {
    let mut text = String::new();
    for core in 0..machine.core_count() {
        let (name, at) = (machine.core_name(core), machine.time_of_core(core));
        let _ = writeln!(text, "{name:<12} {at:>14} ({} ps), {}", at.0, machine.activity_of_core(core));
    }
    text
}

fn cycles(now: &[CoreReport], before: &[CoreReport]) -> String {
    let mut text = String::new();
    for (index, core) in now.iter().enumerate() {
        let before = before.get(index);
        let had = |cause: &str| -> u64 {
            let causes = before.map(CoreReport::causes).unwrap_or_default();
            causes.iter().filter(|(name, _)| name == cause).map(|(_, Cycles(count))| count).sum()
        };
        let total = core.cycles.0 - before.map_or(0, |before| before.cycles.0);
        let instructions = core.instructions - before.map_or(0, |before| before.instructions);
        let _ = writeln!(text, "{}: {total} cycles, {instructions} instructions", core.name);
        let mut seen: Vec<String> = Vec::new();
        for (cause, Cycles(count)) in core.causes() {
            // Two buses of a board may have the same name: the cause is shown once, with the sum.
            let count = if seen.contains(&cause) { 0 } else { count.saturating_sub(had(&cause)) };
            if count > 0 {
                let percent_tenths = u128::from(count) * 1000 / u128::from(total.max(1));
                let _ = writeln!(text, "  {count:>14}  {:>3}.{} %  {cause}", percent_tenths / 10, percent_tenths % 10);
            }
            seen.push(cause);
        }
    }
    text
}

fn devices(machine: &Machine) -> String {
    let mut text = String::new();
    for (label, host) in machine.labels_with_states() {
        let known = machine.description().devices.iter().find(|device| device.name == label);
        let _ = match (host, known) {
            (Some(host), _) => writeln!(text, "{label:<16} on {host}"),
            (None, Some(device)) => {
                let ranges: Vec<String> =
                    device.ranges.iter().map(|(base, last)| format!("{base:#010x}-{last:#010x}")).collect();
                writeln!(text, "{label:<16} {:<32} {}", device.compatible, ranges.join(", "))
            }
            (None, None) => writeln!(text, "{label}"),
        };
    }
    text
}

fn wires(machine: &mut Machine) -> String {
    let levels = machine.wire_levels();
    if levels.is_empty() {
        return "the board names no wires\n".to_owned();
    }
    levels.iter().map(|(name, level)| format!("{name:<24} {}\n", u8::from(*level))).collect()
}

fn events(machine: &Machine) -> String {
    let (events, now) = (machine.events_to_come(), machine.time_of_core(machine.main_core()));
    if events.is_empty() {
        return "no device has asked for an event\n".to_owned();
    }
    let line = |(due, device): &(Ps, String)| {
        let wait = due.saturating_sub(now);
        format!("{:<14} in {wait:<14} at {due} ({} ps)\n", device, due.0)
    };
    events.iter().map(line).collect()
}

/// Makes an access that is not part of the firmware's run: the run can't go back to before it.
fn access(held: &mut Held, make: impl FnOnce(&mut Machine) -> String) -> String {
    let answer = make(held.machine);
    held.begin_anew();
    answer
}

fn read(machine: &mut Machine, addr: &str, size: &str) -> String {
    let (Some(addr), Some(size)) = (number(addr), size_of(size)) else { return no_access() };
    let core = machine.main_core();
    let Some((physical, _)) = machine.physical(core, addr) else { return nothing(addr) };
    match machine.force_read(core, physical, size) {
        Ok(value) => format!("{value:#0width$x}\n", width = 2 + 2 * size.bytes() as usize),
        Err(_) => nothing(addr),
    }
}

fn write(machine: &mut Machine, addr: &str, value: &str, size: &str) -> String {
    let (Some(addr), Some(value), Some(size)) = (number(addr), number(value), size_of(size)) else {
        return no_access();
    };
    let core = machine.main_core();
    let Some((physical, _)) = machine.physical(core, addr) else { return nothing(addr) };
    machine.force_write(core, physical, size, value).map_or_else(|_| nothing(addr), |()| String::new())
}

/// Finds the last store to some bytes by going back; the machine stays at its current place.
fn last_write(held: &mut Held, addr: &str, size: &str) -> String {
    let (Some(addr), Some(size)) = (number(addr), size.parse::<u32>().ok().filter(|size| *size > 0)) else {
        return no_access();
    };
    let Some((first, _)) = held.machine.physical(held.machine.main_core(), addr) else { return nothing(addr) };
    let watch = Watch { first, last: first.saturating_add(size - 1), reads: false, writes: true };
    match held.history.last_access(held.machine, watch, held.limit) {
        Ok(Some(write)) => {
            let device = write.device.map(|device| format!(" by {device}")).unwrap_or_default();
            let (core, at) = (held.machine.core_name(write.core), write.time);
            let before = format!("instruction {} of {core}, before {:#010x}", write.instructions, write.pc);
            format!("stored{device} at {at} ({} ps), {before}\n", at.0)
        }
        Ok(None) => format!("nothing has stored to {addr:#010x} since history begins\n"),
        Err(why) => format!("no way back: {why}\n"),
    }
}

fn no_access() -> String {
    "an address, a value, and 1, 2 or 4 bytes: monitor read 0x40004400 4\n".to_owned()
}

fn nothing(addr: u32) -> String {
    format!("nothing, or an error, answers at {addr:#010x}\n")
}

/// A number in C's notation.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn size_of(text: &str) -> Option<AccessSize> {
    AccessSize::of_bytes(text.parse().ok()?)
}
