//! Maintenance of caches and TLBs, and barriers.

use super::access::{Barrier, Kind, Lines, Maintenance};
use super::accounts::Part;
use super::meter::Trip;
use super::mmu::{AbortOf, Mmu};
use super::outward::line_of;
use super::snooping::{snoop_cleaned, snoop_left};
use super::{Done, Memory};
use crate::bus::Bus;
use crate::memory::cache::{Cache, CacheShape};
use crate::memory::outer::OuterCache;
use crate::memory::snoop::Message;

/// Work on a line of the data cache.
#[derive(Clone, Copy)]
struct Work {
    clean: bool,
    invalidate: bool,
}

impl Memory {
    /// Does the operation of a system instruction. An operation by address needs only the permission to load.
    pub fn maintain<M: Mmu>(&mut self, bus: &mut Bus, mmu: &M, now: u64, what: Maintenance) -> Done<(), M::Status> {
        let mut trip = self.trip(bus, now);
        let mut result = Ok(());
        match what {
            Maintenance::Barrier(barrier) => self.barrier(&mut trip, barrier),
            Maintenance::Tlb(entries) => {
                self.work(&mut trip);
                self.state.tlb.invalidate(entries);
                self.follow_empty_micro_tlbs();
            }
            Maintenance::BranchPredictor(_) => {}
            Maintenance::Icache(lines) => result = self.icache_lines(&mut trip, mmu, lines),
            Maintenance::Dcache { lines, clean, invalidate } => {
                result = self.dcache_lines(&mut trip, mmu, lines, Work { clean, invalidate });
            }
        }
        trip.done(result)
    }

    fn work(&mut self, trip: &mut Trip) {
        let until = trip.meter.now() + self.config.maintenance_cycles;
        self.accounts.spend(&mut trip.meter, Part::Maintenance, until);
    }

    fn barrier(&mut self, trip: &mut Trip, barrier: Barrier) {
        match barrier {
            // Later accesses wait by themselves for earlier ones where required.
            Barrier::DataMemory => {}
            Barrier::DataSynchronization => {
                if self.streams[0] {
                    // The memory has had its line before: it answers.
                    let _ = self.end_gathering(trip);
                }
                self.wait_for_stores(trip);
                self.accounts.spend(&mut trip.meter, Part::Fill, self.state.fill_ends);
            }
            Barrier::InstructionSynchronization => self.forget_uncached(),
        }
    }

    fn icache_lines<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, lines: Lines) -> Result<(), AbortOf<M>> {
        self.work(trip);
        self.forget_uncached();
        self.learn_fetches();
        match lines {
            Lines::At(va) => {
                let place = self.data_place(trip, mmu, va, mmu.access(Kind::Read, 0))?;
                self.drop_icache_line(place.physical);
                if let (Some(snoop), Some(core)) = (&mut trip.bus.snoop, trip.bus.master) {
                    snoop.notify_others(core, Message::InstructionLine(place.physical));
                }
            }
            Lines::SetWay(register) => {
                let line = self.state.icache.as_ref().and_then(|cache| {
                    let (set, way) = set_way(cache.shape(), register);
                    cache.line_at(set, way)
                });
                line.into_iter().for_each(|line| self.drop_icache_line(line.line_addr));
            }
            Lines::All => {
                self.clear_fetched();
                self.state.icache.iter_mut().for_each(Cache::invalidate_all);
            }
        }
        Ok(())
    }

    pub(super) fn drop_icache_line(&mut self, physical: u32) {
        if let Some(cache) = &mut self.state.icache {
            self.fetched.remove_physical(cache.line_addr(physical));
            cache.drop_line(physical);
        }
    }

    fn dcache_lines<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, lines: Lines, work: Work) -> Result<(), AbortOf<M>> {
        self.forget_stream();
        let Some(cache) = &self.state.dcache else { return Ok(()) };
        let second_level = trip.bus.outer().filter(|cache| cache.follows_core());
        match (lines, second_level) {
            (Lines::At(va), _) => {
                let place = self.data_place(trip, mmu, va, mmu.access(Kind::Read, 0))?;
                self.dcache_line(trip, place.physical, work);
                self.snoop_line(trip, place.physical, work);
                self.outer_line_in_cluster(trip, place.physical, work);
            }
            (Lines::SetWay(register), Some(outer)) if is_of_second_level(register) => {
                let (set, way) = set_way(outer.shape(), register);
                match outer.line_at(set, way) {
                    Some(line) => self.outer_line_in_cluster(trip, line.line_addr, work),
                    None => self.work(trip),
                }
            }
            (Lines::SetWay(register), _) => {
                let (set, way) = set_way(cache.shape(), register);
                match cache.line_at(set, way) {
                    Some(line) => self.dcache_line(trip, line.line_addr, work),
                    None => self.work(trip),
                }
            }
            (Lines::All, _) => {
                let (sets, ways) = (cache.sets(), cache.shape().ways);
                for (set, way) in (0..sets).flat_map(|set| (0..ways).map(move |way| (set, way))) {
                    let line = self.state.dcache.as_ref().and_then(|cache| cache.line_at(set, way));
                    line.into_iter().for_each(|line| self.dcache_line(trip, line.line_addr, work));
                }
            }
        }
        Ok(())
    }

    /// Maintains the line that holds a physical address, if present.
    fn dcache_line(&mut self, trip: &mut Trip, physical: u32, work: Work) {
        self.work(trip);
        self.learn_uses_of_set(physical);
        self.forget_shortcuts(trip.bus, physical & !(self.shortcuts.line_of(0).1 - 1));
        let Some(cache) = &mut self.state.dcache else { return };
        let (line, bytes) = (cache.line_addr(physical), cache.shape().line_bytes);
        let dirty = work.clean && cache.clean(physical);
        if work.invalidate {
            cache.drop_line(physical);
            snoop_left(trip.bus, line);
        }
        if dirty {
            snoop_cleaned(trip.bus, line);
            self.write_after_fills(trip, |memory, after| memory.write_line(after, line, bytes, true));
        }
    }

    /// Maintains the line that holds a physical address in the data caches of other cores: the operations by address
    /// reach all cores of the cluster (ARM, B2.2.6).
    fn snoop_line(&mut self, trip: &mut Trip, physical: u32, work: Work) {
        let Some((line, bytes)) =
            self.state.dcache.as_ref().map(|cache| (cache.line_addr(physical), cache.shape().line_bytes))
        else {
            return;
        };
        let (Some(snoop), Some(core)) = (&mut trip.bus.snoop, trip.bus.master) else { return };
        let dirty = work.clean && snoop.clean_others(core, line);
        if work.invalidate {
            snoop.take(core, line);
        }
        if dirty {
            self.write_after_fills(trip, |memory, after| memory.write_line(after, line, bytes, true));
        }
    }

    /// Maintains the line of the second level that holds a physical address, if present, and if the core's operations
    /// reach that level.
    fn outer_line_in_cluster(&mut self, trip: &mut Trip, physical: u32, work: Work) {
        if !trip.bus.outer().is_some_and(OuterCache::follows_core) {
            return;
        }
        self.work(trip);
        self.state.outer_uses += 1;
        let Some(cache) = trip.bus.outer_mut() else { return };
        let (line, dirty) = (line_of(cache, physical), work.clean && cache.clean(physical));
        if work.invalidate {
            cache.drop_line(physical);
        }
        if dirty {
            self.write_after_fills(trip, |memory, after| memory.cast_out(after, line));
        }
    }

    /// Makes a write-back that the operation waits for, after line fills and earlier ones.
    fn write_after_fills(&mut self, trip: &mut Trip, write: impl FnOnce(&mut Memory, &mut Trip)) {
        let mut after = trip.after();
        after.meter.pass(self.state.fill_ends);
        write(self, &mut after);
        // The next one waits for it.
        self.state.fill_ends = after.meter.now();
        self.accounts.spend(&mut trip.meter, Part::Maintenance, self.state.fill_ends);
    }
}

/// The set and the way of [`Lines::SetWay`] in a cache of this shape.
fn set_way(shape: CacheShape, register: u32) -> (u32, u32) {
    let way = register.checked_shr(32 - shape.ways.trailing_zeros()).unwrap_or(0);
    (register >> shape.line_bytes.trailing_zeros(), way)
}

/// True if the level of [`Lines::SetWay`] is the second one.
fn is_of_second_level(register: u32) -> bool {
    register >> 1 & 7 == 1
}
