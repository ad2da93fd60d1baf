//! Sections: the time between the entry of a function and its return, with a cycle stack of its own.
//!
//! The firmware knows nothing of it. Entries and return addresses are kept out of the links between blocks, so the core's outer
//! loop sees each of them, and nothing else pays.

use std::collections::{BTreeMap, BTreeSet};

use super::accounts::Totals;
use super::core::Hart;

const RA: usize = 1;
const SP: usize = 2;

/// A function being watched.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    /// Completed calls.
    pub calls: u64,
    /// Time inside, calls of other functions included.
    pub totals: Totals,
}

/// A call under way.
#[derive(Debug)]
struct Open {
    section: usize,
    return_pc: u32,
    sp: u32,
    begun: Totals,
}

/// Where a core is, as far as calls are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub pc: u32,
    pub return_pc: u32,
    pub sp: u32,
}

impl Place {
    /// From the address and the registers.
    pub fn of(pc: u32, x: &[u32]) -> Place {
        Place { pc, return_pc: x[RA], sp: x[SP] }
    }
}

/// The functions being watched.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub sections: Vec<Section>,
    entries: BTreeMap<u32, usize>,
    stops: BTreeSet<u32>,
    open: Vec<Open>,
}

impl Sections {
    /// Watches the function at `pc`.
    pub fn watch(&mut self, name: &str, pc: u32) {
        self.entries.insert(pc, self.sections.len());
        self.stops.insert(pc);
        self.sections.push(Section { name: name.to_owned(), calls: 0, totals: Totals::default() });
    }

    /// True if the outer loop has to see this address.
    pub fn stops_at(&self, pc: u32) -> bool {
        self.stops.contains(&pc)
    }

    /// True if any function is being watched.
    pub fn are_watched(&self) -> bool {
        !self.stops.is_empty()
    }

    /// The core is at `place`, having spent `now` in all: closes the calls that return there and opens one that begins there. True if there is
    /// a new address that the outer loop has to see from now on.
    pub fn follow(&mut self, place: Place, now: &Totals) -> bool {
        while self.open.last().is_some_and(|open| open.return_pc == place.pc && open.sp == place.sp) {
            if let Some(open) = self.open.pop() {
                let section = &mut self.sections[open.section];
                section.calls += 1;
                section.totals.add_difference(now, &open.begun, 1);
            }
        }
        let Place { pc, return_pc, sp } = place;
        match self.entries.get(&pc).copied() {
            Some(section) if !self.is_innermost(section, return_pc, sp) => {
                self.open.push(Open { section, return_pc, sp, begun: now.clone() });
                self.stops.insert(return_pc)
            }
            _ => false,
        }
    }

    /// True if the innermost call is this one: it is met again when its first instruction had to wait for a cache line,
    /// was interrupted, or heads a loop.
    fn is_innermost(&self, section: usize, return_pc: u32, sp: u32) -> bool {
        self.open.last().is_some_and(|open| (open.section, open.return_pc, open.sp) == (section, return_pc, sp))
    }
}

impl Hart {
    /// Everything so far.
    pub(super) fn totals(&mut self) -> Totals {
        let mut totals = self.counted();
        totals.fixed.add_runs(self.blocks.totals(), 1);
        totals
    }

    /// Everything so far but the static time of whole blocks, which is in their runs.
    pub(super) fn counted(&self) -> Totals {
        Totals {
            instructions: self.instructions,
            cycles: self.cycles,
            fixed: self.parts,
            causes: self.causes,
            entries: self.entry_cycles.clone(),
        }
    }

    /// Looks whether a watched function begins or ends at the current address.
    pub(super) fn follow_sections(&mut self) {
        if !self.sections.stops_at(self.pc) {
            return;
        }
        let now = self.totals();
        if self.sections.follow(Place::of(self.pc, &self.x), &now) {
            // Blocks may already be linked to there.
            self.drop_blocks();
        }
    }
}
