//! Synchronization: ARM DDI 0406C, section A5.2.10.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};

/// swp, swpb; ldrex, strex and their shorter and longer forms.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
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
