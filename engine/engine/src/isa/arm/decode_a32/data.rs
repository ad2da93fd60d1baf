//! Data processing: ARM DDI 0406C, sections A5.2.1 to A5.2.3.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register, with_flags};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, RESULT, SINK, ZERO};

/// Micro-operations by opcode (bits 24:21): and, eor, sub, rsb, add, adc, sbc, rsc, tst, teq, cmp, cmn, orr, mov, bic,
/// mvn.
#[rustfmt::skip]
const CODES: [Code; 16] = [
    Code::And, Code::Eor, Code::Sub, Code::Rsb, Code::Add, Code::Adc, Code::Sbc, Code::Rsc,
    Code::And, Code::Eor, Code::Sub, Code::Add, Code::Orr, Code::Mov, Code::Bic, Code::Mvn,
];
const MOV: u32 = 0b1101;
const MVN: u32 = 0b1111;
const SUB: u32 = 0b0010;
const ADD: u32 = 0b0100;

/// The fields that all forms have, and values derived from them.
struct Fields {
    opcode: u32,
    /// Destination; SINK for comparisons.
    rd: u8,
    /// First operand; ZERO for moves.
    rn: u8,
    sets_flags: bool,
    /// A move to the program counter with flags: they come from SPSR.
    returns: bool,
}

impl Fields {
    fn of(encoding: u32) -> Option<Self> {
        let (opcode, s) = (bits(encoding, 24, 21), bit(encoding, 20));
        let (rn, rd) = (register(encoding, 16), register(encoding, 12));
        let compares = opcode & 0b1100 == 0b1000;
        let moves = opcode == MOV || opcode == MVN;
        only_if(!(compares && rd != 0 || moves && rn != 0))?;
        Some(Self {
            opcode,
            rd: if compares { SINK } else { rd },
            rn: if moves { ZERO } else { rn },
            sets_flags: s && (compares || rd != PC),
            returns: s && !compares && rd == PC,
        })
    }

    fn is_logical(&self) -> bool {
        matches!(self.opcode, 0 | 1 | 8 | 9 | 12..)
    }

    /// True if its carry is that of the second operand.
    fn takes_carry(&self) -> bool {
        self.sets_flags && self.is_logical()
    }

    /// Destination of the operation.
    fn result(&self) -> u8 {
        if self.rd == PC { RESULT } else { self.rd }
    }

    /// The operation itself, on x[rm] + `imm`.
    fn compute(&self, emit: &mut Emit, rm: u8, imm: u32) {
        let code = CODES[self.opcode as usize];
        let rn = emit.read(self.rn);
        emit.op(if self.sets_flags { with_flags(code) } else { code }, self.result(), rn, rm, imm);
    }

    /// Jumps to the result, which is in `target`, if it is for the program counter.
    fn finish(&self, emit: &mut Emit, target: u8, class: TimingClass) -> TimingClass {
        match self.rd {
            PC if self.returns => emit.exception_return(target),
            PC => emit.jump_to(target),
            _ => class,
        }
    }
}

/// The second operand is an immediate.
pub fn immediate(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let fields = Fields::of(encoding)?;
    let (value, carry) = rotated_immediate(encoding);
    if let (true, Some(carry)) = (fields.takes_carry(), carry) {
        emit.imm(Code::SetC, carry);
    }
    let address = match fields.opcode {
        ADD => emit.pc_value.wrapping_add(value),
        _ => emit.pc_value.wrapping_sub(value),
    };
    if fields.rn == PC && !fields.sets_flags && matches!(fields.opcode, ADD | SUB) {
        emit.constant(fields.result(), address);
    } else {
        fields.compute(emit, ZERO, value);
    }
    Some(fields.finish(emit, RESULT, TimingClass::Alu))
}

/// The immediate of bits 11:0, and its carry out if it has one.
pub fn rotated_immediate(encoding: u32) -> (u32, Option<u32>) {
    let rotation = 2 * bits(encoding, 11, 8);
    let value = bits(encoding, 7, 0).rotate_right(rotation);
    (value, (rotation != 0).then_some(value >> 31))
}

/// The second operand is a register, shifted by an immediate.
pub fn shifted_by_immediate(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let fields = Fields::of(encoding)?;
    let rm = emit.read(register(encoding, 0));
    let (kind, amount) = (bits(encoding, 6, 5), bits(encoding, 11, 7));
    if (kind, amount) != (0, 0) {
        let shift = |emit: &mut Emit, into| emit.shift(fields.takes_carry(), into, rm, kind, amount);
        return Some(finish_shifted(emit, &fields, shift, TimingClass::AluShift));
    }
    if fields.opcode == MOV && fields.rd == PC {
        return Some(fields.finish(emit, rm, TimingClass::Alu));
    }
    fields.compute(emit, rm, 0);
    Some(fields.finish(emit, RESULT, TimingClass::Alu))
}

/// The second operand is a register, shifted by another.
pub fn shifted_by_register(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let fields = Fields::of(encoding)?;
    let (rm, rs) = (register(encoding, 0), register(encoding, 8));
    not_pc(&[rm, rs, fields.rn, fields.rd])?;
    let kind = bits(encoding, 6, 5);
    let shift = |emit: &mut Emit, into| emit.shift_by_register(fields.takes_carry(), into, rm, kind, rs);
    Some(finish_shifted(emit, &fields, shift, TimingClass::AluShiftRegister))
}

/// Shifts, and does the operation on the result. A move is the shift alone.
fn finish_shifted(
    emit: &mut Emit,
    fields: &Fields,
    shift: impl FnOnce(&mut Emit, u8),
    class: TimingClass,
) -> TimingClass {
    if fields.opcode == MOV {
        shift(emit, fields.result());
        emit.test(fields.sets_flags, fields.rd);
    } else {
        shift(emit, OPERAND);
        fields.compute(emit, OPERAND, 0);
    }
    fields.finish(emit, RESULT, class)
}

/// movw, movt.
pub fn halves(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rd, imm16) = (register(encoding, 12), bits(encoding, 19, 16) << 12 | bits(encoding, 11, 0));
    not_pc(&[rd])?;
    let code = if bit(encoding, 22) { Code::Movt } else { Code::Mov };
    emit.op(code, rd, ZERO, ZERO, imm16);
    Some(TimingClass::Alu)
}
