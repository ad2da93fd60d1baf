//! Media instructions: ARM DDI 0406C, section A5.4.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, or_zero, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::PC;

/// Bits 27:25 = 011, bit 4 set, by bits 24:23.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    match bits(encoding, 24, 23) {
        0b00 => parallel(emit, encoding),
        0b01 => packing(emit, encoding),
        0b10 => multiply(emit, encoding),
        _ => bit_fields(emit, encoding),
    }
}

/// sadd16 and all the others.
fn parallel(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rn, rd, rm] = [16, 12, 0].map(|low| register(encoding, low));
    not_pc(&[rn, rd, rm])?;
    only_if(bits(encoding, 11, 8) == 15)?;
    let kind = match bits(encoding, 22, 20) {
        0 | 4 => return None,
        signed @ 1..4 => signed - 1,
        unsigned => unsigned - 2,
    };
    let what = match bits(encoding, 7, 5) {
        simple @ 0..5 => simple,
        7 => 5,
        _ => return None,
    };
    Some(emit.media(Media::Parallel, [rd, rn, rm, 0], kind | what << 4))
}

/// Packing, saturation, extension, reversal.
fn packing(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rn, rd, rm] = [16, 12, 0].map(|low| register(encoding, low));
    not_pc(&[rd, rm])?;
    let (group, operation) = (bits(encoding, 22, 20), bits(encoding, 7, 5));
    match (group, operation) {
        (0b000, _) if operation & 1 == 0 => {
            not_pc(&[rn])?;
            let (media, shift) = if bit(encoding, 6) { (Media::Pkhtb, 2) } else { (Media::Pkhbt, 0) };
            let shifted = emit.shifted(false, rm, shift, bits(encoding, 11, 7));
            Some(emit.media(media, [rd, rn, shifted, 0], 0))
        }
        (0b010 | 0b011 | 0b110 | 0b111, _) if operation & 1 == 0 => {
            let media = if bit(encoding, 22) { Media::Usat } else { Media::Ssat };
            let shifted = emit.shifted(false, rm, bits(encoding, 6, 5) & 2, bits(encoding, 11, 7));
            Some(emit.saturate(media, rd, shifted, bits(encoding, 20, 16)))
        }
        (_, 0b011) => extend(emit, encoding, group),
        _ if bits(encoding, 11, 8) != 15 => None,
        (0b000, 0b101) => {
            not_pc(&[rn])?;
            Some(emit.media(Media::Sel, [rd, rn, rm, 0], 0))
        }
        (0b010, 0b001) => Some(emit.saturate(Media::Ssat16, rd, rm, bits(encoding, 19, 16))),
        (0b110, 0b001) => Some(emit.saturate(Media::Usat16, rd, rm, bits(encoding, 19, 16))),
        (0b011 | 0b111, 0b001 | 0b101) => {
            only_if(rn == 15)?;
            let code = match (group, operation) {
                (0b011, 0b001) => Code::Rev,
                (0b011, _) => Code::Rev16,
                (_, 0b001) => Code::Rbit,
                _ => Code::Revsh,
            };
            emit.op(code, rd, 0, rm, 0);
            Some(TimingClass::Alu)
        }
        _ => None,
    }
}

/// sxtb, sxtab, sxth, sxtah, sxtb16, sxtab16 and the unsigned ones: bits 11:10 rotate, rn = 15 adds nothing.
fn extend(emit: &mut Emit, encoding: u32, group: u32) -> Option<TimingClass> {
    let registers = [12, 16, 0].map(|low| register(encoding, low));
    only_if(bits(encoding, 9, 8) == 0)?;
    let rotation = 8 * bits(encoding, 11, 10);
    Some(match group {
        0b000 => emit.extend_halves(Media::Sxtab16, registers, rotation),
        0b100 => emit.extend_halves(Media::Uxtab16, registers, rotation),
        0b010 => emit.extend(Code::Sxtb, registers, rotation),
        0b011 => emit.extend(Code::Sxth, registers, rotation),
        0b110 => emit.extend(Code::Uxtb, registers, rotation),
        0b111 => emit.extend(Code::Uxth, registers, rotation),
        _ => return None,
    })
}

/// Dual and most significant word multiplications; divisions.
fn multiply(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rd, ra, rm, rn] = [16, 12, 8, 0].map(|low| register(encoding, low));
    not_pc(&[rd, rm, rn])?;
    let swaps_or_rounds = bits(encoding, 5, 5);
    let media = match (bits(encoding, 22, 20), bits(encoding, 7, 6)) {
        (0b000, 0b00) => Media::Smlad,
        (0b000, 0b01) => Media::Smlsd,
        (0b001 | 0b011, 0b00) => return divide(emit, encoding),
        (0b100, 0b00) if ra != PC && ra != rd => Media::Smlald,
        (0b100, 0b01) if ra != PC && ra != rd => Media::Smlsld,
        (0b101, 0b00) => Media::Smmla,
        (0b101, 0b11) if ra != PC => Media::Smmls,
        _ => return None,
    };
    // Of 64 bits, the low word is in bits 15:12, the high one in 19:16.
    let (rd, ra) = if media.class() == TimingClass::MultiplyLong { (ra, rd) } else { (rd, or_zero(ra)) };
    Some(emit.media(media, [rd, rn, rm, ra], swaps_or_rounds))
}

/// sdiv, udiv.
fn divide(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rd, rm, rn] = [16, 8, 0].map(|low| register(encoding, low));
    only_if(emit.features.divide && !bit(encoding, 5) && bits(encoding, 15, 12) == 15)?;
    emit.op(if bit(encoding, 21) { Code::Udiv } else { Code::Sdiv }, rd, rn, rm, 0);
    Some(TimingClass::Divide)
}

/// usad8, usada8; sbfx, ubfx, bfc, bfi.
fn bit_fields(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (group, operation) = (bits(encoding, 22, 20), bits(encoding, 7, 5));
    if (group, operation) == (0b000, 0b000) {
        let [rd, ra, rm, rn] = [16, 12, 8, 0].map(|low| register(encoding, low));
        not_pc(&[rd, rm, rn])?;
        return Some(emit.media(Media::Usada8, [rd, rn, rm, or_zero(ra)], 0));
    }
    let [rd, rn] = [12, 0].map(|low| register(encoding, low));
    let (lowest, other) = (bits(encoding, 11, 7), bits(encoding, 20, 16));
    not_pc(&[rd])?;
    match (group >> 1, operation & 3) {
        (0b01, 0b10) => emit.extract(Code::Sbfx, rd, rn, lowest, other + 1),
        (0b11, 0b10) => emit.extract(Code::Ubfx, rd, rn, lowest, other + 1),
        (0b10, 0b00) => emit.insert(rd, rn, lowest, other),
        _ => None,
    }
}
