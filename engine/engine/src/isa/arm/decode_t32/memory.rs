//! 32-bit loads and stores of one register, and memory hints: A6.3.7 to A6.3.10.

use crate::cpu::memory_system::access::how;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, RESULT, ZERO};

/// Address of an access: x[rn] + x[rm] + imm, and the change of the base afterwards.
struct Address {
    rn: u8,
    rm: u8,
    imm: u32,
    step: Option<u32>,
    /// Access as from User mode.
    unprivileged: bool,
}

/// An access to x[rn] + imm, without side effects.
const fn at(rn: u8, imm: u32) -> Address {
    Address { rn, rm: ZERO, imm, step: None, unprivileged: false }
}

/// Bit 20 set: a load.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let code = code(encoding)?;
    let rt = register(encoding, 12);
    let is_load = bit(encoding, 20);
    only_if(is_load || rt != PC)?;
    let address = address(emit, encoding)?;
    let plain = address.step.is_none() && !address.unprivileged;
    if rt == PC && code != Code::Ldr {
        only_if(plain)?;
        return Some(hint(emit, code, &address));
    }
    only_if(address.step.is_none() || address.rn != rt)?;
    only_if(rt != PC || !address.unprivileged)?;
    let flags = if address.unprivileged { how::UNPRIVILEGED } else { 0 };
    emit.op4(code, if rt == PC { RESULT } else { rt }, address.rn, address.rm, flags, address.imm);
    if let Some(step) = address.step {
        emit.op(Code::Add, address.rn, address.rn, ZERO, step);
    }
    if rt == PC {
        return Some(emit.jump_to(RESULT));
    }
    Some(if is_load { TimingClass::Load } else { TimingClass::Store })
}

/// By bits 24 (signed), 22:21 (size) and 20.
fn code(encoding: u32) -> Option<Code> {
    Some(match (bit(encoding, 24), bits(encoding, 22, 21), bit(encoding, 20)) {
        (false, 0, true) => Code::Ldrb,
        (false, 1, true) => Code::Ldrh,
        (false, 2, true) => Code::Ldr,
        (true, 0, true) => Code::Ldrsb,
        (true, 1, true) => Code::Ldrsh,
        (false, 0, false) => Code::Strb,
        (false, 1, false) => Code::Strh,
        (false, 2, false) => Code::Str,
        _ => return None,
    })
}

fn address(emit: &mut Emit, encoding: u32) -> Option<Address> {
    let rn = register(encoding, 16);
    let (imm12, imm8) = (bits(encoding, 11, 0), bits(encoding, 7, 0));
    if rn == PC {
        only_if(bit(encoding, 20))?;
        let pc = emit.aligned_pc();
        return Some(at(ZERO, if bit(encoding, 23) { pc.wrapping_add(imm12) } else { pc.wrapping_sub(imm12) }));
    }
    if bit(encoding, 23) {
        return Some(at(rn, imm12));
    }
    if bits(encoding, 11, 6) == 0 {
        let (rm, amount) = (register(encoding, 0), bits(encoding, 5, 4));
        not_pc(&[rm])?;
        if amount == 0 {
            return Some(Address { rm, ..at(rn, 0) });
        }
        emit.op(Code::LslImm, OPERAND, 0, rm, amount);
        return Some(Address { rm: OPERAND, ..at(rn, 0) });
    }
    let offset = if bit(encoding, 9) { imm8 } else { imm8.wrapping_neg() };
    // P, U, W.
    match bits(encoding, 11, 8) {
        0b1110 => Some(Address { unprivileged: true, ..at(rn, imm8) }),
        0b1100 => Some(at(rn, offset)),
        0b1101 | 0b1111 => Some(Address { step: Some(offset), ..at(rn, offset) }),
        0b1001 | 0b1011 => Some(Address { step: Some(offset), ..at(rn, 0) }),
        _ => None,
    }
}

/// pld, pldw, pli, and unallocated hints.
fn hint(emit: &mut Emit, code: Code, address: &Address) -> TimingClass {
    if matches!(code, Code::Ldrb | Code::Ldrh) {
        emit.op(Code::Pld, 0, address.rn, address.rm, address.imm);
    } else {
        emit.nothing();
    }
    TimingClass::Hint
}
