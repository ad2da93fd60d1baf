//! Multiplications: ARM DDI 0406C, sections A5.2.5 and A5.2.7.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::ZERO;

/// mul, mla, umaal, mls, umull, umlal, smull, smlal.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rd, ra, rm, rn] = [16, 12, 8, 0].map(|low| register(encoding, low));
    let s = bit(encoding, 20);
    let (code, is_long) = match bits(encoding, 23, 21) {
        0b000 => (Code::Mul, false),
        0b001 => (Code::Mla, false),
        0b010 => (Code::Umaal, true),
        0b011 => (Code::Mls, false),
        0b100 => (Code::Umull, true),
        0b101 => (Code::Umlal, true),
        0b110 => (Code::Smull, true),
        _ => (Code::Smlal, true),
    };
    not_pc(&[rd, ra, rm, rn])?;
    only_if(!(matches!(code, Code::Umaal | Code::Mls) && s || code == Code::Mul && ra != 0))?;
    if is_long {
        let (low, high) = (ra, rd);
        only_if(low != high)?;
        emit.op4(code, low, rn, rm, high, 0);
        if s {
            emit.op(Code::TestNz64, 0, high, low, 0);
        }
        return Some(TimingClass::MultiplyLong);
    }
    emit.op4(code, rd, rn, rm, ra, 0);
    emit.test(s, rd);
    Some(TimingClass::Multiply)
}

/// smlaxy, smlawy, smulwy, smlalxy, smulxy.
pub fn halfwords(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rd, ra, rm, rn] = [16, 12, 8, 0].map(|low| register(encoding, low));
    not_pc(&[rd, ra, rm, rn])?;
    let (bit5, bit6) = (bits(encoding, 5, 5), bits(encoding, 6, 6));
    let halves = bit5 | bit6 << 1;
    Some(match (bits(encoding, 22, 21), bit5) {
        (0b00, _) => emit.media(Media::Smlaxy, [rd, rn, rm, ra], halves),
        (0b01, 0) => emit.media(Media::Smlawy, [rd, rn, rm, ra], bit6 << 1),
        (0b01, _) if ra == 0 => emit.media(Media::Smlawy, [rd, rn, rm, ZERO], bit6 << 1),
        (0b11, _) if ra == 0 => emit.media(Media::Smlaxy, [rd, rn, rm, ZERO], halves),
        // The low word is in bits 15:12, the high one in 19:16.
        (0b10, _) if rd != ra => emit.media(Media::Smlalxy, [ra, rn, rm, rd], halves),
        _ => return None,
    })
}
