//! Loads and stores of general registers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::access::moves;
use super::super::op::{Code, Op};
use super::super::profile::Profile;
use super::super::registers::ZERO;
use super::{Emit, register, set};
use crate::bus::device::AccessSize;
use crate::cpu::access::Moves;
use crate::cpu::memory::access::how;

/// The load or store `at`. True if it is left to the interpreter, and the block with it.
pub fn access<P: Profile>(e: &mut Emit<P>, op: &Op, at: u32) -> bool {
    if op.ra & how::UNPRIVILEGED != 0 {
        e.interpret(at);
        return true;
    }
    let (addr, moves) = (address(e, op), moves(op.code));
    if moves.store {
        let value = register(e, op.rd);
        e.store(at, addr, moves, value);
    } else {
        let value = e.load(at, addr, moves);
        set(e, op.rd, value);
    }
    false
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

/// The accesses of a load or store multiple, which operation `at` announces: gives the operation behind them,
/// or `None` if the block is left to the interpreter. If
/// shortcuts lead to its first and its last word, and the lines between, and all to one piece of the host's memory,
/// nothing has to be asked of each; else the interpreter does them.
pub fn multiple<P: Profile>(e: &mut Emit<P>, ops: &[Op], at: usize, end: usize) -> Option<usize> {
    let op = &ops[at];
    let (words, stores) = ((op.imm & 0xff) as usize, op.ra & how::STORE != 0);
    let behind = at + 1 + words;
    let fits = e.cpu.data_line_bytes >= 32 && words <= 17 && behind <= end && words > 0;
    let are_general = |op: &Op| op.code == if stores { Code::Str } else { Code::Ldr };
    if !fits || op.ra & how::UNPRIVILEGED != 0 || !ops[at + 1..behind].iter().all(are_general) {
        e.interpret(at as u32);
        return None;
    }
    let base = register(e, op.rn);
    let first = e.b.ins().iadd_imm(base, i64::from(op.imm as i32 >> 8));
    let moves = if stores { Moves::store(AccessSize::Word) } else { Moves::load(AccessSize::Word) };
    let zero = e.host_zero(at as u32, first, moves);
    let last_offset = 4 * (words as i64 - 1);
    for offset in [32, last_offset].into_iter().filter(|offset| (1..=last_offset).contains(offset)) {
        if offset == 32 && words <= 9 {
            continue;
        }
        let addr = e.b.ins().iadd_imm(first, offset);
        let other = e.host_zero(at as u32, addr, moves);
        let same = e.b.ins().icmp(IntCC::Equal, zero, other);
        e.unless(same, |e| e.interpret(at as u32));
    }
    for op in &ops[at + 1..behind] {
        let addr = address(e, op);
        let addr = e.b.ins().uextend(I64, addr);
        let host = e.b.ins().iadd(zero, addr);
        if stores {
            let value = register(e, op.rd);
            e.store_host(host, 0, moves, value);
        } else {
            let value = e.load_host(host, 0, moves);
            set(e, op.rd, value);
        }
    }
    Some(behind)
}
