//! Reads the code of a block, and computes its static time.

use super::Cpu;
use super::block::{Draft, EntryOf, Extent, FALLEN, OpInfo, TAKEN};
use super::cost::{Breakdown, Cost};
use super::isa::{AbortOf, Isa, Pending};
use super::memory_system::Mmu;
use super::memory_system::Via;
use super::memory_system::access::{Abort, Status};
use crate::bus::Bus;
use crate::faults::{BusFaultKind, CoreFault, FaultedAccess};

/// Most instructions of a block.
pub const LONGEST_BLOCK: usize = 64;
/// A block ends at a page boundary: the next page may be mapped elsewhere.
const PAGE_BYTES: u32 = 1 << 12;

/// Number of bytes of code from a physical address on that are in one page, and in one part of it where an overlay
/// begins or ends there: later code may be fetched in another way.
fn room_in_page(bus: &Bus, physical: u32) -> u32 {
    bus.unsplit(physical, PAGE_BYTES).1 - physical + 1
}

/// Code that was read and decoded, for a block.
#[derive(Debug)]
pub struct Read<I: Isa> {
    /// Its operations.
    pub ops: Vec<I::Op>,
    /// Its instructions, each with the index after its last operation.
    pub instrs: Vec<(I::Instr, usize)>,
    /// The state after it.
    pub context: I::Context,
    /// Its size.
    pub bytes: u32,
}

impl<I: Isa> Read<I> {
    /// No code yet, in this state.
    pub fn new(context: I::Context) -> Read<I> {
        Read { ops: Vec::new(), instrs: Vec::new(), context, bytes: 0 }
    }

    /// Adds an instruction of `bytes`, whose operations have been appended.
    pub fn push(&mut self, instr: I::Instr, bytes: u32) {
        self.instrs.push((instr, self.ops.len()));
        self.bytes += bytes;
    }

    /// The operations of an instruction.
    pub fn ops_of(&self, number: usize) -> &[I::Op] {
        let from = number.checked_sub(1).map_or(0, |before| self.instrs[before].1);
        &self.ops[from..self.instrs[number].1]
    }

    /// Removes trailing instructions after which no block can begin: the code after them would run one by one. At least
    /// one instruction remains.
    fn end_where_blocks_begin(&mut self, entry: I::Context) {
        while !I::blocks_begin_in(self.context)
            && let [_, .., (last, _)] = &self.instrs[..]
        {
            let (context, bytes) = (I::context_before(last, entry), self.bytes - I::instr_bytes(last));
            self.pop(context, bytes);
        }
    }

    /// Removes the last instruction; the state before it was `context`, the size `bytes`.
    fn pop(&mut self, context: I::Context, bytes: u32) {
        self.instrs.pop();
        self.ops.truncate(self.instrs.last().map_or(0, |(_, end)| *end));
        (self.context, self.bytes) = (context, bytes);
    }
}

impl<I: Isa> Cpu<I> {
    /// Decodes the block for `entry`: of a whole block that continues in a line missing in the cache, only the first
    /// line. A block of lines that no cache keeps has one line, or two if its first instruction spans both. The
    /// exception is that of its first instruction.
    pub(super) fn read_block(&mut self, bus: &mut Bus, entry: EntryOf<I>) -> Result<u32, I::Exception> {
        if let Some(exception) = self.isa.refuses_code() {
            return Err(exception);
        }
        let start = entry.pc & I::ADDRESS_MASK;
        let (via, physical) = self.memory.code_via(bus, self.isa.mmu(), start).map_err(I::fetch_abort)?;
        let page = I::page(&entry.context);
        let cold = via == Via::Cached && !self.memory.has_fetch_line(page, self.next_line(start));
        let passes = via == Via::Passing;
        let one_line = entry.extent == Extent::Line || entry.extent == Extent::Whole && (cold || passes);
        let room = room_in_page(bus, physical).min(self.memory.code_room(bus, self.isa.mmu(), start));
        let longest = if entry.extent == Extent::One { 1 } else { LONGEST_BLOCK };
        let mut read = Read::new(entry.context);
        let (mut at, mut ends, mut line_end) = (start, false, self.next_line(start));
        let ended = loop {
            let (context, bytes) = (read.context, read.bytes);
            ends = match I::read_instr(self, bus, &mut read, at) {
                Ok(ends) => ends,
                Err(abort) if read.instrs.is_empty() => return Err(I::fetch_abort(abort)),
                Err(_) => break true,
            };
            let end = start.wrapping_add(read.bytes);
            if one_line && end.wrapping_sub(start) > line_end.wrapping_sub(start) {
                if read.instrs.len() > 1 {
                    read.pop(context, bytes);
                    break passes;
                } else if passes {
                    line_end = line_end.wrapping_add(self.line_bytes);
                }
            }
            at = end;
            if self.shell.breaks.stop_at(at) {
                break true;
            }
            if ends || read.instrs.len() == longest || at.wrapping_sub(start) >= room {
                break true;
            }
            if one_line && at == line_end {
                break passes;
            }
        };
        if entry.extent == Extent::Whole && ended && !ends {
            read.end_where_blocks_begin(entry.context);
        }
        let bytes = read.bytes;
        let ends = (start, start.wrapping_add(bytes - 1));
        let last_page = self.memory.last_page(bus, self.isa.mmu(), ends, page).map_err(I::fetch_abort)?;
        let extent = if one_line && !ended { Extent::Line } else { entry.extent };
        let entry = EntryOf::<I> { extent, ..entry };
        let draft = I::draft(self, entry, via, read);
        let index = self.blocks.add(entry, (via, last_page), self.line_bytes, draft);
        self.mark_code(bus, index, (start, physical), bytes, room);
        Ok(index)
    }

    /// Bytes of code at `at`.
    pub(crate) fn code<const N: usize>(&mut self, bus: &mut Bus, at: u32) -> Result<[u8; N], AbortOf<I>> {
        let mut bytes = [0; N];
        if self.memory.read_code(bus, self.isa.mmu(), at, &mut bytes) {
            return Ok(bytes);
        }
        let (_, physical) = self.memory.code_via(bus, self.isa.mmu(), at)?;
        let answer = if bus.entry_at(physical).is_some() { BusFaultKind::Slave } else { BusFaultKind::Unmapped };
        let status = <I::Mmu as Mmu>::Status::EXTERNAL;
        Err(Abort { va: at, status, write: false, domain: 0, bus: Some(answer) })
    }

    /// The word at an address in code, if it can be fetched.
    pub(crate) fn code_word(&mut self, bus: &mut Bus, at: u32) -> Option<u32> {
        let mut bytes = [0; 4];
        self.memory.read_code(bus, self.isa.mmu(), at, &mut bytes).then(|| u32::from_le_bytes(bytes))
    }

    /// Adds the instruction at the current address to a fault's message, if it was fetched and is relevant to the
    /// fault.
    pub(crate) fn with_instruction(&mut self, bus: &mut Bus, fault: CoreFault) -> CoreFault {
        let matters = fault.access.map_or(fault.encoding.is_some(), |access| access.kind != FaultedAccess::FETCH);
        let pc = self.pc & I::ADDRESS_MASK;
        let instruction = self.isa.encoding().filter(|_| matters).and_then(|set| {
            // A short instruction may be the last one of a memory.
            let bytes =
                self.code::<4>(bus, pc).or_else(|_| self.code::<2>(bus, pc).map(|[low, high]| [low, high, 0, 0]));
            Some((set, set.first_of(&bytes.ok()?)?.0))
        });
        CoreFault { instruction, ..fault }
    }

    /// Marks the code of a block, so that stores to it are noticed; its last instruction may extend beyond the `room`.
    fn mark_code(&mut self, bus: &mut Bus, index: u32, (start, physical): (u32, u32), bytes: u32, room: u32) {
        let here = bytes.min(room);
        self.blocks.place(index, bus.mark_code(physical, here));
        if bytes > here
            && let Ok((_, physical)) = self.memory.code_via(bus, self.isa.mmu(), start.wrapping_add(here))
        {
            self.blocks.place(index, bus.mark_code(physical, bytes - here));
        }
    }
}

/// The static time of a block: its instructions pass through the pipeline in order.
impl<I: Isa> Draft<I> {
    /// No time yet, for code that was read for `entry`.
    pub fn new(entry: EntryOf<I>, jump: I::Jump, read: &Read<I>) -> Draft<I> {
        let nothing = (Breakdown::default(), entry.pending);
        Draft {
            ops: Vec::with_capacity(read.ops.len() + 1),
            infos: Vec::with_capacity(read.ops.len() + 1),
            instrs: Vec::with_capacity(read.instrs.len()),
            bytes: read.bytes,
            context_after: read.context,
            taken_pc: 0,
            jump,
            mispredicted_cycles: 0,
            further_cycles: 0,
            breakdown: [Breakdown::default(); 2],
            pending: [entry.pending; 2],
            before_last: nothing,
            last: (Cost::default(), entry.pending),
        }
    }

    /// Passes the next instruction, a jump as not taken. Returns its cost, and the cycles from the block's start to the
    /// end of its first cycle.
    pub fn pass(&mut self, timing: &I::Timing, instr: I::Instr, fetch: Via) -> (Cost, u16) {
        let (breakdown, pending) = (&mut self.breakdown[FALLEN], &mut self.pending[FALLEN]);
        self.before_last = (*breakdown, *pending);
        let cost = I::pass(timing, &instr, fetch, pending);
        let begins = (breakdown.cycles() as u32 + cost.waits_cycles() + 1) as u16;
        breakdown.add(cost, I::sort(&instr, fetch));
        self.last = (cost, *pending);
        self.instrs.push(instr);
        (cost, begins)
    }

    /// Appends an operation of instruction number `instr`.
    pub fn push(&mut self, op: I::Op, instr: usize, begins_cycles: u16) {
        self.ops.push(op);
        self.infos.push(OpInfo { instr: instr as u16, begins_cycles });
    }

    /// Ends the block with `end`, after all instructions have passed. The result also holds if the block is left by a
    /// jump.
    pub fn end(&mut self, end: I::Op) {
        let (instrs, cycles) = (self.instrs.len(), self.breakdown[FALLEN].cycles() as u16);
        self.push(end, instrs, cycles);
        self.breakdown[TAKEN] = self.breakdown[FALLEN];
        self.pending[TAKEN] = self.pending[FALLEN];
    }

    /// Clears the results under way at the block's exits.
    pub fn settle(&mut self) {
        self.pending = [I::Pending::NONE; 2];
    }
}
