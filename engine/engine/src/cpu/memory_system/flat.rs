//! Accesses while the MMU is off, or of a core without translation, caches and store buffer, to memories on the core's
//! clock: without translation and caches there is little to check. The results equal those of the general accesses;
//! `None` leaves more complex cases to them.

use super::accounts::{Part, Purpose};
use super::fetch::Chunk;
use super::known_path::KnownPath;
use super::multiple::LONGEST_BYTES;
use super::{Chunks, FetchPolicy, Memory};
use crate::bus::{Alone, Bus};
use crate::memory::ram::Direction;

/// The core's cycle, and the cycle from which on events may be due.
#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    /// The cycle in which an access begins.
    pub now: u64,
    /// No event is due before this cycle.
    pub until: u64,
}

/// A requested transfer.
#[derive(Clone, Copy)]
pub(super) struct Transfer {
    quiet: Quiet,
    /// Offset from the start of the memory.
    offset: u32,
    bytes: u32,
    direction: Direction,
    purpose: Purpose,
}

impl Transfer {
    /// A read of `bytes` at `offset` in a memory.
    pub fn read(quiet: Quiet, offset: u32, bytes: u32, purpose: Purpose) -> Transfer {
        Transfer { quiet, offset, bytes, direction: Direction::Read, purpose }
    }

    /// A write of `bytes` at `offset` in a memory.
    pub fn write(quiet: Quiet, offset: u32, bytes: u32) -> Transfer {
        Transfer { quiet, offset, bytes, direction: Direction::Write, purpose: Purpose::Store }
    }
}

impl Memory {
    /// Fetches the instruction from `pc` up to `end_pc`: its cycles, if no event can be due before the request has
    /// arrived.
    #[inline(always)]
    pub fn fetch_flat(&mut self, bus: &mut Bus, quiet: Quiet, pc: u32, end_pc: u32) -> Option<u64> {
        let prefetch = &self.state.prefetch;
        let FetchPolicy::Chunks(Chunks { bytes, ahead: false }) = self.config.fetch else { return None };
        if !self.flat_fetch || !prefetch.is_used_up() || prefetch.ahead.is_some() {
            return None;
        }
        let last = end_pc.wrapping_sub(1);
        if prefetch.next_pc == pc && prefetch.chunk.holds(pc) {
            prefetch.chunk.holds(last).then_some(())?;
            self.state.prefetch.next_pc = end_pc;
            return Some(0);
        }
        let chunk = Chunk::at(pc, bytes);
        chunk.holds(last).then_some(())?;
        let bytes = chunk.last - chunk.first + 1;
        let done = self.fetch_from(bus, quiet, chunk.first, bytes)?;
        self.state.prefetch.chunk = chunk;
        self.state.prefetch.next_pc = end_pc;
        Some(done - quiet.now)
    }

    /// As [`Memory::fetch_flat`], for an instruction that runs by itself: its cycles, and whether the instruction is
    /// complete; otherwise there is more to fetch.
    #[inline(always)]
    pub fn fetch_one_flat(&mut self, bus: &mut Bus, quiet: Quiet, pc: u32, end_pc: u32) -> Option<(u64, bool)> {
        if self.config.fetch != FetchPolicy::OnDemand {
            return self.fetch_flat(bus, quiet, pc, end_pc).map(|cycles| (cycles, true));
        }
        let Some(physical) = self.state.words.missing(pc, end_pc) else { return Some((0, true)) };
        if !self.flat_fetch {
            return None;
        }
        let done = self.fetch_from(bus, quiet, physical, 4)?;
        self.state.words.fetched(physical);
        Some((done - quiet.now, self.state.words.missing(pc, end_pc).is_none()))
    }

    /// An aligned load of `bytes`: its cycles, and its value. `reported` if it has been charged already.
    pub fn load_flat(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        bytes: u32,
        reported: bool,
    ) -> Option<(u64, u32)> {
        let (path, offset) = self.flat_ram(bus, addr, bytes)?;
        let request = Transfer::read(quiet, offset, bytes, Purpose::Load);
        let cycles = if reported { 0 } else { self.data_flat(bus, path, request)? };
        Some((cycles, bus.rams[path.ram].value(offset, bytes)))
    }

    /// An aligned load of `bytes` of a device, which reaches nothing else: its cycles, and its value.
    pub fn load_alone(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, bytes: u32) -> Option<(u64, u32)> {
        if !self.flat || addr & (bytes - 1) != 0 {
            return None;
        }
        let begins = quiet.now.max(self.state.stores.all_done());
        let (done, value) = self.device_flat(bus, Quiet { now: begins, ..quiet }, addr, bytes, Purpose::Load)?;
        self.accounts.wait_for_stores(quiet.now, begins);
        Some((done - quiet.now, value))
    }

    /// An aligned store of the low `bytes` of `value`: its cycles.
    pub fn store_flat(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        bytes: u32,
        value: u32,
        reported: bool,
    ) -> Option<u64> {
        let (path, offset) = self.flat_ram(bus, addr, bytes)?;
        let request = Transfer::write(quiet, offset, bytes);
        let cycles = if reported { 0 } else { self.data_flat(bus, path, request)? };
        bus.put_in_ram(path.ram, offset, bytes, value);
        Some(cycles)
    }

    /// The transfer of `words` registers from `addr` up: its cycles, if it is one transfer.
    pub fn multiple_flat(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, words: u32, store: bool) -> Option<u64> {
        let bytes = 4 * words;
        if addr % LONGEST_BYTES + bytes > LONGEST_BYTES {
            return None;
        }
        let (path, offset) = self.flat_ram(bus, addr, 4)?;
        let bytes = self.bytes_on_port(bus, addr, bytes);
        let request = match store {
            true => Transfer::write(quiet, offset, bytes),
            false => Transfer::read(quiet, offset, bytes, Purpose::Load),
        };
        self.data_flat(bus, path, request)
    }

    /// A data transfer, which is Strongly-ordered without the MMU: it begins when all earlier ones are complete, and
    /// the core waits for it.
    #[inline(always)]
    fn data_flat(&mut self, bus: &mut Bus, path: KnownPath, request: Transfer) -> Option<u64> {
        let quiet = request.quiet;
        let begins = quiet.now.max(self.state.stores.all_done());
        let done = self.transfer_flat(bus, &path, Transfer { quiet: Quiet { now: begins, ..quiet }, ..request })?;
        self.accounts.wait_for_stores(quiet.now, begins);
        Some(done - quiet.now)
    }

    /// The memory at an address, and the offset in it, if data accesses reach it directly, and the memory is on the
    /// core's clock.
    #[inline(always)]
    fn flat_ram(&mut self, bus: &mut Bus, addr: u32, bytes: u32) -> Option<(KnownPath, u32)> {
        if !self.flat || addr & (bytes - 1) != 0 {
            return None;
        }
        if self.data_path.offset(addr).is_none() {
            if self.is_in_window(addr) {
                return None;
            }
            self.data_path = self.find_path(bus, addr)?;
            self.remember(bus, addr, None);
        }
        let offset = self.data_path.offset_of(addr, bytes)?;
        Some((self.data_path, offset))
    }

    /// A fetch of `bytes`: the core cycle in which its answer arrives.
    #[inline(always)]
    fn fetch_from(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, bytes: u32) -> Option<u64> {
        if self.code_path.offset(addr).is_none() {
            if self.is_in_window(addr) {
                return self.fetch_from_device(bus, quiet, addr, bytes);
            }
            match self.find_path(bus, addr) {
                Some(path) => {
                    self.code_path = path;
                    self.remember(bus, addr, None);
                }
                None => return self.fetch_from_device(bus, quiet, addr, bytes),
            }
        }
        let (path, offset) = (self.code_path, self.code_path.offset(addr)?);
        self.transfer_flat(bus, &path, Transfer::read(quiet, offset, bytes, Purpose::Fetch))
    }

    #[inline(never)]
    fn fetch_from_device(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, bytes: u32) -> Option<u64> {
        let (done, _) = self.device_flat(bus, quiet, addr, bytes, Purpose::Fetch)?;
        if !self.is_known(addr)
            && let Some(window) = bus.repeated_reads(addr, bytes)
        {
            self.remember(bus, addr, Some(window));
        }
        Some(done)
    }

    #[inline(never)]
    pub(super) fn find_path(&self, bus: &Bus, addr: u32) -> Option<KnownPath> {
        KnownPath::find(bus, addr, self.outer_cycles(bus)?)
    }

    /// A transfer: the core cycle in which its answer arrives.
    #[inline(always)]
    pub(super) fn transfer_flat(&mut self, bus: &mut Bus, path: &KnownPath, request: Transfer) -> Option<u64> {
        let Transfer { quiet, offset, bytes, direction, purpose } = request;
        let (there, back) = path.outer_cycles;
        let sent = quiet.now + there;
        let times = path.transfer(bus, offset, sent, (bytes, direction), quiet.until)?;
        self.touched.add(path.entry);
        self.accounts.follow(bus);
        self.accounts.add(Part::Outer, there + back);
        let at_memory = if path.routed { times.answered - times.arrived } else { times.done - sent };
        self.accounts.add_at(path.entry, purpose, at_memory, times.done - sent - at_memory);
        Some(times.done + back)
    }

    /// A read of a device that reaches nothing else: the core cycle in which its answer arrives, and its first word.
    #[inline(never)]
    fn device_flat(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        bytes: u32,
        purpose: Purpose,
    ) -> Option<(u64, u32)> {
        let (there, back) = self.outer_cycles(bus)?;
        let sent = quiet.now + there;
        let Alone { value, entry, times, routed } =
            bus.read_alone(addr, sent, bytes, |arrives| arrives < quiet.until)?;
        self.window = (bus.map[entry].base, bus.map[entry].last);
        self.touched.add(entry);
        self.accounts.follow(bus);
        self.accounts.add(Part::Outer, there + back);
        let at_device = if routed { times.answered - times.arrived } else { times.done - sent };
        self.accounts.add_at(entry, purpose, at_device, times.done - sent - at_device);
        self.accounts.note_at(entry, purpose, at_device, times.done);
        Some((times.done + back, value))
    }

    /// True if the device last read this way is at an address: then no memory is.
    #[inline(always)]
    fn is_in_window(&self, addr: u32) -> bool {
        let (first, last) = self.window;
        first <= addr && addr <= last
    }

    /// Cycles in the second-level cache's controller, there and back, if it runs on the core's clock.
    #[inline]
    pub(super) fn outer_cycles(&self, bus: &Bus) -> Option<(u64, u64)> {
        let Some(outer) = bus.outer() else { return Some((0, 0)) };
        let timing = outer.timing();
        // The second level may cache accesses of a core without translation.
        let passes = self.translates && timing.clock == self.config.clock;
        passes.then_some((timing.request_cycles.0, timing.response_cycles.0))
    }
}
