//! Loads and stores that may cost more than their instruction.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. The memory side computes the cost
//! of the access and its causes.

use super::alu;
use super::decoded::OP_BYTES;
use super::faults::Raised;
use super::instruction_set::Mips;
use super::op::{Code, Op, SINK};
use super::system::TlbFault;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::cpu::access::Moves;
use crate::cpu::block::FALLEN;
use crate::cpu::memory_system::Done;
use crate::cpu::memory_system::access::{Abort, Kind};

impl Mips {
    /// A load without a shortcut. True if the block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let moves = moves(op.code);
        // lwl and lwr load the word that contains their address.
        let from = if matches!(op.code, Code::Lwl | Code::Lwr) { addr & !3 } else { addr };
        if op.code != Code::Ll
            && let Some(value) = self.load_stamped(index, at, from, moves.size)
        {
            self.loaded(op, addr, value);
            return true;
        }
        if self.must_wait(bus, index, at, from, moves.size.bytes(), Kind::Read) {
            return false;
        }
        self.access_kind = moves.name();
        let done = self.memory.load(bus, &self.isa.system, self.begins_cycle(index, at), from, moves.size, 0);
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        let value = match done.result {
            Ok(value) => value,
            Err(abort) => return self.refuse_access(bus, index, at, Abort { va: addr, ..abort }, done.cycles),
        };
        self.loaded(op, addr, value);
        let in_ram = self.ram_at(bus, addr, Kind::Read);
        if op.code == Code::Ll {
            self.isa.system.link();
            in_ram.into_iter().for_each(|physical| bus.reserve(self.shell.index, physical));
        }
        if in_ram.is_none() {
            let pc = self.blocks.hot[index as usize].pc.wrapping_add(OP_BYTES * at);
            self.polls.note_read(u64::from(pc), &self.x);
            self.note_look(bus, index, at, addr);
        }
        self.account_access(bus, index, at, done.cycles)
    }

    /// Writes the value loaded for `addr` to a register.
    fn loaded(&mut self, op: Op, addr: u32, value: u32) {
        let old = self.x[usize::from(op.rt)];
        self.x[usize::from(op.rd)] = match op.code {
            Code::Lwl => alu::load_left(addr, value, old),
            Code::Lwr => alu::load_right(addr, value, old),
            _ => moves(op.code).extended(value),
        };
    }

    /// A store without a shortcut. True if the block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let (size, value) = (moves(op.code).size, self.x[usize::from(op.rt)]);
        let bytes = size.bytes();
        if self.store_beside_code(addr, bytes, value) || self.store_stamped(index, at, addr, size, |_| value) {
            return true;
        }
        if self.must_wait(bus, index, at, addr, bytes, Kind::Write) {
            return false;
        }
        let done = self.store_one(bus, index, at, op.code, addr, value);
        self.stored(bus, index, at, addr, done)
    }

    /// swl or swr without a shortcut: to a RAM a store of the merged word, elsewhere one of each byte. True if the
    /// block continues.
    #[cold]
    #[inline(never)]
    pub(super) fn store_part_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let (word, value) = (addr & !3, self.x[usize::from(op.rt)]);
        let merge = |old: u32, value: u32| match op.code {
            Code::Swl => alu::store_left(addr, old, value),
            _ => alu::store_right(addr, old, value),
        };
        if self.store_stamped(index, at, word, AccessSize::Word, |old| merge(old, value)) {
            return true;
        }
        if self.must_wait(bus, index, at, word, 4, Kind::Write) {
            return false;
        }
        let mut old = [0; 4];
        let in_ram = self.ram_at(bus, word, Kind::Write).is_some_and(|physical| bus.peek(physical, &mut old));
        let done = if in_ram {
            let merged = merge(u32::from_le_bytes(old), value);
            self.store_one(bus, index, at, op.code, word, merged)
        } else {
            let (bytes, written) = (merge(0, value).to_le_bytes(), merge(0, u32::MAX).to_le_bytes());
            let mut done = Done { cycles: 0, result: Ok(()) };
            for n in (0..4_u32).filter(|n| written[*n as usize] != 0) {
                let value = u32::from(bytes[n as usize]);
                let one = self.store_one(bus, index, at, Code::Sb, word + n, value);
                done = Done { cycles: done.cycles + one.cycles, ..one };
                if done.result.is_err() {
                    break;
                }
            }
            done
        };
        // BadVAddr is the instruction's address, whichever byte was refused.
        self.stored(bus, index, at, addr, done)
    }

    /// One store by operation `at`, of the size given by `code`. It begins where the previous ones ended.
    fn store_one(
        &mut self,
        bus: &mut Bus,
        index: u32,
        at: u32,
        code: Code,
        addr: u32,
        value: u32,
    ) -> Done<(), TlbFault> {
        let moves = moves(code);
        self.access_kind = moves.name();
        let begins = self.begins_cycle(index, at);
        let done = self.memory.store(bus, &self.isa.system, begins, addr, moves.size, value, 0);
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        self.note_stored(bus, addr);
        done
    }

    /// Finishes all stores of operation `at`, which is for `addr`. True if the block continues.
    fn stored(&mut self, bus: &mut Bus, index: u32, at: u32, addr: u32, done: Done<(), TlbFault>) -> bool {
        match done.result {
            Ok(()) => self.account_access(bus, index, at, done.cycles),
            Err(abort) => self.refuse_access(bus, index, at, Abort { va: addr, ..abort }, done.cycles),
        }
    }

    /// sc: the store, if an ll has preceded it and no other store has gone to its address since. True if the block
    /// continues.
    #[cold]
    #[inline(never)]
    pub(super) fn store_conditional(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        if self.must_wait(bus, index, at, addr, 4, Kind::Write) {
            return false;
        }
        let value = self.x[usize::from(op.rt)];
        let linked = self.claim(bus, addr);
        self.x[usize::from(op.rd)] = u32::from(linked);
        if !linked {
            return true;
        }
        let done = self.store_one(bus, index, at, op.code, addr, value);
        if done.result.is_err() && op.rd != SINK {
            // The instruction has not been executed.
            self.x[usize::from(op.rd)] = value;
        }
        self.stored(bus, index, at, addr, done)
    }

    /// True if an sc may store. It ends the sequence either way.
    fn claim(&mut self, bus: &Bus, addr: u32) -> bool {
        let alone = self.ram_at(bus, addr, Kind::Read).is_none_or(|at| bus.is_reserved(self.shell.index, at));
        self.isa.system.take_link() && alone
    }

    /// Checks whether the block may continue after an access that took `cycles`; if not, the block has been left after
    /// the instruction.
    pub(super) fn account_access(&mut self, bus: &mut Bus, index: u32, at: u32, cycles: u64) -> bool {
        self.report_site(bus, index, at);
        self.charge_at(index, at);
        self.update_limit(bus);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        let wait_effects = self.blocks.instrs_of(index)[at as usize].wait_effects[FALLEN];
        let waited = cycles > 0 && (wait_effects.next || wait_effects.some && !bus.order.is_alone());
        if waited
            || self.polls.has_candidate
            || self.has_news(bus)
            || self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit
        {
            self.leave_after_access(index, at, cycles);
            return false;
        }
        true
    }

    /// The access of operation `at` was refused after `cycles`, which have been counted: the block has been left.
    fn refuse_access(&mut self, bus: &mut Bus, index: u32, at: u32, abort: Abort<TlbFault>, cycles: u64) -> bool {
        self.report_site(bus, index, at);
        self.charge_at(index, at);
        self.leave_at(index, at);
        self.pending.pass(cycles);
        self.raise(bus, Raised::of_abort(abort, false));
        self.shell.spent.exceptions += 1;
        false
    }
}

/// Size and direction of a load or store; of a word in two parts, the size of one access.
pub(super) fn moves(code: Code) -> Moves {
    match code {
        Code::Lb => Moves::load_signed(AccessSize::Byte),
        Code::Lbu => Moves::load(AccessSize::Byte),
        Code::Lh => Moves::load_signed(AccessSize::Half),
        Code::Lhu => Moves::load(AccessSize::Half),
        Code::Sb => Moves::store(AccessSize::Byte),
        Code::Sh => Moves::store(AccessSize::Half),
        Code::Sw | Code::Swl | Code::Swr | Code::Sc => Moves::store(AccessSize::Word),
        _ => Moves::load(AccessSize::Word),
    }
}
