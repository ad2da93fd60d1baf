//! A cache's directory of present lines. The bytes themselves stay in the memory, so contents are always coherent and
//! only time depends on the directory.

use crate::state::{Fresh, State};

/// Largest cache: twice the size of the largest such chips, with a directory that fits a host.
pub const MOST_BYTES: u32 = 16 << 20;
/// Most lines of a set: each access checks all of them.
pub const MOST_WAYS: u32 = 1024;

/// Replacement policy of a full set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Replacement {
    /// The least recently used line.
    LeastRecentlyUsed,
    /// One way after the other.
    RoundRobin,
    /// A way chosen by a shift register of 16 bits, which advances with every replacement.
    PseudoRandom,
}

/// Write policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePolicy {
    /// Stores stay in the cache; a dirty line is written back when it is replaced. A store that misses fills the line
    /// first.
    WriteBack,
    /// Each store also goes to memory; one that misses changes nothing in the cache.
    WriteThrough,
}

/// Shape and policies of a cache. Sizes are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct CacheShape {
    /// Total size.
    #[state(skip)]
    pub size_bytes: u32,
    /// Size of a line.
    #[state(skip)]
    pub line_bytes: u32,
    /// Lines per set; 1 is direct-mapped.
    #[state(skip)]
    pub ways: u32,
    /// Policy for a full set.
    pub replacement: Replacement,
    /// Policy for stores.
    #[state(skip)]
    pub write: WritePolicy,
}

impl CacheShape {
    /// The shape, if its numbers are consistent.
    pub fn is_sound(&self) -> bool {
        let powers = [self.size_bytes, self.line_bytes, self.ways].iter().all(|n| n.is_power_of_two());
        let fits = self.ways.saturating_mul(self.line_bytes) <= self.size_bytes;
        powers
            && (8..=256).contains(&self.line_bytes)
            && fits
            && self.size_bytes <= MOST_BYTES
            && self.ways <= MOST_WAYS
    }

    /// The shape of a cache with `sets`, if there is one.
    pub fn of_sets(
        size_bytes: u32,
        line_bytes: u32,
        sets: u32,
        replacement: Replacement,
        write: WritePolicy,
    ) -> Option<CacheShape> {
        let set_bytes = line_bytes.checked_mul(sets).filter(|bytes| *bytes > 0 && size_bytes.is_multiple_of(*bytes))?;
        let shape = CacheShape { size_bytes, line_bytes, ways: size_bytes / set_bytes, replacement, write };
        shape.is_sound().then_some(shape)
    }
}

/// Totals since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct CacheCounters {
    /// Lines brought in.
    pub fills: u64,
    /// Dirty lines written back.
    pub write_backs: u64,
}

/// The line replaced by a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// Its address.
    pub line_addr: u32,
    /// It has to be written back.
    pub dirty: bool,
}

#[derive(Clone, Copy, Debug, State, Fresh)]
struct Line {
    /// Address of the line; [`NO_LINE`] when empty.
    addr: u32,
    dirty: bool,
    last_use: u64,
}

/// No line: with at least 8 bytes per line, bit 2 of a line's address is 0, as in every address that an access
/// compares.
pub const NO_LINE: u32 = u32::MAX;

/// The directory of a cache.
#[derive(Clone, Debug, State)]
pub struct Cache {
    shape: CacheShape,
    #[state(skip)]
    line_shift: u32,
    #[state(skip)]
    set_mask: u32,
    #[state(with = crate::state::fixed)]
    lines: Vec<Line>,
    uses: u64,
    /// The order of use was updated in a copy: `uses` does not include that.
    reordered: bool,
    turn: u32,
    counters: CacheCounters,
}

impl Cache {
    /// An empty cache.
    ///
    /// # Panics
    ///
    /// If the shape is not sound; a board's validation ensures that it is.
    pub fn new(shape: CacheShape) -> Cache {
        assert!(shape.is_sound(), "a board's cache shapes are validated");
        let sets = shape.size_bytes / shape.line_bytes / shape.ways;
        let empty = Line { addr: NO_LINE, dirty: false, last_use: 0 };
        Cache {
            shape,
            line_shift: shape.line_bytes.trailing_zeros(),
            set_mask: sets - 1,
            lines: vec![empty; (sets * shape.ways) as usize],
            uses: 0,
            reordered: false,
            turn: 0,
            counters: CacheCounters::default(),
        }
    }

    /// Its shape.
    pub fn shape(&self) -> CacheShape {
        self.shape
    }

    /// Sets the replacement policy.
    pub fn replace_by(&mut self, replacement: Replacement) {
        self.shape.replacement = replacement;
    }

    /// Totals since reset.
    pub fn counters(&self) -> CacheCounters {
        self.counters
    }

    /// True if any further accesses will have the same effect as in `other`, a copy of it from another time: the same
    /// lines, used in the same order.
    pub fn behaves_like(&self, other: &Cache) -> bool {
        if self.uses == other.uses && !self.reordered && !other.reordered {
            return true;
        }
        let ways = self.shape.ways as usize;
        let mut sets = self.lines.chunks(ways).zip(other.lines.chunks(ways));
        let by_use = self.shape.replacement == Replacement::LeastRecentlyUsed;
        self.turn == other.turn
            && sets.all(|(set, before)| same_lines(set, before) && (!by_use || same_order(set, before)))
    }

    /// Counts the fills and write-backs since `before`, a copy of it that behaves like it, `times` more times.
    pub fn repeat(&mut self, before: &Cache, times: u64) {
        let (now, then) = (self.counters, before.counters);
        self.counters.fills += times * (now.fills - then.fills);
        self.counters.write_backs += times * (now.write_backs - then.write_backs);
    }

    /// Address of the line that holds `addr`.
    pub fn line_addr(&self, addr: u32) -> u32 {
        addr & !(self.shape.line_bytes - 1)
    }

    /// Uses the line that holds `addr` if it is present; `store` makes it dirty under write-back. True for a hit.
    pub fn touch(&mut self, addr: u32, store: bool) -> bool {
        let dirties = store && self.shape.write == WritePolicy::WriteBack;
        let uses = self.uses + 1;
        let Some(line) = self.line_mut(addr) else { return false };
        line.last_use = uses;
        line.dirty |= dirties;
        self.uses = uses;
        true
    }

    /// A copy in which these lines have been used since, in this order.
    pub fn after_uses(&self, lines: Vec<u32>) -> Cache {
        let mut after = Cache { reordered: true, ..self.clone() };
        for line in lines {
            after.touch(line, false);
        }
        after
    }

    /// True if the line that holds `addr` is present.
    pub fn has(&mut self, addr: u32) -> bool {
        self.line_mut(addr).is_some()
    }

    /// As [`Cache::has`], read-only.
    pub fn holds(&self, addr: u32) -> bool {
        let (line_addr, first) = (self.line_addr(addr), (self.set_number(addr) * self.shape.ways) as usize);
        self.lines[first..first + self.shape.ways as usize].iter().any(|line| line.addr == line_addr)
    }

    /// True if the line that holds `addr` is present and dirty.
    pub fn is_dirty(&mut self, addr: u32) -> bool {
        self.line_mut(addr).is_some_and(|line| line.dirty)
    }

    /// Brings in the line that holds `addr`, which is absent; returns its victim.
    pub fn fill(&mut self, addr: u32, store: bool) -> Option<Victim> {
        self.fill_unlocked(addr, store, 0)
    }

    /// As [`Cache::fill`], but the ways whose bits in `locked` are set stay unchanged; at least one way is not locked.
    pub fn fill_unlocked(&mut self, addr: u32, store: bool, locked: u32) -> Option<Victim> {
        let dirty = store && self.shape.write == WritePolicy::WriteBack;
        self.uses += 1;
        self.counters.fills += 1;
        let (uses, line_addr) = (self.uses, self.line_addr(addr));
        let way = self.victim_way(addr, locked);
        let line = &mut self.set_of(addr)[way];
        let victim = (line.addr != NO_LINE).then_some(Victim { line_addr: line.addr, dirty: line.dirty });
        *line = Line { addr: line_addr, dirty, last_use: uses };
        self.counters.write_backs += u64::from(victim.is_some_and(|victim| victim.dirty));
        victim
    }

    /// Makes the line that holds `addr` clean. True if it was present and dirty: it has to be written back.
    pub fn clean(&mut self, addr: u32) -> bool {
        let cleaned = self.line_mut(addr).is_some_and(|line| std::mem::take(&mut line.dirty));
        // Its behaviour with further accesses has changed.
        self.uses += u64::from(cleaned);
        self.counters.write_backs += u64::from(cleaned);
        cleaned
    }

    /// The line that holds `addr` has been written back from elsewhere: it is clean.
    pub fn cleaned_elsewhere(&mut self, addr: u32) {
        if self.line_mut(addr).is_some_and(|line| std::mem::take(&mut line.dirty)) {
            self.uses += 1;
        }
    }

    /// The line in a way of a set, if present.
    pub fn line_at(&self, set: u32, way: u32) -> Option<Victim> {
        let index = (set & self.set_mask) * self.shape.ways + way % self.shape.ways;
        let line = self.lines[index as usize];
        (line.addr != NO_LINE).then_some(Victim { line_addr: line.addr, dirty: line.dirty })
    }

    /// True if the order of use of a set's lines matters.
    pub fn keeps_order(shape: CacheShape) -> bool {
        shape.ways > 1 && shape.replacement == Replacement::LeastRecentlyUsed
    }

    /// Number of sets.
    pub fn sets(&self) -> u32 {
        self.set_mask + 1
    }

    /// Size of a way: addresses at this distance share a set.
    pub fn way_bytes(&self) -> u32 {
        (self.set_mask + 1) << self.line_shift
    }

    /// Number of the set that `addr` belongs to.
    pub fn set_number(&self, addr: u32) -> u32 {
        (addr >> self.line_shift) & self.set_mask
    }

    /// Drops a line, dirty or not.
    pub fn drop_line(&mut self, addr: u32) {
        if let Some(line) = self.line_mut(addr) {
            (line.addr, line.dirty) = (NO_LINE, false);
            self.uses += 1;
        }
    }

    /// The line last used among the other lines of the set of `addr`.
    pub fn used_before(&mut self, addr: u32) -> Option<u32> {
        let line_addr = self.line_addr(addr);
        let others = self.set_of(addr).iter().filter(|line| line.addr != line_addr && line.addr != NO_LINE);
        others.max_by_key(|line| line.last_use).map(|line| line.addr)
    }

    /// Drops all lines, dirty ones too.
    pub fn invalidate_all(&mut self) {
        self.uses += 1;
        self.lines.iter_mut().for_each(|line| (line.addr, line.dirty) = (NO_LINE, false));
    }

    fn victim_way(&mut self, addr: u32, locked: u32) -> usize {
        let ways = self.shape.ways;
        let is_free = |way: usize| locked.checked_shr(way as u32).unwrap_or(0) & 1 == 0;
        let set = self.set_of(addr);
        if let Some(empty) = set.iter().enumerate().position(|(way, line)| line.addr == NO_LINE && is_free(way)) {
            return empty;
        }
        // The first way that is not locked, from the chosen way on.
        let from =
            |chosen: u32| (0..ways).map(|n| ((chosen + n) % ways) as usize).find(|way| is_free(*way)).unwrap_or(0);
        match self.shape.replacement {
            Replacement::LeastRecentlyUsed => {
                let lines = self.set_of(addr).iter().enumerate().filter(|(way, _)| is_free(*way));
                lines.min_by_key(|(_, line)| line.last_use).map_or(0, |(way, _)| way)
            }
            Replacement::RoundRobin => {
                let way = from(self.turn);
                self.turn = (way as u32 + 1) % ways;
                way
            }
            Replacement::PseudoRandom => {
                // x^16 + x^14 + x^13 + x^11 + 1; the state is kept inverted, so that it starts at a legal one.
                let state = !self.turn & 0xffff;
                let bit = (state ^ state >> 2 ^ state >> 3 ^ state >> 5) & 1;
                self.turn = !(state >> 1 | bit << 15) & 0xffff;
                from(state % ways)
            }
        }
    }

    /// The line that holds `addr`, if present.
    #[inline]
    fn line_mut(&mut self, addr: u32) -> Option<&mut Line> {
        let line_addr = self.line_addr(addr);
        self.set_of(addr).iter_mut().find(|line| line.addr == line_addr)
    }

    fn set_of(&mut self, addr: u32) -> &mut [Line] {
        let first = (self.set_number(addr) * self.shape.ways) as usize;
        &mut self.lines[first..first + self.shape.ways as usize]
    }
}

/// True if two states of a set hold the same lines.
fn same_lines(set: &[Line], before: &[Line]) -> bool {
    set.iter().zip(before).all(|(line, before)| (line.addr, line.dirty) == (before.addr, before.dirty))
}

/// True if they were used in the same order.
fn same_order(set: &[Line], before: &[Line]) -> bool {
    let later = |set: &[Line], one: usize, other: usize| set[one].last_use > set[other].last_use;
    (0..set.len()).all(|one| (0..one).all(|other| later(set, one, other) == later(before, one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(ways: u32, write: WritePolicy) -> Cache {
        // 4 sets of 16-byte lines.
        let replacement = Replacement::LeastRecentlyUsed;
        Cache::new(CacheShape { size_bytes: 64 * ways, line_bytes: 16, ways, replacement, write })
    }

    #[test]
    fn a_direct_mapped_set_holds_one_line() {
        let mut cache = cache(1, WritePolicy::WriteBack);
        assert!(!cache.touch(0x100, false));
        assert_eq!(cache.fill(0x100, false), None);
        assert!(cache.touch(0x10f, false));
        assert_eq!(cache.fill(0x140, false), Some(Victim { line_addr: 0x100, dirty: false }));
        assert!(!cache.touch(0x100, false));
    }

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache = cache(2, WritePolicy::WriteBack);
        cache.fill(0x000, false);
        cache.fill(0x040, false);
        assert!(cache.touch(0x000, false));
        assert_eq!(cache.fill(0x080, false).map(|victim| victim.line_addr), Some(0x040));
    }

    #[test]
    fn a_store_dirties_a_line_only_under_write_back() {
        for (write, dirty) in [(WritePolicy::WriteBack, true), (WritePolicy::WriteThrough, false)] {
            let mut cache = cache(1, write);
            cache.fill(0x100, false);
            assert!(cache.touch(0x104, true));
            assert_eq!(cache.is_dirty(0x100), dirty);
            assert_eq!(cache.fill(0x140, false), Some(Victim { line_addr: 0x100, dirty }));
            assert_eq!(cache.counters().write_backs, u64::from(dirty));
        }
    }

    #[test]
    fn a_random_way_goes_and_all_of_them_do() {
        let replacement = Replacement::PseudoRandom;
        let shape = CacheShape { size_bytes: 256, line_bytes: 16, ways: 4, replacement, write: WritePolicy::WriteBack };
        let mut cache = Cache::new(shape);
        (0..4).for_each(|n| assert_eq!(cache.fill(n * 64, false), None));
        let mut went = [0; 4];
        for n in 4..4000 {
            let set = (0..4).map(|way| cache.line_at(0, way)).collect::<Vec<_>>();
            let victim = cache.fill(n * 64, false);
            went[set.iter().position(|line| *line == victim).unwrap()] += 1;
        }
        assert!(went.iter().all(|times| (900..1100).contains(times)), "{went:?}");
    }

    #[test]
    fn locked_ways_keep_their_lines() {
        for replacement in [Replacement::LeastRecentlyUsed, Replacement::RoundRobin, Replacement::PseudoRandom] {
            let shape =
                CacheShape { size_bytes: 256, line_bytes: 16, ways: 4, replacement, write: WritePolicy::WriteBack };
            let mut cache = Cache::new(shape);
            assert_eq!(cache.fill_unlocked(0x000, false, 0b0101), None);
            assert_eq!(cache.fill_unlocked(0x040, false, 0b0101), None);
            assert_eq!([0, 2].map(|way| cache.line_at(0, way)), [None, None]);
            for n in 2..40 {
                assert!(cache.fill_unlocked(n * 0x40, false, 0b0101).is_some());
                assert_eq!([0, 2].map(|way| cache.line_at(0, way)), [None, None]);
            }
        }
    }

    #[test]
    fn a_cleaned_line_stays_and_is_written_back_once() {
        let mut cache = cache(2, WritePolicy::WriteBack);
        cache.fill(0x100, true);
        assert!(cache.clean(0x10c) && !cache.clean(0x100) && !cache.clean(0x200));
        assert!(cache.touch(0x100, false) && !cache.is_dirty(0x100));
        assert_eq!(cache.counters().write_backs, 1);
    }

    #[test]
    fn shapes_that_do_not_fit_are_not_sound() {
        let sound = cache(2, WritePolicy::WriteBack).shape();
        assert!(sound.is_sound());
        assert!(!CacheShape { ways: 3, ..sound }.is_sound());
        assert!(!CacheShape { line_bytes: 256, ..sound }.is_sound());
        assert!(!CacheShape { size_bytes: 0, ..sound }.is_sound());
    }
}
