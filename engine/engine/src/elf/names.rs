//! Names of functions as programmers write them, with bounds: a symbol of some hundred bytes can stand for an endless
//! name, and demangling an invalid name can take for ever. Such a symbol is shown as it is.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::mangled;
use crate::one_line::one_line;
use crate::patience;

/// Longer symbols are shown as they are. Of 47,000 of C++'s and other libraries, none is longer.
const MOST_MANGLED_BYTES: usize = 4096;
/// Longer names are not made of symbols. The longest of those 47,000 has 9,696 bytes.
const MOST_NAME_BYTES: usize = 16 << 10;
/// Limit for all names that are returned, in bytes.
const MOST_BYTES: usize = 64 << 20;
/// Limit for the different symbols that are demangled, in bytes.
const MOST_SYMBOL_BYTES: usize = 16 << 20;
/// Cost of demangling a byte of a symbol, in bytes that are read.
const WORK_A_BYTE: u64 = 16;

/// Makes the names for one answer, for example a profile.
#[derive(Debug)]
pub struct Names {
    known: RefCell<BTreeMap<String, String>>,
    bytes_left: Cell<usize>,
    symbol_bytes_left: Cell<usize>,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            known: RefCell::default(),
            bytes_left: Cell::new(MOST_BYTES),
            symbol_bytes_left: Cell::new(MOST_SYMBOL_BYTES),
        }
    }
}

impl Names {
    /// A function's name as its programmer wrote it, if the symbol can be demangled within bounds; empty once the limit
    /// for returned names is reached.
    pub fn readable(&self, symbol: &str) -> String {
        let mut known = self.known.borrow_mut();
        if let Some(name) = known.get(symbol) {
            return self.counted(name);
        }
        let is_bounded = spend(&self.symbol_bytes_left, symbol.len());
        let name = match is_bounded && !patience::is_over(WORK_A_BYTE * symbol.len() as u64) {
            true => one_line(&demangled(symbol).unwrap_or_else(|| symbol.to_owned())),
            false => one_line(symbol),
        };
        let counted = self.counted(&name);
        if !counted.is_empty() {
            known.insert(symbol.to_owned(), name);
        }
        counted
    }

    /// A copy of a text that goes into the same answer; empty once the limit is reached.
    pub fn counted(&self, text: &str) -> String {
        if spend(&self.bytes_left, text.len()) { text.to_owned() } else { String::new() }
    }
}

fn spend(left: &Cell<usize>, bytes: usize) -> bool {
    let rest = left.get().checked_sub(bytes);
    left.set(rest.unwrap_or(0));
    rest.is_some()
}

/// A text whose growth is limited to a number of bytes.
struct Bounded {
    text: String,
    most: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > self.most - self.text.len() {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// `None` if the text is not a symbol of Rust or C++, or the name is too long.
fn demangled(symbol: &str) -> Option<String> {
    if symbol.len() > MOST_MANGLED_BYTES || !(symbol.starts_with('_') || symbol.starts_with("R")) {
        return None;
    }
    let mut name = Bounded { text: String::new(), most: MOST_NAME_BYTES };
    if let Ok(of_rust) = rustc_demangle::try_demangle(symbol) {
        write!(name, "{of_rust:#}").ok()?;
        return Some(name.text);
    }
    if !mangled::is_well_formed(symbol) {
        return None;
    }
    let of_cpp = cpp_demangle::Symbol::new(symbol).ok()?;
    of_cpp.structured_demangle(&mut name, &cpp_demangle::DemangleOptions::default()).ok()?;
    Some(name.text)
}

/// A function's name for queries: as its programmer wrote it, without parameters.
pub fn without_parameters(demangled: &str) -> &str {
    let name = demangled.strip_suffix(" const").unwrap_or(demangled);
    let mut depth = 0_usize;
    for (at, character) in name.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' if depth == 1 => return if at == 0 { demangled } else { &name[..at] },
            '(' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return demangled,
            _ => {}
        }
    }
    demangled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_become_names_within_bounds() {
        let names = Names::default();
        for (symbol, name) in [
            ("main", "main"),
            ("_ZN5flash7programEjPKc", "flash::program(unsigned int, char const*)"),
            ("_ZN5flash4waitEv.constprop.0", "flash::wait() [clone .constprop.0]"),
            (
                "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
                "std::remove_reference<int&>::type&& std::move<int&>(int&)",
            ),
            ("_ZNK3etl6vectorIiLm4EE5beginEvENKUlvE_clEv", "_ZNK3etl6vectorIiLm4EE5beginEvENKUlvE_clEv"),
            ("_ZZN1f1gEvENKUliE_clEi", "f::g()::{lambda(int)#1}::operator()(int) const"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_Z", "_Z"),
            ("a\nb", "a\\nb"),
        ] {
            assert_eq!(names.readable(symbol), name, "{symbol}");
        }
    }

    /// f<p<int, int>, p<S, S>, ...>: by back references, each argument has the previous one twice.
    fn doubled(levels: usize) -> String {
        let digit = |number: usize| b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number] as char;
        let twice = |level: usize| format!("S0_IS{0}_S{0}_E", digit(level));
        format!("_Z1fI1pIiiE{}Evv", (1..=levels).map(twice).collect::<String>())
    }

    #[test]
    fn a_name_without_an_end_is_shown_as_its_symbol() {
        let names = Names::default();
        assert_eq!(names.readable(&doubled(1)), "void f<p<int, int>, p<p<int, int>, p<int, int> > >()");
        for levels in [12, 20, 33] {
            assert_eq!(names.readable(&doubled(levels)), doubled(levels));
        }
        let of_rust = format!("_RIC3abc{}", "T".repeat(40) + &"B_B_".repeat(40) + &"E".repeat(40));
        assert_eq!(names.readable(&of_rust), of_rust);
    }

    #[test]
    fn what_is_handed_out_is_bounded_altogether() {
        let names = Names::default();
        let long = "x".repeat(MOST_BYTES / 16);
        let handed_out: usize = (0..100).map(|_| names.readable(&long).len()).sum();
        assert_eq!(handed_out, MOST_BYTES);
        assert_eq!(names.counted("y"), "");
    }

    #[test]
    fn names_of_functions_have_no_parameters() {
        let names = [
            ("main", "main"),
            ("flash::program(unsigned int, char const*)", "flash::program"),
            ("flash::call(void (*)(int))", "flash::call"),
            ("flash::size() const", "flash::size"),
            ("flash::operator()(int)", "flash::operator()"),
            ("(anonymous namespace)::wait()", "(anonymous namespace)::wait"),
            ("(odd)", "(odd)"),
            ("odd)", "odd)"),
        ];
        for (demangled, name) in names {
            assert_eq!(without_parameters(demangled), name);
        }
    }
}
