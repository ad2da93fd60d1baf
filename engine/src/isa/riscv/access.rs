//! Loads and stores that find no quick way. What they cost is the memory's business.

use super::core::Hart;
use super::op::{Code, Op};
use crate::bus::Bus;
use crate::cpu::access::{Asked, Moves};
use crate::device::AccessSize;

impl Hart {
    /// A load that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        self.load(bus, index, at, asked(op.code, addr), |core, value| core.x[usize::from(op.rd)] = value)
    }

    /// A store that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let value = self.x[usize::from(op.rs2)];
        self.store(bus, index, at, asked(op.code, addr), value)
    }

    /// Forgets everything fetched: fence.i.
    pub(super) fn invalidate_fetched(&mut self) {
        self.memory.forget_fetched();
        self.drop_blocks();
    }
}

fn asked(code: Code, addr: u32) -> Asked {
    Asked { addr, moves: moves(code), how: 0 }
}

/// What a load or store moves.
pub(super) fn moves(code: Code) -> Moves {
    match code {
        Code::Lb => Moves::load_signed(AccessSize::Byte),
        Code::Lbu => Moves::load(AccessSize::Byte),
        Code::Lh => Moves::load_signed(AccessSize::Half),
        Code::Lhu => Moves::load(AccessSize::Half),
        Code::Lw => Moves::load(AccessSize::Word),
        Code::Sb => Moves::store(AccessSize::Byte),
        Code::Sh => Moves::store(AccessSize::Half),
        _ => Moves::store(AccessSize::Word),
    }
}
