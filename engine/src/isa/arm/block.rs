//! Blocks: straight-line code, decoded once, with everything about its time that does not depend on memory.
//!
//! A block is known by its virtual address, the instruction set, ITSTATE and the privilege with which it was read. Whatever changes what is there,
//! or what an address means, drops all blocks.

mod read;

pub use read::Read;

use std::collections::BTreeMap;

use self::read::Ending;
use super::breakdown::Breakdown;
use super::op::{Code, Instr, Op};
use super::predictor::Jump;
use super::registers::{RegisterSet, SINK};
use super::timing::{CoreTiming, Cost, Pending};
use crate::memory::first_level::Way;

/// No block.
pub const NO_BLOCK: u32 = u32::MAX;
/// Exit of a block that is fallen through.
pub const FALLEN: usize = 0;
/// Exit of a block that ends in a jump.
pub const TAKEN: usize = 1;
const LOOKUP_SLOTS: usize = 1 << 12;
/// Blocks there is room for before all are dropped: some megabytes of code.
const MOST_BLOCKS: usize = 1 << 16;

/// What the inner loop needs of a block: one cache line of the host. Addresses have the T bit in bit 0.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Hot {
    /// Times the block ran to its end: fallen through, taken.
    pub runs: [u64; 2],
    /// Index of its first operation.
    pub first_op: u32,
    /// The block behind each exit, where that can be entered without further thought.
    pub links: [u32; 2],
    /// Its address.
    pub pc: u32,
    /// The address behind it.
    pub end_pc: u32,
    /// Where a taken branch or a jump leads.
    pub taken_pc: u32,
    /// The state of fetched lines under which all of its lines were found in the instruction cache.
    pub fetched_epoch: u32,
    /// Its static cycles: fallen through, taken.
    pub cycles: [u16; 2],
    /// The longest time that it may take, but for memory.
    pub longest_cycles: u16,
    /// Its instructions.
    pub instructions: u16,
    /// Cache lines that it lies in; 0 if it is not fetched through the cache.
    pub lines: u16,
    /// What has to be predicted at its end.
    pub jump: Jump,
}

impl Hot {
    /// Its address.
    pub fn address(&self) -> u32 {
        self.pc & !1
    }

    /// The T bit.
    pub fn thumb(&self) -> bool {
        self.pc & 1 != 0
    }
}

/// What the slow paths need of a block.
#[derive(Debug)]
pub struct Cold {
    /// Static cycles by cause: fallen through, taken.
    pub breakdown: [Breakdown; 2],
    /// How it was asked for.
    pub entry: Entry,
    /// Static cycles by cause, and results under way, before its last instruction.
    pub before_last: (Breakdown, Pending),
    /// What its last instruction costs, a jump as not taken, and results under way behind it.
    pub last: (Cost, Pending),
    /// Results under way at each exit.
    pub pending: [Pending; 2],
    /// ITSTATE behind it, where it is fallen through.
    pub it: u8,
    /// How it is fetched.
    pub fetch: Way,
    /// Index of its first instruction.
    pub first_instr: u32,
}

/// What slow paths need of an operation, under the same index.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// Number of its instruction in the block.
    pub instr: u16,
    /// Static cycles from the block's beginning to the end of its instruction's first cycle.
    pub begins_cycles: u16,
}

/// An instruction as decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// What the decoder said.
    pub instr: Instr,
    /// General registers that it loads.
    pub loaded: RegisterSet,
    /// ITSTATE before it.
    pub it: u8,
    /// It has four bytes, and begins in the middle of a word.
    pub straddles: bool,
}

impl Decoded {
    /// Lets it pass the pipeline, as [`CoreTiming::step`]. What is fetched past the cache waits so long for that that nothing is under way
    /// any more when it has come.
    pub fn pass(&self, timing: &CoreTiming, fetch: Way, pending: &mut Pending) -> Cost {
        if fetch == Way::Uncached {
            *pending = Pending::NONE;
        }
        let cost = timing.step(self, pending);
        if fetch == Way::Uncached {
            *pending = Pending::NONE;
        }
        cost
    }
}

/// How much code a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Up to the first instruction that ends a block, or to the most that a block has.
    Whole,
    /// No more than is in its first cache line: what is behind it would have to be fetched first.
    Line,
    /// One instruction.
    One,
}

/// How a block is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its address, with the T bit in bit 0.
    pub pc: u32,
    /// ITSTATE at its beginning.
    pub it: u8,
    /// In a privileged mode.
    pub privileged: bool,
    /// How much code it is to have.
    pub extent: Extent,
    /// Results under way when it is entered: its static time depends on them.
    pub pending: Pending,
}

/// A block that was asked for.
#[derive(Clone, Copy, Debug)]
struct Found {
    entry: Entry,
    index: u32,
    generation: u32,
}

/// All decoded blocks of a core.
#[derive(Debug)]
pub struct Blocks {
    /// The inner loop's part of each block.
    pub hot: Vec<Hot>,
    /// The rest of each block.
    pub cold: Vec<Cold>,
    /// Operations of all blocks; each block's end with one that ends it.
    pub ops: Vec<Op>,
    /// What goes with each operation.
    pub infos: Vec<OpInfo>,
    /// Instructions of all blocks.
    pub instrs: Vec<Decoded>,
    /// Direct-mapped by address, by their extents. What is not of this generation has been dropped.
    lookup: [Vec<Option<Found>>; 3],
    generation: u32,
    by_entry: BTreeMap<Entry, u32>,
    totals: Breakdown,
}

impl Blocks {
    /// No blocks.
    pub fn new() -> Blocks {
        Blocks {
            hot: Vec::new(),
            cold: Vec::new(),
            ops: Vec::new(),
            infos: Vec::new(),
            instrs: Vec::new(),
            lookup: std::array::from_fn(|_| vec![None; LOOKUP_SLOTS]),
            generation: 0,
            by_entry: BTreeMap::new(),
            totals: Breakdown::default(),
        }
    }

    /// The block that was decoded for `entry`, if there is one.
    #[inline]
    pub fn find(&mut self, entry: Entry) -> Option<u32> {
        let slot = &mut self.lookup[entry.extent as usize][(entry.pc >> 1) as usize & (LOOKUP_SLOTS - 1)];
        match slot {
            Some(found) if found.entry == entry && found.generation == self.generation => Some(found.index),
            _ => {
                let index = *self.by_entry.get(&entry)?;
                *slot = Some(Found { entry, index, generation: self.generation });
                Some(index)
            }
        }
    }

    /// The block that takes the same time with what is under way as with nothing: found for that entry too from now on.
    pub fn find_unaffected(&mut self, timing: &CoreTiming, entry: Entry) -> Option<u32> {
        let index = self.find(Entry { pending: Pending::NONE, ..entry })?;
        self.is_unaffected(timing, index, entry.pending).then(|| {
            self.by_entry.insert(entry, index);
            index
        })
    }

    /// Address of what comes behind an exit, with the T bit.
    pub fn exit_pc(&self, index: u32, exit: usize) -> u32 {
        let hot = &self.hot[index as usize];
        if exit == FALLEN { hot.end_pc } else { hot.taken_pc }
    }

    /// True if there may be no room for three more blocks, one of each extent: drop them all first.
    pub fn are_full(&self) -> bool {
        self.hot.len() + 3 > MOST_BLOCKS
    }

    /// No block is known to be in the instruction cache any more.
    pub fn forget_fetched(&mut self) {
        self.hot.iter_mut().for_each(|hot| hot.fetched_epoch = 0);
    }

    /// The instructions of a block.
    pub fn instrs_of(&self, index: u32) -> &[Decoded] {
        let first = self.cold[index as usize].first_instr as usize;
        &self.instrs[first..first + self.hot[index as usize].instructions as usize]
    }

    /// Drops all blocks, keeping their totals.
    pub fn flush(&mut self) {
        self.fold();
        self.hot.clear();
        self.cold.clear();
        self.ops.clear();
        self.infos.clear();
        self.instrs.clear();
        self.by_entry.clear();
        // Firmware that writes beside its code drops them often: filling the tables takes longer than all else.
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.lookup.iter_mut().for_each(|slots| slots.fill(None));
        }
    }

    /// Static cycles by cause of all blocks run so far.
    pub fn totals(&mut self) -> Breakdown {
        self.fold();
        self.totals
    }

    /// Makes a block of code that was read. `predicts` tells whether branches are predicted; `line_bytes` is the size of the
    /// instruction cache's lines.
    pub fn add(
        &mut self,
        timing: &CoreTiming,
        predicts: bool,
        entry: Entry,
        fetch: Way,
        line_bytes: u32,
        read: &Read,
    ) -> u32 {
        let index = self.hot.len() as u32;
        let (first_op, first_instr) = (self.ops.len() as u32, self.instrs.len() as u32);
        let bytes = read.bytes();
        let Costs { breakdown, pending, before_last, last } = self.append(timing, predicts, entry, fetch, read);
        let end = Ending::of(read);
        let jump = if predicts { end.jump } else { Jump::Sure };
        let cycles = breakdown.map(|part| part.cycles() as u16);
        let wrong = if jump == Jump::Sure { 0 } else { u16::from(timing.mispredicted_branch) };
        let (start, line_mask) = (entry.pc & !1, !(line_bytes - 1));
        let (first_line, last_line) = (start & line_mask, start.wrapping_add(bytes - 1) & line_mask);
        let lines = if fetch == Way::Cached { last_line.wrapping_sub(first_line) / line_bytes + 1 } else { 0 };
        self.hot.push(Hot {
            runs: [0; 2],
            first_op,
            links: [NO_BLOCK; 2],
            pc: entry.pc,
            end_pc: entry.pc.wrapping_add(bytes),
            taken_pc: end.target,
            fetched_epoch: 0,
            cycles,
            longest_cycles: cycles[FALLEN].max(cycles[TAKEN]) + wrong,
            instructions: read.instrs.len() as u16,
            lines: lines as u16,
            jump,
        });
        self.cold.push(Cold { breakdown, entry, before_last, last, pending, it: read.it, fetch, first_instr });
        self.by_entry.insert(entry, index);
        index
    }

    /// True if a block entered with `pending` under way takes the time, and leaves behind it what it would without.
    fn is_unaffected(&self, timing: &CoreTiming, index: u32, mut pending: Pending) -> bool {
        let (mut clean, fetch) = (Pending::NONE, self.cold[index as usize].fetch);
        let same =
            |decoded: &Decoded| decoded.pass(timing, fetch, &mut pending) == decoded.pass(timing, fetch, &mut clean);
        self.instrs_of(index).iter().all(same) && pending == clean
    }

    /// Moves the blocks' run counts into the totals.
    fn fold(&mut self) {
        for (hot, cold) in self.hot.iter_mut().zip(&self.cold) {
            for exit in [FALLEN, TAKEN] {
                self.totals.add_runs(cold.breakdown[exit], hot.runs[exit]);
            }
            hot.runs = [0; 2];
        }
    }

    /// Appends the operations and works out their static time: by cause, and what is under way, for each exit.
    fn append(&mut self, timing: &CoreTiming, predicts: bool, entry: Entry, fetch: Way, read: &Read) -> Costs {
        let (mut pending, mut breakdown, mut first) = (entry.pending, Breakdown::default(), 0);
        let (mut before_last, mut last) = ((breakdown, pending), Cost::default());
        let mut at = entry.pc & !1;
        for (number, (decoded, end)) in read.instrs.iter().enumerate() {
            before_last = (breakdown, pending);
            let cost = decoded.pass(timing, fetch, &mut pending);
            let begins = (breakdown.cycles() as u32 + cost.waits_cycles() + 1) as u16;
            let bytes = decoded.instr.len_bytes;
            if fetch == Way::Uncached {
                self.push(Op { code: Code::Fetch, rd: bytes, rn: 0, rm: 0, ra: 0, imm: at }, number, begins);
            }
            at = at.wrapping_add(u32::from(bytes));
            for op in &read.ops[first..*end] {
                let saved = cost.issue_cycles.saturating_sub(1).min(255) as u8;
                let ra = if op.code == Code::SkipUnless && !decoded.instr.ends_block { saved } else { op.ra };
                self.push(Op { ra, ..*op }, number, begins);
            }
            breakdown.add(cost);
            self.instrs.push(*decoded);
            (first, last) = (*end, cost);
        }
        let end = Op { code: Code::End, rd: SINK, rn: 0, rm: 0, ra: 0, imm: 0 };
        self.push(end, read.instrs.len(), breakdown.cycles() as u16);
        let behind = (last, pending);
        let (mut breakdowns, mut pendings) = ([breakdown; 2], [pending; 2]);
        if Ending::of(read).skipped {
            breakdowns[FALLEN].long_operation -= u64::from(last.issue_cycles.saturating_sub(1));
        }
        let unpredicted = if predicts { 0 } else { timing.mispredicted_branch };
        let refill_cycles = read.instrs.last().map_or(0, |(decoded, _)| timing.refill_cycles(&decoded.instr));
        let jump_cycles = refill_cycles + u32::from(unpredicted);
        breakdowns[TAKEN].jump += u64::from(jump_cycles);
        timing.jump(&mut pendings[TAKEN], jump_cycles);
        if fetch == Way::Uncached {
            pendings = [Pending::NONE; 2];
        }
        Costs { breakdown: breakdowns, pending: pendings, before_last, last: behind }
    }

    fn push(&mut self, op: Op, instr: usize, begins_cycles: u16) {
        self.ops.push(op);
        self.infos.push(OpInfo { instr: instr as u16, begins_cycles });
    }
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks::new()
    }
}

/// The static time of a block: see [`Cold`].
struct Costs {
    breakdown: [Breakdown; 2],
    pending: [Pending; 2],
    before_last: (Breakdown, Pending),
    last: (Cost, Pending),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_need_of_a_block_is_one_cache_line() {
        assert_eq!(size_of::<Hot>(), 64);
    }
}
