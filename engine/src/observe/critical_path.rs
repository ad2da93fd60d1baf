//! The critical path through a run of several cores: who held whom up.
//!
//! It is walked backwards from the run's end: along the core that ended it, and where that slept until a store of
//! another core had it woken, from that store on along the other one, and so on to time 0. So it has each moment of
//! the run once, as time of one core. What that core waited for, or that it did not wait, is what held the run up.
//!
//! [`Paths`] has it as the run goes forward, for every core at once.

mod nodes;
mod path;
mod recorder;
#[cfg(test)]
mod tests;

pub use path::What;
pub use recorder::{Paths, Place};

pub(crate) use path::Path;

use crate::time::Ps;

/// The row of a core's own work, with its accesses to memories and devices.
pub const WORK: &str = "CPU and accesses";

/// The critical path, as a user reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// What the path is made of, the longest first: the times sum to the elapsed time.
    pub rows: Vec<PathRow>,
    /// Where it goes over from one core to another, in the order of the time for which the other was held up.
    pub hand_overs: Vec<HandOver>,
    /// Its longest stays on one core, in the order of time.
    pub stays: Vec<PathStay>,
}

/// A part of the path, wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The core.
    pub core: String,
    /// What it waited for, or [`WORK`].
    pub what: String,
    /// How long.
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
    /// How often that is so on the path.
    pub times: u64,
    /// How long the second one slept in all.
    pub held: Ps,
    /// The longest of these sleeps.
    pub longest: Ps,
    /// When that began.
    pub longest_from: Ps,
}

/// The path stays on one core for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStay {
    /// The core.
    pub core: String,
    /// From when.
    pub begin: Ps,
    /// Up to when.
    pub end: Ps,
    /// What took most of it.
    pub mostly: String,
    /// How long that took.
    pub mostly_time: Ps,
}
