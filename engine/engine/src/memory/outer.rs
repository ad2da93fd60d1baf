//! A second-level cache between the cores and the interconnect, for the accesses through it: a directory and its
//! latencies. Its registers belong to a device (`arm,pl310-cache`), which finds it on the bus; a cache inside the
//! cores' cluster (`cache`) has no registers.

use super::cache::{Cache, CacheShape, Replacement, Victim};
use crate::state::State;
use crate::time::{Cycles, Hz};

/// Its timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct OuterTiming {
    /// Its clock.
    pub clock: Hz,
    /// From a request at its slave port to the same request at its master port, or to its RAMs; with the cache off,
    /// too.
    #[state(skip)]
    pub request_cycles: Cycles,
    /// From an answer at its master port, or from its RAMs, to the same answer at its slave port.
    #[state(skip)]
    pub response_cycles: Cycles,
    /// From one beat of a line to the next.
    #[state(skip)]
    pub beat_cycles: Cycles,
    /// Bytes of a beat.
    #[state(skip)]
    pub beat_bytes: u32,
}

/// Events that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum OuterEvent {
    DataReadHit,
    DataReadRequest,
    DataWriteHit,
    DataWriteRequest,
    InstructionReadHit,
    InstructionReadRequest,
    CastOut,
    WriteAllocation,
    /// Number of events.
    Count,
}

/// The cache.
#[derive(Clone, Debug, State)]
pub struct OuterCache {
    timing: OuterTiming,
    cache: Cache,
    /// It is enabled.
    pub enabled: bool,
    /// It has no enable and no registers of its own: see [`OuterCache::follow_core`].
    #[state(skip)]
    follows_core: bool,
    /// Cycles of a tag lookup, and of a data access.
    pub ram_cycles: [Cycles; 2],
    /// Ways in which data and instructions are not allocated: bit n is way n.
    pub locked: [u32; 2],
    events: [u64; OuterEvent::Count as usize],
}

impl OuterCache {
    /// An empty cache, disabled.
    ///
    /// # Panics
    ///
    /// If the shape is not sound; a board's validation ensures that it is.
    pub fn new(shape: CacheShape, timing: OuterTiming) -> OuterCache {
        OuterCache {
            timing,
            cache: Cache::new(shape),
            enabled: false,
            follows_core: false,
            ram_cycles: [Cycles(1); 2],
            locked: [0; 2],
            events: [0; OuterEvent::Count as usize],
        }
    }

    /// Puts it inside the cores' cluster: it is on for accesses of a core whose data cache is on, and maintained by the
    /// core's operations. `ram_cycles` are the cycles of a tag lookup, and of a data access.
    pub fn follow_core(&mut self, ram_cycles: [Cycles; 2]) {
        (self.enabled, self.follows_core, self.ram_cycles) = (true, true, ram_cycles);
    }

    /// True if it is inside the cores' cluster.
    pub fn follows_core(&self) -> bool {
        self.follows_core
    }

    /// Sets the rate of its clock.
    pub fn set_clock(&mut self, rate: Hz) {
        self.timing.clock = rate;
    }

    /// Its timing.
    pub fn timing(&self) -> &OuterTiming {
        &self.timing
    }

    /// Its shape.
    pub fn shape(&self) -> CacheShape {
        self.cache.shape()
    }

    /// Sets the replacement policy.
    pub fn replace_by(&mut self, replacement: Replacement) {
        self.cache.replace_by(replacement);
    }

    /// Number of occurrences of an event.
    pub fn events(&self, event: OuterEvent) -> u64 {
        self.events[event as usize]
    }

    /// Lines brought in and written back.
    pub fn counters(&self) -> super::cache::CacheCounters {
        self.cache.counters()
    }

    /// Its counts, with the names for the user.
    pub fn totals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        const NAMES: [(&str, OuterEvent); 7] = [
            ("data reads", OuterEvent::DataReadRequest),
            ("data read hits", OuterEvent::DataReadHit),
            ("data writes", OuterEvent::DataWriteRequest),
            ("data write hits", OuterEvent::DataWriteHit),
            ("instruction reads", OuterEvent::InstructionReadRequest),
            ("instruction read hits", OuterEvent::InstructionReadHit),
            ("write-backs", OuterEvent::CastOut),
        ];
        NAMES.into_iter().map(|(name, event)| (name, self.events(event)))
    }

    /// Cycles of its RAMs for a request: to find the line, and on a hit, to read all of it.
    pub fn lookup_cycles(&self, hit: bool) -> Cycles {
        let beats = u64::from(self.shape().line_bytes / self.timing.beat_bytes.max(1));
        let data = self.ram_cycles[1].0 + beats.saturating_sub(1) * self.timing.beat_cycles.0;
        Cycles(self.ram_cycles[0].0 + if hit { data } else { 0 })
    }

    /// A read of a line. True for a hit; after a miss the caller calls [`OuterCache::fill`].
    pub fn read(&mut self, line: u32, instruction: bool) -> bool {
        let hit = self.cache.touch(line, false);
        let events = if instruction {
            [OuterEvent::InstructionReadRequest, OuterEvent::InstructionReadHit]
        } else {
            [OuterEvent::DataReadRequest, OuterEvent::DataReadHit]
        };
        self.count(events[0], true);
        self.count(events[1], hit);
        hit
    }

    /// A write of a whole line, or of a part of it: true if the line is present, and now dirty.
    pub fn write(&mut self, line: u32) -> bool {
        let hit = self.cache.touch(line, true);
        self.count(OuterEvent::DataWriteRequest, true);
        self.count(OuterEvent::DataWriteHit, hit);
        hit
    }

    /// Brings in an absent line, unless all ways are locked; returns its victim.
    pub fn fill(&mut self, line: u32, instruction: bool, dirty: bool) -> Option<Victim> {
        let locked = self.locked[usize::from(instruction)];
        let ways = u32::MAX >> (32 - self.shape().ways.min(32));
        if locked & ways == ways {
            // A written line without a free way goes to memory.
            return dirty.then_some(Victim { line_addr: line, dirty });
        }
        let victim = self.cache.fill_unlocked(line, dirty, locked);
        self.count(OuterEvent::WriteAllocation, dirty);
        self.count(OuterEvent::CastOut, victim.is_some_and(|victim| victim.dirty));
        victim
    }

    /// Drops a line, dirty or not.
    pub fn drop_line(&mut self, addr: u32) {
        self.cache.drop_line(addr);
    }

    /// Makes a line clean: true if it was dirty.
    pub fn clean(&mut self, addr: u32) -> bool {
        self.cache.clean(addr)
    }

    /// The line in a way of a set.
    pub fn line_at(&self, set: u32, way: u32) -> Option<Victim> {
        self.cache.line_at(set, way)
    }

    /// Number of sets.
    pub fn sets(&self) -> u32 {
        self.cache.sets()
    }

    fn count(&mut self, event: OuterEvent, happened: bool) {
        self.events[event as usize] += u64::from(happened);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::cache::WritePolicy;

    fn outer() -> OuterCache {
        let (replacement, write) = (Replacement::RoundRobin, WritePolicy::WriteBack);
        let shape = CacheShape { size_bytes: 256, line_bytes: 32, ways: 2, replacement, write };
        let clock = Hz::new(498_000_000).unwrap();
        let timing = OuterTiming {
            clock,
            request_cycles: Cycles(3),
            response_cycles: Cycles(2),
            beat_cycles: Cycles(1),
            beat_bytes: 8,
        };
        OuterCache::new(shape, timing)
    }

    #[test]
    fn a_line_is_found_once_it_was_brought_in() {
        let mut outer = outer();
        assert!(!outer.read(0x100, false) && !outer.write(0x100));
        assert_eq!(outer.fill(0x100, false, false), None);
        assert!(outer.read(0x100, true) && outer.write(0x100));
        assert!(outer.clean(0x100) && !outer.clean(0x100));
        let events = [OuterEvent::DataReadRequest, OuterEvent::InstructionReadHit, OuterEvent::DataWriteHit];
        assert_eq!(events.map(|event| outer.events(event)), [1, 1, 1]);
    }

    #[test]
    fn locked_ways_take_nothing() {
        let mut outer = outer();
        outer.locked = [0b11, 0b01];
        assert_eq!(outer.fill(0x100, false, false), None);
        assert!(!outer.read(0x100, false));
        assert_eq!(outer.fill(0x100, false, true), Some(Victim { line_addr: 0x100, dirty: true }));
        assert_eq!(outer.fill(0x100, true, false), None);
        assert!(outer.read(0x100, true) && outer.line_at(0, 0).is_none());
    }

    #[test]
    fn ram_latencies_make_the_time_of_a_hit() {
        let mut outer = outer();
        // Tags, data and three further beats.
        assert_eq!((outer.lookup_cycles(true), outer.lookup_cycles(false)), (Cycles(5), Cycles(1)));
        outer.ram_cycles = [Cycles(2), Cycles(4)];
        assert_eq!((outer.lookup_cycles(true), outer.lookup_cycles(false)), (Cycles(9), Cycles(2)));
    }
}
