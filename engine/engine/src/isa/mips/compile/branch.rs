//! Branches with their delay slots, and their predictions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::mem::offset_of;

use super::super::decoded::OP_BYTES;
use super::super::instruction_set::Mips;
use super::super::op::{Code, Op};
use super::super::predictor::{Entry, LIKELY, SURE};
use super::{Emit, emit_one, register, set};
use crate::cpu::block::{FALLEN, TAKEN};
use crate::cpu::compile::own;
use crate::cpu::profiler::counters::Own;

/// A branch that ends a block with its delay slot.
#[derive(Clone, Copy)]
struct Branch<'a> {
    op: &'a Op,
    /// The number of its operation.
    at: usize,
    slot: &'a Op,
    pc: u32,
    /// Its target.
    target: Value,
}

/// Emits the branch `op`, operation `at`, with its delay slot.
pub fn emit(e: &mut Emit, op: &Op, at: usize, slot: &Op) {
    let pc = e.cpu.blocks.hot[e.index as usize].end_pc.wrapping_sub(2 * OP_BYTES);
    let indirect = matches!(op.code, Code::Jr | Code::Jalr);
    let target = if indirect { register(e, op.rs) } else { e.constant(op.imm as u32) };
    let branch = Branch { op, at, slot, pc, target };
    match condition(e, op) {
        None => branch.way(e, TAKEN),
        Some(taken) => e.either(taken, |e| branch.way(e, TAKEN), |e| branch.way(e, FALLEN)),
    }
}

/// The condition of a branch; `None` for a jump.
fn condition(e: &mut Emit, op: &Op) -> Option<Value> {
    use Code::*;
    let (condition, two) = match op.code {
        Beq | Beql => (IntCC::Equal, true),
        Bne | Bnel => (IntCC::NotEqual, true),
        Blez | Blezl => (IntCC::SignedLessThanOrEqual, false),
        Bgtz | Bgtzl => (IntCC::SignedGreaterThan, false),
        Bltz | Bltzal | Bltzl | Bltzall => (IntCC::SignedLessThan, false),
        Bgez | Bgezal | Bgezl | Bgezall => (IntCC::SignedGreaterThanOrEqual, false),
        _ => return None,
    };
    let a = register(e, op.rs);
    let b = if two { register(e, op.rt) } else { e.constant(0) };
    Some(e.b.ins().icmp(condition, a, b))
}

impl Branch<'_> {
    /// Takes one of the branch's two exits.
    fn way(self, e: &mut Emit, exit: usize) {
        if !self.resolve(e, exit == TAKEN) {
            return;
        }
        if matches!(self.op.code, Code::Jal | Code::Jalr | Code::Bltzal | Code::Bgezal | Code::Bltzall | Code::Bgezall)
        {
            let after = e.constant(self.pc.wrapping_add(2 * OP_BYTES));
            set(e, self.op.rd, after);
        }
        if self.op.code.is_likely() && exit == FALLEN {
            // The slot is annulled. The block's instructions include it, but not its time.
            e.pass(1);
            let slot_pc = self.pc.wrapping_add(OP_BYTES);
            e.spend(Own::Annulled, 1, slot_pc);
            e.count_annulled(slot_pc);
            e.retire(-1);
            return e.exit(FALLEN);
        }
        e.decide(exit);
        if matches!(self.op.code, Code::Jr | Code::Jalr) {
            e.set_taken_pc(self.target);
            emit_one(e, self.slot, self.at as u32 + 1);
            return e.exit_to(self.target);
        }
        emit_one(e, self.slot, self.at as u32 + 1);
        e.exit(exit);
    }

    /// Compares the exit with the prediction: false if the interpreter has to take over, whatever the prediction was.
    fn resolve(self, e: &mut Emit, taken: bool) -> bool {
        let timing = &e.cpu.timing;
        let is_felt = e.cpu.blocks.instrs_of(e.index)[self.at].wait_effects[usize::from(taken)].some;
        let right_cycles = if taken { i64::from(timing.taken_branch) - 1 } else { 0 };
        let wrong_cycles = i64::from(match self.op.code {
            Code::J | Code::Jal => timing.unpredicted_jump,
            _ => timing.mispredicted_branch,
        });
        if is_felt && right_cycles > 0 {
            e.interpret(self.at as u32);
            return false;
        }
        let entry = e.cpu.isa.predictor.entry_of(self.pc).map(|entry| e.b.ins().iconst(I64, entry as i64));
        let leave = is_felt && wrong_cycles > 0;
        match (entry, taken) {
            (None, false) => {}
            (None, true) if leave => {
                e.interpret(self.at as u32);
                return false;
            }
            (None, true) => self.pay(e, wrong_cycles),
            (Some(entry), false) => self.fall(e, entry, leave, wrong_cycles),
            (Some(entry), true) => self.take(e, entry, leave, right_cycles, wrong_cycles),
        }
        true
    }

    /// Emits the exit of a branch that is not taken: mispredicted if it is known as likely.
    fn fall(self, e: &mut Emit, entry: Value, leave: bool, wrong_cycles: i64) {
        let pc = e.b.ins().load(I32, own(), entry, offset_of!(Entry, pc) as i32);
        let unknown = e.b.ins().icmp_imm(IntCC::NotEqual, pc, i64::from(self.pc as i32));
        e.rarely(unknown, |e| {
            let counter_at = offset_of!(Entry, counter) as i32;
            let counter = e.b.ins().uload8(I32, own(), entry, counter_at);
            let right = e.b.ins().icmp_imm(IntCC::UnsignedLessThan, counter, i64::from(LIKELY));
            if leave {
                e.unless(right, |e| e.interpret(self.at as u32));
            } else {
                e.rarely(right, |e| self.pay(e, wrong_cycles));
            }
            let some = e.compare_imm(IntCC::NotEqual, counter, 0);
            let learnt = e.b.ins().isub(counter, some);
            e.b.ins().istore8(own(), learnt, entry, counter_at);
        });
    }

    /// Emits the exit of a taken branch: predicted if it is known as likely, with the same target.
    fn take(self, e: &mut Emit, entry: Value, leave: bool, right_cycles: i64, wrong_cycles: i64) {
        let [pc_at, target_at, counter_at] =
            [offset_of!(Entry, pc), offset_of!(Entry, target), offset_of!(Entry, counter)].map(|at| at as i32);
        let pc = e.b.ins().load(I32, own(), entry, pc_at);
        let known = e.b.ins().icmp_imm(IntCC::Equal, pc, i64::from(self.pc as i32));
        let before = e.b.ins().load(I32, own(), entry, target_at);
        let same = e.b.ins().icmp(IntCC::Equal, before, self.target);
        let counter = e.b.ins().uload8(I32, own(), entry, counter_at);
        let likely = e.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, counter, i64::from(LIKELY));
        let right = e.b.ins().band(known, same);
        let right = e.b.ins().band(right, likely);
        let learn = |e: &mut Emit, counter: Value| {
            let counter = e.b.ins().ireduce(I8, counter);
            e.b.ins().store(own(), counter, entry, counter_at);
        };
        let [yes, no] = e.fork(right);
        let merged = e.b.create_block();
        e.b.set_cold_block(no);
        e.b.switch_to_block(no);
        if leave {
            e.interpret(self.at as u32);
        } else {
            self.pay(e, wrong_cycles);
            let place = e.constant(self.pc);
            e.b.ins().store(own(), place, entry, pc_at);
            e.b.ins().store(own(), self.target, entry, target_at);
            let more = e.b.ins().iadd_imm(counter, 1);
            let most = e.constant(u32::from(SURE));
            let more = e.b.ins().umin(more, most);
            let first = e.constant(u32::from(LIKELY));
            let learnt = e.b.ins().select(known, more, first);
            learn(e, learnt);
            e.b.ins().jump(merged, &[]);
        }
        e.b.switch_to_block(yes);
        let sure = e.constant(u32::from(SURE));
        learn(e, sure);
        if right_cycles > 0 {
            e.pass(right_cycles);
            e.spend(Own::Jump, right_cycles, self.pc);
        }
        e.b.ins().jump(merged, &[]);
        e.b.seal_block(merged);
        e.b.switch_to_block(merged);
    }

    /// Charges a misprediction.
    fn pay(self, e: &mut Emit, cycles: i64) {
        e.pass(cycles);
        e.spend(Own::Mispredicted, cycles, self.pc);
        e.add(offset_of!(Mips, mispredictions), 1);
    }
}
