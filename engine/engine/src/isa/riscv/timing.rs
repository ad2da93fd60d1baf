//! Costs of instructions in an in-order core that issues one instruction per cycle and waits for results.
//!
//! A core is a table of a few numbers for the instruction set. Memory adds its own costs when they occur.

use super::op::{Code, Instr, TimingClass};
use crate::cpu::cost::Cost;
use crate::cpu::isa;
use crate::dt::reader::NodeReader;
use crate::state::{Fresh, State};

/// The timing table of a core, in core cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct CoreTiming {
    /// Stall of an instruction right after a load whose result it uses; with one instruction between them it is one
    /// less.
    pub load_use: u8,
    /// Stall of an instruction right after a multiplication whose result it uses.
    pub multiply_use: u8,
    /// A multiplication.
    pub multiply: u8,
    /// A division or remainder.
    pub divide: u8,
    /// A taken branch; with prediction, a predicted one.
    pub taken_branch: u8,
    /// A mispredicted branch: backward branches are predicted as taken, forward ones as not taken. `None` without
    /// prediction.
    pub mispredicted_branch: Option<u8>,
    /// jal.
    pub jump: u8,
    /// jalr.
    pub indirect_jump: u8,
    /// A CSR access.
    pub csr: u8,
    /// Entry to an exception or interrupt, until the handler's first instruction issues.
    pub trap: u8,
    /// mret.
    pub mret: u8,
    /// fence.i.
    pub fence_i: u8,
}

/// For cores that predict branches by their direction.
const MISPREDICTED_BRANCH: &str = "cyclescope,mispredicted-branch-cycles";

impl CoreTiming {
    /// Reads the table from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader) -> CoreTiming {
        let mispredicted_branch = reader.given(MISPREDICTED_BRANCH, |reader| {
            reader.instruction_cycles(MISPREDICTED_BRANCH, 1, "cycles of a branch that was predicted wrongly")
        });
        let mut cycles =
            |name: &str, meaning: &str| reader.instruction_cycles(&format!("cyclescope,{name}-cycles"), 0, meaning);
        CoreTiming {
            load_use: cycles("load-use", "stall of an instruction right after a load that it depends on"),
            multiply_use: cycles("multiply-use", "stall of an instruction right after a multiplication"),
            multiply: cycles("multiply", "cycles of a multiplication"),
            divide: cycles("divide", "cycles of a division"),
            taken_branch: cycles("taken-branch", "cycles of a taken branch"),
            mispredicted_branch,
            jump: cycles("jump", "cycles of jal"),
            indirect_jump: cycles("indirect-jump", "cycles of jalr"),
            csr: cycles("csr", "cycles of a CSR access"),
            trap: cycles("trap", "cycles from an exception or interrupt to the handler"),
            mret: cycles("mret", "cycles of mret"),
            fence_i: cycles("fence-i", "cycles of fence.i"),
        }
    }

    /// Cycles that an instruction occupies the pipeline for: at least 1. A branch counts as not taken.
    pub fn issue_cycles(&self, code: Code) -> u32 {
        let cycles = match code.class() {
            TimingClass::Multiply | TimingClass::MultiplyHigh => self.multiply,
            TimingClass::Divide => self.divide,
            TimingClass::Jump => self.jump,
            TimingClass::IndirectJump => self.indirect_jump,
            TimingClass::Csr => self.csr,
            TimingClass::System if code == Code::Mret => self.mret,
            TimingClass::System if code == Code::FenceI => self.fence_i,
            _ => 1,
        };
        u32::from(cycles.max(1))
    }

    /// Cycles of a branch, by its direction: not taken, taken.
    pub fn branch_cycles(&self, backward: bool) -> [u32; 2] {
        let taken = u32::from(self.taken_branch.max(1));
        match self.mispredicted_branch.map(|cycles| u32::from(cycles.max(1))) {
            None => [1, taken],
            Some(mispredicted) if backward => [mispredicted, taken],
            Some(mispredicted) => [1, mispredicted],
        }
    }

    /// Stall of a dependent instruction right after this one.
    pub fn use_stall_cycles(&self, code: Code) -> u32 {
        u32::from(match code.class() {
            TimingClass::Load => self.load_use,
            TimingClass::Multiply | TimingClass::MultiplyHigh => self.multiply_use,
            _ => 0,
        })
    }

    /// Passes one instruction through the pipeline (a branch as not taken), and updates the results under way.
    pub fn step(&self, instr: &Instr, pending: &mut Pending) -> Cost {
        let (stall_cycles, cycles) = (pending.stall_cycles(instr), self.issue_cycles(instr.op.code));
        pending.pass(stall_cycles + cycles);
        if instr.op.writes_rd() {
            pending.set(instr.op.rd, self.use_stall_cycles(instr.op.code));
        }
        match instr.op.code.class() {
            TimingClass::Jump | TimingClass::IndirectJump => {
                Cost { stall_cycles, issue_cycles: 1, refill_cycles: cycles - 1, ..Cost::default() }
            }
            _ => Cost { stall_cycles, issue_cycles: cycles, ..Cost::default() },
        }
    }
}

/// Results under way at an instruction boundary: up to two registers, and the cycles until each is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Pending {
    slots: [(u8, u8); 2],
}

impl isa::Pending for Pending {
    const NONE: Pending = Pending { slots: [(0, 0); 2] };
}

impl Pending {
    /// Cycles until the instruction's sources are ready.
    pub fn stall_cycles(&self, instr: &Instr) -> u32 {
        let waits = self.slots.iter().filter(|(register, ready)| *ready > 0 && instr.op.reads(*register));
        waits.map(|(_, ready)| u32::from(*ready)).max().unwrap_or(0)
    }

    /// Lets `cycles` pass.
    pub fn pass(&mut self, cycles: u32) {
        for (register, ready) in &mut self.slots {
            *ready = ready.saturating_sub(u8::try_from(cycles).unwrap_or(u8::MAX));
            if *ready == 0 {
                *register = 0;
            }
        }
    }

    /// `register` will be ready in `cycles`; this replaces the entry of another register that is ready sooner.
    pub fn set(&mut self, register: u8, cycles: u32) {
        self.clear(register);
        if cycles > 0 && register != 0 {
            let slot = usize::from(self.slots[1].1 < self.slots[0].1);
            self.slots[slot] = (register, u8::try_from(cycles).unwrap_or(u8::MAX));
        }
    }

    fn clear(&mut self, register: u8) {
        for slot in self.slots.iter_mut().filter(|slot| slot.0 == register) {
            *slot = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::Op;
    use super::*;
    use crate::cpu::isa::Pending as _;

    pub fn table() -> CoreTiming {
        CoreTiming {
            load_use: 2,
            multiply_use: 2,
            multiply: 1,
            divide: 34,
            taken_branch: 3,
            mispredicted_branch: None,
            jump: 3,
            indirect_jump: 3,
            csr: 1,
            trap: 5,
            mret: 5,
            fence_i: 3,
        }
    }

    fn instr(code: Code, rd: u8, rs1: u8, rs2: u8) -> Instr {
        Instr { op: Op { code, rd, rs1, rs2, imm: 0 }, len_bytes: 4 }
    }

    fn total(program: &[Instr]) -> u32 {
        let mut pending = Pending::NONE;
        let costs = program.iter().map(|instr| table().step(instr, &mut pending));
        costs.map(Cost::cycles).sum()
    }

    #[test]
    fn a_dependent_instruction_waits_for_a_load_and_a_later_one_less() {
        let load = instr(Code::Lw, 5, 2, 0);
        let uses = instr(Code::Addi, 6, 5, 0);
        let other = instr(Code::Addi, 7, 8, 0);
        assert_eq!(total(&[load, uses]), 1 + 2 + 1);
        assert_eq!(total(&[load, other, uses]), 1 + 1 + 1 + 1);
        assert_eq!(total(&[load, other, other, uses]), 4);
    }

    #[test]
    fn two_loads_in_flight_are_both_waited_for() {
        let first = instr(Code::Lw, 5, 2, 0);
        let second = instr(Code::Lw, 6, 2, 0);
        let sum = instr(Code::Add, 7, 5, 6);
        assert_eq!(total(&[first, second, sum]), 1 + 1 + 2 + 1);
    }

    #[test]
    fn a_branch_costs_by_its_way_and_its_prediction() {
        assert_eq!((table().branch_cycles(true), table().branch_cycles(false)), ([1, 3], [1, 3]));
        let predicted = CoreTiming { taken_branch: 2, mispredicted_branch: Some(4), ..table() };
        assert_eq!((predicted.branch_cycles(true), predicted.branch_cycles(false)), ([4, 2], [1, 4]));
    }

    #[test]
    fn a_result_for_x0_holds_nobody_up() {
        assert_eq!(total(&[instr(Code::Lw, 0, 2, 0), instr(Code::Addi, 6, 0, 0)]), 2);
    }

    #[test]
    fn a_division_occupies_the_pipeline() {
        assert_eq!(total(&[instr(Code::Divu, 5, 6, 7), instr(Code::Addi, 6, 5, 0)]), 34 + 1);
    }
}
