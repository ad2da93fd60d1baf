//! Changes while the machine runs: clocks, which devices follow at once and all others between two instructions, and
//! remapped ranges of addresses.

use super::{Bus, MapEntry};
use crate::clocks::{Change, User};
use crate::dt::wiring::{ClockId, DeviceId};
use crate::time::{Hz, Ps};

impl Bus {
    /// Clocks run at these rates from `now` on.
    pub fn set_clocks(&mut self, rates: &[(ClockId, Hz)], now: Ps) {
        let mut notified = None;
        for (user, rate) in self.clocks.change(rates) {
            match user {
                // A device is notified once, also if several of its clocks change.
                User::Device(id) if notified == Some(id) => {}
                // A DMA controller may write to the device that drives its clock, or resets it.
                User::Device(id) if self.is_busy(id) => self.clocks.notify_later(id, now),
                User::Device(id) => {
                    notified = Some(id);
                    self.notify_clocks(id, now);
                }
                user => self.clocks.add_pending(Change { user, at: now, rate }),
            }
        }
    }

    /// Notifies a device that one of its clocks or clock gates has changed.
    pub(super) fn notify_clocks(&mut self, id: DeviceId, now: Ps) {
        self.with_device(id, now, |device, ctx| device.clocks_changed(ctx));
    }

    /// Applies the change to an interconnect or a memory. A core's clock only changes the costs of its paths here: the
    /// core itself follows separately.
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

    /// From the next instruction on, the range of the map that begins at `alias` shows the contents of the one at
    /// `shown`, as far as they fit. Overlays stay where they are. `by` is the device that requests this. Returns false,
    /// and changes nothing, where the board has no such ranges, or overlays cover all of `shown`.
    pub fn show_at(&mut self, alias: u32, shown: u32, by: DeviceId, now: Ps) -> bool {
        let (to, from) = (self.entries_of(alias), self.entries_of(shown));
        let Some(from) = from.clone().find(|entry| self.map[*entry].below.is_none()).zip(from.last()) else {
            return false;
        };
        if to.is_empty() {
            return false;
        }
        let bytes = self.map[from.1].last - shown;
        let last = alias.saturating_add(bytes);
        let new = self.map[from.0].clone();
        for entry in to {
            let end = self.map.get(entry + 1).map_or(u32::MAX, |next| next.base - 1);
            let part = &mut self.map[entry];
            if let Some(below) = &mut part.below {
                *below = (new.target, alias);
                continue;
            }
            // Nothing remains after the end of a shorter memory.
            let last = last.min(end).max(part.base.saturating_sub(1));
            *part = MapEntry { base: part.base, last, origin: alias, ..new.clone() };
            for views in &mut self.views {
                views[entry] = views[from.0];
            }
        }
        // Cores drop fetched instructions and paths, as after a change of clocks.
        self.line_buffers.forget();
        if let Some(rate) = self.core_clocks.first().copied() {
            self.clocks.add_pending(Change { user: User::Device(by), at: now, rate });
        }
        true
    }

    /// The map entries of the range that begins at an address.
    fn entries_of(&self, base: u32) -> std::ops::Range<usize> {
        let first = self.map.partition_point(|entry| entry.base < base);
        let parts = self.map[first..].iter().take_while(|entry| entry.range_base() == base);
        first..first + parts.count()
    }
}
