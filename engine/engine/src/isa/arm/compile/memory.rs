//! Loads and stores.

use cranelift_codegen::ir::types::{F32, F64, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};

use super::super::access::moves;
use super::super::architecture::Profile;
use super::super::op::{Code, Op};
use super::super::registers::ZERO;
use super::{Emit, calls, register, set, vfp, writes};
use crate::bus::device::AccessSize;
use crate::cpu::access::Moves;
use crate::cpu::memory_system::access::how;
use std::ops::Range;

const LOAD: Moves = Moves::load(AccessSize::Word);
const STORE: Moves = Moves::store(AccessSize::Word);

/// True if a micro-operation makes an unprivileged access: the interpreter does that.
pub fn is_unprivileged(op: &Op) -> bool {
    use Code::*;
    let accesses = matches!(op.code, Ldr | Ldrb | Ldrh | Ldrsb | Ldrsh | Str | Strb | Strh | Vldr | Vstr | Multiple);
    accesses && op.ra & how::UNPRIVILEGED != 0
}

/// See [`crate::cpu::isa::Isa::may_be_unaligned`].
pub fn may_be_unaligned(op: &Op) -> bool {
    use Code::*;
    matches!(op.code, Ldr | Ldrh | Ldrsh | Str | Strh) && op.ra & (how::ALIGNED | how::UNPRIVILEGED) == 0
}

/// True if the load or store multiple announced by the first of `ops` can be one transfer.
pub fn is_transfer(ops: &[Op], data_line_bytes: u32) -> bool {
    let (op, words) = (&ops[0], (ops[0].imm & 0xff) as usize);
    let stores = op.ra & how::STORE != 0;
    let is_word =
        |op: &Op| matches!((op.code, stores), (Code::Str | Code::Vstr, true) | (Code::Ldr | Code::Vldr, false));
    let fits = data_line_bytes >= 32 && (1..=17).contains(&words);
    fits && !is_unprivileged(op) && ops.get(1..=words).is_some_and(|ops| ops.iter().all(is_word))
}

/// The load or store `at`. True if it, and with it the block, is left to the interpreter.
pub fn access<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) -> bool {
    if is_unprivileged(op) {
        e.interpret(at);
        return true;
    }
    let (addr, moves) = (address(e, op), moves(op.code));
    if moves.store {
        let value = register(e, op.rd);
        e.store(at, addr, moves, (op.rd, value));
        // In the microcontroller profile CPACR is in memory.
        e.lazy.vfp.is_ready &= !e.cpu.isa.system.features().m_profile;
    } else {
        let value = e.load(at, addr, moves, op.rd);
        set(e, op.rd, value);
    }
    false
}

/// Waits for the bus matrix where the next access would wait.
pub fn wait_for_grant<P: Profile>(e: &mut Emit<P>, at: u32, op: &Op) {
    let addr = address(e, op);
    e.wait_for_grant(at, addr);
}

/// Emits a store's request: it requests the port, and waits for it in the write buffer.
pub fn ask_for_grant<P: Profile>(e: &mut Emit<P>, op: &Op) {
    let addr = address(e, op);
    e.ask_for_grant(addr);
}

/// Remembers the memory of a load that the next instruction may overlap.
pub fn remember_memory<P: Profile>(e: &mut Emit<P>, op: &Op) {
    let addr = address(e, op);
    e.remember_memory(addr);
}

/// Waits if the access is of another memory than the load that it overlaps.
pub fn wait_for_other_memory<P: Profile>(e: &mut Emit<P>, at: u32, op: &Op) {
    let addr = address(e, op);
    e.wait_for_other_memory(at, addr, u64::from(op.ra));
}

/// As [`access`], for the load or store `at` of a VFP register.
pub fn access_vfp<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) -> bool {
    if is_unprivileged(op) {
        e.interpret(at);
        return true;
    }
    calls::need_vfp(e, at);
    let addr = address(e, op);
    let moves = if op.code == Code::Vstr { STORE } else { LOAD };
    let zero = e.host_zero(at, addr, moves);
    move_word(e, op, zero);
    false
}

/// Loads or stores the word of an operation: `zero` is the host address of simulated address 0.
fn move_word<P: Profile>(e: &mut Emit<P>, op: &Op, zero: Value) {
    let host = host_address(e, op, zero);
    match op.code {
        Code::Str => {
            let value = register(e, op.rd);
            e.store_host(host, STORE, value);
        }
        Code::Vstr => {
            let value = vfp::read(e, F32, u32::from(op.rd));
            e.store_host(host, STORE, value);
        }
        Code::Ldr => {
            let value = e.load_host(host, LOAD);
            set(e, op.rd, value);
        }
        _ => {
            let value = e.load_host_as(F32, host);
            vfp::write(e, u32::from(op.rd), value);
        }
    }
}

/// As [`move_word`], for all `accesses`.
fn move_all<P: Profile>(e: &mut Emit<P>, mut accesses: &[Op], zero: Value) {
    while let Some((op, others)) = accesses.split_first() {
        accesses = match others.split_first() {
            Some((_, further)) if moves_double(e, op) => {
                move_double(e, op, zero);
                further
            }
            _ => {
                move_word(e, op, zero);
                others
            }
        };
    }
}

/// As [`move_word`], for a VFP register and the next one, whose operation follows: in one access, because it is used as
/// a double.
fn move_double<P: Profile>(e: &mut Emit<P>, op: &Op, zero: Value) {
    let host = host_address(e, op, zero);
    if op.code == Code::Vstr {
        let value = vfp::read(e, F64, u32::from(op.rd));
        e.store_host(host, STORE, value);
    } else {
        let value = e.load_host_as(F64, host);
        vfp::write(e, u32::from(op.rd), value);
    }
}

/// True if that is worthwhile: the host would wait for a double that was just written as two words.
fn moves_double<P: Profile>(e: &Emit<P>, op: &Op) -> bool {
    let is_even = op.rd.is_multiple_of(2);
    is_even && (op.code == Code::Vldr || op.code == Code::Vstr && !e.lazy.vfp.file.is_in_words(u32::from(op.rd)))
}

fn host_address<P: Profile>(e: &mut Emit<P>, op: &Op, zero: Value) -> Value {
    let addr = address(e, op);
    let addr = e.b.ins().uextend(I64, addr);
    e.b.ins().iadd(zero, addr)
}

fn address<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    let base = register(e, op.rn);
    let addr = if op.rm == ZERO {
        base
    } else {
        let index = register(e, op.rm);
        e.b.ins().iadd(base, index)
    };
    if op.imm == 0 { addr } else { e.b.ins().iadd_imm(addr, i64::from(op.imm as i32)) }
}

/// The accesses of a load or store multiple that operation `at` announces: returns the operation after them, or `None`
/// if the block is left to the interpreter. If its first and last word, and the lines between them, have shortcuts to
/// one range of host memory, no access needs a check of its own; otherwise the interpreter does them.
pub fn multiple<P: Profile>(e: &mut Emit<P>, ops: &[Op], at: usize, end: usize) -> Option<usize> {
    let op = &ops[at];
    let (words, stores) = ((op.imm & 0xff) as usize, op.ra & how::STORE != 0);
    let after = at + 1 + words;
    if !is_transfer(&ops[at..end], e.cpu.data_line_bytes) {
        e.interpret(at as u32);
        return None;
    }
    if ops[at + 1..after].iter().any(|op| matches!(op.code, Code::Vldr | Code::Vstr)) {
        calls::need_vfp(e, at as u32);
    }
    let base = register(e, op.rn);
    let first = e.b.ins().iadd_imm(base, i64::from(op.imm as i32 >> 8));
    let moves = if stores { STORE } else { LOAD };
    let merged = e.b.create_block();
    let zero = e.host_zero_of_words(at as u32, first, 4 * (words as i64 - 1), moves, |e| {
        if e.is_past_caches() {
            multiple_past_caches(e, ops, at..after, first, merged);
        } else {
            e.interpret(at as u32);
        }
    });
    move_all(e, &ops[at + 1..after], zero);
    e.b.ins().jump(merged, &[]);
    if e.is_past_caches() {
        // Two paths meet here, each with its own values of VFP registers.
        e.lazy.vfp.file.forget();
    }
    e.b.seal_block(merged);
    e.b.switch_to_block(merged);
    Some(after)
}

/// Emits the accesses of a load or store multiple at `first` without shortcuts, where most have none: operations
/// `which`, whose first one announces them. Jumps to `merged`.
fn multiple_past_caches<P: Profile>(e: &mut Emit<P>, ops: &[Op], which: Range<usize>, first: Value, merged: ir::Block) {
    let (at, all) = (which.start as u32, &ops[which.start + 1..which.end]);
    let (state, slow) = (e.state(), e.b.create_block());
    match e.multiple_past_caches(at, first, all.len() as u32, ops[which.start].ra & how::STORE != 0, slow) {
        Some(zero) => {
            move_all(e, all, zero);
            e.b.ins().jump(merged, &[]);
        }
        None => {
            e.b.ins().jump(slow, &[]);
        }
    }
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
    e.restore(state);
    // The last operation stands for all of them.
    e.access_slowly(which.end as u32 - 1, first);
    e.reload(all.iter().fold(0, |all, op| all | writes(op)));
    e.b.ins().jump(merged, &[]);
}
