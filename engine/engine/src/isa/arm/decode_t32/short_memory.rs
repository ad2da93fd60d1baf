//! 16-bit loads, stores and addresses: A6.2.4, and related encodings of A6.2.

use super::short_data::narrow;
use super::transfer::Transfer;
use crate::isa::arm::emit::{Emit, bit, bits};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{SP, ZERO};

/// Loads and stores of one register, those relative to the program counter and to SP included.
pub fn single(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    let (rt, rn, large) = (narrow(half, 0), narrow(half, 3), narrow(half, 8));
    let (imm5, imm8) = (bits(half, 10, 6), bits(half, 7, 0));
    let is_load = bit(half, 11);
    let either = |load, store| if is_load { load } else { store };
    Some(match half >> 12 {
        4 => access(emit, Code::Ldr, large, ZERO, ZERO, emit.aligned_pc().wrapping_add(4 * imm8)),
        5 => access(emit, with_register(bits(half, 11, 9)), rt, rn, narrow(half, 6), 0),
        6 => access(emit, either(Code::Ldr, Code::Str), rt, rn, ZERO, 4 * imm5),
        7 => access(emit, either(Code::Ldrb, Code::Strb), rt, rn, ZERO, imm5),
        8 => access(emit, either(Code::Ldrh, Code::Strh), rt, rn, ZERO, 2 * imm5),
        _ => access(emit, either(Code::Ldr, Code::Str), large, SP, ZERO, 4 * imm8),
    })
}

/// The access for an opB, with a register as offset.
const fn with_register(operation: u32) -> Code {
    match operation {
        0 => Code::Str,
        1 => Code::Strh,
        2 => Code::Strb,
        3 => Code::Ldrsb,
        4 => Code::Ldr,
        5 => Code::Ldrh,
        6 => Code::Ldrb,
        _ => Code::Ldrsh,
    }
}

fn access(emit: &mut Emit, code: Code, rt: u8, rn: u8, rm: u8, imm: u32) -> TimingClass {
    emit.op4(code, rt, rn, rm, 0, imm);
    if matches!(code, Code::Str | Code::Strh | Code::Strb) { TimingClass::Store } else { TimingClass::Load }
}

/// adr, and add of an immediate to SP.
pub fn address(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    let (rd, imm) = (narrow(half, 8), 4 * bits(half, 7, 0));
    if bit(half, 11) {
        emit.op(Code::Add, rd, SP, ZERO, imm);
    } else {
        emit.constant(rd, emit.aligned_pc().wrapping_add(imm));
    }
    Some(TimingClass::Alu)
}

/// ldm and stm: a base that is loaded is not written back.
pub fn load_store_multiple(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    let (rn, list) = (narrow(half, 8), bits(half, 7, 0));
    let is_load = bit(half, 11);
    Transfer { is_load, up: true, base: rn, list, write_back: !is_load || list >> rn & 1 == 0 }.decode(emit)
}
