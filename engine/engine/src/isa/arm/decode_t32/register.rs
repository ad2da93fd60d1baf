//! 32-bit data processing with registers: A6.3.12 to A6.3.15.

use super::operand::shift_register;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};

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
    Some(shift_register(emit, bit(encoding, 20), rd, rn, bits(encoding, 22, 21), rm))
}

/// sxtb and similar extensions of a rotated register; those that add have a first operand.
fn extend(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let registers = [8, 16, 0].map(|low| register(encoding, low));
    let rotation = bits(encoding, 5, 4) * 8;
    Some(match bits(encoding, 22, 20) {
        0 => emit.extend(Code::Sxth, registers, rotation),
        1 => emit.extend(Code::Uxth, registers, rotation),
        2 => emit.extend_halves(Media::Sxtab16, registers, rotation),
        3 => emit.extend_halves(Media::Uxtab16, registers, rotation),
        4 => emit.extend(Code::Sxtb, registers, rotation),
        5 => emit.extend(Code::Uxtb, registers, rotation),
        _ => return None,
    })
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
    Some(emit.media(Media::Parallel, [rd, rn, rm, 0], kind | what << 4))
}

/// Saturating arithmetic, reversals, sel and clz. Instructions with one operand encode it twice.
fn miscellaneous(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, rm) = (register(encoding, 16), register(encoding, 8), register(encoding, 0));
    not_pc(&[rn])?;
    let code = match (bits(encoding, 22, 20), bits(encoding, 5, 4)) {
        (0, 0) => return Some(emit.media(Media::Qadd, [rd, rn, rm, 0], 0)),
        (0, 1) => return Some(emit.media(Media::Qdadd, [rd, rn, rm, 0], 0)),
        (0, 2) => return Some(emit.media(Media::Qsub, [rd, rn, rm, 0], 0)),
        (0, 3) => return Some(emit.media(Media::Qdsub, [rd, rn, rm, 0], 0)),
        (2, 0) => return Some(emit.media(Media::Sel, [rd, rn, rm, 0], 0)),
        (1, 0) => Code::Rev,
        (1, 1) => Code::Rev16,
        (1, 2) => Code::Rbit,
        (1, 3) => Code::Revsh,
        (3, 0) => Code::Clz,
        _ => return None,
    };
    only_if(rn == rm)?;
    emit.op(code, rd, 0, rm, 0);
    Some(TimingClass::Alu)
}
