//! Accesses of compiled code that switch a bus matrix to a slave whose bank has a shortcut for them: stubs that do the
//! work of [`Memory::switch_matrix_to`], and the access.
//!
//! A region calls such a stub where the current bank has no shortcut, instead of the stub for [`slow_access`]: the core
//! is up to date. If no bank has a shortcut, or the block would not fit after the switch, the stub switches nothing and
//! calls the interpreter's own function.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use std::marker::PhantomData;
use std::mem::offset_of;

use super::HostCode;
use super::access::{load_host, store_host};
use super::compiler::Compiler;
use super::emit::{Emitter, own};
use super::ending::EndingWord;
use super::slow_access;
use super::transfer::memory;
use crate::bus::device::AccessSize;
use crate::cpu::Cpu;
use crate::cpu::access::Moves;
use crate::cpu::block::{Blocks, Hot};
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::access::Kind;
use crate::cpu::memory_system::shortcut::{Shortcuts, Slot};
use crate::cpu::memory_system::{GRANTS, Grant, Memory, Part, SYSTEM_BUS};

/// Largest distance of words that are looked up: lines are at least this long.
pub(super) const STEP_BYTES: i64 = 32;

/// Addresses of the stubs, for loads and for stores; their arguments are those of [`slow_access::access`], with an
/// operand.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatrixStubs {
    /// For one register: the operand is the register and [`kind_of`] its access.
    one: [usize; 2],
    /// For words, from the address up to the one that is `operand` bytes later: the stub switches the matrix and
    /// returns the words' host address, or has the interpreter continue.
    words: [usize; 2],
}

/// Lowest bit of an operand's kind: above the register.
const KIND_SHIFT: u32 = 8;
/// Bit of a kind, above the logarithm of the size: the load is signed.
const SIGNED: u64 = 4;

/// The kind of an access, as a number.
fn kind_of(moves: Moves) -> u64 {
    // A word leaves no bits for a sign.
    let signed = moves.signed && moves.size != AccessSize::Word;
    u64::from(moves.size.bytes().ilog2()) | if signed { SIGNED } else { 0 }
}

impl<I: Isa> Emitter<'_, I> {
    /// Calls the interpreter's function for operation `at`, which does the access of a register given by `moves`; or
    /// switches the bus matrix, if there is one, and does the access.
    pub(super) fn turn_or_access_slowly(&mut self, at: u32, addr: Value, moves: Moves, register: u8) {
        let Some(matrix) = self.calls.matrix else { return self.access_slowly(at, addr) };
        self.write_back();
        let after = self.ending_with(at + 1, u64::from(register) | kind_of(moves) << KIND_SHIFT);
        self.call_for_access(matrix.one[usize::from(moves.store)], after, addr);
    }

    /// Switches the bus matrix, if there is one, for the words of operation `at`: jumps to `switched` with the host
    /// address of simulated address 0 for them. Continues if nothing is switched.
    pub(super) fn switch_for_words(
        &mut self,
        at: u32,
        first: Value,
        last_offset: i64,
        store: bool,
        switched: ir::Block,
    ) {
        let Some(matrix) = self.calls.matrix else { return };
        let stub = matrix.words[usize::from(store)];
        let state = self.state();
        self.write_back();
        let after = self.ending_with(at, last_offset as u64);
        let ending = self.call_access(stub, after, first);
        // An ending of 0 stands for `None`: the matrix was switched.
        let has_switched = self.b.ins().icmp_imm(IntCC::Equal, ending, 0);
        let [on, off] = self.fork(has_switched);
        self.b.set_cold_block(on);
        self.b.set_cold_block(off);
        self.b.switch_to_block(on);
        self.reload_cycles();
        let zero_at = offset_of!(Cpu<I>, host) + HostCode::<I>::ZERO;
        let zero = self.b.ins().load(I64, own(), self.core, zero_at as i32);
        self.b.ins().jump(switched, &[zero.into()]);
        self.restore(state);
        self.b.switch_to_block(off);
        // The core is up to date.
        self.dirty = 0;
    }

    /// The word that names an operation, with an operand.
    fn ending_with(&mut self, at: u32, operand: u64) -> Value {
        let operand = operand << EndingWord::OPERAND_SHIFT;
        debug_assert_eq!(operand & !EndingWord::OPERAND, 0, "an operand is small");
        let bits = self.ending_at(at).bits() | operand;
        self.b.ins().iconst(I64, bits as i64)
    }
}

impl<I: Isa> Compiler<I> {
    /// The stubs of a core that is on a bus matrix; `access` is the address of the stub for accesses without a
    /// shortcut.
    pub(super) fn make_matrix_stubs(
        &mut self,
        blocks: &Blocks<I>,
        memory: &Memory,
        access: usize,
    ) -> Option<MatrixStubs> {
        let mut matrix = MatrixStubs::default();
        for store in [false, true] {
            matrix.one[usize::from(store)] = self.make_matrix_stub(blocks, memory, |this, addr, operand| {
                let operand = this.b.ins().ireduce(I32, operand);
                let kind = this.b.ins().ushr_imm(operand, i64::from(KIND_SHIFT));
                let wanted = [this.line_wanted(addr, kind)];
                let zero = this.switch(&wanted, store);
                let addr = this.b.ins().uextend(I64, addr);
                let host = this.b.ins().iadd(zero, addr);
                this.access(host, kind, operand, store);
                Some(access)
            })?;
            matrix.words[usize::from(store)] = self.make_matrix_stub(blocks, memory, |this, addr, last_offset| {
                let wanted = this.lines_of_words(addr, last_offset);
                let zero = this.switch(&wanted, store);
                let zero_at = (offset_of!(Cpu<I>, host) + HostCode::<I>::ZERO) as i32;
                this.b.ins().store(own(), zero, this.core, zero_at);
                None
            })?;
        }
        Some(matrix)
    }

    /// Makes a stub. `body` emits the code for an address and an operand, and returns the stub to call where that did
    /// nothing; that stub preserves all registers of the host, too.
    fn make_matrix_stub(
        &mut self,
        blocks: &Blocks<I>,
        memory: &Memory,
        body: impl FnOnce(&mut MatrixStub<I>, Value, Value) -> Option<usize>,
    ) -> Option<usize> {
        self.context.func.signature = slow_access::signature(CallConv::PreserveAll);
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let [entry, out] = [b.create_block(), b.create_block()];
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let &[core, given, addr] = b.block_params(entry) else { return None };
        let operand = b.ins().band_imm(given, EndingWord::OPERAND as i64);
        let operand = b.ins().ushr_imm(operand, i64::from(EndingWord::OPERAND_SHIFT));
        let index = b.ins().ireduce(I32, given);
        let hot_base = blocks.hot_base();
        let mut stub = MatrixStub { b, core, index, out, memory, hot_base, of: PhantomData };
        let access = body(&mut stub, addr, operand);
        let no_word = stub.b.ins().iconst(I64, 0);
        stub.set_ending(no_word);
        stub.b.ins().return_(&[]);
        stub.b.switch_to_block(out);
        let after = stub.b.ins().band_imm(given, !EndingWord::OPERAND as i64);
        match access {
            Some(access) => {
                let signature = stub.b.import_signature(slow_access::signature(CallConv::PreserveAll));
                let access = stub.b.ins().iconst(I64, access as i64);
                stub.b.ins().call_indirect(signature, access, &[core, after, addr]);
            }
            None => stub.set_ending(after),
        }
        stub.b.ins().return_(&[]);
        stub.b.seal_all_blocks();
        stub.b.finalize();
        self.finish()
    }
}

/// A stub that is being made.
struct MatrixStub<'a, I: Isa> {
    b: FunctionBuilder<'a>,
    core: Value,
    /// Index of the current block.
    index: Value,
    /// Exit where nothing has been done.
    out: ir::Block,
    memory: &'a Memory,
    hot_base: usize,
    of: PhantomData<I>,
}

/// A lookup for each bank: a slot of the first bank, and the line that it should have.
#[derive(Clone, Copy)]
struct Wanted {
    slot: Value,
    line: Value,
}

impl<I: Isa> MatrixStub<'_, I> {
    /// Sets the value that compiled code reads from [`HostCode::ENDING`].
    fn set_ending(&mut self, ending: Value) {
        let at = offset_of!(Cpu<I>, host) + HostCode::<I>::ENDING;
        self.b.ins().store(own(), ending, self.core, at as i32);
    }

    /// Switches to the slave whose bank has all of the wanted lines, in one range of host memory; returns the host
    /// address of simulated address 0 for them.
    fn switch(&mut self, wanted: &[Wanted], store: bool) -> Value {
        let kind = if store { Kind::Write } else { Kind::Read };
        let before = self.b.ins().uload8(I32, own(), self.core, memory::<I>(Memory::SLAVE));
        // The first access after reset takes no time.
        self.go_on_if(before, self.out);
        let cycles = self.memory.switch_cycles(kind);
        let done = (cycles > 0).then(|| self.cycles_after(cycles));
        let (offset, zero) = self.find_bank(wanted, store);
        let first_slot = self.b.ins().ushr_imm(offset, i64::from(size_of::<Slot>().ilog2()));
        let bank = self.b.ins().ushr_imm(first_slot, i64::from(self.memory.shortcuts().layout().1.ilog2()));
        let owner = self.b.ins().iadd(self.core, bank);
        let owner_at = memory::<I>(Memory::SHORTCUTS + Shortcuts::OWNERS);
        let owner = self.b.ins().uload8(I32, own(), owner, owner_at);
        let switches = self.b.ins().icmp(IntCC::NotEqual, owner, before);
        self.go_on_if(switches, self.out);
        self.b.ins().istore8(own(), owner, self.core, memory::<I>(Memory::SLAVE));
        self.take_grant(owner);
        self.b.ins().store(own(), first_slot, self.core, memory::<I>(Memory::SHORTCUTS + Shortcuts::BANK));
        if let Some(done) = done {
            self.b.ins().store(own(), done, self.core, offset_of!(Cpu<I>, shell.cycles) as i32);
            let sum = self.b.ins().load(I64, own(), self.core, memory::<I>(Memory::sum_of(Part::Matrix)));
            let sum = self.b.ins().iadd_imm(sum, cycles as i64);
            self.b.ins().store(own(), sum, self.core, memory::<I>(Memory::sum_of(Part::Matrix)));
        }
        zero
    }

    /// Copies the [`Grant`] of the slave, which is now the one that was accessed last.
    fn take_grant(&mut self, slave: Value) {
        let last = self.b.ins().iconst(I32, GRANTS as i64 - 1);
        let number = self.b.ins().umin(slave, last);
        let number = self.b.ins().uextend(I64, number);
        let offset = self.b.ins().ishl_imm(number, i64::from(size_of::<Grant>().ilog2()));
        let grant = self.b.ins().iadd(self.core, offset);
        for part in (0..size_of::<Grant>()).step_by(size_of::<u64>()) {
            let bits = self.b.ins().load(I64, own(), grant, memory::<I>(Memory::GRANTS + part));
            self.b.ins().store(own(), bits, self.core, memory::<I>(Memory::GRANT + part));
        }
    }

    /// The core's cycles, plus `cycles`. Continues if the block still fits then.
    fn cycles_after(&mut self, cycles: u64) -> Value {
        let before = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.cycles) as i32);
        let done = self.b.ins().iadd_imm(before, cycles as i64);
        let index = self.b.ins().uextend(I64, self.index);
        let hot = self.b.ins().imul_imm(index, size_of::<Hot<I::Jump>>() as i64);
        let hot = self.b.ins().iadd_imm(hot, self.hot_base as i64);
        let longest = self.b.ins().uload16(I64, own(), hot, offset_of!(Hot<I::Jump>, longest_cycles) as i32);
        let end = self.b.ins().iadd(done, longest);
        let limit = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.deadline.limit) as i32);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.go_on_if(fits, self.out);
        done
    }

    /// Continues if `addr` is in a slave; returns the line that an aligned access of this kind touches.
    fn line_wanted(&mut self, addr: Value, kind: Value) -> Wanted {
        let of_slave = self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, addr, i64::from(SYSTEM_BUS));
        self.go_on_if(of_slave, self.out);
        let (_, count, shift) = self.memory.shortcuts().layout();
        let number = self.b.ins().ushr_imm(addr, i64::from(shift));
        let number = self.b.ins().band_imm(number, count as i64 - 1);
        let number = self.b.ins().uextend(I64, number);
        let offset = self.b.ins().ishl_imm(number, i64::from(size_of::<Slot>().ilog2()));
        let slot = self.b.ins().iadd(self.core, offset);
        // A misaligned address keeps a low bit and equals no line.
        let log = self.b.ins().band_imm(kind, SIGNED as i64 - 1);
        let one = self.b.ins().iconst(I32, 1);
        let bytes = self.b.ins().ishl(one, log);
        let low_bits = self.b.ins().iadd_imm(bytes, -1);
        let mask = self.b.ins().bor_imm(low_bits, i64::from(!((1u32 << shift) - 1) as i32));
        Wanted { slot, line: self.b.ins().band(addr, mask) }
    }

    /// As [`MatrixStub::line_wanted`], for the first and the last of several words, and one between them.
    fn lines_of_words(&mut self, first: Value, last_offset: Value) -> [Wanted; 3] {
        let last_offset = self.b.ins().ireduce(I32, last_offset);
        let step = self.b.ins().iconst(I32, STEP_BYTES);
        let step = self.b.ins().umin(step, last_offset);
        let [between, last] = [step, last_offset].map(|offset| self.b.ins().iadd(first, offset));
        let word = self.b.ins().iconst(I32, kind_of(Moves::load(AccessSize::Word)) as i64);
        [first, last, between].map(|addr| self.line_wanted(addr, word))
    }

    /// The bank that has all of the wanted lines, as the offset in bytes from the first bank, and the host address of
    /// simulated address 0 for them.
    fn find_bank(&mut self, wanted: &[Wanted], store: bool) -> (Value, Value) {
        let (slots_at, count, _) = self.memory.shortcuts().layout();
        let slots_at = memory::<I>(Memory::SHORTCUTS + slots_at);
        let line_at = if store { offset_of!(Slot, store_line) } else { offset_of!(Slot, load_line) };
        let (line_at, zero_at) = (slots_at + line_at as i32, slots_at + offset_of!(Slot, host_zero) as i32);
        let bank_bytes = count * size_of::<Slot>();
        let [look, next, found] = [self.b.create_block(), self.b.create_block(), self.b.create_block()];
        let offset = self.b.append_block_param(look, I64);
        let first = self.b.ins().iconst(I64, (Shortcuts::BANKS_OF_SLAVES.start * bank_bytes) as i64);
        self.b.ins().jump(look, &[first.into()]);
        self.b.switch_to_block(look);
        let mut zero = None;
        for wanted in wanted {
            let slot = self.b.ins().iadd(wanted.slot, offset);
            let line = self.b.ins().load(I32, own(), slot, line_at);
            let here = self.b.ins().icmp(IntCC::Equal, line, wanted.line);
            self.go_on_if(here, next);
            let other = self.b.ins().load(I64, own(), slot, zero_at);
            if let Some(zero) = zero.replace(other) {
                let same = self.b.ins().icmp(IntCC::Equal, zero, other);
                self.go_on_if(same, next);
            }
        }
        self.b.ins().jump(found, &[]);
        self.b.switch_to_block(next);
        let further = self.b.ins().iadd_imm(offset, bank_bytes as i64);
        let after = (Shortcuts::BANKS_OF_SLAVES.end * bank_bytes) as i64;
        let are_more = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, further, after);
        self.b.ins().brif(are_more, look, &[further.into()], self.out, &[]);
        self.b.switch_to_block(found);
        (offset, zero.unwrap_or(offset))
    }

    /// Loads to the register in the operand's low bits, or stores it.
    fn access(&mut self, host: Value, kind: Value, operand: Value, store: bool) {
        let register = self.b.ins().band_imm(operand, (1 << KIND_SHIFT) - 1);
        let register = self.b.ins().uextend(I64, register);
        let offset = self.b.ins().ishl_imm(register, i64::from(size_of::<u32>().ilog2()));
        let at = self.b.ins().iadd(self.core, offset);
        let (first, done) = (I::register_offset(0) as i32, self.b.create_block());
        let sizes = [AccessSize::Word, AccessSize::Byte, AccessSize::Half];
        let (unsigned, signed) = (sizes.map(Moves::load), [AccessSize::Byte, AccessSize::Half].map(Moves::load_signed));
        let all = if store { sizes.map(Moves::store).to_vec() } else { [&unsigned[..], &signed[..]].concat() };
        for moves in all {
            let next = self.b.create_block();
            let is_so = self.b.ins().icmp_imm(IntCC::Equal, kind, kind_of(moves) as i64);
            self.go_on_if(is_so, next);
            if store {
                let value = self.b.ins().load(I32, own(), at, first);
                store_host(&mut self.b, host, moves, value);
            } else {
                let value = load_host(&mut self.b, host, moves);
                self.b.ins().store(own(), value, at, first);
            }
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(next);
        }
        // There is no other kind.
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Continues if `condition` holds, else jumps to `otherwise`.
    fn go_on_if(&mut self, condition: Value, otherwise: ir::Block) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], otherwise, &[]);
        self.b.switch_to_block(on);
    }
}
