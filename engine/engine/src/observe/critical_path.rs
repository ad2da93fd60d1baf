//! The critical path through a run of several cores: which core delayed which.
//!
//! The path is defined backwards from the end of the run. It follows the core that ended the run; where that core slept
//! until a store of another core woke it, the path continues with the other core from that store on, and so on back to
//! time 0. So the path has each moment of the run once, as time of one core. The run was delayed by what that core
//! waited for, or by its own work.
//!
//! [`Paths`] keeps the path of every core as the run goes forward.

mod nodes;
mod path;
mod recorder;
#[cfg(test)]
mod tests;

pub use path::{Path, What};
pub use recorder::{Paths, Place};

use crate::time::Ps;

/// The row of a core's own work, with its accesses to memories and devices.
pub const WORK: &str = "CPU and accesses";

/// The critical path, as a user reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The parts of the path, the longest first: the times sum to the elapsed time.
    pub rows: Vec<PathRow>,
    /// Where the path changes from one core to another, in the order of the time for which the other core was delayed.
    pub hand_overs: Vec<HandOver>,
    /// Its longest stays on one core, in the order of time.
    pub stays: Vec<PathStay>,
}

/// A part of the path: all time of one core with one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The core.
    pub core: String,
    /// What it waited for, or [`WORK`].
    pub what: String,
    /// The time.
    pub time: Ps,
}

/// A core slept until another had it woken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The core that was waited for.
    pub from: String,
    /// The core that slept.
    pub to: String,
    /// The device that the first one stored to.
    pub device: String,
    /// The number of such hand-overs on the path.
    pub times: u64,
    /// How long the second core slept in total.
    pub held: Ps,
    /// The longest sleep.
    pub longest: Ps,
    /// When the longest sleep began.
    pub longest_from: Ps,
}

/// The path stays on one core for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStay {
    /// The core.
    pub core: String,
    /// When the stay begins.
    pub begin: Ps,
    /// When it ends.
    pub end: Ps,
    /// The cause that took most of it.
    pub mostly: String,
    /// The time of that cause.
    pub mostly_time: Ps,
}
