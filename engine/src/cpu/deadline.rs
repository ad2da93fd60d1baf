//! How far a core may run by itself: up to the machine's horizon, or to the first event that the bus has in store, or
//! to when another core is woken.

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
    /// The event, or the wake-up of another core, that `limit` is known for.
    next_due: Ps,
    /// The limit, while the inner loop is held.
    held: Option<u64>,
}

impl Deadline {
    /// For a core with this clock, which is not to run yet.
    pub const fn new(clock: Hz) -> Deadline {
        Deadline { limit: 0, clock, horizon: 0, next_due: Ps::ZERO, held: None }
    }

    /// The clock runs at another rate: the next run begins by that.
    pub fn change_clock(&mut self, rate: Hz) {
        *self = Deadline::new(rate);
    }

    /// A run up to `until` begins.
    pub fn begin(&mut self, bus: &Bus, until: Ps) {
        self.horizon = self.clock.cycles_until_ceil(until).0;
        self.next_due = Ps::MAX;
        self.held = None;
        self.limit = self.horizon;
        self.follow(bus);
    }

    /// Brings the limit in line with what the bus has scheduled.
    pub fn follow(&mut self, bus: &Bus) {
        let due = bus.next_stop();
        if due != self.next_due {
            self.next_due = due;
            self.limit = self.horizon.min(self.clock.cycles_until_ceil(due).0);
        }
    }

    /// The inner loop has to end before the next block, and goes on where that is up to now.
    pub fn hold(&mut self) {
        self.held.get_or_insert(self.limit);
        self.limit = 0;
    }

    /// It may go on.
    pub fn release(&mut self) {
        // Else the limit has been worked out anew meanwhile.
        if let Some(limit) = self.held.take().filter(|_| self.limit == 0) {
            self.limit = limit;
        }
    }

    /// True if the bus has scheduled something, or run it, since [`Deadline::follow`].
    #[inline(always)]
    pub fn is_after(&self, bus: &Bus) -> bool {
        bus.next_stop() != self.next_due
    }

    /// The inner loop has to end at `at`, if not before.
    pub fn bring_forward(&mut self, at: Ps) {
        self.limit = self.limit.min(self.clock.cycles_until_ceil(at).0);
    }
}
