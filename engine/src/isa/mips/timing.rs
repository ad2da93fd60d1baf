//! What instructions cost a core that issues one a cycle, in order, and waits: a table of a few numbers.
//!
//! Memory adds its own costs, as they arise, and so does what the branch predictor got wrong.

use crate::board::reader::NodeReader;

/// The timing table of a core, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreTiming {
    /// Stall of an instruction right behind a load whose result it uses.
    pub load_use: u8,
    /// A multiplication, up to when the multiplier takes the next one.
    pub multiply: u8,
    /// Stall of an instruction right behind a multiplication whose result it uses, from HI and LO too.
    pub multiply_use: u8,
    /// A division, up to its result and to when the unit takes the next operation. Instructions behind it that don't use it go on.
    pub divide: u8,
    /// mfc0, mtc0 and the TLB's instructions.
    pub coprocessor: u8,
    /// sync, with nothing to wait for.
    pub barrier: u8,
    /// Entry to an exception or interrupt, until the handler's first instruction issues.
    pub exception: u8,
    /// eret.
    pub exception_return: u8,
    /// A branch or jump that was taken, and predicted so; 1 where it costs no more than others.
    pub taken_branch: u8,
    /// Further cycles of a direct jump that was not predicted: its target is known when it is decoded.
    pub unpredicted_jump: u8,
    /// Further cycles of a branch or an indirect jump that was predicted wrongly.
    pub mispredicted_branch: u8,
}

impl CoreTiming {
    /// Reads the table from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader) -> CoreTiming {
        let mut cycles = |name: &str, least: u8, meaning: &str| {
            reader.instruction_cycles(&format!("cyclescope,{name}-cycles"), least, meaning)
        };
        CoreTiming {
            load_use: cycles("load-use", 0, "stall of an instruction right behind a load that it depends on"),
            multiply: cycles("multiply", 1, "cycles from a multiplication to when the next can begin"),
            multiply_use: cycles("multiply-use", 0, "stall of an instruction right behind a multiplication"),
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
}
