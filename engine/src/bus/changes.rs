//! Clocks that change while the machine runs: devices follow at once, all others between two instructions.

use super::Bus;
use crate::clocks::{Change, User};
use crate::dt::wiring::ClockId;
use crate::time::{Hz, Ps};

impl Bus {
    /// Clocks run at these rates from `now` on.
    pub fn set_clocks(&mut self, rates: &[(ClockId, Hz)], now: Ps) {
        let mut told = None;
        for (user, rate) in self.clocks.change(rates) {
            match user {
                // One that is being called knows. Of several of its clocks a device is told once.
                User::Device(id) if told == Some(id) || self.is_busy(id) => {}
                User::Device(id) => {
                    told = Some(id);
                    self.with_device(id, now, |device, ctx| device.clocks_changed(ctx));
                }
                user => self.clocks.add_pending(Change { user, at: now, rate }),
            }
        }
    }

    /// An interconnect or a memory follows. What a core's clock is, prices its paths: the core itself follows apart.
    pub fn follow_change(&mut self, change: Change) {
        let Change { user, at, rate } = change;
        match user {
            User::Core(core) => self.core_clocks[core] = rate,
            User::Route(route) => self.routes[route].clock = rate,
            User::Ram(ram) => self.rams[ram].set_clock(rate, at),
            User::Device(_) => {}
        }
        self.paths.take();
    }
}
