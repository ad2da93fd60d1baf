//! Synchronization, hints, moves to the status registers and miscellaneous instructions: ARM DDI 0406C, sections
//! A5.2.10 to A5.2.12.

use super::data;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, Media, TimingClass};
use crate::isa::arm::registers::{OPERAND, PC};

/// Bits 27:23 = 00010, bits 20 and 7 clear, by bits 6:4 and 22:21.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rd, rm) = (register(encoding, 12), register(encoding, 0));
    let jumps = || only_if(bits(encoding, 19, 8) == 0xfff);
    match (bits(encoding, 6, 4), bits(encoding, 22, 21)) {
        (0b000, operation) if operation & 1 == 0 => {
            only_if(bits(encoding, 19, 16) == 15 && bits(encoding, 11, 0) == 0 && rd != PC)?;
            Some(emit.read_status(rd, operation >> 1))
        }
        (0b000, operation) => {
            only_if(bits(encoding, 15, 12) == 15 && bits(encoding, 11, 4) == 0 && rm != PC)?;
            emit.op4(Code::Msr, 0, 0, rm, register(encoding, 16), operation >> 1 << 8);
            Some(TimingClass::Status)
        }
        // bx; bxj, which is the same without Jazelle.
        (0b001 | 0b010, 0b01) => {
            jumps()?;
            let target = emit.read(rm);
            Some(emit.jump_to(target))
        }
        (0b011, 0b01) => {
            jumps()?;
            emit.call(rm, emit.pc_value.wrapping_sub(4))
        }
        (0b001, 0b11) => {
            only_if(bits(encoding, 19, 16) == 15 && bits(encoding, 11, 8) == 15)?;
            not_pc(&[rd, rm])?;
            emit.op(Code::Clz, rd, 0, rm, 0);
            Some(TimingClass::Alu)
        }
        (0b101, operation) => saturating(emit, encoding, operation),
        (0b111, 0b01) => {
            emit.imm(Code::Bkpt, bits(encoding, 19, 8) << 4 | bits(encoding, 3, 0));
            Some(TimingClass::Exception)
        }
        (0b111, 0b11) if bits(encoding, 19, 8) == 0 => {
            emit.imm(Code::Smc, bits(encoding, 3, 0));
            Some(TimingClass::Exception)
        }
        _ => None,
    }
}

/// qadd, qsub, qdadd, qdsub.
fn saturating(emit: &mut Emit, encoding: u32, operation: u32) -> Option<TimingClass> {
    const MEDIA: [Media; 4] = [Media::Qadd, Media::Qsub, Media::Qdadd, Media::Qdsub];
    let [rn, rd, rm] = [16, 12, 0].map(|low| register(encoding, low));
    not_pc(&[rn, rd, rm])?;
    only_if(bits(encoding, 11, 8) == 0)?;
    Some(emit.media(MEDIA[operation as usize], [rd, rn, rm, 0], 0))
}

/// msr of an immediate, and the hints, which use the encodings without an effect on the status register.
pub fn status_immediate(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (is_spsr, mask) = (bit(encoding, 22), register(encoding, 16));
    only_if(bits(encoding, 15, 12) == 15)?;
    if !is_spsr && mask == 0 {
        return Some(emit.hint(bits(encoding, 7, 0)));
    }
    let (value, _) = data::rotated_immediate(encoding);
    emit.constant(OPERAND, value);
    emit.op4(Code::Msr, 0, 0, OPERAND, mask, u32::from(is_spsr) << 8);
    Some(TimingClass::Status)
}

/// swp, swpb; ldrex, strex and their shorter and longer forms.
pub fn decode_exclusive(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [rn, rt, rm] = [16, 12, 0].map(|low| register(encoding, low));
    let (size, is_load, further) = (bits(encoding, 22, 21), bit(encoding, 20), bits(encoding, 11, 8));
    not_pc(&[rn, rt])?;
    if !bit(encoding, 23) {
        not_pc(&[rm])?;
        only_if(!is_load && further == 0 && size & 1 == 0 && rn != rt && rn != rm)?;
        emit.op(Code::Swap, rt, rn, rm, if size == 0 { 4 } else { 1 });
        return Some(TimingClass::Exclusive);
    }
    only_if(further == 15)?;
    let bytes = [4, 8, 1, 2][size as usize];
    // The second of two registers.
    let next = |register: u8| if bytes == 8 { register + 1 } else { 0 };
    if is_load {
        only_if(rm == 15)?;
        only_if(bytes != 8 || rt.is_multiple_of(2) && rt < 14)?;
        emit.op4(Code::Ldrex, rt, rn, 0, next(rt), bytes);
    } else {
        let rd = rt;
        not_pc(&[rm])?;
        only_if(rd != rn && rd != rm && (bytes != 8 || rm.is_multiple_of(2) && rm < 14 && rd != rm + 1))?;
        emit.op4(Code::Strex, rd, rn, rm, next(rm), bytes);
    }
    Some(TimingClass::Exclusive)
}
