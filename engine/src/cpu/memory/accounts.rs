//! Where the time of accesses went.

use super::meter::{Meter, Passed};
use crate::bus::Bus;
use crate::observe::stack::PURPOSES;
use crate::state::{Fresh, State};
use crate::time::Cycles;

/// What an access was for, in the order of [`PURPOSES`].
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
    /// The fetch of an instruction that was not run: behind a taken branch.
    Discarded,
}

/// Index of the interconnect's share in [`EntryCycles`].
const ON_THE_WAY: usize = PURPOSES.len();

/// Time of accesses through one map entry: at the memory or device itself by purpose, and on the interconnect.
type EntryCycles = [u64; ON_THE_WAY + 1];

/// Time that belongs to no map entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// The second-level cache's controller.
    Outer,
    /// A miss in a micro TLB, up to the main TLB's answer.
    Tlb,
    /// Waiting for stores that are under way.
    Stores,
    /// Waiting for the end of an earlier line fill.
    Fill,
    /// Cache and TLB maintenance.
    Maintenance,
    /// The bus matrix turns to another slave.
    Matrix,
    /// Not a part: how many there are.
    Count,
}

/// The parts' names, in the order of [`Part`].
const PARTS: [&str; Part::Count as usize] =
    ["second-level cache", "TLB miss", "store buffer", "earlier line fill", "cache and TLB maintenance", "bus matrix"];

/// The time of accesses so far, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Accounts {
    entries: Vec<EntryCycles>,
    parts: [u64; Part::Count as usize],
    grown: Grown,
}

/// Map entries some of whose sums have grown since a profile has looked at them, as bits: those from 63 on have the
/// last one together. It is nothing by which accounts differ.
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

/// Sums of a map entry.
const SUMS_AN_ENTRY: u32 = ON_THE_WAY as u32 + 1;

impl Accounts {
    /// Adds what came between two moments, `times` times.
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

    /// The same as `other` from now on; the sums stay where they are.
    pub fn become_as(&mut self, other: &Accounts) {
        self.entries.clone_from(&other.entries);
        self.parts = other.parts;
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.parts.iter().sum::<u64>() + self.entries.iter().flatten().sum::<u64>()
    }

    /// Of all of it, what fetches took at the memories.
    pub fn fetches(&self) -> u64 {
        let of_entry = |cycles: &EntryCycles| cycles[Purpose::Fetch as usize] + cycles[Purpose::Discarded as usize];
        self.entries.iter().map(of_entry).sum()
    }

    // ---- For profiles: sums have numbers, those of parts first

    /// True if `seen` has all of it.
    #[inline]
    pub fn are_seen(&self, seen: &Accounts) -> bool {
        self.grown.0 == 0 && self.parts == seen.parts
    }

    /// Tells of each sum that has grown since it was `seen`, and by what; then all of it has been.
    pub fn tell_growth(&mut self, seen: &mut Accounts, mut tell: impl FnMut(u32, u64)) {
        for (number, (now, seen)) in self.parts.iter().zip(&mut seen.parts).enumerate() {
            if now != seen {
                tell(number as u32, *now - *seen);
                *seen = *now;
            }
        }
        seen.entries.resize(self.entries.len(), EntryCycles::default());
        let mut grown = std::mem::take(&mut self.grown).0;
        while grown != 0 {
            let first = grown.trailing_zeros() as usize;
            grown &= grown - 1;
            // The last bit stands for all entries from there on.
            let last = if first + 1 == u64::BITS as usize { self.entries.len() } else { first + 1 };
            for entry in first..last.min(self.entries.len()) {
                for (sum, (now, seen)) in self.entries[entry].iter().zip(&mut seen.entries[entry]).enumerate() {
                    if now != seen {
                        tell(Self::number(entry, sum), *now - *seen);
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

    /// Tells what has grown since `before`: the number of each sum, and by what.
    pub fn tell_growth_since(&self, before: &Accounts, mut tell: impl FnMut(u32, u64)) {
        for (number, (now, before)) in self.parts.iter().zip(&before.parts).enumerate() {
            if now != before {
                tell(number as u32, now - before);
            }
        }
        for (entry, now) in self.entries.iter().enumerate() {
            let before = before.entries.get(entry).copied().unwrap_or_default();
            // Not the comparison of slices, which is a call.
            if now.iter().zip(before).any(|(now, before)| *now != before) {
                let sums = now.iter().zip(before).enumerate().filter(|(_, (now, before))| *now != before);
                sums.for_each(|(sum, (now, before))| tell(Self::number(entry, sum), now - before));
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

    /// The names of all sums, by their numbers, as [`Accounts::named`] has them.
    pub fn names(bus: &Bus) -> Vec<String> {
        let mut names: Vec<String> = PARTS.iter().map(|name| (*name).to_owned()).collect();
        for (index, entry) in bus.map.iter().enumerate() {
            names.extend(PURPOSES.iter().map(|purpose| format!("{purpose}: {}", entry.name)));
            let route = bus.path(index).route.map_or(String::new(), |route| bus.routes[route].name.clone());
            names.push(format!("interconnect: {route}"));
        }
        names
    }

    /// The time by cause, under the names that the user sees.
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

    /// Where the parts are, for compiled code, which has no more to do than [`Accounts::add`] has.
    pub const PARTS: usize = std::mem::offset_of!(Accounts, parts);

    /// Address of the sums of a map entry. They stay there once there is room for all entries.
    pub(super) fn sums_at(&mut self, entry: usize) -> usize {
        self.entries[entry].as_mut_ptr().expose_provenance()
    }

    /// Addresses of the two of them that [`Accounts::add_at`] adds to.
    pub(super) fn sums_of(sums: usize, purpose: Purpose) -> [usize; 2] {
        [purpose as usize, ON_THE_WAY].map(|index| sums + index * size_of::<u64>())
    }

    /// Room for each of the bus's map entries.
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

    /// Goes on to core cycle `until` for this part's sake.
    #[inline]
    pub(super) fn spend(&mut self, meter: &mut Meter, part: Part, until: u64) {
        self.parts[part as usize] += meter.pass(until);
    }

    /// Cycles for a part's sake.
    #[inline]
    pub(super) fn add(&mut self, part: Part, cycles: u64) {
        self.parts[part as usize] += cycles;
    }

    /// Cycles at a map entry, and on the way there and back; [`Accounts::follow`] has made room for it.
    #[inline(always)]
    pub fn add_at(&mut self, entry: usize, purpose: Purpose, cycles: u64, on_the_way: u64) {
        self.grown.note(entry);
        let sums = &mut self.entries[entry];
        sums[purpose as usize] += cycles;
        sums[ON_THE_WAY] += on_the_way;
    }

    /// Goes on to core cycle `until`, at a map entry.
    pub(super) fn spend_at(&mut self, meter: &mut Meter, purpose: Purpose, entry: usize, until: u64) {
        self.grown.note(entry);
        self.entries[entry][purpose as usize] += meter.pass(until);
    }

    /// Goes on to the end of a transfer. A part of it may have passed already.
    #[inline]
    pub(super) fn charge(&mut self, meter: &mut Meter, purpose: Purpose, passed: &Passed) {
        self.grown.note(passed.entry);
        let (cycles, times) = (&mut self.entries[passed.entry], passed.times);
        if passed.routed {
            cycles[ON_THE_WAY] += meter.pass(times.arrived);
            cycles[purpose as usize] += meter.pass(times.answered);
            cycles[ON_THE_WAY] += meter.pass(times.done);
        } else {
            cycles[purpose as usize] += meter.pass(times.done);
        }
    }
}
