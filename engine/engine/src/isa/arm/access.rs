//! Accesses that may cost more than their instruction: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. The memory side computes the cost
//! of the access and its causes.

use super::architecture::{Own, Profile};
use super::instruction_set::Arm;
use super::op::{Code, Op};
use super::system::Kind;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::cpu::access::{AccessRequest, Moves};
use crate::cpu::memory_system::access::how;

impl<P: Profile> Arm<P> {
    /// A load without a shortcut. True if the block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let moves = moves(op.code);
        let begins = self.begins_cycle(index, at);
        if P::is_own(addr) {
            return match P::load_own(self, bus, begins, Own { addr, size: moves.size, place: (index, at) }) {
                Ok(value) => {
                    self.x[usize::from(op.rd)] = moves.extended(value);
                    self.after_access(bus, index, at)
                }
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        let request = AccessRequest { addr, moves, how: op.ra };
        self.load(bus, index, at, request, |core, value| core.x[usize::from(op.rd)] = value)
    }

    fn refuse_access(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, exception: P::Exception) -> bool {
        self.access_kind = moves(op.code).name();
        self.raise_at(bus, index, at, exception)
    }

    /// A store without a shortcut. True if the block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let moves = moves(op.code);
        let (begins, value) = (self.begins_cycle(index, at), self.x[usize::from(op.rd)]);
        if P::is_own(addr) {
            return match P::store_own(self, bus, begins, Own { addr, size: moves.size, place: (index, at) }, value) {
                Ok(()) => self.after_access(bus, index, at),
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        let request = AccessRequest { addr, moves, how: op.ra };
        self.store(bus, index, at, request, value)
    }

    /// All accesses of the load or store multiple at `addr`, up to its last operation `at`. True if the block
    /// continues.
    pub(super) fn access_all(&mut self, bus: &mut Bus, index: u32, at: u32, addr: u32) -> bool {
        let ops = self.blocks.ops_from(index);
        let Some(first) = ops[..at as usize].iter().rposition(|op| op.code == Code::Multiple) else { return false };
        let (op, first) = (ops[first], first as u32);
        let reported =
            self.have_shortcuts(addr, op.imm & 0xff, op.ra) || self.load_store_multiple(bus, index, first, op, addr);
        reported && (first + 1..=at).all(|at| self.access_one(bus, index, at))
    }

    /// The load or store of a word, operation `at`, done as in the inner loop.
    fn access_one(&mut self, bus: &mut Bus, index: u32, at: u32) -> bool {
        let op = self.blocks.ops_from(index)[at as usize];
        let [base, offset] = [op.rn, op.rm].map(|register| self.x[usize::from(register)]);
        let addr = base.wrapping_add(offset).wrapping_add(op.imm);
        match op.code {
            Code::Vldr | Code::Vstr => return self.access_vfp(bus, index, at, op),
            Code::Str => {
                let value = self.x[usize::from(op.rd)];
                return self.store_by_shortcut(addr, value) || self.store_slowly(bus, index, at, op, addr);
            }
            _ => {}
        }
        match self.load_by_shortcut::<u32>(addr) {
            Some(value) => self.x[usize::from(op.rd)] = value,
            None => return self.load_slowly(bus, index, at, op, addr),
        }
        true
    }

    /// Prepares the accesses of a load or store multiple, if some of them have no shortcut.
    #[cold]
    #[inline(never)]
    pub(super) fn load_store_multiple(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let (words, store) = (op.imm & 0xff, op.ra & how::STORE != 0);
        let kind = if store { Kind::Write } else { Kind::Read };
        if self.must_wait(bus, index, at, addr, 4 * words, kind) {
            return false;
        }
        if !self.isa.system.vfp_is_ready() && self.is_of_vfp(index, at) && !self.prepare_vfp(bus, index, at) {
            return false;
        }
        let begins = self.begins_cycle(index, at);
        if let Some(cycles) = self.memory.multiple_flat(bus, self.quiet_from(begins), addr, words, store) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            return self.after_flat(bus, index, at);
        }
        self.access_kind = if store { "store of several words" } else { "load of several words" };
        let done = self.memory.multiple(bus, &self.isa.system, begins, addr, words, op.ra);
        self.written(bus, index, at, done)
    }
}

/// Size and direction of a load or store.
pub(super) fn moves(code: Code) -> Moves {
    match code {
        Code::Ldrb => Moves::load(AccessSize::Byte),
        Code::Ldrsb => Moves::load_signed(AccessSize::Byte),
        Code::Ldrh => Moves::load(AccessSize::Half),
        Code::Ldrsh => Moves::load_signed(AccessSize::Half),
        Code::Strb => Moves::store(AccessSize::Byte),
        Code::Strh => Moves::store(AccessSize::Half),
        Code::Str | Code::StrUser | Code::Vstr => Moves::store(AccessSize::Word),
        _ => Moves::load(AccessSize::Word),
    }
}
