//! Repeated reads of a device that all take the same path, so compiled code does them without a call: fetches of
//! instructions from a flash in place.
//!
//! The device offers such reads, and compiled code counts them in a record that both share. The device catches up with
//! the record at the start of its next call; until then its state does not include these reads.

use crate::state::{Fresh, State};

/// Timing of repeated reads of a device.
#[derive(Clone, Copy, Debug)]
pub struct RepeatedReads {
    /// Bytes of a read.
    pub bytes: u32,
    /// Edges of the device's clock from a request's arrival until the read can begin.
    pub before_cycles: u64,
    /// Edges from the time at which the device is free for the next read to the answer, which may come before that
    /// time.
    pub after_cycles: i64,
    /// Address of the [`ReadRecord`], which does not move.
    pub record: usize,
}

/// The record of repeated reads that the device and compiled code share.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
#[repr(C)]
pub struct ReadRecord {
    /// 1 while repeated reads are possible.
    pub holds: u64,
    /// The edge of the device's clock up to which it is busy.
    pub free_edge: u64,
    /// How long each read keeps it busy.
    pub busy_cycles: u64,
    /// Reads that the device has not taken into account yet.
    pub reads: u64,
    /// Offset of the last one.
    pub last: u64,
}
