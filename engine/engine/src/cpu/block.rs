//! Blocks: straight-line code, decoded once, with all its timing that does not depend on memory.
//!
//! A block is identified by its virtual address, the state in which its code was decoded ([`Isa::Context`], which
//! includes the page of code), and the results that are under way when it is entered. A write to its code kills it
//! ([`places`]).

mod finding;
mod known;
pub mod places;

use std::collections::BTreeMap;
use std::ops::Range;

use super::cost::{Breakdown, Cost};
use super::isa::{Isa, Pending};
use super::memory_system::Via;
use super::memory_system::fetch::pages::PageNumber;
use known::KnownEntries;
use places::{Places, Spread};

/// No block.
pub const NO_BLOCK: u32 = u32::MAX;
/// No mark of a page of code.
pub const NOT_FETCHED: u32 = 0;
/// Exit of a block that falls through.
pub const FALLEN: usize = 0;
/// Exit of a block that ends in a taken jump.
pub const TAKEN: usize = 1;
const LOOKUP_SLOTS: usize = 1 << 12;
/// Most blocks before all are dropped: some megabytes of code.
const MOST_BLOCKS: usize = 1 << 16;
/// Runs of a compiled block that the interpreter had to finish, after which the core checks whether the code is worth
/// having.
const RECONSIDER_AFTER: u16 = 200;
/// Runs of a block by the interpreter after which the core checks whether its code is ready.
const LOOK_AGAIN_AFTER: u16 = 500;
/// Runs by the interpreter after which a block gets its own code, though it was to be part of another block's code.
const COVERED_RUNS: u16 = 30_000;
/// No [`Settled::tag`]: the number of kinds of results under way never gets this high.
const NOT_SETTLED: Settled = Settled { tag: u64::MAX, index: NO_BLOCK };

/// The data of a block that the inner loop needs: one cache line of the host. Addresses are as [`Isa::address`] returns
/// them.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Hot<J> {
    /// Complete runs of the block: fallen through, taken.
    pub runs: [u64; 2],
    /// Address of its compiled code, or of the stub for blocks without code; valid only where there is a compiler.
    pub code: usize,
    /// Index of its first operation.
    pub first_op: u32,
    /// The block after each exit, where it can be entered without further checks.
    pub links: [u32; 2],
    /// Its address.
    pub pc: u32,
    /// The address after its last instruction.
    pub end_pc: u32,
    /// Target of the taken branch or jump.
    pub taken_pc: u32,
    /// The mark of its page of code if all of its lines were found in the instruction cache and none has left it; else
    /// [`NOT_FETCHED`].
    pub fetched: u32,
    /// Its static cycles: fallen through, taken.
    pub cycles: [u16; 2],
    /// The longest time that it may take, without memory.
    pub longest_cycles: u16,
    /// Number of its instructions.
    pub instructions: u16,
    /// Runs by the interpreter until it is compiled; of a compiled block, until the decision is reviewed.
    pub runs_to_go: u16,
    /// Number of cache lines with its code; 0 if it is not fetched through the cache.
    pub lines: u8,
    /// The prediction to make at its end.
    pub jump: J,
}

/// The data of a block that only the slow paths need.
#[derive(Debug)]
pub struct Cold<I: Isa> {
    /// Static cycles by cause: fallen through, taken.
    pub breakdown: [Breakdown; 2],
    /// The entry for which it was decoded.
    pub entry: EntryOf<I>,
    /// Static cycles by cause, and results under way, before its last instruction.
    pub before_last: (Breakdown, I::Pending),
    /// Cost of its last instruction (a jump: not taken), and results under way after it.
    pub last: (Cost, I::Pending),
    /// State before each instruction, and after the last: computed when the block is first left before its end.
    pub before: Box<[BeforeOf<I>]>,
    /// Results under way at each exit.
    pub pending: [I::Pending; 2],
    /// Number of the results under way after a taken jump: 0 for none.
    pub pending_after_jump: u32,
    /// The state after the block, where it falls through.
    pub context_after: I::Context,
    /// The path by which it is fetched.
    pub fetch: Via,
    /// The page of code in which its last byte is; the first one's is in its state.
    pub last_page: PageNumber,
    /// Index of its first instruction.
    pub first_instr: u32,
    /// Its runs when the use of its compiled code was last reviewed.
    pub runs_before: u64,
    /// It is part of a region that is compiled or being compiled.
    pub is_covered: bool,
    /// Blocks that have been linked to it, up to [`places`]' limit.
    sources: Vec<u32>,
    /// It was killed.
    pub is_dead: bool,
    /// The profile's counters of its runs, by exit, if it has any.
    pub counters: Option<[u32; 2]>,
    /// The profile's counters of runs that end before the block does, by instruction.
    pub part_counters: Vec<Option<u32>>,
}

/// The data of an operation that only the slow paths need, under the same index.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// Number of its instruction in the block.
    pub instr: u16,
    /// Static cycles from the block's start to the end of its instruction's first cycle.
    pub begins_cycles: u16,
}

/// State before an instruction within a block, apart from memory's effects: `C` is [`Isa::Context`], `P` is
/// [`Isa::Pending`].
#[derive(Clone, Copy, Debug)]
pub struct Before<C, P> {
    /// Static cycles by cause, from the block's start.
    pub fixed: Breakdown,
    /// Results under way.
    pub pending: P,
    /// The instruction's address, in the form that blocks use.
    pub pc: u32,
    /// The decoding state.
    pub context: C,
}

/// [`Before`] of an instruction set.
pub type BeforeOf<I> = Before<<I as Isa>::Context, <I as Isa>::Pending>;

/// Amount of code in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Up to the first instruction that ends a block, or to the maximum length.
    Whole,
    /// Only the code in its first cache line: later code would have to be fetched first.
    Line,
    /// One instruction.
    One,
}

/// Key of a block: `C` is [`Isa::Context`], `P` is [`Isa::Pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry<C, P> {
    /// Its address.
    pub pc: u32,
    /// The state in which its code is decoded.
    pub context: C,
    /// Amount of code requested.
    pub extent: Extent,
    /// Results under way when it is entered: its static time depends on them.
    pub pending: P,
}

/// [`Entry`] of an instruction set.
pub type EntryOf<I> = Entry<<I as Isa>::Context, <I as Isa>::Pending>;

/// A requested block: an entry of the lookup table.
#[derive(Clone, Copy, Debug)]
struct Found<E> {
    /// Entries of another generation than [`Blocks::generation`] are stale.
    generation: u32,
    index: u32,
    entry: Option<E>,
}

/// A requested whole block: an entry of the table that compiled code searches.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Settled {
    /// Its address, with the number of the results under way ([`Cold::pending_after_jump`]) above it.
    pub tag: u64,
    /// Its index.
    pub index: u32,
}

/// Code that was decoded for a block, with its static time.
#[derive(Debug)]
pub struct Draft<I: Isa> {
    /// Its operations; the last one ends the block.
    pub ops: Vec<I::Op>,
    /// The slow paths' data of each operation.
    pub infos: Vec<OpInfo>,
    /// Its instructions.
    pub instrs: Vec<I::Instr>,
    /// Its size.
    pub bytes: u32,
    /// The state after the block.
    pub context_after: I::Context,
    /// Target of the taken branch or jump, where it is fixed.
    pub taken_pc: u32,
    /// The prediction to make at its end.
    pub jump: I::Jump,
    /// Cost of a misprediction at its end.
    pub mispredicted_cycles: u16,
    /// Most cycles beyond the static ones that depend on run-time values: see [`Hot::longest_cycles`].
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
    /// The inner loop's part of each block. It never grows beyond its first capacity, because compiled code contains
    /// its address.
    pub hot: Vec<Hot<I::Jump>>,
    /// The rest of each block.
    pub cold: Vec<Cold<I>>,
    /// Operations of all blocks; each block's operations end with one that ends it.
    pub ops: Vec<I::Op>,
    /// The slow paths' data of each operation.
    pub infos: Vec<OpInfo>,
    /// Instructions of all blocks.
    pub instrs: Vec<I::Instr>,
    /// Direct-mapped by [`Blocks::slot_of`], by their extents.
    lookup: [Vec<Found<EntryOf<I>>>; 3],
    /// Entries to which compiled code may jump, by [`lookup_slot`].
    settled: Vec<Settled>,
    /// By the first block of a region: the state of fetched lines in which the region was found enterable at its other
    /// blocks. Compiled code contains the table's address.
    sure: Vec<u32>,
    /// Incremented when all blocks are dropped; never 0.
    generation: u32,
    /// Runs after which a block is compiled; 0 for never.
    pub compile_after: u16,
    /// [`Hot::code`] of a block without compiled code.
    uncompiled: usize,
    /// Dead blocks stay until another block takes their index.
    by_entry: KnownEntries<EntryOf<I>>,
    /// Numbers of the results that can be under way after jumps, for code that [`Isa::is_apart`] and for other code,
    /// from 1.
    pending_numbers: BTreeMap<(I::Pending, bool), u32>,
    places: Places,
    code_in: Spread,
    totals: Breakdown,
}

impl<I: Isa> Blocks<I> {
    /// An empty set of blocks, which are compiled after `compile_after` runs (0: never).
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
            by_entry: KnownEntries::new(),
            pending_numbers: BTreeMap::new(),
            places: Places::default(),
            code_in: Spread::default(),
            totals: Breakdown::default(),
        }
    }

    /// Changes whenever all blocks are dropped: an older index is then no longer valid.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Address of the code after an exit.
    pub fn exit_pc(&self, index: u32, exit: usize) -> u32 {
        let hot = &self.hot[index as usize];
        if exit == FALLEN { hot.end_pc } else { hot.taken_pc }
    }

    /// True if there may be no room for three more blocks (one of each extent), or dead blocks take up much room: drop
    /// all blocks first.
    pub fn are_full(&self) -> bool {
        self.hot.len() + 3 > MOST_BLOCKS || self.places.are_dead()
    }

    /// Marks all blocks as not known to be in the instruction cache.
    pub fn forget_fetched(&mut self) {
        self.hot.iter_mut().for_each(|hot| hot.fetched = NOT_FETCHED);
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

    /// The slow paths' data of each of its operations.
    pub fn infos_of(&self, index: u32) -> &[OpInfo] {
        &self.infos[self.op_range(index)]
    }

    /// True if a block's instructions are fetched past the cache. Most blocks show that by their number of lines.
    #[inline(always)]
    pub fn is_uncached(&self, index: u32) -> bool {
        self.hot[index as usize].lines == 0 && self.cold[index as usize].fetch == Via::Uncached
    }

    /// True if a block begins with a fetch of its lines that no cache keeps.
    #[inline(always)]
    pub fn is_passing(&self, index: u32) -> bool {
        self.hot[index as usize].lines == 0 && self.cold[index as usize].fetch == Via::Passing
    }

    /// True if the results under way at a block's entry are the same after a wait of any length: none.
    pub fn waits_in_place(&self, index: u32) -> bool {
        self.cold[index as usize].entry.pending.is_none()
    }

    /// The block at the same address after a wait of any length, if there is one.
    pub fn after_wait(&self, index: u32) -> Option<u32> {
        if self.waits_in_place(index) {
            return Some(index);
        }
        let entry = self.cold[index as usize].entry;
        let mut pending = entry.pending;
        I::wait(&mut pending, 1);
        let found = self.by_entry.get(entry.pc, &Entry { pending, ..entry });
        found.filter(|found| pending.is_none() && !self.cold[*found as usize].is_dead)
    }

    fn op_range(&self, index: u32) -> Range<usize> {
        let after = self.hot.get(index as usize + 1).map_or(self.ops.len(), |next| next.first_op as usize);
        self.hot[index as usize].first_op as usize..after
    }

    /// The operations of a block from its first on; other blocks' operations follow.
    pub fn ops_from(&self, index: u32) -> &[I::Op] {
        &self.ops[self.hot[index as usize].first_op as usize..]
    }

    /// The slow paths' data of operation `at` of a block.
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
        // Firmware that writes next to its code drops blocks often, and clearing the tables would take longest.
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

    /// As [`Blocks::totals`], without changing anything.
    pub fn totals_so_far(&self) -> Breakdown {
        let mut totals = self.totals;
        for (hot, cold) in self.hot.iter().zip(&self.cold) {
            for exit in [FALLEN, TAKEN] {
                totals.add_runs(cold.breakdown[exit], hot.runs[exit]);
            }
        }
        totals
    }

    /// Sets the totals of all blocks, which have been dropped.
    pub fn set_totals(&mut self, totals: Breakdown) {
        self.totals = totals;
    }

    /// Adds a block of decoded code, which ends in the page of code `last_page`. `line_bytes` is the line size of the
    /// instruction cache.
    pub fn add(
        &mut self,
        entry: EntryOf<I>,
        (fetch, last_page): (Via, PageNumber),
        line_bytes: u32,
        draft: Draft<I>,
    ) -> u32 {
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
            fetched: NOT_FETCHED,
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
        let pending_after_jump = self.number_pending(pending[TAKEN], I::is_apart(&entry.context));
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
            last_page,
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

    fn number_pending(&mut self, pending: I::Pending, is_apart: bool) -> u32 {
        if I::COMPILE_AFTER == 0 || pending.is_none() && !is_apart {
            return 0;
        }
        let next = self.pending_numbers.len() as u32 + 1;
        *self.pending_numbers.entry((pending, is_apart)).or_insert(next)
    }

    /// Makes compiled code find the whole block `index` for `entry`.
    pub fn settle(&mut self, entry: &EntryOf<I>, index: u32) {
        let (pending, is_apart) = (entry.pending, I::is_apart(&entry.context));
        let is_plain = pending.is_none() && !is_apart;
        let number = if is_plain { Some(&0) } else { self.pending_numbers.get(&(pending, is_apart)) };
        if let Some(number) = number {
            let tag = u64::from(*number) << 32 | u64::from(entry.pc);
            self.settled[lookup_slot(entry.pc)] = Settled { tag, index };
        }
    }

    /// The settled block at the target of the jump with which a block has just been left; [`NO_BLOCK`] without one.
    /// After a part of a block the core stops.
    #[inline]
    pub fn settled_after(&self, index: u32) -> u32 {
        let (target, cold) = (self.hot[index as usize].taken_pc, &self.cold[index as usize]);
        let tag = u64::from(cold.pending_after_jump) << 32 | u64::from(target);
        match self.settled.get(lookup_slot(target)) {
            Some(settled) if settled.tag == tag && cold.entry.extent == Extent::Whole => settled.index,
            _ => NO_BLOCK,
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

    /// Address of the table of states in which regions may be entered at a side entry, by their first blocks.
    pub fn sure_base(&self) -> usize {
        self.sure.as_ptr().expose_provenance()
    }

    /// True if a block has compiled code.
    #[inline(always)]
    pub fn is_compiled(&self, index: u32) -> bool {
        self.hot[index as usize].code != self.uncompiled
    }

    /// Sets the compiled code of a region's blocks: of the first, and of those without code.
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

    /// Notes an entry to a block to which no other leads: the rest of a block that was left before its end, mostly
    /// because the core's slice had ended. The next slice ends elsewhere, so the block is not worth compiling: the run
    /// does not count.
    #[inline]
    pub fn enter_by_chance(&mut self, index: u32) {
        let hot = &mut self.hot[index as usize];
        if I::COMPILE_AFTER > 0 && hot.runs_to_go < self.compile_after {
            hot.runs_to_go += 1;
        }
    }

    /// Notes that a block is being compiled: the core checks soon whether that is done.
    pub fn look_again(&mut self, index: u32) {
        self.hot[index as usize].runs_to_go = LOOK_AGAIN_AFTER;
    }

    /// Notes that a block can't be compiled: the next attempt is when its counter has wrapped around.
    pub fn give_up(&mut self, index: u32) {
        self.hot[index as usize].runs_to_go = 0;
    }

    /// Forgets the code of a region, which is obsolete or not ready yet.
    pub fn forget_code_of(&mut self, members: &[u32], code: usize) {
        for index in members {
            let hot = &mut self.hot[*index as usize];
            self.cold[*index as usize].is_covered = false;
            if hot.code == code || hot.code == self.uncompiled {
                (hot.code, hot.runs_to_go) = (self.uncompiled, self.compile_after);
            }
        }
    }

    /// Notes that blocks are being compiled together: the core checks soon whether the first one's code is ready; the
    /// other blocks need no check meanwhile.
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

    /// Reviews a compiled block that the interpreter has had to finish [`RECONSIDER_AFTER`] times. If that happens in
    /// most of its runs (it reads a device, say), it runs without its code for some 60,000 runs.
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

    /// Marks all blocks as uncompiled, with `uncompiled` as the stub for blocks without code.
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

/// The slot of an address in the table at [`Blocks::settled_base`].
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
