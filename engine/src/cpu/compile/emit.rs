//! From a region to a function: registers, accounts, and ways out. Accesses are in [`super::access`].
//!
//! The core's cycles and instructions, and the registers that the region names, are values of the function; what has
//! changed goes back to the core where the function ends. Inside the region a block is entered after the same look as
//! the interpreter's: it has to fit before the limit, and its lines have to be in the instruction cache.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, AbiParam, AliasRegion, Function, InstBuilder, MemFlags, Signature, Type, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use std::mem::offset_of;

use super::past_caches::Fetched;
use super::region::{Region, RegisterBits};
use super::stubs::{begin, signature};
use super::transfer::Transfers;
use super::{DECIDED_SHIFT, Kind, ending_bits};
use crate::cpu::Cpu;
use crate::cpu::block::{Blocks, FALLEN, Hot, NO_BLOCK, Settled, TAKEN, lookup_slot};
use crate::cpu::isa::Isa;
use crate::cpu::memory::Memory;

/// Registers that a region can have as values.
const REGISTERS: usize = RegisterBits::BITS as usize;

/// What compiled code needs to call functions of the host's.
#[derive(Clone, Copy)]
pub struct Calls {
    /// The host's calling convention.
    pub convention: CallConv,
    /// The stub for accesses without a shortcut.
    pub access: usize,
    /// Functions for accesses past the caches.
    pub transfers: Transfers,
}

/// What a function knows while it is made.
pub struct Emitter<'a, I: Isa> {
    pub b: FunctionBuilder<'a>,
    pub(super) calls: Calls,
    pub cpu: &'a Cpu<I>,
    region: &'a Region,
    /// Where the code of each member begins.
    places: Vec<ir::Block>,
    /// The member at hand, and its block.
    place: usize,
    pub index: u32,
    /// Address of the core.
    pub core: Value,
    /// Address of the [`Hot`] of the region's first block.
    hot: Value,
    /// The state of fetched lines, which does not change while compiled code runs.
    epoch: Value,
    /// The core's cycles, and instructions.
    cycles: Variable,
    instructions: Variable,
    registers: [Option<Variable>; REGISTERS],
    /// Registers whose value in the core may be out of date.
    dirty: RegisterBits,
    /// The exit that has been decided on, in the middle of the block.
    decided: usize,
    /// What was fetched past the cache, as far as it is known.
    pub(super) fetched: Fetched,
    /// What the instruction set has not worked out yet.
    pub lazy: I::Lazy,
}

/// What holds at a point of a block beside the values of registers.
pub struct State<I: Isa> {
    dirty: RegisterBits,
    lazy: I::Lazy,
}

/// Accesses of the core's and the tables' own fields: aligned, and never where simulated memory is.
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
    let (mut b, core, hot) = begin(func, context, CallConv::Tail);
    let epoch = b.ins().load(I32, own(), core, (offset_of!(Cpu<I>, memory) + Memory::FETCH_EPOCH) as i32);
    let [cycles, instructions] = [offset_of!(Cpu<I>, shell.cycles), offset_of!(Cpu<I>, shell.instructions)].map(|at| {
        let (variable, value) = (b.declare_var(I64), b.ins().load(I64, own(), core, at as i32));
        b.def_var(variable, value);
        variable
    });
    // Registers are loaded there, once it is known which.
    let entry = b.create_block();
    b.ins().jump(entry, &[]);
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
        cycles,
        instructions,
        registers,
        dirty: 0,
        decided: FALLEN,
        fetched: Fetched::default(),
        lazy,
    };
    for (place, member) in region.members.iter().enumerate() {
        emitter.b.switch_to_block(emitter.places[place]);
        (emitter.place, emitter.index) = (place, member.index);
        (emitter.dirty, emitter.lazy, emitter.decided) = (member.dirty, I::Lazy::default(), FALLEN);
        emitter.fetched = Fetched::default();
        I::emit(&mut emitter, cpu.blocks.ops_of(member.index));
    }
    emitter.enter_region(entry);
    emitter.b.seal_all_blocks();
    emitter.b.finalize();
}

impl<I: Isa> Emitter<'_, I> {
    fn blocks(&self) -> &Blocks<I> {
        &self.cpu.blocks
    }

    fn enter_region(&mut self, entry: ir::Block) {
        self.b.switch_to_block(entry);
        for register in bits(RegisterBits::MAX) {
            if let Some(variable) = self.registers[register as usize] {
                let value = self.b.ins().load(I32, own(), self.core, I::register_offset(register) as i32);
                self.b.def_var(variable, value);
            }
        }
        self.b.ins().jump(self.places[0], &[]);
    }

    // ---- Registers

    /// The value of a register.
    pub fn register(&mut self, register: u8) -> Value {
        let variable = self.variable(register);
        self.b.use_var(variable)
    }

    /// Gives a value to a register.
    pub fn set_register(&mut self, register: u8, value: Value) {
        let variable = self.variable(register);
        self.b.def_var(variable, value);
        self.dirty |= 1 << register;
    }

    /// A register has a value that the instruction set has not worked out yet.
    pub fn set_dirty(&mut self, register: u8) {
        self.dirty |= 1 << register;
    }

    /// What holds here.
    pub fn state(&self) -> State<I> {
        State { dirty: self.dirty, lazy: self.lazy.clone() }
    }

    /// The code that follows begins where this held.
    pub fn restore(&mut self, state: State<I>) {
        (self.dirty, self.lazy) = (state.dirty, state.lazy);
    }

    /// What is out of date there is out of date here, too: two ways meet.
    pub fn is_dirty_too(&mut self, other: &State<I>) {
        self.dirty |= other.dirty;
    }

    fn variable(&mut self, register: u8) -> Variable {
        *self.registers[usize::from(register)].get_or_insert_with(|| self.b.declare_var(I32))
    }

    /// Operation `at` may leave it to the interpreter: not too many registers may wait for that.
    pub fn prepare_to_leave(&mut self, at: u32) {
        if self.region.members[self.place].stores_before.contains(&at) {
            self.store_registers(!I::LATE);
            self.dirty &= I::LATE;
        }
    }

    /// Stores those of some registers that the core does not have yet.
    fn store_registers(&mut self, some: RegisterBits) {
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

    /// Address of the core's registers, as an instruction set has them.
    pub fn registers_address(&mut self) -> Value {
        self.b.ins().iadd_imm(self.core, offset_of!(Cpu<I>, x) as i64)
    }

    /// Stores what the core does not have yet of the registers, for a function that looks at them.
    pub fn bring_up_to_date(&mut self) {
        self.store_registers(RegisterBits::MAX);
        self.dirty = 0;
    }

    /// A function has changed registers in the core.
    pub fn reload(&mut self, registers: RegisterBits) {
        for register in bits(registers) {
            let value = self.b.ins().load(I32, own(), self.core, I::register_offset(register) as i32);
            let variable = self.variable(register);
            self.b.def_var(variable, value);
        }
    }

    /// Calls a function of the host's at an address, which takes these and changes nothing of the core but registers.
    pub fn call(&mut self, function: usize, arguments: &[Value]) {
        self.call_with(function, arguments, None);
    }

    /// The same of one that gives something.
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

    /// So many cycles more have passed; negative for what was counted too much.
    pub fn pass(&mut self, cycles: i64) {
        self.count(self.cycles, cycles);
    }

    /// So many instructions more have run than the block's.
    pub fn retire(&mut self, instructions: i64) {
        self.count(self.instructions, instructions);
    }

    /// The instructions run before the block at hand, and so many more.
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

    fn add_at(&mut self, base: Value, offset: i32, amount: i64) {
        let count = self.b.ins().load(I64, own(), base, offset);
        let sum = self.b.ins().iadd_imm(count, amount);
        self.b.ins().store(own(), sum, base, offset);
    }

    /// Counts a run of the block at hand, and its time.
    fn account(&mut self, exit: usize) {
        let runs_at = offset_of!(Hot<I::Jump>, runs) + exit * size_of::<u64>();
        let hot = &self.cpu.blocks.hot[self.index as usize];
        self.add_at(self.hot, self.offset_to(self.index) + runs_at as i32, 1);
        self.count(self.instructions, i64::from(hot.instructions));
        self.count(self.cycles, i64::from(hot.cycles[exit]));
    }

    // ---- Ways out

    /// Goes on only if `condition` holds; else does what `otherwise` says, far from the hot path, and ends there.
    pub fn unless(&mut self, condition: Value, otherwise: impl FnOnce(&mut Self)) {
        let [on, off] = self.fork(condition);
        self.b.set_cold_block(off);
        let state = self.state();
        self.b.switch_to_block(off);
        otherwise(self);
        self.restore(state);
        self.b.switch_to_block(on);
    }

    /// Two ways to go: where `condition` holds, and where not.
    pub fn fork(&mut self, condition: Value) -> [ir::Block; 2] {
        let ways = [self.b.create_block(), self.b.create_block()];
        self.b.ins().brif(condition, ways[0], &[], ways[1], &[]);
        ways.into_iter().for_each(|way| self.b.seal_block(way));
        ways
    }

    fn finish(&mut self, kind: Kind, index: u32, number: u32) {
        let ending = self.b.ins().iconst(I64, ending_bits(kind, index, number) as i64);
        self.b.ins().return_(&[ending]);
    }

    /// Leaves it to the interpreter to go on at operation `at`.
    pub fn interpret(&mut self, at: u32) {
        self.write_back();
        let ending = self.ending_at(at);
        self.b.ins().return_(&[ending]);
    }

    /// What says so.
    pub(super) fn ending_at(&mut self, at: u32) -> Value {
        let bits = ending_bits(Kind::Interpret, self.index, at | (self.decided as u32) << DECIDED_SHIFT);
        self.b.ins().iconst(I64, bits as i64)
    }

    /// The core's cycles at the beginning of the block, with all that took longer since, and so many more.
    pub(super) fn cycles_and(&mut self, more: i64) -> Value {
        let cycles = self.b.use_var(self.cycles);
        if more == 0 { cycles } else { self.b.ins().iadd_imm(cycles, more) }
    }

    /// The same are as many as this, and so many more.
    pub(super) fn set_cycles(&mut self, cycles: Value, more: i64) {
        let cycles = if more == 0 { cycles } else { self.b.ins().iadd_imm(cycles, more) };
        self.b.def_var(self.cycles, cycles);
    }

    /// Goes on with the core's cycles, which an access has changed.
    pub(super) fn reload_cycles(&mut self) {
        let cycles = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.cycles) as i32);
        self.b.def_var(self.cycles, cycles);
    }

    /// The block will be left by `exit`, after further operations.
    pub fn decide(&mut self, exit: usize) {
        self.decided = exit;
    }

    /// The block's jump leads to `target` this time: for the interpreter, if that has to finish the block.
    pub fn set_taken_pc(&mut self, target: Value) {
        let at = self.offset_to(self.index) + offset_of!(Hot<I::Jump>, taken_pc) as i32;
        self.b.ins().store(own(), target, self.hot, at);
    }

    /// Does `yes` where `condition` holds, which ends there, and else `no`.
    pub fn either(&mut self, condition: Value, yes: impl FnOnce(&mut Self), no: impl FnOnce(&mut Self)) {
        let ways = self.fork(condition);
        let state = self.state();
        self.b.switch_to_block(ways[0]);
        yes(self);
        self.restore(state);
        self.b.switch_to_block(ways[1]);
        no(self);
    }

    /// The block ends in a branch.
    pub fn branch(&mut self, taken: Value) {
        self.either(taken, |this| this.exit(TAKEN), |this| this.exit(FALLEN));
    }

    /// The end of the block: accounts for it, and goes to the block behind it.
    pub fn exit(&mut self, exit: usize) {
        self.dirty &= !I::TRANSIENT;
        self.account(exit);
        I::emit_resolve(self, exit, None);
        match self.blocks().hot[self.index as usize].links[exit] {
            NO_BLOCK => self.follow_link(exit),
            next => self.go_to(next),
        }
    }

    /// The end of the block by an indirect jump to `target`, an address as blocks have it.
    pub fn exit_to(&mut self, target: Value) {
        self.dirty &= !I::TRANSIENT;
        self.account(TAKEN);
        I::emit_resolve(self, TAKEN, Some(target));
        let guess = self.blocks().hot[self.index as usize].links[TAKEN];
        if guess != NO_BLOCK && self.region.place_of(guess).is_some() {
            let pc = self.blocks().hot[guess as usize].pc;
            let right = self.b.ins().icmp_imm(IntCC::Equal, target, i64::from(pc as i32));
            return self.either(right, |this| this.go_to(guess), |this| this.look_up(target));
        }
        self.look_up(target);
    }

    /// Goes to a block that is known.
    fn go_to(&mut self, next: u32) {
        let Some(place) = self.region.place_of(next) else { return self.go_outside(next) };
        let out = self.b.create_block();
        self.b.set_cold_block(out);
        let fits = self.fits(i64::from(self.blocks().hot[next as usize].longest_cycles));
        self.go_on_if(fits, out);
        if !self.region.has_entered(self.place, place) {
            let fetched = self.is_fetched(self.hot, self.offset_to(next));
            self.go_on_if(fetched, out);
        }
        let on = self.b.current_block();
        self.b.seal_block(out);
        self.b.switch_to_block(out);
        let state = self.state();
        self.write_back();
        self.finish(Kind::Check, next, 0);
        self.restore(state);
        on.into_iter().for_each(|on| self.b.switch_to_block(on));
        I::settle(self);
        self.b.ins().jump(self.places[place], &[]);
    }

    /// Does something where `condition` does not hold, far from the hot path, and goes on.
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

    /// Goes on only if `condition` holds, else to `otherwise`.
    pub fn go_on_if(&mut self, condition: Value, otherwise: ir::Block) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], otherwise, &[]);
        self.b.seal_block(on);
        self.b.switch_to_block(on);
    }

    /// Goes to a block that is known, and not of this region.
    fn go_outside(&mut self, next: u32) {
        self.write_back();
        let fits = self.fits(i64::from(self.blocks().hot[next as usize].longest_cycles));
        let fetched = self.is_fetched(self.hot, self.offset_to(next));
        let may = self.b.ins().band(fits, fetched);
        self.unless(may, |this| this.finish(Kind::Check, next, 0));
        let offset = self.offset_to(next);
        let next = self.b.ins().iadd_imm(self.hot, i64::from(offset));
        self.enter(next);
    }

    /// True if a block that may take so long fits before the limit.
    fn fits(&mut self, longest_cycles: i64) -> Value {
        let cycles = self.b.use_var(self.cycles);
        let end = self.b.ins().iadd_imm(cycles, longest_cycles);
        self.is_in_time(end)
    }

    /// True if a block that ends then ends before the limit, which accesses may change.
    fn is_in_time(&mut self, end: Value) -> Value {
        let limit = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.deadline.limit) as i32);
        self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit)
    }

    /// True if the block whose [`Hot`] is at `hot + offset` is known to be in the instruction cache.
    fn is_fetched(&mut self, hot: Value, offset: i32) -> Value {
        let at = offset + offset_of!(Hot<I::Jump>, fetched_epoch) as i32;
        let seen = self.b.ins().load(I32, own(), hot, at);
        self.b.ins().icmp(IntCC::Equal, self.epoch, seen)
    }

    /// Goes to the block that was linked to an exit since, if any.
    fn follow_link(&mut self, exit: usize) {
        self.write_back();
        let at = self.offset_to(self.index) + (offset_of!(Hot<I::Jump>, links) + exit * size_of::<u32>()) as i32;
        let link = self.b.ins().load(I32, own(), self.hot, at);
        let known = self.b.ins().icmp_imm(IntCC::NotEqual, link, i64::from(NO_BLOCK as i32));
        let index = self.index;
        self.unless(known, |this| this.finish(Kind::Left, index, exit as u32));
        self.enter_index(link);
    }

    /// Goes to the block at `target`, if the table of settled blocks has it.
    fn look_up(&mut self, target: Value) {
        self.write_back();
        let index = self.index;
        let wide = self.b.ins().uextend(I64, target);
        // Twice the slot's number: bit 0 is no part of it.
        let slot = self.b.ins().band_imm(wide, (lookup_slot(u32::MAX) as i64) << 1);
        let offset = self.b.ins().ishl_imm(slot, i64::from(size_of::<Settled>().ilog2()) - 1);
        let base = self.cpu.blocks.settled_base() as i64;
        let base = self.b.ins().iconst(I64, base);
        let found = self.b.ins().iadd(base, offset);
        let tag = self.b.ins().load(I64, own(), found, offset_of!(Settled, tag) as i32);
        let pending = i64::from(self.blocks().cold[index as usize].pending_behind_jump) << 32;
        let wanted = if pending == 0 { wide } else { self.b.ins().bor_imm(wide, pending) };
        let here = self.b.ins().icmp(IntCC::Equal, tag, wanted);
        self.unless(here, |this| {
            this.set_taken_pc(target);
            this.finish(Kind::Left, index, TAKEN as u32);
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
            let ending = this.b.ins().bor_imm(index, ending_bits(Kind::Check, 0, 0) as i64);
            this.b.ins().return_(&[ending]);
        });
        self.enter(hot);
    }

    fn enter(&mut self, hot: Value) {
        let code = self.b.ins().load(I64, own(), hot, offset_of!(Hot<I::Jump>, code) as i32);
        let signature = self.b.import_signature(signature(CallConv::Tail));
        self.b.ins().return_call_indirect(signature, code, &[self.core, hot]);
    }

    /// From the [`Hot`] of the region's first block to another's: some megabytes at most.
    fn offset_to(&self, index: u32) -> i32 {
        (index as i32 - self.region.members[0].index as i32) * size_of::<Hot<I::Jump>>() as i32
    }
}

/// Numbers of the bits that are set.
fn bits(mask: RegisterBits) -> impl Iterator<Item = u8> {
    (0..REGISTERS as u8).filter(move |bit| mask >> bit & 1 == 1)
}
