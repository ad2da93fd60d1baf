//! Functions that compiled code calls: for instructions that are too rare, or too long, to be emitted as host
//! instructions each time. These functions change only registers of the core.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::alu::Registers;
use super::super::architecture::Profile;
use super::super::in_block::InBlock;
use super::super::instruction_set::{Arm, ArmSet};
use super::super::media;
use super::super::op::{Code, Media, Op};
use super::super::registers::{Q, ZERO};
use super::super::vfp;
use super::{Emit, FPSCR, register, set, writes};
use crate::cpu::compile::own;
use std::mem::offset_of;

/// Emits a media instruction.
pub fn media<P: Profile>(e: &mut Emit<P>, op: &Op) {
    if Media::of(op.imm) == Media::Smlaxy {
        return multiply_halves(e, op);
    }
    let (number, immediate) = packed(e, op);
    let registers = e.registers_address();
    e.call(do_media as *const () as usize, &[registers, number, immediate]);
    e.reload(writes(op));
}

extern "C" fn do_media(x: *mut Registers, numbers: u64, imm: u32) {
    // SAFETY: compiled code passes its core's registers, which no other code accesses meanwhile.
    media::execute(unsafe { &mut *x }, &unpacked(numbers, imm));
}

/// Emits a system instruction within a block. True if the code does not continue after it.
pub fn in_block<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) -> bool {
    if let InBlock::ThreadId(opc2) = InBlock::of(op.imm) {
        let privileged = e.cpu.blocks.cold[e.index as usize].entry.context.privileged;
        if opc2 == 4 && !privileged {
            e.interpret(at);
            return true;
        }
        let system_at = offset_of!(Arm<P>, isa) + offset_of!(ArmSet<P>, system);
        let offset = system_at + P::THREAD_IDS_OFFSET + (opc2 as usize - 2) * size_of::<u32>();
        let value = e.b.ins().load(I32, own(), e.core, offset as i32);
        set(e, op.rd, value);
        return false;
    }
    e.bring_up_to_date();
    let (core, number, immediate) = (e.core, e.b.ins().iconst(I64, i64::from(op.rd)), e.constant(op.imm));
    e.call(do_in_block::<P> as *const () as usize, &[core, number, immediate]);
    e.reload(writes(op));
    false
}

extern "C" fn do_in_block<P: Profile>(core: *mut Arm<P>, rd: u64, imm: u32) {
    // SAFETY: compiled code passes its core, which no other code accesses meanwhile.
    let core = unsafe { &mut *core };
    let op = Op { code: Code::InBlock, rd: rd as u8, rn: ZERO, rm: ZERO, ra: 0, imm };
    // Only a read of a thread's register can fail, which does not get here.
    let _ = core.isa.system.execute_in_block(&mut core.x, &op);
}

/// Brings the core's registers up to date; returns the operation as arguments of a call.
fn packed<P: Profile>(e: &mut Emit<P>, op: &Op) -> (Value, Value) {
    e.bring_up_to_date();
    let numbers = u32::from_le_bytes([op.rd, op.rn, op.rm, op.ra]);
    (e.b.ins().iconst(I64, i64::from(numbers)), e.constant(op.imm))
}

fn unpacked(numbers: u64, imm: u32) -> Op {
    let [rd, rn, rm, ra] = (numbers as u32).to_le_bytes();
    Op { code: Code::Media, rd, rn, rm, ra, imm }
}

/// Emits smulxy, smlaxy: the product of two halves, and a sum with it, which sets Q if it overflows.
fn multiply_halves<P: Profile>(e: &mut Emit<P>, op: &Op) {
    let mut half = |number: u8, bit: u32| {
        let word = register(e, number);
        let top = if op.imm >> bit & 1 != 0 { word } else { e.b.ins().ishl_imm(word, 16) };
        e.b.ins().sshr_imm(top, 16)
    };
    let (a, b) = (half(op.rn, 8), half(op.rm, 9));
    let product = e.b.ins().imul(a, b);
    if op.ra == ZERO {
        return set(e, op.rd, product);
    }
    let term = register(e, op.ra);
    let sum = e.b.ins().iadd(product, term);
    let [one, other] = [product, term].map(|part| e.b.ins().bxor(part, sum));
    let overflow = e.b.ins().band(one, other);
    let overflow = e.b.ins().ushr_imm(overflow, 31);
    let before = e.register(Q);
    let sticky = e.b.ins().bor(before, overflow);
    e.set_register(Q, sticky);
    set(e, op.rd, sum);
}

/// Emits a VFP instruction `at` that changes only VFP registers and FPSCR: if it can't be done, the interpreter raises
/// the exception.
pub fn vfp<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) {
    e.store_registers(1 << FPSCR);
    let (core, encoding) = (e.core, e.constant(op.imm));
    let done = e.call_for(do_vfp::<P> as *const () as usize, &[core, encoding], I32);
    let done = e.b.ins().icmp_imm(IntCC::NotEqual, done, 0);
    e.unless(done, |e| e.interpret(at));
    e.reload(1 << FPSCR);
}

/// 1 if it has been done.
extern "C" fn do_vfp<P: Profile>(core: *mut Arm<P>, encoding: u32) -> u32 {
    // SAFETY: compiled code passes its core, which no other code accesses meanwhile.
    let core = unsafe { &mut *core };
    let mut fpscr = core.isa.system.fpscr();
    let done = vfp::execute(encoding, &mut core.isa.s, &mut core.x, &mut fpscr).is_ok();
    if done {
        core.isa.system.set_fpscr(fpscr);
    }
    u32::from(done)
}

/// Continues only where VFP registers may be used.
pub fn need_vfp<P: Profile>(e: &mut Emit<P>, at: u32) {
    if e.lazy.vfp.is_ready {
        return;
    }
    let system_at = offset_of!(Arm<P>, isa) + offset_of!(ArmSet<P>, system);
    let ready = P::VFP_READY.iter().fold(None, |ready, (offset, bits)| {
        let byte = e.b.ins().uload8(I32, own(), e.core, (system_at + offset) as i32);
        let set = e.b.ins().band_imm(byte, i64::from(*bits));
        let all = e.b.ins().icmp_imm(IntCC::Equal, set, i64::from(*bits));
        Some(ready.map_or(all, |ready| e.b.ins().band(ready, all)))
    });
    let ready = ready.unwrap_or_else(|| e.constant(0));
    e.rarely(ready, |e| {
        let core = e.core;
        let ready = e.call_for(vfp_is_ready::<P> as *const () as usize, &[core], I32);
        let ready = e.b.ins().icmp_imm(IntCC::NotEqual, ready, 0);
        e.unless(ready, |e| e.interpret(at));
    });
    // VFP instructions do not change that.
    e.lazy.vfp.is_ready = true;
}

extern "C" fn vfp_is_ready<P: Profile>(core: *const Arm<P>) -> u32 {
    // SAFETY: as above.
    u32::from(unsafe { &*core }.isa.system.vfp_is_ready())
}
