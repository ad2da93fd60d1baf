//! Decoding: the tables of an encoding's group give the operation and its format, which gives the operands.
//!
//! MIPS32 Architecture for Programmers, volume II, release 1, and volume I for the tables of encodings. Instructions
//! that exist only in later releases or extensions are reserved here. So are instructions with a wrong value in a field
//! that has to be zero: the manual does not define them (volume II, section 2.1.2), and most are instructions of a
//! later release (rotr for srl, an accumulator of the DSP extension).

mod tables;

use super::op::{Code, LO, Op, SINK, ZERO};

/// The fields with operands in an encoding, and the fields that have to be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// rd, rs, rt.
    Three,
    /// rd, rt, sa: a shift by a constant.
    Shift,
    /// rd, rs; rt is to be the same as rd.
    Count,
    /// rs, rt; the result goes to HI and LO.
    Product,
    /// rd, from HI or LO.
    From(u8),
    /// rs, to HI or LO.
    To(u8),
    /// rt, rs, 16-bit immediate or offset, sign-extended or zero-extended.
    Signed,
    Unsigned,
    /// rt, 16-bit immediate for the upper half.
    Upper,
    /// rt, rs, 16-bit offset: a load that keeps a part of rt, or a store that writes rt, too.
    Merge,
    /// rt, rs, 16-bit offset.
    Store,
    /// rs, rt, 16-bit offset in words.
    Branch,
    /// rs, 16-bit offset in words; the link register is given, and rt distinguishes it from others, or is zero
    /// (`ZeroBranch`).
    BranchOnSign(u8),
    ZeroBranch,
    /// 26-bit index within 256 MiB; the link register is given.
    Jump(u8),
    /// rs, and a hint without effect.
    JumpRegister,
    /// rd, rs, and a hint without effect.
    JumpRegisterAndLink,
    /// rs, rt, and a code for software.
    Trap,
    /// rs, 16-bit immediate, sign-extended.
    TrapImmediate,
    /// A 20-bit code for software.
    Code,
    /// rs, 16-bit offset, 5-bit operation.
    Hinted,
    /// Coprocessor 0's register rd, select; rt.
    FromCoprocessor,
    ToCoprocessor,
    /// No operands.
    None,
    /// No operands, with any code for the implementation.
    Any,
    /// An instruction of the given coprocessor.
    Coprocessor(u8),
    /// Reserved.
    Reserved,
}

/// The instruction `encoding` at address `pc`. Targets of branches and jumps are absolute in the operation.
pub fn decode(encoding: u32, pc: u32) -> Op {
    let (code, format) = tables::find(encoding);
    if encoding & format.zero_fields() != 0 {
        return reserved(encoding);
    }
    let op = format.operation(code, encoding, pc);
    if op.rd == SINK && code.is_pure() { Op::without_operands(Code::Nop) } else { op }
}

fn reserved(encoding: u32) -> Op {
    Op { imm: encoding as i32, ..Op::without_operands(Code::Reserved) }
}

impl Code {
    /// True for operations that only write `rd`.
    #[rustfmt::skip]
    const fn is_pure(self) -> bool {
        use Code::*;
        matches!(
            self,
            Addu | Subu | And | Or | Xor | Nor | Slt | Sltu | Sllv | Srlv | Srav | Movz | Movn | Clz | Clo |
            Mfhi | Mflo | Addiu | Slti | Sltiu | Andi | Ori | Xori | Li | Sll | Srl | Sra
        )
    }
}

/// The fields of an encoding.
const RS: u32 = 0x1f << 21;
const RT: u32 = 0x1f << 16;
const RD: u32 = 0x1f << 11;
const SA: u32 = 0x1f << 6;

impl Format {
    /// The fields that have to be zero.
    const fn zero_fields(self) -> u32 {
        match self {
            Format::Three | Format::Count => SA,
            Format::Shift | Format::Upper => RS,
            Format::Product => RD | SA,
            Format::From(_) => RS | RT | SA,
            Format::To(_) => RT | RD | SA,
            Format::ZeroBranch | Format::JumpRegisterAndLink => RT,
            Format::JumpRegister => RT | RD,
            Format::FromCoprocessor | Format::ToCoprocessor => SA | 0x38,
            // Bit 25 is set in all encodings of this format.
            Format::None => (RS & !(1 << 25)) | RT | RD | SA,
            _ => 0,
        }
    }

    fn operation(self, code: Code, encoding: u32, pc: u32) -> Op {
        let (rs, rt, rd) = (register(encoding, 21), register(encoding, 16), register(encoding, 11));
        let (signed, unsigned) = (i32::from(encoding as i16), (encoding & 0xffff) as i32);
        let near = near_target(encoding, pc);
        let op = |rd, rs, rt, imm| Op { code, rd, rs, rt, imm };
        match self {
            Format::Three => op(or_sink(rd), rs, rt, 0),
            Format::Shift => op(or_sink(rd), ZERO, rt, i32::from(register(encoding, 6))),
            Format::Product => op(LO, rs, rt, 0),
            Format::From(register) => op(or_sink(rd), register, ZERO, 0),
            Format::To(register) => op(register, rs, ZERO, 0),
            Format::Signed => op(or_sink(rt), rs, ZERO, signed),
            Format::Unsigned => op(or_sink(rt), rs, ZERO, unsigned),
            Format::Upper => op(or_sink(rt), ZERO, ZERO, unsigned << 16),
            Format::Merge => op(or_sink(rt), rs, rt, signed),
            Format::Store => op(SINK, rs, rt, signed),
            Format::Branch => op(SINK, rs, rt, near),
            Format::ZeroBranch => op(SINK, rs, ZERO, near),
            Format::BranchOnSign(link) => op(link, rs, ZERO, near),
            Format::Jump(link) => op(link, ZERO, ZERO, far_target(encoding, pc)),
            Format::Count | Format::JumpRegister | Format::JumpRegisterAndLink => op(or_sink(rd), rs, ZERO, 0),
            Format::Trap => op(SINK, rs, rt, 0),
            Format::TrapImmediate => op(SINK, rs, ZERO, signed),
            Format::Code => op(SINK, ZERO, ZERO, (encoding >> 6 & 0xf_ffff) as i32),
            Format::Hinted => op(SINK, rs, ZERO, i32::from(rt) << 16 | unsigned),
            Format::FromCoprocessor => op(or_sink(rt), ZERO, ZERO, coprocessor_register(encoding)),
            Format::ToCoprocessor => op(SINK, ZERO, rt, coprocessor_register(encoding)),
            Format::None | Format::Any => op(SINK, ZERO, ZERO, 0),
            Format::Coprocessor(number) => op(SINK, ZERO, ZERO, number.into()),
            Format::Reserved => reserved(encoding),
        }
    }
}

/// The five bits of `encoding` from bit `low` on.
const fn register(encoding: u32, low: u32) -> u8 {
    (encoding >> low & 0x1f) as u8
}

/// `register` as a destination.
const fn or_sink(register: u8) -> u8 {
    if register == ZERO { SINK } else { register }
}

/// Number and select, in the encoding of [`Op::register`] and [`Op::select`].
const fn coprocessor_register(encoding: u32) -> i32 {
    ((register(encoding, 11) as i32) << 3) | (encoding & 7) as i32
}

/// A branch's target: relative to the delay slot, in words.
const fn near_target(encoding: u32, pc: u32) -> i32 {
    (pc as i32).wrapping_add(4).wrapping_add((encoding as i16 as i32) << 2)
}

/// A jump's target: in the 256 MiB where the delay slot is.
const fn far_target(encoding: u32, pc: u32) -> i32 {
    (pc.wrapping_add(4) & 0xf000_0000 | (encoding & 0x03ff_ffff) << 2) as i32
}

#[cfg(test)]
mod tests;
