//! Operations as input of the compiler: one line per operation, in the interpreter's order.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::execute::moves;
use super::instruction_set::{RiscV, SINK};
use super::op::{Code, Op, TimingClass};
use crate::cpu::block::{Blocks, FALLEN, TAKEN};
use crate::cpu::compile::{Emitter, RegisterBits};

type Emit<'a> = Emitter<'a, RiscV>;

/// True if a block begins with an operation that can be compiled.
pub fn compiles(blocks: &Blocks<RiscV>, index: u32) -> bool {
    let [first, second, ..] = blocks.ops_from(index) else { return false };
    !is_left(if first.code == Code::Fetch { second.code } else { first.code })
}

/// True if an operation is always done by the interpreter.
pub fn is_left(code: Code) -> bool {
    matches!(code.class(), TimingClass::Csr | TimingClass::System)
}

/// See [`crate::cpu::isa::Isa::writes`]. Results for x0 have the sink as their destination.
pub fn writes(op: &Op) -> RegisterBits {
    if op.writes_rd() && op.rd < SINK { 1 << op.rd } else { 0 }
}

/// Emits host code for a block.
pub fn emit(e: &mut Emit, ops: &[Op]) {
    for (at, op) in ops.iter().enumerate() {
        let at = at as u32;
        match op.code.class() {
            TimingClass::Load => {
                let addr = address(e, op);
                let value = e.load(at, addr, moves(op.code), op.rd);
                set(e, op, value);
            }
            TimingClass::Store => {
                let (addr, value) = (address(e, op), register(e, op.rs2));
                e.store(at, addr, moves(op.code), (op.rs2, value));
            }
            TimingClass::Branch => return branch(e, op),
            TimingClass::Jump => {
                let link = e.constant(op.imm as u32);
                set(e, op, link);
                return e.exit(TAKEN);
            }
            TimingClass::IndirectJump => return indirect_jump(e, op),
            _ if is_left(op.code) => return e.interpret(at),
            _ if op.code == Code::End => return e.exit(FALLEN),
            _ if op.code == Code::Fetch => e.fetch(at, op.imm as u32, u32::from(op.rd)),
            _ => alu(e, op),
        }
    }
}

fn register(e: &mut Emit, register: u8) -> Value {
    if register == 0 { e.constant(0) } else { e.register(register) }
}

/// Writes an operation's result to its destination.
fn set(e: &mut Emit, op: &Op, value: Value) {
    if writes(op) != 0 {
        e.set_register(op.rd, value);
    }
}

fn address(e: &mut Emit, op: &Op) -> Value {
    let base = register(e, op.rs1);
    e.b.ins().iadd_imm(base, i64::from(op.imm))
}

fn branch(e: &mut Emit, op: &Op) {
    let (a, b) = (register(e, op.rs1), register(e, op.rs2));
    let condition = match op.code {
        Code::Beq => IntCC::Equal,
        Code::Bne => IntCC::NotEqual,
        Code::Blt => IntCC::SignedLessThan,
        Code::Bge => IntCC::SignedGreaterThanOrEqual,
        Code::Bltu => IntCC::UnsignedLessThan,
        _ => IntCC::UnsignedGreaterThanOrEqual,
    };
    let taken = e.b.ins().icmp(condition, a, b);
    e.branch(taken);
}

fn indirect_jump(e: &mut Emit, op: &Op) {
    let target = address(e, op);
    let target = e.b.ins().band_imm(target, !1);
    let link = e.constant(e.cpu.blocks.hot[e.index as usize].end_pc);
    set(e, op, link);
    e.exit_to(target);
}

fn alu(e: &mut Emit, op: &Op) {
    let imm = i64::from(op.imm);
    let value = match op.code {
        Code::Nop => return,
        Code::Li => e.constant(op.imm as u32),
        Code::Addi | Code::Slti | Code::Sltiu | Code::Xori | Code::Ori | Code::Andi => {
            let a = register(e, op.rs1);
            match op.code {
                Code::Addi => e.b.ins().iadd_imm(a, imm),
                Code::Slti => e.compare_imm(IntCC::SignedLessThan, a, imm),
                Code::Sltiu => e.compare_imm(IntCC::UnsignedLessThan, a, imm),
                Code::Xori => e.b.ins().bxor_imm(a, imm),
                Code::Ori => e.b.ins().bor_imm(a, imm),
                _ => e.b.ins().band_imm(a, imm),
            }
        }
        Code::Slli | Code::Srli | Code::Srai => {
            let a = register(e, op.rs1);
            match op.code {
                Code::Slli => e.b.ins().ishl_imm(a, imm & 31),
                Code::Srli => e.b.ins().ushr_imm(a, imm & 31),
                _ => e.b.ins().sshr_imm(a, imm & 31),
            }
        }
        code => {
            let (a, b) = (register(e, op.rs1), register(e, op.rs2));
            of_two(e, code, a, b)
        }
    };
    set(e, op, value);
}

fn of_two(e: &mut Emit, code: Code, a: Value, b: Value) -> Value {
    match code {
        Code::Add => e.b.ins().iadd(a, b),
        Code::Sub => e.b.ins().isub(a, b),
        Code::Sll => e.b.ins().ishl(a, b),
        Code::Slt => e.compare(IntCC::SignedLessThan, a, b),
        Code::Sltu => e.compare(IntCC::UnsignedLessThan, a, b),
        Code::Xor => e.b.ins().bxor(a, b),
        Code::Srl => e.b.ins().ushr(a, b),
        Code::Sra => e.b.ins().sshr(a, b),
        Code::Or => e.b.ins().bor(a, b),
        Code::And => e.b.ins().band(a, b),
        Code::Mul => e.b.ins().imul(a, b),
        Code::Mulh | Code::Mulhsu | Code::Mulhu => {
            let product = e.product(a, code != Code::Mulhu, b, code == Code::Mulh);
            e.words(product)[1]
        }
        _ => divide(e, code, a, b),
    }
}

/// div, rem, divu, remu (section 13.2). A division by zero returns all ones, and the dividend.
fn divide(e: &mut Emit, code: Code, a: Value, b: Value) -> Value {
    let division = e.divide(a, b, matches!(code, Code::Div | Code::Rem));
    let (result, by_zero) = if matches!(code, Code::Div | Code::Divu) {
        (e.quotient(division), e.constant(u32::MAX))
    } else {
        (e.remainder(division), a)
    };
    e.b.ins().select(division.by_zero, by_zero, result)
}

#[cfg(test)]
mod tests;
