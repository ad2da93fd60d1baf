//! Sums, products, quotients, square roots, comparisons.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::super::architecture::Profile;
use super::super::{Emit, FPSCR};
use super::guards::{call, is_plain, is_usual, is_zero, leave_to_call, quickly, twice};
use super::{FLUSH, Instruction, Precision, read};

/// FPSCR's N, Z and C.
const N: u32 = 1 << 31;
const Z: u32 = 1 << 30;
const C: u32 = 1 << 29;

/// vmla, vmls, vnmla, vnmls; vmul, vnmul; vadd, vsub; vdiv.
pub fn emit<P: Profile>(e: &mut Emit<P>, i: Instruction, opcode: u32) {
    match (opcode, i.bit(6)) {
        (0b0000 | 0b0001, negated) => accumulate(e, i, opcode == 0b0001, negated),
        (0b0010, negated) => multiply(e, i, negated),
        (0b0011, subtract) => add(e, i, subtract),
        (0b1000, false) => divide(e, i),
        _ => leave_to_call(e, i),
    }
}

fn operands<P: Profile>(e: &mut Emit<P>, i: Instruction) -> [Value; 2] {
    let p = i.precision();
    [i.n(p), i.m(p)].map(|word| read(e, p.float(), word))
}

/// A zero sum or difference is exact if the terms have equal magnitude, and are no denormals.
fn add<P: Profile>(e: &mut Emit<P>, i: Instruction, subtract: bool) {
    let (p, [n, m]) = (i.precision(), operands(e, i));
    let sum = if subtract { e.b.ins().fsub(n, m) } else { e.b.ins().fadd(n, m) };
    let plain = is_plain(e, p, sum);
    let zero = |e: &mut Emit<P>| {
        let (usual, cancelled) = (is_usual(e, p), is_cancelled(e, p, [n, m], sum));
        e.b.ins().band(usual, cancelled)
    };
    quickly(e, i, plain, Some(&zero), i.d(p), |_| sum);
}

/// True for a zero sum whose terms have equal magnitude, and are zeros or large enough.
fn is_cancelled<P: Profile>(e: &mut Emit<P>, p: Precision, terms: [Value; 2], sum: Value) -> Value {
    let zero = is_zero(e, p, sum);
    let [a, b] = terms.map(|term| twice(e, p, term));
    let same = e.b.ins().icmp(IntCC::Equal, a, b);
    let large = is_large(e, p, a);
    let none = e.b.ins().icmp_imm(IntCC::Equal, a, 0);
    let sound = e.b.ins().bor(large, none);
    let zero = e.b.ins().band(zero, same);
    e.b.ins().band(zero, sound)
}

/// True if a number is large enough; `twice` is its [`twice`].
fn is_large<P: Profile>(e: &mut Emit<P>, p: Precision, twice: Value) -> Value {
    let least = e.b.ins().iconst(p.integer(), p.twice(p.least()));
    e.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, twice, least)
}

/// A zero product is exact if a factor is zero.
fn multiply<P: Profile>(e: &mut Emit<P>, i: Instruction, negated: bool) {
    let (p, [n, m]) = (i.precision(), operands(e, i));
    let product = e.b.ins().fmul(n, m);
    let plain = is_plain(e, p, product);
    let zero = |e: &mut Emit<P>| {
        let (usual, zero, has_zero) = (is_usual(e, p), is_zero(e, p, product), either_is_zero(e, p, [n, m]));
        let usual = e.b.ins().band(usual, zero);
        e.b.ins().band(usual, has_zero)
    };
    quickly(e, i, plain, Some(&zero), i.d(p), |e| if negated { e.b.ins().fneg(product) } else { product });
}

fn either_is_zero<P: Profile>(e: &mut Emit<P>, p: Precision, numbers: [Value; 2]) -> Value {
    let [a, b] = numbers.map(|number| is_zero(e, p, number));
    e.b.ins().bor(a, b)
}

/// With two roundings: the product has to be large enough, too, or zero because a factor is. If it is not finite, the
/// sum is not finite either.
fn accumulate<P: Profile>(e: &mut Emit<P>, i: Instruction, from_negative: bool, negated: bool) {
    let (p, [n, m]) = (i.precision(), operands(e, i));
    let d = read(e, p.float(), i.d(p));
    let product = e.b.ins().fmul(n, m);
    let sum = match (from_negative, negated) {
        (false, false) => e.b.ins().fadd(d, product),
        (false, true) => e.b.ins().fsub(d, product),
        (true, false) => e.b.ins().fsub(product, d),
        (true, true) => {
            let negative = e.b.ins().fneg(d);
            e.b.ins().fsub(negative, product)
        }
    };
    let product_twice = twice(e, p, product);
    let large = is_large(e, p, product_twice);
    let plain_sum = is_plain(e, p, sum);
    let plain = e.b.ins().band(large, plain_sum);
    let zero = |e: &mut Emit<P>| {
        let has_zero = either_is_zero(e, p, [n, m]);
        let sound = e.b.ins().bor(large, has_zero);
        let (usual, cancelled) = (is_usual(e, p), is_cancelled(e, p, [d, product], sum));
        let cancelled = e.b.ins().band(usual, cancelled);
        let sum = e.b.ins().bor(plain_sum, cancelled);
        e.b.ins().band(sound, sum)
    };
    quickly(e, i, plain, Some(&zero), i.d(p), |_| sum);
}

/// A zero quotient is exact if the dividend is zero: with a zero divisor, it would be a NaN.
fn divide<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let (p, [n, m]) = (i.precision(), operands(e, i));
    let quotient = e.b.ins().fdiv(n, m);
    let plain = is_plain(e, p, quotient);
    let zero = |e: &mut Emit<P>| {
        let (usual, zero, no_dividend) = (is_usual(e, p), is_zero(e, p, quotient), is_zero(e, p, n));
        let usual = e.b.ins().band(usual, zero);
        e.b.ins().band(usual, no_dividend)
    };
    quickly(e, i, plain, Some(&zero), i.d(p), |_| quotient);
}

/// The root of a zero is itself.
pub fn square_root<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let p = i.precision();
    let m = read(e, p.float(), i.m(p));
    let root = e.b.ins().sqrt(m);
    let plain = is_plain(e, p, root);
    let zero = |e: &mut Emit<P>| {
        let (usual, zero) = (is_usual(e, p), is_zero(e, p, m));
        e.b.ins().band(usual, zero)
    };
    quickly(e, i, plain, Some(&zero), i.d(p), |_| root);
}

/// vcmp and vcmpe, with a register or zero, for operands that are not NaNs: done in integers, where denormals need no
/// special treatment. FZ would flush them to zero. No cumulative flag is set, and the rounding mode does not matter.
pub fn compare<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let p = i.precision();
    let d = read(e, p.integer(), i.d(p));
    let with_zero = i.field(16) == 0b0101;
    let m = if with_zero { e.b.ins().iconst(p.integer(), 0) } else { read(e, p.integer(), i.m(p)) };
    let fpscr = e.register(FPSCR);
    let flush = e.b.ins().band_imm(fpscr, i64::from(FLUSH));
    let mut plain = e.b.ins().icmp_imm(IntCC::Equal, flush, 0);
    let infinity = e.b.ins().iconst(p.integer(), p.twice(p.infinite()));
    for number in if with_zero { vec![d] } else { vec![d, m] } {
        let twice = e.b.ins().ishl_imm(number, 1);
        let is_number = e.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, twice, infinity);
        plain = e.b.ins().band(plain, is_number);
    }
    let [quick, slow] = e.fork(plain);
    let after = e.b.create_block();
    e.b.set_cold_block(slow);
    e.b.switch_to_block(slow);
    call(e, i);
    e.b.ins().jump(after, &[]);
    e.b.switch_to_block(quick);
    let a = order(e, p, d);
    let b = if with_zero { m } else { order(e, p, m) };
    let [n, zc, c] = [N, Z | C, C].map(|flags| e.constant(flags));
    let less = e.b.ins().icmp(IntCC::SignedLessThan, a, b);
    let equal = e.b.ins().icmp(IntCC::Equal, a, b);
    let flags = e.b.ins().select(equal, zc, c);
    let flags = e.b.ins().select(less, n, flags);
    let others = e.b.ins().band_imm(fpscr, 0x0fff_ffff);
    let fpscr = e.b.ins().bor(others, flags);
    e.set_register(FPSCR, fpscr);
    e.b.ins().jump(after, &[]);
    e.b.seal_block(after);
    e.b.switch_to_block(after);
}

/// An integer with the same order as the numbers: the magnitude, with the sign.
fn order<P: Profile>(e: &mut Emit<P>, p: Precision, bits: Value) -> Value {
    let magnitude = e.b.ins().band_imm(bits, !p.sign());
    let sign = e.b.ins().sshr_imm(bits, i64::from(p.integer().bits()) - 1);
    let turned = e.b.ins().bxor(magnitude, sign);
    e.b.ins().isub(turned, sign)
}
