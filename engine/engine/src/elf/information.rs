//! The debug information of an ELF file, prepared for queries by address. Parts that are damaged, contradict each other
//! or would take for ever are ignored.

use std::cell::Cell;

use addr2line::gimli::{self, UnitRef};
use addr2line::{Context, FrameIter};

use super::counted::{Budget, Counted};
use super::sections::{File, sections_named};
use crate::patience;

/// Maximum depth of entries: functions inlined in functions, blocks in blocks. Readers recurse as deep.
const MOST_DEPTH: isize = 256;
/// Maximum number of attributes of an entry: some need no byte of the file.
const MOST_ATTRIBUTES: usize = 128;
/// How many units are searched for all addresses of an answer: compilers' own have few addresses in common.
const MOST_LOOKS: u64 = 1 << 30;
/// Cost of searching a unit, in comparisons with a unit's range.
const LOOKS_INTO_A_UNIT: u64 = 32;

/// The sections that are read.
const SECTIONS: [&str; 11] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_loc",
    ".debug_loclists",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
];

/// Checked debug information.
pub struct Information<'a> {
    context: Context<Counted<'a>>,
    units: Units,
}

impl<'a> Information<'a> {
    /// The debug information of an ELF file, if it has any. The budget is the reader's, and is set here.
    pub fn open(elf: &'a [u8], budget: &'a Budget) -> Option<Information<'a>> {
        let dwarf = dwarf_of(elf, budget)?;
        let units = Units::read(&dwarf)?;
        let context = Context::from_dwarf(dwarf).ok()?;
        (!budget.is_spent()).then_some(Information { context, units })
    }

    /// The functions at an address: inlined functions first.
    pub fn frames(&self, addr: u32) -> Option<FrameIter<'_, Counted<'a>>> {
        self.units.may_look_at(addr).then(|| self.context.find_frames(u64::from(addr)).skip_all_loads().ok())?
    }

    /// The file and line of an address.
    pub fn location(&self, addr: u32) -> Option<addr2line::Location<'_>> {
        self.units.may_look_at(addr).then(|| self.context.find_location(u64::from(addr)).ok()?)?
    }

    /// The unit that has an address.
    pub fn unit(&self, addr: u32) -> Option<UnitRef<'_, Counted<'a>>> {
        self.units.may_look_at(addr).then(|| self.context.find_dwarf_and_unit(u64::from(addr)).skip_all_loads())?
    }
}

/// The sections of an ELF file with debug information. The budget is set for them.
pub fn dwarf_of<'a>(elf: &'a [u8], budget: &'a Budget) -> Option<gimli::Dwarf<Counted<'a>>> {
    let found = sections_named(&File::parse(elf).ok()?, SECTIONS);
    budget.set_for(found.iter().map(|bytes| bytes.len() as u64).sum());
    let load = |id: gimli::SectionId| -> Result<Counted<'a>, gimli::Error> {
        let place = SECTIONS.iter().position(|name| *name == id.name());
        Ok(Counted::new(place.map_or(&[], |place| found[place]), budget))
    };
    gimli::Dwarf::load(load).ok()
}

/// The address ranges of units: they give the cost of finding an address.
struct Units {
    /// By the ends of ranges: the first address after a range, and the lowest start of this and all later ranges.
    ends: Vec<(u64, u64)>,
    begins: Vec<u64>,
    looks_left: Cell<u64>,
}

impl Units {
    /// Reads the ranges of all units; `None` if they can't be read within bounds.
    fn read(dwarf: &gimli::Dwarf<Counted>) -> Option<Units> {
        let mut ranges = ranges_by_address(dwarf);
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let unit = unit.unit_ref(dwarf);
            // Unreadable parts are left to the caller.
            if !is_bounded(unit).unwrap_or(true) {
                return None;
            }
            add_ranges(unit, &mut ranges);
        }
        let mut begins: Vec<u64> = ranges.iter().map(|range| range.begin).collect();
        begins.sort_unstable();
        ranges.sort_unstable_by_key(|range| range.end);
        let mut lowest = u64::MAX;
        let from_after = ranges.iter().rev().map(|range| {
            lowest = lowest.min(range.begin);
            (range.end, lowest)
        });
        let mut ends: Vec<_> = from_after.collect();
        ends.reverse();
        Some(Units { ends, begins, looks_left: Cell::new(MOST_LOOKS) })
    }

    /// True if an address may still be searched for; counts the search.
    fn may_look_at(&self, addr: u32) -> bool {
        let addr = u64::from(addr);
        let first = self.ends.partition_point(|(end, _)| *end <= addr);
        let after = self.ends.partition_point(|(_, lowest)| *lowest <= addr);
        let having = self.begins.partition_point(|begin| *begin <= addr).saturating_sub(first);
        let looks = after.saturating_sub(first) as u64 + LOOKS_INTO_A_UNIT * (having as u64 + 1);
        let left = self.looks_left.get().checked_sub(looks).filter(|_| !patience::is_over(looks / LOOKS_INTO_A_UNIT));
        self.looks_left.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// True if the entries of a unit are of bounded depth, with few attributes each.
fn is_bounded(unit: UnitRef<Counted>) -> gimli::Result<bool> {
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        if entries.next_depth() > MOST_DEPTH {
            return Ok(false);
        }
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if abbreviation.attributes().len() > MOST_ATTRIBUTES {
            return Ok(false);
        }
        entries.skip_attributes(abbreviation.attributes())?;
    }
    Ok(true)
}

/// The ranges of `.debug_aranges`.
fn ranges_by_address(dwarf: &gimli::Dwarf<Counted>) -> Vec<gimli::Range> {
    let mut ranges = Vec::new();
    let mut headers = dwarf.debug_aranges.headers();
    while let Ok(Some(header)) = headers.next() {
        let mut entries = header.entries();
        while let Ok(Some(entry)) = entries.next() {
            ranges.push(entry.range());
        }
    }
    ranges
}

/// Adds a unit's own address ranges, or else those of its lines.
fn add_ranges(unit: UnitRef<Counted>, ranges: &mut Vec<gimli::Range>) {
    let before = ranges.len();
    if let Ok(mut own) = unit.unit_ranges() {
        while let Ok(Some(range)) = own.next() {
            ranges.extend((range.begin < range.end).then_some(range));
        }
    }
    let Some(program) = unit.line_program.clone().filter(|_| ranges.len() == before) else { return };
    let (mut rows, mut begin) = (program.rows(), None);
    while let Ok(Some((_, row))) = rows.next_row() {
        match begin {
            Some(begin_of_sequence) if row.end_sequence() => {
                ranges.push(gimli::Range { begin: begin_of_sequence, end: row.address() });
                begin = None;
            }
            None if !row.end_sequence() => begin = Some(row.address()),
            _ => {}
        }
    }
}
