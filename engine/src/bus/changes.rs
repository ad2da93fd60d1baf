//! Clocks that change while the machine runs: interconnects, memories and devices follow at once, cores are told.

use super::Bus;
use crate::clocks::{CoreChange, User};
use crate::dt::wiring::ClockId;
use crate::time::{Hz, Ps};

impl Bus {
    /// Clocks run at these rates from `now` on.
    pub fn set_clocks(&mut self, rates: &[(ClockId, Hz)], now: Ps) {
        let changed = self.clocks.change(rates);
        let mut told = None;
        for (user, rate) in changed {
            match user {
                User::Core(core) => self.change_core_clock(core, rate, now),
                User::Route(route) => self.routes[route].clock = rate,
                User::Ram(ram) => self.rams[ram].set_clock(rate, now),
                // One that is being called knows. Of several of its clocks it is told once.
                User::Device(id) if told != Some(id) && !self.is_busy(id) => {
                    told = Some(id);
                    self.with_device(id, now, |device, ctx| device.clocks_changed(ctx));
                }
                User::Device(_) => {}
            }
        }
        self.paths.take();
    }

    fn change_core_clock(&mut self, core: usize, rate: Hz, at: Ps) {
        if let Some(clock) = self.core_clocks.get_mut(core)
            && *clock != rate
        {
            *clock = rate;
            self.clocks.change_core(CoreChange { core, at, rate });
        }
    }
}
