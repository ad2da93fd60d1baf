//! Loads and stores that find no shortcut.

use super::access::how;
use super::access::{Abort, Access, Kind, Status};
use super::accounts::{Part, Purpose};
use super::meter::Meter;
use super::mmu::Mmu;
use super::outward::Transfer;
use super::translate::Place;
use super::{Done, Memory, Via, WriteBack, abort_of, host_of};
use crate::bus::device::AccessSize;
use crate::bus::{Bus, BusFault, Target};
use crate::memory::cache::Cache;

/// A load or a store, as far as its instruction says it.
#[derive(Clone, Copy)]
struct Asked {
    va: u32,
    size: AccessSize,
    how: u8,
    kind: Kind,
}

impl Asked {
    fn access(self, mmu: &impl Mmu) -> Access {
        Access { kind: self.kind, privileged: mmu.is_privileged() && self.how & how::UNPRIVILEGED == 0 }
    }

    fn is_write(self) -> bool {
        self.kind == Kind::Write
    }

    fn refused<S: Status>(self) -> Abort<S> {
        Abort { va: self.va, status: S::ALIGNMENT, write: self.is_write(), domain: 0, bus: None }
    }
}

impl Memory {
    /// A load that begins in core cycle `now`. `how` is that of the micro-operation.
    pub fn load<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        now: u64,
        va: u32,
        size: AccessSize,
        how: u8,
    ) -> Done<u32, M::Status> {
        let mut meter = self.meter(now);
        let asked = Asked { va, size, how, kind: Kind::Read };
        let result = if va.is_multiple_of(size.bytes()) {
            self.load_aligned(bus, mmu, &mut meter, asked)
        } else {
            self.load_split(bus, mmu, &mut meter, asked)
        };
        Done { cycles: meter.spent(), result }
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
        let mut meter = self.meter(now);
        let asked = Asked { va, size, how, kind: Kind::Write };
        let result = if va.is_multiple_of(size.bytes()) {
            self.store_aligned(bus, mmu, &mut meter, asked, value)
        } else {
            self.store_split(bus, mmu, &mut meter, asked, value)
        };
        Done { cycles: meter.spent(), result }
    }

    fn load_aligned<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        asked: Asked,
    ) -> Result<u32, Abort<M::Status>> {
        let place = self.data_place(bus, mmu, meter, asked.va, asked.access(mmu))?;
        let value = self.load_at(bus, meter, place, asked).map_err(|fault| abort_of(asked.va, false, fault))?;
        if place.via != Via::Uncached {
            self.add_shortcut(bus, mmu, place, asked);
        }
        Ok(value)
    }

    fn load_at(&mut self, bus: &mut Bus, meter: &mut Meter, place: Place, asked: Asked) -> Result<u32, BusFault> {
        match place.via {
            Via::Local => {}
            Via::Cached => self.use_line(bus, meter, place, Purpose::Load)?,
            // The transfer that brought it has been paid for.
            Via::Uncached if asked.how & how::TOLD != 0 && host_of(bus, place.physical).is_some() => {}
            Via::Uncached => {
                if place.ordered {
                    self.accounts.spend(meter, Part::Stores, self.state.stores.all_done());
                }
                return self.read(bus, meter, Purpose::Load, place, Transfer::Read(asked.size));
            }
        }
        let mut bytes = [0; 4];
        bus.peek(place.physical, &mut bytes[..asked.size.bytes() as usize]);
        Ok(u32::from_le_bytes(bytes))
    }

    fn store_aligned<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        asked: Asked,
        value: u32,
    ) -> Result<(), Abort<M::Status>> {
        let place = self.data_place(bus, mmu, meter, asked.va, asked.access(mmu))?;
        let in_ram = host_of(bus, place.physical).is_some();
        // What an execute-in-place window gets is not memory: it can't wait in a cache.
        let via = if place.via == Via::Cached && !in_ram { Via::Uncached } else { place.via };
        match via {
            Via::Local => {}
            Via::Cached if self.writes_back() => {
                self.use_line(bus, meter, place, Purpose::Store).map_err(|fault| abort_of(asked.va, true, fault))?
            }
            Via::Cached => {
                self.touch_line(bus, place.physical);
                self.store_late(bus, meter, place, asked.size).map_err(|fault| abort_of(asked.va, true, fault))?;
            }
            Via::Uncached if asked.how & how::TOLD != 0 && in_ram => {}
            Via::Uncached => {
                let result = if place.ordered || !in_ram {
                    self.store_in_order(bus, meter, place, asked.size, value)
                } else {
                    self.store_late(bus, meter, place, asked.size)
                };
                result.map_err(|fault| abort_of(asked.va, true, fault))?;
                if place.ordered || !in_ram {
                    return Ok(());
                }
            }
        }
        bus.poke(place.physical, &value.to_le_bytes()[..asked.size.bytes() as usize]);
        if via == Via::Local || via == Via::Cached && self.writes_back() {
            self.add_shortcut(bus, mmu, place, asked);
        }
        Ok(())
    }

    /// A store to Strongly-ordered or Device memory: it begins when all before it are done. The core waits for the
    /// response of a Strongly-ordered one, and goes on with the other unless there is no store buffer.
    fn store_in_order(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        place: Place,
        size: AccessSize,
        value: u32,
    ) -> Result<(), BusFault> {
        self.accounts.spend(meter, Part::Stores, self.state.stores.all_done());
        let transfer = Transfer::Write(size, value);
        if place.waits || self.config.store_buffer_entries == 0 {
            return self.transfer(bus, meter, Purpose::Store, place.physical, transfer).map(|_| ());
        }
        let mut behind = meter.behind();
        self.transfer(bus, &mut behind, Purpose::Store, place.physical, transfer)?;
        self.state.stores.push(behind.now(), None);
        Ok(())
    }

    /// A store to Normal memory in a RAM: it waits in the store buffer for those before it. Its time only.
    fn store_late(&mut self, bus: &mut Bus, meter: &mut Meter, place: Place, size: AccessSize) -> Result<(), BusFault> {
        let entries = self.config.store_buffer_entries;
        if entries > 0 && self.state.stores.merges(meter.now(), place.physical) {
            return Ok(());
        }
        if entries == 0 {
            if !self.write_outer(bus, meter, place) {
                self.transfer(bus, meter, Purpose::Store, place.physical, Transfer::WriteBurst(size.bytes()))?;
            }
            return Ok(());
        }
        self.accounts.spend(meter, Part::Stores, self.state.stores.has_room(entries));
        let mut behind = meter.behind();
        behind.pass(self.state.stores.all_done());
        if !self.write_outer(bus, &mut behind, place) {
            let late = Transfer::LateWriteBurst(size.bytes());
            self.transfer(bus, &mut behind, Purpose::Store, place.physical, late)?;
        }
        self.state.stores.push(behind.now(), Some(place.physical));
        Ok(())
    }

    /// A store that goes through the data cache: a line that is there is used.
    fn touch_line(&mut self, bus: &Bus, physical: u32) {
        if self.state.dcache.as_mut().is_some_and(|cache| cache.touch(physical, true)) {
            self.forget_neighbours(bus, physical);
        }
    }

    /// Makes a line of the data cache present. A load waits for a miss's fill; a store does not (TRM, store buffer),
    /// but the next miss waits for the end of that.
    pub(super) fn use_line(
        &mut self,
        bus: &mut Bus,
        meter: &mut Meter,
        place: Place,
        purpose: Purpose,
    ) -> Result<(), BusFault> {
        let Some(cache) = &mut self.state.dcache else { return Ok(()) };
        let store = purpose == Purpose::Store;
        if !cache.touch(place.physical, store) {
            self.accounts.spend(meter, Part::Fill, self.state.fill_ends);
            let mut posted = meter.behind();
            let fill = if store && self.config.store_buffer_entries > 0 { &mut posted } else { &mut *meter };
            match self.config.write_back {
                WriteBack::BehindFill => self.fill_then_write_back(bus, fill, place, purpose)?,
                WriteBack::BeforeFill => self.write_back_then_fill(bus, fill, place, purpose)?,
            }
        }
        self.forget_neighbours(bus, place.physical);
        Ok(())
    }

    /// A miss's fill; what has to be written back is so behind it.
    fn fill_then_write_back(
        &mut self,
        bus: &mut Bus,
        fill: &mut Meter,
        place: Place,
        purpose: Purpose,
    ) -> Result<(), BusFault> {
        let Some(cache) = &self.state.dcache else { return Ok(()) };
        let (line, bytes) = (cache.line_addr(place.physical), cache.shape().line_bytes);
        self.read_line(bus, fill, purpose, Place { physical: line, ..place }, bytes)?;
        let mut behind = fill.behind();
        self.state.fill_ends = behind.now();
        let store = purpose == Purpose::Store;
        let victim = self.state.dcache.as_mut().and_then(|cache| cache.fill(place.physical, store));
        if let Some(victim) = victim {
            self.forget_shortcuts(bus, victim.line_addr);
            if victim.dirty {
                self.write_line(bus, &mut behind, victim.line_addr, bytes, place.outer);
            }
        }
        Ok(())
    }

    /// A miss's fill, which waits for the write-back of what has to go. The line that went is gone even if the fill
    /// fails.
    fn write_back_then_fill(
        &mut self,
        bus: &mut Bus,
        fill: &mut Meter,
        place: Place,
        purpose: Purpose,
    ) -> Result<(), BusFault> {
        let Some(cache) = &mut self.state.dcache else { return Ok(()) };
        let (line, bytes) = (cache.line_addr(place.physical), cache.shape().line_bytes);
        let victim = cache.fill(place.physical, purpose == Purpose::Store);
        let mut transfer = Transfer::ReadBurst(bytes);
        if let Some(victim) = victim {
            self.forget_shortcuts(bus, victim.line_addr);
            if victim.dirty {
                bus.run_events_before(fill.at(), place.physical);
                self.write_line(bus, fill, victim.line_addr, bytes, place.outer);
                transfer = Transfer::ReadBurstBehind(bytes);
            }
        }
        let filled = self.read(bus, fill, purpose, Place { physical: line, ..place }, transfer);
        if filled.is_err() {
            self.state.dcache.iter_mut().for_each(|cache| cache.drop_line(line));
        }
        self.state.fill_ends = fill.now();
        filled.map(|_| ())
    }

    /// From now on, accesses to the line cost and change nothing.
    fn add_shortcut<M: Mmu>(&mut self, bus: &Bus, mmu: &M, place: Place, asked: Asked) {
        // The table is for the mode's own privilege; access as if from User mode says nothing of that.
        if asked.how & how::UNPRIVILEGED != 0 || mmu.is_privileged() != self.shortcuts_privileged {
            return;
        }
        let Some(entry) = bus.entry_at(place.physical).map(|entry| &bus.map[entry]) else { return };
        let Target::Ram(ram) = entry.target else { return };
        // Others may have to come first, each time.
        if bus.rams[ram].is_shared() {
            return;
        }
        let (_, bytes) = self.shortcuts.line_of(asked.va);
        let line = place.physical & !(bytes - 1);
        if line < entry.base || entry.last - line < bytes - 1 {
            return;
        }
        let is_dirty = |cache: &mut Cache| cache.is_dirty(place.physical);
        let stays = place.via == Via::Local || self.writes_back() && self.state.dcache.as_mut().is_some_and(is_dirty);
        // A load tells nothing of the permission to store.
        let stores = asked.is_write() && stays && !bus.rams[ram].holds_code(line - entry.base, bytes);
        let host = bus.rams[ram].as_ptr().wrapping_add((place.physical - entry.base) as usize);
        self.shortcuts.add(asked.va, host, stores);
    }

    // ---- Unaligned

    /// An unaligned load: the two words that it lies in.
    fn load_split<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        asked: Asked,
    ) -> Result<u32, Abort<M::Status>> {
        let places = self.split_places(bus, mmu, meter, asked)?;
        let mut words = [0; 2];
        for (word, place) in words.iter_mut().zip(places.into_iter().flatten()) {
            let part = Asked { size: AccessSize::Word, how: 0, ..asked };
            *word = self.load_at(bus, meter, place, part).map_err(|fault| abort_of(asked.va, false, fault))?;
        }
        let both = u64::from(words[1]) << 32 | u64::from(words[0]);
        let value = (both >> (8 * (asked.va & 3))) as u32;
        Ok(value & u32::MAX >> (32 - 8 * asked.size.bytes()))
    }

    /// An unaligned store: its bytes one by one, but as one transfer in each of the two words that it lies in.
    fn store_split<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        asked: Asked,
        value: u32,
    ) -> Result<(), Abort<M::Status>> {
        let places = self.split_places(bus, mmu, meter, asked)?;
        let fault = |fault| abort_of(asked.va, true, fault);
        for place in places.into_iter().flatten() {
            match place.via {
                Via::Local => {}
                Via::Cached if host_of(bus, place.physical).is_some() && self.writes_back() => {
                    self.use_line(bus, meter, place, Purpose::Store).map_err(fault)?;
                }
                _ if host_of(bus, place.physical).is_some() => {
                    if place.via == Via::Cached {
                        self.touch_line(bus, place.physical);
                    }
                    self.store_late(bus, meter, place, AccessSize::Word).map_err(fault)?;
                }
                _ => {}
            }
        }
        let first_word = asked.va & !3;
        for n in 0..asked.size.bytes() {
            let va = asked.va.wrapping_add(n);
            let place = places[usize::from(va & !3 != first_word)].or(places[0]);
            let Some(place) = place else { continue };
            let (place, byte) = (Place { physical: place.physical + (va & 3), ..place }, (value >> (8 * n)) & 0xff);
            if host_of(bus, place.physical).is_some() {
                bus.poke(place.physical, &[byte as u8]);
            } else {
                self.store_in_order(bus, meter, place, AccessSize::Byte, byte).map_err(fault)?;
            }
        }
        Ok(())
    }

    /// Where the words lie that hold an unaligned access: one or two. Only Normal memory allows such, and only if
    /// software doesn't want them refused.
    fn split_places<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        asked: Asked,
    ) -> Result<[Option<Place>; 2], Abort<M::Status>> {
        if asked.how & how::ALIGNED != 0 || mmu.checks_alignment() {
            return Err(asked.refused());
        }
        let (first, last) = (asked.va & !3, asked.va.wrapping_add(asked.size.bytes() - 1) & !3);
        let mut places = [None; 2];
        for (place, word) in places.iter_mut().zip([first, last]).take(1 + usize::from(first != last)) {
            let found = self
                .data_place(bus, mmu, meter, word, asked.access(mmu))
                .map_err(|abort| Abort { va: abort.va.max(asked.va), ..abort })?;
            // Tightly coupled memory takes them as they come.
            if found.ordered && found.via != Via::Local {
                return Err(asked.refused());
            }
            *place = Some(found);
        }
        Ok(places)
    }
}
