//! Load and store multiple: ARM DDI 0406C, section A5.5.

use crate::isa::arm::emit::{Block, Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{PC, RESULT, SPARE, ZERO};

/// ldm, stm; of User mode's registers; ldm with a return from an exception.
pub fn decode(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let [before, up, user, writes_back, is_load] = [24, 23, 22, 21, 20].map(|index| bit(encoding, index));
    let (rn, list) = (register(encoding, 16), bits(encoding, 15, 0));
    not_pc(&[rn])?;
    let is_loaded = is_load && bit(list, u32::from(rn));
    only_if(list != 0 && !(is_loaded && writes_back))?;
    let bytes = 4 * list.count_ones();
    let change = if up { bytes } else { bytes.wrapping_neg() };
    // The lowest address: all are 4 higher if the base register changes before the access.
    let lowest = if up { 0 } else { change.wrapping_add(4) };
    let offset = match (before, up) {
        (true, true) => lowest.wrapping_add(4),
        (true, false) => lowest.wrapping_sub(4),
        _ => lowest,
    };
    let block = Block { base: rn, offset, list };
    let loads_pc = is_load && bit(list, u32::from(PC));
    match (is_load, user) {
        (true, true) if !loads_pc => block.load(emit, Code::LdrUser),
        (true, _) => load(emit, block),
        (false, true) => block.store(emit, Code::StrUser),
        (false, false) => block.store(emit, Code::Str),
    }
    if writes_back {
        emit.op(Code::Add, rn, rn, ZERO, change);
    } else if is_loaded && (loads_pc || !user) {
        emit.op(Code::Mov, rn, 0, SPARE, 0);
    }
    Some(match (is_load, loads_pc) {
        (true, true) if user => emit.exception_return(RESULT),
        (true, true) => emit.jump_to(RESULT),
        (true, false) => TimingClass::LoadMultiple,
        _ => TimingClass::StoreMultiple,
    })
}

/// The base register goes to SPARE and the program counter to RESULT: they are written when no access can fault any
/// more.
fn load(emit: &mut Emit, block: Block) {
    let flags = block.announce(emit, true);
    for (register, offset) in block.accesses() {
        let into = match register {
            PC => RESULT,
            _ if register == block.base => SPARE,
            _ => register,
        };
        emit.op4(Code::Ldr, into, block.base, ZERO, flags, offset);
    }
}
