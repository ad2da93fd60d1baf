//! Decoded instructions of blocks, and the end of a block.
//!
//! A block ends with a branch and its delay slot. If the slot has to run by itself, because it is in another page, is
//! watched, or changes more than registers and memory, or if the block ends for another reason, the branch is the last
//! instruction, and the core's state has the pending delay slot.

use super::decode::decode;
use super::instruction_set::MipsSet;
use super::op::{Code, Op};
use super::pages::{PAGE_BYTES, Page};
use super::timing::{CoreTiming, Pending};
use crate::bus::Bus;
use crate::cpu::Cpu;
use crate::cpu::block::{Blocks, Draft, Entry, FALLEN};
use crate::cpu::calls::Flow;
use crate::cpu::isa::{AbortOf, Pending as _};
use crate::cpu::memory_system::Via;
use crate::cpu::read::Read;

/// Bytes of an instruction.
pub(super) const OP_BYTES: u32 = 4;

/// End of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ending {
    /// Without a branch.
    Straight,
    /// With a branch and its delay slot.
    Slot,
    /// With a branch.
    Branch,
}

/// A decoded instruction, in its block.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    /// Its operation.
    pub op: Op,
    /// Static cycles from the block's start to the start of the instruction.
    pub before_cycles: u16,
    /// Number of earlier instructions of its block that are never compiled.
    pub never_compiled_before: u8,
    /// No results are under way before it.
    pub clean: bool,
    /// Effects of uncounted waits of this instruction: for memory, or for a misprediction of a branch (fallen through,
    /// taken).
    pub wait_effects: [WaitEffect; 2],
}

/// Effects of an instruction's wait within its block on the next instructions, whose static time does not include it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitEffect {
    /// The time of the next instruction depends on the wait, or the results that it leaves under way.
    pub next: bool,
    /// Results are under way.
    pub some: bool,
}

impl WaitEffect {
    /// For an instruction with `pending` under way and the result register `own`; `next` is the block's next operation.
    fn of(timing: &CoreTiming, next: Option<&Op>, pending: &Pending, own: Option<u8>) -> WaitEffect {
        let some = timing.is_affected_by_wait(None, pending, own);
        WaitEffect { next: some && timing.is_affected_by_wait(next, pending, own), some }
    }
}

/// The flow of the branch that ends a block, as far as calls are concerned.
pub(super) fn flow(blocks: &Blocks<MipsSet>, index: u32) -> Flow {
    let instrs = blocks.instrs_of(index);
    match (blocks.hot[index as usize].jump, instrs) {
        (Ending::Slot, [.., branch, _]) | (Ending::Branch, [.., branch]) => flow_of(branch.op.code),
        _ => Flow::On,
    }
}

/// The flow of a branch.
pub(super) fn flow_of(code: Code) -> Flow {
    use Code::*;
    match code {
        Jal | Jalr | Bltzal | Bgezal | Bltzall | Bgezall => Flow::Call,
        Jr => Flow::Jump,
        _ => Flow::On,
    }
}

/// Reads the instruction at `at`: true if a block ends with it.
pub(super) fn read(
    core: &mut Cpu<MipsSet>,
    bus: &mut Bus,
    read: &mut Read<MipsSet>,
    at: u32,
) -> Result<bool, AbortOf<MipsSet>> {
    let op = decode(u32::from_le_bytes(core.code(bus, at)?), at);
    let in_slot = read.ops.last().is_some_and(|last| last.code.is_branch());
    read.ops.push(op);
    let decoded = Decoded {
        op,
        before_cycles: 0,
        never_compiled_before: 0,
        clean: false,
        wait_effects: [WaitEffect::default(); 2],
    };
    read.push(decoded, OP_BYTES);
    let after = at.wrapping_add(OP_BYTES);
    let watched = core.shell.stops_at(after);
    let ends = if op.code.is_branch() {
        watched || at ^ after >= PAGE_BYTES || !fits_slot(core, bus, after)
    } else {
        in_slot || watched || op.code.is_system()
    };
    Ok(ends)
}

/// True if a block can have the instruction at `pc` after its branch.
fn fits_slot(core: &mut Cpu<MipsSet>, bus: &mut Bus, pc: u32) -> bool {
    let op = core.code_word(bus, pc).map(|word| decode(word, pc));
    op.is_some_and(|op| !op.code.is_branch() && !op.code.is_system())
}

/// Makes a block of code that was read for `entry`.
pub(super) fn draft(
    timing: &CoreTiming,
    entry: Entry<Page, Pending>,
    fetch: Via,
    read: &Read<MipsSet>,
) -> Draft<MipsSet> {
    let count = read.ops.len();
    let branch = (count.saturating_sub(2)..count).find(|at| read.ops[*at].code.is_branch());
    let ending = match branch {
        None => Ending::Straight,
        Some(at) if at + 1 == count => Ending::Branch,
        Some(_) => Ending::Slot,
    };
    let mut draft = Draft::new(entry, ending, read);
    let mut after_branch = None;
    for (at, (decoded, _)) in read.instrs.iter().enumerate() {
        let (op, next) = (decoded.op, read.ops.get(at + 1));
        let (before, clean) = (draft.breakdown[FALLEN], draft.pending[FALLEN].is_none());
        let (before_cycles, never_compiled_before) = (before.cycles() as u16, before.never_compiled as u8);
        let (_, begins_cycles) = draft.pass(timing, *decoded, fetch);
        let pending = draft.pending[FALLEN];
        let own = op.code.is_load().then_some(op.rd);
        let waits = op.code.accesses_memory() || op.code.is_branch();
        let wait_effects = if waits { WaitEffect::of(timing, next, &pending, own) } else { WaitEffect::default() };
        draft.instrs[at] = Decoded { op, before_cycles, never_compiled_before, clean, wait_effects: [wait_effects; 2] };
        draft.push(op, at, begins_cycles);
        if branch == Some(at) {
            after_branch = Some((draft.breakdown[FALLEN], pending));
        }
    }
    let end = Op::without_operands(Code::End);
    draft.end(end);
    // The inner loop reads one operation ahead.
    draft.push(end, count, draft.breakdown[FALLEN].cycles() as u16);
    if let (Some(at), Some((breakdown, mut pending))) = (branch, after_branch) {
        draft.taken_pc = read.ops[at].imm as u32;
        // Plus a cycle for an annulled slot.
        draft.mispredicted_cycles = u16::from(timing.longest_branch()) + 1;
        if read.ops[at].code.is_likely() {
            pending.pass(1);
            draft.instrs[at].wait_effects[FALLEN].next = !pending.is_none();
            (draft.breakdown[FALLEN], draft.pending[FALLEN]) = (breakdown, pending);
        }
    }
    draft
}
