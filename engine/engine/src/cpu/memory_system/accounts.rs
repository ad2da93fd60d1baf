//! The time of accesses, by cause.

use super::meter::{Meter, Passed};
use crate::bus::Bus;
use crate::observe::stack::PURPOSES;
use crate::state::{Fresh, State};
use crate::time::Cycles;

/// Purpose of an access, in the order of [`PURPOSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Purpose {
    /// An instruction fetch.
    Fetch,
    /// A load.
    Load,
    /// A store, or a line that is written back.
    Store,
    /// A table walk.
    Walk,
    /// The fetch of an instruction that did not run: after a taken branch.
    Discarded,
}

/// Index of the interconnect's share in [`EntryCycles`].
const ON_THE_WAY: usize = PURPOSES.len();

/// Time of accesses through one map entry: at the memory or device itself by purpose, and on the interconnect.
type EntryCycles = [u64; ON_THE_WAY + 1];

/// Time that does not belong to a map entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// The second-level cache's controller.
    Outer,
    /// From a miss in a micro TLB to the main TLB's answer.
    Tlb,
    /// Waiting for stores that are under way.
    Stores,
    /// Waiting for the end of an earlier line fill.
    Fill,
    /// Cache and TLB maintenance.
    Maintenance,
    /// The bus matrix switches to another slave.
    Matrix,
    /// A load that does not overlap the one before, which is of another memory.
    OtherMemory,
    /// A line from another core's cache, or a store to a line that others may have.
    Snoop,
    /// Number of parts.
    Count,
}

/// The parts' names, in the order of [`Part`].
const PARTS: [&str; Part::Count as usize] = [
    "second-level cache",
    "TLB miss",
    "store buffer",
    "earlier line fill",
    "cache and TLB maintenance",
    "bus matrix",
    "loads of two memories",
    "other cores' caches",
];

/// A wait of this many cycles is long: the run may end within it.
pub const LONG_CYCLES: u64 = 1 << 12;

/// A long wait: of an access, or for an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct LongWait {
    /// Number of the sum that it was charged to.
    pub sum: u32,
    /// The core's cycle in which it began.
    pub from: u64,
    /// The first cycle after it.
    pub until: u64,
}

/// The time of accesses so far, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Accounts {
    entries: Vec<EntryCycles>,
    parts: [u64; Part::Count as usize],
    grown: Grown,
    last_long: LastLong,
}

/// The last long wait. Comparisons of accounts ignore it.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
struct LastLong(Option<LongWait>);

impl PartialEq for LastLong {
    fn eq(&self, _: &LastLong) -> bool {
        true
    }
}

impl Eq for LastLong {}

/// Map entries with sums that have grown since the profile last read them, as bits: entries from 63 on share the last
/// one. Comparisons of accounts ignore it.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
struct Grown(u64);

impl PartialEq for Grown {
    fn eq(&self, _: &Grown) -> bool {
        true
    }
}

impl Eq for Grown {}

impl Grown {
    #[inline(always)]
    fn note(&mut self, entry: usize) {
        self.0 |= 1 << entry.min(u64::BITS as usize - 1);
    }
}

/// Number of sums per map entry.
const SUMS_AN_ENTRY: u32 = ON_THE_WAY as u32 + 1;

impl Accounts {
    /// Adds the difference between two moments, `times` times.
    pub fn add_difference(&mut self, to: &Accounts, from: &Accounts, times: u64) {
        for (index, sum) in self.parts.iter_mut().enumerate() {
            *sum += times * (to.parts[index] - from.parts[index]);
        }
        self.entries.resize(to.entries.len().max(self.entries.len()), EntryCycles::default());
        for (index, to) in to.entries.iter().enumerate() {
            let before = from.entries.get(index).copied().unwrap_or_default();
            for (purpose, sum) in self.entries[index].iter_mut().enumerate() {
                *sum += times * (to[purpose] - before[purpose]);
            }
        }
    }

    /// Copies `other`; the sums stay at their addresses.
    pub fn become_as(&mut self, other: &Accounts) {
        self.entries.clone_from(&other.entries);
        self.parts = other.parts;
    }

    /// The sum of all time.
    pub fn total(&self) -> u64 {
        self.parts.iter().sum::<u64>() + self.entries.iter().flatten().sum::<u64>()
    }

    /// The part that fetches took at the memories.
    pub fn fetches(&self) -> u64 {
        let of_entry = |cycles: &EntryCycles| cycles[Purpose::Fetch as usize] + cycles[Purpose::Discarded as usize];
        self.entries.iter().map(of_entry).sum()
    }

    // ---- For profiles: sums are numbered, those of parts first

    /// True if `seen` has the same sums.
    #[inline]
    pub fn are_seen(&self, seen: &Accounts) -> bool {
        self.grown.0 == 0 && self.parts == seen.parts
    }

    /// Reports each sum that has grown since it was `seen`, and its growth; updates `seen`.
    pub fn report_growth(&mut self, seen: &mut Accounts, mut report: impl FnMut(u32, u64)) {
        for (number, (now, seen)) in self.parts.iter().zip(&mut seen.parts).enumerate() {
            if now != seen {
                report(number as u32, *now - *seen);
                *seen = *now;
            }
        }
        seen.entries.resize(self.entries.len(), EntryCycles::default());
        let mut grown = std::mem::take(&mut self.grown).0;
        while grown != 0 {
            let first = grown.trailing_zeros() as usize;
            grown &= grown - 1;
            // The last bit stands for all entries from 63 on.
            let last = if first + 1 == u64::BITS as usize { self.entries.len() } else { first + 1 };
            for entry in first..last.min(self.entries.len()) {
                for (sum, (now, seen)) in self.entries[entry].iter().zip(&mut seen.entries[entry]).enumerate() {
                    if now != seen {
                        report(Self::number(entry, sum), *now - *seen);
                        *seen = *now;
                    }
                }
            }
        }
    }

    /// Addresses of the sums of a map entry with these numbers; `None` if there is no room for it yet.
    pub fn seen_at(&self, numbers: [u32; 2]) -> Option<[usize; 2]> {
        let sums = self.entries.as_flattened();
        let at = |number: u32| {
            let place = number.checked_sub(Part::Count as u32)? as usize;
            sums.get(place).map(|sum| std::ptr::from_ref(sum).expose_provenance())
        };
        Some([at(numbers[0])?, at(numbers[1])?])
    }

    /// Reports each sum that has grown since `before`: its number, and its growth.
    pub fn report_growth_since(&self, before: &Accounts, mut report: impl FnMut(u32, u64)) {
        for (number, (now, before)) in self.parts.iter().zip(&before.parts).enumerate() {
            if now != before {
                report(number as u32, now - before);
            }
        }
        for (entry, now) in self.entries.iter().enumerate() {
            let before = before.entries.get(entry).copied().unwrap_or_default();
            // Not the comparison of slices, which is a function call.
            if now.iter().zip(before).any(|(now, before)| *now != before) {
                let sums = now.iter().zip(before).enumerate().filter(|(_, (now, before))| *now != before);
                sums.for_each(|(sum, (now, before))| report(Self::number(entry, sum), now - before));
            }
        }
    }

    const fn number(entry: usize, sum: usize) -> u32 {
        Part::Count as u32 + entry as u32 * SUMS_AN_ENTRY + sum as u32
    }

    /// Numbers of the two sums that [`Accounts::add_at`] adds to.
    pub const fn numbers_of(entry: usize, purpose: Purpose) -> [u32; 2] {
        [Self::number(entry, purpose as usize), Self::number(entry, ON_THE_WAY)]
    }

    /// The names of all sums, by number, as in [`Accounts::named`].
    pub fn names(bus: &Bus) -> Vec<String> {
        let mut names: Vec<String> = PARTS.iter().map(|name| (*name).to_owned()).collect();
        for (index, entry) in bus.map.iter().enumerate() {
            names.extend(PURPOSES.iter().map(|purpose| format!("{purpose}: {}", entry.name)));
            let route = bus.path(index).route.map_or(String::new(), |route| bus.routes[route].name.clone());
            names.push(format!("interconnect: {route}"));
        }
        names
    }

    /// The time by cause, under the names for the user.
    pub fn named(&self, bus: &Bus) -> Vec<(String, Cycles)> {
        let mut causes = Vec::new();
        let mut on_the_way = vec![0; bus.routes.len()];
        for (index, (entry, cycles)) in bus.map.iter().zip(&self.entries).enumerate() {
            for (purpose, cycles) in PURPOSES.into_iter().zip(cycles) {
                causes.push((format!("{purpose}: {}", entry.name), *cycles));
            }
            if let Some(route) = bus.path(index).route {
                on_the_way[route] += cycles[ON_THE_WAY];
            }
        }
        let interconnects = bus.routes.iter().zip(on_the_way);
        causes.extend(interconnects.map(|(route, cycles)| (format!("interconnect: {}", route.name), cycles)));
        causes.extend(PARTS.into_iter().zip(self.parts).map(|(name, cycles)| (name.to_owned(), cycles)));
        causes.into_iter().map(|(cause, cycles)| (cause, Cycles(cycles))).collect()
    }

    /// Offset of the parts, for compiled code, which adds to them as [`Accounts::add`] does.
    pub const PARTS: usize = std::mem::offset_of!(Accounts, parts);

    /// Address of the sums of a map entry. It does not change once there is room for all entries.
    pub(super) fn sums_at(&mut self, entry: usize) -> usize {
        self.entries[entry].as_mut_ptr().expose_provenance()
    }

    /// Addresses of the two sums to which [`Accounts::add_at`] adds.
    pub(super) fn sums_of(sums: usize, purpose: Purpose) -> [usize; 2] {
        [purpose as usize, ON_THE_WAY].map(|index| sums + index * size_of::<u64>())
    }

    /// Makes room for each of the bus's map entries.
    #[inline(always)]
    pub fn follow(&mut self, bus: &Bus) {
        if self.entries.len() != bus.map.len() {
            self.make_room(bus);
        }
    }

    #[cold]
    fn make_room(&mut self, bus: &Bus) {
        self.entries.resize(bus.map.len(), EntryCycles::default());
    }

    /// The last long wait, if there was one since the core's clock changed.
    pub fn last_long(&self) -> Option<LongWait> {
        self.last_long.0
    }

    /// Invalidates cycle numbers, which have changed.
    pub(super) fn renumber(&mut self) {
        self.last_long = LastLong(None);
    }

    /// Notes a wait up to `until`, charged to a sum; it may be long.
    #[inline(always)]
    fn note(&mut self, sum: u32, cycles: u64, until: u64) {
        if cycles >= LONG_CYCLES {
            self.last_long = LastLong(Some(LongWait { sum, from: until - cycles, until }));
        }
    }

    /// As [`Accounts::note`], for cycles at a map entry.
    #[inline(always)]
    pub fn note_at(&mut self, entry: usize, purpose: Purpose, cycles: u64, until: u64) {
        self.note(Self::number(entry, purpose as usize), cycles, until);
    }

    /// Advances to core cycle `until`, charging this part.
    #[inline]
    pub(super) fn spend(&mut self, meter: &mut Meter, part: Part, until: u64) {
        let cycles = meter.pass(until);
        self.parts[part as usize] += cycles;
        self.note(part as u32, cycles, until);
    }

    /// Waits from core cycle `from` up to `until` for stores that are under way.
    #[inline(always)]
    pub(super) fn wait_for_stores(&mut self, from: u64, until: u64) {
        self.add(Part::Stores, until - from);
        self.note(Part::Stores as u32, until - from, until);
    }

    /// Charges cycles to a part.
    #[inline]
    pub(super) fn add(&mut self, part: Part, cycles: u64) {
        self.parts[part as usize] += cycles;
    }

    /// Charges cycles at a map entry, and on the way there and back; [`Accounts::follow`] has made room for it.
    #[inline(always)]
    pub fn add_at(&mut self, entry: usize, purpose: Purpose, cycles: u64, on_the_way: u64) {
        self.grown.note(entry);
        let sums = &mut self.entries[entry];
        sums[purpose as usize] += cycles;
        sums[ON_THE_WAY] += on_the_way;
    }

    /// Advances to core cycle `until`, charging a map entry.
    pub(super) fn spend_at(&mut self, meter: &mut Meter, purpose: Purpose, entry: usize, until: u64) {
        self.grown.note(entry);
        self.add_to(meter, entry, purpose as usize, until);
    }

    /// Advances to core cycle `until`, charging one of a map entry's sums.
    #[inline]
    fn add_to(&mut self, meter: &mut Meter, entry: usize, sum: usize, until: u64) {
        let cycles = meter.pass(until);
        self.entries[entry][sum] += cycles;
        self.note(Self::number(entry, sum), cycles, until);
    }

    /// Advances to the end of a transfer. A part of it may have passed already.
    #[inline]
    pub(super) fn charge(&mut self, meter: &mut Meter, purpose: Purpose, passed: &Passed) {
        let Passed { entry, times, .. } = *passed;
        self.grown.note(entry);
        if passed.routed {
            self.add_to(meter, entry, ON_THE_WAY, times.arrived);
            self.add_to(meter, entry, purpose as usize, times.answered);
            self.add_to(meter, entry, ON_THE_WAY, times.done);
        } else {
            self.add_to(meter, entry, purpose as usize, times.done);
        }
    }
}
