//! The interrupt inputs of a core, as far as it can have seen them: a store that lowers or raises one may arrive after
//! the instructions behind it have run.

use super::deadline::Deadline;
use crate::bus::Bus;
use crate::inputs::Inputs;
use crate::state::State;
use crate::time::{Hz, Ps};

/// A core's view of its interrupt inputs.
#[derive(Clone, Copy, Debug, State)]
pub(crate) struct Irqs {
    clock: Hz,
    /// The core's index in the machine.
    #[state(skip)]
    core: usize,
    /// Those that were up when last looked at.
    seen: Inputs,
}

impl Irqs {
    /// Those of core number `core`, all down.
    pub fn new(clock: Hz, core: u32) -> Irqs {
        Irqs { clock, core: core as usize, seen: Inputs::default() }
    }

    /// The rate of the core's clock, as it is known here.
    pub const fn clock(&self) -> Hz {
        self.clock
    }

    /// The core's clock runs at another rate.
    pub fn change_clock(&mut self, rate: Hz) {
        self.clock = rate;
    }

    /// Those that were up when last looked at.
    pub const fn seen(&self) -> &Inputs {
        &self.seen
    }

    /// Those that are up in `cycle`. What a store changes that is still on its way has not been seen yet.
    pub fn up<'a>(&'a self, bus: &'a Bus, cycle: u64) -> &'a Inputs {
        if self.will_change(bus, cycle) { &self.seen } else { &bus.core_irqs[self.core] }
    }

    /// True if they will have changed later than in `cycle`.
    pub fn will_change(&self, bus: &Bus, cycle: u64) -> bool {
        self.have_changed(bus) && self.clock.cycles_until_ceil(self.since(bus)).0 > cycle
    }

    /// When they changed last, which may be still to come.
    pub fn since(&self, bus: &Bus) -> Ps {
        bus.core_irqs[self.core].since()
    }

    /// True if they have changed since they were looked at.
    #[inline(always)]
    pub fn have_changed(&self, bus: &Bus) -> bool {
        !bus.core_irqs[self.core].is_same(&self.seen)
    }

    /// Looks at them in `cycle`: the core takes interrupts of what is up now.
    pub fn look(&mut self, bus: &Bus, cycle: u64) -> &Inputs {
        if !self.will_change(bus, cycle) {
            self.seen = bus.core_irqs[self.core];
        }
        &self.seen
    }

    /// The same while instructions run, which have to end when the inputs change.
    pub fn follow(&mut self, bus: &Bus, cycle: u64, deadline: &mut Deadline) {
        if self.will_change(bus, cycle) {
            deadline.bring_forward(self.since(bus));
        } else if self.have_changed(bus) {
            // Masked or not: a later store may end it, and has to arrive first.
            self.seen = bus.core_irqs[self.core];
        }
    }
}
