//! Load and store multiple (ldm, stm, push, pop), for both lengths.

use crate::isa::arm::emit::{Emit, bit, bits, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{PC, RESULT, ZERO};
use crate::memory::first_level::access::how;

/// Where the registers of a load or store multiple go to or come from.
#[derive(Clone, Copy)]
pub struct Block {
    /// Register that holds an address.
    pub base: u8,
    /// Of the first word, from there.
    pub offset: i32,
    /// What the base changes by afterwards.
    pub step: Option<i32>,
    /// Bit n: register n.
    pub list: u32,
}

impl Block {
    /// From the base upwards.
    pub fn increment_after(base: u8, list: u32, write_back: bool) -> Self {
        Self { base, offset: 0, step: write_back.then(|| size(list)), list }
    }

    /// From the base downwards, the base itself excluded.
    pub fn decrement_before(base: u8, list: u32, write_back: bool) -> Self {
        Self { base, offset: -size(list), step: write_back.then(|| -size(list)), list }
    }

    /// Registers in the list, with their words' offsets from the base.
    fn offsets(self) -> impl Iterator<Item = (u8, u32)> {
        let registers = (0..16).filter(move |register| self.list >> register & 1 == 1);
        registers.zip(0i32..).map(move |(register, index)| (register, (self.offset + 4 * index) as u32))
    }

    /// Tells of the words if they are more than one; gives the flags of their accesses.
    fn announce(self, emit: &mut Emit, store: u8) -> u8 {
        let count = self.list.count_ones();
        if count < 2 {
            return how::ALIGNED;
        }
        let imm = count | (self.offset as u32) << 8;
        emit.op4(Code::Multiple, 0, self.base, ZERO, how::ALIGNED | store, imm);
        how::ALIGNED | how::TOLD
    }

    fn write_back(self, emit: &mut Emit) {
        if let Some(step) = self.step {
            emit.op(Code::Add, self.base, self.base, ZERO, step as u32);
        }
    }

    /// The loads: the base after all others, as it is needed till then.
    pub fn load(self, emit: &mut Emit) -> TimingClass {
        let flags = self.announce(emit, 0);
        let mut load = |register: u8, offset| {
            let rd = if register == PC { RESULT } else { register };
            emit.op4(Code::Ldr, rd, self.base, ZERO, flags, offset);
        };
        self.offsets()
            .filter(|&(register, _)| register != self.base)
            .for_each(|(register, offset)| load(register, offset));
        self.offsets()
            .filter(|&(register, _)| register == self.base)
            .for_each(|(register, offset)| load(register, offset));
        self.write_back(emit);
        if self.list >> PC & 1 == 0 {
            return TimingClass::LoadMultiple;
        }
        emit.op(Code::JumpTo, 0, 0, RESULT, 0);
        TimingClass::IndirectBranch
    }

    /// The stores.
    pub fn store(self, emit: &mut Emit) -> TimingClass {
        let flags = self.announce(emit, how::STORE);
        for (register, offset) in self.offsets() {
            emit.op4(Code::Str, register, self.base, ZERO, flags, offset);
        }
        self.write_back(emit);
        TimingClass::StoreMultiple
    }
}

/// 32-bit ldm and stm: upwards after (bit 23 set), or downwards before.
pub fn load_store_multiple(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let (rn, list) = (register(encoding, 16), bits(encoding, 15, 0));
    let (write_back, is_load) = (bit(encoding, 21), bit(encoding, 20));
    only_if(rn != PC && list.count_ones() >= 2)?;
    only_if(!write_back || list >> rn & 1 == 0)?;
    only_if(is_load || list >> PC & 1 == 0)?;
    let block = if bit(encoding, 23) {
        Block::increment_after(rn, list, write_back)
    } else {
        Block::decrement_before(rn, list, write_back)
    };
    Some(if is_load { block.load(emit) } else { block.store(emit) })
}

/// Bytes of the registers in a list.
fn size(list: u32) -> i32 {
    4 * list.count_ones() as i32
}
