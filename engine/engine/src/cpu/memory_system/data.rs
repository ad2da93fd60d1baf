//! Loads and stores without a shortcut.

use super::access::how;
use super::access::{Abort, Kind, Status};
use super::accounts::{Part, Purpose};
use super::meter::Trip;
use super::mmu::{AbortOf, Mmu};
use super::outward::Transfer;
use super::shortcut::{Marked, Stores};
use super::snooping::{is_own_line, snoop_filled, snoop_left};
use super::translate::Place;
use super::{Done, Memory, Via, WriteBack, abort_of, has_stamps_at, host_of};
use crate::bus::device::AccessSize;
use crate::bus::{Bus, BusFault, Target};
use crate::memory::cache::Cache;

/// A load or a store, as given by its instruction.
#[derive(Clone, Copy)]
pub(super) struct AccessRequest {
    pub va: u32,
    pub size: AccessSize,
    pub how: u8,
    pub kind: Kind,
    /// The value to store; 0 for a load.
    pub value: u32,
}

impl AccessRequest {
    fn is_aligned(self) -> bool {
        self.va.is_multiple_of(self.size.bytes())
    }

    fn is_write(self) -> bool {
        self.kind == Kind::Write
    }

    pub(super) fn refused<S: Status>(self) -> Abort<S> {
        Abort { va: self.va, status: S::ALIGNMENT, write: self.is_write(), domain: 0, bus: None }
    }

    /// The core's abort for the bus's answer.
    pub(super) fn failed<S: Status>(self, fault: BusFault) -> Abort<S> {
        abort_of(self.va, self.is_write(), fault)
    }
}

impl Memory {
    /// A load that begins in core cycle `now`. `how` has the flags of the micro-operation.
    pub fn load<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        now: u64,
        va: u32,
        size: AccessSize,
        how: u8,
    ) -> Done<u32, M::Status> {
        let mut trip = self.trip(bus, now);
        let request = AccessRequest { va, size, how, kind: Kind::Read, value: 0 };
        let result = if request.is_aligned() {
            self.load_aligned(&mut trip, mmu, request)
        } else {
            self.load_unaligned(&mut trip, mmu, request)
        };
        trip.done(result)
    }

    /// A store of the low bytes of `value`.
    #[allow(clippy::too_many_arguments)]
    pub fn store<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        now: u64,
        va: u32,
        size: AccessSize,
        value: u32,
        how: u8,
    ) -> Done<(), M::Status> {
        let mut trip = self.trip(bus, now);
        let request = AccessRequest { va, size, how, kind: Kind::Write, value };
        let result = if request.is_aligned() {
            self.store_aligned(&mut trip, mmu, request)
        } else {
            self.store_unaligned(&mut trip, mmu, request)
        };
        trip.done(result)
    }

    fn load_aligned<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, request: AccessRequest) -> Result<u32, AbortOf<M>> {
        let place = self.data_place(trip, mmu, request.va, mmu.access(request.kind, request.how))?;
        let value = self.load_at(trip, place, request).map_err(|fault| request.failed(fault))?;
        if place.via != Via::Uncached {
            self.add_shortcut(trip.bus, mmu, place, request);
        }
        Ok(value)
    }

    #[inline]
    pub(super) fn load_at(&mut self, trip: &mut Trip, place: Place, request: AccessRequest) -> Result<u32, BusFault> {
        match place.via {
            Via::Local => {}
            Via::Cached => self.use_line(trip, place, Purpose::Load)?,
            // The transfer of the data has been charged already.
            Via::Uncached if request.how & how::REPORTED != 0 && host_of(trip.bus, place.physical).is_some() => {}
            Via::Uncached | Via::Passing => {
                if place.ordered {
                    self.wait_for_stores(trip);
                }
                return self.read(trip, place, Transfer::Read(Purpose::Load, request.size));
            }
        }
        let mut bytes = [0; 4];
        trip.bus.peek(place.physical, &mut bytes[..request.size.bytes() as usize]);
        Ok(u32::from_le_bytes(bytes))
    }

    fn store_aligned<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, request: AccessRequest) -> Result<(), AbortOf<M>> {
        let place = self.data_place(trip, mmu, request.va, mmu.access(request.kind, request.how))?;
        let in_ram = host_of(trip.bus, place.physical).is_some();
        // Data from an execute-in-place window is not memory: it can't wait in a cache.
        let uncached = place.via == Via::Uncached || !in_ram;
        // The common transfer has been charged already.
        if !(uncached && in_ram && request.how & how::REPORTED != 0) {
            if uncached && (place.ordered || !in_ram) {
                let stored = self.store_in_order(trip, place, request.size, request.value);
                return stored.map_err(|fault| request.failed(fault));
            }
            self.store_in_ram(trip, place, request.size).map_err(|fault| request.failed(fault))?;
        }
        trip.bus.poke(place.physical, &request.value.to_le_bytes()[..request.size.bytes() as usize]);
        if place.via == Via::Local || place.via == Via::Cached && self.writes_back() && self.keeps(place.physical) {
            self.add_shortcut(trip.bus, mmu, place, request);
        }
        Ok(())
    }

    /// A store to Strongly-ordered or Device memory: it begins when all earlier ones are complete. The core waits for
    /// the response of a Strongly-ordered store; it does not wait for a Device store unless there is no store buffer.
    pub(super) fn store_in_order(
        &mut self,
        trip: &mut Trip,
        place: Place,
        size: AccessSize,
        value: u32,
    ) -> Result<(), BusFault> {
        self.snoop_store(trip, place);
        self.wait_for_stores(trip);
        let transfer = Transfer::Write(size, value);
        if place.waits || self.config.store_buffer_entries == 0 {
            return self.transfer(trip, place.physical, transfer).map(|_| ());
        }
        let mut after = trip.after();
        self.transfer(&mut after, place.physical, transfer)?;
        self.state.stores.push(after.meter.now(), None);
        Ok(())
    }

    /// The time of a store to Normal memory in a RAM.
    pub(super) fn store_in_ram(&mut self, trip: &mut Trip, place: Place, size: AccessSize) -> Result<(), BusFault> {
        self.snoop_store(trip, place);
        match place.via {
            Via::Local => return Ok(()),
            Via::Cached if self.streams[0] => return self.store_watched(trip, place, size),
            Via::Cached if self.writes_back() => return self.use_line(trip, place, Purpose::Store),
            // Written through: a line that is present counts as used.
            Via::Cached => {
                self.learn_uses_of_set(place.physical);
                if self.state.dcache.as_mut().is_some_and(|cache| cache.touch(place.physical, true)) {
                    self.forget_neighbours(trip.bus, place.physical, true);
                }
            }
            Via::Uncached | Via::Passing => {}
        }
        if self.config.store_buffer_entries == 0 {
            return self.write_part(trip, place, Transfer::WriteBurst(size.bytes()));
        }
        if self.state.stores.merges(trip.meter.now(), place.physical) {
            return Ok(());
        }
        let mut after = self.after_stores(trip);
        self.write_part(&mut after, place, Transfer::LateWriteBurst(size.bytes()))?;
        self.state.stores.push(after.meter.now(), Some(place.physical));
        Ok(())
    }

    /// Waits until all stores are complete.
    pub(super) fn wait_for_stores(&mut self, trip: &mut Trip) {
        self.accounts.spend(&mut trip.meter, Part::Stores, self.state.stores.all_done());
    }

    /// Waits until the store buffer has room for another store, which begins when the earlier ones are complete.
    pub(super) fn after_stores<'a>(&mut self, trip: &'a mut Trip) -> Trip<'a> {
        self.after_stores_of(trip, self.config.store_buffer_entries)
    }

    /// As [`Memory::after_stores`], if the buffer has room for this many.
    pub(super) fn after_stores_of<'a>(&mut self, trip: &'a mut Trip, entries: u32) -> Trip<'a> {
        let room = self.state.stores.has_room(entries);
        self.accounts.spend(&mut trip.meter, Part::Stores, room);
        let mut after = trip.after();
        after.meter.pass(self.state.stores.all_done());
        after
    }

    /// Makes a line of the data cache present. A load waits for a miss's fill; a store does not (TRM, store buffer),
    /// but the next miss waits for the end of that fill.
    pub(super) fn use_line(&mut self, trip: &mut Trip, place: Place, purpose: Purpose) -> Result<(), BusFault> {
        let store = purpose == Purpose::Store;
        if self.touch_line(trip.bus, place.physical, store) {
            if store {
                self.snoop_hit(trip, place.physical);
            }
            return Ok(());
        }
        if self.streams[0] && !store {
            self.fill_after_stores(trip, place.physical)?;
        }
        self.fill_missing(trip, place, purpose)
    }

    /// Uses the line at a physical address, if the data cache has it.
    pub(super) fn touch_line(&mut self, bus: &Bus, physical: u32, store: bool) -> bool {
        self.learn_uses_of_set(physical);
        let hit = self.state.dcache.as_mut().is_none_or(|cache| cache.touch(physical, store));
        if hit {
            self.forget_neighbours(bus, physical, true);
        }
        hit
    }

    /// Fills a line that the data cache does not have.
    pub(super) fn fill_missing(&mut self, trip: &mut Trip, place: Place, purpose: Purpose) -> Result<(), BusFault> {
        self.accounts.spend(&mut trip.meter, Part::Fill, self.state.fill_ends);
        if purpose == Purpose::Store && self.config.store_buffer_entries > 0 {
            self.fill_line(&mut trip.after(), place, purpose)?;
        } else {
            self.fill_line(trip, place, purpose)?;
        }
        self.forget_neighbours(trip.bus, place.physical, false);
        Ok(())
    }

    /// True if the data cache has the line at a physical address, dirty, and no store to it has to be counted.
    fn keeps(&mut self, physical: u32) -> bool {
        if !self.streams[0] {
            return true;
        }
        let Some(cache) = &mut self.state.dcache else { return false };
        !self.state.streaming.concerns(cache.line_addr(physical)) && cache.is_dirty(physical)
    }

    fn fill_line(&mut self, fill: &mut Trip, place: Place, purpose: Purpose) -> Result<(), BusFault> {
        match self.config.write_back {
            WriteBack::AfterFill => self.fill_then_write_back(fill, place, purpose),
            WriteBack::BeforeFill => self.write_back_then_fill(fill, place, purpose),
        }
    }

    /// A miss's fill, followed by the write-back of the victim.
    fn fill_then_write_back(&mut self, fill: &mut Trip, place: Place, purpose: Purpose) -> Result<(), BusFault> {
        let Some(cache) = &self.state.dcache else { return Ok(()) };
        let (line, bytes) = (cache.line_addr(place.physical), cache.shape().line_bytes);
        if !self.snoop_miss(fill, line, purpose) {
            self.read_data_line(fill, Place { physical: line, ..place }, purpose)?;
        }
        let mut after = fill.after();
        self.state.fill_ends = after.meter.now();
        let store = purpose == Purpose::Store;
        let victim = self.state.dcache.as_mut().and_then(|cache| cache.fill(place.physical, store));
        snoop_filled(after.bus, line, victim, store);
        if let Some(victim) = victim {
            self.forget_shortcuts(after.bus, victim.line_addr);
            if victim.dirty {
                self.write_line(&mut after, victim.line_addr, bytes, place.outer);
            }
        }
        Ok(())
    }

    /// A miss's fill, which waits for the write-back of the victim. The victim is gone even if the fill fails.
    fn write_back_then_fill(&mut self, fill: &mut Trip, place: Place, purpose: Purpose) -> Result<(), BusFault> {
        let Some(cache) = &mut self.state.dcache else { return Ok(()) };
        let (line, bytes) = (cache.line_addr(place.physical), cache.shape().line_bytes);
        let victim = cache.fill(place.physical, purpose == Purpose::Store);
        let mut transfer = Transfer::ReadBurst(purpose, bytes);
        if let Some(victim) = victim {
            self.forget_shortcuts(fill.bus, victim.line_addr);
            if victim.dirty {
                fill.bus.run_events_before(fill.meter.at(), place.physical);
                self.write_line(fill, victim.line_addr, bytes, place.outer);
                transfer = Transfer::ReadBurstAfter(purpose, bytes);
            }
        }
        let filled = match self.snoop_miss(fill, line, purpose) {
            true => Ok(0),
            false => self.read(fill, Place { physical: line, ..place }, transfer),
        };
        snoop_filled(fill.bus, line, victim, purpose == Purpose::Store);
        if filled.is_err() {
            self.state.dcache.iter_mut().for_each(|cache| cache.drop_line(line));
            snoop_left(fill.bus, line);
        }
        self.state.fill_ends = fill.meter.now();
        filled.map(|_| ())
    }

    /// Adds a shortcut: from now on, accesses to the line cost and change nothing else.
    fn add_shortcut<M: Mmu>(&mut self, bus: &Bus, mmu: &M, place: Place, request: AccessRequest) {
        // The table is for the mode's own privilege; an access as from User mode does not show its permissions.
        if request.how & how::UNPRIVILEGED != 0 || mmu.is_privileged() != self.shortcuts_privileged {
            return;
        }
        let Some(index) = bus.entry_at(place.physical) else { return };
        if self.is_of_slave(request.va) && bus.path(index).slave != self.state.slave {
            // The line belongs to a bank that is not selected.
            return;
        }
        let entry = &bus.map[index];
        let (_, bytes) = self.shortcuts.line_of(request.va);
        let line = place.physical & !(bytes - 1);
        if line < entry.base || entry.last - line < bytes - 1 {
            return;
        }
        let ram = match entry.target {
            // Other cores may have to access first, each time.
            Target::Ram(ram) if bus.rams[ram].is_shared() => return,
            Target::Ram(ram) => ram,
            Target::Device(id, range) => {
                let device = bus.devices[id.0 as usize].as_ref();
                if let Some(start) = device.and_then(|device| device.host_bytes(range))
                    && place.via == Via::Local
                    && !self.is_of_slave(request.va)
                {
                    let host = start.wrapping_add(entry.offset(place.physical) as usize);
                    self.make_way(request.va);
                    self.shortcuts.add(request.va, host.cast_mut(), Stores::No, None);
                }
                return;
            }
        };
        let is_dirty = |cache: &mut Cache| cache.is_dirty(place.physical) && is_own_line(bus, cache, place.physical);
        let stays = place.via == Via::Local || self.writes_back() && self.state.dcache.as_mut().is_some_and(is_dirty);
        // A load does not show whether stores are permitted.
        let offset = entry.offset(place.physical);
        if let Some(other) = self.shortcuts.used_in_slot_of(request.va) {
            self.learn_uses_of_set(other);
        }
        self.make_way(request.va);
        let cache = self.state.dcache.as_ref().filter(|_| place.via == Via::Cached);
        let stamped = cache.is_some_and(|cache| has_stamps_at(&self.shortcut_losses, cache, line)).then_some(line);
        self.add_shortcut_in(bus, (index, ram), (request.va, offset), request.is_write() && stays, stamped);
    }

    /// Removes another page's shortcut from the slot of `va`, an address of the last access's page.
    fn make_way(&mut self, va: u32) {
        if self.keeps_shortcuts() && !self.data_pages.take_slot(self.shortcuts.slot_of(va)) {
            self.shortcuts.empty_slot_of(va);
        }
    }

    /// Adds a shortcut for `va`, the byte at `offset` of a memory that has all of its line, reached by a map entry;
    /// with `stores` for stores, too, if those change nothing else. With stamps, `stamped` is the physical address of
    /// the line.
    pub(super) fn add_shortcut_in(
        &mut self,
        bus: &Bus,
        (entry, ram): (usize, usize),
        (va, offset): (u32, u32),
        stores: bool,
        stamped: Option<u32>,
    ) {
        let (_, bytes) = self.shortcuts.line_of(va);
        let (start, marks) = (bus.rams[ram].as_ptr(), bus.rams[ram].code_marks());
        let stores = match stores {
            false => Stores::No,
            true if !marks.any(offset & !(bytes - 1), bytes) => Stores::All,
            // Aligned addresses are aligned in the RAM, too.
            true if bus.map[entry].origin.is_multiple_of(4) => Stores::BesideCode(Marked::new(start, marks)),
            true => Stores::No,
        };
        self.shortcuts.add(va, start.wrapping_add(offset as usize), stores, stamped);
    }
}
