//! Loads and stores of compiled code: by shortcuts, or by a call.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{self, AliasRegion, InstBuilder, MemFlags, Type, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;

use super::emit::{Emitter, own};
use super::matrix_switches::STEP_BYTES;
use super::transfer::memory;
use super::{HostCode, slow_access};
use crate::bus::device::AccessSize;
use crate::cpu::Cpu;
use crate::cpu::access::Moves;
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::shortcut::{STAMPED, Shortcuts, Slot, Used};
use crate::cpu::memory_system::{Grant, MEMORY_BITS, Memory, Mmu, Part, SYSTEM_MEMORY};

/// Flags for accesses of simulated memory.
fn simulated() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(Some(AliasRegion::Heap))
}

/// See [`Emitter::load_host`].
pub(super) fn load_host(b: &mut FunctionBuilder, host: Value, moves: Moves) -> Value {
    let ins = b.ins();
    match (moves.size, moves.signed) {
        (AccessSize::Byte, true) => ins.sload8(I32, simulated(), host, 0),
        (AccessSize::Byte, false) => ins.uload8(I32, simulated(), host, 0),
        (AccessSize::Half, true) => ins.sload16(I32, simulated(), host, 0),
        (AccessSize::Half, false) => ins.uload16(I32, simulated(), host, 0),
        (AccessSize::Word, _) => ins.load(I32, simulated(), host, 0),
    }
}

/// See [`Emitter::store_host`].
pub(super) fn store_host(b: &mut FunctionBuilder, host: Value, moves: Moves, value: Value) {
    let ins = b.ins();
    match moves.size {
        AccessSize::Byte => ins.istore8(simulated(), value, host, 0),
        AccessSize::Half => ins.istore16(simulated(), value, host, 0),
        AccessSize::Word => ins.store(simulated(), value, host, 0),
    };
}

/// A lookup of a shortcut.
#[derive(Clone, Copy)]
struct Look {
    /// Address of the core, plus the offset of the slot from the first one.
    slot: Value,
    /// The tag that is wanted, and the slot's tag.
    wanted: Value,
    line: Value,
    /// Both tags are equal.
    here: Value,
}

impl<I: Isa> Emitter<'_, I> {
    /// The value that operation `at` loads from `addr`, extended. Without a shortcut the access is a call to the
    /// interpreter's function, which writes the value to `register`; the load must be the whole operation.
    pub fn load(&mut self, at: u32, addr: Value, moves: Moves, register: u8) -> Value {
        let merged = self.b.create_block();
        self.b.append_block_param(merged, I32);
        let host = self.host_or(at, addr, moves, |this| {
            this.load_past_caches(at, addr, moves, merged);
            this.turn_or_access_slowly(at, addr, moves, register);
            this.go_with_loaded(register, merged);
        });
        let value = self.load_host(host, moves);
        self.merge_with(merged, value)
    }

    /// As [`Emitter::load`], where `quickly` computes the value from the host address. The operation is at `place` with
    /// the address `addr`.
    pub fn load_by(
        &mut self,
        at: u32,
        (place, addr): (Value, Value),
        moves: Moves,
        register: u8,
        quickly: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let merged = self.b.create_block();
        self.b.append_block_param(merged, I32);
        let host = self.host_or(at, place, moves, |this| this.load_slowly(at, addr, register, merged));
        let value = quickly(self, host);
        self.merge_with(merged, value)
    }

    /// Calls the interpreter's function for a load, which puts its value into `register`, and goes to `merged`.
    fn load_slowly(&mut self, at: u32, addr: Value, register: u8, merged: ir::Block) {
        self.access_slowly(at, addr);
        self.go_with_loaded(register, merged);
    }

    /// Jumps to `merged` with the value that was loaded into `register`.
    fn go_with_loaded(&mut self, register: u8, merged: ir::Block) {
        let value = self.b.ins().load(I32, own(), self.core, I::register_offset(register) as i32);
        self.b.ins().jump(merged, &[value.into()]);
    }

    /// Adds the last path to `merged`, with its value; returns the merged value.
    fn merge_with(&mut self, merged: ir::Block, value: Value) -> Value {
        self.b.ins().jump(merged, &[value.into()]);
        self.b.seal_block(merged);
        self.b.switch_to_block(merged);
        self.b.block_params(merged)[0]
    }

    /// Emits operation `at`, which stores the low part of `value`, the value of `register`, at `addr`; the store must
    /// be the whole operation.
    pub fn store(&mut self, at: u32, addr: Value, moves: Moves, (register, value): (u8, Value)) {
        let merged = self.b.create_block();
        let host = self.host_or(at, addr, moves, |this| {
            this.store_past_caches(at, addr, moves, value, merged);
            this.turn_or_access_slowly(at, addr, moves, register);
            this.b.ins().jump(merged, &[]);
        });
        self.store_host(host, moves, value);
        self.b.ins().jump(merged, &[]);
        self.b.seal_block(merged);
        self.b.switch_to_block(merged);
    }

    /// As [`Emitter::store`], where `quickly` stores the value, as for [`Emitter::load_by`].
    pub fn store_by(
        &mut self,
        at: u32,
        (place, addr): (Value, Value),
        moves: Moves,
        quickly: impl FnOnce(&mut Self, Value),
    ) {
        let merged = self.b.create_block();
        let host = self.host_or(at, place, moves, |this| {
            this.access_slowly(at, addr);
            this.b.ins().jump(merged, &[]);
        });
        quickly(self, host);
        self.b.ins().jump(merged, &[]);
        self.b.seal_block(merged);
        self.b.switch_to_block(merged);
    }

    /// Calls the interpreter's function for operation `at`, which accesses `addr`. Continues after the operation unless
    /// the call has left the block or the core has to check for news.
    pub fn access_slowly(&mut self, at: u32, addr: Value) {
        self.write_back();
        let after = self.ending_at(at + 1).bits();
        let after = self.b.ins().iconst(I64, after as i64);
        self.call_for_access(self.calls.access, after, addr);
    }

    /// Calls a stub that is [`slow_access::access`], or acts like it, and continues in the same way.
    pub(super) fn call_for_access(&mut self, stub: usize, after: Value, addr: Value) {
        let ending = self.call_access(stub, after, addr);
        // An ending of 0 stands for `None`: the code continues.
        let goes_on = self.b.ins().icmp_imm(IntCC::Equal, ending, 0);
        self.unless(goes_on, |this| {
            this.b.ins().return_(&[ending]);
        });
        self.reload_cycles();
    }

    /// As [`Memory::grant_cycles`], and passes them.
    pub fn wait_for_grant(&mut self, at: u32, addr: Value) {
        let elsewhere = self.is_granted(addr);
        self.rarely(elsewhere, |this| {
            let cycles = this.load_of_grant(offset_of!(Grant, cycles), I64);
            this.wait_for(at, Part::Matrix, cycles);
        });
    }

    /// As [`Memory::ask_for_grant`].
    pub fn ask_for_grant(&mut self, addr: Value) {
        let elsewhere = self.is_granted(addr);
        let cycles = self.load_of_grant(offset_of!(Grant, cycles), I64);
        let none = self.b.ins().iconst(I64, 0);
        let asked = self.b.ins().select(elsewhere, none, cycles);
        self.b.ins().store(own(), asked, self.core, memory::<I>(Memory::ASKED_CYCLES));
    }

    /// As [`Memory::ask_for_none`].
    pub fn ask_for_none(&mut self) {
        let none = self.b.ins().iconst(I64, 0);
        self.b.ins().store(own(), none, self.core, memory::<I>(Memory::ASKED_CYCLES));
    }

    /// As [`Memory::asked_cycles`], and passes them.
    pub fn await_grant(&mut self, at: u32) {
        let cycles = self.b.ins().load(I64, own(), self.core, memory::<I>(Memory::ASKED_CYCLES));
        let none = self.b.ins().icmp_imm(IntCC::Equal, cycles, 0);
        self.rarely(none, |this| this.wait_for(at, Part::Matrix, cycles));
    }

    /// As [`Memory::remember_memory`].
    pub fn remember_memory(&mut self, addr: Value) {
        let number = self.memory_number(addr);
        self.b.ins().store(own(), number, self.core, memory::<I>(Memory::LOADED_MEMORY));
    }

    /// As [`Memory::other_memory_cycles`], and passes them.
    pub fn wait_for_other_memory(&mut self, at: u32, addr: Value, cycles: u64) {
        let number = self.memory_number(addr);
        let before = self.b.ins().load(I8, own(), self.core, memory::<I>(Memory::LOADED_MEMORY));
        let same = self.b.ins().icmp(IntCC::Equal, number, before);
        self.rarely(same, |this| {
            this.b.ins().store(own(), number, this.core, memory::<I>(Memory::LOADED_MEMORY));
            let cycles = this.b.ins().iconst(I64, cycles as i64);
            this.wait_for(at, Part::OtherMemory, cycles);
        });
    }

    fn memory_number(&mut self, addr: Value) -> Value {
        let number = self.b.ins().ushr_imm(addr, i64::from(MEMORY_BITS));
        let system = self.b.ins().iconst(I32, i64::from(SYSTEM_MEMORY));
        let number = self.b.ins().umin(number, system);
        self.b.ins().ireduce(I8, number)
    }

    /// True if `addr` is not in the slave that was accessed last, or the port need not be granted.
    fn is_granted(&mut self, addr: Value) -> Value {
        let [base, bytes] =
            [offset_of!(Grant, base), offset_of!(Grant, bytes)].map(|part| self.load_of_grant(part, I32));
        let into = self.b.ins().isub(addr, base);
        self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, into, bytes)
    }

    fn load_of_grant(&mut self, part: usize, as_type: Type) -> Value {
        self.b.ins().load(as_type, own(), self.core, memory::<I>(Memory::GRANT + part))
    }

    fn wait_for(&mut self, at: u32, part: Part, cycles: Value) {
        self.pass_and_sum(cycles, memory::<I>(Memory::sum_of(part)));
        self.charge_part(at, part, cycles);
    }

    /// Calls such a stub; returns its ending.
    pub(super) fn call_access(&mut self, stub: usize, after: Value, addr: Value) -> Value {
        let signature = self.b.import_signature(slow_access::signature(CallConv::PreserveAll));
        let stub = self.b.ins().iconst(I64, stub as i64);
        self.b.ins().call_indirect(signature, stub, &[self.core, after, addr]);
        let ending_at = offset_of!(Cpu<I>, host) + HostCode::<I>::ENDING;
        self.b.ins().load(I64, own(), self.core, ending_at as i32)
    }

    /// The value at a host address, extended.
    pub fn load_host(&mut self, host: Value, moves: Moves) -> Value {
        load_host(&mut self.b, host, moves)
    }

    /// The value at a host address, of any type.
    pub fn load_host_as(&mut self, as_type: Type, host: Value) -> Value {
        self.b.ins().load(as_type, simulated(), host, 0)
    }

    /// Stores the low part of `value` at a host address; a word is stored whole, whatever its type.
    pub fn store_host(&mut self, host: Value, moves: Moves, value: Value) {
        store_host(&mut self.b, host, moves, value);
    }

    /// The host address of an access, as in [`crate::cpu::memory_system::shortcut::Shortcuts::load`]; without a
    /// shortcut emits `otherwise`, which ends the path.
    fn host_or(&mut self, at: u32, addr: Value, moves: Moves, otherwise: impl FnOnce(&mut Self)) -> Value {
        let look = self.look_for_shortcut(at, addr, moves);
        match self.cpu.memory.shortcuts().stamps_layout() {
            None => self.unless(look.here, otherwise),
            Some(stamps) => self.rarely(look.here, |this| this.stamp_or(at, look, stamps, otherwise)),
        }
        let zero = self.zero_of(look);
        let addr = self.b.ins().uextend(I64, addr);
        self.b.ins().iadd(zero, addr)
    }

    /// The host address of simulated address 0, valid within the line of `addr`. Without a shortcut, or with one that
    /// has stamps, the interpreter continues at operation `at`.
    pub fn host_zero(&mut self, at: u32, addr: Value, moves: Moves) -> Value {
        self.host_zero_of_words(at, addr, 0, moves, |this| this.interpret(at))
    }

    /// The host address of simulated address 0 for all words from `first` to the one `last_offset` bytes later (64 at
    /// most), if the shortcuts of their lines lead to one range of host memory; otherwise emits `otherwise`, which ends
    /// the path.
    pub fn host_zero_of_words(
        &mut self,
        at: u32,
        first: Value,
        last_offset: i64,
        moves: Moves,
        otherwise: impl FnOnce(&mut Self),
    ) -> Value {
        let [here, away] = [self.b.create_block(), self.b.create_block()];
        self.b.append_block_param(here, I64);
        self.b.set_cold_block(away);
        let zero = self.look_for_words(at, first, last_offset, moves, away);
        self.b.ins().jump(here, &[zero.into()]);
        let state = self.state();
        self.b.seal_block(away);
        self.b.switch_to_block(away);
        self.switch_for_words(at, first, last_offset, moves.store, here);
        otherwise(self);
        self.restore(state);
        self.b.seal_block(here);
        self.b.switch_to_block(here);
        self.b.block_params(here)[0]
    }

    /// As [`Emitter::host_zero_of_words`], in the selected bank; jumps to `out` without shortcuts.
    fn look_for_words(&mut self, at: u32, first: Value, last_offset: i64, moves: Moves, out: ir::Block) -> Value {
        let zero = self.look_for_word(at, first, moves, out);
        // Lines have as many bytes or more.
        let between = (last_offset > STEP_BYTES).then_some(STEP_BYTES);
        for offset in between.into_iter().chain((last_offset > 0).then_some(last_offset)) {
            let addr = self.b.ins().iadd_imm(first, offset);
            let other = self.look_for_word(at, addr, moves, out);
            let same = self.b.ins().icmp(IntCC::Equal, zero, other);
            self.go_on_if(same, out);
        }
        zero
    }

    fn look_for_word(&mut self, at: u32, addr: Value, moves: Moves, out: ir::Block) -> Value {
        let look = self.look_for_shortcut(at, addr, moves);
        self.go_on_if(look.here, out);
        self.zero_of(look)
    }

    fn look_for_shortcut(&mut self, at: u32, addr: Value, moves: Moves) -> Look {
        self.prepare_to_leave(at);
        let (_, count, shift) = self.cpu.memory.shortcuts().layout();
        // Index << log(size), in two steps.
        let log = size_of::<Slot>().ilog2();
        let number = self.b.ins().ushr_imm(addr, i64::from(shift.saturating_sub(log)));
        let number = if shift < log { self.b.ins().ishl_imm(number, i64::from(log - shift)) } else { number };
        let offset = self.b.ins().band_imm(number, (count as i64 - 1) << log);
        let offset = self.b.ins().uextend(I64, offset);
        let slot = self.b.ins().iadd(self.core, offset);
        let slot = self.in_bank(slot);
        let line_at = if moves.store { offset_of!(Slot, store_line) } else { offset_of!(Slot, load_line) };
        let (line_mask, rest) = (!((1u32 << shift) - 1), moves.size.bytes() - 1);
        let (place, mask) = if self.takes_unaligned(at) {
            // The line of the last byte: an access that crosses into the next line does not match the slot.
            (self.b.ins().iadd_imm(addr, i64::from(rest)), line_mask)
        } else {
            (addr, line_mask | rest)
        };
        let wanted = self.b.ins().band_imm(place, i64::from(mask as i32));
        let line_at = self.slots_at() + line_at as i32;
        let line = self.b.ins().load(I32, own(), slot, line_at);
        let here = self.b.ins().icmp(IntCC::Equal, wanted, line);
        Look { slot, wanted, line, here }
    }

    /// The slot in the selected bank, on a bus matrix; `slot` is that of the first bank.
    fn in_bank(&mut self, slot: Value) -> Value {
        if !self.cpu.memory.is_on_matrix() {
            return slot;
        }
        let at = offset_of!(Cpu<I>, memory) + Memory::SHORTCUTS + Shortcuts::BANK;
        let bank = self.b.ins().load(I64, own(), self.core, at as i32);
        let offset = self.b.ins().ishl_imm(bank, i64::from(size_of::<Slot>().ilog2()));
        self.b.ins().iadd(slot, offset)
    }

    /// True if the access of operation `at` may be unaligned: within a line with a shortcut that costs nothing.
    fn takes_unaligned(&self, at: u32) -> bool {
        let op = &self.cpu.blocks.ops_of(self.index)[at as usize];
        let is_refused = self.cpu.isa.mmu().checks_alignment();
        let costs = self.cpu.memory.splits_unaligned();
        I::may_be_unaligned(op) && !is_refused && !costs && !self.cpu.memory.shortcuts().have_stamps()
    }

    /// Offset of the first slot in the core.
    fn slots_at(&self) -> i32 {
        (offset_of!(Cpu<I>, memory) + Memory::SHORTCUTS + self.cpu.memory.shortcuts().layout().0) as i32
    }

    fn zero_of(&mut self, look: Look) -> Value {
        let zero_at = self.slots_at() + offset_of!(Slot, host_zero) as i32;
        self.b.ins().load(I64, own(), look.slot, zero_at)
    }

    /// Stamps the slot that was looked up, if it has the line with stamps, for operation `at`. Otherwise emits
    /// `otherwise`, which ends the path.
    fn stamp_or(&mut self, at: u32, look: Look, stamps: usize, otherwise: impl FnOnce(&mut Self)) {
        let wanted = self.b.ins().bor_imm(look.wanted, i64::from(STAMPED));
        let here = self.b.ins().icmp(IntCC::Equal, wanted, look.line);
        self.unless(here, otherwise);
        self.b.current_block().into_iter().for_each(|block| self.b.set_cold_block(block));
        let offset = offset_of!(Cpu<I>, memory) + Memory::SHORTCUTS + stamps + offset_of!(Used, stamp);
        let number = i64::from(self.cpu.blocks.info(self.index, at).instr) + 1;
        let stamp = self.instructions_and(number);
        self.b.ins().store(own(), stamp, look.slot, offset as i32);
    }
}
