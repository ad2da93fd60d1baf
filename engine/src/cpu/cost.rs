//! Time that instructions take by themselves, by cause.

use crate::state::{Fresh, State};

/// What one instruction cost, without memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Waiting for operands.
    pub stall_cycles: u32,
    /// In the pipeline, the first cycle included; 0 for an instruction that went with the one before it.
    pub issue_cycles: u32,
    /// Waiting for what was jumped to.
    pub refill_cycles: u32,
    /// How its first access finds the bus, where that matters.
    pub on_bus: OnBus,
}

/// How an access finds the bus of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBus {
    /// There is no access, it is not known, or nothing has to be granted: the bus has the address of a store that came
    /// before.
    #[default]
    AsItIs,
    /// It goes along with the access before, or begins right behind that.
    RightAfter,
    /// It begins right after a store that found the bus idle: it waits with that for the port.
    AfterIdleStore,
    /// Idle: a bus matrix may have to grant the port anew.
    Idle,
}

impl Cost {
    /// All of it.
    pub fn cycles(self) -> u32 {
        self.waits_cycles() + self.issue_cycles
    }

    /// What comes before the instruction's own first cycle.
    pub fn waits_cycles(self) -> u32 {
        self.stall_cycles + self.refill_cycles
    }
}

/// Static cycles of a block by cause, and how many of its instructions are the interpreter's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Breakdown {
    /// One an instruction.
    pub issue: u64,
    /// Waiting for a result.
    pub operand_wait: u64,
    /// Further cycles of multiplications, load and store multiple, system instructions.
    pub long_operation: u64,
    /// Further cycles of taken branches.
    pub jump: u64,
    /// Instructions that are never compiled: see [`super::isa::Isa::is_never_compiled`].
    pub never_compiled: u64,
    /// What of waits for results and of long operations is that of accesses to memory: see
    /// [`super::isa::Isa::accesses_memory`].
    pub accesses: u64,
}

/// What there is to know of an instruction beside its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// [`super::isa::Isa::is_never_compiled`].
    pub never_compiled: bool,
    /// [`super::isa::Isa::accesses_memory`].
    pub accesses: bool,
}

impl Breakdown {
    /// Adds what an instruction of a sort cost.
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

    /// Adds what came between two moments, `times` times.
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

    /// Takes back what was added.
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
