//! How far an access has come, in the core's cycles.

use super::Done;
use super::access::Abort;
use crate::bus::path::Times;
use crate::bus::{Access, Bus};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// A transfer that was made.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct Passed {
    /// What was read; 0 for a write.
    pub value: u32,
    /// The map entry that answered.
    pub entry: usize,
    /// There is an interconnect on its path.
    pub routed: bool,
    /// When it passed what.
    pub times: Times,
}

/// An access on its way: the bus that it goes to, and its time.
pub(super) struct Trip<'a> {
    pub bus: &'a mut Bus,
    pub meter: Meter,
}

impl Trip<'_> {
    /// One that begins when this one is so far, and that the core does not wait for.
    pub fn after(&mut self) -> Trip<'_> {
        let meter = Meter { begun: self.meter.now, waits: false, ..self.meter };
        Trip { bus: self.bus, meter }
    }

    /// It is at its end.
    pub fn done<T, S>(&self, result: Result<T, Abort<S>>) -> Done<T, S> {
        Done { cycles: self.meter.spent(), result }
    }
}

/// The time of an access: when it began, and how far it has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    clock: Hz,
    begun: u64,
    now: u64,
    /// The core waits for it: its time is charged.
    waits: bool,
}

impl Meter {
    /// An access that begins in a cycle, and that the core waits for.
    pub fn new(clock: Hz, begun: u64) -> Meter {
        Meter { clock, begun, now: begun, waits: true }
    }

    /// The core's cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Its time.
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

    /// What an access over the bus came to; `routed` if there is an interconnect on its path.
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

    /// Goes on to a cycle, if that is still to come: how many cycles there are to charge.
    pub fn pass(&mut self, until: u64) -> u64 {
        let passed = until.saturating_sub(self.now);
        self.now += passed;
        if self.waits { passed } else { 0 }
    }
}
