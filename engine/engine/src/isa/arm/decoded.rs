//! Decoded instructions of blocks: their timing properties, the end of a block, its static time.

use super::architecture::Profile;
use super::compile;
use super::instruction_set::{ArmSet, Context};
use super::op::{Code, Instr, Op, TimingClass};
use super::predictor::Jump;
use super::registers::{LR, RegisterSet, SINK, SP, ZERO, one};
use super::timing::{CoreTiming, Dataflow, FloatingUses, Pending, accesses};
use crate::cpu::block::{Draft, Entry, FALLEN, TAKEN};
use crate::cpu::calls::Flow;
use crate::cpu::cost::{Cost, InRow, OnBus};
use crate::cpu::memory_system::{SYSTEM_BUS, Via};
use crate::cpu::read::Read;

/// An instruction as decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Result of the decoder.
    pub instr: Instr,
    /// General registers that it loads.
    pub loaded: RegisterSet,
    /// ITSTATE before it.
    pub it: u8,
    /// It begins in the middle of a word.
    pub in_upper_half: bool,
    /// It does nothing: nop.
    pub is_nop: bool,
    /// A core of the microcontroller profile fetches it over its system bus.
    pub on_system_bus: bool,
    /// Its uses of floating-point registers.
    pub floating: FloatingUses,
    /// How it reads its operands and makes its results.
    pub flow_of_data: Dataflow,
    /// Compiled code leaves it to the interpreter.
    pub is_left: bool,
}

impl Decoded {
    /// The instruction at `at` with these micro-operations; ITSTATE before it was `it`. The core's data cache has lines
    /// of `data_line_bytes`.
    pub fn new(instr: Instr, ops: &[Op], at: u32, it: u8, data_line_bytes: u32) -> Decoded {
        let loads = ops.iter().filter(|op| is_load(op.code));
        let loaded = loads.fold(0, |set, op| set | one(op.rd)) & instr.writes;
        let in_upper_half = at & 2 != 0;
        let is_nop = instr.class == TimingClass::Hint && matches!(ops, [op] if op.code == Code::Mov);
        let floating = FloatingUses::of(ops);
        let flow_of_data = Dataflow::of(ops);
        let on_system_bus = at >= SYSTEM_BUS;
        let is_left = compile::leaves(ops, data_line_bytes);
        Decoded { instr, loaded, it, in_upper_half, is_nop, on_system_bus, floating, flow_of_data, is_left }
    }

    /// The flow of its jump: a jump that leaves an address in LR is a call.
    pub fn flow(&self) -> Flow {
        let links = self.instr.writes >> LR & 1 != 0 && self.loaded >> LR & 1 == 0;
        match self.instr.class {
            TimingClass::Branch | TimingClass::IndirectBranch if links => Flow::Call,
            TimingClass::Branch => Flow::On,
            _ => Flow::Jump,
        }
    }

    /// Passes it through the pipeline, as [`CoreTiming::step`] does. A fetch past the cache takes long enough that no
    /// results are under way afterwards.
    pub fn pass(&self, timing: &CoreTiming, fetch: Via, pending: &mut Pending) -> Cost {
        if fetch == Via::Uncached {
            *pending = Pending::NONE;
        }
        let cost = timing.step(self, pending);
        if fetch == Via::Uncached {
            *pending = Pending::NONE;
        }
        cost
    }
}

/// Makes a block of code that was read for `entry`. `predicts` says whether branches are predicted.
pub(super) fn draft<P: Profile>(
    timing: &CoreTiming,
    predicts: bool,
    entry: Entry<Context, Pending>,
    fetch: Via,
    read: &Read<ArmSet<P>>,
) -> Draft<ArmSet<P>> {
    let end = Ending::of(&read.instrs, &read.ops);
    let jump = if predicts { end.jump } else { Jump::Sure };
    let mut draft = Draft::new(entry, jump, read);
    let costs: Vec<(Cost, u16)> = read.instrs.iter().map(|(decoded, _)| draft.pass(timing, *decoded, fetch)).collect();
    push_ops(&mut draft, entry.pc & !1, fetch, read, &costs);
    draft.end(NOTHING);
    if end.skipped {
        let more_cycles = u64::from(draft.last.0.issue_cycles.saturating_sub(1));
        draft.breakdown[FALLEN].long_operation -= more_cycles;
        if read.instrs.last().is_some_and(|(decoded, _)| accesses(&decoded.instr)) {
            draft.breakdown[FALLEN].accesses -= more_cycles;
        }
    }
    let unpredicted = if predicts { 0 } else { timing.mispredicted_branch };
    let before = draft.before_last.1;
    let refill_cycles = read.instrs.last().map_or(0, |(decoded, _)| timing.refill_cycles(&decoded.instr, &before));
    let jump_cycles = refill_cycles + u32::from(unpredicted);
    draft.breakdown[TAKEN].jump += u64::from(jump_cycles);
    timing.jump(&mut draft.pending[TAKEN], jump_cycles);
    if fetch == Via::Uncached {
        draft.settle();
    }
    draft.taken_pc = end.target;
    draft.mispredicted_cycles = if jump == Jump::Sure { 0 } else { u16::from(timing.mispredicted_branch) };
    draft
}

/// Appends the micro-operations of code from `at` on, with the costs and start cycles of its instructions.
fn push_ops<P: Profile>(
    draft: &mut Draft<ArmSet<P>>,
    mut at: u32,
    fetch: Via,
    read: &Read<ArmSet<P>>,
    costs: &[(Cost, u16)],
) {
    if fetch == Via::Passing {
        let op = Op { code: Code::FetchLines, rd: read.bytes as u8, rn: 0, rm: 0, ra: 0, imm: at };
        draft.push(op, 0, costs[0].1);
    }
    let mut first = 0;
    for (number, (decoded, after)) in read.instrs.iter().enumerate() {
        let (cost, begins) = costs[number];
        let bytes = decoded.instr.len_bytes;
        if fetch == Via::Uncached {
            draft.push(Op { code: Code::Fetch, rd: bytes, rn: 0, rm: 0, ra: 0, imm: at }, number, begins);
        }
        at = at.wrapping_add(u32::from(bytes));
        let ops = &read.ops[first..*after];
        // A store may change the next instruction in a memory of the core's: then any access may follow.
        let next = costs.get(number + 1).map(|(next, _)| next.on_bus).filter(|_| fetch != Via::Local);
        let waits = Waits::of(&decoded.instr, ops, cost.on_bus, next);
        let memory = memory_op(read, costs, number);
        let conditional = ops.first().is_some_and(|op| op.code == Code::SkipUnless);
        if conditional && waits.asks {
            draft.push(Op { code: Code::AskForNone, ..NOTHING }, number, begins);
        }
        for (place, op) in ops.iter().enumerate() {
            let op = match op.code {
                Code::SkipUnless => {
                    let saved = cost.issue_cycles.saturating_sub(1).min(255) as u8;
                    let ra = if decoded.instr.ends_block { op.ra } else { saved };
                    Op { ra, imm: op.imm + waits.ops() + u32::from(memory.is_some()), ..*op }
                }
                _ => *op,
            };
            if waits.awaits && place == usize::from(conditional) {
                draft.push(Op { code: Code::AwaitGrant, ..NOTHING }, number, begins);
            }
            for (_, before) in [waits.grant, memory].into_iter().flatten().filter(|(before, _)| *before == place) {
                draft.push(before, number, begins);
            }
            draft.push(op, number, begins);
        }
        first = *after;
    }
}

/// The operation that looks at the memory of access `number` in a row of loads, and the number of the operation before
/// which it is inserted.
fn memory_op<P: Profile>(read: &Read<ArmSet<P>>, costs: &[(Cost, u16)], number: usize) -> Option<(usize, Op)> {
    // An IT instruction may be folded between the two.
    let is_it = |number: &usize| read.instrs[*number].0.instr.class == TimingClass::IfThen;
    let next = (number + 1..costs.len()).find(|number| !is_it(number));
    let follows = next.is_none_or(|next| matches!(costs[next].0.in_row, InRow::Next(_)));
    let (code, ra) = match costs[number].0.in_row {
        InRow::Next(cycles) => (Code::OtherMemory, cycles),
        InRow::First if follows => (Code::LoadedMemory, 0),
        _ => return None,
    };
    first_access(read.ops_of(number)).map(|(place, access)| (place, Op { code, ra, ..access }))
}

/// An operation that uses no registers.
const NOTHING: Op = Op { code: Code::End, rd: SINK, rn: 0, rm: 0, ra: 0, imm: 0 };

/// Waits of an instruction for a bus matrix's grants.
struct Waits {
    /// The operation that waits for the grant, or has a store request it, and the number of the operation before which
    /// it is inserted.
    grant: Option<(usize, Op)>,
    /// The instruction is a store that requests a grant.
    asks: bool,
    /// It waits together with the store before it.
    awaits: bool,
}

impl Waits {
    /// The waits of an instruction with these operations and this state of the bus; `next` is the state for the block's
    /// next instruction. A store waits in the write buffer, and delays an access right after it: if the block ends with
    /// the store, the next access is not known yet.
    fn of(instr: &Instr, ops: &[Op], on_bus: OnBus, next: Option<OnBus>) -> Waits {
        use TimingClass::{Store, StoreMultiple, VfpStore};
        let waits = on_bus == OnBus::Idle
            && match instr.class {
                Store => next.is_none_or(|next| next == OnBus::AfterIdleStore),
                StoreMultiple | VfpStore => instr.words > 1,
                _ => true,
            };
        let asks = waits && instr.class == Store;
        let code = if asks { Code::AskForGrant } else { Code::Grant };
        let grant = waits.then(|| first_access(ops)).flatten().map(|(place, access)| (place, Op { code, ..access }));
        Waits { grant, asks: asks && grant.is_some(), awaits: on_bus == OnBus::AfterIdleStore }
    }

    /// Number of operations that are added after a SkipUnless.
    fn ops(&self) -> u32 {
        u32::from(self.grant.is_some()) + u32::from(self.awaits)
    }
}

/// An operation with the address of the first access in `ops`, and the number of the access's operation.
fn first_access(ops: &[Op]) -> Option<(usize, Op)> {
    use Code::{Ldr, Ldrb, Ldrh, Ldrsb, Ldrsh, Multiple, Str, Strb, Strh, Vldr, Vstr};
    ops.iter().enumerate().find_map(|(place, op)| {
        let access = Op { rd: SINK, ra: 0, ..*op };
        match op.code {
            Ldr | Ldrb | Ldrh | Ldrsb | Ldrsh | Str | Strb | Strh | Vldr | Vstr => Some((place, access)),
            Multiple => Some((place, Op { rm: ZERO, imm: (op.imm as i32 >> 8) as u32, ..access })),
            _ => None,
        }
    })
}

/// End of a block.
struct Ending {
    jump: Jump,
    /// The target, where it is fixed.
    target: u32,
    /// The block falls through only if the last instruction, which may take several cycles, was skipped.
    skipped: bool,
}

impl Ending {
    /// The end of a block with this code: instructions with the index after their last micro-operation.
    fn of(instrs: &[(Decoded, usize)], ops: &[Op]) -> Ending {
        let from = instrs.iter().rev().nth(1).map_or(0, |(_, end)| *end);
        let ops = &ops[from..];
        let Some(((decoded, _), last)) = instrs.last().zip(ops.last()) else {
            return Ending { jump: Jump::Sure, target: 0, skipped: false };
        };
        let conditional = ops[0].code == Code::SkipUnless;
        let skipped = conditional && decoded.instr.ends_block;
        let calls = decoded.instr.writes & one(LR) != 0;
        let jump = match last.code {
            Code::Jump => match (conditional, calls) {
                (false, false) => Jump::Sure,
                (false, true) => Jump::Call,
                (true, false) => Jump::Conditional,
                (true, true) => Jump::ConditionalCall,
            },
            Code::JumpIf | Code::JumpIfZero | Code::JumpIfNotZero => Jump::Conditional,
            Code::JumpTo | Code::JumpToSame => {
                let popped = decoded.instr.words > 0 && decoded.instr.reads & one(SP) != 0;
                match (conditional, last.rm == LR || popped) {
                    (true, true) => Jump::ConditionalReturn,
                    (true, false) => Jump::ConditionalIndirect,
                    (false, true) => Jump::Return,
                    (false, false) if calls => Jump::IndirectCall,
                    (false, false) => Jump::Indirect,
                }
            }
            _ => Jump::Sure,
        };
        Ending { jump, target: last.imm, skipped }
    }
}

fn is_load(code: Code) -> bool {
    matches!(
        code,
        Code::Ldr | Code::Ldrb | Code::Ldrh | Code::Ldrsb | Code::Ldrsh | Code::Ldrex | Code::Swap | Code::LdrUser
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::arm::op::TimingClass;

    #[test]
    fn a_class_alone_does_not_make_a_jump() {
        let instr = Instr {
            len_bytes: 4,
            class: TimingClass::Status,
            reads: 0,
            reads_early: 0,
            writes: 0,
            words: 0,
            ends_block: true,
        };
        let ops = [Op { code: Code::Cps, rd: 0, rn: 0, rm: 0, ra: 0, imm: 0 }];
        let ending = Ending::of(&[(Decoded::new(instr, &ops, 0, 0, 32), 1)], &ops);
        assert!(ending.jump == Jump::Sure && !ending.skipped);
    }
}
