//! Blocks: straight-line code, decoded once, with everything about its time that does not depend on memory.

use std::collections::BTreeMap;

use super::decode::decode;
use super::op::{Code, Instr, Op};
use super::timing::{CoreTiming, Cost, Pending};
use crate::bus::Bus;
use crate::memory::first_level::Way;

/// Instructions a block has at the most.
const LONGEST_BLOCK: usize = 64;
/// No block.
pub const NO_BLOCK: u32 = u32::MAX;
/// Writes to x0 go here, so that no operation has to look.
pub const SINK: u8 = 32;
const LOOKUP_SLOTS: usize = 1 << 12;
/// Runs of a compiled block that the interpreter had to finish, after which one has to ask whether its code is of use.
const RECONSIDER_AFTER: u16 = 200;
/// Blocks there is room for before all are dropped: some megabytes of code.
const MOST_BLOCKS: usize = 1 << 16;
/// An entry of the lookup table that matches no address: instructions have even ones.
const NOTHING: Found = Found { pc: 1, index: NO_BLOCK };

/// Static cycles of a block by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// One a instruction.
    pub issue: u64,
    /// Waiting for a load's or a multiplication's result.
    pub operand_wait: u64,
    /// Further cycles of multiplications, divisions, CSR accesses.
    pub long_operation: u64,
    /// Further cycles of jumps, taken branches and wrongly predicted ones.
    pub jump: u64,
}

impl Breakdown {
    /// Adds what an instruction cost.
    pub fn add(&mut self, code: Code, cost: Cost) {
        use super::op::TimingClass::{IndirectJump, Jump};
        self.issue += 1;
        self.operand_wait += u64::from(cost.stall_cycles);
        let further = u64::from(cost.issue_cycles - 1);
        if matches!(code.class(), Jump | IndirectJump) {
            self.jump += further;
        } else {
            self.long_operation += further;
        }
    }

    /// Adds what came between two moments, `times` times.
    pub fn add_difference(&mut self, to: Breakdown, from: Breakdown, times: u64) {
        self.issue += times * (to.issue - from.issue);
        self.operand_wait += times * (to.operand_wait - from.operand_wait);
        self.long_operation += times * (to.long_operation - from.long_operation);
        self.jump += times * (to.jump - from.jump);
    }

    /// Adds `times` runs of a block.
    pub fn add_runs(&mut self, block: Breakdown, times: u64) {
        self.issue += block.issue * times;
        self.operand_wait += block.operand_wait * times;
        self.long_operation += block.long_operation * times;
        self.jump += block.jump * times;
    }
}

/// What the inner loop and compiled code need of a block: one cache line of the host.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Hot {
    /// Times the block ran to its end: fallen through, taken.
    pub runs: [u64; 2],
    /// Address of its compiled code, or of the stub that stands for it.
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
    /// The larger of `cycles`.
    pub longest_cycles: u16,
    /// Its instructions.
    pub instructions: u16,
    /// Cache lines that it lies in; 0 if it is not fetched through the cache.
    pub lines: u16,
    /// Runs that the interpreter finishes until it is worth compiling; once compiled, until that is looked at again.
    pub runs_to_go: u16,
}

/// What the slow paths need of a block.
#[derive(Debug)]
pub struct Cold {
    /// Static cycles by cause: fallen through, taken.
    pub breakdown: [Breakdown; 2],
    /// Results under way when it is entered.
    pub entry: Pending,
    /// Results under way at each exit.
    pub pending: [Pending; 2],
    /// How it is fetched.
    pub fetch: Way,
    /// How much code it has.
    pub extent: Extent,
    /// Its runs when its compiled code was last thought about.
    pub runs_before: u64,
}

/// What slow paths need of an operation, under the same index.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The instruction as decoded.
    pub instr: Instr,
    /// From the block's address to the instruction's.
    pub pc_offset: u16,
    /// Static cycles from the block's beginning until the instruction issues.
    pub start_cycles: u16,
}

/// All decoded blocks of a core.
#[derive(Debug)]
pub struct Blocks {
    /// The inner loop's part of each block. It never grows beyond its first capacity, so that compiled code may know where it is.
    pub hot: Vec<Hot>,
    /// The rest of each block.
    pub cold: Vec<Cold>,
    /// Operations of all blocks; each block's end with one that ends it.
    pub ops: Vec<Op>,
    /// What goes with each operation.
    pub infos: Vec<OpInfo>,
    /// Direct-mapped by address, for entries with nothing under way, by their extents.
    lookup: [Box<[Found; LOOKUP_SLOTS]>; 3],
    /// Runs after which a block is compiled; 0 for never.
    pub compile_after: u16,
    /// What [`Hot::code`] says of a block without compiled code.
    uncompiled: usize,
    by_entry: BTreeMap<(u32, Extent, Pending), u32>,
    totals: Breakdown,
}

/// An entry of the lookup table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Found {
    /// Address of a block.
    pub pc: u32,
    /// Its index.
    pub index: u32,
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

/// Where and how a block is to be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its address.
    pub pc: u32,
    /// How much code it is to have at the most.
    pub extent: Extent,
    /// The line behind its first is not in the cache: of a whole block that goes on there, only the first line is
    /// decoded.
    pub cold: bool,
    /// Results under way when it is entered: its static time depends on them.
    pub entry: Pending,
    /// How it is fetched.
    pub fetch: Way,
    /// Size of the instruction cache's lines.
    pub line_bytes: u32,
}

impl Blocks {
    /// No blocks; they are compiled after so many runs (0: never).
    pub fn new(compile_after: u16) -> Blocks {
        Blocks {
            hot: Vec::with_capacity(MOST_BLOCKS),
            cold: Vec::new(),
            ops: Vec::new(),
            infos: Vec::new(),
            lookup: std::array::from_fn(|_| Box::new([NOTHING; LOOKUP_SLOTS])),
            compile_after,
            uncompiled: 0,
            by_entry: BTreeMap::new(),
            totals: Breakdown::default(),
        }
    }

    /// The block at `pc`, if it has been decoded for entry with `pending` under way.
    pub fn find(&mut self, pc: u32, extent: Extent, pending: Pending) -> Option<u32> {
        if !pending.is_none() {
            return self.by_entry.get(&(pc, extent, pending)).copied();
        }
        let slot = &mut self.lookup[extent as usize][lookup_slot(pc)];
        if slot.pc != pc {
            *slot = Found { pc, index: *self.by_entry.get(&(pc, extent, pending))? };
        }
        Some(slot.index)
    }

    /// The block that takes the same time with `pending` under way as with nothing: found for that entry too from now on.
    pub fn find_unaffected(&mut self, timing: &CoreTiming, pc: u32, extent: Extent, pending: Pending) -> Option<u32> {
        let index = self.find(pc, extent, Pending::NONE)?;
        self.is_unaffected(timing, index, pending).then(|| {
            self.by_entry.insert((pc, extent, pending), index);
            index
        })
    }

    /// Address of what comes behind an exit.
    pub fn exit_pc(&self, index: u32, exit: usize) -> u32 {
        let hot = &self.hot[index as usize];
        if exit == 0 { hot.end_pc } else { hot.taken_pc }
    }

    /// True if there may be no room for three more blocks, one of each extent: drop them all first.
    pub fn are_full(&self) -> bool {
        self.hot.len() + 3 > MOST_BLOCKS
    }

    /// The operations of a block, the one that ends it included.
    pub fn ops_of(&self, index: u32) -> &[Op] {
        let first = self.hot[index as usize].first_op as usize;
        let end = self.hot.get(index as usize + 1).map_or(self.ops.len(), |next| next.first_op as usize);
        &self.ops[first..end]
    }

    /// The block that an exit leads to every time, where that is known.
    pub fn fixed_link(&self, index: u32, exit: usize) -> Option<u32> {
        let link = self.hot[index as usize].links[exit];
        let indirect = self.ops_of(index).last().is_some_and(|last| last.code == Code::Jalr);
        (link != NO_BLOCK && !indirect).then_some(link)
    }

    // ---- For compiled code

    /// Address of the first [`Hot`].
    pub fn hot_base(&self) -> usize {
        self.hot.as_ptr().expose_provenance()
    }

    /// Address of the table of whole blocks by their address; [`lookup_slot`] is its index.
    pub fn lookup_base(&self) -> usize {
        self.lookup[0].as_ptr().expose_provenance()
    }

    /// True if a block has compiled code.
    #[inline(always)]
    pub fn is_compiled(&self, index: u32) -> bool {
        self.hot[index as usize].code != self.uncompiled
    }

    /// A block has compiled code now.
    pub fn adopt(&mut self, index: u32, code: usize) {
        let hot = &mut self.hot[index as usize];
        hot.code = code;
        hot.runs_to_go = RECONSIDER_AFTER;
        self.cold[index as usize].runs_before = hot.runs[0] + hot.runs[1];
    }

    /// A compiled block has had to be finished by the interpreter [`RECONSIDER_AFTER`] times. Where that happens most of the times
    /// (it reads a device, say), it does without its code until it has run some 60,000 times more.
    pub fn reconsider(&mut self, index: u32) {
        let (hot, cold) = (&mut self.hot[index as usize], &mut self.cold[index as usize]);
        let runs = hot.runs[0] + hot.runs[1];
        if runs.wrapping_sub(cold.runs_before) < 2 * u64::from(RECONSIDER_AFTER) {
            hot.code = self.uncompiled;
        } else {
            hot.runs_to_go = RECONSIDER_AFTER;
            cold.runs_before = runs;
        }
    }

    /// From now on, `uncompiled` stands for the code of blocks that have none, and none has.
    pub fn forget_code(&mut self, uncompiled: usize) {
        self.uncompiled = uncompiled;
        self.hot.iter_mut().for_each(|hot| hot.code = uncompiled);
    }

    /// Decodes the block at a place. `None` if its first instruction can't be read.
    pub fn build(&mut self, bus: &mut Bus, timing: &CoreTiming, place: Place) -> Option<u32> {
        let (instrs, extent) = read_instrs(bus, place);
        if instrs.is_empty() {
            return None;
        }
        let bytes: u32 = instrs.iter().map(|instr| u32::from(instr.len_bytes)).sum();
        bus.mark_code(place.pc, bytes);
        debug_assert!(self.hot.len() < MOST_BLOCKS, "compiled code knows where the table is: it must not grow");
        let index = self.hot.len() as u32;
        let first_op = self.ops.len() as u32;
        let (breakdown, pending) = self.append(timing, place, &instrs);
        let cycles = breakdown.map(|part| (part.issue + part.operand_wait + part.long_operation + part.jump) as u16);
        let line_mask = !(place.line_bytes - 1);
        let end_pc = place.pc.wrapping_add(bytes);
        let (first_line, last_line) = (place.pc & line_mask, end_pc.wrapping_sub(1) & line_mask);
        let cached = place.fetch == Way::Cached;
        let lines = if cached { last_line.wrapping_sub(first_line) / place.line_bytes + 1 } else { 0 };
        self.hot.push(Hot {
            runs: [0; 2],
            code: self.uncompiled,
            first_op,
            links: [NO_BLOCK; 2],
            pc: place.pc,
            end_pc,
            taken_pc: taken_pc(end_pc, instrs.last()?),
            fetched_epoch: 0,
            cycles,
            longest_cycles: cycles[0].max(cycles[1]),
            instructions: instrs.len() as u16,
            lines: lines as u16,
            runs_to_go: self.compile_after,
        });
        let Place { entry, fetch, .. } = place;
        self.cold.push(Cold { breakdown, entry, pending, fetch, extent, runs_before: 0 });
        self.by_entry.insert((place.pc, extent, entry), index);
        Some(index)
    }

    /// Drops all blocks, keeping their totals.
    pub fn flush(&mut self) {
        self.fold();
        self.hot.clear();
        self.cold.clear();
        self.ops.clear();
        self.infos.clear();
        self.by_entry.clear();
        self.lookup.iter_mut().for_each(|slots| slots.fill(NOTHING));
    }

    /// Static cycles by cause of all blocks run so far.
    pub fn totals(&mut self) -> Breakdown {
        self.fold();
        self.totals
    }

    /// True if a block entered with `pending` under way takes the time, and leaves behind it what it would without.
    fn is_unaffected(&self, timing: &CoreTiming, index: u32, mut pending: Pending) -> bool {
        let first = self.hot[index as usize].first_op as usize;
        let mut clean = Pending::NONE;
        for info in &self.infos[first..first + self.hot[index as usize].instructions as usize] {
            if timing.step(&info.instr, &mut pending) != timing.step(&info.instr, &mut clean) {
                return false;
            }
        }
        pending == clean
    }

    /// Moves the blocks' run counts into the totals.
    fn fold(&mut self) {
        for (hot, cold) in self.hot.iter_mut().zip(&self.cold) {
            for exit in 0..2 {
                self.totals.add_runs(cold.breakdown[exit], hot.runs[exit]);
            }
            hot.runs = [0; 2];
        }
    }

    /// Appends the operations and works out their static time: by cause, and what is under way, for each exit.
    fn append(&mut self, timing: &CoreTiming, place: Place, instrs: &[Instr]) -> ([Breakdown; 2], [Pending; 2]) {
        let pc = place.pc;
        let (mut pending, mut breakdown, mut cycles, mut at) = (place.entry, Breakdown::default(), 0, pc);
        for instr in instrs {
            let cost = timing.step(instr, &mut pending);
            let start_cycles = (cycles + cost.stall_cycles) as u16;
            self.infos.push(OpInfo { instr: *instr, pc_offset: at.wrapping_sub(pc) as u16, start_cycles });
            self.ops.push(resolve(instr, at));
            breakdown.add(instr.op.code, cost);
            cycles += cost.stall_cycles + cost.issue_cycles;
            at = at.wrapping_add(u32::from(instr.len_bytes));
        }
        if let Some(last) = instrs.last()
            && !last.op.code.ends_block()
        {
            let op = Op { code: Code::End, rd: SINK, rs1: 0, rs2: 0, imm: 0 };
            self.ops.push(op);
            self.infos.push(OpInfo {
                instr: Instr { op, len_bytes: 0 },
                pc_offset: at.wrapping_sub(pc) as u16,
                start_cycles: cycles as u16,
            });
        }
        let (mut breakdowns, mut pendings) = ([breakdown; 2], [pending; 2]);
        if let Some(last) = instrs.last()
            && last.op.code.class() == super::op::TimingClass::Branch
        {
            for (exit, cycles) in timing.branch_cycles(last.op.imm < 0).into_iter().enumerate() {
                breakdowns[exit].jump += u64::from(cycles - 1);
                pendings[exit].pass(cycles - 1);
            }
        }
        (breakdowns, pendings)
    }
}

/// Where [`Blocks::lookup_base`]'s table has an address, if it has it.
pub const fn lookup_slot(pc: u32) -> usize {
    (pc >> 1) as usize & (LOOKUP_SLOTS - 1)
}

/// Decodes up to a block's worth of instructions: to the first that ends a block, or to the end of what can be read, or
/// of the line. Tells what it came to.
fn read_instrs(bus: &Bus, place: Place) -> (Vec<Instr>, Extent) {
    let mut instrs = Vec::new();
    let one_line = place.extent == Extent::Line || place.extent == Extent::Whole && place.cold;
    let line_left = place.line_bytes - place.pc % place.line_bytes;
    let mut at = place.pc;
    while instrs.len() < LONGEST_BLOCK {
        let mut bytes = [0; 4];
        if !bus.peek(at, &mut bytes[..2]) {
            break;
        }
        if bytes[0] & 3 == 3 && !bus.peek(at.wrapping_add(2), &mut bytes[2..]) {
            break;
        }
        let instr = decode(u32::from_le_bytes(bytes));
        let end = at.wrapping_add(u32::from(instr.len_bytes));
        if one_line && !instrs.is_empty() && end.wrapping_sub(place.pc) > line_left {
            return (instrs, Extent::Line);
        }
        instrs.push(instr);
        at = end;
        if place.extent == Extent::One || instr.op.code.ends_block() {
            break;
        }
    }
    (instrs, place.extent)
}

/// The operation as the inner loop runs it: x0 as destination and addresses resolved.
pub(super) fn resolve(instr: &Instr, pc: u32) -> Op {
    let mut op = instr.op;
    let next = pc.wrapping_add(u32::from(instr.len_bytes));
    match op.code {
        Code::Lui => op.code = Code::Li,
        Code::Auipc => op = Op { code: Code::Li, imm: pc.wrapping_add(op.imm as u32) as i32, ..op },
        Code::Addi if op.rs1 == 0 => op.code = Code::Li,
        Code::Jal => op.imm = next as i32,
        Code::Fence => op.code = Code::Nop,
        _ => {}
    }
    if op.writes_rd() && op.rd == 0 {
        op.rd = SINK;
    }
    op
}

pub(super) fn taken_pc(end_pc: u32, last: &Instr) -> u32 {
    end_pc.wrapping_sub(u32::from(last.len_bytes)).wrapping_add(last.op.imm as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_need_of_a_block_is_one_cache_line() {
        assert_eq!(size_of::<Hot>(), 64);
    }
}
