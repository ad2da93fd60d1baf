//! The debug information of an ELF file: source places of addresses, and layouts of structures.
//!
//! Missing or damaged parts are ignored: a profile then has symbols, or addresses.

use addr2line::gimli;

use super::Image;
use super::counted::{Budget, Counted};
use super::information::{Information, dwarf_of};
use super::names::Names;
use crate::one_line::one_line;
use crate::state::{Fresh, State};

/// Maximum depth of inlined functions.
const MOST_FRAMES: usize = 64;
/// Longer paths are ignored: systems have no such files.
const MOST_PATH_BYTES: usize = 4096;

/// The source place of an address: first in the inlined function, then in the function that it is inlined in.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Place {
    /// The function; empty if it is not known.
    pub function: String,
    /// The file, as the compiler's command line named it.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The column.
    pub column: Option<u32>,
}

/// The source places of addresses, each with the innermost function first.
///
/// Linkers leave the debug information of functions that they dropped, and set its start to address 0: where a board
/// has memory there, the symbol is used instead.
pub fn places_of(elf: &[u8], image: &Image, addrs: &[u32]) -> Vec<Vec<Place>> {
    let (budget, names) = (Budget::default(), Names::default());
    let information = Information::open(elf, &budget);
    let frames = |addr| information.as_ref().map(|found| frames(found, &names, addr)).unwrap_or_default();
    let at_zero = frames(0).pop();
    let at_zero = at_zero.filter(|place| !has_symbol_at_zero(image, &names, &place.function));
    let place = |addr: &u32| {
        let symbol = image.function_at(*addr).map(|symbol| names.readable(&symbol.name)).unwrap_or_default();
        let found = frames(*addr);
        let function = found.last().map(|place| place.function.as_str()).unwrap_or_default();
        let begins_at_zero = at_zero.as_ref().is_some_and(|place| place.function == function);
        let is_known = !function.is_empty() && !symbol.is_empty();
        if found.is_empty() || (begins_at_zero && is_known) {
            return vec![Place { function: symbol, file: None, line: None, column: None }];
        }
        let last = found.len() - 1;
        // A function may have lines without other debug information.
        let named = |(number, place): (usize, Place)| {
            let unnamed = number == last && place.function.is_empty();
            if unnamed { Place { function: symbol.clone(), ..place } } else { place }
        };
        found.into_iter().enumerate().map(named).collect()
    };
    addrs.iter().map(place).collect()
}

/// "drivers/spi.c:88" for an address, if the file's debug information has it. The debug information is read again at
/// each call: this is for messages, which are few.
pub fn line_of(elf: &[u8], addr: u32) -> Option<String> {
    let budget = Budget::default();
    let information = Information::open(elf, &budget)?;
    let location = information.location(addr)?;
    Some(format!("{}:{}", path(location.file)?, location.line?))
}

/// True if the debug information of a function at address 0 belongs to the symbol there, not to a function that the
/// linker has dropped.
fn has_symbol_at_zero(image: &Image, names: &Names, function: &str) -> bool {
    // Compilers name a copy of a function with other parameters after the original: function.constprop.0.
    let is_copy = |rest: &str| rest.is_empty() || rest.starts_with('.');
    let mut at_zero = image.symbols.iter().take_while(|symbol| symbol.addr == 0);
    at_zero.any(|symbol| names.readable(&symbol.name).strip_prefix(function).is_some_and(is_copy))
}

fn frames(information: &Information, names: &Names, addr: u32) -> Vec<Place> {
    let mut places = Vec::new();
    let Some(mut frames) = information.frames(addr) else { return places };
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().map(|function| String::from_utf8_lossy(function.name.bytes()));
        let location = frame.location.as_ref();
        places.push(Place {
            function: name.map(|name| names.readable(&name)).unwrap_or_default(),
            file: location
                .and_then(|at| path(at.file))
                .map(|file| names.counted(&file))
                .filter(|file| !file.is_empty()),
            line: location.and_then(|at| at.line),
            column: location.and_then(|at| at.column),
        });
        if places.len() == MOST_FRAMES {
            break;
        }
    }
    places
}

fn path(file: Option<&str>) -> Option<String> {
    file.filter(|file| file.len() <= MOST_PATH_BYTES).map(one_line)
}

/// The offset of a member from the start of a structure.
pub fn member_offset(elf: &[u8], structure: &str, member: &str) -> Option<u32> {
    let budget = Budget::default();
    let dwarf = dwarf_of(elf, &budget)?;
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
    dwarf: &gimli::Dwarf<Counted>,
    unit: &gimli::Unit<Counted>,
    structure: &str,
    member: &str,
) -> gimli::Result<Option<u32>> {
    let is_called = |entry: &gimli::DebuggingInformationEntry<Counted>, wanted: &str| -> gimli::Result<bool> {
        let Some(name) = entry.attr_value(gimli::DW_AT_name) else { return Ok(false) };
        Ok(dwarf.attr_string(unit, name)?.bytes() == wanted.as_bytes())
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
