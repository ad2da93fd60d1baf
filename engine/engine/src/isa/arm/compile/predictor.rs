//! The predictor in compiled code: [`Predictor::resolve`], for a known jump.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::mem::offset_of;

use super::super::architecture::Profile;
use super::super::instruction_set::{Arm, ArmSet};
use super::super::predictor::{Jump, LIKELY, NOWHERE, Predictor, RETURNS, TARGETS, Target};
use super::{Emit, HISTORY, predicted};
use crate::cpu::block::TAKEN;
use crate::cpu::compile::own;
use crate::cpu::profiler::counters::Own;

/// Counters run from 0 to 3.
const MOST: i64 = 3;

/// Offset of the history in the instruction set's state.
pub fn history_offset<P: Profile>() -> usize {
    offset_of!(ArmSet<P>, predictor) + offset_of!(Predictor, history)
}

/// Offset of the predictor in a core.
fn offset<P: Profile>() -> usize {
    offset_of!(Arm<P>, isa) + offset_of!(ArmSet<P>, predictor)
}

/// Compares `exit`, by which the current block is left, with the prediction. `target` is the target of an indirect
/// jump.
pub fn emit_resolve<P: Profile>(e: &mut Emit<P>, exit: usize, target: Option<Value>) {
    use Jump::*;
    let (jump, taken) = (predicted(e), exit == TAKEN);
    let conditional = matches!(jump, Conditional | ConditionalCall | ConditionalReturn | ConditionalIndirect)
        .then(|| direction(e, taken));
    if !taken {
        return conditional.into_iter().for_each(|right| pay(e, right));
    }
    let known = match (jump, target) {
        (Return | ConditionalReturn, Some(target)) => Some(pop(e, target)),
        (Indirect | ConditionalIndirect | IndirectCall, Some(target)) => Some(look_up(e, target)),
        _ => None,
    };
    if matches!(jump, Call | ConditionalCall | IndirectCall) {
        push(e);
    }
    let right = match (conditional, known) {
        (Some(right), Some(known)) => e.b.ins().band(right, known),
        (Some(right), None) | (None, Some(right)) => right,
        (None, None) => return,
    };
    pay(e, right);
}

/// Charges a misprediction.
fn pay<P: Profile>(e: &mut Emit<P>, right: Value) {
    let cycles = i64::from(e.cpu.timing.mispredicted_branch);
    e.rarely(right, |e| {
        e.pass(cycles);
        e.spend(Own::Mispredicted, cycles, e.cpu.last_pc(e.index));
        e.add(offset_of!(Arm<P>, mispredictions), 1);
    });
}

/// True if the direction was predicted; updates the counter and the history.
fn direction<P: Profile>(e: &mut Emit<P>, taken: bool) -> Value {
    let pc = e.cpu.blocks.hot[e.index as usize].end_pc;
    let history = e.register(HISTORY);
    let chosen = e.b.ins().bxor_imm(history, i64::from(pc >> 1 & 0xff));
    let chosen = e.b.ins().uextend(I64, chosen);
    let place = e.b.ins().iadd(e.core, chosen);
    let at = (offset::<P>() + offset_of!(Predictor, patterns)) as i32;
    let counter = e.b.ins().uload8(I32, own(), place, at);
    let (bound, right) = if taken {
        (IntCC::UnsignedLessThan, IntCC::UnsignedGreaterThanOrEqual)
    } else {
        (IntCC::UnsignedGreaterThan, IntCC::UnsignedLessThan)
    };
    let moves = e.compare_imm(bound, counter, if taken { MOST } else { 0 });
    let learnt = if taken { e.b.ins().iadd(counter, moves) } else { e.b.ins().isub(counter, moves) };
    e.b.ins().istore8(own(), learnt, place, at);
    let shifted = e.b.ins().ishl_imm(history, 1);
    let shifted = if taken { e.b.ins().bor_imm(shifted, 1) } else { shifted };
    let shifted = e.b.ins().band_imm(shifted, 0xff);
    e.set_register(HISTORY, shifted);
    e.b.ins().icmp_imm(right, counter, i64::from(LIKELY))
}

/// A call: pushes the address after it on the return stack.
fn push<P: Profile>(e: &mut Emit<P>) {
    let after = e.constant(e.cpu.blocks.hot[e.index as usize].end_pc);
    let next = next_return(e, 1);
    let place = return_place(e, next);
    e.b.ins().store(own(), after, place, returns_at::<P>());
}

/// A return: true if the return stack has predicted it.
fn pop<P: Profile>(e: &mut Emit<P>, target: Value) -> Value {
    let last = e.b.ins().load(I32, own(), e.core, next_return_at::<P>());
    let place = return_place(e, last);
    let address = e.b.ins().load(I32, own(), place, returns_at::<P>());
    let nowhere = e.constant(NOWHERE);
    e.b.ins().store(own(), nowhere, place, returns_at::<P>());
    next_return(e, RETURNS as i64 - 1);
    e.b.ins().icmp(IntCC::Equal, address, target)
}

fn next_return_at<P: Profile>() -> i32 {
    (offset::<P>() + offset_of!(Predictor, next_return)) as i32
}

fn returns_at<P: Profile>() -> i32 {
    (offset::<P>() + offset_of!(Predictor, returns)) as i32
}

/// Moves the return stack's top by `step`; returns it.
fn next_return<P: Profile>(e: &mut Emit<P>, step: i64) -> Value {
    let top = e.b.ins().load(I32, own(), e.core, next_return_at::<P>());
    let top = e.b.ins().iadd_imm(top, step);
    let top = e.b.ins().band_imm(top, RETURNS as i64 - 1);
    e.b.ins().store(own(), top, e.core, next_return_at::<P>());
    top
}

fn return_place<P: Profile>(e: &mut Emit<P>, number: Value) -> Value {
    let number = e.b.ins().uextend(I64, number);
    let offset = e.b.ins().ishl_imm(number, i64::from(size_of::<u32>().ilog2()));
    e.b.ins().iadd(e.core, offset)
}

/// An indirect jump: true if its target is the last one. An unknown jump replaces the oldest entry.
fn look_up<P: Profile>(e: &mut Emit<P>, target: Value) -> Value {
    let pc = e.cpu.blocks.hot[e.index as usize].end_pc;
    let targets_at = (offset::<P>() + offset_of!(Predictor, targets)) as i32;
    let entry_bytes = size_of::<Target>();
    let (from_at, to_at) = (targets_at + offset_of!(Target, from) as i32, targets_at + offset_of!(Target, to) as i32);
    // The first entry of this address, if any.
    let mut number = e.constant(TARGETS as u32);
    for entry in (0..TARGETS).rev() {
        let from = e.b.ins().load(I32, own(), e.core, from_at + (entry * entry_bytes) as i32);
        let here = e.b.ins().icmp_imm(IntCC::Equal, from, i64::from(pc as i32));
        let this = e.constant(entry as u32);
        number = e.b.ins().select(here, this, number);
    }
    let known = e.b.ins().icmp_imm(IntCC::NotEqual, number, TARGETS as i64);
    let next_at = (offset::<P>() + offset_of!(Predictor, next_target)) as i32;
    let next = e.b.ins().load(I32, own(), e.core, next_at);
    let chosen = e.b.ins().select(known, number, next);
    let place = e.b.ins().uextend(I64, chosen);
    let place = e.b.ins().ishl_imm(place, i64::from(entry_bytes.ilog2()));
    let place = e.b.ins().iadd(e.core, place);
    let before = e.b.ins().load(I32, own(), place, to_at);
    let from = e.constant(pc);
    e.b.ins().store(own(), from, place, from_at);
    e.b.ins().store(own(), target, place, to_at);
    let step = e.b.ins().icmp_imm(IntCC::Equal, number, TARGETS as i64);
    let step = e.b.ins().uextend(I32, step);
    let moved = e.b.ins().iadd(next, step);
    let moved = e.b.ins().band_imm(moved, TARGETS as i64 - 1);
    e.b.ins().store(own(), moved, e.core, next_at);
    let same = e.b.ins().icmp(IntCC::Equal, before, target);
    e.b.ins().band(known, same)
}
