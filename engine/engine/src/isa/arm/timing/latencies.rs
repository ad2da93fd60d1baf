//! When results can be read, by the kind of their producer and the way that they are read: a table of stalls of an
//! instruction right after the producer.
//!
//! An instruction reads an operand in the arithmetic stage, a stage earlier if it shifts it or makes an address of it,
//! or, in some cores, multiplies it; a multiplication adds what it accumulates later, where the multiplier hands it on.
//! A long multiplication of several cycles has the low word after its first one, the high word after its last.

use super::{CoreTiming, Pending, cycles};
use crate::dt::reader::NodeReader;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::{Code, Instr, Media as MediaOp, Op, TimingClass};
use crate::isa::arm::registers::{PC, RegisterSet, one};
use crate::state::{Fresh, State};

/// Stalls and cycles that depend on more of an instruction than its [`TimingClass`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Latencies {
    /// Stall of an instruction right after a shift (a move of a shifted register) whose result it uses.
    pub shift_use: u8,
    /// The same after clz, rbit, rev, and moves of bit fields.
    pub bits_use: u8,
    /// Stall of a multiplication right after one whose result it accumulates.
    pub accumulate_use: u8,
    /// Factors are read as early as shifted operands.
    pub early_factors: bool,
    /// Cycles of umaal, which adds twice.
    pub double_accumulate: u8,
}

impl Latencies {
    /// Reads them from a `cpu` node. What it has not is as in a core of one arithmetic stage; `multiply_use` and
    /// `multiply_long` are the properties of that name.
    pub fn from_node(reader: &mut NodeReader, multiply_use: u8, multiply_long: u8) -> Latencies {
        let mut given = |name: &str, least: u8, otherwise: u8, meaning: &str| {
            let read = |reader: &mut NodeReader| cycles(reader, name, least, meaning);
            reader.given(&format!("cyclescope,{name}-cycles"), read).unwrap_or(otherwise)
        };
        Latencies {
            shift_use: given("shift-use", 0, 0, "stall of an instruction right after a shift that it depends on"),
            bits_use: given(
                "bits-use",
                0,
                0,
                "stall of an instruction right after clz, rbit, rev or a bit field's move that it depends on",
            ),
            accumulate_use: given(
                "accumulate-use",
                0,
                multiply_use,
                "stall of a multiplication right after one whose result it accumulates",
            ),
            double_accumulate: given("double-accumulate", 1, multiply_long, "cycles of umaal"),
            early_factors: reader.flag("cyclescope,early-factors", "factors are read as early as shifted operands"),
        }
    }
}

/// What a producer does, beyond its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// As its class says.
    #[default]
    Usual,
    /// A move of a shifted register.
    Shift,
    /// clz, rbit, rev, and moves of bit fields.
    Bits,
    /// umaal.
    DoubleAccumulate,
}

/// How an instruction reads its operands and makes its results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dataflow {
    /// What it does.
    pub kind: Kind,
    /// Registers that it accumulates.
    pub accumulates: RegisterSet,
    /// The register of the low word of a long product.
    pub low: RegisterSet,
}

impl Dataflow {
    /// That of an instruction with these micro-operations.
    pub fn of(ops: &[Op]) -> Dataflow {
        ops.iter().map(Dataflow::of_op).find(|flow| *flow != Dataflow::default()).unwrap_or_default()
    }

    fn of_op(op: &Op) -> Dataflow {
        use Code::*;
        let registers = |set: RegisterSet| set & ((1 << PC) - 1);
        let both = registers(one(op.rd) | one(op.ra));
        let product = |kind, accumulates, low| Dataflow { kind, accumulates, low };
        match op.code {
            Mla | Mls => product(Kind::Usual, registers(one(op.ra)), 0),
            Umull | Smull => product(Kind::Usual, 0, one(op.rd)),
            Umlal | Smlal => product(Kind::Usual, both, one(op.rd)),
            Umaal => product(Kind::DoubleAccumulate, both, one(op.rd)),
            Media => match MediaOp::of(op.imm).class() {
                TimingClass::Multiply => product(Kind::Usual, registers(one(op.ra)), 0),
                TimingClass::MultiplyLong => product(Kind::Usual, both, one(op.rd)),
                _ => Dataflow::default(),
            },
            Clz | Rbit | Rev | Rev16 | Revsh | Sbfx | Ubfx | Bfi => product(Kind::Bits, 0, 0),
            code if (LslImm..=RorRegs).contains(&code) && registers(one(op.rd)) != 0 => product(Kind::Shift, 0, 0),
            _ => Dataflow::default(),
        }
    }
}

/// Waits for a result: to read it as usual, early, and to accumulate it.
pub type Waits = [u8; 3];

impl CoreTiming {
    /// Registers that an instruction reads early. A move of a shifted register reads it as usual, and has its result
    /// later instead.
    pub(super) fn reads_early(&self, instr: &Instr, flow: Dataflow) -> RegisterSet {
        match instr.class {
            TimingClass::Multiply | TimingClass::MultiplyLong if self.latencies.early_factors => {
                instr.reads & !flow.accumulates
            }
            TimingClass::AluShift | TimingClass::AluShiftRegister if flow.kind == Kind::Shift => 0,
            _ => instr.reads_early,
        }
    }

    /// Cycles until the instruction's sources are ready.
    pub(super) fn operand_stall_cycles(&self, decoded: &Decoded, pending: &Pending) -> u32 {
        let (instr, flow) = (&decoded.instr, decoded.flow_of_data);
        let early = self.reads_early(instr, flow);
        let usual = pending.latest_of(instr.reads & !early & !flow.accumulates, pending.ready);
        let accumulated = pending.latest_of(flow.accumulates, pending.accumulated);
        usual.max(accumulated).max(pending.latest_of(early, pending.early))
    }

    /// Cycles that an instruction occupies the pipeline for.
    pub(super) fn occupied_cycles(&self, decoded: &Decoded) -> u32 {
        match decoded.flow_of_data.kind {
            Kind::DoubleAccumulate => u32::from(self.latencies.double_accumulate.max(1)),
            _ => self.issue_cycles(&decoded.instr),
        }
    }

    /// Notes the results of an instruction that has just issued, for `issue_cycles`.
    pub(super) fn make_results(&self, decoded: &Decoded, issue_cycles: u32, pending: &mut Pending) {
        use TimingClass::*;
        let (instr, flow, table) = (&decoded.instr, decoded.flow_of_data, &self.latencies);
        let made = instr.writes & !decoded.loaded;
        let stall = match (instr.class, flow.kind) {
            (_, Kind::Shift) => table.shift_use,
            (_, Kind::Bits) => table.bits_use,
            (Multiply | MultiplyLong | Media | Divide, _) => self.multiply_use,
            (VfpMove | VfpMoveTwo | VfpAdd, _) => self.vfp_move_use,
            _ => 0,
        };
        let accumulated = if matches!(instr.class, Multiply | MultiplyLong) { table.accumulate_use } else { stall };
        let waits = [stall, stall.saturating_add(self.early_use), accumulated];
        pending.set_results(made, waits);
        let passed = (issue_cycles.max(1) - 1).min(255) as u8;
        pending.set_results(made & flow.low, waits.map(|wait| wait.saturating_sub(passed)));
        let load = self.load_use;
        pending.set_results(decoded.loaded, [load, load.saturating_add(self.early_use), load]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decoded, instr, table};
    use super::*;
    use crate::isa::arm::registers::{OPERAND, SINK, ZERO};

    const fn op(code: Code, [rd, rn, rm, ra]: [u8; 4]) -> Op {
        Op { code, rd, rn, rm, ra, imm: 0 }
    }

    /// An instruction of this class from one micro-operation, with its registers.
    fn made(class: TimingClass, code: Code, registers: [u8; 4], reads: &[u8], writes: &[u8]) -> Decoded {
        let set = |numbers: &[u8]| numbers.iter().fold(0, |set, number| set | one(*number));
        let flow_of_data = Dataflow::of(&[op(code, registers)]);
        Decoded { flow_of_data, ..decoded(instr(class, set(writes), set(reads)), 0) }
    }

    fn add(to: u8, from: u8) -> Decoded {
        made(TimingClass::Alu, Code::Add, [to, from, ZERO, 0], &[from], &[to])
    }

    fn mul(to: u8, from: u8) -> Decoded {
        made(TimingClass::Multiply, Code::Mul, [to, from, 9, 0], &[from, 9], &[to])
    }

    fn mla(to: u8, accumulated: u8) -> Decoded {
        made(TimingClass::Multiply, Code::Mla, [to, 8, 9, accumulated], &[8, 9, accumulated], &[to])
    }

    fn total(latencies: Latencies, multiply_long: u8, program: &[Decoded]) -> u32 {
        let table = CoreTiming { latencies, multiply_long, ..table() };
        let mut pending = Pending::NONE;
        program.iter().map(|decoded| table.step(decoded, &mut pending).cycles()).sum()
    }

    fn a5(program: &[Decoded]) -> u32 {
        let latencies = Latencies { shift_use: 1, accumulate_use: 1, double_accumulate: 2, ..Latencies::default() };
        total(latencies, 2, program)
    }

    fn a7(program: &[Decoded]) -> u32 {
        let latencies =
            Latencies { shift_use: 1, bits_use: 1, accumulate_use: 0, early_factors: true, double_accumulate: 2 };
        total(latencies, 1, program)
    }

    #[test]
    fn results_of_shifts_and_bits_come_a_cycle_later() {
        let shift = made(TimingClass::AluShift, Code::LslImm, [1, 0, 2, 0], &[2], &[1]);
        let rbit = made(TimingClass::Alu, Code::Rbit, [1, 0, 2, 0], &[2], &[1]);
        assert_eq!(a5(&[shift, add(3, 1)]), 3);
        assert_eq!(a5(&[rbit, add(3, 1)]), 2);
        assert_eq!(a7(&[rbit, add(3, 1)]), 3);
    }

    #[test]
    fn a_move_of_a_shifted_register_reads_it_with_the_arithmetic() {
        let shifts = |rd: u8| {
            let mut shift = made(TimingClass::AluShift, Code::LslImm, [rd, 0, 2, 0], &[2], &[1]);
            shift.instr.reads_early = one(2);
            shift
        };
        assert_eq!(a5(&[add(2, 3), shifts(1)]), 2);
        assert_eq!(a5(&[add(2, 3), shifts(OPERAND)]), 3, "arithmetic with a shifted operand");
    }

    #[test]
    fn a_product_comes_later_to_a_factor_than_to_a_sum() {
        assert_eq!([a5(&[mul(1, 2), add(3, 1)]), a7(&[mul(1, 2), add(3, 1)])], [3, 3]);
        assert_eq!([a5(&[mul(1, 2), mul(3, 1)]), a7(&[mul(1, 2), mul(3, 1)])], [3, 4]);
        assert_eq!([a5(&[mul(1, 2), mla(1, 1)]), a7(&[mul(1, 2), mla(1, 1)])], [3, 2]);
        assert_eq!([a5(&[add(2, 3), mul(1, 2)]), a7(&[add(2, 3), mul(1, 2)])], [2, 3]);
    }

    #[test]
    fn a_long_product_has_its_low_word_first() {
        let umaal = made(TimingClass::MultiplyLong, Code::Umaal, [1, 8, 9, 2], &[1, 2, 8, 9], &[1, 2]);
        let store = |from: u8| made(TimingClass::Store, Code::Str, [from, 5, ZERO, 0], &[from], &[]);
        assert_eq!([a5(&[umaal, store(1)]), a5(&[umaal, store(2)])], [3, 4]);
        let umull = made(TimingClass::MultiplyLong, Code::Umull, [1, 8, 9, 2], &[8, 9], &[1, 2]);
        assert_eq!([a5(&[umull, add(3, 1)]), a5(&[umull, add(3, 2)]), a7(&[umull, add(3, 2)])], [3, 4, 3]);
    }

    #[test]
    fn a_loaded_value_is_shifted_a_cycle_later_than_added() {
        let load = Decoded { loaded: one(1), ..made(TimingClass::Load, Code::Ldr, [1, 5, ZERO, 0], &[5], &[1]) };
        let mut shifts = made(TimingClass::AluShift, Code::LslImm, [OPERAND, 0, 1, 0], &[1], &[3]);
        shifts.instr.reads_early = one(1);
        assert_eq!([a5(&[load, add(3, 1)]), a5(&[load, shifts])], [3, 4]);
    }

    #[test]
    fn only_moves_of_shifted_registers_are_shifts() {
        let kind = |code, rd| Dataflow::of(&[op(code, [rd, 0, 2, 0])]).kind;
        assert_eq!([kind(Code::LslImm, 1), kind(Code::RorRegs, 1)], [Kind::Shift; 2]);
        assert_eq!([kind(Code::LslImm, OPERAND), kind(Code::LslImms, SINK), kind(Code::Add, 1)], [Kind::Usual; 3]);
    }
}
