//! Effects of operations on registers that count the iterations of a polling loop.

use super::op::{Code, HI, LO, Op, ZERO};
use crate::cpu::polling_loops::counting::{Counting, Operand};

/// See [`crate::cpu::isa::Isa::count`].
pub fn count(op: &Op, counting: &mut Counting) -> Option<()> {
    use Code::*;
    let (one, other, zero) = (Operand::Register(op.rs), Operand::Register(op.rt), Operand::Constant(0));
    match op.code {
        Nop | End | Pref | J => {}
        Li => counting.set(op.rd, op.imm as u32),
        Addiu => counting.add(op.rd, op.rs, op.imm as u32),
        Addu | Or if op.rt == ZERO => counting.add(op.rd, op.rs, 0),
        Addu | Or if op.rs == ZERO => counting.add(op.rd, op.rt, 0),
        Slt | Sltu => {
            counting.compare(one, other)?;
            counting.write(op.rd);
        }
        Slti | Sltiu => {
            counting.compare(one, Operand::Constant(op.imm as u32))?;
            counting.write(op.rd);
        }
        Beq | Bne | Beql | Bnel => counting.compare(one, other)?,
        Blez | Bgtz | Bltz | Bgez | Blezl | Bgtzl | Bltzl | Bgezl => counting.compare(one, zero)?,
        code => {
            let both =
                if code.uses_unit() || matches!(code, Mfhi | Mflo | Mthi | Mtlo) { 1 << HI | 1 << LO } else { 0 };
            counting.read(1 << op.rs | 1 << op.rt | both)?;
            counting.write(op.rd);
            if both != 0 {
                [HI, LO].into_iter().for_each(|register| counting.write(register));
            }
        }
    }
    Some(())
}
