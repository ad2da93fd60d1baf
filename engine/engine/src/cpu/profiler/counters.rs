//! Counters by call path: the work of a program's blocks and instructions, separately for each path to them.
//!
//! A counter has a number, which is its index in the array of each path. So one addition at a fixed offset from the
//! array of the current path counts a block's run, and compiled code does no more. The result is computed at the end,
//! from the counter's meaning. The arrays are large and sparse: the host allocates only the pages that are touched.

use memmap2::MmapMut;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cpu::cost::Breakdown;
use crate::state::{Fresh, State};

/// Number of counters per path.
pub const MOST_COUNTERS: usize = 1 << 16;
/// Number of counters that are kept free for needs that arise before blocks can be dropped.
const RESERVE: usize = 1 << 13;
/// Number of paths whose arrays share one allocation.
const PATHS_A_PIECE: usize = 32;
/// Distance of the arrays of two paths: a few lines more than needed, so that paths do not compete for the same lines
/// of the host's caches.
const STRIDE: usize = MOST_COUNTERS + 40;

/// Cost of an instruction in a block, by the core's own causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Its address.
    pub pc: u32,
    /// Its cycles.
    pub cost: Breakdown,
}

/// A cause of a core's time, by its index in the names of a [`crate::core::CoreReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Cause {
    /// One of [`Own`].
    Own(Own),
    /// A sum of [`crate::cpu::memory_system::Accounts`], by its number.
    Memory(u32),
}

/// Cycles that a core spends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
#[allow(missing_docs)]
pub enum Own {
    Issue,
    OperandWait,
    LongOperation,
    Jump,
    /// Cycles that long operations did not take after all.
    Saved,
    Mispredicted,
    Annulled,
    Exceptions,
    Idle,
}

impl Own {
    /// Number of causes.
    pub const COUNT: usize = Own::Idle as usize + 1;
}

/// Meaning of a counter.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// Runs of a sequence of instructions.
    Ran(Arc<[Step]>),
    /// Work of the instruction at an address beyond the static cost in its block.
    Did(u32, What),
}

/// Work of an instruction beyond the static cost in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// It took cycles.
    Spent(Cause),
    /// It ran by itself.
    Ran,
    /// It was annulled, though its block counts it.
    Annulled,
}

/// Counts of an instruction on a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Row {
    /// Number of executions.
    pub executions: u64,
    /// Its cycles, by cause.
    pub cycles: BTreeMap<Cause, u64>,
    /// Cycles that long operations did not take after all.
    pub saved: u64,
}

/// Rows by path and address.
pub type Rows = BTreeMap<(u32, u32), Row>;

/// All counters of a core.
#[derive(Debug)]
pub struct Counters {
    meanings: Vec<Meaning>,
    /// Counters of sequences of instructions.
    ran: BTreeMap<Arc<[Step]>, u32>,
    /// Counters of single instructions.
    did: BTreeMap<(u32, What), u32>,
    /// The counters requested last: see [`slot_of`].
    recent: Box<[(u32, What, u32)]>,
    pieces: Vec<MmapMut>,
    /// Address of the array of each path.
    arrays: Vec<*mut u64>,
    /// By path: it may have counts that are not 0.
    visited: Vec<bool>,
    /// Counts from before the counters were restarted.
    earlier: Rows,
}

// SAFETY: the arrays belong to `pieces`, which no other object shares.
unsafe impl Send for Counters {}

/// Slots of [`Counters::recent`].
const RECENT: usize = 1 << 13;
/// An empty slot: no instruction is at this address.
const NOTHING: (u32, What, u32) = (u32::MAX, What::Ran, 0);

/// The slot of a counter among the recent ones.
#[inline(always)]
fn slot_of(pc: u32, what: What) -> usize {
    let number = match what {
        What::Spent(Cause::Own(own)) => own as u32,
        What::Spent(Cause::Memory(sum)) => Own::COUNT as u32 + 2 + sum,
        What::Ran => Own::COUNT as u32,
        What::Annulled => Own::COUNT as u32 + 1,
    };
    // Consecutive instructions are next to each other; the different counters of an instruction are far apart.
    (pc >> 1).wrapping_add(number.wrapping_mul(1201)) as usize % RECENT
}

impl Counters {
    /// No counters and no paths.
    pub fn new() -> Counters {
        Counters {
            meanings: Vec::new(),
            ran: BTreeMap::new(),
            did: BTreeMap::new(),
            recent: vec![NOTHING; RECENT].into_boxed_slice(),
            pieces: Vec::new(),
            arrays: Vec::new(),
            visited: Vec::new(),
            earlier: Rows::new(),
        }
    }

    /// No paths, and these rows from earlier counts.
    pub fn with_rows(rows: Rows) -> Counters {
        Counters { earlier: rows, ..Counters::new() }
    }

    /// Adds the array of a further path, all 0: `None` if the host has no memory for it.
    pub fn add_path(&mut self) -> Option<*mut u64> {
        let place = self.arrays.len() % PATHS_A_PIECE;
        if place == 0 {
            self.pieces.push(MmapMut::map_anon(PATHS_A_PIECE * STRIDE * size_of::<u64>()).ok()?);
        }
        let piece = self.pieces.last_mut()?.as_mut_ptr().cast::<u64>();
        let array = piece.wrapping_add(place * STRIDE);
        self.arrays.push(array);
        self.visited.push(true);
        Some(array)
    }

    /// Work is counted on a path from now on.
    #[inline(always)]
    pub fn visit(&mut self, path: u32) {
        self.visited[path as usize] = true;
    }

    /// True if blocks have to be dropped, and [`Counters::begin_anew`] called, before more counters are requested.
    pub fn are_full(&self) -> bool {
        self.meanings.len() > MOST_COUNTERS - RESERVE
    }

    fn add(&mut self, meaning: Meaning) -> u32 {
        if self.meanings.len() < MOST_COUNTERS {
            self.meanings.push(meaning);
        }
        // Beyond the limit, the last counter also counts for others: that takes more code than the reserve between two
        // checks.
        self.meanings.len() as u32 - 1
    }

    /// The number of the counter of runs of `steps`.
    pub fn ran(&mut self, steps: Arc<[Step]>) -> u32 {
        if let Some(number) = self.ran.get(&steps) {
            return *number;
        }
        let number = self.add(Meaning::Ran(steps.clone()));
        self.ran.insert(steps, number);
        number
    }

    /// The number of the counter of this work of the instruction at `pc`.
    #[inline]
    pub fn did(&mut self, pc: u32, what: What) -> u32 {
        let slot = slot_of(pc, what);
        let (known_pc, known_what, number) = self.recent[slot];
        if (known_pc, known_what) == (pc, what) {
            return number;
        }
        let number = self.look_for(pc, what);
        self.recent[slot] = (pc, what, number);
        number
    }

    #[cold]
    #[inline(never)]
    fn look_for(&mut self, pc: u32, what: What) -> u32 {
        if let Some(number) = self.did.get(&(pc, what)) {
            return *number;
        }
        let number = self.add(Meaning::Did(pc, what));
        self.did.insert((pc, what), number);
        number
    }

    /// Restarts the counters with new meanings, and keeps the counts as rows. No code may use the old numbers from then
    /// on, and the current path is to be visited again.
    pub fn begin_anew(&mut self) {
        let mut rows = std::mem::take(&mut self.earlier);
        self.add_rows(&mut rows);
        self.earlier = rows;
        self.reset();
        self.meanings.clear();
        self.ran.clear();
        self.did.clear();
        self.recent.fill(NOTHING);
    }

    /// Takes all counts and resets them: see [`Counters::begin_anew`].
    pub fn take_rows(&mut self) -> Rows {
        self.begin_anew();
        std::mem::take(&mut self.earlier)
    }

    /// All counts.
    pub fn rows(&self) -> Rows {
        let mut rows = self.earlier.clone();
        self.add_rows(&mut rows);
        rows
    }

    /// Sets all counters to 0. Only those that are not 0 are written, so that the host need not have memory for others.
    fn reset(&mut self) {
        for (_, array) in self.visited_arrays() {
            for number in 0..self.meanings.len() {
                // SAFETY: each array has room for all counters.
                unsafe {
                    let counter = array.add(number);
                    if counter.read() != 0 {
                        counter.write(0);
                    }
                }
            }
        }
        self.visited.fill(false);
    }

    /// The arrays that may have counts that are not 0, each with its path.
    fn visited_arrays(&self) -> impl Iterator<Item = (u32, *mut u64)> {
        let all = (0..).zip(&self.arrays).zip(&self.visited);
        all.filter(|(_, visited)| **visited).map(|((path, array), _)| (path, *array))
    }

    fn add_rows(&self, rows: &mut Rows) {
        for (path, array) in self.visited_arrays() {
            for (number, meaning) in self.meanings.iter().enumerate() {
                // SAFETY: each array has room for all counters.
                let count = unsafe { array.add(number).read() };
                if count != 0 {
                    add_counted(rows, path, meaning, count);
                }
            }
        }
    }
}

fn add_counted(rows: &mut Rows, path: u32, meaning: &Meaning, count: u64) {
    match meaning {
        Meaning::Ran(steps) => {
            for Step { pc, cost } in steps.iter() {
                let row = rows.entry((path, *pc)).or_default();
                row.executions = row.executions.wrapping_add(count);
                let parts = [
                    (Own::Issue, cost.issue),
                    (Own::OperandWait, cost.operand_wait),
                    (Own::LongOperation, cost.long_operation),
                    (Own::Jump, cost.jump),
                ];
                for (own, cycles) in parts.into_iter().filter(|(_, cycles)| *cycles > 0) {
                    *row.cycles.entry(Cause::Own(own)).or_default() += count * cycles;
                }
            }
        }
        Meaning::Did(pc, what) => {
            let row = rows.entry((path, *pc)).or_default();
            match what {
                What::Spent(Cause::Own(Own::Saved)) => row.saved += count,
                What::Spent(cause) => *row.cycles.entry(*cause).or_default() += count,
                What::Ran => row.executions = row.executions.wrapping_add(count),
                What::Annulled => row.executions = row.executions.wrapping_sub(count),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(pc: u32, issue: u64, jump: u64) -> Step {
        Step { pc, cost: Breakdown { issue, jump, ..Breakdown::default() } }
    }

    #[test]
    fn rows_are_separate_by_path_and_survive_a_restart_of_counters() {
        let mut counters = Counters::new();
        let paths = [counters.add_path().unwrap(), counters.add_path().unwrap()];
        let ran = counters.ran(Arc::from([step(0x10, 1, 0), step(0x14, 1, 2)]));
        assert_eq!(counters.ran(Arc::from([step(0x10, 1, 0), step(0x14, 1, 2)])), ran);
        let waited = counters.did(0x10, What::Spent(Cause::Memory(7)));
        assert_eq!(counters.did(0x10, What::Spent(Cause::Memory(7))), waited);
        // SAFETY: the numbers are those of counters.
        unsafe {
            *paths[0].add(ran as usize) += 3;
            *paths[1].add(ran as usize) += 1;
            *paths[1].add(waited as usize) += 50;
        }
        let before = counters.rows();
        assert_eq!(before[&(0, 0x14)].executions, 3);
        assert_eq!(
            before[&(0, 0x14)].cycles,
            BTreeMap::from([(Cause::Own(Own::Issue), 3), (Cause::Own(Own::Jump), 6)])
        );
        assert_eq!(before[&(1, 0x10)].cycles[&Cause::Memory(7)], 50);
        counters.begin_anew();
        assert_eq!(counters.rows(), before);
    }
}
