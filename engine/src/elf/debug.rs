//! What an ELF file's debug information says: where in the source an address is, and how structures are laid out.
//!
//! Whatever is missing or damaged is as if it were not there: a profile then has symbols, or addresses.

use addr2line::gimli::{self, EndianSlice, RunTimeEndian};
use addr2line::{Context, demangle_auto};
use object::{Object as _, ObjectSection as _};
use std::borrow::Cow;

use super::Image;
use crate::one_line::one_line;
use crate::state::{Fresh, State};

/// Inlined functions in each other at the most.
const MOST_FRAMES: usize = 64;

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

/// Where an address is in the source: of an inlined function first of all, then what that is in.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Place {
    /// The function; empty if it is not known.
    pub function: String,
    /// The file, as the compiler was told.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The column.
    pub column: Option<u32>,
}

/// Where addresses are in the source, each with the innermost function first.
///
/// Linkers leave the debug information of functions that they left out, and let it begin at address 0: where a board
/// has memory there, the symbol is believed.
pub fn places_of(elf: &[u8], image: &Image, addrs: &[u32]) -> Vec<Vec<Place>> {
    let file = object::File::parse(elf).ok();
    let context = file.as_ref().and_then(dwarf_of).and_then(|dwarf| Context::from_dwarf(dwarf).ok());
    let at_zero = context.as_ref().map(|context| frames(context, 0)).unwrap_or_default().pop();
    let place = |addr: &u32| {
        let symbol = image.function_at(*addr).map(|symbol| demangled(&symbol.name)).unwrap_or_default();
        let found = context.as_ref().map(|context| frames(context, *addr)).unwrap_or_default();
        let function = found.last().map(|place| place.function.as_str()).unwrap_or_default();
        let begins_at_zero = at_zero.as_ref().is_some_and(|place| place.function == function);
        let is_known = !function.is_empty() && !symbol.is_empty();
        let is_left_out = begins_at_zero && is_known && !has_symbol_at_zero(image, function);
        if found.is_empty() || is_left_out {
            return vec![Place { function: symbol, file: None, line: None, column: None }];
        }
        let last = found.len() - 1;
        // Debug information of a function may be missing where its lines are not.
        let named = |(number, place): (usize, Place)| {
            let unnamed = number == last && place.function.is_empty();
            if unnamed { Place { function: symbol.clone(), ..place } } else { place }
        };
        found.into_iter().enumerate().map(named).collect()
    };
    addrs.iter().map(place).collect()
}

/// True if a function's symbol is where the debug information of functions begins that the linker has left out.
fn has_symbol_at_zero(image: &Image, function: &str) -> bool {
    // Compilers name a copy of a function with other parameters after it: function.constprop.0.
    let is_copy = |rest: &str| rest.is_empty() || rest.starts_with('.');
    let mut at_zero = image.symbols.iter().take_while(|symbol| symbol.addr == 0);
    at_zero.any(|symbol| demangled(&symbol.name).strip_prefix(function).is_some_and(is_copy))
}

fn frames(context: &Context<Reader>, addr: u32) -> Vec<Place> {
    let mut places = Vec::new();
    let Ok(mut frames) = context.find_frames(u64::from(addr)).skip_all_loads() else { return places };
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().and_then(|function| function.raw_name().ok().map(|name| name.into_owned()));
        let location = frame.location.as_ref();
        places.push(Place {
            function: name.map(|name| demangled(&name)).unwrap_or_default(),
            file: location.and_then(|at| at.file).map(one_line),
            line: location.and_then(|at| at.line),
            column: location.and_then(|at| at.column),
        });
        if places.len() == MOST_FRAMES {
            break;
        }
    }
    places
}

/// A function's name as its programmer wrote it.
pub fn demangled(name: &str) -> String {
    one_line(&demangle_auto(Cow::Borrowed(name), None))
}

/// A function's name as it is asked for: as its programmer wrote it, without parameters.
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

/// How far from its beginning a structure has a member.
pub fn member_offset(elf: &[u8], structure: &str, member: &str) -> Option<u32> {
    let file = object::File::parse(elf).ok()?;
    let dwarf = dwarf_of(&file)?;
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        if let Ok(Some(offset)) = member_in(&dwarf, &unit, structure, member) {
            return Some(offset);
        }
    }
    None
}

fn member_in(
    dwarf: &gimli::Dwarf<Reader>,
    unit: &gimli::Unit<Reader>,
    structure: &str,
    member: &str,
) -> gimli::Result<Option<u32>> {
    let is_called = |entry: &gimli::DebuggingInformationEntry<Reader>, wanted: &str| -> gimli::Result<bool> {
        let Some(name) = entry.attr_value(gimli::DW_AT_name) else { return Ok(false) };
        Ok(dwarf.attr_string(unit, name)?.slice() == wanted.as_bytes())
    };
    let mut entries = unit.entries();
    let mut inside = None;
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        if inside.is_some_and(|at| depth <= at) {
            inside = None;
        }
        if entry.tag() == gimli::DW_TAG_structure_type && is_called(entry, structure)? {
            inside = Some(depth);
        } else if inside.is_some_and(|at| depth == at + 1)
            && entry.tag() == gimli::DW_TAG_member
            && is_called(entry, member)?
        {
            let offset = entry.attr(gimli::DW_AT_data_member_location).and_then(|at| at.udata_value());
            return Ok(offset.map(|offset| offset as u32));
        }
    }
    Ok(None)
}

pub(super) fn dwarf_of<'a>(file: &object::File<'a>) -> Option<gimli::Dwarf<Reader<'a>>> {
    let load = |id: gimli::SectionId| -> Result<Reader<'a>, gimli::Error> {
        let section = file.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianSlice::new(section.unwrap_or(&[]), RunTimeEndian::Little))
    };
    gimli::Dwarf::load(load).ok()
}

#[cfg(test)]
mod tests {
    use super::without_parameters;

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
