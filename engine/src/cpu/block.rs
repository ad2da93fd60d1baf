//! Blocks: straight-line code, decoded once, with everything about its time that does not depend on memory.
//!
//! A block is known by its virtual address, the state in which its code was decoded ([`Isa::Context`]), and the results
//! that are under way when it is entered. What is written over it kills it ([`places`]); whatever changes what an
//! address means drops all blocks.

mod finding;
pub mod places;

use std::collections::BTreeMap;
use std::ops::Range;

use super::cost::{Breakdown, Cost};
use super::isa::{Isa, Pending};
use super::memory::Via;
use places::{Places, Spread};

/// No block.
pub const NO_BLOCK: u32 = u32::MAX;
/// Exit of a block that is fallen through.
pub const FALLEN: usize = 0;
/// Exit of a block that ends in a jump.
pub const TAKEN: usize = 1;
const LOOKUP_SLOTS: usize = 1 << 12;
/// Blocks there is room for before all are dropped: some megabytes of code.
const MOST_BLOCKS: usize = 1 << 16;
/// Runs of a compiled block that the interpreter had to finish, after which one has to ask whether its code is of use.
const RECONSIDER_AFTER: u16 = 200;
/// Runs of a block by the interpreter after which one has to ask whether its code is there.
const LOOK_AGAIN_AFTER: u16 = 500;
/// Runs by the interpreter after which a block is compiled that was to be part of another's code.
const COVERED_RUNS: u16 = 30_000;
/// No [`Settled::tag`]: so many kinds of results under way there never are.
const NOT_SETTLED: Settled = Settled { tag: u64::MAX, index: NO_BLOCK };

/// What the inner loop needs of a block: one cache line of the host. Addresses are as [`Isa::address`] gives them.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Hot<J> {
    /// Times the block ran to its end: fallen through, taken.
    pub runs: [u64; 2],
    /// Address of its compiled code, or of the stub that stands for it; of use only where there is a compiler.
    pub code: usize,
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
    /// Runs that the interpreter finishes until it is worth compiling; once compiled, until that is looked at again.
    pub runs_to_go: u16,
    /// Cache lines that it lies in; 0 if it is not fetched through the cache.
    pub lines: u8,
    /// What has to be predicted at its end.
    pub jump: J,
}

/// What the slow paths need of a block.
#[derive(Debug)]
pub struct Cold<I: Isa> {
    /// Static cycles by cause: fallen through, taken.
    pub breakdown: [Breakdown; 2],
    /// How it was asked for.
    pub entry: EntryOf<I>,
    /// Static cycles by cause, and results under way, before its last instruction.
    pub before_last: (Breakdown, I::Pending),
    /// What its last instruction costs, a jump as not taken, and results under way behind it.
    pub last: (Cost, I::Pending),
    /// The same before each instruction, and behind the last: worked out when it is first left in its middle.
    pub before: Box<[BeforeOf<I>]>,
    /// Results under way at each exit.
    pub pending: [I::Pending; 2],
    /// A number for what is under way where a jump has been taken: 0 for nothing.
    pub pending_after_jump: u32,
    /// The state behind it, where it is fallen through.
    pub context_after: I::Context,
    /// How it is fetched.
    pub fetch: Via,
    /// Index of its first instruction.
    pub first_instr: u32,
    /// Its runs when its compiled code was last thought about.
    pub runs_before: u64,
    /// It is compiled with others, or is being.
    pub is_covered: bool,
    /// Blocks that have been linked to it, up to some number of them.
    sources: Vec<u32>,
    /// It was killed.
    pub is_dead: bool,
    /// The profile's counters of its runs, by exit, if it has such.
    pub counters: Option<[u32; 2]>,
    /// The same of runs up to an instruction of its middle.
    pub part_counters: Vec<Option<u32>>,
}

/// What slow paths need of an operation, under the same index.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// Number of its instruction in the block.
    pub instr: u16,
    /// Static cycles from the block's beginning to the end of its instruction's first cycle.
    pub begins_cycles: u16,
}

/// What holds before an instruction of a block that has come so far, but for what memory did meanwhile: `C` is
/// [`Isa::Context`], `P` is [`Isa::Pending`].
#[derive(Clone, Copy, Debug)]
pub struct Before<C, P> {
    /// Static cycles by cause, from the block's beginning.
    pub fixed: Breakdown,
    /// Results under way.
    pub pending: P,
    /// Its address, as blocks have it.
    pub pc: u32,
    /// The state.
    pub context: C,
}

/// What holds before an instruction of an instruction set.
pub type BeforeOf<I> = Before<<I as Isa>::Context, <I as Isa>::Pending>;

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

/// How a block is asked for: `C` is [`Isa::Context`], `P` is [`Isa::Pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry<C, P> {
    /// Its address.
    pub pc: u32,
    /// The state in which its code is decoded.
    pub context: C,
    /// How much code it is to have.
    pub extent: Extent,
    /// Results under way when it is entered: its static time depends on them.
    pub pending: P,
}

/// How a block of an instruction set is asked for.
pub type EntryOf<I> = Entry<<I as Isa>::Context, <I as Isa>::Pending>;

/// A block that was asked for: an entry of the lookup table.
#[derive(Clone, Copy, Debug)]
struct Found<E> {
    /// What is not of [`Blocks::generation`] has been dropped.
    generation: u32,
    index: u32,
    entry: Option<E>,
}

/// A whole block that was asked for: an entry of the table that compiled code looks into.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Settled {
    /// Its address, and above that the number of what was under way ([`Cold::pending_after_jump`]).
    pub tag: u64,
    /// Its index.
    pub index: u32,
}

/// Code that was decoded for a block, with its static time.
#[derive(Debug)]
pub struct Draft<I: Isa> {
    /// Its operations, the last of which ends it.
    pub ops: Vec<I::Op>,
    /// What goes with each of them.
    pub infos: Vec<OpInfo>,
    /// Its instructions.
    pub instrs: Vec<I::Instr>,
    /// Its size.
    pub bytes: u32,
    /// The state behind it.
    pub context_after: I::Context,
    /// Where a taken branch or a jump leads, where that is fixed.
    pub taken_pc: u32,
    /// What has to be predicted at its end.
    pub jump: I::Jump,
    /// What a wrong prediction costs at its end.
    pub mispredicted_cycles: u16,
    /// What it may take beyond its static cycles, for what is not known before: see [`Hot::longest_cycles`].
    pub further_cycles: u16,
    /// See [`Cold`].
    pub breakdown: [Breakdown; 2],
    /// See [`Cold`].
    pub pending: [I::Pending; 2],
    /// See [`Cold`].
    pub before_last: (Breakdown, I::Pending),
    /// See [`Cold`].
    pub last: (Cost, I::Pending),
}

/// All decoded blocks of a core.
#[derive(Debug)]
pub struct Blocks<I: Isa> {
    /// The inner loop's part of each block. It never grows beyond its first capacity, so that compiled code may know
    /// where it is.
    pub hot: Vec<Hot<I::Jump>>,
    /// The rest of each block.
    pub cold: Vec<Cold<I>>,
    /// Operations of all blocks; each block's end with one that ends it.
    pub ops: Vec<I::Op>,
    /// What goes with each operation.
    pub infos: Vec<OpInfo>,
    /// Instructions of all blocks.
    pub instrs: Vec<I::Instr>,
    /// Direct-mapped by [`Blocks::slot_of`], by their extents.
    lookup: [Vec<Found<EntryOf<I>>>; 3],
    /// Those of them that compiled code may go to, by [`lookup_slot`].
    settled: Vec<Settled>,
    /// By the first block of a region: the state of fetched lines under which it was found that it may be entered at
    /// its other blocks. Compiled code knows where it is.
    sure: Vec<u32>,
    /// Grows when all blocks are dropped; never 0.
    generation: u32,
    /// Runs after which a block is compiled; 0 for never.
    pub compile_after: u16,
    /// What [`Hot::code`] says of a block without compiled code.
    uncompiled: usize,
    /// Dead ones stay until another takes their place.
    by_entry: BTreeMap<EntryOf<I>, u32>,
    /// Numbers of what can be under way behind jumps, from 1.
    pending_numbers: BTreeMap<I::Pending, u32>,
    places: Places,
    code_in: Spread,
    totals: Breakdown,
}

impl<I: Isa> Blocks<I> {
    /// No blocks; they are compiled after so many runs (0: never).
    pub fn new(compile_after: u16) -> Blocks<I> {
        let nothing = Found { generation: 0, index: NO_BLOCK, entry: None };
        Blocks {
            hot: Vec::with_capacity(MOST_BLOCKS),
            cold: Vec::new(),
            ops: Vec::new(),
            infos: Vec::new(),
            instrs: Vec::new(),
            lookup: std::array::from_fn(|_| vec![nothing; 2 * LOOKUP_SLOTS]),
            settled: vec![NOT_SETTLED; LOOKUP_SLOTS],
            sure: if I::COMPILE_AFTER == 0 { Vec::new() } else { vec![0; MOST_BLOCKS] },
            generation: 1,
            compile_after,
            uncompiled: 0,
            by_entry: BTreeMap::new(),
            pending_numbers: BTreeMap::new(),
            places: Places::default(),
            code_in: Spread::default(),
            totals: Breakdown::default(),
        }
    }

    /// Another one whenever all blocks have been dropped: an index of before then stands for no block.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Address of what comes behind an exit.
    pub fn exit_pc(&self, index: u32, exit: usize) -> u32 {
        let hot = &self.hot[index as usize];
        if exit == FALLEN { hot.end_pc } else { hot.taken_pc }
    }

    /// True if there may be no room for three more blocks, one of each extent, or much room is taken by dead ones: drop
    /// them all first.
    pub fn are_full(&self) -> bool {
        self.hot.len() + 3 > MOST_BLOCKS || self.places.are_dead()
    }

    /// No block is known to be in the instruction cache any more.
    pub fn forget_fetched(&mut self) {
        self.hot.iter_mut().for_each(|hot| hot.fetched_epoch = 0);
        self.sure.fill(0);
    }

    /// The instructions of a block.
    pub fn instrs_of(&self, index: u32) -> &[I::Instr] {
        let first = self.cold[index as usize].first_instr as usize;
        &self.instrs[first..first + self.hot[index as usize].instructions as usize]
    }

    /// The operations of a block.
    pub fn ops_of(&self, index: u32) -> &[I::Op] {
        &self.ops[self.op_range(index)]
    }

    /// What goes with each of them.
    pub fn infos_of(&self, index: u32) -> &[OpInfo] {
        &self.infos[self.op_range(index)]
    }

    /// True if a block's instructions are fetched past the cache. Of most, their lines tell.
    #[inline(always)]
    pub fn is_uncached(&self, index: u32) -> bool {
        self.hot[index as usize].lines == 0 && self.cold[index as usize].fetch == Via::Uncached
    }

    /// True if a block begins with a fetch of its lines, which nothing keeps.
    #[inline(always)]
    pub fn is_passing(&self, index: u32) -> bool {
        self.hot[index as usize].lines == 0 && self.cold[index as usize].fetch == Via::Passing
    }

    /// True if what is under way where a block begins is the same behind a wait, however long that is: nothing.
    pub fn waits_in_place(&self, index: u32) -> bool {
        self.cold[index as usize].entry.pending.is_none()
    }

    /// The block at the same place behind a wait, if there is one for whatever wait.
    pub fn after_wait(&self, index: u32) -> Option<u32> {
        if self.waits_in_place(index) {
            return Some(index);
        }
        let entry = self.cold[index as usize].entry;
        let mut pending = entry.pending;
        I::wait(&mut pending, 1);
        let found = self.by_entry.get(&Entry { pending, ..entry }).copied();
        found.filter(|found| pending.is_none() && !self.cold[*found as usize].is_dead)
    }

    fn op_range(&self, index: u32) -> Range<usize> {
        let after = self.hot.get(index as usize + 1).map_or(self.ops.len(), |next| next.first_op as usize);
        self.hot[index as usize].first_op as usize..after
    }

    /// The operations of a block from its first on; those of others follow.
    pub fn ops_from(&self, index: u32) -> &[I::Op] {
        &self.ops[self.hot[index as usize].first_op as usize..]
    }

    /// What goes with operation `at` of a block.
    #[inline(always)]
    pub fn info(&self, index: u32, at: u32) -> OpInfo {
        self.infos[(self.hot[index as usize].first_op + at) as usize]
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
        self.pending_numbers.clear();
        self.places.clear();
        self.code_in.clear();
        // Firmware that writes beside its code drops them often: filling the tables takes longer than all else.
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.lookup.iter_mut().flatten().for_each(|slot| slot.generation = 0);
            self.generation = 1;
        }
        if I::COMPILE_AFTER != 0 {
            self.settled.fill(NOT_SETTLED);
        }
    }

    /// Static cycles by cause of all blocks run so far.
    pub fn totals(&mut self) -> Breakdown {
        self.fold();
        self.totals
    }

    /// The same, with nothing changed.
    pub fn totals_so_far(&self) -> Breakdown {
        let mut totals = self.totals;
        for (hot, cold) in self.hot.iter().zip(&self.cold) {
            for exit in [FALLEN, TAKEN] {
                totals.add_runs(cold.breakdown[exit], hot.runs[exit]);
            }
        }
        totals
    }

    /// All blocks, which have been dropped, have come to that.
    pub fn set_totals(&mut self, totals: Breakdown) {
        self.totals = totals;
    }

    /// Makes a block of decoded code. `line_bytes` is the size of the instruction cache's lines.
    pub fn add(&mut self, entry: EntryOf<I>, fetch: Via, line_bytes: u32, draft: Draft<I>) -> u32 {
        debug_assert!(self.hot.len() < MOST_BLOCKS, "compiled code knows where the table is: it must not grow");
        let index = self.hot.len() as u32;
        let (first_op, first_instr) = (self.ops.len() as u32, self.instrs.len() as u32);
        let cycles = draft.breakdown.map(|part| part.cycles() as u16);
        let (start, line_mask) = (entry.pc & I::ADDRESS_MASK, !(line_bytes - 1));
        let (first_line, last_line) = (start & line_mask, start.wrapping_add(draft.bytes - 1) & line_mask);
        let draft_last = start.wrapping_add(draft.bytes - 1);
        let lines = if fetch == Via::Cached { last_line.wrapping_sub(first_line) / line_bytes + 1 } else { 0 };
        self.hot.push(Hot {
            runs: [0; 2],
            code: self.uncompiled,
            first_op,
            links: [NO_BLOCK; 2],
            pc: entry.pc,
            end_pc: entry.pc.wrapping_add(draft.bytes),
            taken_pc: draft.taken_pc,
            fetched_epoch: 0,
            cycles,
            longest_cycles: cycles[FALLEN].max(cycles[TAKEN]) + draft.mispredicted_cycles + draft.further_cycles,
            instructions: draft.instrs.len() as u16,
            runs_to_go: self.compile_after,
            lines: lines as u8,
            jump: draft.jump,
        });
        self.ops.extend(draft.ops);
        self.infos.extend(draft.infos);
        self.instrs.extend(draft.instrs);
        let Draft { breakdown, pending, before_last, last, context_after, .. } = draft;
        let pending_after_jump = self.number_pending(pending[TAKEN]);
        self.cold.push(Cold {
            breakdown,
            entry,
            before_last,
            last,
            before: Box::default(),
            pending,
            pending_after_jump,
            context_after,
            fetch,
            first_instr,
            runs_before: 0,
            is_covered: false,
            sources: Vec::new(),
            is_dead: false,
            counters: None,
            part_counters: Vec::new(),
        });
        self.note_found(entry, index);
        self.code_in.add(start, draft_last);
        index
    }

    // ---- For compiled code

    fn number_pending(&mut self, pending: I::Pending) -> u32 {
        if I::COMPILE_AFTER == 0 || pending.is_none() {
            return 0;
        }
        let next = self.pending_numbers.len() as u32 + 1;
        *self.pending_numbers.entry(pending).or_insert(next)
    }

    /// Compiled code finds the whole block `index` where `entry` is asked for.
    pub fn settle(&mut self, entry: &EntryOf<I>, index: u32) {
        let number = if entry.pending.is_none() { Some(&0) } else { self.pending_numbers.get(&entry.pending) };
        if let Some(number) = number {
            let tag = u64::from(*number) << 32 | u64::from(entry.pc);
            self.settled[lookup_slot(entry.pc)] = Settled { tag, index };
        }
    }

    /// Address of the first [`Hot`].
    pub fn hot_base(&self) -> usize {
        self.hot.as_ptr().expose_provenance()
    }

    /// Address of the table of [`Settled`] blocks; [`lookup_slot`] is its index.
    pub fn settled_base(&self) -> usize {
        self.settled.as_ptr().expose_provenance()
    }

    /// Address of the table of states under which regions may be entered aside, by their first blocks.
    pub fn sure_base(&self) -> usize {
        self.sure.as_ptr().expose_provenance()
    }

    /// True if a block has compiled code.
    #[inline(always)]
    pub fn is_compiled(&self, index: u32) -> bool {
        self.hot[index as usize].code != self.uncompiled
    }

    /// The blocks of a region have compiled code now: the first one this, others too if they had none.
    pub fn adopt(&mut self, members: &[u32], code: usize) {
        self.sure[members[0] as usize] = 0;
        for (place, index) in members.iter().enumerate() {
            let hot = &mut self.hot[*index as usize];
            if place > 0 && hot.code != self.uncompiled {
                continue;
            }
            hot.code = code;
            hot.runs_to_go = RECONSIDER_AFTER;
            self.cold[*index as usize].runs_before = hot.runs[0] + hot.runs[1];
        }
    }

    /// A block is entered that no other leads to: the rest of one that was left in its middle, most times because a
    /// core's turn was over. Next time that is elsewhere, so it is not worth compiling: the run does not count.
    #[inline]
    pub fn enter_by_chance(&mut self, index: u32) {
        let hot = &mut self.hot[index as usize];
        if I::COMPILE_AFTER > 0 && hot.runs_to_go < self.compile_after {
            hot.runs_to_go += 1;
        }
    }

    /// A block is being compiled: one has to ask soon whether that is done.
    pub fn look_again(&mut self, index: u32) {
        self.hot[index as usize].runs_to_go = LOOK_AGAIN_AFTER;
    }

    /// A block can't be compiled: it is asked for again only when its count has gone all the way round.
    pub fn give_up(&mut self, index: u32) {
        self.hot[index as usize].runs_to_go = 0;
    }

    /// The code of a region is of no use any more, or is not there yet.
    pub fn forget_code_of(&mut self, members: &[u32], code: usize) {
        for index in members {
            let hot = &mut self.hot[*index as usize];
            self.cold[*index as usize].is_covered = false;
            if hot.code == code || hot.code == self.uncompiled {
                (hot.code, hot.runs_to_go) = (self.uncompiled, self.compile_after);
            }
        }
    }

    /// Blocks are about to be compiled together: the first has been asked for, and one has to ask soon whether that is
    /// done; the others need not be asked for meanwhile.
    pub fn cover(&mut self, members: &[u32]) {
        self.look_again(members[0]);
        for index in members {
            self.cold[*index as usize].is_covered = true;
        }
        for index in &members[1..] {
            if !self.is_compiled(*index) {
                self.hot[*index as usize].runs_to_go = COVERED_RUNS.max(self.compile_after);
            }
        }
    }

    /// A compiled block has had to be finished by the interpreter [`RECONSIDER_AFTER`] times. Where that happens most
    /// of the times (it reads a device, say), it does without its code until it has run some 60,000 times more.
    pub fn reconsider(&mut self, index: u32) {
        let (hot, cold) = (&mut self.hot[index as usize], &mut self.cold[index as usize]);
        let runs = hot.runs[0] + hot.runs[1];
        if runs.wrapping_sub(cold.runs_before) < 2 * u64::from(RECONSIDER_AFTER) {
            hot.code = self.uncompiled;
            cold.is_covered = false;
        } else {
            hot.runs_to_go = RECONSIDER_AFTER;
            cold.runs_before = runs;
        }
    }

    /// From now on, `uncompiled` stands for the code of blocks that have none, and none has.
    pub fn forget_code(&mut self, uncompiled: usize) {
        self.uncompiled = uncompiled;
        self.hot.iter_mut().for_each(|hot| hot.code = uncompiled);
        self.cold.iter_mut().for_each(|cold| cold.is_covered = false);
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
}

/// Where [`Blocks::settled_base`]'s table has an address, if it has it.
pub const fn lookup_slot(pc: u32) -> usize {
    (pc >> 1) as usize & (LOOKUP_SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_need_of_a_block_is_one_cache_line() {
        assert_eq!(size_of::<Hot<u8>>(), 64);
    }
}
