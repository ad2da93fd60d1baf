//! What is for the system in the M profile: 32-bit instructions of A5.3.4 of its manual (DDI 0403E), and the stack
//! pointer's low bits.

use super::control::barrier;
use super::short_control::hint;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::m_profile::is_special_register;
use crate::isa::arm::op::{Code, Op, TimingClass};
use crate::isa::arm::registers::{PC, SP, ZERO};

/// By bits 26:20, the upper three of which are 011 or 111.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, rd) = (register(encoding, 16), register(encoding, 8));
    let low = bits(encoding, 7, 0);
    match bits(encoding, 26, 20) {
        0x38 => {
            let mask = bits(encoding, 11, 10);
            not_pc(&[rn])?;
            only_if(bits(encoding, 9, 8) == 0 && mask != 0 && is_special_register(low))?;
            emit.op4(Code::Msr, 0, 0, rn, (mask << 2) as u8, low);
            Some(TimingClass::Status)
        }
        0x3a => {
            only_if(rn == PC && !bit(encoding, 11) && bits(encoding, 10, 8) == 0)?;
            if low >> 4 == 15 {
                emit.imm(Code::Hint, 0);
                return Some(TimingClass::Hint);
            }
            Some(hint(emit, low))
        }
        0x3b => {
            only_if(rn == PC && rd == PC)?;
            barrier(emit, encoding)
        }
        0x3e => {
            not_pc(&[rd])?;
            only_if(rn == PC && is_special_register(low))?;
            emit.op(Code::Mrs, rd, 0, ZERO, low);
            Some(TimingClass::Status)
        }
        _ => None,
    }
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
        matches!(op.code, Code::Str | Code::Strb | Code::Strh | Code::Several | Code::Pld | Code::Vldr | Code::Vstr);
    op.rd == SP && !stores && op.code < Code::Jump
}
