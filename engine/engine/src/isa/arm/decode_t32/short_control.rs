//! 16-bit branches and miscellaneous instructions: A6.2.5 and A6.2.6.

use super::short_data::narrow;
use super::transfer::Transfer;
use crate::isa::arm::emit::{Emit, bit, bits};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{LR, PC, SP, ZERO};

/// A6.2.5.
pub fn miscellaneous(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    let list = bits(half, 7, 0);
    match bits(half, 11, 8) {
        0 => {
            let code = if bit(half, 7) { Code::Sub } else { Code::Add };
            emit.op(code, SP, SP, ZERO, 4 * bits(half, 6, 0));
            Some(TimingClass::Alu)
        }
        1 | 3 | 9 | 11 => Some(compare_and_branch(emit, half)),
        2 => {
            let code = [Code::Sxth, Code::Sxtb, Code::Uxth, Code::Uxtb][bits(half, 7, 6) as usize];
            Some(unary(emit, code, half))
        }
        4 | 5 => {
            let list = list | bits(half, 8, 8) << LR;
            Transfer { is_load: false, up: false, base: SP, list, write_back: true }.decode(emit)
        }
        6 => state(emit, half),
        10 => match bits(half, 7, 6) {
            0 => Some(unary(emit, Code::Rev, half)),
            1 => Some(unary(emit, Code::Rev16, half)),
            3 => Some(unary(emit, Code::Revsh, half)),
            _ => None,
        },
        12 | 13 => {
            let list = list | bits(half, 8, 8) << PC;
            Transfer { is_load: true, up: true, base: SP, list, write_back: true }.decode(emit)
        }
        14 => {
            emit.imm(Code::Bkpt, list);
            Some(TimingClass::Exception)
        }
        15 if half & 0xf == 0 => Some(emit.hint(bits(half, 7, 4))),
        // it: the next instructions get conditions; the instruction itself has no effect.
        15 => {
            emit.nothing();
            Some(TimingClass::IfThen)
        }
        _ => None,
    }
}

/// An operation on one register.
fn unary(emit: &mut Emit, code: Code, half: u32) -> TimingClass {
    emit.op(code, narrow(half, 0), 0, narrow(half, 3), 0);
    TimingClass::Alu
}

/// cbz and cbnz.
fn compare_and_branch(emit: &mut Emit, half: u32) -> TimingClass {
    let offset = bits(half, 9, 9) << 6 | bits(half, 7, 3) << 1;
    let code = if bit(half, 11) { Code::JumpIfNotZero } else { Code::JumpIfZero };
    emit.op(code, 0, narrow(half, 0), ZERO, emit.pc_value.wrapping_add(offset) | 1);
    TimingClass::Branch
}

/// setend and cps.
fn state(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    match bits(half, 7, 5) {
        2 if half & 0x17 == 0x10 && !emit.features.m_profile => emit.imm(Code::Setend, bits(half, 3, 3)),
        // The M profile has no A.
        3 if !(bit(half, 3) || emit.features.m_profile && bit(half, 2)) => {
            let sets_or_clears = if bit(half, 4) { 1 << 9 } else { 1 << 10 };
            emit.change_state(bits(half, 2, 0) << 6 | sets_or_clears);
        }
        _ => return None,
    }
    Some(TimingClass::Status)
}

/// b, with and without a condition, svc, and the permanently undefined encoding.
pub fn branch(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    if half >> 12 == 14 {
        return super::branch(emit, 14, ((half << 21) as i32 >> 20) as u32);
    }
    match bits(half, 11, 8) {
        14 => None,
        15 => {
            emit.imm(Code::Svc, half & 0xff);
            Some(TimingClass::Exception)
        }
        condition => super::branch(emit, condition as u8, ((half << 24) as i32 >> 23) as u32),
    }
}
