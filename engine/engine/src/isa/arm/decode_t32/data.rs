//! 32-bit data processing with a modified or plain immediate, or a shifted register: A6.3.1, A6.3.3, A6.3.11.

use super::operand::{Operand, data, immediate_12, modified_immediate, shift_amount, shift_immediate, shifted};
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, SINK, ZERO};

/// The operation in an encoding's bits 24:21, and its registers in the form of a micro-operation.
struct Operation {
    code: Code,
    rd: u8,
    rn: u8,
}

impl Operation {
    /// The program counter stands for no result (comparisons) or no first operand (moves).
    fn of(encoding: u32) -> Option<Self> {
        let (rd, rn) = (register(encoding, 8), register(encoding, 16));
        let flags = bit(encoding, 20);
        let (code, compares, moves) = match bits(encoding, 24, 21) {
            0 => (Code::And, true, None),
            1 => (Code::Bic, false, None),
            2 => (Code::Orr, false, Some(Code::Mov)),
            3 => (Code::Orn, false, Some(Code::Mvn)),
            4 => (Code::Eor, true, None),
            8 => (Code::Add, true, None),
            10 => (Code::Adc, false, None),
            11 => (Code::Sbc, false, None),
            13 => (Code::Sub, true, None),
            14 => (Code::Rsb, false, None),
            _ => return None,
        };
        let (code, rn) = if rn == PC { (moves?, ZERO) } else { (code, rn) };
        only_if(rd != PC || compares && flags)?;
        Some(Self { code, rd: if rd == PC { SINK } else { rd }, rn })
    }

    /// Logical operations take C from their second operand's shift.
    fn is_logical(&self) -> bool {
        matches!(self.code, Code::And | Code::Bic | Code::Orr | Code::Orn | Code::Eor | Code::Mov | Code::Mvn)
    }
}

/// With a modified immediate.
pub fn immediate(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let operation = Operation::of(encoding)?;
    let flags = bit(encoding, 20);
    let (value, carry) = modified_immediate(encoding);
    if let Some(carry) = carry.filter(|_| flags && operation.is_logical()) {
        emit.imm(Code::SetC, carry.into());
    }
    Some(data(emit, operation.code, flags, operation.rd, operation.rn, Operand::immediate(value)))
}

/// With a register, shifted by an immediate.
pub fn shifted_register(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    only_if(!bit(encoding, 15))?;
    let (rm, kind, amount) = (register(encoding, 0), bits(encoding, 5, 4), shift_amount(encoding));
    not_pc(&[rm])?;
    if bits(encoding, 24, 21) == 6 {
        return pack(emit, encoding);
    }
    let operation = Operation::of(encoding)?;
    let flags = bit(encoding, 20);
    if operation.code == Code::Mov {
        return Some(shift_immediate(emit, flags, operation.rd, rm, kind, amount));
    }
    let operand = shifted(emit, flags && operation.is_logical(), rm, kind, amount);
    Some(data(emit, operation.code, flags, operation.rd, operation.rn, operand))
}

/// pkhbt, pkhtb.
fn pack(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, rm) = (register(encoding, 16), register(encoding, 8), register(encoding, 0));
    only_if(!bit(encoding, 20) && !bit(encoding, 4))?;
    not_pc(&[rn, rd])?;
    let (media, kind) = if bit(encoding, 5) { (Media::Pkhtb, 2) } else { (Media::Pkhbt, 0) };
    emit.shift(false, OPERAND, rm, kind, shift_amount(encoding));
    Some(emit.media(media, [rd, rn, OPERAND, 0], 0))
}

/// addw, subw, adr, movw, movt, saturation, bit fields.
pub fn plain_immediate(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    let imm12 = immediate_12(encoding);
    let (imm16, low) = (bits(encoding, 19, 16) << 12 | imm12, shift_amount(encoding));
    not_pc(&[rd])?;
    match bits(encoding, 24, 20) {
        0 if rn == PC => emit.constant(rd, emit.aligned_pc().wrapping_add(imm12)),
        0 => emit.op(Code::Add, rd, rn, ZERO, imm12),
        10 if rn == PC => emit.constant(rd, emit.aligned_pc().wrapping_sub(imm12)),
        10 => emit.op(Code::Sub, rd, rn, ZERO, imm12),
        4 => emit.constant(rd, imm16),
        12 => emit.op(Code::Movt, rd, 0, 0, imm16),
        // In the other encodings bits 26 and 5 have to be 0.
        _ if encoding & (1 << 26 | 1 << 5) != 0 => return None,
        16 | 18 | 24 | 26 => return saturate(emit, encoding),
        20 => return emit.extract(Code::Sbfx, rd, rn, low, bits(encoding, 4, 0) + 1),
        22 => return emit.insert(rd, rn, low, bits(encoding, 4, 0)),
        28 => return emit.extract(Code::Ubfx, rd, rn, low, bits(encoding, 4, 0) + 1),
        _ => return None,
    }
    Some(TimingClass::Alu)
}

/// ssat, usat, and the forms for two halves, which replace an arithmetic shift by 0.
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
