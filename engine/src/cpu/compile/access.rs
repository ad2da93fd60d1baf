//! Loads and stores of compiled code: by shortcuts alone.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AliasRegion, InstBuilder, MemFlags, Value};
use std::mem::offset_of;

use super::emit::{Emitter, own};
use crate::bus::device::AccessSize;
use crate::cpu::Cpu;
use crate::cpu::access::Moves;
use crate::cpu::isa::Isa;
use crate::cpu::memory::Memory;
use crate::cpu::memory::shortcut::Slot;

/// Accesses of simulated memory.
fn simulated() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(Some(AliasRegion::Heap))
}

impl<I: Isa> Emitter<'_, I> {
    /// What operation `at` loads from `addr`, extended. Without a shortcut the interpreter does the access.
    pub fn load(&mut self, at: u32, addr: Value, moves: Moves) -> Value {
        let host = self.host_address(at, addr, moves);
        self.load_host(host, moves)
    }

    /// Operation `at` stores the low part of `value` at `addr`, likewise.
    pub fn store(&mut self, at: u32, addr: Value, moves: Moves, value: Value) {
        let host = self.host_address(at, addr, moves);
        self.store_host(host, moves, value);
    }

    /// What is at a host address, extended.
    pub fn load_host(&mut self, host: Value, moves: Moves) -> Value {
        let ins = self.b.ins();
        match (moves.size, moves.signed) {
            (AccessSize::Byte, true) => ins.sload8(I32, simulated(), host, 0),
            (AccessSize::Byte, false) => ins.uload8(I32, simulated(), host, 0),
            (AccessSize::Half, true) => ins.sload16(I32, simulated(), host, 0),
            (AccessSize::Half, false) => ins.uload16(I32, simulated(), host, 0),
            (AccessSize::Word, _) => ins.load(I32, simulated(), host, 0),
        }
    }

    /// Stores the low part of `value` at a host address.
    pub fn store_host(&mut self, host: Value, moves: Moves, value: Value) {
        let ins = self.b.ins();
        match moves.size {
            AccessSize::Byte => ins.istore8(simulated(), value, host, 0),
            AccessSize::Half => ins.istore16(simulated(), value, host, 0),
            AccessSize::Word => ins.store(simulated(), value, host, 0),
        };
    }

    /// Where the bytes of an access are, as in [`crate::cpu::memory::shortcut::Shortcuts::load`].
    pub fn host_address(&mut self, at: u32, addr: Value, moves: Moves) -> Value {
        let zero = self.host_zero(at, addr, moves);
        let addr = self.b.ins().uextend(I64, addr);
        self.b.ins().iadd(zero, addr)
    }

    /// The host address of simulated address 0, as far as the line of `addr` goes.
    pub fn host_zero(&mut self, at: u32, addr: Value, moves: Moves) -> Value {
        self.prepare_to_leave(at);
        let (offset, count, shift) = self.cpu.memory.shortcuts().layout();
        let base = (offset_of!(Cpu<I>, memory) + Memory::SHORTCUTS + offset) as i32;
        // Number << log(size), in two steps.
        let log = size_of::<Slot>().ilog2();
        let number = self.b.ins().ushr_imm(addr, i64::from(shift.saturating_sub(log)));
        let number = if shift < log { self.b.ins().ishl_imm(number, i64::from(log - shift)) } else { number };
        let offset = self.b.ins().band_imm(number, (count as i64 - 1) << log);
        let offset = self.b.ins().uextend(I64, offset);
        let slot = self.b.ins().iadd(self.core, offset);
        let line_at = if moves.store { offset_of!(Slot, store_line) } else { offset_of!(Slot, load_line) };
        let mask = !((1u32 << shift) - 1) | (moves.size.bytes() - 1);
        let masked = self.b.ins().band_imm(addr, i64::from(mask as i32));
        let line = self.b.ins().load(I32, own(), slot, base + line_at as i32);
        let here = self.b.ins().icmp(IntCC::Equal, masked, line);
        self.unless(here, |this| this.interpret(at));
        self.b.ins().load(I64, own(), slot, base + offset_of!(Slot, host_zero) as i32)
    }
}
