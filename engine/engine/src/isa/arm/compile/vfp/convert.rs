//! Conversions between precisions, and from and to integers.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};

use super::super::super::architecture::Profile;
use super::super::Emit;
use super::Precision::{Double, Single};
use super::file::cast;
use super::guards::{is_plain, is_usual, is_zero, quickly, twice};
use super::{Instruction, read, write};

/// vcvt between single and double precision.
pub fn precision<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    if i.precision() == Single { widen(e, i) } else { narrow(e, i) }
}

fn narrow<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let m = read(e, Double.float(), i.m(Double));
    let result = e.b.ins().fdemote(F32, m);
    let plain = is_plain(e, Single, result);
    let zero = |e: &mut Emit<P>| {
        let (usual, zero) = (is_usual(e, Single), is_zero(e, Double, m));
        e.b.ins().band(usual, zero)
    };
    quickly(e, i, plain, Some(&zero), i.d(Single), |_| result);
}

/// Widening is always exact, so FPSCR does not matter for a normal number, or a zero.
fn widen<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let m = read(e, Single.float(), i.m(Single));
    let m_twice = twice(e, Single, m);
    let above = e.b.ins().iadd_imm(m_twice, -Single.twice(1));
    let plain = e.b.ins().icmp_imm(IntCC::UnsignedLessThan, above, Single.twice(Single.infinite() - 1));
    quickly(e, i, plain, Some(&|e| is_zero(e, Single, m)), i.d(Double), |e| e.b.ins().fpromote(F64, m));
}

/// vcvt of an integer: always exact in double precision; in single precision, exact up to 2^24.
pub fn of_integer<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let signed = i.bit(7);
    let word = read(e, I32, i.m(Single));
    let wide = e.widen(word, signed);
    let p = i.precision();
    if p == Double {
        let result = e.b.ins().fcvt_from_sint(F64, wide);
        return write(e, i.d(p), result);
    }
    let above = if signed { e.b.ins().iadd_imm(word, 1 << 24) } else { word };
    let least_too_large = if signed { (2 << 24) + 1 } else { (1 << 24) + 1 };
    let exact = e.b.ins().icmp_imm(IntCC::UnsignedLessThan, above, least_too_large);
    let usual = is_usual(e, p);
    let plain = e.b.ins().bor(exact, usual);
    quickly(e, i, plain, None, i.d(p), |e| e.b.ins().fcvt_from_sint(F32, wide));
}

/// vcvt to an integer, towards zero, of a number within its range: below 2^31, or for an unsigned integer below 2^32
/// and without a sign. A lost fraction is inexact.
pub fn to_integer<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let (p, signed) = (i.precision(), i.field(16) == 0b1101);
    let m = read(e, p.integer(), i.m(p));
    let magnitude = if signed { e.b.ins().ishl_imm(m, 1) } else { m };
    let limit = if signed { p.twice(p.one() + 31) } else { p.once(p.one() + 32) };
    let limit = e.b.ins().iconst(p.integer(), limit);
    let fits = e.b.ins().icmp(IntCC::UnsignedLessThan, magnitude, limit);
    let usual = is_usual(e, p);
    let plain = e.b.ins().band(fits, usual);
    quickly(e, i, plain, None, i.d(Single), |e| {
        let number = cast(e, p.float(), m);
        let wide = e.b.ins().fcvt_to_sint(I64, number);
        e.b.ins().ireduce(I32, wide)
    });
}
