//! Where a core's time went: what is counted while it runs, and the names under which the user sees it.

use super::core::Mips;
use crate::bus::Bus;
use crate::cpu::sections::{self, Place};
use crate::memory::first_level::Accounts;
use crate::time::Cycles;

/// Register that functions keep their stack in.
const SP: usize = 29;
/// Register that calls leave the return address in.
const RA: usize = super::op::RA as usize;

/// What a core spends beside memory, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// Waiting for results.
    pub operand_wait: u64,
    /// In instructions that take longer than a cycle, from the second on.
    pub long_operation: u64,
    /// Taken branches that were predicted, from the second cycle on.
    pub jump: u64,
    /// Branches and jumps that were not.
    pub mispredicted: u64,
    /// Instructions that went down the pipeline for nothing.
    pub annulled: u64,
    /// On the way to exceptions, the instructions that raised them included.
    pub exceptions: u64,
    /// Waiting for an interrupt.
    pub idle: u64,
}

impl Spent {
    fn add_difference(&mut self, to: Spent, from: Spent, times: u64) {
        let add = |sum: &mut u64, to: u64, from: u64| *sum += times * (to - from);
        add(&mut self.operand_wait, to.operand_wait, from.operand_wait);
        add(&mut self.long_operation, to.long_operation, from.long_operation);
        add(&mut self.jump, to.jump, from.jump);
        add(&mut self.mispredicted, to.mispredicted, from.mispredicted);
        add(&mut self.annulled, to.annulled, from.annulled);
        add(&mut self.exceptions, to.exceptions, from.exceptions);
        add(&mut self.idle, to.idle, from.idle);
    }
}

/// All of a core's time so far, by cause.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    /// Instructions; each issued in one cycle.
    pub instructions: u64,
    pub spent: Spent,
    pub memory: Accounts,
}

impl sections::Totals for Totals {
    fn add_difference(&mut self, to: &Totals, from: &Totals, times: u64) {
        self.instructions += times * (to.instructions - from.instructions);
        self.spent.add_difference(to.spent, from.spent, times);
        self.memory.add_difference(&to.memory, &from.memory, times);
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)> {
        let own = [
            ("issue", self.instructions),
            ("operand results", self.spent.operand_wait),
            ("long operations", self.spent.long_operation),
            ("taken branches", self.spent.jump),
            ("mispredicted branches", self.spent.mispredicted),
            ("annulled delay slots", self.spent.annulled),
            ("exception entry", self.spent.exceptions),
            ("wait for interrupt", self.spent.idle),
        ];
        let own = own.into_iter().map(|(cause, cycles)| (cause.to_owned(), Cycles(cycles)));
        own.chain(self.memory.named(bus)).collect()
    }
}

impl Mips {
    /// Everything so far.
    pub(super) fn totals(&self) -> Totals {
        Totals { instructions: self.instructions, spent: self.spent, memory: self.memory.accounts().clone() }
    }

    /// Looks whether a watched function begins or ends at the current address.
    pub(super) fn follow_sections(&mut self) {
        if !self.sections.stops_at(self.pc) {
            return;
        }
        let now = self.totals();
        let place = Place { pc: self.pc, return_pc: self.x[RA], sp: self.x[SP] };
        if self.sections.follow(place, &now) {
            self.pages.undecode(self.x[RA]);
        }
    }
}
