//! Loads and stores that find no quick way. What they cost is the memory's business.

use super::core::Hart;
use super::op::{Code, Op};
use crate::bus::Bus;
use crate::cpu::access::Asked;
use crate::device::AccessSize;

impl Hart {
    /// A load that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        self.load(bus, index, at, asked(op.code, addr), |x, value| x[usize::from(op.rd)] = extend(op.code, value))
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
    Asked { addr, size: size_of_access(code), how: 0, name: access_kind(code) }
}

pub(super) fn size_of_access(code: Code) -> AccessSize {
    match code {
        Code::Lb | Code::Lbu | Code::Sb => AccessSize::Byte,
        Code::Lh | Code::Lhu | Code::Sh => AccessSize::Half,
        _ => AccessSize::Word,
    }
}

pub(super) fn access_kind(code: Code) -> &'static str {
    match code {
        Code::Lb | Code::Lbu => "1-byte load",
        Code::Lh | Code::Lhu => "2-byte load",
        Code::Lw => "4-byte load",
        Code::Sb => "1-byte store",
        Code::Sh => "2-byte store",
        _ => "4-byte store",
    }
}

/// A loaded value as the register gets it.
pub(super) fn extend(code: Code, value: u32) -> u32 {
    match code {
        Code::Lb => value as i8 as u32,
        Code::Lh => value as i16 as u32,
        Code::Lbu => value & 0xff,
        Code::Lhu => value & 0xffff,
        _ => value,
    }
}
