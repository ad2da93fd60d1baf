//! 32-bit data processing with registers: A6.3.12 to A6.3.15.

use super::operand::{shift_by_register, test_shifted};
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, ZERO};

/// Shifts by a register, extensions, parallel and saturating arithmetic, reversals.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    only_if(bits(encoding, 15, 12) == 15)?;
    not_pc(&[register(encoding, 8), register(encoding, 0)])?;
    match (bit(encoding, 23), bits(encoding, 7, 6)) {
        (false, 0) if bits(encoding, 5, 4) == 0 => shift(emit, encoding),
        (false, 2) => extend(emit, encoding),
        (true, 0 | 1) => parallel(emit, encoding),
        (true, 2) => miscellaneous(emit, encoding),
        _ => None,
    }
}

fn shift(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, rm) = (register(encoding, 16), register(encoding, 8), register(encoding, 0));
    not_pc(&[rn])?;
    let flags = bit(encoding, 20);
    shift_by_register(emit, flags, rd, rn, bits(encoding, 22, 21), rm);
    if flags {
        test_shifted(emit, rd);
    }
    Some(TimingClass::AluShiftRegister)
}

/// sxtb and the like of a rotated register; those that add have a first operand.
fn extend(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, rm) = (register(encoding, 16), register(encoding, 8), register(encoding, 0));
    let rotation = bits(encoding, 5, 4) * 8;
    let mut operand = rm;
    if rotation != 0 {
        emit.op(Code::RorImm, OPERAND, 0, rm, rotation);
        operand = OPERAND;
    }
    let halves = |media: Media| (Code::Media, media as u32);
    let (code, imm) = match bits(encoding, 22, 20) {
        0 => (Code::Sxth, 0),
        1 => (Code::Uxth, 0),
        2 => halves(Media::Sxtab16),
        3 => halves(Media::Uxtab16),
        4 => (Code::Sxtb, 0),
        5 => (Code::Uxtb, 0),
        _ => return None,
    };
    if code == Code::Media {
        emit.op(code, rd, if rn == PC { ZERO } else { rn }, operand, imm);
        return Some(TimingClass::Media);
    }
    if rn == PC {
        emit.op(code, rd, 0, operand, 0);
    } else {
        emit.op(code, OPERAND, 0, operand, 0);
        emit.op(Code::Add, rd, rn, OPERAND, 0);
    }
    Some(if rn == PC && rotation == 0 { TimingClass::Alu } else { TimingClass::AluShift })
}

fn parallel(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, rm) = (register(encoding, 16), register(encoding, 8), register(encoding, 0));
    not_pc(&[rn])?;
    only_if(bits(encoding, 5, 4) != 3)?;
    let kind = bits(encoding, 5, 4) + 3 * bits(encoding, 6, 6);
    let what = match bits(encoding, 22, 20) {
        1 => 0,
        2 => 1,
        6 => 2,
        5 => 3,
        0 => 4,
        4 => 5,
        _ => return None,
    };
    emit.op(Code::Media, rd, rn, rm, Media::Parallel as u32 | kind << 8 | what << 12);
    Some(TimingClass::Media)
}

/// Saturating arithmetic, reversals, sel and clz. Those of one operand have it twice.
fn miscellaneous(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, rm) = (register(encoding, 16), register(encoding, 8), register(encoding, 0));
    not_pc(&[rn])?;
    let of_two = |media: Media| (Code::Media, media as u32);
    let (code, imm) = match (bits(encoding, 22, 20), bits(encoding, 5, 4)) {
        (0, 0) => of_two(Media::Qadd),
        (0, 1) => of_two(Media::Qdadd),
        (0, 2) => of_two(Media::Qsub),
        (0, 3) => of_two(Media::Qdsub),
        (1, 0) => (Code::Rev, 0),
        (1, 1) => (Code::Rev16, 0),
        (1, 2) => (Code::Rbit, 0),
        (1, 3) => (Code::Revsh, 0),
        (2, 0) => of_two(Media::Sel),
        (3, 0) => (Code::Clz, 0),
        _ => return None,
    };
    if code == Code::Media {
        emit.op(code, rd, rn, rm, imm);
        return Some(TimingClass::Media);
    }
    only_if(rn == rm)?;
    emit.op(code, rd, 0, rm, 0);
    Some(TimingClass::Alu)
}
