//! Load and store multiple (ldm, stm, push, pop), for both lengths.

use crate::isa::arm::emit::{Block, Emit, bit, bits, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{PC, RESULT, ZERO};

/// A load or store multiple.
pub struct Transfer {
    /// A load.
    pub is_load: bool,
    /// From the base upwards; else downwards, the base itself excluded.
    pub up: bool,
    /// Register that holds an address.
    pub base: u8,
    /// Bit n: register n.
    pub list: u32,
    /// The base changes by the size afterwards.
    pub write_back: bool,
}

impl Transfer {
    /// Its micro-operations; `None` for an empty list.
    pub fn decode(self, emit: &mut Emit) -> Option<TimingClass> {
        let Transfer { is_load, up, base, list, write_back } = self;
        only_if(list != 0)?;
        let bytes = 4 * list.count_ones();
        let (offset, step) = if up { (0, bytes) } else { (bytes.wrapping_neg(), bytes.wrapping_neg()) };
        let block = Block { base, offset, list };
        if is_load {
            block.load(emit, Code::Ldr)
        } else {
            block.store(emit, Code::Str)
        }
        if write_back {
            emit.op(Code::Add, base, base, ZERO, step);
        }
        Some(match is_load {
            true if list >> PC & 1 != 0 => emit.jump_to(RESULT),
            true => TimingClass::LoadMultiple,
            false => TimingClass::StoreMultiple,
        })
    }
}

/// 32-bit ldm and stm: upwards after (bit 23 set), or downwards before.
pub fn load_store_multiple(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (base, list) = (register(encoding, 16), bits(encoding, 15, 0));
    let (up, write_back, is_load) = (bit(encoding, 23), bit(encoding, 21), bit(encoding, 20));
    only_if(base != PC && list.count_ones() >= 2)?;
    only_if(!write_back || list >> base & 1 == 0)?;
    only_if(is_load || list >> PC & 1 == 0)?;
    Transfer { is_load, up, base, list, write_back }.decode(emit)
}
