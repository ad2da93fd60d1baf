//! 32-bit multiplications and divisions: A6.3.16, A6.3.17.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, or_zero, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::PC;

/// With a result of 32 bits. The program counter as the addend stands for no addend.
pub fn short(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, ra, rd, rm) = operands(encoding);
    not_pc(&[rn, rd, rm])?;
    only_if(bits(encoding, 7, 6) == 0)?;
    let variant = bits(encoding, 5, 4);
    let (media, parameter) = match (bits(encoding, 22, 20), variant) {
        (0, 0) if ra == PC => {
            emit.op(Code::Mul, rd, rn, rm, 0);
            return Some(TimingClass::Multiply);
        }
        (0, 0 | 1) => {
            only_if(ra != PC)?;
            emit.op4(if variant == 0 { Code::Mla } else { Code::Mls }, rd, rn, rm, ra, 0);
            return Some(TimingClass::Multiply);
        }
        (1, _) => (Media::Smlaxy, tops(variant)),
        (2, 0 | 1) => (Media::Smlad, variant),
        (3, 0 | 1) => (Media::Smlawy, variant << 1),
        (4, 0 | 1) => (Media::Smlsd, variant),
        (5, 0 | 1) => (Media::Smmla, variant),
        (6, 0 | 1) if ra != PC => (Media::Smmls, variant),
        (7, 0) => (Media::Usada8, 0),
        _ => return None,
    };
    Some(emit.media(media, [rd, rn, rm, or_zero(ra)], parameter))
}

/// With a result of 64 bits; and divisions.
pub fn long(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, low, high, rm) = operands(encoding);
    not_pc(&[rn, high, rm])?;
    let (kind, variant) = (bits(encoding, 22, 20), bits(encoding, 7, 4));
    if let (1 | 3, 15) = (kind, variant) {
        // The result is in the field of the upper half.
        only_if(emit.features.divide && low == PC)?;
        if emit.features.traps_division {
            emit.op(Code::TrapIfZero, 0, 0, rm, 0);
        }
        if emit.features.ends_division_early {
            emit.op(Code::EndEarly, rn, rn, rm, u32::from(kind == 1));
        }
        emit.op(if kind == 1 { Code::Sdiv } else { Code::Udiv }, high, rn, rm, 0);
        return Some(TimingClass::Divide);
    }
    not_pc(&[low])?;
    only_if(low != high)?;
    let code = match (kind, variant) {
        (0, 0) => Code::Smull,
        (2, 0) => Code::Umull,
        (4, 0) => Code::Smlal,
        (6, 0) => Code::Umlal,
        (6, 6) => Code::Umaal,
        (4, 8..=11) => return Some(emit.media(Media::Smlalxy, [low, rn, rm, high], tops(variant))),
        (4, 12 | 13) => return Some(emit.media(Media::Smlald, [low, rn, rm, high], variant & 1)),
        (5, 12 | 13) => return Some(emit.media(Media::Smlsld, [low, rn, rm, high], variant & 1)),
        _ => return None,
    };
    emit.op4(code, low, rn, rm, high, 0);
    Some(TimingClass::MultiplyLong)
}

/// Rn, bits 15:12, bits 11:8, Rm.
fn operands(encoding: u32) -> (u8, u8, u8, u8) {
    (register(encoding, 16), register(encoding, 12), register(encoding, 8), register(encoding, 0))
}

/// Operands whose top halves are used: N and M, in the opposite order of the encoding.
fn tops(variant: u32) -> u32 {
    u32::from(bit(variant, 1)) | u32::from(bit(variant, 0)) << 1
}
