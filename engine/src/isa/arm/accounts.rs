//! Where a core's time went: what is counted while it runs, and the names under which the user sees it.

use super::breakdown::Breakdown;
use super::core::Arm;
use super::profile::Profile;
use super::registers::{LR, SP};
use crate::bus::Bus;
use crate::isa::sections::{self, Place};
use crate::memory::first_level::Accounts;
use crate::time::Cycles;

/// All of a core's time so far, by cause.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    /// What time in exceptions is called.
    pub exceptions_name: &'static str,
    pub instructions: u64,
    pub cycles: u64,
    pub fixed: Breakdown,
    /// Part of the long operations that was not spent, because their condition did not hold.
    pub saved: u64,
    pub mispredicted: u64,
    pub exceptions: u64,
    pub idle: u64,
    pub memory: Accounts,
}

impl sections::Totals for Totals {
    fn add_difference(&mut self, to: &Totals, from: &Totals, times: u64) {
        let add = |sum: &mut u64, to: u64, from: u64| *sum += times * (to - from);
        add(&mut self.instructions, to.instructions, from.instructions);
        add(&mut self.cycles, to.cycles, from.cycles);
        self.fixed.add_difference(to.fixed, from.fixed, times);
        add(&mut self.saved, to.saved, from.saved);
        add(&mut self.mispredicted, to.mispredicted, from.mispredicted);
        add(&mut self.exceptions, to.exceptions, from.exceptions);
        self.exceptions_name = to.exceptions_name;
        add(&mut self.idle, to.idle, from.idle);
        self.memory.add_difference(&to.memory, &from.memory, times);
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)> {
        let own = [
            ("issue", self.fixed.issue),
            ("operand results", self.fixed.operand_wait),
            ("long operations", self.fixed.long_operation - self.saved),
            ("taken branches", self.fixed.jump),
            ("mispredicted branches", self.mispredicted),
            (self.exceptions_name, self.exceptions),
            ("wait for interrupt", self.idle),
        ];
        let own = own.into_iter().map(|(cause, cycles)| (cause.to_owned(), Cycles(cycles)));
        own.chain(self.memory.named(bus)).collect()
    }
}

impl<P: Profile> Arm<P> {
    /// Everything so far.
    pub(super) fn totals(&mut self) -> Totals {
        let mut totals = self.counted();
        totals.fixed.add_runs(self.blocks.totals(), 1);
        totals
    }

    /// Everything so far but the static time of whole blocks, which is in their runs.
    pub(super) fn counted(&self) -> Totals {
        Totals {
            exceptions_name: P::EXCEPTIONS,
            instructions: self.instructions,
            cycles: self.cycles,
            fixed: self.parts,
            saved: self.saved_cycles,
            mispredicted: self.mispredicted_cycles,
            exceptions: self.exception_cycles,
            idle: self.idle_cycles,
            memory: self.memory.accounts().clone(),
        }
    }

    /// Looks whether a watched function begins or ends at the current address.
    pub(super) fn follow_sections(&mut self) {
        if !self.sections.stops_at(self.pc) {
            return;
        }
        let now = self.totals();
        let (thumb, link) = (1, self.x[usize::from(LR)]);
        let place = Place { pc: self.pc, return_pc: link & !thumb, sp: self.x[usize::from(SP)] };
        if self.sections.follow(place, &now) {
            // Blocks may already be linked to there.
            self.drop_blocks();
        }
    }
}
