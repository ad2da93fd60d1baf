//! The interrupt inputs of a core, as far as it can have seen them: a store that changes an input may arrive after the
//! instructions that follow the store have run.

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
    /// The inputs that were high when last sampled.
    seen: Inputs,
}

impl Irqs {
    /// Inputs of core number `core`, all low.
    pub fn new(clock: Hz, core: u32) -> Irqs {
        Irqs { clock, core: core as usize, seen: Inputs::default() }
    }

    /// The rate of the core's clock.
    pub const fn clock(&self) -> Hz {
        self.clock
    }

    /// Changes the rate of the core's clock.
    pub fn change_clock(&mut self, rate: Hz) {
        self.clock = rate;
    }

    /// The inputs that were high when last sampled.
    pub const fn seen(&self) -> &Inputs {
        &self.seen
    }

    /// The inputs that are high in `cycle`. Changes by a store under way are not visible yet.
    pub fn up<'a>(&'a self, bus: &'a Bus, cycle: u64) -> &'a Inputs {
        if self.will_change(bus, cycle) { &self.seen } else { &bus.core_irqs[self.core] }
    }

    /// True if the inputs will have changed after `cycle`.
    pub fn will_change(&self, bus: &Bus, cycle: u64) -> bool {
        self.have_changed(bus) && self.clock.cycles_until_ceil(self.since(bus)).0 > cycle
    }

    /// Time of the last change, which may be in the future.
    pub fn since(&self, bus: &Bus) -> Ps {
        bus.core_irqs[self.core].since()
    }

    /// True if the inputs have changed since they were sampled.
    #[inline(always)]
    pub fn have_changed(&self, bus: &Bus) -> bool {
        !bus.core_irqs[self.core].is_same(&self.seen)
    }

    /// Samples the inputs in `cycle`: the core takes interrupts that are pending now.
    pub fn look(&mut self, bus: &Bus, cycle: u64) -> &Inputs {
        if !self.will_change(bus, cycle) {
            self.seen = bus.core_irqs[self.core];
        }
        &self.seen
    }

    /// As [`Irqs::look`], while instructions run, which have to stop when the inputs change.
    pub fn follow(&mut self, bus: &Bus, cycle: u64, deadline: &mut Deadline) {
        if self.will_change(bus, cycle) {
            deadline.bring_forward(self.since(bus));
        } else if self.have_changed(bus) {
            // Masked or not: a later store may end the interrupt, and has to arrive first.
            self.seen = bus.core_irqs[self.core];
        }
    }
}
