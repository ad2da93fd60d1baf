//! From a block to a function: its control flow, accounts and accesses. Arithmetic is in [`super::alu`].

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AliasRegion, Function, InstBuilder, MemFlags, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use std::mem::offset_of;

use super::super::core::Hart;
use super::super::execute::moves;
use super::super::op::{Code, Op, TimingClass};
use super::stubs::{begin, signature};
use super::{Blocks, Hot, Kind, ending_bits};
use crate::cpu::block::{NO_BLOCK, Settled, lookup_slot};
use crate::cpu::isa::Pending as _;
use crate::cpu::memory::Memory;
use crate::cpu::memory::shortcut::{Shortcuts, Slot};

/// Where a hart's fetch epoch is.
const FETCH_EPOCH: usize = offset_of!(Hart, memory) + Memory::FETCH_EPOCH;

/// What a function knows while it is made.
pub struct Emitter<'a> {
    pub(super) b: FunctionBuilder<'a>,
    blocks: &'a Blocks,
    shortcuts: &'a Shortcuts,
    /// The block.
    index: u32,
    /// Address of the hart.
    hart: Value,
    /// Address of the block's [`Hot`].
    hot: Value,
    /// Registers that are in host registers.
    registers: [Option<Value>; 32],
    /// Registers whose value in the hart is out of date.
    dirty: u32,
}

/// Accesses of the hart's and the tables' own fields: aligned, and never where simulated memory is.
fn own() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

/// Accesses of simulated memory.
fn simulated() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(Some(AliasRegion::Heap))
}

/// Makes `func` the code of the block `index`.
pub fn emit(
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    blocks: &Blocks,
    shortcuts: &Shortcuts,
    index: u32,
) {
    let (b, hart, hot) = begin(func, context, CallConv::Tail);
    let mut emitter = Emitter { b, blocks, shortcuts, index, hart, hot, registers: [None; 32], dirty: 0 };
    emitter.block();
    emitter.b.seal_all_blocks();
    emitter.b.finalize();
}

impl Emitter<'_> {
    fn block(&mut self) {
        let blocks = self.blocks;
        for (at, op) in blocks.ops_from(self.index).iter().enumerate() {
            let at = at as u32;
            match op.code.class() {
                TimingClass::Load => self.load(op, at),
                TimingClass::Store => self.store(op, at),
                TimingClass::Branch => return self.branch(op),
                TimingClass::Jump => {
                    let link = self.constant(op.imm as u32);
                    self.set_register(op, link);
                    return self.exit(1, None);
                }
                TimingClass::IndirectJump => return self.indirect_jump(op),
                TimingClass::Csr | TimingClass::System => return self.interpret(at),
                _ if op.code == Code::End => return self.exit(0, None),
                _ => self.alu(op),
            }
        }
    }

    // ---- Registers

    pub(super) fn constant(&mut self, value: u32) -> Value {
        self.b.ins().iconst(I32, i64::from(value))
    }

    /// The value of a register.
    pub(super) fn register(&mut self, register: u8) -> Value {
        if register == 0 {
            return self.constant(0);
        }
        if let Some(value) = self.registers[register as usize] {
            return value;
        }
        let value = self.b.ins().load(I32, own(), self.hart, register_offset(register));
        self.registers[register as usize] = Some(value);
        value
    }

    /// Gives an operation's result to its destination.
    pub(super) fn set_register(&mut self, op: &Op, value: Value) {
        // Results for x0 have the sink as their destination.
        if let Some(register) = self.registers.get_mut(op.rd as usize) {
            *register = Some(value);
            self.dirty |= 1 << op.rd;
        }
    }

    /// Brings the hart's registers up to date.
    fn write_back(&mut self) {
        for register in bits(self.dirty) {
            if let Some(value) = self.registers[register as usize] {
                self.b.ins().store(own(), value, self.hart, register_offset(register));
            }
        }
    }

    // ---- Ways out

    fn finish(&mut self, kind: Kind, index: u32, number: u32) {
        let ending = self.b.ins().iconst(I64, ending_bits(kind, index, number) as i64);
        self.b.ins().return_(&[ending]);
    }

    /// Leaves it to the interpreter to go on at operation `at`.
    fn interpret(&mut self, at: u32) {
        self.write_back();
        self.finish(Kind::Interpret, self.index, at);
    }

    /// Goes on only if `condition` holds; else does what `otherwise` says, far from the hot path, with what is in
    /// registers now.
    fn unless(&mut self, condition: Value, otherwise: impl FnOnce(&mut Self)) {
        let (on, off) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, on, &[], off, &[]);
        self.b.set_cold_block(off);
        self.b.switch_to_block(off);
        otherwise(self);
        self.b.switch_to_block(on);
    }

    fn branch(&mut self, op: &Op) {
        let (a, b) = (self.register(op.rs1), self.register(op.rs2));
        let condition = match op.code {
            Code::Beq => IntCC::Equal,
            Code::Bne => IntCC::NotEqual,
            Code::Blt => IntCC::SignedLessThan,
            Code::Bge => IntCC::SignedGreaterThanOrEqual,
            Code::Bltu => IntCC::UnsignedLessThan,
            _ => IntCC::UnsignedGreaterThanOrEqual,
        };
        let taken = self.b.ins().icmp(condition, a, b);
        let (yes, no) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(taken, yes, &[], no, &[]);
        let registers = self.registers;
        self.b.switch_to_block(yes);
        self.exit(1, None);
        self.registers = registers;
        self.b.switch_to_block(no);
        self.exit(0, None);
    }

    fn indirect_jump(&mut self, op: &Op) {
        let base = self.register(op.rs1);
        let target = self.b.ins().iadd_imm(base, i64::from(op.imm));
        let target = self.b.ins().band_imm(target, !1);
        let link = self.constant(self.blocks.hot[self.index as usize].end_pc);
        self.set_register(op, link);
        self.exit(1, Some(target));
    }

    /// The end of the block: accounts for it, and goes to what comes next. `target` is where an indirect jump leads.
    fn exit(&mut self, exit: usize, target: Option<Value>) {
        self.write_back();
        let cycles = self.account(exit);
        if let Some(target) = target {
            self.b.ins().store(own(), target, self.hot, offset_of!(Hot, taken_pc) as i32);
            return self.look_up(target, cycles);
        }
        let Some(next) = self.fixed_link(exit) else { return self.follow_link(exit, cycles) };
        let longest = i64::from(self.blocks.hot[next as usize].longest_cycles);
        let longest = self.b.ins().iconst(I64, longest);
        let offset = self.offset_to(next);
        let may = self.may_enter(self.hot, offset, longest, cycles);
        self.unless(may, |this| this.finish(Kind::Check, next, 0));
        let next = self.b.ins().iadd_imm(self.hot, i64::from(offset));
        self.enter(next);
    }

    /// Counts a run of the block and its time; gives the cycles so far.
    fn account(&mut self, exit: usize) -> Value {
        let runs_at = (offset_of!(Hot, runs) + exit * size_of::<u64>()) as i32;
        let hot = &self.blocks.hot[self.index as usize];
        let (cost, instructions) = (i64::from(hot.cycles[exit]), i64::from(hot.instructions));
        self.add(self.hot, runs_at, 1);
        self.add(self.hart, offset_of!(Hart, shell.instructions) as i32, instructions);
        self.add(self.hart, offset_of!(Hart, shell.cycles) as i32, cost)
    }

    /// Adds to a 64-bit count in memory; gives the sum.
    fn add(&mut self, base: Value, offset: i32, amount: i64) -> Value {
        let count = self.b.ins().load(I64, own(), base, offset);
        let sum = self.b.ins().iadd_imm(count, amount);
        self.b.ins().store(own(), sum, base, offset);
        sum
    }

    /// True if the block whose [`Hot`] is at `hot + offset` fits before the limit, and is known to be in the
    /// instruction cache.
    fn may_enter(&mut self, hot: Value, offset: i32, longest: Value, cycles: Value) -> Value {
        let end = self.b.ins().iadd(cycles, longest);
        let limit = self.b.ins().load(I64, own(), self.hart, offset_of!(Hart, shell.deadline.limit) as i32);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        let epoch = self.b.ins().load(I32, own(), self.hart, FETCH_EPOCH as i32);
        let seen = self.b.ins().load(I32, own(), hot, offset + offset_of!(Hot, fetched_epoch) as i32);
        let fetched = self.b.ins().icmp(IntCC::Equal, epoch, seen);
        self.b.ins().band(fits, fetched)
    }

    /// Goes to the block that was linked to an exit since, if any.
    fn follow_link(&mut self, exit: usize, cycles: Value) {
        let at = (offset_of!(Hot, links) + exit * size_of::<u32>()) as i32;
        let link = self.b.ins().load(I32, own(), self.hot, at);
        let known = self.b.ins().icmp_imm(IntCC::NotEqual, link, i64::from(NO_BLOCK as i32));
        let index = self.index;
        self.unless(known, |this| this.finish(Kind::Left, index, exit as u32));
        self.enter_index(link, cycles);
    }

    /// Goes to the block at `target`, if the lookup table has it.
    fn look_up(&mut self, target: Value, cycles: Value) {
        let index = self.index;
        if !self.blocks.cold[index as usize].pending[1].is_none() {
            // The next block has to be entered with results under way.
            return self.finish(Kind::Left, index, 1);
        }
        // Targets are even: twice the slot's number.
        let slot = self.b.ins().band_imm(target, (lookup_slot(u32::MAX) as i64) << 1);
        let offset = self.b.ins().ishl_imm(slot, i64::from(size_of::<Settled>().ilog2()) - 1);
        let offset = self.b.ins().uextend(I64, offset);
        let base = self.b.ins().iconst(I64, self.blocks.settled_base() as i64);
        let found = self.b.ins().iadd(base, offset);
        let pc = self.b.ins().load(I32, own(), found, offset_of!(Settled, pc) as i32);
        let here = self.b.ins().icmp(IntCC::Equal, pc, target);
        self.unless(here, |this| this.finish(Kind::Left, index, 1));
        let next = self.b.ins().load(I32, own(), found, offset_of!(Settled, index) as i32);
        self.enter_index(next, cycles);
    }

    /// The block that an exit leads to every time, where that is known.
    fn fixed_link(&self, exit: usize) -> Option<u32> {
        let link = self.blocks.hot[self.index as usize].links[exit];
        let indirect = self.blocks.instrs_of(self.index).last().is_some_and(|last| last.op.code == Code::Jalr);
        (link != NO_BLOCK && !indirect).then_some(link)
    }

    /// Enters a block by its index.
    fn enter_index(&mut self, index: Value, cycles: Value) {
        let index = self.b.ins().uextend(I64, index);
        let offset = self.b.ins().ishl_imm(index, i64::from(size_of::<Hot>().ilog2()));
        let base = self.b.ins().iconst(I64, self.blocks.hot_base() as i64);
        let hot = self.b.ins().iadd(base, offset);
        let longest = self.b.ins().uload16(I64, own(), hot, offset_of!(Hot, longest_cycles) as i32);
        let may = self.may_enter(hot, 0, longest, cycles);
        self.unless(may, |this| {
            let ending = this.b.ins().bor_imm(index, ending_bits(Kind::Check, 0, 0) as i64);
            this.b.ins().return_(&[ending]);
        });
        self.enter(hot);
    }

    fn enter(&mut self, hot: Value) {
        let code = self.b.ins().load(I64, own(), hot, offset_of!(Hot, code) as i32);
        let signature = self.b.import_signature(signature(CallConv::Tail));
        self.b.ins().return_call_indirect(signature, code, &[self.hart, hot]);
    }

    /// From this block's [`Hot`] to another's: some megabytes at most.
    fn offset_to(&self, index: u32) -> i32 {
        (index as i32 - self.index as i32) * size_of::<Hot>() as i32
    }

    // ---- Accesses

    fn load(&mut self, op: &Op, at: u32) {
        let host = self.host_address(op, at, offset_of!(Slot, load_line));
        let ins = self.b.ins();
        let value = match op.code {
            Code::Lb => ins.sload8(I32, simulated(), host, 0),
            Code::Lbu => ins.uload8(I32, simulated(), host, 0),
            Code::Lh => ins.sload16(I32, simulated(), host, 0),
            Code::Lhu => ins.uload16(I32, simulated(), host, 0),
            _ => ins.load(I32, simulated(), host, 0),
        };
        self.set_register(op, value);
    }

    fn store(&mut self, op: &Op, at: u32) {
        let value = self.register(op.rs2);
        let host = self.host_address(op, at, offset_of!(Slot, store_line));
        let ins = self.b.ins();
        match op.code {
            Code::Sb => ins.istore8(simulated(), value, host, 0),
            Code::Sh => ins.istore16(simulated(), value, host, 0),
            _ => ins.store(simulated(), value, host, 0),
        };
    }

    /// Where the bytes of an access are, as in [`Shortcuts::load`]. Without a shortcut the interpreter does the access.
    fn host_address(&mut self, op: &Op, at: u32, line_offset: usize) -> Value {
        let (slots, count, shift) = self.shortcuts.layout();
        let base = self.register(op.rs1);
        let addr = self.b.ins().iadd_imm(base, i64::from(op.imm));
        // Number << log(size), in two steps.
        let log = size_of::<Slot>().ilog2();
        let number = self.b.ins().ushr_imm(addr, i64::from(shift.saturating_sub(log)));
        let number = if shift < log { self.b.ins().ishl_imm(number, i64::from(log - shift)) } else { number };
        let offset = self.b.ins().band_imm(number, (count as i64 - 1) << log);
        let offset = self.b.ins().uextend(I64, offset);
        let slots = self.b.ins().iconst(I64, slots as i64);
        let slot = self.b.ins().iadd(slots, offset);
        let line = self.b.ins().load(I32, own(), slot, line_offset as i32);
        let mask = !((1u32 << shift) - 1) | (moves(op.code).size.bytes() - 1);
        let masked = self.b.ins().band_imm(addr, i64::from(mask as i32));
        let here = self.b.ins().icmp(IntCC::Equal, masked, line);
        self.unless(here, |this| this.interpret(at));
        let zero = self.b.ins().load(I64, own(), slot, offset_of!(Slot, host_zero) as i32);
        let addr = self.b.ins().uextend(I64, addr);
        self.b.ins().iadd(zero, addr)
    }
}

/// Numbers of the bits that are set.
fn bits(mask: u32) -> impl Iterator<Item = u8> {
    (0..32).filter(move |bit| mask >> bit & 1 == 1)
}

fn register_offset(register: u8) -> i32 {
    offset_of!(Hart, x) as i32 + i32::from(register) * 4
}
