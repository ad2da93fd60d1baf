//! Effects of micro-operations on registers that count the iterations of a polling loop, and on the flags of their
//! comparisons.

use super::compile;
use super::in_block::InBlock;
use super::op::{Code, Op};
use super::registers::{C, N_SOURCE, V, Z_SOURCE, ZERO};
use crate::cpu::polling_loops::counting::{Counting, Operand};

const CV: u64 = 1 << C | 1 << V;

/// The micro-operations of one instruction: see [`crate::cpu::isa::Isa::count`].
pub fn count(ops: &[Op], counting: &mut Counting) -> Option<()> {
    let mut at = 0;
    while let Some(op) = ops.get(at) {
        at += 1;
        match op.code {
            Code::SkipUnless => {
                look_at_flags(counting)?;
                let skipped = ops.get(at..at + op.imm as usize)?;
                skipped.iter().try_for_each(|op| maybe_done(op, counting))?;
                at += skipped.len();
            }
            _ => done(op, counting)?,
        }
    }
    Some(())
}

fn done(op: &Op, counting: &mut Counting) -> Option<()> {
    let has_immediate = op.rm == ZERO;
    match op.code {
        Code::Fetch | Code::FetchLines | Code::End | Code::Jump | Code::Pld => {}
        Code::Hint | Code::Isb | Code::Dmb | Code::Dsb => {}
        Code::Mrrc => counting.read_time(op.rd, op.ra)?,
        Code::Mov if has_immediate => counting.set(op.rd, op.imm),
        Code::Mov => counting.add(op.rd, op.rm, op.imm),
        Code::Add if has_immediate => counting.add(op.rd, op.rn, op.imm),
        Code::Sub if has_immediate => counting.add(op.rd, op.rn, op.imm.wrapping_neg()),
        Code::Adds if has_immediate => add_with_flags(op, op.imm, counting)?,
        Code::Subs if has_immediate => add_with_flags(op, op.imm.wrapping_neg(), counting)?,
        // A difference is followed where one of the two is constant.
        Code::Sub if op.imm == 0 && counting.difference(op.rn, op.rm).is_some() => {
            let difference = counting.difference(op.rn, op.rm)?;
            counting.subtract(op.rd, difference);
        }
        Code::Subs if op.imm == 0 => {
            counting.compare(Operand::Register(op.rn), Operand::Register(op.rm))?;
            let difference = counting.difference(op.rn, op.rm);
            for register in [N_SOURCE, Z_SOURCE, op.rd] {
                match difference {
                    Some(difference) => counting.subtract(register, difference),
                    None => counting.write(register),
                }
            }
            [C, V].into_iter().for_each(|register| counting.write(register));
        }
        Code::JumpIf => look_at_flags(counting)?,
        Code::JumpIfZero | Code::JumpIfNotZero => {
            counting.compare(Operand::Register(op.rn), Operand::Constant(0))?;
        }
        // Flags or masks.
        Code::InBlock if !matches!(InBlock::of(op.imm), InBlock::ThreadId(_)) => return None,
        _ => {
            counting.read(reads(op))?;
            written(op).for_each(|register| counting.write(register));
        }
    }
    Some(())
}

/// The sum of a register and a constant, or the difference from the constant's negative: the flags give the order of
/// the two, and N and Z depend on the sum.
fn add_with_flags(op: &Op, amount: u32, counting: &mut Counting) -> Option<()> {
    counting.compare(Operand::Register(op.rn), Operand::Constant(amount.wrapping_neg()))?;
    // The result last: it may be the operand.
    [N_SOURCE, Z_SOURCE, op.rd].into_iter().for_each(|register| counting.add(register, op.rn, amount));
    [C, V].into_iter().for_each(|register| counting.write(register));
    Some(())
}

/// A condition: N and Z give the sign of a value, and whether it is 0.
fn look_at_flags(counting: &mut Counting) -> Option<()> {
    [N_SOURCE, Z_SOURCE]
        .into_iter()
        .try_for_each(|source| counting.compare(Operand::Register(source), Operand::Constant(0)))?;
    counting.read(CV)
}

/// A micro-operation that is conditional.
fn maybe_done(op: &Op, counting: &mut Counting) -> Option<()> {
    if op.code == Code::InBlock {
        return None;
    }
    counting.read(reads(op))?;
    written(op).try_for_each(|register| counting.may_write(register))
}

/// All registers that a micro-operation may read; only conditions read N and Z.
fn reads(op: &Op) -> u64 {
    use Code::*;
    let registers: &[u8] = match op.code {
        Ldr | Ldrb | Ldrh | Ldrsb | Ldrsh | Vldr | Vstr | Multiple => &[op.rn, op.rm],
        // The other fields name no registers.
        JumpTo | JumpToSame => &[op.rm],
        Mla | Mls | Umull | Umlal | Umaal | Smull | Smlal | Media | Vfp => &[op.rd, op.rn, op.rm, op.ra],
        _ => &[op.rd, op.rn, op.rm],
    };
    let carry = matches!(op.code, Adc | Sbc | Rsc | Adcs | Sbcs | Rscs | Rrx | Rrxs)
        || op.code >= LslImms && op.code <= RorRegs;
    let flags = if carry { CV } else { 0 };
    registers.iter().fold(flags, |set, register| set | 1_u64.checked_shl(u32::from(*register)).unwrap_or(0))
}

/// All registers that it may write.
fn written(op: &Op) -> impl Iterator<Item = u8> {
    let mut writes = compile::writes(op);
    std::iter::from_fn(move || {
        let register = (writes != 0).then(|| writes.trailing_zeros() as u8)?;
        writes &= writes - 1;
        Some(register)
    })
}
