//! Second operands: shifts, and immediates in 12 bits; and the operations that come with and without flags.

use crate::isa::arm::emit::{Emit, bit, bits, with_flags};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{OPERAND, ZERO};

/// b of a micro-operation.
#[derive(Clone, Copy)]
pub struct Operand {
    pub rm: u8,
    pub imm: u32,
    /// Timing class of arithmetic with it.
    pub class: TimingClass,
}

impl Operand {
    pub const fn register(rm: u8) -> Self {
        Self { rm, imm: 0, class: TimingClass::Alu }
    }

    pub const fn immediate(imm: u32) -> Self {
        Self { rm: ZERO, imm, class: TimingClass::Alu }
    }
}

/// A register shifted by an immediate, as an operand.
pub fn shifted(emit: &mut Emit, carry: bool, rm: u8, kind: u32, amount: u32) -> Operand {
    if (kind, amount) == (0, 0) {
        return Operand::register(rm);
    }
    emit.shift(carry, OPERAND, rm, kind, amount);
    Operand { rm: OPERAND, imm: 0, class: TimingClass::AluShift }
}

/// imm3:imm2, the shift amount of 32-bit instructions.
pub const fn shift_amount(encoding: u32) -> u32 {
    bits(encoding, 14, 12) << 2 | bits(encoding, 7, 6)
}

/// i:imm3:imm8, the immediate of 32-bit instructions.
pub const fn immediate_12(encoding: u32) -> u32 {
    bits(encoding, 26, 26) << 11 | bits(encoding, 14, 12) << 8 | bits(encoding, 7, 0)
}

/// The constant of i:imm3:imm8, and the carry out if it is rotated (A6.3.2).
pub fn modified_immediate(encoding: u32) -> (u32, Option<bool>) {
    let imm12 = immediate_12(encoding);
    let byte = imm12 & 0xff;
    match imm12 >> 8 {
        0 => (byte, None),
        1 => (byte << 16 | byte, None),
        2 => (byte << 24 | byte << 8, None),
        3 => (byte * 0x0101_0101, None),
        _ => {
            let value = (0x80 | imm12 & 0x7f).rotate_right(imm12 >> 7);
            (value, Some(bit(value, 31)))
        }
    }
}

/// `code` with `flags`, of `rn` and `operand`.
pub fn data(emit: &mut Emit, code: Code, flags: bool, rd: u8, rn: u8, operand: Operand) -> TimingClass {
    emit.op(if flags { with_flags(code) } else { code }, rd, rn, operand.rm, operand.imm);
    operand.class
}

/// A plain shift by an immediate. lsl by 0 is mov, which does not change C.
pub fn shift_immediate(emit: &mut Emit, flags: bool, rd: u8, rm: u8, kind: u32, amount: u32) -> TimingClass {
    if (kind, amount) == (0, 0) {
        return data(emit, Code::Mov, flags, rd, ZERO, Operand::register(rm));
    }
    emit.shift(flags, rd, rm, kind, amount);
    emit.test(flags, rd);
    TimingClass::AluShift
}

/// A plain shift by a register.
pub fn shift_register(emit: &mut Emit, flags: bool, rd: u8, rm: u8, kind: u32, rs: u8) -> TimingClass {
    emit.shift_by_register(flags, rd, rm, kind, rs);
    emit.test(flags, rd);
    TimingClass::AluShiftRegister
}
