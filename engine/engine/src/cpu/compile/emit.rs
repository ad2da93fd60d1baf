//! From a region to a function: registers and accounts. Entries are in [`super::entry`], exits in [`super::exits`],
//! accesses in [`super::access`].
//!
//! The core's cycles and instructions, and the registers that the region names, are values of the function; changed
//! values are written back to the core where the function ends. Inside the region, a block is entered after the
//! interpreter's checks: it has to fit before the limit, and its lines have to be in the instruction cache.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, AbiParam, AliasRegion, Function, InstBuilder, MemFlags, Signature, Type, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use std::mem::offset_of;

use super::exits::valid_at;
use super::matrix_switches::MatrixStubs;
use super::past_caches::{Fetched, PassingLines};
use super::region::{Region, RegisterBits};
use super::stubs::begin;
use super::transfer::Transfers;
use crate::cpu::Cpu;
use crate::cpu::block::{Blocks, FALLEN, Hot};
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::Memory;
use crate::cpu::memory_system::fetch::line_order;
use crate::cpu::profiler::counters::Own;

/// Registers that a region can have as values.
const REGISTERS: usize = RegisterBits::BITS as usize;

/// Addresses and conventions that compiled code needs to call the host's functions.
#[derive(Clone, Copy)]
pub struct Calls {
    /// The host's calling convention.
    pub convention: CallConv,
    /// The stub for accesses without a shortcut.
    pub access: usize,
    /// The stubs for accesses that may switch a bus matrix, if there is one.
    pub matrix: Option<MatrixStubs>,
    /// Functions for accesses past the caches.
    pub transfers: Transfers,
}

/// State of a function that is being made.
pub struct Emitter<'a, I: Isa> {
    pub b: FunctionBuilder<'a>,
    pub(super) calls: Calls,
    pub cpu: &'a Cpu<I>,
    pub(super) region: &'a Region,
    /// Entry block of each member's code.
    pub(super) places: Vec<ir::Block>,
    /// The current member, and its block.
    pub(super) place: usize,
    pub index: u32,
    /// Address of the core.
    pub core: Value,
    /// Address of the [`Hot`] of the region's first block.
    pub(super) hot: Variable,
    /// The state of fetched lines, which does not change while compiled code runs.
    pub(super) epoch: Value,
    /// The mark of the page of code of the region's first block, which does not change either.
    pub(super) valid: Value,
    /// The core's cycles and instructions.
    pub(super) cycles: Variable,
    pub(super) instructions: Variable,
    pub(super) registers: [Option<Variable>; REGISTERS],
    /// Registers whose value in the core may be out of date.
    pub(super) dirty: RegisterBits,
    /// The exit that has been decided on before the end of the block.
    pub(super) decided: usize,
    /// Instructions fetched past the cache, as far as known.
    pub(super) fetched: Fetched,
    /// Known state of the line buffers, if the region's code is fetched by lines that no cache keeps.
    pub(super) passing: Option<PassingLines>,
    /// Values that the instruction set has not computed yet.
    pub lazy: I::Lazy,
}

/// State at a point of a block, apart from the values of registers.
pub struct State<I: Isa> {
    dirty: RegisterBits,
    lazy: I::Lazy,
}

/// Flags for accesses of the core's and the tables' own fields: aligned, and never in simulated memory.
pub fn own() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

/// Makes `func` the code of a region.
pub fn emit<I: Isa>(
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    calls: Calls,
    cpu: &Cpu<I>,
    region: &Region,
) {
    let (mut b, core, entered) = begin(func, context, CallConv::Tail);
    let hot = b.declare_var(I64);
    let epoch = b.ins().load(I32, own(), core, (offset_of!(Cpu<I>, memory) + Memory::FETCH_EPOCH) as i32);
    let valid = b.ins().load(I32, own(), core, valid_at(cpu, region.members[0].index));
    let [cycles, instructions] = [offset_of!(Cpu<I>, shell.cycles), offset_of!(Cpu<I>, shell.instructions)].map(|at| {
        let (variable, value) = (b.declare_var(I64), b.ins().load(I64, own(), core, at as i32));
        b.def_var(variable, value);
        variable
    });
    // Registers are loaded in this block, once the set is known.
    let entry = b.create_block();
    let places: Vec<ir::Block> = region.members.iter().map(|_| b.create_block()).collect();
    let registers = [None; REGISTERS];
    let index = region.members[0].index;
    let lazy = I::Lazy::default();
    let mut emitter = Emitter {
        b,
        calls,
        cpu,
        region,
        places,
        place: 0,
        index,
        core,
        hot,
        epoch,
        valid,
        cycles,
        instructions,
        registers,
        dirty: 0,
        decided: FALLEN,
        fetched: Fetched::default(),
        passing: None,
        lazy,
    };
    emitter.look_at_lines();
    emitter.b.ins().jump(entry, &[]);
    for (place, member) in region.members.iter().enumerate() {
        emitter.b.switch_to_block(emitter.places[place]);
        (emitter.place, emitter.index) = (place, member.index);
        (emitter.dirty, emitter.lazy, emitter.decided) = (member.dirty, I::Lazy::default(), FALLEN);
        emitter.fetched = Fetched::default();
        I::emit(&mut emitter, cpu.blocks.ops_of(member.index));
    }
    emitter.enter_region(entry, entered);
    emitter.b.seal_all_blocks();
    emitter.b.finalize();
}

impl<I: Isa> Emitter<'_, I> {
    pub(super) fn blocks(&self) -> &Blocks<I> {
        &self.cpu.blocks
    }

    // ---- Registers

    /// The value of a register.
    pub fn register(&mut self, register: u8) -> Value {
        let variable = self.variable(register);
        self.b.use_var(variable)
    }

    /// Sets the value of a register.
    pub fn set_register(&mut self, register: u8, value: Value) {
        let variable = self.variable(register);
        self.b.def_var(variable, value);
        self.dirty |= 1 << register;
    }

    /// Marks a register whose value the instruction set has not computed yet.
    pub fn set_dirty(&mut self, register: u8) {
        self.dirty |= 1 << register;
    }

    /// The state at this point.
    pub fn state(&self) -> State<I> {
        State { dirty: self.dirty, lazy: self.lazy.clone() }
    }

    /// Continues with code that begins in this state.
    pub fn restore(&mut self, state: State<I>) {
        (self.dirty, self.lazy) = (state.dirty, state.lazy);
    }

    /// Merges two paths: registers that are out of date in `other` are out of date here, too.
    pub fn is_dirty_too(&mut self, other: &State<I>) {
        self.dirty |= other.dirty;
    }

    pub(super) fn variable(&mut self, register: u8) -> Variable {
        *self.registers[usize::from(register)].get_or_insert_with(|| self.b.declare_var(I32))
    }

    /// Prepares operation `at`, which may exit to the interpreter: not too many registers may be waiting for a store
    /// then.
    pub fn prepare_to_leave(&mut self, at: u32) {
        if self.region.members[self.place].stores_before.contains(&at) {
            self.store_registers(!I::LATE);
            self.dirty &= I::LATE;
        }
    }

    /// Stores those of some registers that the core does not have yet, on this path only, for a function that reads
    /// them.
    pub fn store_registers(&mut self, some: RegisterBits) {
        for register in bits(self.dirty & some) {
            let value = I::late_value(self, register).unwrap_or_else(|| self.register(register));
            self.b.ins().store(own(), value, self.core, I::register_offset(register) as i32);
        }
    }

    /// Brings the core up to date.
    pub(super) fn write_back(&mut self) {
        self.store_registers(RegisterBits::MAX);
        let [cycles, instructions] = [self.cycles, self.instructions].map(|variable| self.b.use_var(variable));
        self.b.ins().store(own(), cycles, self.core, offset_of!(Cpu<I>, shell.cycles) as i32);
        self.b.ins().store(own(), instructions, self.core, offset_of!(Cpu<I>, shell.instructions) as i32);
    }

    // ---- Calls

    /// Address of the core's registers, in the instruction set's layout.
    pub fn registers_address(&mut self) -> Value {
        self.b.ins().iadd_imm(self.core, offset_of!(Cpu<I>, x) as i64)
    }

    /// Stores all registers that the core does not have yet, for a function that reads them.
    pub fn bring_up_to_date(&mut self) {
        self.store_registers(RegisterBits::MAX);
        self.dirty = 0;
    }

    /// Reloads registers that a function has changed in the core.
    pub fn reload(&mut self, registers: RegisterBits) {
        for register in bits(registers) {
            let value = self.b.ins().load(I32, own(), self.core, I::register_offset(register) as i32);
            let variable = self.variable(register);
            self.b.def_var(variable, value);
        }
    }

    /// Calls a host function at an address, with these arguments; it may change nothing of the core but registers.
    pub fn call(&mut self, function: usize, arguments: &[Value]) {
        self.call_with(function, arguments, None);
    }

    /// As [`Emitter::call`], for a function that returns a value.
    pub fn call_for(&mut self, function: usize, arguments: &[Value], given: Type) -> Value {
        let call = self.call_with(function, arguments, Some(given));
        self.b.inst_results(call)[0]
    }

    fn call_with(&mut self, function: usize, arguments: &[Value], given: Option<Type>) -> ir::Inst {
        let mut signature = Signature::new(self.calls.convention);
        let types = arguments.iter().map(|argument| AbiParam::new(self.b.func.dfg.value_type(*argument)));
        signature.params.extend(types);
        signature.returns.extend(given.map(AbiParam::new));
        let signature = self.b.import_signature(signature);
        let function = self.b.ins().iconst(I64, function as i64);
        self.b.ins().call_indirect(signature, function, arguments)
    }

    // ---- Accounts

    /// Adds to the cycles passed; a negative number corrects a sum that was too high.
    pub fn pass(&mut self, cycles: i64) {
        self.count(self.cycles, cycles);
    }

    /// Adds to the cycles passed, and to a sum at this offset of the core.
    pub(super) fn pass_and_sum(&mut self, cycles: Value, sum_at: i32) {
        let count = self.b.use_var(self.cycles);
        let sum = self.b.ins().iadd(count, cycles);
        self.b.def_var(self.cycles, sum);
        let sum = self.b.ins().load(I64, own(), self.core, sum_at);
        let sum = self.b.ins().iadd(sum, cycles);
        self.b.ins().store(own(), sum, self.core, sum_at);
    }

    /// Subtracts cycles that the instruction at `pc` took less than the block's time includes.
    pub fn take_back(&mut self, cycles: Value, pc: u32) {
        let count = self.b.use_var(self.cycles);
        let left = self.b.ins().isub(count, cycles);
        self.b.def_var(self.cycles, left);
        self.spend_value(Own::Saved, cycles, pc);
    }

    /// Adds to the instructions run, beyond those of the block.
    pub fn retire(&mut self, instructions: i64) {
        self.count(self.instructions, instructions);
    }

    /// The instructions run before the current block, plus `more`.
    pub(super) fn instructions_and(&mut self, more: i64) -> Value {
        let count = self.b.use_var(self.instructions);
        self.b.ins().iadd_imm(count, more)
    }

    /// Adds to a 64-bit count in the core, at this offset.
    pub fn add(&mut self, offset: usize, amount: i64) {
        self.add_at(self.core, offset as i32, amount);
    }

    fn count(&mut self, variable: Variable, amount: i64) {
        let count = self.b.use_var(variable);
        let sum = self.b.ins().iadd_imm(count, amount);
        self.b.def_var(variable, sum);
    }

    pub(super) fn add_at(&mut self, base: Value, offset: i32, amount: i64) {
        let count = self.b.ins().load(I64, own(), base, offset);
        let sum = self.b.ins().iadd_imm(count, amount);
        self.b.ins().store(own(), sum, base, offset);
    }

    /// Counts a run of the current block, and its time.
    pub(super) fn account(&mut self, exit: usize) {
        self.stamp_lines();
        let runs_at = offset_of!(Hot<I::Jump>, runs) + exit * size_of::<u64>();
        let hot = &self.cpu.blocks.hot[self.index as usize];
        let first = self.b.use_var(self.hot);
        self.add_at(first, self.offset_to(self.index) + runs_at as i32, 1);
        self.count_run(exit);
        self.count(self.instructions, i64::from(hot.instructions));
        self.count(self.cycles, i64::from(hot.cycles[exit]));
    }

    /// Stamps the lines of the current block, which has run completely: see [`order`].
    fn stamp_lines(&mut self) {
        let cpu = self.cpu;
        let stamps = cpu.lines_of(self.index).filter_map(|(_, line)| cpu.memory.fetch_stamp_at(line));
        let stamps: Vec<usize> = stamps.collect();
        if !stamps.is_empty() {
            let number = self.instructions_and(line_order::STAMP_AFTER);
            let stamp = self.b.ins().ishl_imm(number, line_order::STAMP_SHIFT);
            for at in stamps {
                self.b.ins().store(own(), stamp, self.core, (offset_of!(Cpu<I>, memory) + at) as i32);
            }
        }
    }
}

/// Numbers of the bits that are set.
pub(super) fn bits(mask: RegisterBits) -> impl Iterator<Item = u8> {
    (0..REGISTERS as u8).filter(move |bit| mask >> bit & 1 == 1)
}
