//! Where a core's time went: what is counted while it runs, and the names under which the user sees it.

use super::Cpu;
use super::cost::Breakdown;
use super::isa::{CauseNames, Isa};
use super::memory::Accounts;
use super::sections;
use crate::bus::Bus;
use crate::time::Cycles;

/// What a core spends beside its instructions' static time and memory, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Part of the long operations that was not spent, because their condition did not hold.
    pub saved: u64,
    /// On branches that were predicted wrongly.
    pub mispredicted: u64,
    /// In instructions that went down the pipeline for nothing.
    pub annulled: u64,
    /// In exceptions, on the way there and back.
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
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// What the user calls the causes.
    pub names: &'static CauseNames,
    pub instructions: u64,
    pub cycles: u64,
    pub fixed: Breakdown,
    pub spent: Spent,
    pub memory: Accounts,
}

impl Totals {
    /// Of nothing.
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
        self.cycles += times * (to.cycles - from.cycles);
        self.fixed.add_difference(to.fixed, from.fixed, times);
        self.spent.add_difference(to.spent, from.spent, times);
        self.memory.add_difference(&to.memory, &from.memory, times);
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

impl<I: Isa> Cpu<I> {
    /// Everything so far.
    pub(super) fn totals(&mut self) -> Totals {
        let mut totals = self.counted();
        totals.fixed.add_runs(self.blocks.totals(), 1);
        totals
    }

    /// Everything so far but the static time of whole blocks, which is in their runs.
    pub(super) fn counted(&self) -> Totals {
        self.shell.totals(self.memory.accounts())
    }

    /// Looks whether a watched function begins or ends at the current address.
    pub(super) fn follow_sections(&mut self) {
        if !self.shell.sections.stops_at(self.pc) {
            return;
        }
        let now = self.totals();
        if self.shell.sections.follow(I::call_site(self), &now) {
            // Blocks may already be linked to there.
            self.drop_blocks();
        }
    }
}
