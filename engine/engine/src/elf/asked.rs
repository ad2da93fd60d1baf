//! Finds the function for a name given by the user: the symbol's name, the name in the source, or a part of it.

use super::Symbol;
use super::names::{Names, without_parameters};

/// Maximum nesting of types in a function's name, as in `<<T as A>::B as C>::d`.
const MOST_NESTED: usize = 8;
/// How many functions a message about an ambiguous name lists.
const MOST_LISTED: usize = 5;

/// The result of a search for a name.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant<'a> {
    /// One function, or several names of it.
    One(&'a Symbol),
    /// Several, in the order of their addresses: the name is ambiguous.
    Several(Vec<&'a Symbol>),
    /// No function.
    Nothing,
}

/// The function that is called `asked`. A name is compared with the symbols; then with the names in the source, with or
/// without parameters; then with these names without the compiler's suffixes (`.constprop.0`), type arguments and the
/// words of an `impl`; then with their last parts (`run` of `blink::run`). An address (`0x08000124`) also works. The
/// first comparison that finds a function counts.
pub fn meant<'a>(symbols: &'a [Symbol], asked: &str, names: &Names) -> Meant<'a> {
    if let Some(addr) = asked.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
        return one_of(symbols.iter().filter(|symbol| symbol.addr == addr).collect());
    }
    let exact = one_of(symbols.iter().filter(|symbol| symbol.name == asked).collect());
    if exact != Meant::Nothing || asked.is_empty() {
        return exact;
    }
    let written: Vec<(&Symbol, String)> = symbols
        .iter()
        .map(|symbol| (symbol, names.readable(&symbol.name)))
        .filter(|(_, name)| !name.is_empty())
        .collect();
    let wanted = plain(asked);
    let tail = format!("::{wanted}");
    let comparisons: [&dyn Fn(&str) -> bool; 4] =
        [&|name| name == asked, &|name| without_parameters(name) == asked, &|name| plain(name) == wanted, &|name| {
            plain(name).ends_with(&tail)
        }];
    let found = comparisons
        .iter()
        .map(|comparison| one_of(written.iter().filter(|(_, name)| comparison(name)).map(|(it, _)| *it).collect()));
    found.into_iter().find(|meant| *meant != Meant::Nothing).unwrap_or(Meant::Nothing)
}

/// "3 functions are called run: blink::run, led::run": the message for an ambiguous name, with a name for each by which
/// it is found.
pub fn several_text(asked: &str, found: &[&Symbol], names: &Names) -> String {
    let written: Vec<String> = found.iter().map(|symbol| names.readable(&symbol.name)).collect();
    let described: Vec<String> = found
        .iter()
        .zip(&written)
        .map(|(symbol, name)| match written.iter().filter(|other| *other == name).count() {
            1 => name.clone(),
            _ => format!("{name} at {:#010x}", symbol.addr),
        })
        .collect();
    let is_by_address = described.iter().zip(&written).any(|(described, name)| described != name);
    let more = if described.len() > MOST_LISTED { ", ..." } else { "" };
    let how =
        if is_by_address { "ask for one by more of its name, or by its address" } else { "give more of the name" };
    let listed = described[..described.len().min(MOST_LISTED)].join(", ");
    format!("{} functions may be meant by '{}': {listed}{more}: {how}", found.len(), asked.escape_debug())
}

/// Symbols of one address are one function; symbols with a size are preferred to labels.
fn one_of(mut found: Vec<&Symbol>) -> Meant<'_> {
    if found.iter().any(|symbol| symbol.bytes > 0) {
        found.retain(|symbol| symbol.bytes > 0);
    }
    found.sort_by_key(|symbol| symbol.addr);
    found.dedup_by_key(|symbol| symbol.addr);
    match found[..] {
        [] => Meant::Nothing,
        [one] => Meant::One(one),
        _ => Meant::Several(found),
    }
}

/// A name without its parameters, its type arguments, its return type, and compilers' suffixes: `blink::Led::set` for
/// `<blink::Led<3> as Output>::set`.
pub fn plain(name: &str) -> String {
    let name = name.split(" [clone ").next().unwrap_or(name);
    let name = without_parameters(name);
    if name.contains("operator") {
        return name.to_owned();
    }
    // no name of C has a dot: .isra.0, .constprop.1, .part.2, .cold
    let name = if name.contains("::") || name.starts_with('.') { name } else { name.split('.').next().unwrap_or(name) };
    let name = name.replace("(anonymous namespace)::", "");
    let short = without_arguments(&name, 0);
    match last_space(&short) {
        Some(space) => short[space + 1..].to_owned(),
        None => short,
    }
}

/// The last `parts` parts of a name: "Led::set" are two of "blink::Led::set".
pub fn last_parts(name: &str, parts: usize) -> &str {
    name.rmatch_indices("::").nth(parts.saturating_sub(1)).map_or(name, |(at, _)| &name[at + 2..])
}

/// Where a name begins after the function's return type.
fn last_space(name: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut found = None;
    for (at, character) in name.char_indices() {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => found = Some(at),
            _ => {}
        }
    }
    found
}

/// A name without the text in angle brackets. If it begins with a bracket, as Rust's names in an `impl` do, the type in
/// the brackets is kept.
fn without_arguments(name: &str, nested: usize) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(begin) = rest.find('<') {
        text.push_str(&rest[..begin]);
        let Some(end) = closing(&rest[begin..]) else {
            text.push_str(&rest[begin..]);
            return text;
        };
        if text.is_empty() && nested < MOST_NESTED {
            let inside = &rest[begin + 1..begin + end];
            let own = before_trait(inside).trim_start_matches(['&', '*']);
            let own = own.strip_prefix("mut ").or_else(|| own.strip_prefix("const ")).unwrap_or(own);
            text.push_str(&without_arguments(own.strip_prefix("dyn ").unwrap_or(own), nested + 1));
        } else if text.ends_with("::") {
            text.truncate(text.len() - 2);
        }
        rest = &rest[begin + end + 1..];
    }
    text.push_str(rest);
    text
}

/// The type of "blink::Led as blink::Output".
fn before_trait(inside: &str) -> &str {
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, character) in inside.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && inside[at..].starts_with(" as ") => return &inside[..at],
            _ => {}
        }
        before = character;
    }
    inside
}

/// The position of the bracket that closes the one at the start of a text.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            // of a function's type: fn() -> u8
            '>' if before != '-' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        before = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(names: &[&str]) -> Vec<Symbol> {
        let place = |(at, name): (usize, &&str)| Symbol { addr: 0x100 * at as u32, bytes: 4, name: (*name).to_owned() };
        names.iter().enumerate().map(place).collect()
    }

    fn found(symbols: &[Symbol], asked: &str) -> String {
        let names = Names::default();
        match meant(symbols, asked, &names) {
            Meant::One(symbol) => symbol.name.clone(),
            Meant::Several(found) => several_text(asked, &found, &names),
            Meant::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn short_names_find_what_is_meant() {
        let all = symbols(&[
            "_RNvCs1234_5blink3run",
            "_RNvMs_Cs1234_5blinkNtB4_3Led6toggle",
            "_RNvXs0_Cs1234_5blinkNtB5_3LedNtB5_6Output3set",
            "_ZN5flash7programEjPKc",
            "_ZNK5flash4Chip4sizeEv",
            "wait.constprop.0",
            "main",
            "_RNvCs1234_5blink4main",
            "_Z5clampIiET_S0_",
        ]);
        for (asked, name) in [
            ("blink::run", 0),
            ("run", 0),
            ("<blink::Led>::toggle", 1),
            ("blink::Led::toggle", 1),
            ("Led::toggle", 1),
            ("toggle", 1),
            ("<blink::Led as blink::Output>::set", 2),
            ("Led::set", 2),
            ("flash::program", 3),
            ("program", 3),
            ("flash::program(unsigned int, char const*)", 3),
            ("Chip::size", 4),
            ("wait", 5),
            ("main", 6),
            ("blink::main", 7),
            ("clamp", 8),
            ("0x00000300", 3),
        ] {
            assert_eq!(found(&all, asked), all[name].name, "{asked}");
        }
        for asked in ["", "un", "ink::run", "::run", "0x00000301", "0xx", "Led"] {
            assert_eq!(found(&all, asked), "nothing", "{asked}");
        }
    }

    #[test]
    fn what_may_mean_several_says_which() {
        let several =
            symbols(&["_RNvCs1234_5blink3run", "_RNvCs1234_3led3run", "init", "init", "_ZN1a1fEi", "_ZN1a1fEc"]);
        assert_eq!(
            found(&several, "run"),
            "2 functions may be meant by 'run': blink::run, led::run: give more of the name"
        );
        assert_eq!(
            found(&several, "init"),
            "2 functions may be meant by 'init': init at 0x00000200, init at 0x00000300: ask for one by more of its \
             name, or by its address"
        );
        assert_eq!(
            found(&several, "a::f"),
            "2 functions may be meant by 'a::f': a::f(int), a::f(char): give more of the name"
        );
        // two names of one function, and a label beside a function
        let mut alias = symbols(&["reset", "reset"]);
        alias[1].bytes = 0;
        assert_eq!(found(&alias, "reset"), "reset");
        alias[1].addr = 0;
        assert_eq!(found(&alias, "reset"), "reset");
    }

    #[test]
    fn last_parts_of_names() {
        let parts = [1, 2, 3, 4].map(|parts| last_parts("blink::Led::set", parts));
        assert_eq!(parts, ["set", "Led::set", "blink::Led::set", "blink::Led::set"]);
        assert_eq!(last_parts("main", 1), "main");
    }

    #[test]
    fn names_are_plain() {
        for (name, short) in [
            ("main", "main"),
            ("core::ptr::drop_in_place::<[u8; 4]>", "core::ptr::drop_in_place"),
            ("<[u8] as core::fmt::Debug>::fmt", "[u8]::fmt"),
            ("<&mut blink::Led<fn() -> u8> as blink::Output>::set", "blink::Led::set"),
            ("<<a::T as b::U>::V as c::W>::x", "a::T::V::x"),
            ("blink::main::{closure#0}", "blink::main::{closure#0}"),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"),
            ("int const* find<int>(int const*, int)", "find"),
            ("(anonymous namespace)::wait()", "wait"),
            ("flash::operator<(int)", "flash::operator<"),
            ("a<b", "a<b"),
            ("", ""),
        ] {
            assert_eq!(plain(name), short, "{name}");
        }
        plain(&"<".repeat(10_000));
        plain(&(">".repeat(10) + &"<x".repeat(5_000) + &">".repeat(5_000)));
    }
}
