//! Decoding of A32 instructions.
//!
//! ARM DDI 0406C, chapter A5 (encodings) and A8 (instructions). Unpredictable encodings of the manual are undefined
//! here, except where QEMU's cores do something simple that needs no extra code.

mod block;
mod data;
mod media;
mod memory;
mod misc;
mod multiply;
mod unconditional;

use super::decode_coprocessor;
use super::emit::{Emit, bit, bits};
use super::op::{Code, Features, Instr, Op, TimingClass};
use super::registers::{LR, ZERO};
use super::summary;

/// The condition "always", and the top bits of encodings without a condition.
const ALWAYS: u32 = 14;
const NONE: u32 = 15;

/// Appends the micro-operations of the instruction at `pc` to `ops`. If it is conditional and not a plain branch, the
/// first of them skips the others.
pub fn decode(encoding: u32, pc: u32, features: Features, ops: &mut Vec<Op>) -> Instr {
    let start = ops.len();
    let condition = bits(encoding, 31, 28);
    let is_branch = bits(encoding, 27, 24) == 0b1010;
    let can_be_skipped = condition < ALWAYS && !is_branch;
    if can_be_skipped {
        ops.push(Op { code: Code::SkipUnless, rd: condition as u8, rn: 0, rm: ZERO, ra: 0, imm: 0 });
    }
    let first = ops.len();
    let mut emit = Emit { ops, pc_value: pc.wrapping_add(8), features };
    let class =
        if condition == NONE { unconditional::decode(&mut emit, encoding) } else { conditional(&mut emit, encoding) };
    let class = class.unwrap_or_else(|| {
        emit.ops.truncate(first);
        emit.imm(Code::Undefined, encoding);
        TimingClass::Exception
    });
    if can_be_skipped {
        ops[start].imm = (ops.len() - first) as u32;
    }
    summary::instr(4, class, &ops[start..])
}

/// All instructions with a condition, by bits 27:25.
fn conditional(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    match bits(encoding, 27, 25) {
        0b000 if bit(encoding, 7) && bit(encoding, 4) => match (bits(encoding, 6, 5), bit(encoding, 24)) {
            (0, false) => multiply::decode(emit, encoding),
            (0, true) => misc::decode_exclusive(emit, encoding),
            _ => memory::halfwords_and_doublewords(emit, encoding),
        },
        0b000 if bits(encoding, 24, 23) == 0b10 && !bit(encoding, 20) => match bit(encoding, 7) {
            true => multiply::halfwords(emit, encoding),
            false => misc::decode(emit, encoding),
        },
        0b000 if bit(encoding, 4) => data::shifted_by_register(emit, encoding),
        0b000 => data::shifted_by_immediate(emit, encoding),
        0b001 if bits(encoding, 24, 23) == 0b10 && !bit(encoding, 20) => match bit(encoding, 21) {
            true => misc::status_immediate(emit, encoding),
            false => data::halves(emit, encoding),
        },
        0b001 => data::immediate(emit, encoding),
        0b010 => memory::words_and_bytes(emit, encoding),
        0b011 if bit(encoding, 4) => media::decode(emit, encoding),
        0b011 => memory::words_and_bytes(emit, encoding),
        0b100 => block::decode(emit, encoding),
        0b101 => Some(branch(emit, encoding)),
        _ if bits(encoding, 27, 24) == 0b1111 => {
            emit.imm(Code::Svc, bits(encoding, 23, 0));
            Some(TimingClass::Exception)
        }
        _ => decode_coprocessor::decode(emit, encoding),
    }
}

/// b, bl.
fn branch(emit: &mut Emit, encoding: u32) -> TimingClass {
    let (target, condition) = (emit.pc_value.wrapping_add(branch_offset(encoding)), bits(encoding, 31, 28));
    if bit(encoding, 24) {
        link(emit);
        emit.imm(Code::Jump, target);
    } else if condition == ALWAYS {
        emit.imm(Code::Jump, target);
    } else {
        emit.op(Code::JumpIf, condition as u8, 0, ZERO, target);
    }
    TimingClass::Branch
}

/// Sets LR to the address after this instruction.
fn link(emit: &mut Emit) {
    emit.constant(LR, emit.pc_value.wrapping_sub(4));
}

/// Bits 23:0, signed, in words.
fn branch_offset(encoding: u32) -> u32 {
    (encoding as i32).wrapping_shl(8).wrapping_shr(6) as u32
}

#[cfg(test)]
mod tests;
