//! Progress of an access, in the core's cycles.

use super::Done;
use super::access::Abort;
use crate::bus::path::Times;
use crate::bus::{Access, Bus};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// A completed transfer.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct Passed {
    /// The value read; 0 for a write.
    pub value: u32,
    /// The map entry that answered.
    pub entry: usize,
    /// There is an interconnect on its path.
    pub routed: bool,
    /// Times at which it passed the parts of its path.
    pub times: Times,
}

/// An access under way: its bus, and its time.
pub(super) struct Trip<'a> {
    pub bus: &'a mut Bus,
    pub meter: Meter,
}

impl Trip<'_> {
    /// An access that begins at this one's present time, and for which the core does not wait.
    pub fn after(&mut self) -> Trip<'_> {
        let meter = Meter { begun: self.meter.now, waits: false, ..self.meter };
        Trip { bus: self.bus, meter }
    }

    /// Ends the access.
    pub fn done<T, S>(&self, result: Result<T, Abort<S>>) -> Done<T, S> {
        Done { cycles: self.meter.spent(), result }
    }
}

/// Time of an access: its start, and its progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    clock: Hz,
    begun: u64,
    now: u64,
    /// The core waits for it: its cycles are charged.
    waits: bool,
}

impl Meter {
    /// An access that begins in a cycle, and for which the core waits.
    pub fn new(clock: Hz, begun: u64) -> Meter {
        Meter { clock, begun, now: begun, waits: true }
    }

    /// The present core cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The present time.
    pub fn at(&self) -> Ps {
        self.time_of(self.now)
    }

    /// Cycles so far.
    pub fn spent(&self) -> u64 {
        self.now - self.begun
    }

    /// The time of another core cycle.
    #[inline]
    pub fn time_of(&self, cycle: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(cycle))
    }

    /// The result of an access over the bus; `routed` if there is an interconnect on its path.
    pub fn passed(&self, access: &Access, routed: bool) -> Passed {
        let times = Times {
            arrived: self.edge(access.arrived),
            answered: self.edge(access.answered),
            done: self.edge(access.done),
        };
        Passed { value: access.value, entry: access.entry, routed, times }
    }

    /// The core cycle that begins at `at` or later.
    pub fn edge(&self, at: Ps) -> u64 {
        self.clock.cycles_until_ceil(at).0
    }

    /// Advances to a cycle, if it is in the future: the number of cycles to charge.
    pub fn pass(&mut self, until: u64) -> u64 {
        let passed = until.saturating_sub(self.now);
        self.now += passed;
        if self.waits { passed } else { 0 }
    }
}
