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
    /// Registers that an instruction reads early. A move of a shifted register reads it with the arithmetic, and has its
    /// result later instead.
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
