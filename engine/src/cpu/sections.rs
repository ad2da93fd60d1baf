//! Sections: the time between the entry of a function and its return, with a cycle stack of its own.
//!
//! The firmware knows nothing of it. Entries and return addresses are kept out of the links between blocks, so the
//! core's outer loop sees each of them, and nothing else pays.

use super::kept_calls::{Entry, KeptCalls};
use super::waits::Waited;
use crate::bus::Bus;
use crate::core::{CallMark, CallReport, Counted, SectionReport};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most calls under way that are followed, and most addresses to which they return: a firmware whose calls never return
/// must not fill the memory.
const MOST_OPEN: usize = 1 << 14;
const MOST_STOPS: usize = 1 << 16;

/// All of a core's time so far, as it counts it.
pub(crate) trait Totals: Clone + Fresh {
    /// Adds what came between two moments, `times` times.
    fn add_difference(&mut self, to: &Self, from: &Self, times: u64);

    /// Cycles of all causes.
    fn cycles(&self) -> u64;

    /// Instructions that it was spent on.
    fn instructions(&self) -> u64;

    /// The time by cause, under the names that the user sees.
    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)>;
}

/// A function being watched.
#[derive(Clone, Debug, State, Fresh)]
pub(crate) struct Section<T: Totals> {
    pub name: String,
    /// Completed calls.
    pub calls: u64,
    /// Time inside, calls of other functions included, since the clock has the present rate.
    pub totals: T,
    /// The same at rates that the clock has had before.
    earlier: Vec<(Hz, T)>,
    /// A total of nothing.
    nothing: T,
    /// Calls that have begun.
    begun: u64,
    /// Single calls, if they are wanted.
    pub kept: Option<KeptCalls<T>>,
}

impl<T: Totals> Section<T> {
    /// Time inside at one of the clock's earlier rates.
    fn add_earlier(&mut self, rate: Hz, to: &T, from: &T) {
        let known = self.earlier.iter().position(|(known, _)| *known == rate);
        let at = known.unwrap_or_else(|| {
            self.earlier.push((rate, self.nothing.clone()));
            self.earlier.len() - 1
        });
        self.earlier[at].1.add_difference(to, from, 1);
    }

    /// A call has ended when the core has spent `now` in all, and its clock is at this rate.
    fn end_call(&mut self, open: &Open<T>, now: &T, rate: Hz) {
        self.calls += 1;
        let mut spans = Vec::new();
        let mut from = &open.begun;
        for (rate, to) in &open.rates {
            self.add_earlier(*rate, to, from);
            spans.push((*rate, from, to));
            from = to;
        }
        self.totals.add_difference(now, from, 1);
        if let Some(kept) = &mut self.kept {
            spans.push((rate, from, now));
            kept.add(&open.entry, &spans, &self.nothing);
        }
    }
}

/// A call under way.
#[derive(Debug, State, Fresh)]
struct Open<T: Totals> {
    section: usize,
    sp: u32,
    entry: Entry,
    begun: T,
    /// Ends of the clock's rates since then: the rate, and all of the core's time up to its end.
    rates: Vec<(Hz, T)>,
}

/// Where a core is, as far as calls are concerned.
#[derive(Clone, Copy, Debug)]
pub struct CallSite {
    /// Address of the next instruction.
    pub pc: u32,
    /// Where the function returns to that is entered, or has just been.
    pub return_pc: u32,
    /// Stack pointer: calls of the same function are told apart by it.
    pub sp: u32,
    /// The registers that have the first arguments, where the function has just been entered.
    pub arguments: [u32; CallReport::REGISTERS],
}

/// The functions being watched.
#[derive(Debug, State)]
pub(crate) struct Sections<T: Totals> {
    pub sections: Vec<Section<T>>,
    entries: BTreeMap<u32, usize>,
    stops: BTreeSet<u32>,
    open: VecDeque<Open<T>>,
    /// Calls that have begun.
    begun: u64,
    /// Calls that are in no stack, as there were too many.
    lost: u64,
    /// Sections whose calls are marked.
    marked: BTreeSet<usize>,
    marks: Vec<CallMark>,
}

impl<T: Totals> Default for Sections<T> {
    fn default() -> Sections<T> {
        Sections {
            sections: Vec::new(),
            entries: BTreeMap::new(),
            stops: BTreeSet::new(),
            open: VecDeque::new(),
            begun: 0,
            lost: 0,
            marked: BTreeSet::new(),
            marks: Vec::new(),
        }
    }
}

impl<T: Totals> Sections<T> {
    /// Watches the function at `pc`; `nothing` is a total of nothing.
    pub fn watch(&mut self, name: &str, pc: u32, nothing: T) {
        self.entries.insert(pc, self.sections.len());
        self.stops.insert(pc);
        self.sections.push(Section {
            name: name.to_owned(),
            calls: 0,
            totals: nothing.clone(),
            earlier: Vec::new(),
            nothing,
            begun: 0,
            kept: None,
        });
    }

    /// Keeps the longest `most` calls of the function at `pc`, which is watched, by themselves.
    pub fn keep_calls(&mut self, pc: u32, most: usize) -> bool {
        self.entries.get(&pc).is_some_and(|section| {
            self.sections[*section].kept = Some(KeptCalls::new(most));
            true
        })
    }

    /// A call that has ended, of a function and with its number, waited for this.
    pub fn waited(&mut self, (section, number): (usize, u64), waited: &Waited) {
        let kept = self.sections.get_mut(section).and_then(|section| section.kept.as_mut());
        kept.into_iter().for_each(|kept| kept.waited(number, waited));
    }

    /// Marks the begins and ends of calls of the function at `pc`, which is watched.
    pub fn mark_calls(&mut self, pc: u32) -> bool {
        self.entries.get(&pc).is_some_and(|section| {
            self.marked.insert(*section);
            true
        })
    }

    /// How many calls are in no stack, as too many were under way at the same time.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many calls have begun: each has the number of those before it.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// The calls under way, in their order: the function, and a number of the call.
    pub fn open_calls(&self) -> Vec<(usize, u64)> {
        self.open.iter().map(|open| (open.section, open.entry.number)).collect()
    }

    /// True if these are the calls under way.
    pub fn are_open_calls(&self, calls: &[(usize, u64)]) -> bool {
        self.open.len() == calls.len()
            && self.open.iter().zip(calls).all(|(open, call)| (open.section, open.entry.number) == *call)
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

    /// The watched functions, as the user sees them; the clock's rate is `rate` now.
    pub fn reports(&self, bus: &Bus, rate: Hz) -> Vec<SectionReport> {
        let counted = |rate: Hz, totals: &T| Counted { rate, causes: totals.named(bus) };
        let report = |section: &Section<T>| {
            let earlier = section.earlier.iter();
            SectionReport {
                name: section.name.clone(),
                calls: section.calls,
                waited: None,
                kept: None,
                instructions: earlier.clone().map(|(_, totals)| totals.instructions()).sum::<u64>()
                    + section.totals.instructions(),
                counted: earlier
                    .map(|(rate, totals)| counted(*rate, totals))
                    .chain([counted(rate, &section.totals)])
                    .collect(),
            }
        };
        self.sections.iter().map(report).collect()
    }

    /// The core's clock has had a rate up to now, when it has spent `now` in all.
    pub fn change_clock(&mut self, rate: Hz, now: &T) {
        for section in &mut self.sections {
            let totals = std::mem::replace(&mut section.totals, section.nothing.clone());
            let nothing = section.nothing.clone();
            section.add_earlier(rate, &totals, &nothing);
        }
        self.open.iter_mut().for_each(|open| open.rates.push((rate, now.clone())));
    }

    /// The core is at `site`, having spent `now` in all, at a time, with its clock at a rate: closes the calls that
    /// return there and opens one that begins there. True if there is a new address that the outer loop has to see from
    /// now on.
    pub fn follow(&mut self, site: CallSite, now: &T, (at, rate): (Ps, Hz)) -> bool {
        while self.open.back().is_some_and(|open| open.entry.return_pc == site.pc && open.sp == site.sp) {
            if let Some(open) = self.open.pop_back() {
                self.sections[open.section].end_call(&open, now, rate);
                self.mark(open.section, false);
            }
        }
        let CallSite { pc, return_pc, sp, arguments } = site;
        match self.entries.get(&pc).copied() {
            Some(section) if !self.is_innermost(section, return_pc, sp) => {
                if !self.make_room(return_pc) {
                    return false;
                }
                let of_section = &mut self.sections[section].begun;
                *of_section += 1;
                let entry = Entry { number: self.begun, nth: *of_section, at, return_pc, arguments };
                self.begun += 1;
                self.open.push_back(Open { section, sp, entry, begun: now.clone(), rates: Vec::new() });
                self.mark(section, true);
                self.stops.insert(return_pc)
            }
            _ => false,
        }
    }

    /// Forgets the outermost call if there are too many. False if the new one can't be followed.
    fn make_room(&mut self, return_pc: u32) -> bool {
        let can_return = self.stops.len() < MOST_STOPS || self.stops.contains(&return_pc);
        if !can_return || self.open.len() == MOST_OPEN {
            self.lost += 1;
        }
        if can_return && self.open.len() == MOST_OPEN {
            self.open.pop_front();
        }
        can_return
    }

    fn mark(&mut self, section: usize, begins: bool) {
        if self.marked.contains(&section) {
            self.marks.push(CallMark { section, begins });
        }
    }

    /// True if the innermost call is this one: it is met again when its first instruction had to wait for a cache line,
    /// was interrupted, or heads a loop.
    fn is_innermost(&self, section: usize, return_pc: u32, sp: u32) -> bool {
        let is_it = |open: &Open<T>| (open.section, open.entry.return_pc, open.sp) == (section, return_pc, sp);
        self.open.back().is_some_and(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default, State, Fresh)]
    struct Cycles64(u64);

    impl Totals for Cycles64 {
        fn add_difference(&mut self, to: &Self, from: &Self, times: u64) {
            self.0 += (to.0 - from.0) * times;
        }

        fn cycles(&self) -> u64 {
            self.0
        }

        fn instructions(&self) -> u64 {
            0
        }

        fn named(&self, _: &Bus) -> Vec<(String, Cycles)> {
            vec![("cycles".to_owned(), Cycles(self.0))]
        }
    }

    /// The core is somewhere: address, where that returns to, stack pointer.
    fn follow(sections: &mut Sections<Cycles64>, (pc, return_pc, sp): (u32, u32, u32), cycles: u64) {
        let rate = Hz::new(1_000_000_000).unwrap();
        let site = CallSite { pc, return_pc, sp, arguments: [pc; 4] };
        sections.follow(site, &Cycles64(cycles), (Ps::from_ns(cycles), rate));
    }

    #[test]
    fn calls_that_never_return_fill_no_memory_and_later_ones_are_followed() {
        let mut sections = Sections::default();
        sections.watch("jumps_out", 0x100, Cycles64::default());
        for call in 0..MOST_OPEN as u32 + 5 {
            follow(&mut sections, (0x100, 0x200, 16 * call), u64::from(call));
        }
        assert_eq!((sections.open.len(), sections.lost()), (MOST_OPEN, 5));
        let last = MOST_OPEN as u32 + 4;
        follow(&mut sections, (0x200, 0, 16 * last), u64::from(last) + 7);
        assert_eq!((sections.sections[0].calls, sections.sections[0].totals.0), (1, 7));
    }

    #[test]
    fn calls_from_everywhere_fill_no_memory() {
        let mut sections = Sections::default();
        sections.watch("called", 0x100, Cycles64::default());
        for call in 0..MOST_STOPS as u32 + 5 {
            follow(&mut sections, (0x100, 0x1000 + 4 * call, 0), 0);
            follow(&mut sections, (0x1000 + 4 * call, 0, 0), 1);
        }
        assert_eq!((sections.stops.len(), sections.lost()), (MOST_STOPS, 6));
    }
}
