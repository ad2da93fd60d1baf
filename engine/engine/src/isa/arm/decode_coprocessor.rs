//! Instructions to coprocessors, with the same encoding in A32 and T32: VFP (cp10, cp11), debug (cp14) and system
//! control (cp15).
//!
//! ARM DDI 0406C, sections A5.6, A7.5 to A7.9. Advanced SIMD is absent: its encodings in this space are undefined.

mod vfp_data;
mod vfp_transfer;

use super::emit::{Emit, bit, bits, not_pc, only_if, register};
use super::in_block::InBlock;
use super::op::{Code, TimingClass};
use super::registers::PC;

/// Decodes `encoding`, whose bits 27:26 are 11 and 27:24 not 1111. The top four bits are ignored: a condition, or 1110
/// in T32 (where 1111 is undefined here).
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let moves_two = bits(encoding, 27, 21) == 0b110_0010;
    match (bits(encoding, 11, 8), bits(encoding, 27, 24)) {
        (10 | 11, _) if !emit.features.vfp => None,
        (10 | 11, 0b1110) if bit(encoding, 4) => vfp_transfer::one(emit, encoding),
        (10 | 11, 0b1110) => vfp_data::decode(emit, encoding),
        (10 | 11, _) if moves_two => vfp_transfer::two(emit, encoding),
        (10 | 11, _) => vfp_transfer::memory(emit, encoding),
        (14 | 15, _) if emit.features.m_profile => None,
        (14 | 15, 0b1110) if bit(encoding, 4) => one(emit, encoding),
        (14 | 15, _) if moves_two => two(emit, encoding),
        _ => None,
    }
}

/// A VFP instruction in the form of micro-operations: A32, always executed.
fn always(encoding: u32) -> u32 {
    encoding & 0x0fff_ffff | 0xe << 28
}

/// mcr, mrc.
fn one(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rt, is_read) = (register(encoding, 12), bit(encoding, 20));
    only_if(is_read || rt != PC)?;
    let register = (bits(encoding, 19, 16), bits(encoding, 23, 21), bits(encoding, 3, 0), bits(encoding, 7, 5));
    if let (15, true, (13, 0, 0, opc2 @ 2..=4)) = (bits(encoding, 11, 8), is_read && rt != PC, register) {
        emit.in_block(rt, InBlock::ThreadId(opc2));
        return Some(TimingClass::Coprocessor);
    }
    let imm = bits(encoding, 11, 8)
        | bits(encoding, 23, 21) << 4
        | bits(encoding, 19, 16) << 8
        | bits(encoding, 3, 0) << 12
        | bits(encoding, 7, 5) << 16;
    emit.op(if is_read { Code::Mrc } else { Code::Mcr }, rt, 0, 0, imm);
    Some(TimingClass::Coprocessor)
}

/// mcrr, mrrc.
fn two(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rt, rt2, is_read) = (register(encoding, 12), register(encoding, 16), bit(encoding, 20));
    not_pc(&[rt, rt2])?;
    only_if(!is_read || rt != rt2)?;
    let imm = bits(encoding, 11, 8) | bits(encoding, 7, 4) << 4 | bits(encoding, 3, 0) << 12;
    emit.op4(if is_read { Code::Mrrc } else { Code::Mcrr }, rt, 0, 0, rt2, imm);
    Some(TimingClass::Coprocessor)
}

#[cfg(test)]
mod tests;
