//! Reads the code of a block, and works out its static time.

use super::Cpu;
use super::block::{Draft, EntryOf, Extent, FALLEN, OpInfo, TAKEN};
use super::cost::{Breakdown, Cost};
use super::isa::{AbortOf, Isa, Pending};
use super::memory::Mmu;
use super::memory::Via;
use super::memory::access::{Abort, Status};
use crate::bus::Bus;
use crate::faults::{BusFaultKind, CoreFault, FaultedAccess};

/// Instructions a block has at the most.
pub const LONGEST_BLOCK: usize = 64;
/// A block does not go on in another page, which may be somewhere else.
const PAGE_BYTES: u32 = 1 << 12;

/// How many bytes of code from a physical address on are in one page, and in one part of it where an overlay begins or
/// ends there: what is behind may be fetched in another way.
fn room_in_page(bus: &Bus, physical: u32) -> u32 {
    bus.unsplit(physical, PAGE_BYTES).1 - physical + 1
}

/// Code that was read and decoded, for a block.
#[derive(Debug)]
pub struct Read<I: Isa> {
    /// Its operations.
    pub ops: Vec<I::Op>,
    /// Its instructions, with the index behind the last operation of each.
    pub instrs: Vec<(I::Instr, usize)>,
    /// The state behind it.
    pub context: I::Context,
    /// Its size.
    pub bytes: u32,
}

impl<I: Isa> Read<I> {
    /// Nothing yet, in this state.
    pub fn new(context: I::Context) -> Read<I> {
        Read { ops: Vec::new(), instrs: Vec::new(), context, bytes: 0 }
    }

    /// Adds an instruction of so many bytes, whose operations have been appended.
    pub fn push(&mut self, instr: I::Instr, bytes: u32) {
        self.instrs.push((instr, self.ops.len()));
        self.bytes += bytes;
    }

    /// The operations of the last instruction.
    pub fn last_ops(&self) -> &[I::Op] {
        let from = self.instrs.iter().rev().nth(1).map_or(0, |(_, end)| *end);
        &self.ops[from..]
    }

    /// Takes back the instructions at the end behind which no block can begin: what follows would be run one by one.
    /// One instruction remains in any case.
    fn end_where_blocks_begin(&mut self, entry: I::Context) {
        while !I::blocks_begin_in(self.context)
            && let [_, .., (last, _)] = &self.instrs[..]
        {
            let (context, bytes) = (I::context_before(last, entry), self.bytes - I::instr_bytes(last));
            self.pop(context, bytes);
        }
    }

    /// Takes the last instruction back, before which were this state and so many bytes.
    fn pop(&mut self, context: I::Context, bytes: u32) {
        self.instrs.pop();
        self.ops.truncate(self.instrs.last().map_or(0, |(_, end)| *end));
        (self.context, self.bytes) = (context, bytes);
    }
}

impl<I: Isa> Cpu<I> {
    /// Decodes the block for `entry`: of a whole one that goes on in a line that is not in the cache, only the first
    /// line. A block of lines that nothing keeps has one, or two where its first instruction lies across them. `None`
    /// if blocks have to be dropped before. The exception is that of its first instruction.
    pub(super) fn read_block(&mut self, bus: &mut Bus, entry: EntryOf<I>) -> Result<Option<u32>, I::Exception> {
        if let Some(exception) = self.isa.refuses_code() {
            return Err(exception);
        }
        let start = entry.pc & I::ADDRESS_MASK;
        let (via, physical) = self.memory.code_via(bus, self.isa.mmu(), start).map_err(I::fetch_abort)?;
        let cold = via == Via::Cached && !self.memory.has_fetch_line(self.next_line(start));
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
        if !self.memory.note_code(bus, self.isa.mmu(), start, start.wrapping_add(bytes - 1)) {
            self.code_moved();
            return Ok(None);
        }
        let extent = if one_line && !ended { Extent::Line } else { entry.extent };
        let entry = EntryOf::<I> { extent, ..entry };
        let draft = I::draft(self, entry, via, read);
        let index = self.blocks.add(entry, via, self.line_bytes, draft);
        self.mark_code(bus, index, (start, physical), bytes, room);
        Ok(Some(index))
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

    /// What the user reads about a fault of the instruction at the current address, with that instruction if it was
    /// fetched, and is what has to do with the fault.
    pub(crate) fn with_instruction(&mut self, bus: &mut Bus, fault: CoreFault) -> CoreFault {
        let matters = fault.access.map_or(fault.encoding.is_some(), |access| access.kind != FaultedAccess::FETCH);
        let pc = self.pc & I::ADDRESS_MASK;
        let instruction = self.isa.encoding().filter(|_| matters).and_then(|set| {
            // A short one may be the last of a memory.
            let bytes =
                self.code::<4>(bus, pc).or_else(|_| self.code::<2>(bus, pc).map(|[low, high]| [low, high, 0, 0]));
            Some((set, set.first_of(&bytes.ok()?)?.0))
        });
        CoreFault { instruction, ..fault }
    }

    /// Has stores to the code of a block noticed; its last instruction may reach beyond the `room` that it has.
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

/// The static time of a block, as its instructions pass one after the other.
impl<I: Isa> Draft<I> {
    /// Nothing yet, of code that was read for `entry`.
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

    /// The next instruction passes, a jump as not taken. Gives what it costs, and the cycles from the block's beginning
    /// to the end of its first cycle.
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

    /// All instructions have passed: ends the block with `end`. If it is left by a jump, all is the same as far as this
    /// goes.
    pub fn end(&mut self, end: I::Op) {
        let (instrs, cycles) = (self.instrs.len(), self.breakdown[FALLEN].cycles() as u16);
        self.push(end, instrs, cycles);
        self.breakdown[TAKEN] = self.breakdown[FALLEN];
        self.pending[TAKEN] = self.pending[FALLEN];
    }

    /// Nothing that is under way outlasts the block.
    pub fn settle(&mut self) {
        self.pending = [I::Pending::NONE; 2];
    }
}
