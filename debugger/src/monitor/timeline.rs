//! `monitor trace`: the activities of devices and cores between two halts, as a timeline.

use engine::activity::{Kind, Kinds};
use engine::dt::fault::similar_names;
use engine::time::Ps;
use machine::tracing::Recorded;

use super::files;
use crate::target::Held;

/// Memory for activities, and for calls of functions: the first ones are dropped if it does not suffice.
const MOST_BYTES: usize = 32 << 20;
/// The memory of a call, including its name in the file.
const CALL_BYTES: usize = 176;
/// The kind that stands for functions of cores.
const FUNCTION: &str = "function";
/// The name for the kinds that are recorded if none are chosen.
const DEFAULT: &str = "default";
const BY_DEFAULT: Kinds = Kinds::ALL.without(Kind::InPlace).without(Kind::Bus).without(Kind::Queue).without(Kind::Pin);

/// Starts the recording.
pub fn on(held: &mut Held, words: &[&str]) -> String {
    let (kinds, functions) = match chosen(&words.join(" ")) {
        Ok(chosen) => chosen,
        Err(why) => return why,
    };
    if held.recorded.is_kept {
        return "a timeline is recorded already, by --trace, from the start\n".to_owned();
    }
    if held.machine.recording().is_kept {
        return "a timeline is recorded already; monitor trace off FILE writes it\n".to_owned();
    }
    // A profile that the user started would be restarted.
    let follows = functions && !held.machine.has_profile();
    let calls = follows.then_some(MOST_BYTES / CALL_BYTES);
    let from = held.machine.latest();
    held.machine.record_timeline(Recorded { kinds, calls, most_bytes: MOST_BYTES, from, to: Ps::MAX });
    let without = if functions && !follows { "; without functions, as a profile is being recorded" } else { "" };
    format!("records from {from} ({} ps) on{without}\n", from.0)
}

/// Writes the recording, and ends it.
pub fn off(held: &mut Held, path: &str) -> String {
    if held.recorded.is_kept {
        return "--trace records, and writes its file at the end of the run\n".to_owned();
    }
    if !held.machine.recording().is_kept {
        return "nothing is recorded: monitor trace on begins that, and going back to before it ends it\n".to_owned();
    }
    match files::write(path, "timeline", held.machine.timeline_so_far()) {
        Ok(()) => {
            held.machine.end_timeline(held.recorded);
            format!("{}: a timeline up to {}\n", path.escape_debug(), held.machine.latest())
        }
        Err(why) => why,
    }
}

/// The kinds that a user names, separated by commas, and whether functions are among them.
fn chosen(names: &str) -> Result<(Kinds, bool), String> {
    if names.is_empty() {
        return Ok((BY_DEFAULT, true));
    }
    let (mut kinds, mut functions) = (Kinds::NONE, false);
    for name in names.split(',').map(str::trim) {
        if name == DEFAULT {
            kinds = Kind::ALL.into_iter().filter(|kind| BY_DEFAULT.has(*kind)).fold(kinds, Kinds::with);
            functions = true;
        } else if name == FUNCTION {
            functions = true;
        } else if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) {
            kinds = kinds.with(kind);
        } else {
            return Err(unknown(name));
        }
    }
    Ok((kinds, functions))
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).chain([FUNCTION, DEFAULT]).collect();
    let similar = similar_names(name, names.iter().copied());
    let hint = match similar.is_empty() {
        true => format!("there are {}", names.join(", ")),
        false => format!("did you mean {}?", similar.join(" or ")),
    };
    format!("no kind of activity is called '{}'; {hint}\n", name.escape_debug())
}
