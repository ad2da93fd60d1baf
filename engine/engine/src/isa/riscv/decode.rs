//! Decoding of 32-bit instructions: one row per encoding.
//!
//! Unprivileged specification 20240411, chapter 35 (instruction set listings), and privileged specification 20240411,
//! chapter 9. [`decode`] is for both lengths; the 16-bit ones are in [`super::compressed`].

use super::compressed;
use super::op::{Code, Instr, Op};

/// The fields with operands in an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// rd, rs1, rs2.
    R,
    /// rd, rs1, 12-bit immediate.
    I,
    /// rd, rs1, 5-bit shift amount.
    Shift,
    /// rs1, rs2, 12-bit offset.
    S,
    /// rs1, rs2, 13-bit offset to the target.
    B,
    /// rd, upper 20 bits.
    U,
    /// rd, 21-bit offset to the target.
    J,
    /// rd, CSR number, rs1 or a 5-bit immediate in its place.
    Csr,
    /// No operands.
    None,
}

/// An encoding of the width `W`: `word & mask == bits`.
#[derive(Clone, Copy, Debug)]
pub struct Row<W = u32, F = Format> {
    /// The bits that identify this encoding.
    pub mask: W,
    /// Their values.
    pub bits: W,
    /// The fields with its operands.
    pub format: F,
    /// Its operation.
    pub code: Code,
    /// The manual's name for it.
    pub mnemonic: &'static str,
}

pub(super) const fn row<W: Copy, F: Copy>(
    mask: W,
    bits: W,
    format: F,
    code: Code,
    mnemonic: &'static str,
) -> Row<W, F> {
    Row { mask, bits, format, code, mnemonic }
}

/// opcode alone (U and J); opcode and funct3; those and funct7; all bits.
const OPCODE: u32 = 0x0000_007f;
const FUNCT3: u32 = 0x0000_707f;
const FUNCT7: u32 = 0xfe00_707f;
const ALL: u32 = 0xffff_ffff;

/// All 32-bit encodings, in the manual's order.
#[rustfmt::skip]
pub static ROWS: [Row; 57] = [
    // RV32I.
    row(OPCODE, 0x0000_0037, Format::U,     Code::Lui,    "lui"),
    row(OPCODE, 0x0000_0017, Format::U,     Code::Auipc,  "auipc"),
    row(OPCODE, 0x0000_006f, Format::J,     Code::Jal,    "jal"),
    row(FUNCT3, 0x0000_0067, Format::I,     Code::Jalr,   "jalr"),
    row(FUNCT3, 0x0000_0063, Format::B,     Code::Beq,    "beq"),
    row(FUNCT3, 0x0000_1063, Format::B,     Code::Bne,    "bne"),
    row(FUNCT3, 0x0000_4063, Format::B,     Code::Blt,    "blt"),
    row(FUNCT3, 0x0000_5063, Format::B,     Code::Bge,    "bge"),
    row(FUNCT3, 0x0000_6063, Format::B,     Code::Bltu,   "bltu"),
    row(FUNCT3, 0x0000_7063, Format::B,     Code::Bgeu,   "bgeu"),
    row(FUNCT3, 0x0000_0003, Format::I,     Code::Lb,     "lb"),
    row(FUNCT3, 0x0000_1003, Format::I,     Code::Lh,     "lh"),
    row(FUNCT3, 0x0000_2003, Format::I,     Code::Lw,     "lw"),
    row(FUNCT3, 0x0000_4003, Format::I,     Code::Lbu,    "lbu"),
    row(FUNCT3, 0x0000_5003, Format::I,     Code::Lhu,    "lhu"),
    row(FUNCT3, 0x0000_0023, Format::S,     Code::Sb,     "sb"),
    row(FUNCT3, 0x0000_1023, Format::S,     Code::Sh,     "sh"),
    row(FUNCT3, 0x0000_2023, Format::S,     Code::Sw,     "sw"),
    row(FUNCT3, 0x0000_0013, Format::I,     Code::Addi,   "addi"),
    row(FUNCT3, 0x0000_2013, Format::I,     Code::Slti,   "slti"),
    row(FUNCT3, 0x0000_3013, Format::I,     Code::Sltiu,  "sltiu"),
    row(FUNCT3, 0x0000_4013, Format::I,     Code::Xori,   "xori"),
    row(FUNCT3, 0x0000_6013, Format::I,     Code::Ori,    "ori"),
    row(FUNCT3, 0x0000_7013, Format::I,     Code::Andi,   "andi"),
    row(FUNCT7, 0x0000_1013, Format::Shift, Code::Slli,   "slli"),
    row(FUNCT7, 0x0000_5013, Format::Shift, Code::Srli,   "srli"),
    row(FUNCT7, 0x4000_5013, Format::Shift, Code::Srai,   "srai"),
    row(FUNCT7, 0x0000_0033, Format::R,     Code::Add,    "add"),
    row(FUNCT7, 0x4000_0033, Format::R,     Code::Sub,    "sub"),
    row(FUNCT7, 0x0000_1033, Format::R,     Code::Sll,    "sll"),
    row(FUNCT7, 0x0000_2033, Format::R,     Code::Slt,    "slt"),
    row(FUNCT7, 0x0000_3033, Format::R,     Code::Sltu,   "sltu"),
    row(FUNCT7, 0x0000_4033, Format::R,     Code::Xor,    "xor"),
    row(FUNCT7, 0x0000_5033, Format::R,     Code::Srl,    "srl"),
    row(FUNCT7, 0x4000_5033, Format::R,     Code::Sra,    "sra"),
    row(FUNCT7, 0x0000_6033, Format::R,     Code::Or,     "or"),
    row(FUNCT7, 0x0000_7033, Format::R,     Code::And,    "and"),
    // The other fields of a fence are ignored (section 2.7), so fence.tso and pause are fences.
    row(FUNCT3, 0x0000_000f, Format::None,  Code::Fence,  "fence"),
    row(ALL,    0x0000_0073, Format::None,  Code::Ecall,  "ecall"),
    row(ALL,    0x0010_0073, Format::None,  Code::Ebreak, "ebreak"),
    // Zifencei: other fields are ignored here, too (chapter 5).
    row(FUNCT3, 0x0000_100f, Format::None,  Code::FenceI, "fence.i"),
    // Zicsr.
    row(FUNCT3, 0x0000_1073, Format::Csr,   Code::Csrrw,  "csrrw"),
    row(FUNCT3, 0x0000_2073, Format::Csr,   Code::Csrrs,  "csrrs"),
    row(FUNCT3, 0x0000_3073, Format::Csr,   Code::Csrrc,  "csrrc"),
    row(FUNCT3, 0x0000_5073, Format::Csr,   Code::Csrrwi, "csrrwi"),
    row(FUNCT3, 0x0000_6073, Format::Csr,   Code::Csrrsi, "csrrsi"),
    row(FUNCT3, 0x0000_7073, Format::Csr,   Code::Csrrci, "csrrci"),
    // M.
    row(FUNCT7, 0x0200_0033, Format::R,     Code::Mul,    "mul"),
    row(FUNCT7, 0x0200_1033, Format::R,     Code::Mulh,   "mulh"),
    row(FUNCT7, 0x0200_2033, Format::R,     Code::Mulhsu, "mulhsu"),
    row(FUNCT7, 0x0200_3033, Format::R,     Code::Mulhu,  "mulhu"),
    row(FUNCT7, 0x0200_4033, Format::R,     Code::Div,    "div"),
    row(FUNCT7, 0x0200_5033, Format::R,     Code::Divu,   "divu"),
    row(FUNCT7, 0x0200_6033, Format::R,     Code::Rem,    "rem"),
    row(FUNCT7, 0x0200_7033, Format::R,     Code::Remu,   "remu"),
    // Privileged: machine mode.
    row(ALL,    0x3020_0073, Format::None,  Code::Mret,   "mret"),
    row(ALL,    0x1050_0073, Format::None,  Code::Wfi,    "wfi"),
];

/// The instruction that begins with `word`. If the low two bits are not both 1 it is a compressed one, in the low half.
pub fn decode(word: u32) -> Instr {
    if word & 3 != 3 {
        return Instr { op: compressed::decode(word as u16), len_bytes: 2 };
    }
    let op = match ROWS.iter().find(|row| word & row.mask == row.bits) {
        Some(row) => row.operation(word),
        None => illegal(word),
    };
    Instr { op, len_bytes: 4 }
}

/// The operation of an undefined encoding.
pub(super) fn illegal(encoding: u32) -> Op {
    Op { code: Code::Illegal, rd: 0, rs1: 0, rs2: 0, imm: encoding as i32 }
}

impl Row {
    /// The operation of `word`, which matches this row.
    fn operation(&self, word: u32) -> Op {
        let (rd, rs1, rs2) = (field(word, 11, 7) as u8, field(word, 19, 15) as u8, field(word, 24, 20) as u8);
        let (rd, rs1, rs2, imm) = match self.format {
            Format::R => (rd, rs1, rs2, 0),
            Format::I => (rd, rs1, 0, word as i32 >> 20),
            Format::Shift => (rd, rs1, 0, i32::from(rs2)),
            Format::S => (0, rs1, rs2, store_offset(word)),
            Format::B => (0, rs1, rs2, branch_offset(word)),
            Format::U => (rd, 0, 0, (word & 0xffff_f000) as i32),
            Format::J => (rd, 0, 0, jump_offset(word)),
            Format::Csr => (rd, rs1, 0, field(word, 31, 20) as i32),
            Format::None => (0, 0, 0, 0),
        };
        Op { code: self.code, rd, rs1, rs2, imm }
    }
}

/// Bits `high` to `low` of `word`, at the right.
pub(super) const fn field(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

fn store_offset(word: u32) -> i32 {
    (word as i32 >> 25 << 5) | field(word, 11, 7) as i32
}

fn branch_offset(word: u32) -> i32 {
    let low = field(word, 7, 7) << 11 | field(word, 30, 25) << 5 | field(word, 11, 8) << 1;
    (word as i32 >> 31 << 12) | low as i32
}

fn jump_offset(word: u32) -> i32 {
    let low = field(word, 19, 12) << 12 | field(word, 20, 20) << 11 | field(word, 30, 21) << 1;
    (word as i32 >> 31 << 20) | low as i32
}

#[cfg(test)]
pub(super) mod tests;
