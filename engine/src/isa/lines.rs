//! The interrupt lines into a core, as far as it can have seen them: a store that lowers or raises one may arrive after the
//! instructions behind it have run.

use super::deadline::Deadline;
use crate::bus::Bus;
use crate::time::Hz;

/// A core's view of its interrupt lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    clock: Hz,
    /// The core's index in the machine.
    core: usize,
    /// Those that were up when last looked at.
    seen: u32,
}

impl Lines {
    /// Those of core number `core`, all down.
    pub const fn new(clock: Hz, core: u32) -> Lines {
        Lines { clock, core: core as usize, seen: 0 }
    }

    /// Those that were up when last looked at.
    pub const fn seen(&self) -> u32 {
        self.seen
    }

    /// Those that are up in `cycle`. What a store changes that is still on its way has not been seen yet.
    pub fn up(&self, bus: &Bus, cycle: u64) -> u32 {
        if self.will_change(bus, cycle) { self.seen } else { bus.core_irqs[self.core] }
    }

    /// True if they will have changed later than in `cycle`.
    pub fn will_change(&self, bus: &Bus, cycle: u64) -> bool {
        bus.core_irqs[self.core] != self.seen && self.clock.cycles_until_ceil(bus.core_irqs_since).0 > cycle
    }

    /// Looks at them in `cycle`: the core takes interrupts of what is up now.
    pub fn look(&mut self, bus: &Bus, cycle: u64) -> u32 {
        self.seen = self.up(bus, cycle);
        self.seen
    }

    /// The same while instructions run, which have to end when the lines change.
    pub fn follow(&mut self, bus: &Bus, cycle: u64, deadline: &mut Deadline) {
        if self.will_change(bus, cycle) {
            deadline.bring_forward(bus.core_irqs_since);
        } else {
            // Masked or not: a later store may end it, and has to arrive first.
            self.seen = bus.core_irqs[self.core];
        }
    }
}
