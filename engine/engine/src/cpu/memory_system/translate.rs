//! Destinations of accesses, and the time to determine them.

use super::access::{Access, Cacheability, Kind, MemoryType, Translation};
use super::accounts::{Part, Purpose};
use super::fetch::pages::PageNumber;
use super::meter::Trip;
use super::mmu::{AbortOf, Identity, Mmu};
use super::outward::Transfer;
use super::tlb::{Entry, permission};
use super::{Memory, Via};
use crate::bus::device::AccessSize;
use crate::bus::{Bus, MapEntry, Target};
use crate::memory::line_buffers::Answer;
use crate::memory::outer::OuterCache;

/// Destination of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Physical address.
    pub physical: u32,
    /// Its path, which determines the cost.
    pub via: Via,
    /// Strongly-ordered or Device: accesses one after the other.
    pub ordered: bool,
    /// Strongly-ordered: the core waits for a store's response, too.
    pub waits: bool,
    /// The second-level cache may keep it.
    pub outer: bool,
}

/// MMU off, in the data side's view.
const FLAT_BYTES: u32 = 1 << 20;

impl Memory {
    /// Destination of a load or store. Takes the time of the TLBs and of a walk.
    pub(super) fn data_place<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        va: u32,
        access: Access,
    ) -> Result<Place, AbortOf<M>> {
        let to = self.translation(trip, mmu, va, access)?;
        if self.keeps_shortcuts() {
            self.data_pages.accessed(&mut self.shortcuts, va, &to, access, self.shortcuts_privileged);
        }
        Ok(self.data_place_of(trip.bus, mmu, to))
    }

    /// Destination of an instruction fetch, and the page of code in which it is.
    pub(super) fn code_place<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        va: u32,
    ) -> Result<(Place, PageNumber), AbortOf<M>> {
        let to = self.translation(trip, mmu, va, mmu.access(Kind::Execute, 0))?;
        let page = self.note_code_page(mmu, va, to);
        Ok((self.code_place_of(trip.bus, mmu, to), page))
    }

    pub(super) fn code_place_of<M: Mmu>(&self, bus: &Bus, mmu: &M, to: Translation) -> Place {
        let to = Translation { memory: to.memory.with_cache(mmu.icache_is_on()), ..to };
        let has_cache = self.config.icache.is_some() && mmu.icache_is_on();
        let place = place_of(bus, mmu, to, has_cache);
        // Instructions are not written: the write policy does not matter to their cache (ARM, B3.2.1, has them
        // write-through without the MMU).
        let normal = matches!(to.memory, MemoryType::Normal { inner, .. } if inner != Cacheability::NonCacheable);
        let cacheable = bus.entry_at(to.physical).is_some_and(|entry| bus.map[entry].cacheable);
        let via = match place.via {
            Via::Uncached if normal && cacheable && has_cache => Via::Cached,
            via => via,
        };
        let passes = M::FETCHES_LINES && via == Via::Cached && lines_pass(bus, to.physical);
        Place { via: if passes { Via::Passing } else { via }, ..place }
    }

    pub(super) fn data_place_of<M: Mmu>(&self, bus: &Bus, mmu: &M, to: Translation) -> Place {
        let to = Translation { memory: to.memory.with_cache(mmu.dcache_is_on()), ..to };
        place_of(bus, mmu, to, self.config.dcache.is_some() && mmu.dcache_is_on())
    }

    /// The path of a fetch from a physical address, for a core without translation.
    #[inline]
    pub fn fetch_via(&self, bus: &Bus, physical: u32) -> Via {
        via_to(bus, physical, self.config.icache.is_some())
    }

    /// Translation of `va` for an access: by the TLBs, or else by the tables in memory. Takes no time, and changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// The abort of the access.
    pub fn meaning<M: Mmu>(&self, bus: &Bus, mmu: &M, va: u32, access: Access) -> Result<Translation, AbortOf<M>> {
        let walk = || mmu.translate(va, access, |physical| bus.peek_word(physical));
        if !M::WALKS || !mmu.mmu_is_on() || !mmu.is_mapped(va) {
            return walk();
        }
        let caches = (mmu.dcache_is_on(), mmu.icache_is_on());
        match self.state.tlb.look(access.kind, va, mmu.asid(), caches) {
            Some(entry) if entry.allows(access) => Ok(entry.translation(va)),
            Some(entry) => walk().map(|_| entry.translation(va)),
            None => walk(),
        }
    }

    fn translation<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        va: u32,
        access: Access,
    ) -> Result<Translation, AbortOf<M>> {
        if !M::TRANSLATES {
            return Ok(Identity::translation(va));
        }
        if !mmu.mmu_is_on() {
            return if access.kind == Kind::Execute { mmu.translate(va, access, |_| None) } else { Ok(flat(va)) };
        }
        if !mmu.is_mapped(va) {
            return mmu.translate(va, access, |_| None);
        }
        let asid = mmu.asid();
        if self.state.tlb.micro(access.kind, va, asid).is_none() {
            self.refill(trip, mmu, va, access)?;
        }
        let walk = || mmu.translate(va, access, |physical| trip.bus.peek_word(physical));
        // The entry is missing only if the page changed during the walk.
        let Some(entry) = self.state.tlb.micro(access.kind, va, asid) else { return walk() };
        if !entry.allows(access) {
            walk()?;
            entry.allowed |= permission(access);
        }
        Ok(entry.translation(va))
    }

    /// Loads an entry into a micro TLB, from the main one or by a walk.
    #[cold]
    fn refill<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, va: u32, access: Access) -> Result<(), AbortOf<M>> {
        self.state.tlb.follow_caches(mmu.dcache_is_on(), mmu.icache_is_on());
        self.spend_in_tlb(trip, self.config.tlb_cycles);
        let entry = match self.state.tlb.main(va, mmu.asid()) {
            Some(entry) => entry,
            None => {
                let mut read = [None; 2];
                let found = mmu.translate(va, access, |physical| {
                    let free = read.iter_mut().find(|place| place.is_none());
                    free.into_iter().for_each(|place| *place = Some(physical));
                    trip.bus.peek_word(physical)
                });
                let memory = found.as_ref().map_or(MemoryType::NON_CACHEABLE, |to| to.walk_memory);
                read.into_iter().flatten().for_each(|physical| self.walk(trip, mmu, physical, memory));
                let entry = Entry::new(va, found?, access);
                self.state.tlb.insert(entry);
                entry
            }
        };
        if self.state.tlb.make_way(access.kind, &entry) {
            self.forget_page(access.kind, &entry);
        }
        if let Some(went) = self.state.tlb.refill(access.kind, entry) {
            self.forget_page(access.kind, &went);
        }
        Ok(())
    }

    /// Follows the loss of a page from a micro TLB: its lines are not accessed without it.
    fn forget_page(&mut self, kind: Kind, page: &Entry) {
        if kind == Kind::Execute {
            self.lose_code_page(page.page, page.to.page_bytes);
        } else if self.keeps_shortcuts() {
            self.data_pages.left(&mut self.shortcuts, page.page, page.to.page_bytes);
        } else {
            self.learn_uses();
            self.shortcuts.remove_span(page.page, page.to.page_bytes);
        }
    }

    /// Passes the time of reading a descriptor (TRM, Main TLB: walks use the data cache if the tables are cacheable). A
    /// bus error is an abort of the translation.
    fn walk<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, physical: u32, memory: MemoryType) {
        let place = self.data_place_of(trip.bus, mmu, Translation::of(physical, 4, memory));
        // If this read fails, the translation's own read has failed, too.
        let _ = match place.via {
            Via::Local => Ok(()),
            Via::Cached => {
                self.spend_in_tlb(trip, self.config.walk_hit_cycles);
                self.use_line(trip, place, Purpose::Walk)
            }
            Via::Uncached | Via::Passing => {
                self.read(trip, place, Transfer::Read(Purpose::Walk, AccessSize::Word)).map(|_| ())
            }
        };
    }

    fn spend_in_tlb(&mut self, trip: &mut Trip, cycles: u64) {
        let until = trip.meter.now() + cycles;
        self.accounts.spend(&mut trip.meter, Part::Tlb, until);
    }
}

/// TRM, memory types: data that is write-through is treated as non-cacheable, and so is shareable memory unless
/// ACTLR.SMP is set.
fn place_of<M: Mmu>(bus: &Bus, mmu: &M, to: Translation, has_cache: bool) -> Place {
    let keeps = |level| matches!(level, Cacheability::WriteBack | Cacheability::WriteBackAllocate);
    let (inner, outer, ordered) = match to.memory {
        MemoryType::Normal { inner, outer, shareable } => {
            (keeps(inner) && (!shareable || mmu.keeps_shareable()), keeps(outer), false)
        }
        _ => (false, false, true),
    };
    let via = via_to(bus, to.physical, inner && has_cache);
    let ordered = ordered || !M::TRANSLATES && is_of_device(bus, to.physical);
    let waits = to.memory == MemoryType::StronglyOrdered;
    let outer = outer && (mmu.dcache_is_on() || !bus.outer().is_some_and(OuterCache::follows_core));
    Place { physical: to.physical, via, ordered, waits, outer }
}

/// The path of an access to a physical address; `cached` says whether there is a cache that may keep it, if the map
/// allows it.
#[inline]
fn via_to(bus: &Bus, physical: u32, cached: bool) -> Via {
    match bus.entry_at(physical) {
        Some(entry) if bus.path(entry).local || answers_at_once(bus, entry) => Via::Local,
        Some(entry) if cached && bus.map[entry].cacheable => Via::Cached,
        _ => Via::Uncached,
    }
}

/// True for the window of a flash without wait states.
#[inline]
fn answers_at_once(bus: &Bus, entry: usize) -> bool {
    let MapEntry { target, cacheable, .. } = bus.map[entry];
    matches!(target, Target::Device(id, _) if cacheable && bus.line_buffers.how_of(id) == Answer::AtOnce)
}

/// True for the window of a flash that keeps no lines of instructions.
fn lines_pass(bus: &Bus, physical: u32) -> bool {
    bus.entry_at(physical).is_some_and(
        |entry| matches!(bus.map[entry].target, Target::Device(id, _) if bus.line_buffers.how_of(id) == Answer::Passes),
    )
}

/// True for addresses that the map keeps out of caches and that are not memory.
fn is_of_device(bus: &Bus, physical: u32) -> bool {
    bus.entry_at(physical).is_some_and(|entry| {
        let entry = &bus.map[entry];
        !entry.cacheable && matches!(entry.target, Target::Device(..))
    })
}

/// Data with the MMU off (ARM, B3.2.1).
fn flat(va: u32) -> Translation {
    Translation::of(va, FLAT_BYTES, MemoryType::StronglyOrdered)
}
