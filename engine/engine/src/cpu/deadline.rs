//! How far a core may run by itself: up to the machine's horizon, the bus's next event, or the wake-up of another core.

use crate::bus::Bus;
use crate::time::{Hz, Ps};

/// The end of a core's run, in cycles of its clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// The cycle at which the inner loop has to end. A core may bring it forward.
    pub limit: u64,
    clock: Hz,
    /// The horizon given by the machine, in cycles.
    horizon: u64,
    /// The event, or the wake-up of another core, for which `limit` was computed.
    next_due: Ps,
    /// The limit before the inner loop was held.
    held: Option<u64>,
}

impl Deadline {
    /// A deadline for a core with this clock, which does not run yet.
    pub const fn new(clock: Hz) -> Deadline {
        Deadline { limit: 0, clock, horizon: 0, next_due: Ps::ZERO, held: None }
    }

    /// Sets another clock rate, which applies from the next run on.
    pub fn change_clock(&mut self, rate: Hz) {
        *self = Deadline::new(rate);
    }

    /// Begins a run up to `until`.
    pub fn begin(&mut self, bus: &Bus, until: Ps) {
        self.horizon = self.clock.cycles_until_ceil(until).0;
        self.next_due = Ps::MAX;
        self.held = None;
        self.limit = self.horizon;
        self.follow(bus);
    }

    /// Updates the limit to the next event scheduled on the bus.
    pub fn follow(&mut self, bus: &Bus) {
        let due = bus.next_stop();
        if due != self.next_due {
            self.next_due = due;
            self.limit = self.horizon.min(self.clock.cycles_until_ceil(due).0);
        }
    }

    /// Makes the inner loop end before the next block, until it is released.
    pub fn hold(&mut self) {
        self.held.get_or_insert(self.limit);
        self.limit = 0;
    }

    /// Releases the inner loop.
    pub fn release(&mut self) {
        // If not 0, the limit has been computed anew meanwhile.
        if let Some(limit) = self.held.take().filter(|_| self.limit == 0) {
            self.limit = limit;
        }
    }

    /// True if the bus has scheduled or run an event since [`Deadline::follow`].
    #[inline(always)]
    pub fn is_after(&self, bus: &Bus) -> bool {
        bus.next_stop() != self.next_due
    }

    /// Makes the inner loop end at `at`, or earlier.
    pub fn bring_forward(&mut self, at: Ps) {
        self.limit = self.limit.min(self.clock.cycles_until_ceil(at).0);
    }
}
