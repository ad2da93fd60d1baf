//! Moves, and changes of a sign.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::types::{I32, I64};

use super::super::super::architecture::Profile;
use super::super::super::registers::PC;
use super::super::super::vfp::expand;
use super::super::{Emit, FPSCR, flags, register, set};
use super::{Double, Instruction, Single, read, write};

/// vmov of an immediate.
pub fn immediate<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let p = i.precision();
    let imm8 = i.op.imm >> 12 & 0xf0 | i.op.imm & 15;
    let value = e.b.ins().iconst(p.integer(), expand(imm8, p == Double) as i64);
    write(e, i.d(p), value);
}

/// vmov, vabs, vneg.
pub fn sign<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let p = i.precision();
    let m = read(e, p.integer(), i.m(p));
    let result = match (i.field(16), i.bit(7)) {
        (0b0000, false) => m,
        (0b0000, true) => e.b.ins().band_imm(m, !p.sign()),
        _ => e.b.ins().bxor_imm(m, p.sign()),
    };
    write(e, i.d(p), result);
}

/// vmov of a general register and a single, or half a double: bit 21 is the upper one.
pub fn one<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let word = if i.bit(8) { i.n(Double) | u32::from(i.bit(21)) } else { i.n(Single) };
    if i.bit(20) {
        let value = read(e, I32, word);
        set(e, i.op.rd, value);
    } else {
        let value = register(e, i.op.rd);
        write(e, word, value);
    }
}

/// vmov of two general registers and two singles, or a double.
pub fn two<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let first = i.m(i.precision());
    let (numbers, words) = ([i.op.rd, i.op.ra], [first, (first + 1) & 63]);
    if i.bit(20) {
        let values = words.map(|word| read(e, I32, word));
        numbers.into_iter().zip(values).for_each(|(number, value)| set(e, number, value));
        return;
    }
    let values = numbers.map(|number| register(e, number));
    if i.precision() == Single {
        return words.into_iter().zip(values).for_each(|(word, value)| write(e, word, value));
    }
    // In one access, so that the host can forward it in one piece.
    let [low, high] = values.map(|value| e.b.ins().uextend(I64, value));
    let high = e.b.ins().ishl_imm(high, 32);
    let wide = e.b.ins().bor(low, high);
    write(e, first, wide);
}

/// vmrs of FPSCR.
pub fn status<P: Profile>(e: &mut Emit<P>, i: Instruction) {
    let fpscr = e.register(FPSCR);
    if i.op.rd == PC { flags::set_nzcv(e, fpscr) } else { set(e, i.op.rd, fpscr) }
}
