//! Fetches, loads and stores of compiled code past the caches: calls to functions for the simple cases
//! ([`super::transfer`]), and to the interpreter's functions for the others.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::Variable;
use std::marker::PhantomData;
use std::mem::offset_of;

use super::HostCode;
use super::emit::{Emitter, own};
use super::transfer::{Transfer, WantedLine, memory, other, signature};
use crate::cpu::Cpu;
use crate::cpu::access::Moves;
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::fetch::Chunk;
use crate::cpu::memory_system::plan::Plan;
use crate::cpu::memory_system::{Chunks, FetchPolicy, Memory};
use crate::memory::cache::NO_LINE;

/// Words that lie in 32 bytes.
const MOST_WORDS: u32 = 8;

/// Known state of instruction fetches, at a point of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Fetched {
    /// The chunk held by the core, if it fetches chunks.
    chunk: Option<Chunk>,
    /// The word that was requested last, if the core fetches words.
    word: Option<u32>,
}

/// Known state of the line buffers for lines of code that no cache keeps, everywhere in a region.
#[derive(Clone, Copy)]
pub(super) struct PassingLines {
    plan: Plan,
    /// The edge from which their target is free.
    free: Variable,
    /// The lines in the buffers.
    lines: [Variable; 2],
}

impl<I: Isa> Emitter<'_, I> {
    /// Emits operation `at`, which fetches the instruction of `bytes` at `pc` past the cache.
    pub fn fetch(&mut self, at: u32, pc: u32, bytes: u32) {
        self.prepare_to_leave(at);
        match self.cpu.memory.fetch_policy() {
            _ if !self.cpu.is_only_core() => self.ask_for(at),
            FetchPolicy::OnDemand => self.fetch_words(at, pc, pc.wrapping_add(bytes)),
            FetchPolicy::Chunks(chunks) => self.fetch_chunks(at, pc, pc.wrapping_add(bytes), chunks),
        }
    }

    /// Calls the interpreter's function for the fetch.
    fn ask_for(&mut self, at: u32) {
        let nothing = self.b.ins().iconst(I32, 0);
        self.access_slowly(at, nothing);
    }

    fn fetch_chunks(&mut self, at: u32, pc: u32, end_pc: u32, chunks: Chunks) {
        let last = end_pc.wrapping_sub(1);
        let chunk = Chunk::at(last, chunks.bytes);
        let before = self.fetched.chunk;
        // The start of longer chunks depends on earlier fetches.
        self.fetched.chunk = (chunks.bytes <= Chunk::MOST_ALIGNED).then_some(chunk);
        let begins_here = before.is_some_and(|before| before.holds(pc)) || chunk.holds(pc);
        match self.calls.transfers.fetch {
            _ if before.is_some_and(|before| before.holds(pc) && before.holds(last)) => {}
            Some((_, functions)) if begins_here => {
                self.fetch_by(at, functions[usize::from(before.is_some())], chunk.as_number(), pc);
            }
            _ => self.ask_for(at),
        }
        let next = self.b.ins().iconst(I32, i64::from(end_pc as i32));
        self.b.ins().store(own(), next, self.core, memory::<I>(Memory::NEXT_PC));
    }

    fn fetch_words(&mut self, at: u32, pc: u32, end_pc: u32) {
        let (first, last) = (pc & !3, end_pc.wrapping_sub(1) & !3);
        let before = self.fetched.word.replace(last);
        if before == Some(last) {
            return;
        }
        let Some((_, [one, second])) = self.calls.transfers.fetch else { return self.ask_for(at) };
        if first == last {
            return self.fetch_by(at, one, u64::from(last), pc);
        }
        if before != Some(first) {
            self.fetch_by(at, one, u64::from(first), pc);
        }
        self.fetch_by(at, second, u64::from(last), pc);
    }

    /// Loads the state of the line buffers, if the region's code is fetched through them.
    pub(super) fn look_at_lines(&mut self) {
        let Some(plan) = self.calls.transfers.line.filter(|_| self.cpu.is_only_core()) else { return };
        let [free, first, second] = [I64, I32, I32].map(|kind| self.b.declare_var(kind));
        self.passing = Some(PassingLines { plan, free, lines: [first, second] });
        self.reload_lines();
    }

    /// Reloads that state after an access that may have changed it.
    pub(super) fn reload_lines(&mut self) {
        let Some(PassingLines { plan, free, lines }) = self.passing else { return };
        let at = self.b.ins().iconst(I64, plan.free_edge as i64);
        let edge = self.b.ins().load(I64, other(), at, 0);
        self.b.def_var(free, edge);
        for (slot, line) in lines.into_iter().enumerate() {
            let held = self.line_in(slot);
            self.b.def_var(line, held);
        }
    }

    fn line_in(&mut self, slot: usize) -> Value {
        self.b.ins().load(I32, own(), self.core, memory::<I>(Memory::PASSING + slot * size_of::<u32>()))
    }

    /// Emits operation `at`, a block's first, which fetches the lines of its code from `pc` on, which no cache keeps.
    pub fn fetch_lines(&mut self, at: u32, pc: u32, bytes: u32) {
        let mask = !(self.cpu.line_bytes - 1);
        let (first, last) = (pc & mask, pc.wrapping_add(bytes - 1) & mask);
        self.fetch_line(at, pc, NO_LINE);
        if first != last {
            self.fetch_line(at, last, first);
        }
    }

    /// Waits for the line of `wanted` that is not in a buffer; then the buffers have it and another one.
    fn fetch_line(&mut self, at: u32, wanted: u32, with: u32) {
        let line = wanted & !(self.cpu.line_bytes - 1);
        let is_there = [0, 1].map(|slot| {
            let held = match self.passing {
                Some(passing) => self.b.use_var(passing.lines[slot]),
                None => self.line_in(slot),
            };
            self.b.ins().icmp_imm(IntCC::Equal, held, i64::from(line as i32))
        });
        let is_there = self.b.ins().bor(is_there[0], is_there[1]);
        let passing = self.passing.filter(|passing| passing.plan.reaches(line));
        let after = self.blocks().after_wait(self.index);
        let (Some(passing), Some(after)) = (passing, after) else {
            return self.unless(is_there, |this| this.interpret(at));
        };
        if after == self.index {
            self.rarely(is_there, |this| _ = this.wait_for_line(at, passing, wanted, with));
        } else {
            self.rarely(is_there, |this| {
                let waited = this.wait_for_line(at, passing, wanted, with);
                // A line that comes on time leaves the results under way as they are.
                let on_time = this.b.ins().icmp_imm(IntCC::Equal, waited, 0);
                this.unless(on_time, |this| this.go_to(after));
            });
        }
    }

    /// Emits such a fetch in place, or exits to the interpreter for the cases that are not simple. Returns the cycles
    /// of the wait.
    fn wait_for_line(&mut self, at: u32, passing: PassingLines, wanted: u32, with: u32) -> Value {
        let line_bytes = self.cpu.line_bytes;
        let lines = [wanted & !(line_bytes - 1), with];
        let words = (line_bytes - (wanted & !3 & (line_bytes - 1))) / 4;
        let out = self.b.create_block();
        self.b.set_cold_block(out);
        let begins = self.cycles_and(0);
        let longest = i64::from(self.cpu.blocks.hot[self.index as usize].longest_cycles);
        let more = self.b.ins().iconst(I64, longest);
        let there = lines.map(|line| self.b.ins().iconst(I32, i64::from(line as i32)));
        let mut transfer = Transfer::<I> {
            free: Some(self.b.use_var(passing.free)),
            b: &mut self.b,
            core: self.core,
            out,
            convention: CallConv::PreserveAll,
            profiles: self.cpu.is_profiled(),
            line: Some(WantedLine {
                bytes: line_bytes,
                words: words.into(),
                offset: lines[0].wrapping_sub(passing.plan.origin),
            }),
            of: PhantomData,
        };
        let offset = lines[0].wrapping_sub(passing.plan.origin);
        let done = transfer.fetch_line(&passing.plan, there, offset, begins, more);
        let free = transfer.free;
        let on = self.b.current_block();
        self.b.seal_block(out);
        self.b.switch_to_block(out);
        let state = self.state();
        self.interpret(at);
        self.restore(state);
        on.into_iter().for_each(|on| self.b.switch_to_block(on));
        free.into_iter().for_each(|free| self.b.def_var(passing.free, free));
        for (line, value) in passing.lines.into_iter().zip(there) {
            self.b.def_var(line, value);
        }
        let waited = self.b.ins().isub(done, begins);
        self.set_cycles(done, 0);
        self.charge_transfer(self.pc_of(at), &passing.plan, waited);
        waited
    }

    fn fetch_by(&mut self, at: u32, function: usize, what: u64, pc: u32) {
        let fetched = pc;
        let begins_cycles = i64::from(self.cpu.blocks.info(self.index, at).begins_cycles) - 1;
        let what = self.b.ins().iconst(I64, what as i64);
        let pc = self.b.ins().iconst(I32, i64::from(pc as i32));
        // This is rare: an event occurs. The code after the wait would have to be compiled, too.
        let waited = self.call_transfer(function, begins_cycles, [what, pc], |this| this.interpret(at));
        if let Some((plan, _)) = self.calls.transfers.fetch {
            self.charge_transfer(fetched, &plan, waited);
        }
    }

    /// Emits operation `at`, which loads from `addr` without a shortcut, and jumps to `merged` with the extended value;
    /// continues in the cases that are not simple.
    pub(super) fn load_past_caches(&mut self, at: u32, addr: Value, moves: Moves, merged: ir::Block) {
        let Some((host, out)) = self.transfer_data(at, addr, moves) else { return };
        let value = self.load_host(host, moves);
        self.b.ins().jump(merged, &[value.into()]);
        self.b.switch_to_block(out);
    }

    /// As [`Emitter::load_past_caches`], for a store.
    pub(super) fn store_past_caches(&mut self, at: u32, addr: Value, moves: Moves, value: Value, merged: ir::Block) {
        let Some((host, out)) = self.transfer_data(at, addr, moves) else { return };
        self.store_host(host, moves, value);
        self.b.ins().jump(merged, &[]);
        self.b.switch_to_block(out);
    }

    /// The host address of the data, and the path for the cases that are not simple.
    fn transfer_data(&mut self, at: u32, addr: Value, moves: Moves) -> Option<(Value, ir::Block)> {
        let (plan, [function, _]) = self.calls.transfers.data[usize::from(moves.store)]?;
        let bytes = plan.ram?.bytes;
        let begins_cycles = i64::from(self.cpu.blocks.info(self.index, at).begins_cycles);
        let wide = self.b.ins().uextend(I64, addr);
        let size = self.b.ins().iconst(I32, i64::from(moves.size.bytes()) - 1);
        let out = self.b.create_block();
        let waited = self.call_transfer(function, begins_cycles, [wide, size], |this| {
            this.b.ins().jump(out, &[]);
        });
        self.b.seal_block(out);
        self.charge_transfer(self.pc_of(at), &plan, waited);
        let host = self.b.ins().iadd_imm(wide, (bytes as i64).wrapping_sub(i64::from(plan.origin)));
        Some((host, out))
    }

    /// True if the current code is fetched past the caches, by a function of [`super::transfer`].
    pub fn is_past_caches(&self) -> bool {
        self.calls.transfers.fetch.is_some()
    }

    /// Operation `at` transfers `words` at `addr` past the caches; returns the host address of simulated address 0 for
    /// them. Jumps to `out` in the cases that are not simple; `None` if no case is.
    pub fn multiple_past_caches(
        &mut self,
        at: u32,
        addr: Value,
        words: u32,
        store: bool,
        out: ir::Block,
    ) -> Option<Value> {
        let (plan, [_, function]) = self.calls.transfers.data[usize::from(store)]?;
        let bytes = plan.ram.filter(|_| function != 0 && words <= MOST_WORDS)?.bytes;
        let begins_cycles = i64::from(self.cpu.blocks.info(self.index, at).begins_cycles);
        let wide = self.b.ins().uextend(I64, addr);
        let more = self.b.ins().iconst(I32, i64::from(words) - 1);
        let waited = self.call_transfer(function, begins_cycles, [wide, more], |this| {
            this.b.ins().jump(out, &[]);
        });
        self.charge_transfer(self.pc_of(at), &plan, waited);
        Some(self.b.ins().iconst(I64, (bytes as i64).wrapping_sub(i64::from(plan.origin))))
    }

    /// Calls a function of [`super::transfer`] for a transfer that begins `begins_cycles` after the block's start; if
    /// it has done nothing, emits `otherwise`, which ends the path. Returns the cycles that the core waits.
    fn call_transfer(
        &mut self,
        function: usize,
        begins_cycles: i64,
        [what, detail]: [Value; 2],
        otherwise: impl FnOnce(&mut Self),
    ) -> Value {
        let longest = i64::from(self.cpu.blocks.hot[self.index as usize].longest_cycles);
        let begins = self.cycles_and(begins_cycles);
        let more = self.b.ins().iconst(I64, longest - begins_cycles);
        let signature = self.b.import_signature(signature());
        let function = self.b.ins().iconst(I64, function as i64);
        self.b.ins().call_indirect(signature, function, &[self.core, begins, more, what, detail]);
        let done_at = (offset_of!(Cpu<I>, host) + HostCode::<I>::DONE) as i32;
        let done = self.b.ins().load(I64, own(), self.core, done_at);
        self.unless(done, otherwise);
        self.set_cycles(done, -begins_cycles);
        self.b.ins().isub(done, begins)
    }
}
