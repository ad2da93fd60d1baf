//! Micro-operations as input of the compiler.
//!
//! Flags are computed where they are read ([`flags`]); branches are compared with the predictor's state in place
//! ([`predictor`]). Floating point uses the host's instructions where the results are equal ([`vfp`]). Instructions
//! other than arithmetic, jumps, loads and stores are left to the interpreter.

mod alu;
mod calls;
mod flags;
mod memory;
mod predictor;
mod vfp;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::mem::offset_of;

use super::architecture::Profile;
use super::instruction_set::{Arm, ArmSet};
use super::op::{self, Code, Op};
use super::predictor::Jump;
use super::registers::{ADDRESS, C, GE, N_SOURCE, OPERAND, PC_VALUE, Q, RESULT, SINK, SPARE, V, Z_SOURCE, ZERO};
use crate::cpu::block::{Blocks, FALLEN, TAKEN};
use crate::cpu::compile::{Emitter, RegisterBits};
use crate::cpu::profiler::counters::Own;

pub use flags::{Lazy, late_value, settle};
pub use memory::may_be_unaligned;
pub use predictor::emit_resolve;

type Emit<'a, P> = Emitter<'a, ArmSet<P>>;

/// The number under which compiled code keeps the predictor's history, as if it were a register.
pub const HISTORY: u8 = 40;
/// The number for FPSCR.
const FPSCR: u8 = 41;
/// Registers that only the micro-operations of one instruction use.
pub const TRANSIENT: RegisterBits = 1 << SINK | 1 << PC_VALUE | 1 << OPERAND | 1 << ADDRESS | 1 << RESULT | 1 << SPARE;
const NZ: RegisterBits = 1 << N_SOURCE | 1 << Z_SOURCE;
const NZCV: RegisterBits = NZ | 1 << C | 1 << V;
/// Registers that are stored only at an exit from compiled code.
pub const LATE: RegisterBits = NZCV | 1 << HISTORY | 1 << FPSCR;

/// True if a block can be compiled: its first instruction can be.
pub fn compiles<P: Profile>(blocks: &Blocks<ArmSet<P>>, index: u32) -> bool {
    let [first, second, ..] = blocks.ops_from(index) else { return false };
    let fetched = P::COMPILES_UNCACHED || !blocks.is_uncached(index);
    let fetches = matches!(first.code, Code::Fetch | Code::FetchLines);
    fetched && !is_left(if fetches { second.code } else { first.code })
}

/// True if a micro-operation is always done by the interpreter.
fn is_left(code: Code) -> bool {
    use Code::*;
    match code {
        Ldrex | Strex | Clrex | Swap | LdrUser | StrUser => true,
        Vfp | Pld | End | Fetch | FetchLines => false,
        code => code > JumpToSame,
    }
}

/// True if an instruction with these micro-operations, or its part after the first ones, is left to the interpreter.
pub fn leaves(ops: &[Op], data_line_bytes: u32) -> bool {
    ops.iter().enumerate().any(|(at, op)| match op.code {
        Code::Multiple => !memory::is_transfer(&ops[at..], data_line_bytes),
        code => is_left(code) || memory::is_unprivileged(op),
    })
}

/// See [`crate::cpu::isa::Isa::writes`].
pub fn writes(op: &Op) -> RegisterBits {
    all_writes(op) & !(1 << SINK)
}

fn all_writes(op: &Op) -> RegisterBits {
    use Code::*;
    let (rd, ra) = (1 << op.rd, 1 << (op.ra & 63));
    match op.code {
        And | Eor | Sub | Rsb | Add | Adc | Sbc | Rsc | Orr | Orn | Bic | Mov | Mvn => rd,
        Ands | Eors | Orrs | Orns | Bics | Movs | Mvns => rd | NZ,
        Subs | Rsbs | Adds | Adcs | Sbcs | Rscs => rd | NZCV,
        SetC => 1 << C,
        LslImm | LsrImm | AsrImm | RorImm | Rrx | LslReg | LsrReg | AsrReg | RorReg => rd,
        LslImms | LsrImms | AsrImms | RorImms | Rrxs | LslRegs | LsrRegs | AsrRegs | RorRegs => rd | 1 << C,
        Movt | Mul | Mla | Mls | Sdiv | Udiv | Clz | Rbit | Rev | Rev16 | Revsh => rd,
        Sxtb | Sxth | Uxtb | Uxth | Sbfx | Ubfx | Bfi => rd,
        TestNz | TestNz64 => NZ,
        Umull | Umlal | Umaal | Smull | Smlal => rd | ra,
        Media => media_writes(op),
        Vfp => vfp::writes(op),
        Ldr | Ldrb | Ldrh | Ldrsb | Ldrsh | InBlock => rd,
        SkipUnless | JumpIf | JumpIfZero | JumpIfNotZero => 1 << HISTORY,
        _ => 0,
    }
}

fn media_writes(op: &Op) -> RegisterBits {
    use op::Media::{Smlald, Smlalxy, Smlsld};
    let is_long = matches!(op::Media::of(op.imm), Smlalxy | Smlald | Smlsld);
    1 << op.rd | 1 << Q | 1 << GE | if is_long { 1 << op.ra } else { 0 }
}

/// See [`crate::cpu::isa::Isa::kept_after`]: operations that may be skipped, and the accesses of a load or store
/// multiple.
pub fn kept_after(op: &Op) -> usize {
    match op.code {
        Code::SkipUnless => op.imm as usize,
        Code::Multiple => (op.imm & 0xff) as usize,
        _ => 0,
    }
}

/// Offset of a register in the core.
pub fn register_offset<P: Profile>(register: u8) -> usize {
    match register {
        HISTORY => offset_of!(Arm<P>, isa) + predictor::history_offset::<P>(),
        FPSCR => offset_of!(Arm<P>, isa) + offset_of!(ArmSet<P>, system) + P::FPSCR_OFFSET,
        _ => offset_of!(Arm<P>, x) + usize::from(register) * size_of::<u32>(),
    }
}

/// Emits host code for a block.
pub fn emit<P: Profile>(e: &mut Emit<P>, ops: &[Op]) {
    emit_ops(e, ops, 0, ops.len());
}

/// As [`emit`], for the micro-operations from `at` to before `end`. True if the code does not continue after them.
fn emit_ops<P: Profile>(e: &mut Emit<P>, ops: &[Op], mut at: usize, end: usize) -> bool {
    while at < end {
        let op = &ops[at];
        match op.code {
            Code::SkipUnless => {
                let after = at + 1 + op.imm as usize;
                skip_unless(e, ops, at, after);
                at = after;
                continue;
            }
            Code::Multiple => {
                let Some(after) = memory::multiple(e, ops, at, end) else { return true };
                at = after;
                continue;
            }
            Code::Ldr | Code::Ldrb | Code::Ldrh | Code::Ldrsb | Code::Ldrsh | Code::Str | Code::Strb | Code::Strh => {
                if memory::access(e, op, at as u32) {
                    return true;
                }
            }
            Code::Vldr | Code::Vstr => {
                if memory::access_vfp(e, op, at as u32) {
                    return true;
                }
            }
            Code::InBlock => {
                if calls::in_block(e, op, at as u32) {
                    return true;
                }
            }
            Code::Media => calls::media(e, op),
            Code::Vfp => vfp::emit(e, op, at as u32),
            Code::TrapIfZero => {
                let divisor = register(e, op.rm);
                let some = e.b.ins().icmp_imm(IntCC::NotEqual, divisor, 0);
                e.unless(some, |e| e.interpret(at as u32));
            }
            Code::EndEarly => alu::end_early(e, at as u32, op),
            Code::Grant => memory::wait_for_grant(e, at as u32, op),
            Code::AskForGrant => memory::ask_for_grant(e, op),
            Code::AskForNone => e.ask_for_none(),
            Code::AwaitGrant => e.await_grant(at as u32),
            Code::LoadedMemory => memory::remember_memory(e, op),
            Code::OtherMemory => memory::wait_for_other_memory(e, at as u32, op),
            Code::Pld => {}
            Code::Fetch => e.fetch(at as u32, op.imm, u32::from(op.rd)),
            Code::FetchLines => e.fetch_lines(at as u32, op.imm, u32::from(op.rd)),
            Code::Jump => {
                e.exit(TAKEN);
                return true;
            }
            Code::JumpIf | Code::JumpIfZero | Code::JumpIfNotZero => {
                let taken = condition(e, op);
                e.branch(taken);
                return true;
            }
            Code::JumpTo | Code::JumpToSame => {
                let target = target(e, op);
                e.exit_to(target);
                return true;
            }
            Code::End => {
                e.exit(FALLEN);
                return true;
            }
            code if is_left(code) => {
                e.interpret(at as u32);
                return true;
            }
            _ => alu::emit(e, op),
        }
        at += 1;
    }
    false
}

/// Emits the micro-operations after operation `at`, up to `after`, which are done if its condition holds.
fn skip_unless<P: Profile>(e: &mut Emit<P>, ops: &[Op], at: usize, after: usize) {
    let op = &ops[at];
    let holds = flags::holds(e, op.rd);
    let body = at + 1..after;
    let flags_change = ops[body.clone()].iter().any(|op| writes(op) & NZCV != 0);
    if flags_change {
        flags::settle(e);
    }
    let [done, skipped] = e.fork(holds);
    let merged = e.b.create_block();
    let before = e.state();
    e.b.switch_to_block(done);
    if !emit_ops(e, ops, body.start, body.end) {
        if flags_change {
            flags::settle(e);
        }
        e.b.ins().jump(merged, &[]);
    }
    let (after, vfp_is_ready) = (e.state(), e.lazy.vfp.is_ready);
    e.restore(before);
    e.b.switch_to_block(skipped);
    if op.ra > 0 {
        // The block's time includes it.
        e.pass(-i64::from(op.ra));
        e.spend(Own::Saved, i64::from(op.ra), e.pc_of(at as u32));
    }
    e.b.ins().jump(merged, &[]);
    e.b.seal_block(merged);
    e.b.switch_to_block(merged);
    e.is_dirty_too(&after);
    e.lazy.vfp.meet(vfp_is_ready);
}

/// True if a branch is taken.
fn condition<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    let tested = match op.code {
        Code::JumpIf => return flags::holds(e, op.rd),
        Code::JumpIfZero => IntCC::Equal,
        _ => IntCC::NotEqual,
    };
    let value = register(e, op.rn);
    e.b.ins().icmp_imm(tested, value, 0)
}

/// Target of an indirect jump, in the form that blocks use.
fn target<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    let to = register(e, op.rm);
    let thumb = e.cpu.blocks.hot[e.index as usize].pc & 1 != 0;
    if op.code == Code::JumpToSame && thumb {
        return e.b.ins().bor_imm(to, 1);
    }
    let aligned = e.b.ins().band_imm(to, !3);
    if op.code == Code::JumpToSame {
        return aligned;
    }
    let bit = e.b.ins().band_imm(to, 1);
    e.b.ins().select(bit, to, aligned)
}

/// The value of a register.
fn register<P: Profile>(e: &mut Emit<P>, register: u8) -> Value {
    if register == ZERO { e.constant(0) } else { e.register(register) }
}

/// Sets the value of a register.
fn set<P: Profile>(e: &mut Emit<P>, register: u8, value: Value) {
    if register != SINK {
        e.set_register(register, value);
    }
}

/// The prediction for an exit by the block's jump, if there is one.
fn predicted<P: Profile>(e: &Emit<P>) -> Jump {
    e.cpu.blocks.hot[e.index as usize].jump
}
