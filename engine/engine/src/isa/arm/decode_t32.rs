//! T32: the 16-bit and 32-bit instructions of Thumb-2, decoded into micro-operations.
//!
//! ARMv7-A/R Architecture Reference Manual, DDI 0406C.d, chapters A6 (encodings) and A8 (instructions); the groups here
//! are those of A6. Of the encodings that the manual calls unpredictable, those that name SP or use deprecated values
//! of fields have the obvious effect, because compilers and assemblers may emit them; others are undefined, so that a
//! fault's message reports them.
//!
//! The M profile has the same instructions except for system instructions ([`control`]), A32, double precision and
//! exclusive accesses to two words.

mod control;
mod data;
mod dual;
mod memory;
mod multiply;
mod operand;
mod register;
mod short_control;
mod short_data;
mod short_memory;
mod transfer;

use super::decode_coprocessor;
use super::emit::{Emit, bit, bits};
use super::op::{Code, Features, Instr, Op, TimingClass};
use super::psr::next_it;
use super::registers::ZERO;
use super::summary;

/// The micro-operations of the instruction at `pc`, whose halfwords are `first` and, if it has two, `second`.
///
/// They are appended to `ops`. `it` is ITSTATE as in the CPSR: before the call that of this instruction, afterwards
/// that of the next one.
pub fn decode(first: u16, second: u16, pc: u32, features: Features, it: &mut u8, ops: &mut Vec<Op>) -> Instr {
    let start = ops.len();
    let block = ItBlock::new(*it);
    let half = u32::from(first);
    let (len_bytes, encoding) = if first < 0xe800 { (2, half) } else { (4, half << 16 | u32::from(second)) };
    let mut emit = Emit { ops, pc_value: pc.wrapping_add(4), features };
    let class = match len_bytes {
        2 => short(&mut emit, half, block),
        _ => long(&mut emit, encoding),
    };
    // A branch with its own condition can't have a block's as well.
    let class = class.filter(|_| !block.inside || emit.ops[start].code != Code::JumpIf);
    let class = class.unwrap_or_else(|| {
        emit.ops.truncate(start);
        emit.imm(Code::Undefined, encoding);
        TimingClass::Exception
    });
    if features.m_profile {
        control::align_stack(ops, start);
    }
    block.impose(ops, start);
    *it = if is_it(encoding) && !block.inside { encoding as u8 } else { block.next };
    summary::instr(len_bytes, class, &ops[start..])
}

/// State of an instruction in an IT block.
#[derive(Clone, Copy)]
struct ItBlock {
    /// The instruction is in a block.
    inside: bool,
    /// The condition under which the instruction is executed. 14 and 15 are always.
    condition: u8,
    /// ITSTATE of the next instruction (A2.5.2).
    next: u8,
}

impl ItBlock {
    const fn new(state: u8) -> Self {
        let inside = state & 0xf != 0;
        let condition = if inside { state >> 4 } else { 14 };
        Self { inside, condition, next: next_it(state) }
    }

    /// Puts the condition before the micro-operations from index `start` on, or into a jump that is the only one.
    /// Breakpoints are unconditional.
    fn impose(self, ops: &mut Vec<Op>, start: usize) {
        if self.condition >= 14 {
            return;
        }
        match ops[start].code {
            Code::Jump if ops.len() == start + 1 => {
                ops[start] = Op { code: Code::JumpIf, rd: self.condition, ..ops[start] }
            }
            Code::Bkpt => {}
            _ => {
                let imm = (ops.len() - start) as u32;
                ops.insert(start, Op { code: Code::SkipUnless, rd: self.condition, rn: 0, rm: ZERO, ra: 0, imm });
            }
        }
    }
}

/// True for it: other encodings with its upper bits are hints.
const fn is_it(encoding: u32) -> bool {
    encoding >> 8 == 0xbf && encoding & 0xf != 0
}

/// A 16-bit instruction (A6.2); `None` if it is undefined.
fn short(emit: &mut Emit, half: u32, block: ItBlock) -> Option<TimingClass> {
    let flags = !block.inside;
    match half >> 12 {
        0..=3 => short_data::immediate(emit, half, flags),
        4 if half & 0x0c00 == 0 => short_data::register(emit, half, flags),
        4 if half & 0x0800 == 0 => short_data::special(emit, half),
        4..=9 => short_memory::single(emit, half),
        10 => short_memory::address(emit, half),
        11 if is_it(half) && block.inside => None,
        11 => short_control::miscellaneous(emit, half),
        12 => short_memory::load_store_multiple(emit, half),
        _ => short_control::branch(emit, half),
    }
}

/// A 32-bit instruction (A6.3).
fn long(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let is_data = !bit(encoding, 15);
    match (bits(encoding, 28, 27), bits(encoding, 26, 24)) {
        // Advanced SIMD, and instructions to coprocessors with the prefix 1111.
        (1, 7) | (3, 4..) => None,
        (1, 4..) => decode_coprocessor::decode(emit, encoding),
        (1, 2 | 3) => data::shifted_register(emit, encoding),
        (1, _) if bit(encoding, 22) => dual::decode(emit, encoding),
        (1, _) if bit(encoding, 24) == bit(encoding, 23) && emit.features.m_profile => None,
        (1, _) if bit(encoding, 24) == bit(encoding, 23) => control::return_state(emit, encoding),
        (1, _) => transfer::load_store_multiple(emit, encoding),
        (2, _) if is_data && bit(encoding, 25) => data::plain_immediate(emit, encoding),
        (2, _) if is_data => data::immediate(emit, encoding),
        (2, _) => control::decode(emit, encoding),
        (_, 0 | 1) => memory::decode(emit, encoding),
        (_, 2) => register::decode(emit, encoding),
        _ if bit(encoding, 23) => multiply::long(emit, encoding),
        _ => multiply::short(emit, encoding),
    }
}

/// A jump to a constant in T32, `offset` from the program counter's value, if `condition` holds.
fn branch(emit: &mut Emit, condition: u8, offset: u32) -> Option<TimingClass> {
    let code = if condition < 14 { Code::JumpIf } else { Code::Jump };
    emit.op(code, condition, 0, ZERO, emit.pc_value.wrapping_add(offset) | 1);
    Some(TimingClass::Branch)
}

#[cfg(test)]
mod tests;
