//! Operations as input of the compiler, in the interpreter's order.
//!
//! A branch is decided before its delay slot, which is emitted once for each exit. If a branch was mispredicted, and
//! its block depends on the time of that, the interpreter takes the block over at the branch.

mod alu;
mod branch;
mod memory;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::decoded::Ending;
use super::instruction_set::MipsSet;
use super::op::{Code, HI, LO, Op, SINK, ZERO};
use crate::cpu::block::{Blocks, FALLEN};
use crate::cpu::compile::{Emitter, RegisterBits};

type Emit<'a> = Emitter<'a, MipsSet>;

/// True if a block can be compiled: it includes its delay slot, if any, and does not begin with an operation of the
/// interpreter's.
pub fn compiles(blocks: &Blocks<MipsSet>, index: u32) -> bool {
    blocks.hot[index as usize].jump != Ending::Branch && !is_left(blocks.ops_from(index)[0].code)
}

/// True if an operation is always done by the interpreter.
pub fn is_left(code: Code) -> bool {
    code.is_system() || matches!(code, Code::Ll | Code::Sc)
}

/// See [`crate::cpu::isa::Isa::writes`].
pub fn writes(op: &Op) -> RegisterBits {
    match op.code {
        code if code.uses_unit() && code != Code::Mul => 1 << HI | 1 << LO,
        _ if op.rd == SINK || op.rd == ZERO => 0,
        _ => 1 << op.rd,
    }
}

/// Emits host code for a block.
pub fn emit(e: &mut Emit, ops: &[Op]) {
    for (at, op) in ops.iter().enumerate() {
        if op.code == Code::End {
            return e.exit(FALLEN);
        }
        if op.code.is_branch() {
            return branch::emit(e, op, at, &ops[at + 1]);
        }
        if is_left(op.code) {
            return e.interpret(at as u32);
        }
        emit_one(e, op, at as u32);
    }
}

/// Emits operation `at`, which is not a branch.
fn emit_one(e: &mut Emit, op: &Op, at: u32) {
    use Code::*;
    match op.code {
        Nop | Pref => {}
        Lb | Lbu | Lh | Lhu | Lw | Sb | Sh | Sw => memory::access(e, op, at),
        Lwl | Lwr | Swl | Swr => memory::access_part(e, op, at),
        Add | Sub | Addi => checked(e, op, at),
        Tge | Tgeu | Tlt | Tltu | Teq | Tne | Tgei | Tgeiu | Tlti | Tltiu | Teqi | Tnei => trap(e, op, at),
        Mult | Multu | Madd | Maddu | Msub | Msubu | Div | Divu => alu::multiply_or_divide(e, op),
        _ => {
            let value = alu::value(e, op);
            set(e, op.rd, value);
        }
    }
}

/// Emits arithmetic that raises an exception on overflow.
fn checked(e: &mut Emit, op: &Op, at: u32) {
    let a = register(e, op.rs);
    let b = if op.code == Code::Addi { e.constant(op.imm as u32) } else { register(e, op.rt) };
    let (value, other) = if op.code == Code::Sub {
        (e.b.ins().isub(a, b), e.b.ins().bxor(a, b))
    } else {
        let value = e.b.ins().iadd(a, b);
        (value, e.b.ins().bxor(b, value))
    };
    let from_a = e.b.ins().bxor(a, value);
    let overflow = e.b.ins().band(from_a, other);
    let fits = e.b.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, overflow, 0);
    e.unless(fits, |e| e.interpret(at));
    set(e, op.rd, value);
}

fn trap(e: &mut Emit, op: &Op, at: u32) {
    use Code::*;
    // The condition under which it does not trap.
    let passes = match op.code {
        Tge | Tgei => IntCC::SignedLessThan,
        Tgeu | Tgeiu => IntCC::UnsignedLessThan,
        Tlt | Tlti => IntCC::SignedGreaterThanOrEqual,
        Tltu | Tltiu => IntCC::UnsignedGreaterThanOrEqual,
        Teq | Teqi => IntCC::NotEqual,
        _ => IntCC::Equal,
    };
    let a = register(e, op.rs);
    let immediate = matches!(op.code, Tgei | Tgeiu | Tlti | Tltiu | Teqi | Tnei);
    let b = if immediate { e.constant(op.imm as u32) } else { register(e, op.rt) };
    let passes = e.b.ins().icmp(passes, a, b);
    e.unless(passes, |e| e.interpret(at));
}

/// The value of a register.
fn register(e: &mut Emit, register: u8) -> Value {
    if register == ZERO { e.constant(0) } else { e.register(register) }
}

/// Sets the value of a register.
fn set(e: &mut Emit, register: u8, value: Value) {
    if register != SINK && register != ZERO {
        e.set_register(register, value);
    }
}
