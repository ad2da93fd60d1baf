//! Reads of a device that are all alike, and that compiled code therefore does without a call: fetches of instructions
//! from a flash in place.
//!
//! The device says when such reads can follow, and is told of them when it is called the next time. Till then it looks
//! as if they had not been.

use crate::state::{Fresh, State};

/// Such reads of a device.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Bytes of a read.
    pub bytes: u32,
    /// Edges of the device's clock from a request's arrival until it can begin.
    pub before_cycles: u64,
    /// From when the device is free for the next one to the answer, which may come before.
    pub after_cycles: i64,
    /// Address of the [`Tally`], which stays where it is.
    pub tally: usize,
}

/// What both sides tell each other.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
#[repr(C)]
pub struct Tally {
    /// 1 as long as reads are alike.
    pub holds: u64,
    /// The edge of the device's clock up to which it is busy.
    pub free_edge: u64,
    /// How long it is busy with each read.
    pub busy_cycles: u64,
    /// Reads that the device has not been told of.
    pub reads: u64,
    /// Offset of the last of them.
    pub last: u64,
}
