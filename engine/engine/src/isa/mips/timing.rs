//! Costs of instructions in an in-order core that issues one instruction per cycle and waits for results: a table of a
//! few numbers.
//!
//! The waits of an instruction are computed when it is decoded, from the results that are under way then. Memory and
//! mispredictions add their own costs when they occur.

use super::op::{Code, HI, LO, Op, SINK};
use crate::cpu::cost::Cost;
use crate::cpu::isa;
use crate::dt::reader::NodeReader;
use crate::state::{Fresh, State};

/// The timing table of a core, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct CoreTiming {
    /// Stall of an instruction right after a load whose result it uses.
    pub load_use: u8,
    /// Cycles from a multiplication until the multiplier accepts the next one.
    pub multiply: u8,
    /// Stall of an instruction right after a multiplication whose result it uses, also from HI and LO.
    pub multiply_use: u8,
    /// Cycles from a division to its result, and until the unit accepts the next operation. Later instructions that do
    /// not use it continue.
    pub divide: u8,
    /// mfc0, mtc0 and the TLB's instructions.
    pub coprocessor: u8,
    /// sync, with nothing to wait for.
    pub barrier: u8,
    /// Entry to an exception or interrupt, until the handler's first instruction issues.
    pub exception: u8,
    /// eret.
    pub exception_return: u8,
    /// A branch or jump that was taken, and predicted as taken; 1 where it costs no more than others.
    pub taken_branch: u8,
    /// Further cycles of a direct jump that was not predicted: its target is known when it is decoded.
    pub unpredicted_jump: u8,
    /// Further cycles of a branch or an indirect jump that was mispredicted.
    pub mispredicted_branch: u8,
}

impl CoreTiming {
    /// Reads the table from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader) -> CoreTiming {
        let mut cycles = |name: &str, least: u8, meaning: &str| {
            reader.instruction_cycles(&format!("cyclescope,{name}-cycles"), least, meaning)
        };
        CoreTiming {
            load_use: cycles("load-use", 0, "stall of an instruction right after a load that it depends on"),
            multiply: cycles("multiply", 1, "cycles from a multiplication to when the next can begin"),
            multiply_use: cycles("multiply-use", 0, "stall of an instruction right after a multiplication"),
            divide: cycles("divide", 1, "cycles of a division"),
            coprocessor: cycles("coprocessor", 1, "cycles of mfc0, mtc0 and the TLB's instructions"),
            barrier: cycles("barrier", 1, "cycles of a barrier with nothing to wait for"),
            exception: cycles("exception", 0, "cycles from an exception or interrupt to the handler"),
            exception_return: cycles("exception-return", 1, "cycles of a return from an exception"),
            taken_branch: cycles("taken-branch", 1, "cycles of a taken branch that was predicted"),
            unpredicted_jump: cycles("unpredicted-jump", 0, "further cycles of a direct jump that was not predicted"),
            mispredicted_branch: cycles("mispredicted-branch", 0, "further cycles of a branch that was not predicted"),
        }
    }

    /// Most further cycles of a branch, beyond its own.
    pub fn longest_branch(&self) -> u8 {
        (self.taken_branch - 1).max(self.unpredicted_jump).max(self.mispredicted_branch)
    }

    /// Passes an instruction through the pipeline: its cost with `pending` under way, which is updated. An instruction
    /// waits until the registers that it reads are ready, and a multiplication or division then until the unit is free.
    pub fn step(&self, op: &Op, pending: &mut Pending) -> Cost {
        let stall_cycles = pending.issue(op);
        match op.code {
            Code::Mul => {
                pending.set(op.rd, self.multiply_use);
                pending.unit = self.multiply - 1;
            }
            Code::Div | Code::Divu => {
                pending.set_product(self.divide - 1);
                pending.unit = self.divide - 1;
            }
            code if code.uses_unit() => {
                pending.set_product(self.multiply_use);
                pending.unit = self.multiply - 1;
            }
            code if code.is_load() => pending.set(op.rd, self.load_use),
            _ => {}
        }
        Cost { stall_cycles, issue_cycles: 1, ..Cost::default() }
    }

    /// True if `op` takes another time, or leaves other results under way, if some cycles pass first; `pending` was
    /// under way then, except for `own`, the last instruction's result. Without `op`: if there are other results at
    /// all.
    pub fn is_affected_by_wait(&self, op: Option<&Op>, pending: &Pending, own: Option<u8>) -> bool {
        let (mut before, mut after) = (*pending, *pending);
        // If it makes no difference that all results have arrived, it makes none that some have.
        after.wait(u64::MAX, own);
        op.is_some_and(|op| self.step(op, &mut before) != self.step(op, &mut after)) || before != after
    }
}

/// Registers with results: the general ones, HI and LO.
const REGISTERS: usize = LO as usize + 1;

/// Results under way at an instruction boundary: the cycles until each register can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Pending {
    ready: [u8; REGISTERS],
    /// Cycles until the multiplier and divider accepts another operation.
    unit: u8,
}

impl isa::Pending for Pending {
    const NONE: Pending = Pending { ready: [0; REGISTERS], unit: 0 };
}

impl Pending {
    /// Lets `cycles` pass.
    #[inline]
    pub fn pass(&mut self, cycles: u64) {
        let passed = cycles.min(255) as u8;
        self.ready.iter_mut().for_each(|ready| *ready = ready.saturating_sub(passed));
        self.unit = self.unit.saturating_sub(passed);
    }

    /// Lets `cycles` pass in which the last instruction waits: its own result is later by as many.
    pub fn wait(&mut self, cycles: u64, own: Option<u8>) {
        let result = own.map(|register| (register, self.ready[usize::from(register)]));
        self.pass(cycles);
        if let Some((register, ready)) = result {
            self.set(register, ready);
        }
    }

    /// Issues an instruction once its operands are ready, and its unit is free, for one cycle; the former result for
    /// its destination is not waited for any more. Returns the cycles that it waited.
    pub fn issue(&mut self, op: &Op) -> u32 {
        let operands = self.ready[usize::from(op.rs)].max(self.ready[usize::from(op.rt)]);
        let stall_cycles = if op.code.uses_unit() { operands.max(self.unit) } else { operands };
        self.pass(u64::from(stall_cycles) + 1);
        self.set(op.rd, 0);
        stall_cycles.into()
    }

    /// Sets the cycles until a register is ready.
    fn set(&mut self, register: u8, cycles: u8) {
        if register != SINK {
            self.ready[usize::from(register)] = cycles;
        }
    }

    fn set_product(&mut self, cycles: u8) {
        self.set(HI, cycles);
        self.set(LO, cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::isa::Pending as _;
    use crate::isa::mips::op::ZERO;

    const TABLE: CoreTiming = CoreTiming {
        load_use: 2,
        multiply: 2,
        multiply_use: 4,
        divide: 20,
        coprocessor: 1,
        barrier: 1,
        exception: 0,
        exception_return: 1,
        taken_branch: 1,
        unpredicted_jump: 0,
        mispredicted_branch: 0,
    };

    fn op(code: Code, rd: u8, rs: u8, rt: u8) -> Op {
        Op { code, rd, rs, rt, imm: 0 }
    }

    fn stalls(program: &[Op]) -> (u32, Pending) {
        let mut pending = Pending::NONE;
        let stalls = program.iter().map(|op| TABLE.step(op, &mut pending).stall_cycles).sum();
        (stalls, pending)
    }

    const LOAD: Op = Op { code: Code::Lw, rd: 8, rs: 9, rt: ZERO, imm: 0 };

    #[test]
    fn a_result_is_waited_for_unless_it_is_overwritten() {
        let uses = op(Code::Addu, 10, 8, 8);
        assert_eq!(stalls(&[LOAD, uses]), (2, Pending::NONE));
        assert_eq!(stalls(&[LOAD, op(Code::Addu, 11, 9, 9), uses]).0, 1);
        assert_eq!(stalls(&[LOAD, op(Code::Li, 8, ZERO, ZERO), uses]).0, 0);
        let quotient = op(Code::Mflo, 10, LO, ZERO);
        assert_eq!(stalls(&[op(Code::Divu, LO, 8, 9), quotient]), (19, Pending::NONE));
        assert_eq!(stalls(&[op(Code::Divu, LO, 8, 9), op(Code::Mult, LO, 8, 9), quotient]).0, 19 + 4);
        assert_eq!(stalls(&[op(Code::Mult, LO, 8, 9), op(Code::Mult, LO, 8, 9), quotient]).0, 1 + 4);
        assert_eq!(stalls(&[Op { rd: SINK, ..LOAD }]).1, Pending::NONE);
    }

    #[test]
    fn an_own_result_waits_with_its_instruction() {
        let (_, mut pending) = stalls(&[op(Code::Divu, LO, 8, 9), LOAD]);
        assert!(
            TABLE.is_affected_by_wait(None, &pending, Some(8))
                && TABLE.is_affected_by_wait(Some(&LOAD), &pending, Some(8))
        );
        pending.wait(100, Some(8));
        assert_eq!(pending, stalls(&[LOAD]).1);
        assert!(!TABLE.is_affected_by_wait(None, &pending, Some(8)));
    }

    #[test]
    fn a_wait_is_felt_where_a_result_would_have_been_waited_for() {
        let second = Op { rd: 10, ..LOAD };
        let (_, pending) = stalls(&[LOAD, second]);
        assert!(
            TABLE.is_affected_by_wait(Some(&op(Code::Addu, 11, 8, ZERO)), &pending, Some(10)),
            "of the first one's result"
        );
        assert!(
            !TABLE.is_affected_by_wait(Some(&op(Code::Addu, 11, 9, ZERO)), &pending, Some(10)),
            "it comes meanwhile"
        );
        assert!(
            !TABLE.is_affected_by_wait(Some(&op(Code::Addu, 11, 10, ZERO)), &pending, Some(10)),
            "it is waited for anyway"
        );
    }
}
