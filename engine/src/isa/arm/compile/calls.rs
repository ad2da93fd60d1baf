//! What compiled code calls: instructions that are too rare, or too long, to be made of host instructions each time.
//! These functions change registers of the core alone.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::alu::Registers;
use super::super::core::Arm;
use super::super::media;
use super::super::op::{Code, Media, Op};
use super::super::profile::Profile;
use super::super::registers::{Q, ZERO};
use super::super::vfp;
use super::{Emit, register, set, writes};
use crate::cpu::compile::RegisterBits;

/// A media instruction.
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
    // SAFETY: compiled code hands over its core's registers, which nobody else has meanwhile.
    media::execute(unsafe { &mut *x }, &unpacked(numbers, imm));
}

/// The core's registers are up to date; the operation as a call has it.
fn packed<P: Profile>(e: &mut Emit<P>, op: &Op) -> (Value, Value) {
    e.bring_up_to_date();
    let numbers = u32::from_le_bytes([op.rd, op.rn, op.rm, op.ra]);
    (e.b.ins().iconst(I64, i64::from(numbers)), e.constant(op.imm))
}

fn unpacked(numbers: u64, imm: u32) -> Op {
    let [rd, rn, rm, ra] = (numbers as u32).to_le_bytes();
    Op { code: Code::Media, rd, rn, rm, ra, imm }
}

/// smulxy, smlaxy: the product of two halves, and a sum with it, which sets Q if it overflows.
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

/// A VFP instruction `at` other than a load or store: if it can't be done, the interpreter says why.
pub fn vfp<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) {
    let (numbers, immediate) = packed(e, op);
    let core = e.core;
    let done = e.call_for(do_vfp::<P> as *const () as usize, &[core, numbers, immediate], I32);
    let done = e.b.ins().icmp_imm(IntCC::NotEqual, done, 0);
    e.unless(done, |e| e.interpret(at));
    e.reload(vfp_writes(op));
}

/// General registers that a VFP instruction writes: as [`super::super::summary`] has it.
pub fn vfp_writes(op: &Op) -> RegisterBits {
    if op.imm & 1 << 20 == 0 {
        return 0;
    }
    let one = op.imm & 0x0f00_0010 == 0x0e00_0010;
    let two = op.imm & 0x0fe0_0000 == 0x0c40_0000;
    let bit = |register: u8| if register < ZERO { 1 << register } else { 0 };
    match (one, two) {
        (true, _) => bit(op.rd),
        (_, true) => bit(op.rd) | bit(op.ra),
        _ => 0,
    }
}

/// 1 if it has been done.
extern "C" fn do_vfp<P: Profile>(core: *mut Arm<P>, _numbers: u64, imm: u32) -> u32 {
    // SAFETY: compiled code hands over its core, which nobody else has meanwhile.
    let core = unsafe { &mut *core };
    if !core.isa.system.vfp_is_ready() {
        return 0;
    }
    let mut fpscr = core.isa.system.fpscr();
    let done = vfp::execute(imm, &mut core.isa.s, &mut core.x, &mut fpscr).is_ok();
    if done {
        core.isa.system.set_fpscr(fpscr);
    }
    u32::from(done)
}

/// Goes on only where VFP registers may be used.
pub fn need_vfp<P: Profile>(e: &mut Emit<P>, at: u32) {
    if e.lazy.vfp_is_ready {
        return;
    }
    let core = e.core;
    let ready = e.call_for(vfp_is_ready::<P> as *const () as usize, &[core], I32);
    let ready = e.b.ins().icmp_imm(IntCC::NotEqual, ready, 0);
    e.unless(ready, |e| e.interpret(at));
    // Nothing in a block changes that.
    e.lazy.vfp_is_ready = true;
}

extern "C" fn vfp_is_ready<P: Profile>(core: *const Arm<P>) -> u32 {
    // SAFETY: as above.
    u32::from(unsafe { &*core }.isa.system.vfp_is_ready())
}
