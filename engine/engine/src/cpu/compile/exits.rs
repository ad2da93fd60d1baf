//! Exits of a block: to the next block of the region or of another one, or to the interpreter.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};
use cranelift_codegen::isa::CallConv;
use std::mem::offset_of;

use super::emit::{Emitter, own};
use super::ending::EndingWord;
use super::stubs::signature;
use crate::cpu::Cpu;
use crate::cpu::block::{FALLEN, Hot, NO_BLOCK, Settled, TAKEN, lookup_slot};
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::Memory;
use crate::cpu::memory_system::fetch::pages::{MOST_PAGES, PageNumber};

impl<I: Isa> Emitter<'_, I> {
    /// Continues only if `condition` holds; otherwise emits `otherwise`, far from the hot path, which ends there.
    pub fn unless(&mut self, condition: Value, otherwise: impl FnOnce(&mut Self)) {
        let [on, off] = self.fork(condition);
        self.b.set_cold_block(off);
        let state = self.state();
        self.b.switch_to_block(off);
        otherwise(self);
        self.restore(state);
        self.b.switch_to_block(on);
    }

    /// Two paths: one where `condition` holds, one where it does not.
    pub fn fork(&mut self, condition: Value) -> [ir::Block; 2] {
        let ways = [self.b.create_block(), self.b.create_block()];
        self.b.ins().brif(condition, ways[0], &[], ways[1], &[]);
        ways.into_iter().for_each(|way| self.b.seal_block(way));
        ways
    }

    fn finish(&mut self, ending: EndingWord) {
        let ending = self.b.ins().iconst(I64, ending.bits() as i64);
        self.b.ins().return_(&[ending]);
    }

    /// Exits to the interpreter, which continues at operation `at`.
    pub fn interpret(&mut self, at: u32) {
        self.write_back();
        self.finish(self.ending_at(at));
    }

    /// The ending for such an exit.
    pub(super) fn ending_at(&self, at: u32) -> EndingWord {
        EndingWord::interpret(self.index, at, self.decided)
    }

    /// The core's cycles at the start of the block, plus its delays up to now, plus `more`.
    pub(super) fn cycles_and(&mut self, more: i64) -> Value {
        let cycles = self.b.use_var(self.cycles);
        if more == 0 { cycles } else { self.b.ins().iadd_imm(cycles, more) }
    }

    /// Sets the core's cycles to `cycles` plus `more`.
    pub(super) fn set_cycles(&mut self, cycles: Value, more: i64) {
        let cycles = if more == 0 { cycles } else { self.b.ins().iadd_imm(cycles, more) };
        self.b.def_var(self.cycles, cycles);
    }

    /// Reloads the core's cycles and the other values that an access has changed.
    pub(super) fn reload_cycles(&mut self) {
        let cycles = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.cycles) as i32);
        self.b.def_var(self.cycles, cycles);
        self.reload_lines();
    }

    /// Decides on `exit`, which is taken after further operations.
    pub fn decide(&mut self, exit: usize) {
        self.decided = exit;
    }

    /// Stores `target` as the block's jump target this time, for the interpreter, if that has to finish the block.
    pub fn set_taken_pc(&mut self, target: Value) {
        let at = self.offset_to(self.index) + offset_of!(Hot<I::Jump>, taken_pc) as i32;
        let hot = self.b.use_var(self.hot);
        self.b.ins().store(own(), target, hot, at);
    }

    /// Emits `yes` where `condition` holds, which ends there, and otherwise `no`.
    pub fn either(&mut self, condition: Value, yes: impl FnOnce(&mut Self), no: impl FnOnce(&mut Self)) {
        let ways = self.fork(condition);
        let state = self.state();
        self.b.switch_to_block(ways[0]);
        yes(self);
        self.restore(state);
        self.b.switch_to_block(ways[1]);
        no(self);
    }

    /// Ends the block with a branch.
    pub fn branch(&mut self, taken: Value) {
        self.either(taken, |this| this.exit(TAKEN), |this| this.exit(FALLEN));
    }

    /// Ends the block: accounts for it, and jumps to the next block.
    pub fn exit(&mut self, exit: usize) {
        self.dirty &= !I::TRANSIENT;
        self.account(exit);
        I::emit_resolve(self, exit, None);
        self.follow_flow(exit, None);
        match self.blocks().hot[self.index as usize].links[exit] {
            NO_BLOCK => self.follow_link(exit),
            next => self.go_to(next),
        }
    }

    /// Ends the block with an indirect jump to `target`, an address in the form that blocks use.
    pub fn exit_to(&mut self, target: Value) {
        self.dirty &= !I::TRANSIENT;
        self.account(TAKEN);
        I::emit_resolve(self, TAKEN, Some(target));
        self.follow_flow(TAKEN, Some(target));
        let guess = self.blocks().hot[self.index as usize].links[TAKEN];
        if guess != NO_BLOCK && self.region.place_of(guess).is_some() {
            let pc = self.blocks().hot[guess as usize].pc;
            let right = self.b.ins().icmp_imm(IntCC::Equal, target, i64::from(pc as i32));
            return self.either(right, |this| this.go_to(guess), |this| this.look_up(target));
        }
        self.look_up(target);
    }

    /// Jumps to a known block.
    pub(super) fn go_to(&mut self, next: u32) {
        let Some(place) = self.region.place_of(next) else { return self.go_outside(next) };
        let out = self.b.create_block();
        self.b.set_cold_block(out);
        let fits = self.fits(i64::from(self.blocks().hot[next as usize].longest_cycles));
        self.go_on_if(fits, out);
        if !self.region.has_entered(self.place, place) {
            let fetched = self.is_fetched_at(next);
            self.go_on_if(fetched, out);
        }
        let on = self.b.current_block();
        self.b.seal_block(out);
        self.b.switch_to_block(out);
        let state = self.state();
        self.write_back();
        self.finish(EndingWord::check(next));
        self.restore(state);
        on.into_iter().for_each(|on| self.b.switch_to_block(on));
        I::settle(self);
        self.b.ins().jump(self.places[place], &[]);
    }

    /// Emits `rare`, which runs where `condition` does not hold, far from the hot path, and continues.
    pub fn rarely(&mut self, condition: Value, rare: impl FnOnce(&mut Self)) {
        let [on, off] = self.fork(condition);
        let merged = self.b.create_block();
        self.b.set_cold_block(off);
        self.b.switch_to_block(off);
        rare(self);
        self.b.ins().jump(merged, &[]);
        self.b.switch_to_block(on);
        self.b.ins().jump(merged, &[]);
        self.b.seal_block(merged);
        self.b.switch_to_block(merged);
    }

    /// Continues only if `condition` holds, else jumps to `otherwise`.
    pub fn go_on_if(&mut self, condition: Value, otherwise: ir::Block) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], otherwise, &[]);
        self.b.seal_block(on);
        self.b.switch_to_block(on);
    }

    /// Jumps to a known block outside of this region.
    fn go_outside(&mut self, next: u32) {
        self.write_back();
        let fits = self.fits(i64::from(self.blocks().hot[next as usize].longest_cycles));
        let fetched = self.is_fetched_at(next);
        let may = self.b.ins().band(fits, fetched);
        self.unless(may, |this| this.finish(EndingWord::check(next)));
        let offset = self.offset_to(next);
        let hot = self.b.use_var(self.hot);
        let next = self.b.ins().iadd_imm(hot, i64::from(offset));
        self.enter(next);
    }

    /// True if a block of up to `longest_cycles` fits before the limit.
    fn fits(&mut self, longest_cycles: i64) -> Value {
        let cycles = self.b.use_var(self.cycles);
        let end = self.b.ins().iadd_imm(cycles, longest_cycles);
        self.is_in_time(end)
    }

    /// True if a block that ends in cycle `end` ends before the limit, which accesses may change.
    fn is_in_time(&mut self, end: Value) -> Value {
        let limit = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.deadline.limit) as i32);
        self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit)
    }

    /// True if the block whose [`Hot`] is at `hot + offset` is known to be in the instruction cache.
    pub(super) fn is_fetched(&mut self, hot: Value, offset: i32) -> Value {
        let mark = self.mark_of(hot, offset);
        let number = self.b.ins().band_imm(mark, MOST_PAGES as i64 - 1);
        let number = self.b.ins().uextend(I64, number);
        let offset = self.b.ins().ishl_imm(number, i64::from(size_of::<u32>().ilog2()));
        let at = self.b.ins().iadd(self.core, offset);
        let valid = self.b.ins().load(I32, own(), at, valid_pages::<I>());
        self.b.ins().icmp(IntCC::Equal, valid, mark)
    }

    /// As [`Emitter::is_fetched`], for a known block.
    pub(super) fn is_fetched_at(&mut self, index: u32) -> Value {
        let page = page_of(self.cpu, index);
        let hot = self.b.use_var(self.hot);
        let mark = self.mark_of(hot, self.offset_to(index));
        let valid = if page == page_of(self.cpu, self.region.members[0].index) {
            self.valid
        } else {
            self.b.ins().load(I32, own(), self.core, valid_at(self.cpu, index))
        };
        self.b.ins().icmp(IntCC::Equal, valid, mark)
    }

    /// [`Hot::fetched`] of the block whose [`Hot`] is at `hot + offset`.
    fn mark_of(&mut self, hot: Value, offset: i32) -> Value {
        self.b.ins().load(I32, own(), hot, offset + offset_of!(Hot<I::Jump>, fetched) as i32)
    }

    /// Jumps to the block that has been linked to an exit since, if any.
    fn follow_link(&mut self, exit: usize) {
        self.write_back();
        let at = self.offset_to(self.index) + (offset_of!(Hot<I::Jump>, links) + exit * size_of::<u32>()) as i32;
        let hot = self.b.use_var(self.hot);
        let link = self.b.ins().load(I32, own(), hot, at);
        let known = self.b.ins().icmp_imm(IntCC::NotEqual, link, i64::from(NO_BLOCK as i32));
        let index = self.index;
        self.unless(known, |this| this.finish(EndingWord::left(index, exit)));
        self.enter_index(link);
    }

    /// Jumps to the block at `target`, if the table of settled blocks has it.
    fn look_up(&mut self, target: Value) {
        self.write_back();
        let index = self.index;
        let wide = self.b.ins().uextend(I64, target);
        // Twice the slot's number: bit 0 is not part of it.
        let slot = self.b.ins().band_imm(wide, (lookup_slot(u32::MAX) as i64) << 1);
        let offset = self.b.ins().ishl_imm(slot, i64::from(size_of::<Settled>().ilog2()) - 1);
        let base = self.cpu.blocks.settled_base() as i64;
        let base = self.b.ins().iconst(I64, base);
        let found = self.b.ins().iadd(base, offset);
        let tag = self.b.ins().load(I64, own(), found, offset_of!(Settled, tag) as i32);
        let pending = i64::from(self.blocks().cold[index as usize].pending_after_jump) << 32;
        let wanted = if pending == 0 { wide } else { self.b.ins().bor_imm(wide, pending) };
        let here = self.b.ins().icmp(IntCC::Equal, tag, wanted);
        self.unless(here, |this| {
            this.set_taken_pc(target);
            this.finish(EndingWord::left(index, TAKEN));
        });
        let next = self.b.ins().load(I32, own(), found, offset_of!(Settled, index) as i32);
        self.enter_index(next);
    }

    /// Enters a block by its index.
    fn enter_index(&mut self, index: Value) {
        let index = self.b.ins().uextend(I64, index);
        let offset = self.b.ins().ishl_imm(index, i64::from(size_of::<Hot<I::Jump>>().ilog2()));
        let base = self.cpu.blocks.hot_base() as i64;
        let base = self.b.ins().iconst(I64, base);
        let hot = self.b.ins().iadd(base, offset);
        let longest = self.b.ins().uload16(I64, own(), hot, offset_of!(Hot<I::Jump>, longest_cycles) as i32);
        let cycles = self.b.use_var(self.cycles);
        let end = self.b.ins().iadd(cycles, longest);
        let fits = self.is_in_time(end);
        let fetched = self.is_fetched(hot, 0);
        let may = self.b.ins().band(fits, fetched);
        self.unless(may, |this| {
            let ending = this.b.ins().bor_imm(index, EndingWord::check(0).bits() as i64);
            this.b.ins().return_(&[ending]);
        });
        self.enter(hot);
    }

    fn enter(&mut self, hot: Value) {
        let code = self.b.ins().load(I64, own(), hot, offset_of!(Hot<I::Jump>, code) as i32);
        let signature = self.b.import_signature(signature(CallConv::Tail));
        self.b.ins().return_call_indirect(signature, code, &[self.core, hot]);
    }

    /// Offset from the [`Hot`] of the region's first block to another's: some megabytes at most.
    pub(super) fn offset_to(&self, index: u32) -> i32 {
        (index as i32 - self.region.members[0].index as i32) * size_of::<Hot<I::Jump>>() as i32
    }
}

/// The page of code of a block.
fn page_of<I: Isa>(cpu: &Cpu<I>, index: u32) -> PageNumber {
    I::page(&cpu.blocks.cold[index as usize].entry.context)
}

/// Offset in the core of the marks of pages of code that are present.
fn valid_pages<I: Isa>() -> i32 {
    (offset_of!(Cpu<I>, memory) + Memory::VALID_PAGES) as i32
}

/// Offset in the core of the mark of a block's page of code.
pub(super) fn valid_at<I: Isa>(cpu: &Cpu<I>, index: u32) -> i32 {
    valid_pages::<I>() + i32::from(page_of(cpu, index)) * size_of::<u32>() as i32
}
