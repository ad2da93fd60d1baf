//! Accesses while the MMU is off, or of a core without translation, caches and store buffer, to memories that keep time
//! with the core: nothing translates, nothing keeps, so there is little to ask. All of it comes to the same as the
//! accesses that ask; what is not as simple as that is left to them, which is what `None` says.

use super::accounts::{Part, Purpose};
use super::fetch::Chunk;
use super::multiple::LONGEST_BYTES;
use super::{Chunks, FetchPolicy, Memory};
use crate::bus::{Bus, InRam};
use crate::memory::outer::OuterCache;
use crate::memory::ram::Direction;

/// The core's cycle, and the one from which on events may come.
#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    /// The cycle in which an access begins.
    pub now: u64,
    /// Before this one, no event is due.
    pub until: u64,
}

/// A transfer to be made.
#[derive(Clone, Copy)]
struct Asked {
    quiet: Quiet,
    place: InRam,
    bytes: u32,
    purpose: Purpose,
}

impl Memory {
    /// Fetches the instruction from `pc` up to `end_pc` : how many cycles that takes, if no event can come before the
    /// request has arrived.
    pub fn fetch_flat(&mut self, bus: &mut Bus, quiet: Quiet, pc: u32, end_pc: u32) -> Option<u64> {
        let prefetch = &self.state.prefetch;
        let FetchPolicy::Chunks(Chunks { bytes, ahead: false }) = self.config.fetch else { return None };
        if !self.flat_fetch || prefetch.granted.is_some() || prefetch.ahead.is_some() {
            return None;
        }
        let last = end_pc.wrapping_sub(1);
        let chunk = prefetch.chunk.filter(|_| prefetch.next_pc == Some(pc));
        if let Some(chunk) = chunk
            && chunk.holds(pc)
        {
            chunk.holds(last).then_some(())?;
            self.state.prefetch.next_pc = Some(end_pc);
            return Some(0);
        }
        let chunk = Chunk::at(pc, bytes);
        chunk.holds(last).then_some(())?;
        let bytes = chunk.last - chunk.first + 1;
        let asked = Asked { quiet, place: bus.ram_at(chunk.first)?, bytes, purpose: Purpose::Fetch };
        let done = self.transfer_flat(bus, asked)?;
        self.state.prefetch.chunk = Some(chunk);
        self.state.prefetch.next_pc = Some(end_pc);
        Some(done - quiet.now)
    }

    /// The same for an instruction that runs by itself: how many cycles that takes, and whether it can run then; else
    /// there is more to fetch.
    #[inline]
    pub fn fetch_one_flat(&mut self, bus: &mut Bus, quiet: Quiet, pc: u32, end_pc: u32) -> Option<(u64, bool)> {
        if self.config.fetch != FetchPolicy::OnDemand {
            return self.fetch_flat(bus, quiet, pc, end_pc).map(|cycles| (cycles, true));
        }
        let Some(physical) = self.state.words.missing(pc, end_pc) else { return Some((0, true)) };
        if !self.flat_fetch {
            return None;
        }
        let asked = Asked { quiet, place: bus.ram_at(physical)?, bytes: 4, purpose: Purpose::Fetch };
        let done = self.transfer_flat(bus, asked)?;
        self.state.words.fetched(physical);
        Some((done - quiet.now, self.state.words.missing(pc, end_pc).is_none()))
    }

    /// An aligned load of `bytes`: its cycles, and what it gives. `told` if it has been paid for.
    pub fn load_flat(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, bytes: u32, told: bool) -> Option<(u64, u32)> {
        let place = self.flat_ram(bus, addr, bytes)?;
        let asked = Asked { quiet, place, bytes, purpose: Purpose::Load };
        let cycles = if told { told_cycles(bus, place)? } else { self.data_flat(bus, asked)? };
        let mut value = [0; 4];
        bus.rams[place.ram].read(place.offset, &mut value[..bytes as usize]);
        Some((cycles, u32::from_le_bytes(value)))
    }

    /// An aligned store of the low `bytes` of `value`: its cycles.
    pub fn store_flat(
        &mut self,
        bus: &mut Bus,
        quiet: Quiet,
        addr: u32,
        bytes: u32,
        value: u32,
        told: bool,
    ) -> Option<u64> {
        let place = self.flat_ram(bus, addr, bytes)?;
        let asked = Asked { quiet, place, bytes, purpose: Purpose::Store };
        let cycles = if told { told_cycles(bus, place)? } else { self.data_flat(bus, asked)? };
        bus.write_ram(place.ram, place.offset, &value.to_le_bytes()[..bytes as usize]);
        Some(cycles)
    }

    /// The transfer of `words` registers from `addr` up: its cycles, if it is one transfer.
    pub fn multiple_flat(&mut self, bus: &mut Bus, quiet: Quiet, addr: u32, words: u32, store: bool) -> Option<u64> {
        let bytes = 4 * words;
        if addr % LONGEST_BYTES + bytes > LONGEST_BYTES {
            return None;
        }
        let place = self.flat_ram(bus, addr, 4)?;
        let bytes = self.bytes_on_port(bus, addr, bytes);
        let purpose = if store { Purpose::Store } else { Purpose::Load };
        self.data_flat(bus, Asked { quiet, place, bytes, purpose })
    }

    /// A transfer of data, which is Strongly-ordered without the MMU: it begins when all before it are done, and the
    /// core waits for it.
    fn data_flat(&mut self, bus: &mut Bus, asked: Asked) -> Option<u64> {
        let quiet = asked.quiet;
        let begins = quiet.now.max(self.state.stores.all_done());
        let done = self.transfer_flat(bus, Asked { quiet: Quiet { now: begins, ..quiet }, ..asked })?;
        self.accounts.add(Part::Stores, begins - quiet.now);
        Some(done - quiet.now)
    }

    /// The RAM at an address, if data goes there as it is. Whether that keeps time with the core, its path tells.
    #[inline]
    fn flat_ram(&self, bus: &Bus, addr: u32, bytes: u32) -> Option<InRam> {
        if !self.flat || !addr.is_multiple_of(bytes) {
            return None;
        }
        bus.ram_at(addr).filter(|place| place.rest >= bytes - 1)
    }

    /// A transfer: the core cycle in which its answer is there.
    #[inline]
    fn transfer_flat(&mut self, bus: &mut Bus, asked: Asked) -> Option<u64> {
        let Asked { quiet, place, bytes, purpose } = asked;
        let (there, back) = match bus.outer() {
            None => (0, 0),
            // What a core without translation accesses, the second level may keep.
            Some(_) if !self.translates => return None,
            Some(outer) => self.outer_cycles(outer)?,
        };
        let direction = if purpose == Purpose::Store { Direction::Write } else { Direction::Read };
        let sent = quiet.now + there;
        let (times, routed) =
            bus.transfer_in_cycles(place, sent, (bytes, direction), |arrives| arrives < quiet.until)?;
        self.touched |= 1_u64.checked_shl(place.entry as u32).unwrap_or(0);
        self.accounts.follow(bus);
        self.accounts.add(Part::Outer, there + back);
        let at_memory = if routed { times.answered - times.arrived } else { times.done - sent };
        self.accounts.add_at(place.entry, purpose, at_memory, times.done - sent - at_memory);
        Some(times.done + back)
    }

    /// Cycles in the second-level cache's controller, there and back, if it runs on the core's clock.
    #[inline]
    fn outer_cycles(&self, outer: &OuterCache) -> Option<(u64, u64)> {
        let timing = outer.timing();
        (timing.clock == self.config.clock).then_some((timing.request_cycles.0, timing.response_cycles.0))
    }
}

/// The cycles of an access that has been paid for, to a memory that keeps time.
fn told_cycles(bus: &Bus, place: InRam) -> Option<u64> {
    bus.path(place.entry).keeps_time().then_some(0)
}
