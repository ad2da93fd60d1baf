//! Instructions without a condition: ARM DDI 0406C, section A5.7.

use super::{branch_offset, link};
use crate::isa::arm::emit::{Emit, bit, bits, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{ADDRESS, PC, SINK, SP, ZERO};

/// Bits 31:28 = 1111. Advanced SIMD and the second set of coprocessor instructions are absent.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    match bits(encoding, 27, 25) {
        0b000 if bits(encoding, 24, 20) == 0b10000 => processor_state(emit, encoding),
        0b010 if bits(encoding, 24, 20) == 0b10111 => {
            only_if(bits(encoding, 19, 8) == 0xff0)?;
            emit.barrier(encoding, bits(encoding, 7, 4) == 1)
        }
        0b010 | 0b011 => preload(emit, encoding),
        0b100 => exception_frames(emit, encoding),
        0b101 => {
            link(emit);
            let half = bits(encoding, 24, 24) << 1;
            let target = emit.pc_value.wrapping_add(branch_offset(encoding)).wrapping_add(half);
            emit.imm(Code::Jump, target | 1);
            Some(TimingClass::Branch)
        }
        _ => None,
    }
}

/// cps, setend.
fn processor_state(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    if bit(encoding, 16) {
        only_if(encoding & 0x000f_fdff == 0x0001_0000)?;
        emit.imm(Code::Setend, bits(encoding, 9, 9));
        return Some(TimingClass::Status);
    }
    let (imod, changes_mode, masks) = (bits(encoding, 19, 18), bits(encoding, 17, 17), bits(encoding, 8, 6));
    let mode = bits(encoding, 4, 0);
    only_if(bits(encoding, 15, 9) == 0 && !bit(encoding, 5))?;
    only_if(imod != 1 && (imod != 0) == (masks != 0) && (imod != 0 || changes_mode == 1))?;
    only_if(changes_mode == 1 || mode == 0)?;
    let sets_or_clears = match imod {
        0 => 0,
        2 => 1 << 10,
        _ => 1 << 9,
    };
    Some(emit.change_state(mode | changes_mode << 5 | masks << 6 | sets_or_clears))
}

/// pld, pldw, pli, and unallocated hints: these and pli do nothing.
fn preload(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let is_register = bit(encoding, 25);
    only_if(!is_register || !bit(encoding, 4))?;
    let has_1111 = bits(encoding, 15, 12) == 15;
    match (bit(encoding, 24), bits(encoding, 22, 20)) {
        (false, option) if option == 0b001 || option == 0b101 && has_1111 => {
            emit.nothing();
            return Some(TimingClass::Hint);
        }
        (true, 0b001 | 0b101) if has_1111 => {}
        _ => return None,
    }
    let (rn, up) = (register(encoding, 16), bit(encoding, 23));
    if is_register {
        let rm = register(encoding, 0);
        only_if(rm != PC)?;
        let base = emit.read(rn);
        let offset = emit.shifted(false, rm, bits(encoding, 6, 5), bits(encoding, 11, 7));
        if up {
            emit.op(Code::Pld, 0, base, offset, 0);
        } else {
            emit.op(Code::Sub, ADDRESS, base, offset, 0);
            emit.op(Code::Pld, 0, ADDRESS, ZERO, 0);
        }
    } else {
        let imm12 = bits(encoding, 11, 0);
        let offset = if up { imm12 } else { imm12.wrapping_neg() };
        match rn {
            PC => emit.op(Code::Pld, 0, ZERO, ZERO, emit.pc_value.wrapping_add(offset)),
            _ => emit.op(Code::Pld, 0, rn, ZERO, offset),
        }
    }
    Some(TimingClass::Hint)
}

/// rfe, srs: two words, accessed as by ldm and stm.
fn exception_frames(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, writes_back) = (register(encoding, 16), bit(encoding, 21));
    let (offset, change): (i32, i8) = match bits(encoding, 24, 23) {
        0b00 => (-4, -8),
        0b01 => (0, 8),
        0b10 => (-8, -8),
        _ => (4, 8),
    };
    match (bit(encoding, 22), bit(encoding, 20)) {
        (false, true) => {
            only_if(bits(encoding, 15, 0) == 0x0a00 && rn != PC)?;
            let into = if writes_back { rn } else { SINK };
            emit.op4(Code::Rfe, change as u8, rn, 0, into, offset as u32);
        }
        (true, false) => {
            only_if(rn == SP && bits(encoding, 15, 5) == 0x0500 >> 5)?;
            let change = if writes_back { change } else { 0 };
            emit.op(Code::Srs, change as u8, 0, 0, (offset << 8) as u32 | bits(encoding, 4, 0));
        }
        _ => return None,
    }
    Some(TimingClass::Exception)
}
