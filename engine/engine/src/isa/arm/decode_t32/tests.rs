//! Tests of decoding, also of all 16-bit encodings. `tests/differential` compares the instructions' effects with
//! another simulator.

use super::*;
use crate::cpu::memory_system::access::how;
use crate::isa::arm::registers::{FLAGS, LR, PC_VALUE, RESULT, SINK, SP, ZERO};

mod long;
mod m_profile;
mod short;

const PC: u32 = 0x2000_0002;
const FEATURES: Features = Features {
    divide: true,
    vfp: true,
    vfp_d32: true,
    m_profile: false,
    traps_division: false,
    ends_division_early: false,
};

fn op(code: Code, rd: u8, rn: u8, rm: u8, imm: u32) -> Op {
    Op { code, rd, rn, rm, ra: 0, imm }
}

fn access(code: Code, rd: u8, rn: u8, rm: u8, ra: u8, imm: u32) -> Op {
    Op { code, rd, rn, rm, ra, imm }
}

/// A 16-bit encoding, or a 32-bit one; in an IT block if `it` is not 0.
fn decode_in(it: &mut u8, encoding: u32) -> (Instr, Vec<Op>) {
    let mut ops = Vec::new();
    let (first, second) = if encoding >> 16 == 0 { (encoding, 0xffff) } else { (encoding >> 16, encoding & 0xffff) };
    let instr = decode(first as u16, second as u16, PC, FEATURES, it, &mut ops);
    (instr, ops)
}

fn decoded(encoding: u32) -> (Instr, Vec<Op>) {
    decode_in(&mut 0, encoding)
}

fn ops(encoding: u32) -> Vec<Op> {
    decoded(encoding).1
}

fn undefined(encoding: u32) -> Vec<Op> {
    vec![op(Code::Undefined, 0, 0, ZERO, encoding)]
}
