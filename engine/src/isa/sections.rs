//! Sections: the time between the entry of a function and its return, with a cycle stack of its own.
//!
//! The firmware knows nothing of it. Entries and return addresses are kept out of the links between blocks, so the core's outer
//! loop sees each of them, and nothing else pays.

use crate::bus::Bus;
use crate::core::{CallMark, SectionReport};
use crate::time::Cycles;
use std::collections::{BTreeMap, BTreeSet};

/// All of a core's time so far, as it counts it.
pub(crate) trait Totals: Clone + Default {
    /// Adds what came between two moments, `times` times.
    fn add_difference(&mut self, to: &Self, from: &Self, times: u64);

    /// Instructions that it was spent on.
    fn instructions(&self) -> u64;

    /// The time by cause, under the names that the user sees.
    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)>;
}

/// A function being watched.
#[derive(Clone, Debug)]
pub(crate) struct Section<T> {
    pub name: String,
    /// Completed calls.
    pub calls: u64,
    /// Time inside, calls of other functions included.
    pub totals: T,
}

/// A call under way.
#[derive(Debug)]
struct Open<T> {
    section: usize,
    return_pc: u32,
    sp: u32,
    begun: T,
}

/// Where a core is, as far as calls are concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub pc: u32,
    pub return_pc: u32,
    pub sp: u32,
}

/// The functions being watched.
#[derive(Debug, Default)]
pub(crate) struct Sections<T> {
    pub sections: Vec<Section<T>>,
    entries: BTreeMap<u32, usize>,
    stops: BTreeSet<u32>,
    open: Vec<Open<T>>,
    /// Sections whose calls are marked.
    marked: BTreeSet<usize>,
    marks: Vec<CallMark>,
}

impl<T: Totals> Sections<T> {
    /// Watches the function at `pc`.
    pub fn watch(&mut self, name: &str, pc: u32) {
        self.entries.insert(pc, self.sections.len());
        self.stops.insert(pc);
        self.sections.push(Section { name: name.to_owned(), calls: 0, totals: T::default() });
    }

    /// Marks the begins and ends of calls of the function at `pc`, which is watched.
    pub fn mark_calls(&mut self, pc: u32) -> bool {
        self.entries.get(&pc).is_some_and(|section| {
            self.marked.insert(*section);
            true
        })
    }

    /// True if there are marks that nobody has taken.
    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// The marks so far, and forgets them.
    pub fn take_marks(&mut self) -> Vec<CallMark> {
        std::mem::take(&mut self.marks)
    }

    /// True if the outer loop has to see this address.
    pub fn stops_at(&self, pc: u32) -> bool {
        self.stops.contains(&pc)
    }

    /// True if any function is being watched.
    pub fn are_watched(&self) -> bool {
        !self.stops.is_empty()
    }

    /// The watched functions, as the user sees them.
    pub fn reports(&self, bus: &Bus) -> Vec<SectionReport> {
        let reports = self.sections.iter().map(|section| SectionReport {
            name: section.name.clone(),
            calls: section.calls,
            instructions: section.totals.instructions(),
            causes: section.totals.named(bus),
        });
        reports.collect()
    }

    /// The core is at `place`, having spent `now` in all: closes the calls that return there and opens one that begins there. True if there is
    /// a new address that the outer loop has to see from now on.
    pub fn follow(&mut self, place: Place, now: &T) -> bool {
        while self.open.last().is_some_and(|open| open.return_pc == place.pc && open.sp == place.sp) {
            if let Some(open) = self.open.pop() {
                let section = &mut self.sections[open.section];
                section.calls += 1;
                section.totals.add_difference(now, &open.begun, 1);
                self.mark(open.section, false);
            }
        }
        let Place { pc, return_pc, sp } = place;
        match self.entries.get(&pc).copied() {
            Some(section) if !self.is_innermost(section, return_pc, sp) => {
                self.open.push(Open { section, return_pc, sp, begun: now.clone() });
                self.mark(section, true);
                self.stops.insert(return_pc)
            }
            _ => false,
        }
    }

    fn mark(&mut self, section: usize, begins: bool) {
        if self.marked.contains(&section) {
            self.marks.push(CallMark { section, begins });
        }
    }

    /// True if the innermost call is this one: it is met again when its first instruction had to wait for a cache line,
    /// was interrupted, or heads a loop.
    fn is_innermost(&self, section: usize, return_pc: u32, sp: u32) -> bool {
        self.open.last().is_some_and(|open| (open.section, open.return_pc, open.sp) == (section, return_pc, sp))
    }
}
