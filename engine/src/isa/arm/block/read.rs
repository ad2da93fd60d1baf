//! Code that was read for a block, and how it ends.

use super::Decoded;
use crate::isa::arm::op::{Code, Instr, Op};
use crate::isa::arm::predictor::Jump;
use crate::isa::arm::registers::{LR, SP, one};

/// Code that was read and decoded, for a block.
#[derive(Debug, Default)]
pub struct Read {
    /// Its micro-operations.
    pub ops: Vec<Op>,
    /// Its instructions, with the index behind the last micro-operation of each.
    pub instrs: Vec<(Decoded, usize)>,
    /// ITSTATE behind it.
    pub it: u8,
}

impl Read {
    /// Adds the instruction at `at` whose micro-operations have been appended to `ops` from index `first` on.
    pub fn push(&mut self, instr: Instr, at: u32, it: u8, first: usize) {
        let ops = &mut self.ops[first..];
        let loads = ops.iter().filter(|op| is_load(op.code));
        let loaded = loads.fold(0, |set, op| set | one(op.rd)) & instr.writes;
        let straddles = instr.len_bytes == 4 && at & 2 != 0;
        self.instrs.push((Decoded { instr, loaded, it, straddles }, self.ops.len()));
    }

    /// Takes the last instruction back, before which ITSTATE was `it`.
    pub fn pop(&mut self, it: u8) {
        self.instrs.pop();
        self.ops.truncate(self.instrs.last().map_or(0, |(_, end)| *end));
        self.it = it;
    }

    /// Size of what was read.
    pub fn bytes(&self) -> u32 {
        self.instrs.iter().map(|(decoded, _)| u32::from(decoded.instr.len_bytes)).sum()
    }

    /// The micro-operations of the last instruction.
    fn last_ops(&self) -> &[Op] {
        let from = self.instrs.iter().rev().nth(1).map_or(0, |(_, end)| *end);
        &self.ops[from..]
    }
}

/// How a block ends.
pub(super) struct Ending {
    pub jump: Jump,
    /// The target, where it is fixed.
    pub target: u32,
    /// Falling through means that the last instruction, which may take several cycles, was skipped.
    pub skipped: bool,
}

impl Ending {
    /// Of a block of this code.
    pub fn of(read: &Read) -> Ending {
        let ops = read.last_ops();
        let Some(((decoded, _), last)) = read.instrs.last().zip(ops.last()) else {
            return Ending { jump: Jump::Sure, target: 0, skipped: false };
        };
        let conditional = ops[0].code == Code::SkipUnless;
        let skipped = conditional && decoded.instr.ends_block;
        let calls = decoded.instr.writes & one(LR) != 0;
        let jump = match last.code {
            Code::Jump => match (conditional, calls) {
                (false, false) => Jump::Sure,
                (false, true) => Jump::Call,
                (true, false) => Jump::Conditional,
                (true, true) => Jump::ConditionalCall,
            },
            Code::JumpIf | Code::JumpIfZero | Code::JumpIfNotZero => Jump::Conditional,
            Code::JumpTo | Code::JumpToSame => {
                let popped = decoded.instr.words > 0 && decoded.instr.reads & one(SP) != 0;
                match (conditional, last.rm == LR || popped) {
                    (true, true) => Jump::ConditionalReturn,
                    (true, false) => Jump::ConditionalIndirect,
                    (false, true) => Jump::Return,
                    (false, false) if calls => Jump::IndirectCall,
                    (false, false) => Jump::Indirect,
                }
            }
            _ => Jump::Sure,
        };
        Ending { jump, target: last.imm, skipped }
    }
}

fn is_load(code: Code) -> bool {
    matches!(
        code,
        Code::Ldr | Code::Ldrb | Code::Ldrh | Code::Ldrsb | Code::Ldrsh | Code::Ldrex | Code::Swap | Code::LdrUser
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::arm::op::TimingClass;

    #[test]
    fn a_class_alone_does_not_make_a_jump() {
        let instr = Instr {
            len_bytes: 4,
            class: TimingClass::Status,
            reads: 0,
            reads_early: 0,
            writes: 0,
            words: 0,
            ends_block: true,
        };
        let mut read = Read::default();
        read.ops.push(Op { code: Code::Cps, rd: 0, rn: 0, rm: 0, ra: 0, imm: 0 });
        read.push(instr, 0, 0, 0);
        let ending = Ending::of(&read);
        assert!(ending.jump == Jump::Sure && !ending.skipped);
    }
}
