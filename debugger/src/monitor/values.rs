//! A state as text, for people: one line for each value, by its name.

use engine::state::Shown;
use engine::time::Ps;

/// Items of a list of numbers that are shown without `all`.
const ITEMS: usize = 8;
/// Bytes that are shown without `all`.
const BYTES: usize = 16;
/// Pairs of a map that are shown without `all`.
const PAIRS: usize = 8;
/// Items of other lists that are shown without `all`; identical items are shown once.
const RUNS: usize = 4;

/// A value's dotted name, and the value.
pub type Line = (String, String);

/// The lines of a state; with `all`, nothing is shortened. Parts with labels of their own are only named.
pub fn lines(shown: &Shown, all: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    // The fields of a labelled part other than its target belong to the part that it is connected to.
    let part = shown.label().and_then(|_| shown.field("target"));
    part.iter().for_each(|part| add(String::new(), part, all, &mut lines));
    match shown {
        Shown::Fields(None, fields) if part.is_some() => {
            for (name, shown) in fields.iter().filter(|(name, _)| !["target", "label"].contains(name)) {
                add((*name).to_owned(), shown, all, &mut lines);
            }
        }
        _ => add(String::new(), shown, all, &mut lines),
    }
    lines
}

fn add(name: String, shown: &Shown, all: bool, lines: &mut Vec<Line>) {
    if let Some(label) = shown.label().filter(|_| !name.is_empty()) {
        lines.push((name, format!("{label}, which monitor device {label} shows")));
        return;
    }
    if let Some(text) = in_line(shown, all) {
        lines.push((name, text));
        return;
    }
    match shown {
        Shown::Map(pairs) => {
            let most = if all { pairs.len() } else { PAIRS };
            for (key, value) in pairs.iter().take(most) {
                let key = in_line(key, all).unwrap_or_else(|| "...".to_owned());
                add(format!("{name}[{key}]"), value, all, lines);
            }
            if most < pairs.len() {
                lines.push((name, format!("... {} items", pairs.len())));
            }
        }
        Shown::Fields(variant, fields) => {
            if let Some(variant) = variant {
                lines.push((name.clone(), (*variant).to_owned()));
            }
            for (field, shown) in fields {
                let dot = if name.is_empty() { "" } else { "." };
                add(format!("{name}{dot}{field}"), shown, all, lines);
            }
        }
        Shown::List(items) => {
            let runs = runs(items);
            let most = if all { runs.len() } else { RUNS };
            for (first, last) in runs.iter().take(most) {
                let place = if first == last { first.to_string() } else { format!("{first}-{last}") };
                add(format!("{name}[{place}]"), &items[*first], all, lines);
            }
            if most < runs.len() {
                lines.push((name, format!("... {} items", items.len())));
            }
        }
        _ => {}
    }
}

/// First and last indices of runs of identical items.
fn runs(items: &[Shown]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        match runs.last_mut() {
            Some((first, last)) if items[*first] == *item => *last = place,
            _ => runs.push((place, place)),
        }
    }
    runs
}

/// The text of a value that fits on a line, or of a list of such values.
fn in_line(shown: &Shown, all: bool) -> Option<String> {
    Some(match shown {
        Shown::Number(number) => of_number(*number),
        Shown::Signed(number) => number.to_string(),
        Shown::Time(ps) if *ps < 1000 => format!("{ps} ps"),
        Shown::Time(ps) => format!("{} ({ps} ps)", Ps(*ps)),
        Shown::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Shown::Text(text) => text.escape_debug().to_string(),
        Shown::Nothing => "none".to_owned(),
        Shown::Bytes(bytes) => of_bytes(bytes, all),
        Shown::List(items) => of_list(items, all)?,
        Shown::Fields(None, fields) if fields.is_empty() => "none".to_owned(),
        Shown::Map(pairs) if pairs.is_empty() => "[]".to_owned(),
        Shown::Fields(Some(variant), fields) if fields.iter().all(|(name, _)| is_place(name)) => {
            let values: Option<Vec<String>> = fields.iter().map(|(_, value)| in_line(value, all)).collect();
            format!("{variant}: {}", values?.join(", "))
        }
        Shown::Fields(..) | Shown::Map(_) => return None,
    })
}

/// True for the name of a field without a name, its number.
fn is_place(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit())
}

fn of_number(number: u64) -> String {
    if number < 10 { number.to_string() } else { format!("{number} ({number:#x})") }
}

fn of_bytes(bytes: &[u8], all: bool) -> String {
    let shown = if all { bytes.len() } else { bytes.len().min(BYTES) };
    let mut text: Vec<String> = bytes[..shown].iter().map(|byte| format!("{byte:02x}")).collect();
    if bytes.is_empty() {
        return "no bytes".to_owned();
    }
    if shown < bytes.len() {
        text.push(format!("... {} bytes", bytes.len()));
    }
    text.join(" ")
}

/// The text of a list of plain values.
fn of_list(items: &[Shown], all: bool) -> Option<String> {
    if items.is_empty() {
        return Some("[]".to_owned());
    }
    let plain = |item: &Shown| match item {
        Shown::Number(number) if *number < 10 => Some(number.to_string()),
        Shown::Number(number) => Some(format!("{number:#x}")),
        Shown::Time(ps) => Some(Ps(*ps).to_string()),
        Shown::List(_) | Shown::Map(_) | Shown::Fields(..) | Shown::Bytes(_) => None,
        other => in_line(other, all),
    };
    let plain: Vec<String> = items.iter().map(plain).collect::<Option<_>>()?;
    let shown = if all || plain.len() <= ITEMS + 1 { plain.len() } else { ITEMS };
    let rest = if shown < plain.len() { format!(", ... {} items", plain.len()) } else { String::new() };
    Some(format!("[{}{rest}]", plain[..shown].join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shown: &Shown, all: bool) -> Vec<String> {
        lines(shown, all).into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn values_are_named_by_their_places() {
        let port = |level| Shown::Fields(None, vec![("level", Shown::Flag(level))]);
        let state = Shown::Fields(
            None,
            vec![
                ("control", Shown::List(vec![Shown::Number(7), Shown::Number(255)])),
                ("phase", Shown::Fields(Some("Sends"), vec![("left", Shown::Nothing), ("at", Shown::Time(1_500_000))])),
                ("ports", Shown::List(vec![port(true), port(true), port(false)])),
                ("divider", Shown::Number(434)),
                ("idle", Shown::Text("Idle".to_owned())),
                ("frame", Shown::Fields(Some("Known"), vec![("0", Shown::Number(6)), ("1", Shown::Number(1))])),
            ],
        );
        let expected = [
            "control=[7, 0xff]",
            "phase=Sends",
            "phase.left=none",
            "phase.at=1.500 us (1500000 ps)",
            "ports[0-1].level=yes",
            "ports[2].level=no",
            "divider=434 (0x1b2)",
            "idle=Idle",
            "frame=Known: 6, 1",
        ];
        assert_eq!(text(&state, false), expected);
    }

    #[test]
    fn what_is_long_is_cut_short_unless_all_is_asked_for() {
        let state = Shown::Fields(
            None,
            vec![
                ("bytes", Shown::Bytes((0..20).collect())),
                ("items", Shown::List((0..40).map(Shown::Number).collect())),
                ("slots", Shown::List((0..9).map(|at| Shown::Fields(None, vec![("at", Shown::Time(at))])).collect())),
            ],
        );
        let short = text(&state, false);
        assert!(short[0].ends_with(" 0e 0f ... 20 bytes"), "{short:?}");
        assert_eq!(short[1], "items=[0, 1, 2, 3, 4, 5, 6, 7, ... 40 items]");
        assert_eq!(
            short[2..],
            ["slots[0].at=0 ps", "slots[1].at=1 ps", "slots[2].at=2 ps", "slots[3].at=3 ps", "slots=... 9 items"]
        );
        let all = text(&state, true);
        assert_eq!(all.len(), 2 + 9);
        assert!(all[0].ends_with(" 12 13") && all[1].ends_with(", 0x27]"), "{all:?}");
    }

    #[test]
    fn maps_have_keys_and_chips_are_only_named() {
        let pair = (Shown::Number(3), Shown::Flag(true));
        let target = Shown::Fields(None, vec![("busy", Shown::Flag(true))]);
        let label = Shown::Text("flash0".to_owned());
        let chip = vec![("target", target), ("label", label), ("level", Shown::Flag(false))];
        let state = Shown::Fields(
            None,
            vec![("map", Shown::Map(vec![pair])), ("chips", Shown::List(vec![Shown::Fields(None, chip.clone())]))],
        );
        assert_eq!(text(&state, false), ["map[3]=yes", "chips[0]=flash0, which monitor device flash0 shows"]);
        assert_eq!(text(&Shown::Fields(None, chip), false), ["busy=yes", "level=no"]);
    }
}
