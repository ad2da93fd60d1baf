//! Decoding of 16-bit instructions: one row per encoding, expanded to the operations of the 32-bit instructions.
//!
//! Unprivileged specification 20240411, chapter 27 (C), for RV32 without F and D. HINTs of that chapter are legal and
//! have no effect, by their expansion; reserved code points are illegal, and so are those for custom extensions.

use super::decode::{self, field, illegal, row};
use super::op::{Code, Op};

/// The fields with operands in an encoding; the comments give the expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// CIW: rd', x2, scaled immediate.
    AddSpNarrow,
    /// CL: rd', offset(rs1').
    Load,
    /// CS: rs2', offset(rs1').
    Store,
    /// CI: rd, rd, immediate.
    Immediate,
    /// CI: rd, x0, immediate.
    LoadImmediate,
    /// CI: x2, x2, immediate times 16.
    AddSp,
    /// CI: rd, upper immediate.
    Upper,
    /// CB: rd', rd', immediate.
    ImmediateNarrow,
    /// CB: rd', rd', shift amount.
    ShiftNarrow,
    /// CI: rd, rd, shift amount.
    Shift,
    /// CA: rd', rd', rs2'.
    Arithmetic,
    /// CJ: the given link register, offset.
    Jump(u8),
    /// CR: the given link register, 0(rs1).
    JumpRegister(u8),
    /// CB: rs1', x0, offset.
    Branch,
    /// CI: rd, offset(x2).
    LoadSp,
    /// CSS: rs2, offset(x2).
    StoreSp,
    /// CR: rd, x0, rs2.
    Move,
    /// CR: rd, rd, rs2.
    Add,
    /// No operands.
    None,
}

/// An encoding, if no earlier row matches. [`Code::Illegal`] marks reserved code points inside another row's.
type Row = decode::Row<u16, Format>;

/// All 16-bit encodings, in the manual's order, except that a row whose code points are inside another row's precedes
/// it.
#[rustfmt::skip]
static ROWS: [Row; 30] = [
    // Quadrant 0.
    row(0xffe3, 0x0000, Format::None,            Code::Illegal, "c.addi4spn nzuimm=0"),
    row(0xe003, 0x0000, Format::AddSpNarrow,     Code::Addi,    "c.addi4spn"),
    row(0xe003, 0x4000, Format::Load,            Code::Lw,      "c.lw"),
    row(0xe003, 0xc000, Format::Store,           Code::Sw,      "c.sw"),
    // Quadrant 1. c.nop is c.addi to x0.
    row(0xe003, 0x0001, Format::Immediate,       Code::Addi,    "c.addi"),
    row(0xe003, 0x2001, Format::Jump(1),         Code::Jal,     "c.jal"),
    row(0xe003, 0x4001, Format::LoadImmediate,   Code::Addi,    "c.li"),
    row(0xf07f, 0x6001, Format::None,            Code::Illegal, "c.lui nzimm=0"),
    row(0xef83, 0x6101, Format::AddSp,           Code::Addi,    "c.addi16sp"),
    row(0xe003, 0x6001, Format::Upper,           Code::Lui,     "c.lui"),
    // Shift amounts of 32 and more (bit 12) are for custom extensions.
    row(0xfc03, 0x8001, Format::ShiftNarrow,     Code::Srli,    "c.srli"),
    row(0xfc03, 0x8401, Format::ShiftNarrow,     Code::Srai,    "c.srai"),
    row(0xec03, 0x8801, Format::ImmediateNarrow, Code::Andi,    "c.andi"),
    row(0xfc63, 0x8c01, Format::Arithmetic,      Code::Sub,     "c.sub"),
    row(0xfc63, 0x8c21, Format::Arithmetic,      Code::Xor,     "c.xor"),
    row(0xfc63, 0x8c41, Format::Arithmetic,      Code::Or,      "c.or"),
    row(0xfc63, 0x8c61, Format::Arithmetic,      Code::And,     "c.and"),
    row(0xe003, 0xa001, Format::Jump(0),         Code::Jal,     "c.j"),
    row(0xe003, 0xc001, Format::Branch,          Code::Beq,     "c.beqz"),
    row(0xe003, 0xe001, Format::Branch,          Code::Bne,     "c.bnez"),
    // Quadrant 2.
    row(0xf003, 0x0002, Format::Shift,           Code::Slli,    "c.slli"),
    row(0xef83, 0x4002, Format::None,            Code::Illegal, "c.lwsp rd=x0"),
    row(0xe003, 0x4002, Format::LoadSp,          Code::Lw,      "c.lwsp"),
    row(0xffff, 0x8002, Format::None,            Code::Illegal, "c.jr rs1=x0"),
    row(0xf07f, 0x8002, Format::JumpRegister(0), Code::Jalr,    "c.jr"),
    row(0xf003, 0x8002, Format::Move,            Code::Add,     "c.mv"),
    row(0xffff, 0x9002, Format::None,            Code::Ebreak,  "c.ebreak"),
    row(0xf07f, 0x9002, Format::JumpRegister(1), Code::Jalr,    "c.jalr"),
    row(0xf003, 0x9002, Format::Add,             Code::Add,     "c.add"),
    row(0xe003, 0xc002, Format::StoreSp,         Code::Sw,      "c.swsp"),
];

/// The operation of `half`, whose low two bits are not both 1.
pub(super) fn decode(half: u16) -> Op {
    match ROWS.iter().find(|row| half & row.mask == row.bits) {
        Some(row) => row.operation(half.into()),
        None => illegal(half.into()),
    }
}

impl Row {
    /// The operation of `half`, which matches this row.
    fn operation(&self, half: u32) -> Op {
        if self.code == Code::Illegal {
            return illegal(half);
        }
        let (rd, rs2) = (field(half, 11, 7) as u8, field(half, 6, 2) as u8);
        // The primed registers are x8 to x15.
        let (rd_narrow, rs2_narrow) = (8 + field(half, 9, 7) as u8, 8 + field(half, 4, 2) as u8);
        let (rd, rs1, rs2, imm) = match self.format {
            Format::AddSpNarrow => (rs2_narrow, 2, 0, add_sp_narrow(half)),
            Format::Load => (rs2_narrow, rd_narrow, 0, word_offset(half)),
            Format::Store => (0, rd_narrow, rs2_narrow, word_offset(half)),
            Format::Immediate => (rd, rd, 0, immediate(half)),
            Format::LoadImmediate => (rd, 0, 0, immediate(half)),
            Format::AddSp => (2, 2, 0, add_sp(half)),
            Format::Upper => (rd, 0, 0, immediate(half) << 12),
            Format::ImmediateNarrow => (rd_narrow, rd_narrow, 0, immediate(half)),
            Format::ShiftNarrow => (rd_narrow, rd_narrow, 0, i32::from(rs2)),
            Format::Shift => (rd, rd, 0, i32::from(rs2)),
            Format::Arithmetic => (rd_narrow, rd_narrow, rs2_narrow, 0),
            Format::Jump(link) => (link, 0, 0, jump_offset(half)),
            Format::JumpRegister(link) => (link, rd, 0, 0),
            Format::Branch => (0, rd_narrow, 0, branch_offset(half)),
            Format::LoadSp => (rd, 2, 0, load_sp_offset(half)),
            Format::StoreSp => (0, 2, rs2, store_sp_offset(half)),
            Format::Move => (rd, 0, rs2, 0),
            Format::Add => (rd, rd, rs2, 0),
            Format::None => (0, 0, 0, 0),
        };
        Op { code: self.code, rd, rs1, rs2, imm }
    }
}

/// All ones above bit `position` if bit 12, the sign of every signed immediate, is set.
fn sign(half: u32, position: u32) -> i32 {
    (half << 19) as i32 >> 31 << position
}

/// imm\[5 | 4:0\] in 12, 6:2.
fn immediate(half: u32) -> i32 {
    sign(half, 5) | field(half, 6, 2) as i32
}

/// nzuimm\[5:4 | 9:6 | 2 | 3\] in 12:5.
fn add_sp_narrow(half: u32) -> i32 {
    (field(half, 12, 11) << 4 | field(half, 10, 7) << 6 | field(half, 6, 6) << 2 | field(half, 5, 5) << 3) as i32
}

/// nzimm\[9 | 4 | 6 | 8:7 | 5\] in 12, 6:2.
fn add_sp(half: u32) -> i32 {
    let low = field(half, 6, 6) << 4 | field(half, 5, 5) << 6 | field(half, 4, 3) << 7 | field(half, 2, 2) << 5;
    sign(half, 9) | low as i32
}

/// uimm\[5:3\] in 12:10, uimm\[2 | 6\] in 6:5.
fn word_offset(half: u32) -> i32 {
    (field(half, 12, 10) << 3 | field(half, 6, 6) << 2 | field(half, 5, 5) << 6) as i32
}

/// uimm\[5 | 4:2 | 7:6\] in 12, 6:2.
fn load_sp_offset(half: u32) -> i32 {
    (field(half, 12, 12) << 5 | field(half, 6, 4) << 2 | field(half, 3, 2) << 6) as i32
}

/// uimm\[5:2 | 7:6\] in 12:7.
fn store_sp_offset(half: u32) -> i32 {
    (field(half, 12, 9) << 2 | field(half, 8, 7) << 6) as i32
}

/// imm\[8 | 4:3\] in 12:10, imm\[7:6 | 2:1 | 5\] in 6:2.
fn branch_offset(half: u32) -> i32 {
    let low = field(half, 11, 10) << 3 | field(half, 6, 5) << 6 | field(half, 4, 3) << 1 | field(half, 2, 2) << 5;
    sign(half, 8) | low as i32
}

/// imm\[11 | 4 | 9:8 | 10 | 6 | 7 | 3:1 | 5\] in 12:2.
fn jump_offset(half: u32) -> i32 {
    let high = field(half, 10, 9) << 8 | field(half, 8, 8) << 10 | field(half, 7, 7) << 6 | field(half, 6, 6) << 7;
    let low = field(half, 11, 11) << 4 | field(half, 5, 3) << 1 | field(half, 2, 2) << 5;
    sign(half, 11) | (high | low) as i32
}

#[cfg(test)]
mod tests;
