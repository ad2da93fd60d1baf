//! What decoders append micro-operations with.

use super::op::{Code, Features, Op};
use super::registers::{PC, PC_VALUE, SINK, ZERO};

/// The micro-operations of one instruction, under way. A decoding function gives nothing for an encoding that means
/// nothing here; what it has appended by then is dropped.
#[derive(Debug)]
pub struct Emit<'a> {
    /// Where they go.
    pub ops: &'a mut Vec<Op>,
    /// What the program counter reads as: the instruction's address and 8 (A32) or 4 (T32).
    pub pc_value: u32,
    /// What the core has.
    pub features: Features,
}

impl Emit<'_> {
    /// Appends a micro-operation without `ra`.
    pub fn op(&mut self, code: Code, rd: u8, rn: u8, rm: u8, imm: u32) {
        self.op4(code, rd, rn, rm, 0, imm);
    }

    /// Appends a micro-operation.
    pub fn op4(&mut self, code: Code, rd: u8, rn: u8, rm: u8, ra: u8, imm: u32) {
        self.ops.push(Op { code, rd, rn, rm, ra, imm });
    }

    /// A micro-operation with an immediate alone.
    pub fn imm(&mut self, code: Code, imm: u32) {
        self.op(code, 0, 0, ZERO, imm);
    }

    /// A move of a constant.
    pub fn constant(&mut self, rd: u8, value: u32) {
        self.op(Code::Mov, rd, ZERO, ZERO, value);
    }

    /// Does nothing.
    pub fn nothing(&mut self) {
        self.constant(SINK, 0);
    }

    /// The register to read for an encoding's `register`: for the program counter, one that is given its value.
    pub fn read(&mut self, register: u8) -> u8 {
        if register != PC {
            return register;
        }
        self.constant(PC_VALUE, self.pc_value);
        PC_VALUE
    }
}

/// Bits `high` to `low` of `word`, at the right.
pub const fn bits(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

/// A bit of `word`.
pub const fn bit(word: u32, index: u32) -> bool {
    word >> index & 1 != 0
}

/// The register that the four bits from `low` on name.
pub const fn register(word: u32, low: u32) -> u8 {
    (word >> low & 15) as u8
}

/// `Some` if none of `registers` is the program counter, which most instructions don't take.
pub fn not_pc(registers: &[u8]) -> Option<()> {
    (!registers.contains(&PC)).then_some(())
}

/// `Some` if it holds.
pub fn only_if(condition: bool) -> Option<()> {
    condition.then_some(())
}
