//! Coherence with the data caches of other cores: see [`crate::memory::snoop`]. Only a board that runs several cores of
//! a cluster has any of it.

use super::access::{Kind, Lines, Maintenance};
use super::accounts::{Part, Purpose};
use super::meter::Trip;
use super::mmu::Mmu;
use super::translate::Place;
use super::{Memory, Via};
use crate::bus::Bus;
use crate::cpu::memory_system::access::TlbEntries;
use crate::memory::cache::{Cache, Victim};
use crate::memory::snoop::Message;

/// True if a store to a line that the cache has need not ask.
pub(super) fn is_own_line(bus: &Bus, cache: &Cache, physical: u32) -> bool {
    let (Some(snoop), Some(core)) = (&bus.snoop, bus.master) else { return true };
    snoop.is_unique(core, cache.line_addr(physical))
}

/// A line has come into the cache of the core that runs.
pub(super) fn snoop_filled(bus: &mut Bus, line: u32, victim: Option<Victim>, store: bool) {
    if let (Some(snoop), Some(core)) = (&mut bus.snoop, bus.master) {
        snoop.filled(core, line, victim.map(|victim| victim.line_addr), store);
    }
}

/// A line has left the cache of the core that runs.
pub(super) fn snoop_left(bus: &mut Bus, line: u32) {
    if let (Some(snoop), Some(core)) = (&mut bus.snoop, bus.master) {
        snoop.left(core, line);
    }
}

/// A line of the core that runs is clean.
pub(super) fn snoop_cleaned(bus: &mut Bus, line: u32) {
    if let (Some(snoop), Some(core)) = (&mut bus.snoop, bus.master) {
        snoop.cleaned(core, line);
    }
}

impl Memory {
    /// A store without a shortcut ends the reservations of other cores.
    pub(super) fn snoop_store(&self, trip: &mut Trip, place: Place) {
        if let (Some(snoop), Some(core)) = (&mut trip.bus.snoop, trip.bus.master) {
            snoop.stored(core, place.physical);
        }
    }

    /// A store to a line that the data cache has: if others may have it, they lose it first. The core does not wait for
    /// that, but the next miss does.
    pub(super) fn snoop_hit(&mut self, trip: &mut Trip, physical: u32) {
        let (Some(snoop), Some(core)) = (&mut trip.bus.snoop, trip.bus.master) else { return };
        let Some(cache) = &self.state.dcache else { return };
        if !snoop.store(core, cache.line_addr(physical)) {
            return;
        }
        let cycles = snoop.timing().upgrade_cycles;
        self.accounts.spend(&mut trip.meter, Part::Fill, self.state.fill_ends);
        if self.config.store_buffer_entries > 0 {
            self.state.fill_ends = trip.meter.now() + cycles;
        } else {
            let until = trip.meter.now() + cycles;
            self.accounts.spend(&mut trip.meter, Part::Snoop, until);
        }
    }

    /// A miss of the data cache: true if another core's cache gives the line.
    pub(super) fn snoop_miss(&mut self, fill: &mut Trip, line: u32, purpose: Purpose) -> bool {
        let (Some(snoop), Some(core)) = (&mut fill.bus.snoop, fill.bus.master) else { return false };
        if !snoop.miss(core, line, purpose == Purpose::Store) {
            return false;
        }
        let until = fill.meter.now() + snoop.timing().transfer_cycles;
        self.accounts.spend(&mut fill.meter, Part::Snoop, until);
        true
    }

    /// True if an access to `va` needs nothing from outside of the core, and changes nothing there: then other cores
    /// need not come first. It depends on the core's state only, not on what is derived from it.
    pub fn stays_inside<M: Mmu>(&self, bus: &Bus, mmu: &M, va: u32, kind: Kind) -> bool {
        if M::WALKS && mmu.mmu_is_on() && self.state.tlb.look_in_micro(kind, va, mmu.asid()).is_none() {
            return false;
        }
        let Ok(to) = self.meaning(bus, mmu, va, mmu.access(kind, 0)) else { return true };
        if kind == Kind::Execute {
            let place = self.code_place_of(bus, mmu, to);
            let has = |cache: &Cache| cache.holds(place.physical);
            return place.via == Via::Local || place.via == Via::Cached && self.state.icache.as_ref().is_some_and(has);
        }
        let place = self.data_place_of(bus, mmu, to);
        let Some(cache) = self.state.dcache.as_ref().filter(|_| place.via == Via::Cached) else {
            return place.via == Via::Local;
        };
        let line = cache.line_addr(place.physical);
        if kind == Kind::Write && self.gathers_more(line) {
            return !bus.snoop.as_ref().zip(bus.master).is_some_and(|(snoop, core)| snoop.is_elsewhere(core, line));
        }
        let asks = kind == Kind::Write && !(self.writes_back() && is_own_line(bus, cache, line));
        cache.holds(line) && !asks
    }

    /// Follows what another core has done.
    pub fn follow_message(&mut self, bus: &Bus, message: Message) {
        match message {
            Message::Shared(line) => self.forget_line(bus, line),
            Message::Gone(line) => {
                self.forget_line(bus, line);
                self.state.dcache.iter_mut().for_each(|cache| cache.drop_line(line));
            }
            Message::Clean(line) => {
                self.forget_line(bus, line);
                self.state.dcache.iter_mut().for_each(|cache| cache.cleaned_elsewhere(line));
            }
            Message::Translations(entries) => self.forget_entries(entries),
            Message::InstructionLine(physical) => {
                self.forget_uncached();
                self.learn_fetches();
                self.drop_icache_line(physical);
            }
            Message::Instructions => {
                self.forget_uncached();
                self.learn_fetches();
                self.clear_fetched();
                self.state.icache.iter_mut().for_each(Cache::invalidate_all);
            }
            Message::Branches => {}
        }
    }

    /// Drops the shortcuts of a line.
    fn forget_line(&mut self, bus: &Bus, line: u32) {
        self.learn_uses_of_set(line);
        let bytes = self.shortcuts.line_of(0).1;
        let line_bytes = self.config.dcache.map_or(bytes, |shape| shape.line_bytes);
        (0..line_bytes).step_by(bytes as usize).for_each(|at| self.forget_shortcuts(bus, line + at));
    }

    fn forget_entries(&mut self, entries: TlbEntries) {
        self.state.tlb.invalidate(entries);
        self.follow_empty_micro_tlbs();
    }

    /// All lines of the caches are gone, and all translations, as after a reset.
    pub fn lose_all(&mut self, bus: &mut Bus, core: usize) {
        bus.snoop.iter_mut().for_each(|snoop| snoop.left_all(core));
        self.clear_shortcuts();
        self.state.dcache.iter_mut().for_each(Cache::invalidate_all);
        self.forget_entries(TlbEntries::All);
        self.forget_stream();
        self.forget_fetched();
        self.icache_has_lines = true;
    }
}

/// The message to other cores for an operation that reaches all of them.
pub fn message_of(maintenance: Maintenance) -> Option<Message> {
    match maintenance {
        Maintenance::Tlb(entries) => Some(Message::Translations(entries)),
        Maintenance::Icache(Lines::All) => Some(Message::Instructions),
        Maintenance::BranchPredictor(Lines::All) => Some(Message::Branches),
        _ => None,
    }
}
