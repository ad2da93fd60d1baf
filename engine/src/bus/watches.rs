//! What a debugger watches: memory that is written, by cores or by devices, and registers of devices that are accessed.
//!
//! It costs nothing. Bytes of a RAM that are watched are marked as if they held decoded instructions, so whoever writes
//! them tells of it ([`Bus::write_ram`]), and cores leave their block behind that instruction. Loads of memory tell
//! nobody: they can't be watched.

use super::code::CodeSpan;
use super::{Bus, Target};
use crate::bus::device::DeviceId;

/// What is to be watched, by physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The first byte.
    pub first: u32,
    /// The last byte.
    pub last: u32,
    /// Loads are watched; of devices only.
    pub reads: bool,
    /// Stores are watched.
    pub writes: bool,
}

/// An access that was watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What was watched.
    pub watch: Watch,
    /// The core that made it, by its index; `None` for a device's.
    pub core: Option<usize>,
    /// The device that made it.
    pub device: Option<DeviceId>,
    /// It was a store.
    pub is_write: bool,
}

/// All that is watched, and the accesses since someone looked.
#[derive(Debug, Default)]
pub struct Watches {
    all: Vec<Watch>,
    /// Loads from devices are watched.
    device_reads: bool,
    of_devices: bool,
    hits: Vec<Hit>,
    /// What devices do is followed.
    follows_devices: bool,
    /// That, or loads from devices are watched.
    sees_reads: bool,
    /// Devices whose every call is one to look at.
    called: Vec<DeviceId>,
    /// Devices have done something that somebody follows.
    has_news: bool,
}

impl Watches {
    /// All that is watched.
    pub fn all(&self) -> &[Watch] {
        &self.all
    }

    /// True if there is anything.
    pub fn are_set(&self) -> bool {
        !self.all.is_empty()
    }

    /// True if registers of devices are among it.
    #[inline]
    pub fn has_devices(&self) -> bool {
        self.of_devices
    }

    /// True if loads from devices are among it.
    #[inline]
    pub fn has_device_reads(&self) -> bool {
        self.device_reads
    }

    /// True if there are accesses that nobody has taken.
    #[inline]
    pub fn are_hit(&self) -> bool {
        !self.hits.is_empty()
    }

    /// True if a device has to be called for each load from it.
    #[inline]
    pub fn see_reads(&self) -> bool {
        self.sees_reads
    }

    /// True if what devices do is followed.
    #[inline]
    pub fn follows_devices(&self) -> bool {
        self.follows_devices
    }

    /// True if a core may have to stop behind any of its instructions.
    pub fn stop_cores(&self) -> bool {
        self.are_set() || self.follows_devices
    }

    /// True if the core that runs is to stop, for an access or as there is something to look at.
    #[inline]
    pub fn stop_core(&self) -> bool {
        self.are_hit() || self.has_news
    }

    /// True if devices have done something that is followed, since the last call.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
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
    /// Watches this, and nothing else. Gives what can't be watched: loads from memory, and what is nowhere.
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

    /// Stops cores when devices tell of signals that are followed ([`Waves::follow`](crate::observe::waves::Waves),
    /// [`Activities::follow`](crate::activity::Activities)), or when one of these is called; or none of that.
    pub fn follow_devices(&mut self, follow: bool, called: Vec<DeviceId>) {
        self.watches.follows_devices = follow || !called.is_empty();
        self.watches.called = called;
        self.watches.settle();
    }

    /// A device has been called.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_news(&mut self, device: DeviceId) {
        let is_called = self.watches.called.contains(&device);
        if self.waves.take_news() | self.activities.take_news() | is_called {
            self.watches.has_news = true;
            self.code_written.report(CodeSpan::NOTHING);
        }
    }

    /// Bytes of a RAM were written that are marked.
    #[cold]
    #[inline(never)]
    pub(super) fn see_write(&mut self, ram: usize, first: u32, last: u32) {
        if !self.watches.are_set() {
            return;
        }
        // A memory may be at several addresses, and overlays may hide some of it there.
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
