//! Accesses that cost more than their instruction, or may: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. What it costs, and to what it is
//! charged, is the memory's business.

use super::core::Arm;
use super::op::{Code, Op};
use super::profile::{Own, Profile};
use super::system::Kind;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::cpu::access::{Asked, Moves};
use crate::cpu::memory::access::how;

impl<P: Profile> Arm<P> {
    /// A load that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let moves = moves(op.code);
        let begins = self.begins_cycle(index, at);
        if P::is_own(addr) {
            return match P::load_own(self, bus, begins, Own { addr, size: moves.size }) {
                Ok(value) => {
                    self.x[usize::from(op.rd)] = moves.extended(value);
                    self.after_access(bus, index, at)
                }
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        let asked = Asked { addr, moves, how: op.ra };
        self.load(bus, index, at, asked, |core, value| core.x[usize::from(op.rd)] = value)
    }

    fn refuse_access(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, exception: P::Exception) -> bool {
        self.access_kind = moves(op.code).name();
        self.raise_at(bus, index, at, exception)
    }

    /// A store that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let moves = moves(op.code);
        let (begins, value) = (self.begins_cycle(index, at), self.x[usize::from(op.rd)]);
        if P::is_own(addr) {
            return match P::store_own(self, bus, begins, Own { addr, size: moves.size }, value) {
                Ok(()) => self.after_access(bus, index, at),
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        let asked = Asked { addr, moves, how: op.ra };
        self.store(bus, index, at, asked, value)
    }

    /// The accesses of a load or store multiple follow, of which some have no shortcut.
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

/// What a load or store moves.
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
