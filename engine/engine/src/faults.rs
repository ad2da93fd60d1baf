//! Why a core can't continue, and the access that failed.

use crate::encoding::Encoding;
use crate::state::{Fresh, State};

/// A trap that no handler of the firmware can take.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct CoreFault {
    /// Address of the instruction.
    pub pc: u32,
    /// The fault, in the instruction set's terms.
    pub what: &'static str,
    /// The access that failed, if an access did.
    pub access: Option<FaultedAccess>,
    /// Encoding of the instruction, if that is the cause.
    pub encoding: Option<u32>,
    /// The instruction that the core had at `pc`, if it is relevant: its instruction set, and its encoding.
    pub instruction: Option<(Encoding, u32)>,
    /// The cause in more detail; may be empty.
    pub hint: &'static str,
    /// The link register, if `pc` may be no valid code, so that the caller is of interest.
    pub link: Option<u32>,
    /// Why it could not be handled.
    pub why_fatal: &'static str,
    /// The contents of the core's fault registers at the end, in words; may be empty.
    pub registers: String,
}

/// An access that got no answer, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct FaultedAccess {
    /// Its address.
    pub addr: u32,
    /// "4-byte load" and similar.
    pub kind: &'static str,
    /// The error.
    pub answer: Answer,
}

impl FaultedAccess {
    /// The kind of an instruction fetch.
    pub const FETCH: &str = "instruction fetch";
}

/// Why an access was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Answer {
    /// The address is not a multiple of the access's size, and the core does not allow that.
    Misaligned,
    /// The core's memory management refused it, with this name for the reason.
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
