//! ldrd, strd, exclusive accesses and table branches: A6.3.6.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{ADDRESS, OPERAND, PC, RESULT, ZERO};

/// By P (bit 24), U (23), W (21) and L (20).
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let is_load = bit(encoding, 20);
    if bit(encoding, 24) || bit(encoding, 21) {
        return two(emit, encoding);
    }
    if !bit(encoding, 23) {
        return exclusive_word(emit, encoding);
    }
    match (bits(encoding, 7, 4), is_load) {
        (0 | 1, true) => table_branch(emit, encoding),
        (4, _) => exclusive(emit, encoding, 1),
        (5, _) => exclusive(emit, encoding, 2),
        (7, _) if !emit.features.m_profile => exclusive(emit, encoding, 8),
        _ => None,
    }
}

/// ldrd and strd.
fn two(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rt, rt2) = (register(encoding, 16), register(encoding, 12), register(encoding, 8));
    let (pre, write_back, is_load) = (bit(encoding, 24), bit(encoding, 21), bit(encoding, 20));
    let imm = bits(encoding, 7, 0) * 4;
    let offset = if bit(encoding, 23) { imm } else { imm.wrapping_neg() };
    not_pc(&[rt, rt2])?;
    only_if(!is_load || rt != rt2)?;
    only_if(!write_back || rn != rt && rn != rt2)?;
    let (base, first) = if rn == PC {
        only_if(is_load && !write_back)?;
        emit.constant(ADDRESS, emit.aligned_pc().wrapping_add(offset));
        (ADDRESS, 0)
    } else {
        (rn, if pre { offset } else { 0 })
    };
    let code = if is_load { Code::Ldr } else { Code::Str };
    let flags = emit.announce(base, first, 2, is_load);
    let mut words = [(rt, first), (rt2, first.wrapping_add(4))];
    if rt == base {
        words.reverse();
    }
    for (register, at) in words {
        emit.op4(code, register, base, ZERO, flags, at);
    }
    if write_back {
        emit.op(Code::Add, rn, rn, ZERO, offset);
    }
    Some(if is_load { TimingClass::LoadMultiple } else { TimingClass::StoreMultiple })
}

/// ldrex and strex, which have an offset.
fn exclusive_word(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rt, rd) = (register(encoding, 16), register(encoding, 12), register(encoding, 8));
    let imm = bits(encoding, 7, 0) * 4;
    not_pc(&[rn, rt])?;
    let base = if imm == 0 { rn } else { ADDRESS };
    if imm != 0 {
        emit.op(Code::Add, ADDRESS, rn, ZERO, imm);
    }
    if bit(encoding, 20) {
        only_if(rd == PC)?;
        emit.op(Code::Ldrex, rt, base, ZERO, 4);
    } else {
        not_pc(&[rd])?;
        only_if(rd != rn && rd != rt)?;
        emit.op(Code::Strex, rd, base, rt, 4);
    }
    Some(TimingClass::Exclusive)
}

/// Exclusive accesses of other sizes. Of two words the second is in bits 11:8, which are ones otherwise.
fn exclusive(emit: &mut Emit, encoding: u32, bytes: u32) -> Option<TimingClass> {
    let (rn, rt, rt2, rd) =
        (register(encoding, 16), register(encoding, 12), register(encoding, 8), register(encoding, 0));
    not_pc(&[rn, rt])?;
    only_if((rt2 == PC) == (bytes != 8))?;
    let rt2 = if bytes == 8 { rt2 } else { ZERO };
    if bit(encoding, 20) {
        only_if(rd == PC && rt != rt2)?;
        emit.op4(Code::Ldrex, rt, rn, ZERO, rt2, bytes);
    } else {
        not_pc(&[rd])?;
        only_if(![rn, rt, rt2].contains(&rd))?;
        emit.op4(Code::Strex, rd, rn, rt, rt2, bytes);
    }
    Some(TimingClass::Exclusive)
}

/// tbb, tbh: branch forwards by twice the table's entry. A table often follows: then its base is the program counter's
/// value.
fn table_branch(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rm) = (register(encoding, 16), register(encoding, 0));
    only_if(bits(encoding, 15, 8) == 0xf0)?;
    not_pc(&[rm])?;
    let (base, imm) = if rn == PC { (ZERO, emit.pc_value) } else { (rn, 0) };
    if bit(encoding, 4) {
        emit.op(Code::LslImm, OPERAND, 0, rm, 1);
        emit.op(Code::Ldrh, RESULT, base, OPERAND, imm);
    } else {
        emit.op(Code::Ldrb, RESULT, base, rm, imm);
    }
    emit.op(Code::LslImm, RESULT, 0, RESULT, 1);
    emit.op(Code::Add, RESULT, RESULT, ZERO, emit.pc_value);
    emit.op(Code::JumpToSame, 0, 0, RESULT, 0);
    Some(TimingClass::TableBranch)
}
