//! Media instructions: ARM DDI 0406C, section A5.4.

use super::data;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, ZERO};

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
    emit.op(Code::Media, rd, rn, rm, Media::Parallel as u32 | kind << 8 | what << 12);
    Some(TimingClass::Media)
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
            let shifted = data::shifted(emit, rm, shift, bits(encoding, 11, 7));
            emit.op(Code::Media, rd, rn, shifted, media as u32);
            Some(TimingClass::Media)
        }
        (0b010 | 0b011 | 0b110 | 0b111, _) if operation & 1 == 0 => {
            let media = if bit(encoding, 22) { Media::Usat } else { Media::Ssat };
            let shifted = data::shifted(emit, rm, bits(encoding, 6, 5) & 2, bits(encoding, 11, 7));
            saturate(emit, media, rd, shifted, bits(encoding, 20, 16))
        }
        (_, 0b011) => extend(emit, encoding, group),
        _ if bits(encoding, 11, 8) != 15 => None,
        (0b000, 0b101) => {
            not_pc(&[rn])?;
            emit.op(Code::Media, rd, rn, rm, Media::Sel as u32);
            Some(TimingClass::Media)
        }
        (0b010, 0b001) => saturate(emit, Media::Ssat16, rd, rm, bits(encoding, 19, 16)),
        (0b110, 0b001) => saturate(emit, Media::Usat16, rd, rm, bits(encoding, 19, 16)),
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

/// ssat, usat and the forms for halves; `field` is as encoded, one less than the bits for the signed ones.
fn saturate(emit: &mut Emit, media: Media, rd: u8, rm: u8, field: u32) -> Option<TimingClass> {
    let is_signed = matches!(media, Media::Ssat | Media::Ssat16);
    let to_bits = if is_signed { field + 1 } else { field };
    emit.op(Code::Media, rd, 0, rm, media as u32 | to_bits << 8);
    Some(TimingClass::Media)
}

/// sxtb, sxtab, sxth, sxtah, sxtb16, sxtab16 and the unsigned ones: bits 11:10 rotate, rn = 15 adds nothing.
fn extend(emit: &mut Emit, encoding: u32, group: u32) -> Option<TimingClass> {
    let [rn, rd, rm] = [16, 12, 0].map(|low| register(encoding, low));
    only_if(bits(encoding, 9, 8) == 0)?;
    let rotation = 8 * bits(encoding, 11, 10);
    let rotated = if rotation == 0 {
        rm
    } else {
        emit.op(Code::RorImm, OPERAND, 0, rm, rotation);
        OPERAND
    };
    let code = match group {
        0b000 | 0b100 => {
            let media = if group == 0 { Media::Sxtab16 } else { Media::Uxtab16 };
            emit.op(Code::Media, rd, if rn == PC { ZERO } else { rn }, rotated, media as u32);
            return Some(TimingClass::Media);
        }
        0b010 => Code::Sxtb,
        0b011 => Code::Sxth,
        0b110 => Code::Uxtb,
        0b111 => Code::Uxth,
        _ => return None,
    };
    if rn == PC {
        emit.op(code, rd, 0, rotated, 0);
    } else {
        emit.op(code, OPERAND, 0, rotated, 0);
        emit.op(Code::Add, rd, rn, OPERAND, 0);
    }
    Some(if rn == PC && rotation == 0 { TimingClass::Alu } else { TimingClass::AluShift })
}

/// Dual and most significant word multiplications; divisions.
fn multiply(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rd, ra, rm, rn] = [16, 12, 8, 0].map(|low| register(encoding, low));
    not_pc(&[rd, rm, rn])?;
    let swaps_or_rounds = bits(encoding, 5, 5) << 8;
    let or_zero = if ra == PC { ZERO } else { ra };
    let (media, ra) = match (bits(encoding, 22, 20), bits(encoding, 7, 6)) {
        (0b000, 0b00) => (Media::Smlad, or_zero),
        (0b000, 0b01) => (Media::Smlsd, or_zero),
        (0b001 | 0b011, 0b00) => return divide(emit, encoding),
        (0b100, 0b00) if ra != PC && ra != rd => return long(emit, Media::Smlald, encoding),
        (0b100, 0b01) if ra != PC && ra != rd => return long(emit, Media::Smlsld, encoding),
        (0b101, 0b00) => (Media::Smmla, or_zero),
        (0b101, 0b11) if ra != PC => (Media::Smmls, ra),
        _ => return None,
    };
    emit.op4(Code::Media, rd, rn, rm, ra, media as u32 | swaps_or_rounds);
    Some(TimingClass::Multiply)
}

/// smlald, smlsld: the low word in bits 15:12, the high one in 19:16.
fn long(emit: &mut Emit, media: Media, encoding: u32) -> Option<TimingClass> {
    let [high, low, rm, rn] = [16, 12, 8, 0].map(|at| register(encoding, at));
    emit.op4(Code::Media, low, rn, rm, high, media as u32 | bits(encoding, 5, 5) << 8);
    Some(TimingClass::MultiplyLong)
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
        emit.op4(Code::Media, rd, rn, rm, if ra == PC { ZERO } else { ra }, Media::Usada8 as u32);
        return Some(TimingClass::Media);
    }
    let [rd, rn] = [12, 0].map(|low| register(encoding, low));
    let (lowest, other) = (bits(encoding, 11, 7), bits(encoding, 20, 16));
    not_pc(&[rd])?;
    match (group >> 1, operation & 3) {
        (0b01 | 0b11, 0b10) => {
            not_pc(&[rn])?;
            only_if(lowest + other < 32)?;
            let code = if bit(encoding, 22) { Code::Ubfx } else { Code::Sbfx };
            emit.op(code, rd, 0, rn, lowest | (other + 1) << 8);
        }
        (0b10, 0b00) => {
            only_if(other >= lowest)?;
            let from = if rn == PC { ZERO } else { rn };
            emit.op(Code::Bfi, rd, 0, from, lowest | (other - lowest + 1) << 8);
        }
        _ => return None,
    }
    Some(TimingClass::Alu)
}
