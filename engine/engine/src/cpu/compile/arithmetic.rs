//! Arithmetic shared by several instruction sets.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::emit::Emitter;
use crate::cpu::isa::Isa;

impl<I: Isa> Emitter<'_, I> {
    /// A constant of 32 bits.
    pub fn constant(&mut self, value: u32) -> Value {
        self.b.ins().iconst(I32, i64::from(value))
    }

    /// 1 where a comparison holds, else 0.
    pub fn compare(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let bit = self.b.ins().icmp(condition, a, b);
        self.b.ins().uextend(I32, bit)
    }

    /// As [`Emitter::compare`], with a constant.
    pub fn compare_imm(&mut self, condition: IntCC, a: Value, imm: i64) -> Value {
        let bit = self.b.ins().icmp_imm(condition, a, imm);
        self.b.ins().uextend(I32, bit)
    }

    /// A word extended to 64 bits.
    pub fn widen(&mut self, value: Value, signed: bool) -> Value {
        if signed { self.b.ins().sextend(I64, value) } else { self.b.ins().uextend(I64, value) }
    }

    /// The 64 bits of a product of words.
    pub fn product(&mut self, a: Value, a_signed: bool, b: Value, b_signed: bool) -> Value {
        let (a, b) = (self.widen(a, a_signed), self.widen(b, b_signed));
        self.b.ins().imul(a, b)
    }

    /// The low and the high word of 64 bits.
    pub fn words(&mut self, wide: Value) -> [Value; 2] {
        let high = self.b.ins().ushr_imm(wide, 32);
        [wide, high].map(|half| self.b.ins().ireduce(I32, half))
    }

    /// A division that traps on no host: where a host would trap (divisor 0, overflow) the divisor is 1. After an
    /// overflow the results are right: the dividend, and 0.
    pub fn divide(&mut self, a: Value, b: Value, signed: bool) -> Division {
        let by_zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        let traps = if signed {
            let least = self.b.ins().icmp_imm(IntCC::Equal, a, i64::from(i32::MIN));
            let minus_one = self.b.ins().icmp_imm(IntCC::Equal, b, -1);
            let overflow = self.b.ins().band(least, minus_one);
            self.b.ins().bor(by_zero, overflow)
        } else {
            by_zero
        };
        let one = self.constant(1);
        let divisor = self.b.ins().select(traps, one, b);
        Division { dividend: a, divisor, signed, by_zero }
    }

    /// The quotient of a division.
    pub fn quotient(&mut self, of: Division) -> Value {
        let ins = self.b.ins();
        if of.signed { ins.sdiv(of.dividend, of.divisor) } else { ins.udiv(of.dividend, of.divisor) }
    }

    /// The remainder of a division.
    pub fn remainder(&mut self, of: Division) -> Value {
        let ins = self.b.ins();
        if of.signed { ins.srem(of.dividend, of.divisor) } else { ins.urem(of.dividend, of.divisor) }
    }
}

/// A division, as made by [`Emitter::divide`].
#[derive(Clone, Copy)]
pub struct Division {
    dividend: Value,
    divisor: Value,
    signed: bool,
    /// The divisor is 0; the division is then by 1.
    pub by_zero: Value,
}
