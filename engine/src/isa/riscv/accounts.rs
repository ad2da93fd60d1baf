//! Where a core's time went: what is counted while it runs, and the names under which the user sees it.

use super::block::Breakdown;
use crate::bus::Bus;
use crate::cpu::sections;
use crate::memory::first_level::Accounts;
use crate::time::Cycles;

/// Causes of a core's time that are neither an instruction's own nor an access's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Cause {
    Trap,
    Idle,
    /// Not a cause: how many there are.
    Count,
}

/// All of a core's time so far, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub instructions: u64,
    pub cycles: u64,
    pub fixed: Breakdown,
    pub causes: [u64; Cause::Count as usize],
    pub memory: Accounts,
}

impl sections::Totals for Totals {
    fn add_difference(&mut self, to: &Totals, from: &Totals, times: u64) {
        self.instructions += times * (to.instructions - from.instructions);
        self.cycles += times * (to.cycles - from.cycles);
        self.fixed.add_difference(to.fixed, from.fixed, times);
        for (cause, sum) in self.causes.iter_mut().enumerate() {
            *sum += times * (to.causes[cause] - from.causes[cause]);
        }
        self.memory.add_difference(&to.memory, &from.memory, times);
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)> {
        let own = [
            ("issue", self.fixed.issue),
            ("load and multiply results", self.fixed.operand_wait),
            ("long operations", self.fixed.long_operation),
            ("jumps and taken branches", self.fixed.jump),
            ("trap entry", self.causes[Cause::Trap as usize]),
            ("wait for interrupt", self.causes[Cause::Idle as usize]),
        ];
        let own = own.map(|(cause, cycles)| (cause.to_owned(), Cycles(cycles)));
        own.into_iter().chain(self.memory.named(bus)).collect()
    }
}
