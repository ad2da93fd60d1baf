//! Where a core's time went: what is counted while it runs, and the names under which the user sees it.

use super::block::Breakdown;
use crate::bus::Bus;
use crate::cpu::sections;
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

/// What an access was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Purpose {
    Fetch,
    Load,
    Store,
    /// The fetch of an instruction that was not run: behind a taken branch.
    Discarded,
}

/// Time of accesses through one map entry: at the memory or device itself by purpose, and on the interconnect.
pub(super) type EntryCycles = [u64; 5];
/// Index of the interconnect's share in [`EntryCycles`].
pub(super) const ON_THE_WAY: usize = 4;
/// The purposes' names, in the order of [`Purpose`].
const PURPOSES: [&str; ON_THE_WAY] = ["fetch", "load", "store", "discarded fetch"];

/// All of a core's time so far, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub instructions: u64,
    pub cycles: u64,
    pub fixed: Breakdown,
    pub causes: [u64; Cause::Count as usize],
    pub entries: Vec<EntryCycles>,
}

impl sections::Totals for Totals {
    fn add_difference(&mut self, to: &Totals, from: &Totals, times: u64) {
        self.instructions += times * (to.instructions - from.instructions);
        self.cycles += times * (to.cycles - from.cycles);
        self.fixed.add_difference(to.fixed, from.fixed, times);
        for (cause, sum) in self.causes.iter_mut().enumerate() {
            *sum += times * (to.causes[cause] - from.causes[cause]);
        }
        self.entries.resize(to.entries.len(), EntryCycles::default());
        for (entry, sums) in self.entries.iter_mut().enumerate() {
            let before = from.entries.get(entry).copied().unwrap_or_default();
            for (purpose, sum) in sums.iter_mut().enumerate() {
                *sum += times * (to.entries[entry][purpose] - before[purpose]);
            }
        }
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn named(&self, bus: &Bus) -> Vec<(String, Cycles)> {
        let mut causes = vec![
            ("issue".to_owned(), self.fixed.issue),
            ("load and multiply results".to_owned(), self.fixed.operand_wait),
            ("long operations".to_owned(), self.fixed.long_operation),
            ("jumps and taken branches".to_owned(), self.fixed.jump),
            ("trap entry".to_owned(), self.causes[Cause::Trap as usize]),
            ("wait for interrupt".to_owned(), self.causes[Cause::Idle as usize]),
        ];
        let mut on_the_way = vec![0; bus.routes.len()];
        for (index, (entry, cycles)) in bus.map.iter().zip(&self.entries).enumerate() {
            for (purpose, cycles) in PURPOSES.into_iter().zip(cycles) {
                causes.push((format!("{purpose}: {}", entry.name), *cycles));
            }
            if let Some(route) = bus.route(index) {
                on_the_way[route] += cycles[ON_THE_WAY];
            }
        }
        let interconnects = bus.routes.iter().zip(on_the_way);
        causes.extend(interconnects.map(|(route, cycles)| (format!("interconnect: {}", route.name), cycles)));
        causes.into_iter().map(|(cause, cycles)| (cause, Cycles(cycles))).collect()
    }
}
