//! Load and store multiple: ARM DDI 0406C, section A5.5.

use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{PC, RESULT, SPARE, ZERO};
use crate::memory::first_level::access::how;

/// ldm, stm; of User mode's registers; ldm with a return from an exception.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [before, up, user, writes_back, is_load] = [24, 23, 22, 21, 20].map(|index| bit(encoding, index));
    let (rn, list) = (register(encoding, 16), bits(encoding, 15, 0));
    not_pc(&[rn])?;
    let is_loaded = is_load && bit(list, u32::from(rn));
    only_if(list != 0 && !(is_loaded && writes_back))?;
    let words = list.count_ones();
    let change = if up { 4 * words } else { (4 * words).wrapping_neg() };
    // The lowest address: each is 4 higher where the base register moves before the access.
    let lowest = if up { 0 } else { change.wrapping_add(4) };
    let offset = match (before, up) {
        (true, true) => lowest.wrapping_add(4),
        (true, false) => lowest.wrapping_sub(4),
        _ => lowest,
    };
    let block = Block { rn, list, offset, words };
    let loads_pc = is_load && bit(list, u32::from(PC));
    match (is_load, user) {
        (true, true) if !loads_pc => block.load_user(emit),
        (true, _) => block.load(emit, loads_pc),
        (false, true) => block.store(emit, Code::StrUser),
        (false, false) => block.store(emit, Code::Str),
    }
    if writes_back {
        emit.op(Code::Add, rn, rn, ZERO, change);
    } else if is_loaded && (loads_pc || !user) {
        emit.op(Code::Mov, rn, 0, SPARE, 0);
    }
    Some(match (is_load, loads_pc) {
        (true, true) if user => {
            emit.op(Code::ExceptionReturn, 0, 0, RESULT, 0);
            TimingClass::Exception
        }
        (true, true) => {
            emit.op(Code::JumpTo, 0, 0, RESULT, 0);
            TimingClass::IndirectBranch
        }
        (true, false) => TimingClass::LoadMultiple,
        _ => TimingClass::StoreMultiple,
    })
}

struct Block {
    rn: u8,
    list: u32,
    /// From x[rn] to the lowest address.
    offset: u32,
    words: u32,
}

impl Block {
    /// Says what comes; gives the flags of each access.
    fn begin(&self, emit: &mut Emit, direction: u8) -> u8 {
        if self.words == 1 {
            return how::ALIGNED;
        }
        emit.op4(Code::Multiple, 0, self.rn, ZERO, how::ALIGNED | direction, self.words | self.offset << 8);
        how::ALIGNED | how::TOLD
    }

    /// Register and offset of each access.
    fn accesses(&self) -> impl Iterator<Item = (u8, u32)> {
        let listed = (0..16u8).filter(|&register| bit(self.list, u32::from(register)));
        let offset = self.offset;
        listed.zip(0..).map(move |(register, index)| (register, offset.wrapping_add(4 * index)))
    }

    /// The base register goes to SPARE and the program counter to RESULT: they change when nothing can fault any more.
    fn load(&self, emit: &mut Emit, loads_pc: bool) {
        let flags = self.begin(emit, 0);
        for (register, offset) in self.accesses() {
            let into = match register {
                PC if loads_pc => RESULT,
                _ if register == self.rn => SPARE,
                _ => register,
            };
            emit.op4(Code::Ldr, into, self.rn, ZERO, flags, offset);
        }
    }

    /// The register that has the base register's number comes last, as it may be the same.
    fn load_user(&self, emit: &mut Emit) {
        let flags = self.begin(emit, 0);
        let is_base = |access: &(u8, u32)| access.0 == self.rn;
        for (register, offset) in
            self.accesses().filter(|access| !is_base(access)).chain(self.accesses().filter(is_base))
        {
            emit.op4(Code::LdrUser, register, self.rn, ZERO, flags, offset);
        }
    }

    fn store(&self, emit: &mut Emit, code: Code) {
        let stores_pc = bit(self.list, u32::from(PC));
        let pc = if stores_pc { emit.read(PC) } else { PC };
        let flags = self.begin(emit, how::STORE);
        for (register, offset) in self.accesses() {
            match register {
                PC => emit.op4(Code::Str, pc, self.rn, ZERO, flags, offset),
                _ => emit.op4(code, register, self.rn, ZERO, flags, offset),
            }
        }
    }
}
