//! Data processing: ARM DDI 0406C, sections A5.2.1 to A5.2.3.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC, RESULT, SINK, ZERO};

/// Micro-operations by opcode (bits 24:21), without flags and with them: and, eor, sub, rsb, add, adc, sbc, rsc, tst,
/// teq, cmp, cmn, orr, mov, bic, mvn.
#[rustfmt::skip]
const CODES: [(Code, Code); 16] = [
    (Code::And, Code::Ands), (Code::Eor, Code::Eors), (Code::Sub, Code::Subs), (Code::Rsb, Code::Rsbs),
    (Code::Add, Code::Adds), (Code::Adc, Code::Adcs), (Code::Sbc, Code::Sbcs), (Code::Rsc, Code::Rscs),
    (Code::And, Code::Ands), (Code::Eor, Code::Eors), (Code::Sub, Code::Subs), (Code::Add, Code::Adds),
    (Code::Orr, Code::Orrs), (Code::Mov, Code::Movs), (Code::Bic, Code::Bics), (Code::Mvn, Code::Mvns),
];
const MOV: u32 = 0b1101;
const MVN: u32 = 0b1111;
const SUB: u32 = 0b0010;
const ADD: u32 = 0b0100;

/// The fields that all forms have, and what follows from them.
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

    /// Its carry is that of the second operand.
    fn takes_carry(&self) -> bool {
        self.sets_flags && self.is_logical()
    }

    /// Where the result goes first.
    fn result(&self) -> u8 {
        if self.rd == PC { RESULT } else { self.rd }
    }

    /// The operation itself, on x[rm] + `imm`.
    fn compute(&self, emit: &mut Emit, rm: u8, imm: u32) {
        let (plain, with_flags) = CODES[self.opcode as usize];
        let rn = emit.read(self.rn);
        emit.op(if self.sets_flags { with_flags } else { plain }, self.result(), rn, rm, imm);
    }

    /// Jumps to the result, which is in `target`, if it is for the program counter.
    fn finish(&self, emit: &mut Emit, target: u8, class: TimingClass) -> TimingClass {
        if self.rd != PC {
            return class;
        }
        if self.returns {
            emit.op(Code::ExceptionReturn, 0, 0, target, 0);
            return TimingClass::Exception;
        }
        emit.op(Code::JumpTo, 0, 0, target, 0);
        TimingClass::IndirectBranch
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
        emit.op(Code::Mov, fields.result(), ZERO, ZERO, address);
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
    let Some((plain, with_carry, amount)) = immediate_shift(bits(encoding, 6, 5), bits(encoding, 11, 7)) else {
        if fields.opcode == MOV && fields.rd == PC {
            return Some(fields.finish(emit, rm, TimingClass::Alu));
        }
        fields.compute(emit, rm, 0);
        return Some(fields.finish(emit, RESULT, TimingClass::Alu));
    };
    let code = if fields.takes_carry() { with_carry } else { plain };
    finish_shifted(emit, &fields, Shift { code, rn: 0, rm, amount }, TimingClass::AluShift)
}

/// The second operand is a register, shifted by another.
pub fn shifted_by_register(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    const SHIFTS: [(Code, Code); 4] = [
        (Code::LslReg, Code::LslRegs),
        (Code::LsrReg, Code::LsrRegs),
        (Code::AsrReg, Code::AsrRegs),
        (Code::RorReg, Code::RorRegs),
    ];
    let fields = Fields::of(encoding)?;
    let (rm, rs) = (register(encoding, 0), register(encoding, 8));
    not_pc(&[rm, rs, fields.rn, fields.rd])?;
    let (plain, with_carry) = SHIFTS[bits(encoding, 6, 5) as usize];
    let code = if fields.takes_carry() { with_carry } else { plain };
    finish_shifted(emit, &fields, Shift { code, rn: rs, rm, amount: 0 }, TimingClass::AluShiftRegister)
}

/// A shift's micro-operation.
struct Shift {
    code: Code,
    rn: u8,
    rm: u8,
    amount: u32,
}

/// Shifts, and does the operation on the outcome. A move is the shift alone.
fn finish_shifted(emit: &mut Emit, fields: &Fields, shift: Shift, class: TimingClass) -> Option<TimingClass> {
    if fields.opcode == MOV {
        emit.op(shift.code, fields.result(), shift.rn, shift.rm, shift.amount);
        if fields.sets_flags {
            emit.op(Code::TestNz, 0, 0, fields.rd, 0);
        }
    } else {
        emit.op(shift.code, OPERAND, shift.rn, shift.rm, shift.amount);
        fields.compute(emit, OPERAND, 0);
    }
    Some(fields.finish(emit, RESULT, class))
}

/// A shift by an immediate as encoded: without and with carry, and its amount; nothing for none at all.
pub fn immediate_shift(kind: u32, imm5: u32) -> Option<(Code, Code, u32)> {
    let or_32 = if imm5 == 0 { 32 } else { imm5 };
    match (kind, imm5) {
        (0, 0) => None,
        (0, _) => Some((Code::LslImm, Code::LslImms, imm5)),
        (1, _) => Some((Code::LsrImm, Code::LsrImms, or_32)),
        (2, _) => Some((Code::AsrImm, Code::AsrImms, or_32)),
        (_, 0) => Some((Code::Rrx, Code::Rrxs, 0)),
        _ => Some((Code::RorImm, Code::RorImms, imm5)),
    }
}

/// x[rm] shifted by an immediate: the register that has it.
pub fn shifted(emit: &mut Emit, rm: u8, kind: u32, imm5: u32) -> u8 {
    let Some((code, _, amount)) = immediate_shift(kind, imm5) else { return rm };
    emit.op(code, OPERAND, 0, rm, amount);
    OPERAND
}

/// movw, movt.
pub fn halves(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rd, imm16) = (register(encoding, 12), bits(encoding, 19, 16) << 12 | bits(encoding, 11, 0));
    not_pc(&[rd])?;
    let code = if bit(encoding, 22) { Code::Movt } else { Code::Mov };
    emit.op(code, rd, ZERO, ZERO, imm16);
    Some(TimingClass::Alu)
}
