//! Sections: the time between the entry of a function and its return, with a cycle stack of its own.
//!
//! The firmware is not changed. [`super::calls`] detects the begins and ends of calls; the core's sums are read before
//! it continues.

use super::kept_calls::{Entry, KeptCalls};
use super::waits::Waited;
use crate::bus::Bus;
use crate::core::{CallMark, CallReport, Counted, SectionReport};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most calls under way that are followed: a firmware whose calls never return must not fill the host's memory.
const MOST_OPEN: usize = 1 << 14;

/// All of a core's time so far, with its causes.
pub(crate) trait Totals: Clone + Fresh {
    /// Adds the difference between two moments, `times` times.
    fn add_difference(&mut self, to: &Self, from: &Self, times: u64);

    /// Cycles of all causes.
    fn cycles(&self) -> u64;

    /// Instructions in that time.
    fn instructions(&self) -> u64;

    /// The time by cause, under the names for the user.
    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)>;
}

/// A watched function.
#[derive(Clone, Debug, State, Fresh)]
pub(crate) struct Section<T: Totals> {
    pub name: String,
    /// Completed calls.
    pub calls: u64,
    /// Time inside, including called functions, at the clock's present rate.
    pub totals: T,
    /// Time inside at earlier rates of the clock.
    earlier: Vec<(Hz, T)>,
    /// A zero total.
    nothing: T,
    /// Calls that have begun.
    begun: u64,
    /// Single calls, if requested.
    pub kept: Option<KeptCalls<T>>,
}

impl<T: Totals> Section<T> {
    /// Adds time inside at one of the clock's earlier rates.
    fn add_earlier(&mut self, rate: Hz, to: &T, from: &T) {
        let known = self.earlier.iter().position(|(known, _)| *known == rate);
        let at = known.unwrap_or_else(|| {
            self.earlier.push((rate, self.nothing.clone()));
            self.earlier.len() - 1
        });
        self.earlier[at].1.add_difference(to, from, 1);
    }

    /// Ends a call; the core's total is `now`, and its clock has this rate.
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
    entry: Entry,
    begun: T,
    /// Ends of the clock's rates since then: the rate, and the core's total at its end.
    rates: Vec<(Hz, T)>,
}

/// The functions being watched.
#[derive(Debug, State)]
pub(crate) struct Sections<T: Totals> {
    pub sections: Vec<Section<T>>,
    entries: BTreeMap<u32, usize>,
    open: VecDeque<Open<T>>,
    /// Calls that have begun.
    begun: u64,
    /// Number of calls that are not recorded in any stack, because there were too many.
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
            open: VecDeque::new(),
            begun: 0,
            lost: 0,
            marked: BTreeSet::new(),
            marks: Vec::new(),
        }
    }
}

impl<T: Totals> Sections<T> {
    /// Watches the function at `pc`; `nothing` is a zero total. Returns its number.
    pub fn watch(&mut self, name: &str, pc: u32, nothing: T) -> usize {
        self.entries.insert(pc, self.sections.len());
        self.sections.push(Section {
            name: name.to_owned(),
            calls: 0,
            totals: nothing.clone(),
            earlier: Vec::new(),
            nothing,
            begun: 0,
            kept: None,
        });
        self.sections.len() - 1
    }

    /// Keeps the longest `most` calls of the watched function at `pc` one by one.
    pub fn keep_calls(&mut self, pc: u32, most: usize) -> bool {
        self.entries.get(&pc).is_some_and(|section| {
            self.sections[*section].kept = Some(KeptCalls::new(most));
            true
        })
    }

    /// Adds waits to a call that has ended, given by its function and number.
    pub fn waited(&mut self, (section, number): (usize, u64), waited: &Waited) {
        let kept = self.sections.get_mut(section).and_then(|section| section.kept.as_mut());
        kept.into_iter().for_each(|kept| kept.waited(number, waited));
    }

    /// Marks the begins and ends of calls of the watched function at `pc`.
    pub fn mark_calls(&mut self, pc: u32) -> bool {
        self.entries.get(&pc).is_some_and(|section| {
            self.marked.insert(*section);
            true
        })
    }

    /// Number of calls that are not recorded in any stack, because too many were under way at the same time.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of calls that have begun; a call's number is that of the calls before it.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// The calls under way, in order: the function, and the number of the call.
    pub fn open_calls(&self) -> Vec<(usize, u64)> {
        self.open.iter().map(|open| (open.section, open.entry.number)).collect()
    }

    /// True if these are the calls under way.
    pub fn are_open_calls(&self, calls: &[(usize, u64)]) -> bool {
        self.open.len() == calls.len()
            && self.open.iter().zip(calls).all(|(open, call)| (open.section, open.entry.number) == *call)
    }

    /// True if there are marks that have not been taken.
    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Takes the marks so far.
    pub fn take_marks(&mut self) -> Vec<CallMark> {
        std::mem::take(&mut self.marks)
    }

    /// The reports of the watched functions; the clock's rate is `rate` now.
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

    /// Ends a period in which the core's clock had this rate; the core's total is `now`.
    pub fn change_clock(&mut self, rate: Hz, now: &T) {
        for section in &mut self.sections {
            let totals = std::mem::replace(&mut section.totals, section.nothing.clone());
            let nothing = section.nothing.clone();
            section.add_earlier(rate, &totals, &nothing);
        }
        self.open.iter_mut().for_each(|open| open.rates.push((rate, now.clone())));
    }

    /// Begins a call of a function, with this number, at a time, when the core's total is `now`; with its return
    /// address, and the registers of its first arguments.
    pub fn begin(
        &mut self,
        (section, number): (usize, u64),
        (return_pc, arguments): (u32, [u32; CallReport::REGISTERS]),
        now: &T,
        at: Ps,
    ) {
        self.begun = number + 1;
        let Some(of) = self.sections.get_mut(section) else { return };
        of.begun += 1;
        let entry = Entry { number, nth: of.begun, at, return_pc, arguments };
        if self.open.len() == MOST_OPEN {
            self.open.pop_front();
            self.lost += 1;
        }
        self.open.push_back(Open { section, entry, begun: now.clone(), rates: Vec::new() });
        self.mark(section, true);
    }

    /// Ends the call with this number; the core's total is `now`, and its clock has this rate.
    pub fn end(&mut self, number: u64, now: &T, rate: Hz) {
        if let Some(open) = self.take(number) {
            self.sections[open.section].end_call(&open, now, rate);
            self.mark(open.section, false);
        }
    }

    /// Drops the call with this number, whose end will not be known.
    pub fn lose(&mut self, number: u64) {
        self.take(number);
    }

    fn take(&mut self, number: u64) -> Option<Open<T>> {
        let place = self.open.binary_search_by_key(&number, |open| open.entry.number).ok()?;
        self.open.remove(place)
    }

    fn mark(&mut self, section: usize, begins: bool) {
        if self.marked.contains(&section) {
            self.marks.push(CallMark { section, begins });
        }
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

    const SITE: (u32, [u32; CallReport::REGISTERS]) = (0x200, [0; 4]);

    #[test]
    fn calls_that_never_return_fill_no_memory_and_later_ones_are_followed() {
        let (mut sections, rate) = (Sections::default(), Hz::new(1_000_000_000).unwrap());
        assert_eq!(sections.watch("jumps_out", 0x100, Cycles64::default()), 0);
        for call in 0..MOST_OPEN as u64 + 5 {
            sections.begin((0, call), SITE, &Cycles64(call), Ps::from_ns(call));
        }
        assert_eq!((sections.open.len(), sections.lost()), (MOST_OPEN, 5));
        let last = MOST_OPEN as u64 + 4;
        sections.end(last, &Cycles64(last + 7), rate);
        assert_eq!((sections.sections[0].calls, sections.sections[0].totals.0), (1, 7));
        // A call that is no longer recorded.
        sections.end(0, &Cycles64(last + 9), rate);
        assert_eq!((sections.sections[0].calls, sections.begun()), (1, last + 1));
    }

    #[test]
    fn calls_end_in_any_order() {
        let (mut sections, rate) = (Sections::default(), Hz::new(1_000_000_000).unwrap());
        sections.watch("first", 0x100, Cycles64::default());
        sections.watch("second", 0x200, Cycles64::default());
        sections.begin((0, 0), SITE, &Cycles64(10), Ps::from_ns(10));
        sections.begin((1, 1), SITE, &Cycles64(20), Ps::from_ns(20));
        sections.begin((1, 2), SITE, &Cycles64(25), Ps::from_ns(25));
        // The first call continues in another stack than the second.
        sections.end(0, &Cycles64(30), rate);
        assert_eq!(sections.open_calls(), [(1, 1), (1, 2)]);
        sections.lose(2);
        sections.end(1, &Cycles64(60), rate);
        let of: Vec<(u64, u64)> = sections.sections.iter().map(|section| (section.calls, section.totals.0)).collect();
        assert_eq!(of, [(1, 20), (1, 40)]);
    }
}
