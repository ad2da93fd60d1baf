//! Watchpoints of a debugger: memory that is written, by cores or by devices, and registers of devices that are
//! accessed.
//!
//! They do not slow down the run. Watched bytes of a RAM are marked like bytes of decoded instructions, so every write
//! to them is reported ([`Bus::write_ram`]), and cores leave their block after that instruction. Loads from memory are
//! not reported: they can't be watched.

use super::code::CodeSpan;
use super::{Bus, Target};
use crate::bus::device::DeviceId;

/// A watched range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The first byte.
    pub first: u32,
    /// The last byte.
    pub last: u32,
    /// Loads are watched; only possible for devices.
    pub reads: bool,
    /// Stores are watched.
    pub writes: bool,
}

/// An access that hit a watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The watchpoint.
    pub watch: Watch,
    /// The core that made it, by its index; `None` for a device's.
    pub core: Option<usize>,
    /// The device that made it.
    pub device: Option<DeviceId>,
    /// It was a store.
    pub is_write: bool,
}

/// All watchpoints, and the accesses since the last look.
#[derive(Debug, Default)]
pub struct Watches {
    all: Vec<Watch>,
    /// Loads from devices are watched.
    device_reads: bool,
    of_devices: bool,
    hits: Vec<Hit>,
    /// Actions of devices are followed.
    follows_devices: bool,
    /// Those, or loads from devices, are watched.
    sees_reads: bool,
    /// Devices that stop the run at each call.
    called: Vec<DeviceId>,
    /// Devices have done something that is followed.
    has_changes: bool,
}

impl Watches {
    /// All watchpoints.
    pub fn all(&self) -> &[Watch] {
        &self.all
    }

    /// True if there is any watchpoint.
    pub fn are_set(&self) -> bool {
        !self.all.is_empty()
    }

    /// True if registers of devices are watched.
    #[inline]
    pub fn has_devices(&self) -> bool {
        self.of_devices
    }

    /// True if loads from devices are watched.
    #[inline]
    pub fn has_device_reads(&self) -> bool {
        self.device_reads
    }

    /// True if there are accesses that have not been taken.
    #[inline]
    pub fn are_hit(&self) -> bool {
        !self.hits.is_empty()
    }

    /// True if a device has to be called for each load from it.
    #[inline]
    pub fn see_reads(&self) -> bool {
        self.sees_reads
    }

    /// True if actions of devices are followed.
    #[inline]
    pub fn follows_devices(&self) -> bool {
        self.follows_devices
    }

    /// True if a core may have to stop after any of its instructions.
    pub fn stop_cores(&self) -> bool {
        self.are_set() || self.follows_devices
    }

    /// True if the running core has to stop, for an access or for something that is followed.
    #[inline]
    pub fn stop_core(&self) -> bool {
        self.are_hit() || self.has_changes
    }

    /// True if devices have done something that is followed, since the last call.
    pub fn take_changes(&mut self) -> bool {
        std::mem::take(&mut self.has_changes)
    }

    /// Takes the accesses since the last call.
    pub fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }

    fn settle(&mut self) {
        self.sees_reads = self.device_reads || self.follows_devices;
    }

    fn at(&self, first: u32, last: u32, is_write: bool) -> Option<Watch> {
        let wanted = |watch: &&Watch| if is_write { watch.writes } else { watch.reads };
        self.all.iter().filter(wanted).find(|watch| first <= watch.last && watch.first <= last).copied()
    }
}

impl Bus {
    /// Replaces all watchpoints. Returns those that can't be watched: loads from memory, and unmapped addresses.
    pub fn watch(&mut self, all: Vec<Watch>) -> Vec<Watch> {
        let is_in_ram = |bus: &Bus, addr: u32| bus.ram_at(addr).is_some();
        let (fit, refused): (Vec<Watch>, Vec<Watch>) = all
            .into_iter()
            .partition(|watch| self.entry_at(watch.first).is_some() && !(watch.reads && is_in_ram(self, watch.first)));
        let ends_in_ram = |watch: &Watch| is_in_ram(self, watch.first) && is_in_ram(self, watch.last);
        let mut devices = fit.iter().filter(|watch| !ends_in_ram(watch));
        let of_devices = devices.clone().next().is_some();
        let device_reads = devices.any(|watch| watch.reads);
        for watch in &fit {
            self.mark_watched(*watch);
        }
        self.watches.all = fit;
        (self.watches.of_devices, self.watches.device_reads) = (of_devices, device_reads);
        self.watches.settle();
        refused
    }

    /// Stops cores when devices record signals that are followed ([`Waves::follow`](crate::observe::waves::Waves),
    /// [`Activities::follow`](crate::activity::Activities)), or when a device in `called` is called. `follow` and
    /// `called` replace the previous ones.
    pub fn follow_devices(&mut self, follow: bool, called: Vec<DeviceId>) {
        self.watches.follows_devices = follow || !called.is_empty();
        self.watches.called = called;
        self.watches.settle();
    }

    /// A device has been called.
    #[cold]
    #[inline(never)]
    pub(super) fn check_for_changes(&mut self, device: DeviceId) {
        let is_called = self.watches.called.contains(&device);
        if self.waves.take_news() | self.activities.take_news() | is_called {
            self.watches.has_changes = true;
            self.code_written.report(CodeSpan::NOTHING);
        }
    }

    /// Marked bytes of a RAM were written.
    #[cold]
    #[inline(never)]
    pub(super) fn see_write(&mut self, ram: usize, first: u32, last: u32) {
        if !self.watches.are_set() {
            return;
        }
        // A memory may be mapped at several addresses, and overlays may hide some of it there.
        let shown = self.map.iter().filter(|entry| entry.target == Target::Ram(ram)).filter_map(|entry| {
            let [first, last] = [first, last].map(|offset| u64::from(entry.origin) + u64::from(offset));
            let (first, last) = (first.max(entry.base.into()), last.min(entry.last.into()));
            (first <= last).then_some((first as u32, last as u32))
        });
        let mut hits = shown.filter_map(|(first, last)| self.watches.at(first, last, true));
        if let Some(watch) = hits.next() {
            self.hit(watch, true);
            self.mark_watched(watch);
        }
    }

    fn mark_watched(&mut self, watch: Watch) {
        let parts: Vec<(u32, u32)> = self.parts(watch.first, watch.last - watch.first + 1).collect();
        for (at, len) in parts {
            self.mark_code(at, len);
        }
    }

    /// A device is accessed at an address.
    #[cold]
    #[inline(never)]
    pub(super) fn see_access(&mut self, addr: u32, bytes: u32, is_write: bool) {
        if let Some(watch) = self.watches.at(addr, addr + (bytes - 1), is_write) {
            self.hit(watch, is_write);
            self.code_written.report(CodeSpan::NOTHING);
        }
    }

    fn hit(&mut self, watch: Watch, is_write: bool) {
        self.watches.hits.push(Hit { watch, core: self.master, device: self.calling, is_write });
    }
}
