//! The path of the last access to a memory on the core's clock, with everything that its price depends on.
//!
//! A core without translation and caches mostly accesses the memory of its previous access. Neither the map nor the
//! memories after it change while a machine runs.

use crate::bus::path::{InStep, Times};
use crate::bus::{Bus, InRam, MapEntry};
use crate::memory::ram::Direction;

/// A path to a memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownPath {
    /// The address of the memory's first byte, or the address that it would have without an overlay.
    origin: u32,
    /// Offset of the path's first byte in the memory.
    first: u32,
    /// Number of bytes after that one; an empty path has no address.
    rest: u32,
    /// Its map entry.
    pub entry: usize,
    /// Index into the bus's RAMs.
    pub ram: usize,
    /// Cycles in the second-level cache's controller, there and back.
    pub outer_cycles: (u64, u64),
    /// There is an interconnect on it.
    pub routed: bool,
    in_step: InStep,
}

impl KnownPath {
    /// A path to nothing.
    pub const NOWHERE: KnownPath = KnownPath {
        origin: u32::MAX,
        first: 0,
        rest: 0,
        entry: 0,
        ram: 0,
        outer_cycles: (0, 0),
        routed: false,
        in_step: InStep::NOT,
    };

    /// The present master's path to the memory at `addr`, if that is on the core's clock, and at least a word long.
    pub fn find(bus: &Bus, addr: u32, outer_cycles: (u64, u64)) -> Option<KnownPath> {
        let place = bus.ram_at(addr)?;
        let MapEntry { base, last, origin, .. } = bus.map[place.entry];
        let (first, rest) = (base.wrapping_sub(origin), last - base);
        let (in_step, routed) = bus.path_in_step(place.entry)?;
        let is_memory = rest >= 3 && base != u32::MAX;
        let InRam { entry, ram, .. } = place;
        is_memory.then_some(KnownPath { origin, first, rest, entry, ram, outer_cycles, routed, in_step })
    }

    /// The first address of the path, if it has one.
    pub fn base(&self) -> Option<u32> {
        self.in_step.is_known().then_some(self.origin.wrapping_add(self.first))
    }

    /// The offset of an address in the memory, if the path covers it.
    #[inline(always)]
    pub fn offset(&self, addr: u32) -> Option<u32> {
        let offset = addr.wrapping_sub(self.origin);
        (offset.wrapping_sub(self.first) <= self.rest && self.in_step.is_known()).then_some(offset)
    }

    /// As [`KnownPath::offset`], if the path covers all of `bytes`.
    #[inline(always)]
    pub fn offset_of(&self, addr: u32, bytes: u32) -> Option<u32> {
        self.offset(addr).filter(|offset| self.rest - (offset - self.first) >= bytes - 1)
    }

    /// True if a request that the master sends in its cycle `sent` reaches the memory before cycle `until`.
    #[inline(always)]
    pub fn reaches_before(&self, sent: u64, until: u64) -> bool {
        self.in_step.cycle(self.in_step.arrival(sent)) < until
    }

    /// A transfer of `bytes` at `offset` that the master requests in its cycle `sent`. `None` if it reaches the memory
    /// in cycle `until` or later.
    #[inline(always)]
    pub fn transfer(
        &self,
        bus: &mut Bus,
        offset: u32,
        sent: u64,
        (bytes, direction): (u32, Direction),
        until: u64,
    ) -> Option<Times> {
        let arrives = self.in_step.arrival(sent);
        if self.in_step.cycle(arrives) >= until {
            return None;
        }
        let answered = bus.rams[self.ram].transfer_at_edge(arrives, offset, bytes, direction);
        Some(self.in_step.times(arrives, answered))
    }
}
