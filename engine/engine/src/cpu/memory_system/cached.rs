//! Loads and stores without a shortcut, for a core without translation and buffers that has a write-back data cache, to
//! a memory on the core's clock: mostly misses. The results equal those of [`super::data`], with fewer checks; `None`
//! leaves more complex cases to it.

use super::accounts::Purpose;
use super::flat::{Quiet, Transfer};
use super::known_path::KnownPath;
use super::meter::{Meter, Trip};
use super::mmu::Mmu;
use super::{Memory, MemoryConfig, WriteBack};
use crate::bus::{Bus, Target};
use crate::memory::cache::{Cache, WritePolicy};

impl Memory {
    /// An aligned load of `bytes` through the data cache: its cycles, and its value.
    pub fn load_cached(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, bytes: u32) -> Option<(u64, u32)> {
        let (cycles, path, offset) = self.line_cached(bus, quiet, addr, bytes, Purpose::Load)?;
        let value = bus.rams[path.ram].value(offset, bytes);
        self.add_shortcut_in(bus, (path.entry, path.ram), (addr, offset), false, None);
        Some((cycles, value))
    }

    /// An aligned store of the low `bytes` of `value` into the data cache: its cycles.
    pub fn store_cached(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, bytes: u32, value: u32) -> Option<u64> {
        let (cycles, path, offset) = self.line_cached(bus, quiet, addr, bytes, Purpose::Store)?;
        bus.put_in_ram(path.ram, offset, bytes, value);
        // The line is dirty now.
        self.add_shortcut_in(bus, (path.entry, path.ram), (addr, offset), true, None);
        Some(cycles)
    }

    /// True if these functions serve the data cache: a core with this configuration waits for all parts of an access.
    pub(super) fn is_cached_simply<M: Mmu>(config: &MemoryConfig, mmu: &M) -> bool {
        let simple = |cache| !Cache::keeps_order(cache) && cache.write == WritePolicy::WriteBack;
        !M::TRANSLATES
            && mmu.dcache_is_on()
            && config.dcache.is_some_and(simple)
            && config.store_buffer_entries == 0
            && config.write_back == WriteBack::BeforeFill
    }

    /// Makes the line of `addr` present: the cycles for that, the path to the memory, and the offset of `addr` in it.
    #[inline(always)]
    fn line_cached(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        bytes: u32,
        purpose: Purpose,
    ) -> Option<(u64, KnownPath, u32)> {
        if !self.cached || addr & (bytes - 1) != 0 {
            return None;
        }
        if self.data_path.offset(addr).is_none() {
            self.data_path = self.find_cached_path(bus, addr)?;
        }
        let (path, cache) = (self.data_path, self.state.dcache.as_mut()?);
        let line_bytes = cache.shape().line_bytes;
        let line = addr & !(line_bytes - 1);
        let line_offset = path.offset_of(line, line_bytes)?;
        let offset = line_offset + (addr - line);
        let store = purpose == Purpose::Store;
        if cache.touch(addr, store) {
            return Some((0, path, offset));
        }
        if !path.reaches_before(quiet.now, quiet.until) {
            return None;
        }
        let mut now = quiet.now;
        if let Some(victim) = cache.fill(addr, store) {
            self.shortcuts.remove(victim.line_addr);
            if victim.dirty {
                now = self.write_back_cached(bus, &path, now, victim.line_addr, line_bytes);
            }
        }
        // No event is due between a line's write-back and the fill that waits for it.
        let fill = Transfer::read(Quiet { now, until: u64::MAX }, line_offset, line_bytes, purpose);
        let done = self.transfer_flat(bus, &path, fill)?;
        self.state.fill_ends = done;
        Some((done - quiet.now, path, offset))
    }

    /// Writes a line back, starting in core cycle `now`: the cycle in which the core continues.
    fn write_back_cached(&mut self, bus: &mut Bus, path: &KnownPath, now: u64, line: u32, bytes: u32) -> u64 {
        let in_memory = path.offset_of(line, bytes);
        let quiet = Quiet { now, until: u64::MAX };
        if let Some(offset) = in_memory
            && let Some(done) = self.transfer_flat(bus, path, Transfer::write(quiet, offset, bytes))
        {
            return done;
        }
        let mut trip = Trip { bus, meter: Meter::new(self.config.clock, now) };
        self.write_line(&mut trip, line, bytes, false);
        trip.meter.now()
    }

    /// The path to the memory at `addr`, if it is on the core's clock, may be cached in the data cache, and is not
    /// shared with another core.
    #[inline(never)]
    fn find_cached_path(&self, bus: &Bus, addr: u32) -> Option<KnownPath> {
        let path = self.find_path(bus, addr)?;
        let entry = &bus.map[path.entry];
        let own = entry.cacheable && matches!(entry.target, Target::Ram(ram) if !bus.rams[ram].is_shared());
        own.then_some(path)
    }
}
