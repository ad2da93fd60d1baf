//! Lazy flags: N and Z are the last result itself, C and V are computed where they are read.

use cranelift_codegen::ir::condcodes::{CondCode as _, IntCC};
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::architecture::Profile;
use super::super::registers::{C, N_SOURCE, V, Z_SOURCE};
use super::{Emit, vfp};

/// Sources of C and V, at a point of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    pub carry: Carry,
    pub overflow: Overflow,
    /// All flags are those of the first value minus the second.
    pub compared: Option<[Value; 2]>,
}

/// Known values that are not computed yet, at a point of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lazy {
    pub flags: Flags,
    /// Known state of VFP.
    pub vfp: vfp::Known,
}

/// Source of C.
#[derive(Clone, Copy, Debug, Default)]
pub enum Carry {
    /// Its own register has it.
    #[default]
    Register,
    /// It is known.
    Fixed(u32),
    /// The first value is not below the second: a difference.
    NotBelow([Value; 2]),
    /// The first value is below the second: a sum, and one of its terms.
    Below([Value; 2]),
    /// A bit of a value: the bit that is shifted out.
    Bit(Value, u32),
}

/// Source of V.
#[derive(Clone, Copy, Debug, Default)]
pub enum Overflow {
    /// Its own register has it.
    #[default]
    Register,
    /// It is known.
    Fixed(u32),
    /// Operands and result of a subtraction.
    Difference([Value; 3]),
    /// Operands and result of an addition.
    Sum([Value; 3]),
    /// A bit of a value.
    Bit(Value, u32),
}

/// Sets N and Z by a result.
pub fn set_nz<P: Profile>(e: &mut Emit<P>, value: Value) {
    set_n_and_z(e, value, value);
}

/// Sets N to the top bit of `n`, and Z if `z` is 0.
pub fn set_n_and_z<P: Profile>(e: &mut Emit<P>, n: Value, z: Value) {
    e.set_register(N_SOURCE, n);
    e.set_register(Z_SOURCE, z);
    e.lazy.flags.compared = None;
}

/// Sets the flags to bits 31:28 of a word, as [`super::super::psr::set_nzcv`] does.
pub fn set_nzcv<P: Profile>(e: &mut Emit<P>, word: Value) {
    let n = e.b.ins().band_imm(word, i64::from(1u32 << 31));
    let others = e.b.ins().bnot(word);
    let z = e.b.ins().band_imm(others, 1 << 30);
    set_n_and_z(e, n, z);
    e.lazy.flags = Flags { carry: Carry::Bit(word, 29), overflow: Overflow::Bit(word, 28), compared: None };
    e.set_dirty(C);
    e.set_dirty(V);
}

/// Sets the source of C.
pub fn set_carry<P: Profile>(e: &mut Emit<P>, carry: Carry) {
    e.lazy.flags.carry = carry;
    e.lazy.flags.compared = None;
    e.set_dirty(C);
}

/// Sets C to a value: 0 or 1.
pub fn set_carry_value<P: Profile>(e: &mut Emit<P>, value: Value) {
    e.set_register(C, value);
    e.lazy.flags.carry = Carry::Register;
    e.lazy.flags.compared = None;
}

/// The flags and the value of a - b.
pub fn subtract<P: Profile>(e: &mut Emit<P>, a: Value, b: Value) -> Value {
    let value = e.b.ins().isub(a, b);
    set_nz(e, value);
    e.lazy.flags =
        Flags { carry: Carry::NotBelow([a, b]), overflow: Overflow::Difference([a, b, value]), compared: Some([a, b]) };
    e.set_dirty(C);
    e.set_dirty(V);
    value
}

/// The flags and the value of a - 0.
pub fn compare_with_zero<P: Profile>(e: &mut Emit<P>, a: Value, zero: Value) -> Value {
    set_nz(e, a);
    e.lazy.flags = Flags { carry: Carry::Fixed(1), overflow: Overflow::Fixed(0), compared: Some([a, zero]) };
    e.set_dirty(C);
    e.set_dirty(V);
    a
}

/// The flags and the value of a + b.
pub fn add<P: Profile>(e: &mut Emit<P>, a: Value, b: Value) -> Value {
    let value = e.b.ins().iadd(a, b);
    set_nz(e, value);
    e.lazy.flags = Flags { carry: Carry::Below([value, a]), overflow: Overflow::Sum([a, b, value]), compared: None };
    e.set_dirty(C);
    e.set_dirty(V);
    value
}

/// The flags and the value of a + b + C.
pub fn add_with_carry<P: Profile>(e: &mut Emit<P>, a: Value, b: Value) -> Value {
    let carry = carry(e);
    let [wide_a, wide_b, wide_carry] = [a, b, carry].map(|value| e.widen(value, false));
    let sum = e.b.ins().iadd(wide_a, wide_b);
    let sum = e.b.ins().iadd(sum, wide_carry);
    let [value, out] = e.words(sum);
    set_nz(e, value);
    set_carry_value(e, out);
    e.lazy.flags.overflow = Overflow::Sum([a, b, value]);
    e.set_dirty(V);
    value
}

/// C: 0 or 1.
pub fn carry<P: Profile>(e: &mut Emit<P>) -> Value {
    match e.lazy.flags.carry {
        Carry::Register => e.register(C),
        Carry::Fixed(carry) => e.constant(carry),
        Carry::NotBelow([a, b]) => e.compare(IntCC::UnsignedGreaterThanOrEqual, a, b),
        Carry::Below([a, b]) => e.compare(IntCC::UnsignedLessThan, a, b),
        Carry::Bit(value, at) => bit(e, value, at),
    }
}

/// A bit of a value: 0 or 1.
fn bit<P: Profile>(e: &mut Emit<P>, value: Value, at: u32) -> Value {
    let low = e.b.ins().ushr_imm(value, i64::from(at));
    e.b.ins().band_imm(low, 1)
}

/// V: 0 or 1.
fn overflow<P: Profile>(e: &mut Emit<P>) -> Value {
    let [a, b, value] = match e.lazy.flags.overflow {
        Overflow::Register => return e.register(V),
        Overflow::Fixed(overflow) => return e.constant(overflow),
        Overflow::Bit(value, at) => return bit(e, value, at),
        Overflow::Difference([a, b, value]) | Overflow::Sum([a, b, value]) => [a, b, value],
    };
    let from_a = e.b.ins().bxor(a, value);
    let other = match e.lazy.flags.overflow {
        Overflow::Sum(_) => e.b.ins().bxor(b, value),
        _ => e.b.ins().bxor(a, b),
    };
    let both = e.b.ins().band(from_a, other);
    e.b.ins().ushr_imm(both, 31)
}

/// The value for a flag's register, where that is out of date.
pub fn late_value<P: Profile>(e: &mut Emit<P>, register: u8) -> Option<Value> {
    match (register, e.lazy.flags.carry, e.lazy.flags.overflow) {
        (C, Carry::Register, _) | (V, _, Overflow::Register) => None,
        (C, ..) => Some(carry(e)),
        (V, ..) => Some(overflow(e)),
        _ => None,
    }
}

/// Computes C and V for code that is entered from several paths.
pub fn settle<P: Profile>(e: &mut Emit<P>) {
    for register in [C, V] {
        if let Some(value) = late_value(e, register) {
            e.set_register(register, value);
        }
    }
    e.lazy.flags = Flags::default();
}

/// True if a condition (0 to 15, as encoded; 14 and 15 are always) holds.
pub fn holds<P: Profile>(e: &mut Emit<P>, condition: u8) -> Value {
    let (kind, inverse) = (condition >> 1 & 7, condition & 1 != 0);
    if kind == 7 {
        return e.constant(1);
    }
    if let Some([a, b]) = e.lazy.flags.compared
        && let Some(compared) = compared(kind)
    {
        return e.b.ins().icmp(if inverse { compared.complement() } else { compared }, a, b);
    }
    let holds = match kind {
        0 => is_zero(e),
        1 => carry(e),
        2 => sign(e),
        3 => overflow(e),
        4 => {
            let (carry, zero) = (carry(e), is_zero(e));
            e.b.ins().band_not(carry, zero)
        }
        5 => at_least(e),
        _ => {
            let (at_least, zero) = (at_least(e), is_zero(e));
            e.b.ins().band_not(at_least, zero)
        }
    };
    if inverse { e.b.ins().bxor_imm(holds, 1) } else { holds }
}

/// The comparison of two values that a condition stands for, if there is one.
fn compared(kind: u8) -> Option<IntCC> {
    Some(match kind {
        0 => IntCC::Equal,
        1 => IntCC::UnsignedGreaterThanOrEqual,
        4 => IntCC::UnsignedGreaterThan,
        5 => IntCC::SignedGreaterThanOrEqual,
        6 => IntCC::SignedGreaterThan,
        _ => return None,
    })
}

fn is_zero<P: Profile>(e: &mut Emit<P>) -> Value {
    let value = e.register(Z_SOURCE);
    e.compare_imm(IntCC::Equal, value, 0)
}

fn sign<P: Profile>(e: &mut Emit<P>) -> Value {
    let value = e.register(N_SOURCE);
    e.b.ins().ushr_imm(value, 31)
}

/// N equals V.
fn at_least<P: Profile>(e: &mut Emit<P>) -> Value {
    let (sign, overflow) = (sign(e), overflow(e));
    let bit = e.b.ins().icmp(IntCC::Equal, sign, overflow);
    e.b.ins().uextend(I32, bit)
}
