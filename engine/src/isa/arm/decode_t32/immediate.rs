//! 32-bit data processing with a plain immediate: A6.3.3.

use super::aligned_pc;
use super::operand::{immediate_12, shift_amount};
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::{PC, ZERO};

/// addw, subw, adr, movw, movt, saturation, bit fields.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    let imm12 = immediate_12(encoding);
    let (imm16, low) = (bits(encoding, 19, 16) << 12 | imm12, shift_amount(encoding));
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
        20 => return emit.extract(Code::Sbfx, rd, rn, low, bits(encoding, 4, 0) + 1),
        22 => return emit.insert(rd, rn, low, bits(encoding, 4, 0)),
        28 => return emit.extract(Code::Ubfx, rd, rn, low, bits(encoding, 4, 0) + 1),
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
    let media = match (unsigned, halves) {
        (false, false) => Media::Ssat,
        (true, false) => Media::Usat,
        (false, true) => Media::Ssat16,
        (true, true) => Media::Usat16,
    };
    let rm = if halves { rn } else { emit.shifted(false, rn, if is_arithmetic { 2 } else { 0 }, amount) };
    Some(emit.saturate(media, rd, rm, bits(encoding, 4, 0)))
}
