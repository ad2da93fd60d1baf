//! Time that instructions take without memory, by cause.

use crate::state::{Fresh, State};

/// Cost of one instruction, without memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles of waiting for operands.
    pub stall_cycles: u32,
    /// Cycles in the pipeline, including the first; 0 for an instruction that issued together with the previous one.
    pub issue_cycles: u32,
    /// Cycles of waiting for the target of a jump.
    pub refill_cycles: u32,
    /// State of the bus at its first access, where that matters.
    pub on_bus: OnBus,
    /// Its place in a row of loads that overlap, if they are of the same memory.
    pub in_row: InRow,
}

/// State of the data bus at an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBus {
    /// No access, an unknown state, or nothing to be granted.
    #[default]
    AsItIs,
    /// The access overlaps the previous one, or begins right after it.
    RightAfter,
    /// The access begins right after a store that found the bus idle: it waits for the port together with the store.
    AfterIdleStore,
    /// The bus is idle: a bus matrix may have to grant the port again.
    Idle,
}

/// Place of an access in a row of accesses that overlap if they are of the same memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InRow {
    /// It overlaps nothing, and nothing can overlap it.
    #[default]
    Alone,
    /// A load that the next access may overlap.
    First,
    /// It overlaps the load before it. If that is of another memory, it waits for these cycles.
    Next(u8),
}

impl Cost {
    /// All of its cycles.
    pub fn cycles(self) -> u32 {
        self.waits_cycles() + self.issue_cycles
    }

    /// Cycles before the instruction's own first cycle.
    pub fn waits_cycles(self) -> u32 {
        self.stall_cycles + self.refill_cycles
    }
}

/// Static cycles of a block by cause, and the number of its instructions that always run in the interpreter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Breakdown {
    /// One per instruction.
    pub issue: u64,
    /// Waiting for a result.
    pub operand_wait: u64,
    /// Further cycles of multiplications, load and store multiple, system instructions.
    pub long_operation: u64,
    /// Further cycles of taken branches.
    pub jump: u64,
    /// Instructions that are never compiled: see [`super::isa::Isa::is_never_compiled`].
    pub never_compiled: u64,
    /// The part of the waits for results and of the long operations that is due to accesses to memory: see
    /// [`super::isa::Isa::accesses_memory`].
    pub accesses: u64,
}

/// Properties of an instruction beside its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// [`super::isa::Isa::is_never_compiled`].
    pub never_compiled: bool,
    /// [`super::isa::Isa::accesses_memory`].
    pub accesses: bool,
}

impl Breakdown {
    /// Adds the cost of an instruction with these properties.
    pub fn add(&mut self, cost: Cost, sort: Sort) {
        self.issue += u64::from(cost.issue_cycles.min(1));
        self.operand_wait += u64::from(cost.stall_cycles);
        self.long_operation += u64::from(cost.issue_cycles.saturating_sub(1));
        self.jump += u64::from(cost.refill_cycles);
        self.never_compiled += u64::from(sort.never_compiled);
        if sort.accesses {
            self.accesses += u64::from(cost.stall_cycles) + u64::from(cost.issue_cycles.saturating_sub(1));
        }
    }

    /// Adds the difference between two moments, `times` times.
    pub fn add_difference(&mut self, to: Breakdown, from: Breakdown, times: u64) {
        self.issue += times * (to.issue - from.issue);
        self.operand_wait += times * (to.operand_wait - from.operand_wait);
        self.long_operation += times * (to.long_operation - from.long_operation);
        self.jump += times * (to.jump - from.jump);
        self.never_compiled += times * (to.never_compiled - from.never_compiled);
        self.accesses += times * (to.accesses - from.accesses);
    }

    /// Adds `times` runs of a block.
    pub fn add_runs(&mut self, block: Breakdown, times: u64) {
        self.add_difference(block, Breakdown::default(), times);
    }

    /// Subtracts a part that was added.
    pub fn remove(&mut self, part: Breakdown) {
        self.issue -= part.issue;
        self.operand_wait -= part.operand_wait;
        self.long_operation -= part.long_operation;
        self.jump -= part.jump;
        self.never_compiled -= part.never_compiled;
        self.accesses -= part.accesses;
    }

    /// All cycles.
    pub fn cycles(self) -> u64 {
        self.issue + self.operand_wait + self.long_operation + self.jump
    }
}
