//! Blocks: straight-line code, decoded once, with everything about its time that does not depend on memory.

use std::collections::BTreeMap;

use super::decode::decode;
use super::op::{Code, Instr, Op};
use super::timing::{CoreTiming, Cost, Pending};
use crate::bus::Bus;

/// Instructions a block has at the most.
const LONGEST_BLOCK: usize = 64;
/// No block.
pub const NO_BLOCK: u32 = u32::MAX;
/// Writes to x0 go here, so that no operation has to look.
pub const SINK: u8 = 32;
const LOOKUP_SLOTS: usize = 1 << 12;

/// How a block's instructions are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// From tightly coupled memory, within the core's own cycle.
    Local,
    /// Through the instruction cache.
    Cached,
    /// Access by access over the bus.
    Uncached,
}

/// Static cycles of a block by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// One a instruction.
    pub issue: u64,
    /// Waiting for a load's or a multiplication's result.
    pub operand_wait: u64,
    /// Further cycles of multiplications, divisions, CSR accesses.
    pub long_operation: u64,
    /// Further cycles of jumps and taken branches.
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

    /// Adds what came between two moments.
    pub fn add_difference(&mut self, to: Breakdown, from: Breakdown) {
        self.issue += to.issue - from.issue;
        self.operand_wait += to.operand_wait - from.operand_wait;
        self.long_operation += to.long_operation - from.long_operation;
        self.jump += to.jump - from.jump;
    }

    /// Adds `times` runs of a block.
    pub fn add_runs(&mut self, block: Breakdown, times: u64) {
        self.issue += block.issue * times;
        self.operand_wait += block.operand_wait * times;
        self.long_operation += block.long_operation * times;
        self.jump += block.jump * times;
    }
}

/// What the inner loop needs of a block: one cache line of the host.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Hot {
    /// Times the block ran to its end: fallen through, taken.
    pub runs: [u64; 2],
    /// Index of its first operation.
    pub first_op: u32,
    /// Its instructions.
    pub instructions: u32,
    /// Its static cycles: fallen through, taken.
    pub cycles: [u32; 2],
    /// The block behind each exit, where that can be entered without further thought.
    pub links: [u32; 2],
    /// The larger of `cycles`.
    pub longest_cycles: u32,
    /// Address of its first cache line, if fetched through the cache.
    pub first_line: u32,
    /// Cache lines that it lies in; 0 if it is not fetched through the cache.
    pub lines: u32,
    /// Its address.
    pub pc: u32,
    /// The address behind it.
    pub end_pc: u32,
    /// Where a taken branch or a jump leads.
    pub taken_pc: u32,
}

/// What the slow paths need of a block.
#[derive(Debug)]
pub struct Cold {
    /// Static cycles by cause: fallen through, taken.
    pub breakdown: [Breakdown; 2],
    /// Results under way at each exit.
    pub pending: [Pending; 2],
    /// How it is fetched.
    pub fetch: Fetch,
    /// It was asked for as a single instruction.
    pub single: bool,
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
    /// The inner loop's part of each block.
    pub hot: Vec<Hot>,
    /// The rest of each block.
    pub cold: Vec<Cold>,
    /// Operations of all blocks; each block's end with one that ends it.
    pub ops: Vec<Op>,
    /// What goes with each operation.
    pub infos: Vec<OpInfo>,
    /// Direct-mapped by address: whole blocks, then single instructions.
    lookup: [Vec<u32>; 2],
    by_pc: BTreeMap<(u32, bool), u32>,
    totals: Breakdown,
    profile: BTreeMap<(u32, u32), u64>,
}

/// Where and how a block is to be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its address.
    pub pc: u32,
    /// Only one instruction.
    pub single: bool,
    /// How it is fetched.
    pub fetch: Fetch,
    /// Size of the instruction cache's lines.
    pub line_bytes: u32,
}

impl Blocks {
    /// No blocks.
    pub fn new() -> Blocks {
        Blocks {
            hot: Vec::new(),
            cold: Vec::new(),
            ops: Vec::new(),
            infos: Vec::new(),
            lookup: [vec![NO_BLOCK; LOOKUP_SLOTS], vec![NO_BLOCK; LOOKUP_SLOTS]],
            by_pc: BTreeMap::new(),
            totals: Breakdown::default(),
            profile: BTreeMap::new(),
        }
    }

    /// The block at `pc`, if it has been decoded.
    pub fn find(&mut self, pc: u32, single: bool) -> Option<u32> {
        let slot = &mut self.lookup[usize::from(single)][(pc >> 1) as usize & (LOOKUP_SLOTS - 1)];
        if self.hot.get(*slot as usize).is_some_and(|hot| hot.pc == pc) {
            return Some(*slot);
        }
        *slot = *self.by_pc.get(&(pc, single))?;
        Some(*slot)
    }

    /// Decodes the block at a place. `None` if its first instruction can't be read.
    pub fn build(&mut self, bus: &mut Bus, timing: &CoreTiming, place: Place) -> Option<u32> {
        let instrs = read_instrs(bus, place);
        if instrs.is_empty() {
            return None;
        }
        let bytes: u32 = instrs.iter().map(|instr| u32::from(instr.len_bytes)).sum();
        bus.mark_code(place.pc, bytes);
        let index = self.hot.len() as u32;
        let first_op = self.ops.len() as u32;
        let (breakdown, pending) = self.append(timing, place.pc, &instrs);
        let cycles = breakdown.map(|part| (part.issue + part.operand_wait + part.long_operation + part.jump) as u32);
        let line_mask = !(place.line_bytes - 1);
        let end_pc = place.pc.wrapping_add(bytes);
        let (first_line, last_line) = (place.pc & line_mask, end_pc.wrapping_sub(1) & line_mask);
        let cached = place.fetch == Fetch::Cached;
        let lines = if cached { last_line.wrapping_sub(first_line) / place.line_bytes + 1 } else { 0 };
        self.hot.push(Hot {
            runs: [0; 2],
            first_op,
            instructions: instrs.len() as u32,
            cycles,
            links: [NO_BLOCK; 2],
            longest_cycles: cycles[0].max(cycles[1]),
            first_line,
            lines,
            pc: place.pc,
            end_pc,
            taken_pc: taken_pc(end_pc, instrs.last()?),
        });
        self.cold.push(Cold { breakdown, pending, fetch: place.fetch, single: place.single });
        self.by_pc.insert((place.pc, place.single), index);
        Some(index)
    }

    /// Drops all blocks, keeping their totals.
    pub fn flush(&mut self) {
        self.fold();
        self.hot.clear();
        self.cold.clear();
        self.ops.clear();
        self.infos.clear();
        self.by_pc.clear();
        self.lookup.iter_mut().for_each(|slots| slots.fill(NO_BLOCK));
    }

    /// Static cycles by cause of all blocks run so far.
    pub fn totals(&mut self) -> Breakdown {
        self.fold();
        self.totals
    }

    /// Runs of each decoded address range so far.
    pub fn profile(&mut self) -> &BTreeMap<(u32, u32), u64> {
        self.fold();
        &self.profile
    }

    /// True if a block entered with `pending` under way takes the time, and leaves behind it what it would without.
    pub fn is_unaffected(&self, timing: &CoreTiming, index: u32, mut pending: Pending) -> bool {
        if pending.is_none() {
            return true;
        }
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
            let runs = hot.runs[0] + hot.runs[1];
            if runs > 0 {
                *self.profile.entry((hot.pc, hot.end_pc)).or_default() += runs;
            }
            hot.runs = [0; 2];
        }
    }

    /// Appends the operations and works out their static time: by cause, and what is under way, for each exit.
    fn append(&mut self, timing: &CoreTiming, pc: u32, instrs: &[Instr]) -> ([Breakdown; 2], [Pending; 2]) {
        let (mut pending, mut breakdown, mut cycles, mut at) = (Pending::NONE, Breakdown::default(), 0, pc);
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
        let further = u32::from(timing.taken_branch.max(1)) - 1;
        let mut taken = (breakdown, pending);
        if instrs.last().is_some_and(|last| last.op.code.class() == super::op::TimingClass::Branch) {
            taken.0.jump += u64::from(further);
            taken.1.pass(further);
        }
        ([breakdown, taken.0], [pending, taken.1])
    }
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks::new()
    }
}

/// Decodes up to a block's worth of instructions: to the first that ends a block, or to the end of what can be read.
fn read_instrs(bus: &Bus, place: Place) -> Vec<Instr> {
    let mut instrs = Vec::new();
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
        instrs.push(instr);
        at = at.wrapping_add(u32::from(instr.len_bytes));
        if place.single || instr.op.code.ends_block() {
            break;
        }
    }
    instrs
}

/// The operation as the inner loop runs it: x0 as destination and addresses resolved.
fn resolve(instr: &Instr, pc: u32) -> Op {
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

fn taken_pc(end_pc: u32, last: &Instr) -> u32 {
    end_pc.wrapping_sub(u32::from(last.len_bytes)).wrapping_add(last.op.imm as u32)
}
