//! Arithmetic: one line an operation, in the interpreter's order.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::op::{Code, Op};
use super::emit::Emitter;

impl Emitter<'_> {
    pub(super) fn alu(&mut self, op: &Op) {
        if op.code == Code::Nop {
            return;
        }
        let imm = i64::from(op.imm);
        if op.code == Code::Li {
            let value = self.constant(op.imm as u32);
            return self.set_register(op, value);
        }
        let a = self.register(op.rs1);
        let value = match op.code {
            Code::Addi => self.b.ins().iadd_imm(a, imm),
            Code::Slti => self.compare_imm(IntCC::SignedLessThan, a, imm),
            Code::Sltiu => self.compare_imm(IntCC::UnsignedLessThan, a, imm),
            Code::Xori => self.b.ins().bxor_imm(a, imm),
            Code::Ori => self.b.ins().bor_imm(a, imm),
            Code::Andi => self.b.ins().band_imm(a, imm),
            Code::Slli => self.b.ins().ishl_imm(a, imm & 31),
            Code::Srli => self.b.ins().ushr_imm(a, imm & 31),
            Code::Srai => self.b.ins().sshr_imm(a, imm & 31),
            _ => {
                let b = self.register(op.rs2);
                self.of_two(op.code, a, b)
            }
        };
        self.set_register(op, value);
    }

    fn of_two(&mut self, code: Code, a: Value, b: Value) -> Value {
        match code {
            Code::Add => self.b.ins().iadd(a, b),
            Code::Sub => self.b.ins().isub(a, b),
            Code::Sll => self.b.ins().ishl(a, b),
            Code::Slt => self.compare(IntCC::SignedLessThan, a, b),
            Code::Sltu => self.compare(IntCC::UnsignedLessThan, a, b),
            Code::Xor => self.b.ins().bxor(a, b),
            Code::Srl => self.b.ins().ushr(a, b),
            Code::Sra => self.b.ins().sshr(a, b),
            Code::Or => self.b.ins().bor(a, b),
            Code::And => self.b.ins().band(a, b),
            Code::Mul => self.b.ins().imul(a, b),
            Code::Mulh => self.upper_product(a, true, b, true),
            Code::Mulhsu => self.upper_product(a, true, b, false),
            Code::Mulhu => self.upper_product(a, false, b, false),
            _ => self.divide(code, a, b),
        }
    }

    fn compare(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let bit = self.b.ins().icmp(condition, a, b);
        self.b.ins().uextend(I32, bit)
    }

    fn compare_imm(&mut self, condition: IntCC, a: Value, imm: i64) -> Value {
        let bit = self.b.ins().icmp_imm(condition, a, imm);
        self.b.ins().uextend(I32, bit)
    }

    fn upper_product(&mut self, a: Value, a_signed: bool, b: Value, b_signed: bool) -> Value {
        let (a, b) = (self.widen(a, a_signed), self.widen(b, b_signed));
        let product = self.b.ins().imul(a, b);
        let upper = self.b.ins().ushr_imm(product, 32);
        self.b.ins().ireduce(I32, upper)
    }

    fn widen(&mut self, value: Value, signed: bool) -> Value {
        if signed { self.b.ins().sextend(I64, value) } else { self.b.ins().uextend(I64, value) }
    }

    /// div, rem, divu, remu. Where the host would trap it divides by 1: right for an overflow (section 13.2: the
    /// dividend, and 0). By zero gives all ones, and the dividend.
    fn divide(&mut self, code: Code, a: Value, b: Value) -> Value {
        let zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        let traps = if matches!(code, Code::Div | Code::Rem) {
            let least = self.b.ins().icmp_imm(IntCC::Equal, a, i64::from(i32::MIN));
            let minus_one = self.b.ins().icmp_imm(IntCC::Equal, b, -1);
            let overflow = self.b.ins().band(least, minus_one);
            self.b.ins().bor(zero, overflow)
        } else {
            zero
        };
        let one = self.constant(1);
        let divisor = self.b.ins().select(traps, one, b);
        let result = match code {
            Code::Div => self.b.ins().sdiv(a, divisor),
            Code::Rem => self.b.ins().srem(a, divisor),
            Code::Divu => self.b.ins().udiv(a, divisor),
            _ => self.b.ins().urem(a, divisor),
        };
        let by_zero = if matches!(code, Code::Div | Code::Divu) { self.constant(u32::MAX) } else { a };
        self.b.ins().select(zero, by_zero, result)
    }
}
