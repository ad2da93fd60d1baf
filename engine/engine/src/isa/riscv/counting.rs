//! Effects of operations on registers that count the iterations of a polling loop.

use super::op::{Code, Op, TimingClass};
use crate::cpu::polling_loops::counting::{Counting, Operand};

/// See [`crate::cpu::isa::Isa::count`].
pub fn count(op: &Op, counting: &mut Counting) -> Option<()> {
    let (one, other) = (Operand::Register(op.rs1), Operand::Register(op.rs2));
    match op.code {
        Code::Nop | Code::Fetch | Code::End => {}
        Code::Li => counting.set(op.rd, op.imm as u32),
        Code::Addi => counting.add(op.rd, op.rs1, op.imm as u32),
        // A compressed move.
        Code::Add if op.rs1 == 0 => counting.add(op.rd, op.rs2, 0),
        Code::Slt | Code::Sltu => {
            counting.compare(one, other)?;
            counting.write(op.rd);
        }
        Code::Slti | Code::Sltiu => {
            counting.compare(one, Operand::Constant(op.imm as u32))?;
            counting.write(op.rd);
        }
        code if code.class() == TimingClass::Branch => counting.compare(one, other)?,
        code if code.class() == TimingClass::System => return None,
        _ => {
            counting.read(1 << op.rs1 | 1 << op.rs2)?;
            if op.writes_rd() {
                counting.write(op.rd);
            }
        }
    }
    Some(())
}
