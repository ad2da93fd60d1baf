//! The tables of encodings: by the opcode (bits 31:26), and for some opcodes by a second field.

use super::Format;
use crate::isa::mips::op::{Code, HI, LO, RA, SINK};

const RESERVED: (Code, Format) = (Code::Reserved, Format::Reserved);

/// The operation and the format of `encoding`.
#[rustfmt::skip]
pub(super) const fn find(encoding: u32) -> (Code, Format) {
    match encoding >> 26 {
        0x00 => special(encoding & 0x3f),
        0x01 => regimm(encoding >> 16 & 0x1f),
        0x02 => (Code::J, Format::Jump(SINK)),
        0x03 => (Code::Jal, Format::Jump(RA)),
        0x04 => (Code::Beq, Format::Branch),
        0x05 => (Code::Bne, Format::Branch),
        0x06 => (Code::Blez, Format::ZeroBranch),
        0x07 => (Code::Bgtz, Format::ZeroBranch),
        0x08 => (Code::Addi, Format::Signed),
        0x09 => (Code::Addiu, Format::Signed),
        0x0a => (Code::Slti, Format::Signed),
        0x0b => (Code::Sltiu, Format::Signed),
        0x0c => (Code::Andi, Format::Unsigned),
        0x0d => (Code::Ori, Format::Unsigned),
        0x0e => (Code::Xori, Format::Unsigned),
        0x0f => (Code::Li, Format::Upper),
        0x10 => coprocessor_0(encoding),
        0x11..=0x13 => coprocessor(encoding >> 26 & 3),
        0x14 => (Code::Beql, Format::Branch),
        0x15 => (Code::Bnel, Format::Branch),
        0x16 => (Code::Blezl, Format::ZeroBranch),
        0x17 => (Code::Bgtzl, Format::ZeroBranch),
        0x1c => special2(encoding & 0x3f),
        0x20 => (Code::Lb, Format::Signed),
        0x21 => (Code::Lh, Format::Signed),
        0x22 => (Code::Lwl, Format::Merge),
        0x23 => (Code::Lw, Format::Signed),
        0x24 => (Code::Lbu, Format::Signed),
        0x25 => (Code::Lhu, Format::Signed),
        0x26 => (Code::Lwr, Format::Merge),
        0x28 => (Code::Sb, Format::Store),
        0x29 => (Code::Sh, Format::Store),
        0x2a => (Code::Swl, Format::Store),
        0x2b => (Code::Sw, Format::Store),
        0x2e => (Code::Swr, Format::Store),
        0x2f => (Code::Cache, Format::Hinted),
        0x30 => (Code::Ll, Format::Signed),
        0x33 => (Code::Pref, Format::Hinted),
        // lwc1, lwc2, ldc1, ldc2, swc1, swc2, sdc1, sdc2.
        0x31 | 0x32 | 0x35 | 0x36 | 0x39 | 0x3a | 0x3d | 0x3e => coprocessor(encoding >> 26 & 3),
        0x38 => (Code::Sc, Format::Merge),
        _ => RESERVED,
    }
}

/// Opcode SPECIAL, by the function (bits 5:0).
#[rustfmt::skip]
const fn special(function: u32) -> (Code, Format) {
    match function {
        0x00 => (Code::Sll, Format::Shift),
        // movf, movt: on a condition of the FPU.
        0x01 => coprocessor(1),
        0x02 => (Code::Srl, Format::Shift),
        0x03 => (Code::Sra, Format::Shift),
        0x04 => (Code::Sllv, Format::Three),
        0x06 => (Code::Srlv, Format::Three),
        0x07 => (Code::Srav, Format::Three),
        0x08 => (Code::Jr, Format::JumpRegister),
        0x09 => (Code::Jalr, Format::JumpRegisterAndLink),
        0x0a => (Code::Movz, Format::Three),
        0x0b => (Code::Movn, Format::Three),
        0x0c => (Code::Syscall, Format::Code),
        0x0d => (Code::Break, Format::Code),
        0x0f => (Code::Sync, Format::Any),
        0x10 => (Code::Mfhi, Format::From(HI)),
        0x11 => (Code::Mthi, Format::To(HI)),
        0x12 => (Code::Mflo, Format::From(LO)),
        0x13 => (Code::Mtlo, Format::To(LO)),
        0x18 => (Code::Mult, Format::Product),
        0x19 => (Code::Multu, Format::Product),
        0x1a => (Code::Div, Format::Product),
        0x1b => (Code::Divu, Format::Product),
        0x20 => (Code::Add, Format::Three),
        0x21 => (Code::Addu, Format::Three),
        0x22 => (Code::Sub, Format::Three),
        0x23 => (Code::Subu, Format::Three),
        0x24 => (Code::And, Format::Three),
        0x25 => (Code::Or, Format::Three),
        0x26 => (Code::Xor, Format::Three),
        0x27 => (Code::Nor, Format::Three),
        0x2a => (Code::Slt, Format::Three),
        0x2b => (Code::Sltu, Format::Three),
        0x30 => (Code::Tge, Format::Trap),
        0x31 => (Code::Tgeu, Format::Trap),
        0x32 => (Code::Tlt, Format::Trap),
        0x33 => (Code::Tltu, Format::Trap),
        0x34 => (Code::Teq, Format::Trap),
        0x36 => (Code::Tne, Format::Trap),
        _ => RESERVED,
    }
}

/// Opcode REGIMM, by the field rt.
#[rustfmt::skip]
const fn regimm(rt: u32) -> (Code, Format) {
    match rt {
        0x00 => (Code::Bltz, Format::BranchOnSign(SINK)),
        0x01 => (Code::Bgez, Format::BranchOnSign(SINK)),
        0x02 => (Code::Bltzl, Format::BranchOnSign(SINK)),
        0x03 => (Code::Bgezl, Format::BranchOnSign(SINK)),
        0x08 => (Code::Tgei, Format::TrapImmediate),
        0x09 => (Code::Tgeiu, Format::TrapImmediate),
        0x0a => (Code::Tlti, Format::TrapImmediate),
        0x0b => (Code::Tltiu, Format::TrapImmediate),
        0x0c => (Code::Teqi, Format::TrapImmediate),
        0x0e => (Code::Tnei, Format::TrapImmediate),
        0x10 => (Code::Bltzal, Format::BranchOnSign(RA)),
        0x11 => (Code::Bgezal, Format::BranchOnSign(RA)),
        0x12 => (Code::Bltzall, Format::BranchOnSign(RA)),
        0x13 => (Code::Bgezall, Format::BranchOnSign(RA)),
        _ => RESERVED,
    }
}

/// Opcode SPECIAL2, by the function (bits 5:0).
#[rustfmt::skip]
const fn special2(function: u32) -> (Code, Format) {
    match function {
        0x00 => (Code::Madd, Format::Product),
        0x01 => (Code::Maddu, Format::Product),
        0x02 => (Code::Mul, Format::Three),
        0x04 => (Code::Msub, Format::Product),
        0x05 => (Code::Msubu, Format::Product),
        0x20 => (Code::Clz, Format::Count),
        0x21 => (Code::Clo, Format::Count),
        0x3f => (Code::Sdbbp, Format::Code),
        _ => RESERVED,
    }
}

/// An instruction of a coprocessor that does not exist.
const fn coprocessor(number: u32) -> (Code, Format) {
    (Code::CopUnusable, Format::Coprocessor(number as u8))
}

/// Opcode COP0, by the field rs; with its top bit set by the function (bits 5:0).
#[rustfmt::skip]
const fn coprocessor_0(encoding: u32) -> (Code, Format) {
    match (encoding >> 21 & 0x1f, encoding & 0x3f) {
        (0x00, _) => (Code::Mfc0, Format::FromCoprocessor),
        (0x04, _) => (Code::Mtc0, Format::ToCoprocessor),
        (0x10.., 0x01) => (Code::Tlbr, Format::None),
        (0x10.., 0x02) => (Code::Tlbwi, Format::None),
        (0x10.., 0x06) => (Code::Tlbwr, Format::None),
        (0x10.., 0x08) => (Code::Tlbp, Format::None),
        (0x10.., 0x18) => (Code::Eret, Format::None),
        (0x10.., 0x20) => (Code::Wait, Format::Any),
        _ => RESERVED,
    }
}
