//! The instructions of [`Code::Media`](super::op::Code::Media): saturating, parallel and packing instructions, and
//! multiplications of halves.
//!
//! ARM DDI 0406C, section A4.4 and chapter A8. In words of two halves or four bytes, each part is a lane.

use super::alu::{Registers, pair};
use super::op::{Media, Op};
use super::registers::{GE, Q};

/// Executes a media micro-operation.
pub fn execute(x: &mut Registers, op: &Op) {
    use Media::*;
    let [a, b, c] = [op.rn, op.rm, op.ra].map(|register| x[usize::from(register)]);
    let (first, second) = (op.imm >> 8 & 1 != 0, op.imm >> 9 & 1 != 0);
    let value = match Media::of(op.imm) {
        Qadd => saturated(x, signed(b) + signed(a), 32),
        Qsub => saturated(x, signed(b) - signed(a), 32),
        Qdadd => doubled(x, a, |twice| signed(b) + twice),
        Qdsub => doubled(x, a, |twice| signed(b) - twice),
        Ssat => saturated(x, signed(b), op.imm >> 8),
        Usat => saturated_unsigned(x, signed(b), op.imm >> 8),
        Ssat16 => halves(|lane| saturated(x, signed_half(b, lane), op.imm >> 8)),
        Usat16 => halves(|lane| saturated_unsigned(x, signed_half(b, lane), op.imm >> 8)),
        Parallel => parallel(x, a, b, op.imm),
        Sel => selected(x, a, b),
        Usada8 => c.wrapping_add((0..4).map(|lane| byte(a, lane).abs_diff(byte(b, lane))).sum()),
        Sxtab16 => halves(|lane| half(a, lane).wrapping_add(byte(b, 2 * lane) as i8 as u32)),
        Uxtab16 => halves(|lane| half(a, lane).wrapping_add(byte(b, 2 * lane))),
        Smlaxy => accumulated(x, c, product(a, first, b, second)),
        Smlawy => accumulated(x, c, (signed(a) * signed_half(b, u32::from(second))) >> 16),
        Smlalxy => return accumulated_long(x, op, product(a, first, b, second)),
        Smlad => accumulated(x, c, sum_of_products(a, b, first)),
        Smlsd => accumulated(x, c, difference_of_products(a, b, first)),
        Smlald => return accumulated_long(x, op, sum_of_products(a, b, first)),
        Smlsld => return accumulated_long(x, op, difference_of_products(a, b, first)),
        Smmla => top_word(pair(0, c).wrapping_add((signed(a) * signed(b)) as u64), first),
        Smmls => top_word(pair(0, c).wrapping_sub((signed(a) * signed(b)) as u64), first),
        Pkhbt => b & 0xffff_0000 | a & 0xffff,
        Pkhtb => a & 0xffff_0000 | b & 0xffff,
    };
    x[usize::from(op.rd)] = value;
}

fn signed(word: u32) -> i64 {
    i64::from(word as i32)
}

/// Lane 0 or 1 of a word.
fn half(word: u32, lane: u32) -> u32 {
    word >> (16 * lane) & 0xffff
}

fn signed_half(word: u32, lane: u32) -> i64 {
    i64::from(half(word, lane) as i16)
}

/// Lane 0 to 3 of a word.
fn byte(word: u32, lane: u32) -> u32 {
    word >> (8 * lane) & 0xff
}

/// A word of two halves: the low 16 bits of each.
fn halves(mut lane: impl FnMut(u32) -> u32) -> u32 {
    let low = lane(0) & 0xffff;
    low | lane(1) << 16
}

/// The nearest signed number of `bits` bits; sets Q if it differs.
fn saturated(x: &mut Registers, value: i64, bits: u32) -> u32 {
    let most = (1i64 << (bits - 1)) - 1;
    limited(x, value, -most - 1, most)
}

/// The nearest unsigned number of `bits` bits; sets Q if it differs.
fn saturated_unsigned(x: &mut Registers, value: i64, bits: u32) -> u32 {
    limited(x, value, 0, (1i64 << bits) - 1)
}

fn limited(x: &mut Registers, value: i64, least: i64, most: i64) -> u32 {
    let limited = value.clamp(least, most);
    if limited != value {
        x[usize::from(Q)] = 1;
    }
    limited as u32
}

/// Twice `a`, saturated, passed to `using`, saturated again.
fn doubled(x: &mut Registers, a: u32, using: impl Fn(i64) -> i64) -> u32 {
    let twice = saturated(x, 2 * signed(a), 32);
    saturated(x, using(signed(twice)), 32)
}

/// Bytes of `a` where GE is set, else of `b`.
fn selected(x: &Registers, a: u32, b: u32) -> u32 {
    // One bit per lane, moved to the lowest bit of each byte.
    let lanes = x[usize::from(GE)].wrapping_mul(0x0020_4081) & 0x0101_0101;
    let mask = lanes * 0xff;
    a & mask | b & !mask
}

fn product(a: u32, a_top: bool, b: u32, b_top: bool) -> i64 {
    signed_half(a, u32::from(a_top)) * signed_half(b, u32::from(b_top))
}

fn sum_of_products(a: u32, b: u32, swaps: bool) -> i64 {
    product(a, false, b, swaps) + product(a, true, b, !swaps)
}

fn difference_of_products(a: u32, b: u32, swaps: bool) -> i64 {
    product(a, false, b, swaps) - product(a, true, b, !swaps)
}

/// `c` + `value`, which wraps; sets Q if it does.
fn accumulated(x: &mut Registers, c: u32, value: i64) -> u32 {
    let sum = signed(c) + value;
    if sum != i64::from(sum as i32) {
        x[usize::from(Q)] = 1;
    }
    sum as u32
}

/// Adds to the 64 bits of x[rd] (low) and x[ra] (high).
fn accumulated_long(x: &mut Registers, op: &Op, value: i64) {
    let (low, high) = (usize::from(op.rd), usize::from(op.ra));
    let sum = pair(x[low], x[high]).wrapping_add(value as u64);
    (x[low], x[high]) = (sum as u32, (sum >> 32) as u32);
}

fn top_word(value: u64, rounds: bool) -> u32 {
    let half = if rounds { 1 << 31 } else { 0 };
    (value.wrapping_add(half) >> 32) as u32
}

/// Parallel addition and subtraction: kind and operation in `imm`, as encoded by [`Media::Parallel`]. The plain kinds
/// set GE: for signed ones where the result isn't negative, for unsigned ones where a sum carries or a difference
/// doesn't borrow.
fn parallel(x: &mut Registers, a: u32, b: u32, imm: u32) -> u32 {
    const SIGNED: u32 = 0;
    const SIGNED_SATURATING: u32 = 1;
    const SIGNED_HALVING: u32 = 2;
    const UNSIGNED: u32 = 3;
    const UNSIGNED_SATURATING: u32 = 4;
    let (kind, operation) = (imm >> 8 & 7, imm >> 12 & 7);
    let is_signed = kind <= SIGNED_HALVING;
    let lane_bits = if operation >= 4 { 8 } else { 16 };
    let (mut result, mut ge) = (0, 0);
    for lane in 0..32 / lane_bits {
        // Halves exchange their operands in asx, which subtracts in the low one, and in sax, which adds there.
        let (other, subtracts) = match operation {
            0 | 4 => (lane, false),
            1 => (1 - lane, lane == 0),
            2 => (1 - lane, lane == 1),
            _ => (lane, true),
        };
        let (a, b) = (lane_of(a, lane, lane_bits, is_signed), lane_of(b, other, lane_bits, is_signed));
        let exact = if subtracts { a - b } else { a + b };
        let (most_signed, ones) = ((1 << (lane_bits - 1)) - 1, (1 << lane_bits) - 1);
        let value = match kind {
            SIGNED | UNSIGNED => exact,
            SIGNED_SATURATING => exact.clamp(-most_signed - 1, most_signed),
            UNSIGNED_SATURATING => exact.clamp(0, ones),
            _ => exact >> 1,
        };
        let sets_ge = if is_signed || subtracts { exact >= 0 } else { exact > ones };
        let lane_ge = if lane_bits == 8 { 1 } else { 3 };
        ge |= if sets_ge { lane_ge << (lane * lane_bits / 8) } else { 0 };
        result |= ((value & ones) as u32) << (lane * lane_bits);
    }
    if kind == SIGNED || kind == UNSIGNED {
        x[usize::from(GE)] = ge;
    }
    result
}

fn lane_of(word: u32, lane: u32, lane_bits: u32, is_signed: bool) -> i32 {
    let above = 32 - lane_bits;
    let moved = word << (above - lane * lane_bits);
    if is_signed { moved as i32 >> above } else { (moved >> above) as i32 }
}

#[cfg(test)]
mod tests;
