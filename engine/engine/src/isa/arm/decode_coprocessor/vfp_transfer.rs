//! VFP registers to and from general registers and memory: ARM DDI 0406C, sections A7.6, A7.8 and A7.9.

use super::always;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{ADDRESS, PC, ZERO};

/// Number of the status register FPSCR.
const FPSCR: u32 = 1;

/// Bit 4 set: vmov of a core register and a single or half a double; vmrs, vmsr.
pub fn one(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rt, is_read) = (register(encoding, 12), bit(encoding, 20));
    only_if(bits(encoding, 6, 5) == 0 && bits(encoding, 3, 0) == 0)?;
    match (bit(encoding, 8), bits(encoding, 23, 21)) {
        (false, 0b111) => {
            let system = bits(encoding, 19, 16);
            only_if(system == FPSCR || !emit.features.m_profile)?;
            only_if(!bit(encoding, 7) && (rt != PC || is_read && system == FPSCR))?;
            match (is_read, system) {
                // It changes only what moves change, so a block continues after it.
                (true, FPSCR) => emit.op(Code::Vfp, rt, 0, 0, always(encoding)),
                _ => emit.op(if is_read { Code::Vmrs } else { Code::Vmsr }, rt, 0, 0, system),
            }
        }
        (false, 0b000) => {
            not_pc(&[rt])?;
            emit.op(Code::Vfp, rt, 0, 0, always(encoding));
        }
        (true, 0b000 | 0b001) => {
            not_pc(&[rt])?;
            only_if(emit.features.vfp_d32 || !bit(encoding, 7))?;
            emit.op(Code::Vfp, rt, 0, 0, always(encoding));
        }
        _ => return None,
    }
    Some(TimingClass::VfpMove)
}

/// vmov of two core registers and two singles or a double.
pub fn two(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rt, rt2) = (register(encoding, 12), register(encoding, 16));
    let (is_double, is_read) = (bit(encoding, 8), bit(encoding, 20));
    not_pc(&[rt, rt2])?;
    only_if(bits(encoding, 7, 6) == 0 && bit(encoding, 4) && (!is_read || rt != rt2))?;
    let last_single = bit(encoding, 5) && bits(encoding, 3, 0) == 15;
    only_if(if is_double { emit.features.vfp_d32 || !bit(encoding, 5) } else { !last_single })?;
    emit.op4(Code::Vfp, rt, 0, 0, rt2, always(encoding));
    Some(TimingClass::VfpMoveTwo)
}

/// vldr, vstr, vldm, vstm (with vpush, vpop, fldmx, fstmx).
pub fn memory(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [p, u, w, is_load] = [24, 23, 21, 20].map(|index| bit(encoding, index));
    let (rn, imm8) = (register(encoding, 16), bits(encoding, 7, 0));
    let signed = |offset: u32| if u { offset } else { offset.wrapping_neg() };
    if p && !w {
        let words = if bit(encoding, 8) { 2 } else { 1 };
        let first = first_word(encoding, words, emit)?;
        return transfer(emit, is_load, rn, signed(imm8 * 4), first, words);
    }
    // Increment after, with or without write-back; decrement before, with it.
    only_if(p != u && (rn != PC || !w))?;
    let words = if bit(encoding, 8) { imm8 & !1 } else { imm8 };
    only_if(words > 0 && words <= 32)?;
    let first = first_word(encoding, words, emit)?;
    let class = transfer(emit, is_load, rn, if u { 0 } else { signed(imm8 * 4) }, first, words)?;
    if w {
        emit.op(Code::Add, rn, rn, ZERO, signed(imm8 * 4));
    }
    Some(class)
}

/// Register word of Vd, if `words` from there on exist.
fn first_word(encoding: u32, words: u32, emit: &Emit) -> Option<u32> {
    let (four, fifth) = (bits(encoding, 15, 12), bits(encoding, 22, 22));
    let is_double = bit(encoding, 8);
    let first = if is_double { fifth << 5 | four << 1 } else { four << 1 | fifth };
    let end = if is_double && emit.features.vfp_d32 { 64 } else { 32 };
    (first + words <= end).then_some(first)
}

/// Transfers `words` from x[rn] + `offset` on.
fn transfer(emit: &mut Emit, is_load: bool, rn: u8, offset: u32, first: u32, words: u32) -> Option<TimingClass> {
    let literal = emit.aligned_pc().wrapping_add(offset);
    let (base, offset) = match rn {
        PC if words == 1 => (ZERO, literal),
        PC => {
            emit.constant(ADDRESS, literal);
            (ADDRESS, 0)
        }
        _ => (rn, offset),
    };
    let (code, class) = if is_load { (Code::Vldr, TimingClass::VfpLoad) } else { (Code::Vstr, TimingClass::VfpStore) };
    let flags = emit.announce(base, offset, words, is_load);
    for word in 0..words {
        emit.op4(code, (first + word) as u8, base, ZERO, flags, offset.wrapping_add(4 * word));
    }
    Some(class)
}
