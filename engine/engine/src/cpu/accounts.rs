//! Where a core's time went: what is counted while it runs, and the names under which the user sees it.

use super::Cpu;
use super::cost::Breakdown;
use super::isa::{CauseNames, Isa};
use super::memory_system::Accounts;
use super::sections;
use crate::bus::Bus;
use crate::core::Counted;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz};

/// Cycles of a core that are neither its instructions' static time nor memory time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Spent {
    /// Cycles of long operations that were not spent, because their condition did not hold.
    pub saved: u64,
    /// On mispredicted branches.
    pub mispredicted: u64,
    /// In annulled instructions, which pass through the pipeline without effect.
    pub annulled: u64,
    /// In exception entry and return.
    pub exceptions: u64,
    /// Waiting for an interrupt.
    pub idle: u64,
}

impl Spent {
    fn add_difference(&mut self, to: Spent, from: Spent, times: u64) {
        let add = |sum: &mut u64, to: u64, from: u64| *sum += times * (to - from);
        add(&mut self.saved, to.saved, from.saved);
        add(&mut self.mispredicted, to.mispredicted, from.mispredicted);
        add(&mut self.annulled, to.annulled, from.annulled);
        add(&mut self.exceptions, to.exceptions, from.exceptions);
        add(&mut self.idle, to.idle, from.idle);
    }
}

/// All of a core's time so far, by cause.
#[derive(Clone, Debug, State, Fresh)]
pub(crate) struct Totals {
    /// The causes' names for the user.
    pub names: &'static CauseNames,
    pub instructions: u64,
    pub cycles: u64,
    pub fixed: Breakdown,
    pub spent: Spent,
    pub memory: Accounts,
}

impl Totals {
    /// No time, under these names.
    pub fn nothing(names: &'static CauseNames) -> Totals {
        Totals {
            names,
            instructions: 0,
            cycles: 0,
            fixed: Breakdown::default(),
            spent: Spent::default(),
            memory: Accounts::default(),
        }
    }
}

impl sections::Totals for Totals {
    fn add_difference(&mut self, to: &Totals, from: &Totals, times: u64) {
        self.instructions += times * (to.instructions - from.instructions);
        // Wrong if the clock has changed between them; no caller does that.
        self.cycles = self.cycles.wrapping_add(times.wrapping_mul(to.cycles.wrapping_sub(from.cycles)));
        self.fixed.add_difference(to.fixed, from.fixed, times);
        self.spent.add_difference(to.spent, from.spent, times);
        self.memory.add_difference(&to.memory, &from.memory, times);
    }

    /// Not the difference of the core's own times: the clock may have changed between them.
    fn cycles(&self) -> u64 {
        let Spent { saved, mispredicted, annulled, exceptions, idle } = self.spent;
        self.fixed.cycles() - saved + mispredicted + annulled + exceptions + idle + self.memory.total()
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)> {
        let (names, fixed, spent) = (self.names, self.fixed, self.spent);
        let own = [
            (names.issue, fixed.issue),
            (names.operand_wait, fixed.operand_wait),
            (names.long_operation, fixed.long_operation - spent.saved),
            (names.jump, fixed.jump),
            (names.mispredicted, spent.mispredicted),
            (names.annulled, spent.annulled),
            (names.exceptions, spent.exceptions),
            (names.idle, spent.idle),
        ];
        let own = own.into_iter().filter(|(name, _)| !name.is_empty());
        let own = own.map(|(cause, cycles)| (cause.to_owned(), Cycles(cycles)));
        own.chain(self.memory.named(bus)).collect()
    }
}

/// A core's work at earlier rates of its clock.
#[derive(Debug, Default, State, Fresh)]
pub(crate) struct PastRates {
    /// The rates in chronological order, and the work at each.
    parts: Vec<(Hz, Totals)>,
    /// Their sum.
    sum: Option<Totals>,
}

impl PastRates {
    /// Ends a period in which the clock's rate was `rate`; the core has done `totals` since reset.
    pub fn end(&mut self, rate: Hz, totals: Totals) {
        let part = self.since(&totals);
        self.parts.push((rate, part));
        self.sum = Some(totals);
    }

    /// The part of `totals` that is not at an earlier rate.
    fn since(&self, totals: &Totals) -> Totals {
        let Some(sum) = &self.sum else { return totals.clone() };
        let mut part = Totals::nothing(totals.names);
        sections::Totals::add_difference(&mut part, totals, sum, 1);
        part
    }

    /// The core's time by cause, at each rate: the present rate is `rate`, and the core has done `totals` since reset.
    pub fn counted(&self, bus: &Bus, rate: Hz, totals: &Totals) -> Vec<Counted> {
        let counted = |rate: Hz, part: &Totals| Counted { rate, causes: sections::Totals::named(part, bus) };
        let earlier = self.parts.iter().map(|(rate, part)| counted(*rate, part));
        earlier.chain([counted(rate, &self.since(totals))]).collect()
    }
}

impl<I: Isa> Cpu<I> {
    /// All time so far.
    pub(super) fn totals(&mut self) -> Totals {
        let mut totals = self.counted();
        totals.fixed.add_runs(self.blocks.totals(), 1);
        totals
    }

    /// All time up to the access by operation `at` of the running block; and the cycles that its instruction has waited
    /// before its own cycle.
    pub(crate) fn totals_at(&mut self, index: u32, at: u32) -> (Totals, u64) {
        let count = self.blocks.info(index, at).instr;
        let before = self.before(index, count).fixed;
        let waited = self.begins_cycle(index, at).wrapping_sub(self.shell.cycles.wrapping_add(before.cycles() + 1));
        let mut totals = self.totals();
        totals.fixed.add_runs(before, 1);
        totals.instructions += u64::from(count);
        totals.cycles += before.cycles();
        (totals, waited)
    }

    /// All time so far except the static time of whole blocks, which follows from their run counts.
    pub(super) fn counted(&self) -> Totals {
        self.shell.totals(self.memory.accounts())
    }
}
