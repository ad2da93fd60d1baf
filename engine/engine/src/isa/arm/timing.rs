//! Costs of instructions in an in-order core that issues one instruction per cycle and waits for results: a table of a
//! few numbers for both instruction sets.
//!
//! A direct branch may issue together with the previous instruction. Memory and mispredictions add their own costs when
//! they occur.

use super::decoded::Decoded;
use super::op::{Instr, TimingClass};
use super::registers::{FLAGS, PC, RegisterSet};
use crate::cpu::cost::Cost;
use crate::cpu::isa;
use crate::dt::reader::NodeReader;
use crate::state::{Fresh, State};

mod division;
mod latencies;
mod pairs;
mod three_stage;

pub use division::EarlyDivision;
pub use latencies::{Dataflow, Latencies};
pub use three_stage::{FloatingUses, FrontEnd, ThreeStage, accesses};

/// Longest computed time of an instruction: the times of a block together have to fit 16 bits.
const LONGEST_INSTRUCTION_CYCLES: u32 = 1000;

/// The timing table of a core, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct CoreTiming {
    /// Stall of an instruction right after one whose arithmetic result it needs early: shifted, or for an address.
    pub early_use: u8,
    /// Stall of an instruction right after a load whose result it uses.
    pub load_use: u8,
    /// Stall of an instruction right after a multiplication whose result it uses.
    pub multiply_use: u8,
    /// Stall of an instruction right after one that moves or compares VFP registers, and whose result in a general
    /// register or the flags it uses.
    pub vfp_move_use: u8,
    /// An operand shifted by a register.
    pub register_shift: u8,
    /// A multiplication with a result of 32 bits.
    pub multiply: u8,
    /// A multiplication with a result of 64 bits.
    pub multiply_long: u8,
    /// A division; 0 in a core without division, or with divisions that end early.
    pub divide: u8,
    /// Divisions that end early.
    pub early_division: Option<EarlyDivision>,
    /// Each step of a load or store multiple.
    pub multiple_word: u8,
    /// Words of such a step.
    pub transfer_words: u8,
    /// mrs, msr, cps.
    pub status: u8,
    /// mrc, mcr.
    pub coprocessor: u8,
    /// A barrier, with nothing to wait for.
    pub barrier: u8,
    /// Entry to an exception or interrupt, until the handler's first instruction issues.
    pub exception: u8,
    /// Return from an exception.
    pub exception_return: u8,
    /// A taken branch with a predicted target; 1 where a taken branch costs no more than others.
    pub taken_branch: u8,
    /// Further cycles of a branch that was mispredicted, or not predicted: the pipeline is refilled.
    pub mispredicted_branch: u8,
    /// A direct branch issues together with the previous instruction.
    pub dual_issue: bool,
    /// Arithmetic with one register operand does, too, but neither with an instruction that needs both issue slots.
    pub dual_issue_immediates: bool,
    /// Further latencies of results.
    pub latencies: Latencies,
    /// The table of a core of three stages.
    pub three_stage: Option<ThreeStage>,
    /// VFP additions, comparisons, conversions.
    pub vfp_add: u8,
    /// VFP multiplications.
    pub vfp_multiply: u8,
    /// VFP multiplications that accumulate.
    pub vfp_multiply_add: u8,
    /// VFP divisions and square roots, single precision.
    pub vfp_divide_single: u8,
    /// VFP divisions and square roots, double precision.
    pub vfp_divide_double: u8,
}

/// Reads the cycles of an instruction, at least `least`, from the property with this name between prefix and unit.
fn cycles(reader: &mut NodeReader, name: &str, least: u8, meaning: &str) -> u8 {
    reader.instruction_cycles(&format!("cyclescope,{name}-cycles"), least, meaning)
}

/// Condition of the properties for floating-point instructions.
pub const HAS_FPU: &str = "`cyclescope,fpu` is not \"none\"";

impl CoreTiming {
    /// Reads the table from a `cpu` node; `divide` and `vfp` say whether the core has these instructions.
    pub fn from_node(reader: &mut NodeReader, divide: bool, vfp: bool) -> CoreTiming {
        let dual_issue = reader
            .flag("cyclescope,dual-issue-branches", "a direct branch issues in the cycle of the instruction before it");
        let dual_issue_immediates = reader.flag(
            "cyclescope,dual-issue-immediates",
            "arithmetic with one register operand issues in the cycle of the instruction before it, where that leaves \
             it room",
        );
        let transfer_words = pairs::read_transfer_words(reader);
        let mut table = CoreTiming {
            dual_issue,
            dual_issue_immediates,
            transfer_words,
            early_use: cycles(
                reader,
                "early-use",
                0,
                "stall of an instruction right after a result that it shifts or addresses with",
            ),
            load_use: cycles(reader, "load-use", 0, "stall of an instruction right after a load that it depends on"),
            multiply_use: cycles(reader, "multiply-use", 0, "stall of an instruction right after a multiplication"),
            register_shift: cycles(reader, "register-shift", 1, "cycles of an instruction that shifts by a register"),
            multiply: cycles(reader, "multiply", 1, "cycles of a multiplication"),
            multiply_long: cycles(reader, "multiply-long", 1, "cycles of a multiplication with a 64-bit result"),
            multiple_word: cycles(reader, "multiple-word", 1, "cycles of each step of a load or store of several"),
            status: cycles(reader, "status", 1, "cycles of mrs, msr and cps"),
            coprocessor: cycles(reader, "coprocessor", 1, "cycles of mrc and mcr"),
            barrier: cycles(reader, "barrier", 1, "cycles of a barrier with nothing to wait for"),
            exception: cycles(reader, "exception", 0, "cycles from an exception or interrupt to the handler"),
            exception_return: cycles(reader, "exception-return", 1, "cycles of a return from an exception"),
            taken_branch: cycles(reader, "taken-branch", 1, "cycles of a taken branch that was predicted"),
            mispredicted_branch: cycles(
                reader,
                "mispredicted-branch",
                0,
                "further cycles of a branch that was not predicted, or wrongly",
            ),
            ..CoreTiming::default()
        };
        table.latencies = Latencies::from_node(reader, table.multiply_use, table.multiply_long);
        if divide {
            table.divide = cycles(reader, "divide", 1, "cycles of a division");
        }
        reader.only_if(vfp, HAS_FPU, |reader| {
            table.vfp_move_use =
                cycles(reader, "vfp-move-use", 0, "stall of an instruction right after a move from a VFP register");
            table.read_vfp(reader, "cycles of a single VFP division or square root");
            table.vfp_divide_double =
                cycles(reader, "vfp-divide-double", 1, "cycles of a double VFP division or square root");
        });
        table
    }

    /// Reads the table of a Cortex-M4, most of whose instructions take one cycle.
    pub fn cortex_m4(reader: &mut NodeReader, vfp: bool) -> CoreTiming {
        let three_stage = Some(ThreeStage::from_node(reader, vfp));
        let division = EarlyDivision::from_node(reader);
        let mut table = CoreTiming {
            three_stage,
            early_division: Some(division),
            multiple_word: 1,
            status: cycles(reader, "status", 1, "cycles of mrs, msr and cps"),
            barrier: cycles(reader, "barrier", 1, "cycles of a barrier with nothing to wait for"),
            exception: cycles(reader, "exception", 1, "cycles from an exception or interrupt to the handler"),
            exception_return: cycles(reader, "exception-return", 1, "cycles of a return from an exception"),
            taken_branch: cycles(reader, "taken-branch", 1, "cycles of a taken branch to a fixed address"),
            ..CoreTiming::default()
        };
        reader.only_if(vfp, HAS_FPU, |reader| table.read_vfp(reader, "cycles of a VFP division or square root"));
        table
    }

    /// Reads the cycles of VFP instructions of single precision; `divide_meaning` is the meaning of a division's
    /// property.
    fn read_vfp(&mut self, reader: &mut NodeReader, divide_meaning: &str) {
        self.vfp_add = cycles(reader, "vfp-add", 1, "cycles of a VFP addition, comparison or conversion");
        self.vfp_multiply = cycles(reader, "vfp-multiply", 1, "cycles of a VFP multiplication");
        self.vfp_multiply_add =
            cycles(reader, "vfp-multiply-add", 1, "cycles of a VFP multiplication that accumulates");
        self.vfp_divide_single = cycles(reader, "vfp-divide-single", 1, divide_meaning);
    }

    /// Cycles that an instruction occupies the pipeline for, at least 1. A branch counts as not taken.
    pub fn issue_cycles(&self, instr: &Instr) -> u32 {
        use TimingClass::*;
        let steps = u32::from(instr.words.div_ceil(self.transfer_words.max(1)));
        let words = u32::from(self.multiple_word) * steps;
        let cycles = match instr.class {
            AluShiftRegister => self.register_shift,
            Multiply => self.multiply,
            MultiplyLong => self.multiply_long,
            Divide => match &self.early_division {
                Some(division) => return division.most_cycles(),
                None => self.divide,
            },
            Status => self.status,
            Coprocessor => self.coprocessor,
            Barrier | InstructionBarrier => self.barrier,
            Exception => self.exception_return,
            VfpAdd => self.vfp_add,
            VfpMultiply => self.vfp_multiply,
            VfpMultiplyAdd => self.vfp_multiply_add,
            VfpDivide32 => self.vfp_divide_single,
            VfpDivide64 => self.vfp_divide_double,
            LoadMultiple | StoreMultiple | VfpLoad | VfpStore | IndirectBranch | TableBranch => {
                return words.clamp(1, LONGEST_INSTRUCTION_CYCLES);
            }
            Alu | AluShift | Media | Load | Store | IfThen | Branch | Hint | Exclusive | VfpMove | VfpMoveTwo => 1,
        };
        u32::from(cycles.max(1))
    }

    /// Jumps, for which `cycles` pass.
    pub fn jump(&self, pending: &mut Pending, cycles: u32) {
        pending.jump(cycles);
        if let Some(stages) = &self.three_stage {
            stages.jump(&mut pending.stages, cycles);
        }
    }

    /// Further cycles of a jump, with the results under way before it.
    pub fn refill_cycles(&self, instr: &Instr, before: &Pending) -> u32 {
        match &self.three_stage {
            Some(stages) => stages.refill_cycles(self, instr, before),
            None => u32::from(self.taken_branch.max(1)) - 1,
        }
    }

    /// Passes one instruction through the pipeline (a branch as not taken), and updates the results under way.
    pub fn step(&self, decoded: &Decoded, pending: &mut Pending) -> Cost {
        if let Some(stages) = &self.three_stage {
            return stages.step(self, decoded, pending);
        }
        let instr = &decoded.instr;
        let stall_cycles = self.operand_stall_cycles(decoded, pending);
        let alone_cycles = self.occupied_cycles(decoded);
        let joins = stall_cycles == 0 && self.may_join(decoded, pending);
        let issue_cycles = if joins { 0 } else { alone_cycles };
        pending.pass(stall_cycles);
        let busy = pending.busy();
        pending.pass(issue_cycles);
        self.make_results(decoded, issue_cycles, pending);
        pending.go_alone();
        if !joins && alone_cycles == 1 {
            self.lead(instr, busy, pending);
        }
        Cost { stall_cycles, issue_cycles, ..Cost::default() }
    }
}

/// Results under way at an instruction boundary: the cycles until each register can be read as usual, early, and to be
/// accumulated. The flags have the number of the program counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Pending {
    /// Four bits per register.
    ready: u64,
    early: u64,
    accumulated: u64,
    /// The last instruction would have issued with a branch.
    pairs: bool,
    /// Or with arithmetic that needs nothing of `busy`.
    takes_arithmetic: bool,
    busy: pairs::Busy,
    /// Further state of a core of three stages.
    stages: three_stage::State,
}

/// Longest wait that can be stored.
const LONGEST_CYCLES: u32 = 15;

impl isa::Pending for Pending {
    const NONE: Pending = Pending::NONE;
}

impl Pending {
    /// Nothing under way.
    pub const NONE: Pending = Pending {
        ready: 0,
        early: 0,
        accumulated: 0,
        pairs: false,
        takes_arithmetic: false,
        busy: [0; 2],
        stages: three_stage::State::NONE,
    };

    /// Lets `cycles` pass.
    fn pass(&mut self, cycles: u32) {
        if self.ready | self.early | self.accumulated != 0 {
            let passed = |waits: u64| {
                let left = |at: u32| (waits >> at & 15).saturating_sub(u64::from(cycles)) << at;
                (0..16).fold(0, |sum, register| sum | left(4 * register))
            };
            (self.ready, self.early) = (passed(self.ready), passed(self.early));
            self.accumulated = passed(self.accumulated);
        }
    }

    /// Updates the state after a wait for the next instruction: all results have arrived meanwhile, except those of a
    /// division in parallel.
    pub fn wait(&mut self, cycles: u64) {
        let stages = self.stages.waited(u32::try_from(cycles).unwrap_or(u32::MAX));
        *self = Pending { stages, ..Pending::NONE };
    }

    /// Updates the state after a taken branch: no instruction issues with it, and `cycles` pass.
    pub fn jump(&mut self, cycles: u32) {
        self.pass(cycles);
        self.go_alone();
    }

    /// No instruction issues with the last one.
    fn go_alone(&mut self) {
        (self.pairs, self.takes_arithmetic, self.busy) = (false, false, [0; 2]);
    }

    /// The longest wait of a register of the set.
    fn latest_of(&self, set: RegisterSet, waits: u64) -> u32 {
        if waits == 0 {
            return 0;
        }
        registers(set).map(|register| waits >> (4 * register) & 15).max().unwrap_or(0) as u32
    }

    /// Sets the cycles until the registers are ready, as usual, for early readers, and to be accumulated.
    fn set_results(&mut self, set: RegisterSet, [ready, early, accumulated]: latencies::Waits) {
        self.set(set, [ready, early]);
        for register in registers(set) {
            let wait = u64::from(u32::from(accumulated).min(LONGEST_CYCLES));
            self.accumulated = self.accumulated & !(15 << (4 * register)) | wait << (4 * register);
        }
    }

    /// Sets the cycles until the registers are ready, as usual and for early readers.
    fn set(&mut self, set: RegisterSet, [ready, early]: [u8; 2]) {
        let wait = |cycles: u8| u64::from(u32::from(cycles).min(LONGEST_CYCLES));
        for register in registers(set) {
            let mask = !(15 << (4 * register));
            self.ready = self.ready & mask | wait(ready) << (4 * register);
            self.early = self.early & mask | wait(early) << (4 * register);
        }
    }
}

/// The registers of a set; the flags are number 15.
fn registers(set: RegisterSet) -> impl Iterator<Item = u32> {
    let set = set & ((1 << PC) - 1) | u32::from(set & FLAGS != 0) << PC;
    (0..16).filter(move |register| set >> register & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn table() -> CoreTiming {
        CoreTiming {
            early_use: 1,
            load_use: 1,
            multiply_use: 1,
            register_shift: 2,
            multiply: 1,
            multiple_word: 1,
            dual_issue: true,
            ..CoreTiming::default()
        }
    }

    pub(super) fn instr(class: TimingClass, writes: RegisterSet, reads: RegisterSet) -> Instr {
        Instr { len_bytes: 4, class, reads, reads_early: 0, writes, words: 0, ends_block: false }
    }

    pub(super) fn decoded(instr: Instr, loaded: RegisterSet) -> Decoded {
        Decoded {
            instr,
            loaded,
            it: 0,
            in_upper_half: false,
            is_nop: false,
            on_system_bus: false,
            floating: FloatingUses::default(),
            flow_of_data: Dataflow::default(),
            is_left: false,
        }
    }

    pub(super) fn total(program: &[(Instr, RegisterSet)]) -> u32 {
        let mut pending = Pending::NONE;
        let costs = program.iter().map(|(instr, loaded)| table().step(&decoded(*instr, *loaded), &mut pending));
        costs.map(Cost::cycles).sum()
    }

    #[test]
    fn a_dependent_instruction_waits_for_a_load_and_a_later_one_does_not() {
        let load = (instr(TimingClass::Load, 1, 4), 1);
        let uses = (instr(TimingClass::Alu, 2, 1), 0);
        let other = (instr(TimingClass::Alu, 8, 16), 0);
        assert_eq!(total(&[load, uses]), 3);
        assert_eq!(total(&[load, other, uses]), 3);
    }

    #[test]
    fn an_arithmetic_result_is_forwarded_but_not_to_shifters_and_addresses() {
        let sum = (instr(TimingClass::Alu, 1, 0), 0);
        let shifts = (Instr { reads_early: 1, ..instr(TimingClass::AluShift, 2, 1) }, 0);
        assert_eq!(total(&[sum, sum]), 2);
        assert_eq!(total(&[sum, shifts]), 3);
    }

    #[test]
    fn a_branch_goes_with_a_single_instruction_before_it() {
        let one = (instr(TimingClass::Alu, 1, 0), 0);
        let two = (instr(TimingClass::AluShiftRegister, 1, 0), 0);
        let branch = (instr(TimingClass::Branch, 0, 0), 0);
        assert_eq!(total(&[one, branch]), 1);
        assert_eq!(total(&[two, branch]), 3);
        assert_eq!(total(&[one, branch, branch]), 2);
    }

    #[test]
    fn several_words_take_a_cycle_each() {
        let multiple = (Instr { words: 5, ..instr(TimingClass::LoadMultiple, 0x1f, 0x20) }, 0x1f);
        assert_eq!(total(&[multiple]), 5);
        assert_eq!(total(&[multiple, (instr(TimingClass::Alu, 0x40, 0x10), 0)]), 7);
    }
}
