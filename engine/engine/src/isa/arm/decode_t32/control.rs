//! 32-bit branches and system instructions: A6.3.4, and rfe and srs of A6.3.5; in the M profile, also the stack
//! pointer's low bits.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::m_profile::is_special_register;
use crate::isa::arm::op::{Code, Op, TimingClass};
use crate::isa::arm::registers::{LR, PC, RESULT, SINK, SP, ZERO};

/// Branches and miscellaneous control.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    match (bit(encoding, 14), bit(encoding, 12)) {
        (false, false) if bits(encoding, 25, 23) == 7 => {
            only_if(!bit(encoding, 13))?;
            control(emit, encoding)
        }
        (false, false) => super::branch(emit, bits(encoding, 25, 22) as u8, near_offset(encoding)),
        (false, true) => super::branch(emit, 14, far_offset(encoding)),
        (true, true) => {
            emit.constant(LR, emit.pc_value | 1);
            super::branch(emit, 14, far_offset(encoding))
        }
        (true, false) => {
            only_if(!bit(encoding, 0) && !emit.features.m_profile)?;
            emit.constant(LR, emit.pc_value | 1);
            emit.imm(Code::Jump, emit.aligned_pc().wrapping_add(far_offset(encoding)));
            Some(TimingClass::Branch)
        }
    }
}

/// S:J2:J1:imm6:imm11:0, of conditional branches.
fn near_offset(encoding: u32) -> u32 {
    let upper = bits(encoding, 26, 26) << 20 | bits(encoding, 11, 11) << 19 | bits(encoding, 13, 13) << 18;
    let offset = upper | bits(encoding, 21, 16) << 12 | bits(encoding, 10, 0) << 1;
    ((offset << 11) as i32 >> 11) as u32
}

/// S:I1:I2:imm10:imm11:0; I1 and I2 are J1 and J2 if S is 1, else their inverses.
fn far_offset(encoding: u32) -> u32 {
    let s = bits(encoding, 26, 26);
    let (i1, i2) = (bits(encoding, 13, 13) ^ s ^ 1, bits(encoding, 11, 11) ^ s ^ 1);
    let offset = s << 24 | i1 << 23 | i2 << 22 | bits(encoding, 25, 16) << 12 | bits(encoding, 10, 0) << 1;
    ((offset << 7) as i32 >> 7) as u32
}

/// By bits 26:20; the upper three are 011 or 111. The M profile has moves to and from special registers, hints and
/// barriers (DDI 0403E, A5.3.4).
fn control(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd, low) = (register(encoding, 16), register(encoding, 8), bits(encoding, 7, 0));
    let m_profile = emit.features.m_profile;
    match bits(encoding, 26, 20) {
        0x38 if m_profile => {
            let mask = bits(encoding, 11, 10);
            not_pc(&[rn])?;
            only_if(bits(encoding, 9, 8) == 0 && mask != 0 && is_special_register(low))?;
            emit.op4(Code::Msr, 0, 0, rn, (mask << 2) as u8, low);
            Some(TimingClass::Status)
        }
        0x3a => {
            only_if(rn == PC && !bit(encoding, 11) && !(m_profile && bits(encoding, 10, 8) != 0))?;
            state_or_hint(emit, encoding)
        }
        0x3b => {
            only_if(rn == PC && rd == PC)?;
            emit.barrier(encoding, low == 0x2f)
        }
        0x3e if m_profile => {
            not_pc(&[rd])?;
            only_if(rn == PC && is_special_register(low))?;
            emit.op(Code::Mrs, rd, 0, ZERO, low);
            Some(TimingClass::Status)
        }
        _ if m_profile => None,
        spsr @ (0x38 | 0x39) => {
            let mask = bits(encoding, 11, 8);
            not_pc(&[rn])?;
            only_if(low == 0 && mask != 0)?;
            emit.op4(Code::Msr, 0, 0, rn, mask as u8, (spsr & 1) << 8);
            Some(TimingClass::Status)
        }
        // Jazelle is trivial: bxj is bx.
        0x3c => {
            only_if(bits(encoding, 11, 0) == 0xf00)?;
            not_pc(&[rn])?;
            Some(emit.jump_to(rn))
        }
        0x3d => {
            only_if(rn == LR && rd == PC)?;
            emit.op(Code::Sub, RESULT, LR, ZERO, low);
            Some(emit.exception_return(RESULT))
        }
        spsr @ (0x3e | 0x3f) => {
            not_pc(&[rd])?;
            only_if(rn == PC && low == 0)?;
            Some(emit.read_status(rd, spsr & 1))
        }
        0x7f => {
            only_if(bits(encoding, 11, 0) == 0)?;
            emit.imm(Code::Smc, bits(encoding, 19, 16));
            Some(TimingClass::Exception)
        }
        _ => None,
    }
}

/// cps with a mode, or a hint where no state changes.
fn state_or_hint(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (change, sets_mode) = (bits(encoding, 10, 9), bits(encoding, 8, 8));
    let low = bits(encoding, 7, 0);
    let sets_or_clears = match (change, sets_mode) {
        (0, 0) => return Some(emit.hint(low)),
        (0, _) => 0,
        (2, _) => 1 << 10,
        (3, _) => 1 << 9,
        _ => return None,
    };
    let mode = if sets_mode != 0 { bits(low, 4, 0) | 1 << 5 } else { 0 };
    Some(emit.change_state(mode | bits(low, 7, 5) << 6 | sets_or_clears))
}

/// rfe and srs: decrement before (bit 24 clear), or increment after.
pub fn return_state(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let rn = register(encoding, 16);
    let (offset, step) = if bit(encoding, 24) { (0, 8) } else { (-8, -8i8) };
    let write_back = bit(encoding, 21);
    let rd = if write_back { step as u8 } else { 0 };
    if bit(encoding, 20) {
        not_pc(&[rn])?;
        only_if(bits(encoding, 15, 0) == 0xc000)?;
        emit.op4(Code::Rfe, rd, rn, ZERO, if write_back { rn } else { SINK }, offset as u32);
    } else {
        only_if(rn == SP && bits(encoding, 15, 5) == 0x600)?;
        emit.op(Code::Srs, rd, 0, ZERO, (offset as u32) << 8 | bits(encoding, 4, 0));
    }
    Some(TimingClass::Exception)
}

/// Bits 1:0 of the stack pointer are always 0 (B1.4.1): they are cleared where an instruction may set them.
pub fn align_stack(ops: &mut Vec<Op>, start: usize) {
    let aligned =
        |op: &Op| matches!(op.code, Code::Add | Code::Sub) && op.rn == SP && op.rm == ZERO && op.imm.is_multiple_of(4);
    let jumps = ops.last().is_some_and(|op| op.code >= Code::Jump);
    if !jumps && ops[start..].iter().any(|op| writes_stack_pointer(op) && !aligned(op)) {
        ops.push(Op { code: Code::Bic, rd: SP, rn: SP, rm: ZERO, ra: 0, imm: 3 });
    }
}

fn writes_stack_pointer(op: &Op) -> bool {
    let stores =
        matches!(op.code, Code::Str | Code::Strb | Code::Strh | Code::Multiple | Code::Pld | Code::Vldr | Code::Vstr);
    op.rd == SP && !stores && op.code < Code::Jump
}
