//! 16-bit data processing: A6.2.1 to A6.2.3.

use super::operand::{Operand, data, shift_immediate, shift_register};
use crate::isa::arm::emit::{Emit, bit, bits, register as register_at};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{PC, RESULT, SINK, ZERO};

/// A register of the lower eight, in the three bits from `low` on.
pub const fn narrow(half: u32, low: u32) -> u8 {
    (half >> low & 7) as u8
}

/// Shift by an immediate, add, subtract, move and compare.
pub fn immediate(emit: &mut Emit, half: u32, flags: bool) -> Option<TimingClass> {
    let (rd, rn) = (narrow(half, 0), narrow(half, 3));
    let large = narrow(half, 8);
    let imm8 = Operand::immediate(half & 0xff);
    let operand = if bit(half, 10) { Operand::immediate(bits(half, 8, 6)) } else { Operand::register(narrow(half, 6)) };
    Some(match half >> 11 {
        kind @ 0..=2 => shift_immediate(emit, flags, rd, rn, kind, bits(half, 10, 6)),
        3 if bit(half, 9) => data(emit, Code::Sub, flags, rd, rn, operand),
        3 => data(emit, Code::Add, flags, rd, rn, operand),
        4 => data(emit, Code::Mov, flags, large, ZERO, imm8),
        5 => data(emit, Code::Sub, true, SINK, large, imm8),
        6 => data(emit, Code::Add, flags, large, large, imm8),
        _ => data(emit, Code::Sub, flags, large, large, imm8),
    })
}

/// Data processing with two registers; the first one is the destination.
pub fn register(emit: &mut Emit, half: u32, flags: bool) -> Option<TimingClass> {
    let (rd, rm) = (narrow(half, 0), narrow(half, 3));
    let operand = Operand::register(rm);
    Some(match bits(half, 9, 6) {
        0 => data(emit, Code::And, flags, rd, rd, operand),
        1 => data(emit, Code::Eor, flags, rd, rd, operand),
        2 => shift_register(emit, flags, rd, rd, 0, rm),
        3 => shift_register(emit, flags, rd, rd, 1, rm),
        4 => shift_register(emit, flags, rd, rd, 2, rm),
        5 => data(emit, Code::Adc, flags, rd, rd, operand),
        6 => data(emit, Code::Sbc, flags, rd, rd, operand),
        7 => shift_register(emit, flags, rd, rd, 3, rm),
        8 => data(emit, Code::And, true, SINK, rd, operand),
        9 => data(emit, Code::Rsb, flags, rd, rm, Operand::immediate(0)),
        10 => data(emit, Code::Sub, true, SINK, rd, operand),
        11 => data(emit, Code::Add, true, SINK, rd, operand),
        12 => data(emit, Code::Orr, flags, rd, rd, operand),
        13 => multiply(emit, flags, rd, rm),
        14 => data(emit, Code::Bic, flags, rd, rd, operand),
        _ => data(emit, Code::Mvn, flags, rd, ZERO, operand),
    })
}

fn multiply(emit: &mut Emit, flags: bool, rd: u8, rm: u8) -> TimingClass {
    emit.op(Code::Mul, rd, rm, rd, 0);
    emit.test(flags, rd);
    TimingClass::Multiply
}

/// add, cmp and mov with all sixteen registers, and bx and blx.
pub fn special(emit: &mut Emit, half: u32) -> Option<TimingClass> {
    let rd = narrow(half, 0) | (half >> 4 & 8) as u8;
    let rm = register_at(half, 3);
    match bits(half, 9, 8) {
        0 => {
            let (rn, rm) = (emit.read(rd), emit.read(rm));
            emit.op(Code::Add, if rd == PC { RESULT } else { rd }, rn, rm, 0);
            Some(jump_if_pc(emit, rd, RESULT))
        }
        1 => {
            let (rn, rm) = (emit.read(rd), emit.read(rm));
            emit.op(Code::Subs, SINK, rn, rm, 0);
            Some(TimingClass::Alu)
        }
        2 => {
            let rm = emit.read(rm);
            if rd != PC {
                emit.op(Code::Mov, rd, ZERO, rm, 0);
            }
            Some(jump_if_pc(emit, rd, rm))
        }
        _ if half & 7 != 0 => None,
        _ if bit(half, 7) => emit.call(rm, emit.pc_value.wrapping_sub(2) | 1),
        _ => {
            let rm = emit.read(rm);
            Some(emit.jump_to(rm))
        }
    }
}

/// If the destination is the program counter: a jump to the address in `target`.
fn jump_if_pc(emit: &mut Emit, rd: u8, target: u8) -> TimingClass {
    if rd != PC {
        return TimingClass::Alu;
    }
    emit.op(Code::JumpToSame, 0, 0, target, 0);
    TimingClass::IndirectBranch
}
