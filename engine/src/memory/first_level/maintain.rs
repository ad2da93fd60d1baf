//! Maintenance of caches and TLBs, and barriers.

use super::access::{Abort, Access, Barrier, Kind, Lines, Maintenance};
use super::accounts::Part;
use super::meter::Meter;
use super::mmu::Mmu;
use super::{Done, Memory};
use crate::bus::Bus;
use crate::memory::cache::{Cache, CacheShape, Victim};
use crate::memory::outer::OuterCache;

/// What happens to a line of the data cache.
#[derive(Clone, Copy)]
struct Work {
    clean: bool,
    invalidate: bool,
}

impl Memory {
    /// Does what a system instruction asked for.
    pub fn maintain<M: Mmu>(&mut self, bus: &mut Bus, mmu: &M, now: u64, what: Maintenance) -> Done<(), M::Status> {
        let mut meter = self.meter(now);
        let result = match what {
            Maintenance::Barrier(barrier) => {
                self.barrier(&mut meter, barrier);
                Ok(())
            }
            Maintenance::Tlb(entries) => {
                self.work(&mut meter);
                self.state.tlb.invalidate(entries);
                self.translations_went();
                Ok(())
            }
            Maintenance::BranchPredictor(_) => Ok(()),
            Maintenance::Icache(lines) => self.icache_lines(bus, mmu, &mut meter, lines),
            Maintenance::Dcache { lines, clean, invalidate } => {
                self.dcache_lines(bus, mmu, &mut meter, lines, Work { clean, invalidate })
            }
        };
        Done { cycles: meter.spent(), result }
    }

    fn work(&mut self, meter: &mut Meter) {
        self.accounts.spend(meter, Part::Maintenance, meter.now() + self.config.maintenance_cycles);
    }

    fn translations_went(&mut self) {
        self.shortcuts.clear();
        self.fetched.clear();
        self.forget_uncached();
    }

    fn barrier(&mut self, meter: &mut Meter, barrier: Barrier) {
        match barrier {
            // Later accesses wait by themselves for those that they have to come behind.
            Barrier::DataMemory => {}
            Barrier::DataSynchronization => {
                self.accounts.spend(meter, Part::Stores, self.state.stores.all_done());
                self.accounts.spend(meter, Part::Fill, self.state.fill_ends);
            }
            Barrier::InstructionSynchronization => self.forget_uncached(),
        }
    }

    fn icache_lines<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        lines: Lines,
    ) -> Result<(), Abort<M::Status>> {
        self.work(meter);
        self.forget_uncached();
        self.fetched.clear();
        match lines {
            Lines::At(va) => {
                let place = self.data_place(bus, mmu, meter, va, reading(mmu))?;
                self.state.icache.iter_mut().for_each(|cache| cache.drop_line(place.physical));
            }
            Lines::SetWay(register) => {
                if let Some(cache) = &mut self.state.icache {
                    let line = set_way(cache.shape(), register, |set, way| cache.line_at(set, way));
                    line.into_iter().for_each(|line| cache.drop_line(line.line_addr));
                }
            }
            Lines::All => self.state.icache.iter_mut().for_each(Cache::invalidate_all),
        }
        Ok(())
    }

    fn dcache_lines<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        meter: &mut Meter,
        lines: Lines,
        work: Work,
    ) -> Result<(), Abort<M::Status>> {
        let Some(shape) = self.config.dcache else { return Ok(()) };
        match lines {
            Lines::At(va) => {
                let place = self.data_place(bus, mmu, meter, va, reading(mmu))?;
                self.dcache_line(bus, meter, place.physical, work);
                self.outer_line_in_cluster(bus, meter, place.physical, work);
            }
            Lines::SetWay(register) if is_of_second_level(register) && has_second_level(bus) => {
                let line =
                    bus.outer().and_then(|cache| set_way(cache.shape(), register, |set, way| cache.line_at(set, way)));
                match line {
                    Some(line) => self.outer_line_in_cluster(bus, meter, line.line_addr, work),
                    None => self.work(meter),
                }
            }
            Lines::SetWay(register) => {
                let line = self
                    .state
                    .dcache
                    .as_ref()
                    .and_then(|cache| set_way(cache.shape(), register, |set, way| cache.line_at(set, way)));
                match line {
                    Some(line) => self.dcache_line(bus, meter, line.line_addr, work),
                    None => self.work(meter),
                }
            }
            Lines::All => {
                let sets = self.state.dcache.as_ref().map_or(0, Cache::sets);
                for (set, way) in (0..sets).flat_map(|set| (0..shape.ways).map(move |way| (set, way))) {
                    let line = self.state.dcache.as_ref().and_then(|cache| cache.line_at(set, way));
                    line.into_iter().for_each(|line| self.dcache_line(bus, meter, line.line_addr, work));
                }
            }
        }
        Ok(())
    }

    /// The line that holds a physical address, if it is there.
    fn dcache_line(&mut self, bus: &mut Bus, meter: &mut Meter, physical: u32, work: Work) {
        self.work(meter);
        self.forget_shortcuts(bus, physical & !(self.shortcuts.line_of(0).1 - 1));
        let Some(cache) = &mut self.state.dcache else { return };
        let (line, bytes) = (cache.line_addr(physical), cache.shape().line_bytes);
        let dirty = work.clean && cache.clean(physical);
        if work.invalidate {
            cache.drop_line(physical);
        }
        if dirty {
            let mut behind = meter.behind();
            behind.pass(self.state.fill_ends);
            self.write_line(bus, &mut behind, line, bytes, true);
            // The next is written behind it.
            self.state.fill_ends = behind.now();
            self.accounts.spend(meter, Part::Maintenance, behind.now());
        }
    }

    /// The line of the second level that holds a physical address, if it is there and the core's operations reach it.
    fn outer_line_in_cluster(&mut self, bus: &mut Bus, meter: &mut Meter, physical: u32, work: Work) {
        if !has_second_level(bus) {
            return;
        }
        self.work(meter);
        self.state.outer_uses += 1;
        let Some(cache) = bus.outer_mut() else { return };
        let (line, dirty) = (physical & !(cache.shape().line_bytes - 1), work.clean && cache.clean(physical));
        if work.invalidate {
            cache.drop_line(physical);
        }
        if dirty {
            let mut behind = meter.behind();
            behind.pass(self.state.fill_ends);
            self.cast_out(bus, &mut behind, line);
            self.state.fill_ends = behind.now();
            self.accounts.spend(meter, Part::Maintenance, behind.now());
        }
    }
}

/// What is where [`Lines::SetWay`] says, in a cache of this shape.
fn set_way(shape: CacheShape, register: u32, line_at: impl Fn(u32, u32) -> Option<Victim>) -> Option<Victim> {
    let way = register.checked_shr(32 - shape.ways.trailing_zeros()).unwrap_or(0);
    line_at(register >> shape.line_bytes.trailing_zeros(), way)
}

/// The level of [`Lines::SetWay`] is the second one.
fn is_of_second_level(register: u32) -> bool {
    register >> 1 & 7 == 1
}

/// True if there is a second level that the core's operations reach.
fn has_second_level(bus: &Bus) -> bool {
    bus.outer().is_some_and(OuterCache::follows_core)
}

/// Maintenance by address needs no more permission than a load.
fn reading(mmu: &impl Mmu) -> Access {
    Access { kind: Kind::Read, privileged: mmu.is_privileged() }
}
