//! Arithmetic, equal to [`super::super::alu`].

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::op::{Code, HI, LO, Op};
use super::{Emit, register};

/// Operations with one value.
pub fn value(e: &mut Emit, op: &Op) -> Value {
    use Code::*;
    let imm = i64::from(op.imm);
    match op.code {
        Li => e.constant(op.imm as u32),
        Addiu | Slti | Sltiu | Andi | Ori | Xori => {
            let a = register(e, op.rs);
            match op.code {
                Addiu => e.b.ins().iadd_imm(a, imm),
                Slti => e.compare_imm(IntCC::SignedLessThan, a, imm),
                Sltiu => e.compare_imm(IntCC::UnsignedLessThan, a, imm),
                Andi => e.b.ins().band_imm(a, imm),
                Ori => e.b.ins().bor_imm(a, imm),
                _ => e.b.ins().bxor_imm(a, imm),
            }
        }
        Sll | Srl | Sra => {
            let b = register(e, op.rt);
            match op.code {
                Sll => e.b.ins().ishl_imm(b, imm & 31),
                Srl => e.b.ins().ushr_imm(b, imm & 31),
                _ => e.b.ins().sshr_imm(b, imm & 31),
            }
        }
        Clz | Clo => {
            let a = register(e, op.rs);
            let counted = if op.code == Clz { a } else { e.b.ins().bnot(a) };
            e.b.ins().clz(counted)
        }
        Mfhi | Mflo | Mthi | Mtlo => register(e, op.rs),
        _ => of_two(e, op),
    }
}

fn of_two(e: &mut Emit, op: &Op) -> Value {
    use Code::*;
    let (a, b) = (register(e, op.rs), register(e, op.rt));
    match op.code {
        Addu => e.b.ins().iadd(a, b),
        Subu => e.b.ins().isub(a, b),
        And => e.b.ins().band(a, b),
        Or => e.b.ins().bor(a, b),
        Xor => e.b.ins().bxor(a, b),
        Nor => {
            let either = e.b.ins().bor(a, b);
            e.b.ins().bnot(either)
        }
        Slt => e.compare(IntCC::SignedLessThan, a, b),
        Sltu => e.compare(IntCC::UnsignedLessThan, a, b),
        Sllv => e.b.ins().ishl(b, a),
        Srlv => e.b.ins().ushr(b, a),
        Srav => e.b.ins().sshr(b, a),
        Movz | Movn => {
            let old = register(e, op.rd);
            if op.code == Movz { e.b.ins().select(b, old, a) } else { e.b.ins().select(b, a, old) }
        }
        _ => e.b.ins().imul(a, b),
    }
}

/// Operations that write HI and LO.
pub fn multiply_or_divide(e: &mut Emit, op: &Op) {
    use Code::*;
    let (a, b) = (register(e, op.rs), register(e, op.rt));
    let signed = matches!(op.code, Mult | Madd | Msub | Div);
    let [low, high] = if matches!(op.code, Div | Divu) {
        // A division by zero divides by 1.
        let division = e.divide(a, b, signed);
        [e.quotient(division), e.remainder(division)]
    } else {
        let product = e.product(a, signed, b, signed);
        let wide = match op.code {
            Mult | Multu => product,
            _ => {
                let before = accumulator(e);
                if matches!(op.code, Madd | Maddu) {
                    e.b.ins().iadd(before, product)
                } else {
                    e.b.ins().isub(before, product)
                }
            }
        };
        e.words(wide)
    };
    e.set_register(HI, high);
    e.set_register(LO, low);
}

/// HI and LO as one number.
fn accumulator(e: &mut Emit) -> Value {
    let [high, low] = [HI, LO].map(|half| e.register(half)).map(|half| e.widen(half, false));
    let high = e.b.ins().ishl_imm(high, 32);
    e.b.ins().bor(high, low)
}
