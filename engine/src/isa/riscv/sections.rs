//! Sections: the time between the entry of a function and its return, with a cycle stack of its own.
//!
//! The firmware knows nothing of it. Entries and return addresses are kept out of the links between blocks, so the core's outer
//! loop sees each of them, and nothing else pays.

use std::collections::{BTreeMap, BTreeSet};

use super::block::Breakdown;
use super::core::{Cause, EntryCycles, Hart};

const RA: usize = 1;
const SP: usize = 2;

/// All of a core's time so far, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub instructions: u64,
    pub cycles: u64,
    pub fixed: Breakdown,
    pub causes: [u64; Cause::Count as usize],
    pub entries: Vec<EntryCycles>,
}

impl Totals {
    /// Adds what came between two moments.
    fn add_difference(&mut self, to: &Totals, from: &Totals) {
        self.instructions += to.instructions - from.instructions;
        self.cycles += to.cycles - from.cycles;
        self.fixed.add_difference(to.fixed, from.fixed);
        for (cause, sum) in self.causes.iter_mut().enumerate() {
            *sum += to.causes[cause] - from.causes[cause];
        }
        self.entries.resize(to.entries.len(), [0; 4]);
        for (entry, sums) in self.entries.iter_mut().enumerate() {
            let before = from.entries.get(entry).copied().unwrap_or_default();
            for (purpose, sum) in sums.iter_mut().enumerate() {
                *sum += to.entries[entry][purpose] - before[purpose];
            }
        }
    }
}

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

    /// True if the innermost call is this one: it is met again when its first instruction had to wait for a cache line,
    /// was interrupted, or heads a loop.
    fn is_innermost(&self, section: usize, return_pc: u32, sp: u32) -> bool {
        self.open.last().is_some_and(|open| (open.section, open.return_pc, open.sp) == (section, return_pc, sp))
    }
}

impl Hart {
    /// Everything so far.
    pub(super) fn totals(&mut self) -> Totals {
        let mut fixed = self.blocks.totals();
        fixed.add_runs(self.parts, 1);
        Totals {
            instructions: self.instructions,
            cycles: self.cycles,
            fixed,
            causes: self.causes,
            entries: self.entry_cycles.clone(),
        }
    }

    /// Looks whether a watched function begins or ends at the current address.
    pub(super) fn follow_sections(&mut self) {
        if !self.sections.stops_at(self.pc) {
            return;
        }
        let (pc, sp) = (self.pc, self.x[SP]);
        while self.sections.open.last().is_some_and(|open| open.return_pc == pc && open.sp == sp) {
            let (now, open) = (self.totals(), self.sections.open.pop());
            if let Some(open) = open {
                let section = &mut self.sections.sections[open.section];
                section.calls += 1;
                section.totals.add_difference(&now, &open.begun);
            }
        }
        let return_pc = self.x[RA];
        if let Some(section) = self.sections.entries.get(&pc).copied()
            && !self.sections.is_innermost(section, return_pc, sp)
        {
            let begun = self.totals();
            self.sections.open.push(Open { section, return_pc, sp, begun });
            if self.sections.stops.insert(return_pc) {
                // Blocks may already be linked to there.
                self.drop_blocks();
            }
        }
    }
}
