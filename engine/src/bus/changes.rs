//! What changes while the machine runs: clocks, which devices follow at once and all others between two instructions,
//! and what is shown at an address.

use super::{Bus, MapEntry};
use crate::clocks::{Change, User};
use crate::dt::wiring::{ClockId, DeviceId};
use crate::time::{Hz, Ps};

impl Bus {
    /// Clocks run at these rates from `now` on.
    pub fn set_clocks(&mut self, rates: &[(ClockId, Hz)], now: Ps) {
        let mut told = None;
        for (user, rate) in self.clocks.change(rates) {
            match user {
                // Of several of its clocks a device is told once.
                User::Device(id) if told == Some(id) => {}
                // A DMA controller writes to what drives its clock, or resets it.
                User::Device(id) if self.is_busy(id) => self.clocks.tell_later(id, now),
                User::Device(id) => {
                    told = Some(id);
                    self.tell_clocks(id, now);
                }
                user => self.clocks.add_pending(Change { user, at: now, rate }),
            }
        }
    }

    /// A device is told that a clock or a gate of it has changed.
    pub(super) fn tell_clocks(&mut self, id: DeviceId, now: Ps) {
        self.with_device(id, now, |device, ctx| device.clocks_changed(ctx));
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

    /// From the next instruction on, the entry of the map that begins at `alias` shows what the one at `shown` does: as
    /// much of it as fits. `by` is the device that chooses that. False, and nothing is done, where the board has no
    /// such entries.
    pub fn show_at(&mut self, alias: u32, shown: u32, by: DeviceId, now: Ps) -> bool {
        let at = |base: u32| self.map.binary_search_by_key(&base, |entry| entry.base).ok();
        let (Some(to), Some(from)) = (at(alias), at(shown)) else { return false };
        let room = self.map.get(to + 1).map_or(u32::MAX, |next| next.base - 1);
        let MapEntry { base, last, .. } = self.map[from];
        let last = alias.checked_add(last - base).map_or(room, |last| last.min(room));
        self.map[to] = MapEntry { base: alias, last, ..self.map[from].clone() };
        for views in &mut self.views {
            views[to] = views[from];
        }
        // Cores forget what they have fetched, and what they know of paths, as when a clock has changed.
        self.line_buffers.forget();
        if let Some(rate) = self.core_clocks.first().copied() {
            self.clocks.add_pending(Change { user: User::Device(by), at: now, rate });
        }
        true
    }
}
