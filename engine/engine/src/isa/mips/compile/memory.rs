//! Loads and stores.

use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::access::moves;
use super::super::op::{Code, Op};
use super::{Emit, register, set};
use crate::bus::device::AccessSize;
use crate::cpu::access::Moves;

/// Emits the load or store `at` of a byte, a half or a word.
pub fn access(e: &mut Emit, op: &Op, at: u32) {
    let (addr, moves) = (address(e, op), moves(op.code));
    if moves.store {
        let value = register(e, op.rt);
        e.store(at, addr, moves, (op.rt, value));
    } else {
        let value = e.load(at, addr, moves, op.rd);
        set(e, op.rd, value);
    }
}

fn address(e: &mut Emit, op: &Op) -> Value {
    let base = register(e, op.rs);
    if op.imm == 0 { base } else { e.b.ins().iadd_imm(base, i64::from(op.imm)) }
}

/// Emits the load or store `at` of a part of a word: lwl and similar operations.
pub fn access_part(e: &mut Emit, op: &Op, at: u32) {
    use Code::{Lwl, Lwr, Swl};
    let addr = address(e, op);
    let aligned = e.b.ins().band_imm(addr, !3);
    let load = Moves::load(AccessSize::Word);
    let word = (aligned, addr);
    let bytes = e.b.ins().band_imm(addr, 3);
    let from_below = e.b.ins().ishl_imm(bytes, 3);
    let shift = if matches!(op.code, Lwl | Swl) { e.b.ins().irsub_imm(from_below, 24) } else { from_below };
    let ones = e.constant(u32::MAX);
    if matches!(op.code, Lwl | Lwr) {
        let old = register(e, op.rt);
        let merged = e.load_by(at, word, load, op.rd, |e, host| {
            let word = e.load_host(host, load);
            let (moved, mask) = if op.code == Lwl {
                (e.b.ins().ishl(word, shift), e.b.ins().ishl(ones, shift))
            } else {
                (e.b.ins().ushr(word, shift), e.b.ins().ushr(ones, shift))
            };
            let kept = e.b.ins().band_not(old, mask);
            e.b.ins().bor(moved, kept)
        });
        return set(e, op.rd, merged);
    }
    let store = Moves::store(AccessSize::Word);
    let value = register(e, op.rt);
    e.store_by(at, word, store, |e, host| {
        let word = e.load_host(host, load);
        let (moved, mask) = if op.code == Swl {
            (e.b.ins().ushr(value, shift), e.b.ins().ushr(ones, shift))
        } else {
            (e.b.ins().ishl(value, shift), e.b.ins().ishl(ones, shift))
        };
        let kept = e.b.ins().band_not(word, mask);
        let merged = e.b.ins().bor(moved, kept);
        e.store_host(host, store, merged);
    });
}
