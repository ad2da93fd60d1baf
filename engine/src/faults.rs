//! Why a core can't go on, and the access that went wrong.

use crate::encoding::Encoding;
use crate::state::{Fresh, State};

/// A trap that no handler of the firmware's can take.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct CoreFault {
    /// Address of the instruction.
    pub pc: u32,
    /// What happened, in the instruction set's words.
    pub what: &'static str,
    /// The access that went wrong, if that was it.
    pub access: Option<FaultedAccess>,
    /// Encoding of the instruction, if that was it.
    pub encoding: Option<u32>,
    /// The instruction that the core had at `pc`, where it matters: how it is encoded, and its encoding.
    pub instruction: Option<(Encoding, u32)>,
    /// The cause in more words; may be empty.
    pub hint: &'static str,
    /// The link register, if the code at `pc` may be none and the user will ask where the core came from.
    pub link: Option<u32>,
    /// Why it could not be handled.
    pub why_fatal: &'static str,
    /// What the core's own fault registers say at the end, in words; may be empty.
    pub registers: String,
}

/// An access that got no answer, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct FaultedAccess {
    /// Its address.
    pub addr: u32,
    /// "4-byte load" and the like.
    pub kind: &'static str,
    /// What came back.
    pub answer: Answer,
}

impl FaultedAccess {
    /// The kind of an access for an instruction.
    pub const FETCH: &str = "instruction fetch";
}

/// Why an access was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Answer {
    /// The core takes no such address: it is no multiple of the access's size.
    Misaligned,
    /// The core's memory management refused it, under this name.
    Refused(&'static str),
    /// The bus answered with an error.
    Bus(BusFaultKind),
}

/// Why the bus answers with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum BusFaultKind {
    /// No map entry holds the address.
    Unmapped,
    /// The device answered with an error.
    Slave,
}
