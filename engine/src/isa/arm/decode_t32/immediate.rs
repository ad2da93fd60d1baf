//! 32-bit data processing with a plain immediate: A6.3.3.

use super::aligned_pc;
use super::operand::{immediate_12, shift, shift_amount};
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, ZERO};

/// addw, subw, adr, movw, movt, saturation, bit fields.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    let imm12 = immediate_12(encoding);
    let imm16 = bits(encoding, 19, 16) << 12 | imm12;
    not_pc(&[rd])?;
    match bits(encoding, 24, 20) {
        0 if rn == PC => emit.constant(rd, aligned_pc(emit).wrapping_add(imm12)),
        0 => emit.op(Code::Add, rd, rn, ZERO, imm12),
        10 if rn == PC => emit.constant(rd, aligned_pc(emit).wrapping_sub(imm12)),
        10 => emit.op(Code::Sub, rd, rn, ZERO, imm12),
        4 => emit.constant(rd, imm16),
        12 => emit.op(Code::Movt, rd, 0, 0, imm16),
        // In what follows bits 26 and 5 have to be 0.
        _ if encoding & (1 << 26 | 1 << 5) != 0 => return None,
        16 | 18 | 24 | 26 => return saturate(emit, encoding),
        20 => return extract(emit, Code::Sbfx, encoding),
        22 => return insert(emit, encoding),
        28 => return extract(emit, Code::Ubfx, encoding),
        _ => return None,
    }
    Some(TimingClass::Alu)
}

/// ssat, usat, and those for two halves in the place of an arithmetic shift by 0.
fn saturate(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    not_pc(&[rn])?;
    let unsigned = bit(encoding, 23);
    let is_arithmetic = bit(encoding, 21);
    let amount = shift_amount(encoding);
    let halves = is_arithmetic && amount == 0;
    only_if(!halves || !bit(encoding, 4))?;
    let width = bits(encoding, 4, 0) + u32::from(!unsigned);
    let media = match (unsigned, halves) {
        (false, false) => Media::Ssat,
        (true, false) => Media::Usat,
        (false, true) => Media::Ssat16,
        (true, true) => Media::Usat16,
    };
    let mut rm = rn;
    if amount != 0 {
        shift(emit, false, OPERAND, rn, if is_arithmetic { 2 } else { 0 }, amount);
        rm = OPERAND;
    }
    emit.op(Code::Media, rd, 0, rm, media as u32 | width << 8);
    Some(TimingClass::Media)
}

/// sbfx, ubfx.
fn extract(emit: &mut Emit, code: Code, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    let (low, width) = (shift_amount(encoding), bits(encoding, 4, 0) + 1);
    not_pc(&[rn])?;
    only_if(low + width <= 32)?;
    emit.op(code, rd, 0, rn, low | width << 8);
    Some(TimingClass::Alu)
}

/// bfi, bfc.
fn insert(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    let (low, high) = (shift_amount(encoding), bits(encoding, 4, 0));
    only_if(low <= high)?;
    emit.op(Code::Bfi, rd, 0, if rn == PC { ZERO } else { rn }, low | (high + 1 - low) << 8);
    Some(TimingClass::Alu)
}
