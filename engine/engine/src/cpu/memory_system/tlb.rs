//! Translation lookaside buffers: one of a few entries each for instructions and data, and a main one as the next level
//! (TRM, TLB organization).
//!
//! Entries hold the result of a walk, and stay until software invalidates them. Permissions are looked up once for each
//! kind of access, and kept.

use super::access::{Access, Kind, TlbEntries, Translation};

use crate::state::{Fresh, State};

/// Sizes of the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbShape {
    /// Entries of each micro TLB, fully associative.
    pub micro_entries: u32,
    /// Entries of the main TLB.
    pub main_entries: u32,
    /// Its ways.
    pub main_ways: u32,
}

impl TlbShape {
    /// True if its numbers are consistent.
    pub fn is_sound(&self) -> bool {
        let sets = self.main_entries.checked_div(self.main_ways).unwrap_or(0);
        self.micro_entries > 0
            && self.main_ways > 0
            && sets.is_power_of_two()
            && sets * self.main_ways == self.main_entries
    }
}

/// Contents of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub(super) struct Entry {
    /// First virtual address of the page.
    pub page: u32,
    /// Translation of its first address.
    pub to: Translation,
    /// Accesses known to be allowed: [`permission`].
    pub allowed: u8,
}

impl Entry {
    /// The result of a walk for `va`, by an access that is allowed.
    pub fn new(va: u32, to: Translation, access: Access) -> Entry {
        let offset = va & (to.page_bytes - 1);
        let to = Translation { physical: to.physical - offset, ..to };
        Entry { page: va - offset, to, allowed: permission(access) }
    }

    pub fn holds(&self, va: u32, asid: u8) -> bool {
        va & !(self.to.page_bytes - 1) == self.page && (self.to.global || self.to.asid == asid)
    }

    /// The translation of `va`, an address within the page.
    pub fn translation(&self, va: u32) -> Translation {
        Translation { physical: self.to.physical + (va - self.page), ..self.to }
    }

    /// True if this access is known to be allowed.
    pub fn allows(&self, access: Access) -> bool {
        let asked = permission(access);
        self.allowed & asked == asked
    }
}

/// The bits of an access in [`Entry::allowed`]. Writable memory is readable (ARM DDI 0406C, table B3-8).
pub(super) fn permission(access: Access) -> u8 {
    let kind = match access.kind {
        Kind::Read => 1,
        Kind::Write => 3,
        Kind::Execute => 4,
    };
    if access.privileged { kind } else { kind << 4 }
}

/// A fully associative buffer with round-robin replacement: a use of an entry changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, State)]
struct Micro {
    #[state(with = crate::state::fixed)]
    entries: Vec<Option<Entry>>,
    turn: usize,
}

/// The buffers.
#[derive(Clone, Debug, State)]
pub(super) struct Tlb {
    /// For data, for instructions.
    micro: [Micro; 2],
    #[state(with = crate::state::fixed)]
    main: Vec<Option<Entry>>,
    #[state(skip)]
    ways: usize,
    /// The way that is replaced next.
    turn: usize,
    /// Page sizes that have been entered since the last full invalidation.
    sizes: u32,
    /// The caches that were on when entries were made, of data and of instructions: when that changes, all entries are
    /// made anew.
    caches: (bool, bool),
    misses: u64,
    walks: u64,
}

impl PartialEq for Tlb {
    /// Equal contents: further accesses behave equally. Counters are ignored.
    fn eq(&self, other: &Tlb) -> bool {
        self.micro == other.micro && self.main == other.main && (self.turn, self.sizes) == (other.turn, other.sizes)
    }
}

impl Tlb {
    pub fn new(shape: TlbShape) -> Tlb {
        let micro = Micro { entries: vec![None; shape.micro_entries as usize], turn: 0 };
        Tlb {
            micro: [micro.clone(), micro],
            main: vec![None; shape.main_entries as usize],
            ways: shape.main_ways as usize,
            turn: 0,
            sizes: 0,
            caches: (false, false),
            misses: 0,
            walks: 0,
        }
    }

    /// Micro TLB misses and table walks so far.
    pub fn counters(&self) -> (u64, u64) {
        (self.misses, self.walks)
    }

    /// Counts the events since `before`, `times` more times.
    pub fn repeat(&mut self, before: &Tlb, times: u64) {
        self.misses += times * (self.misses - before.misses);
        self.walks += times * (self.walks - before.walks);
    }

    /// The entry for `va` in the micro TLB for accesses of a kind.
    #[inline]
    pub fn micro(&mut self, kind: Kind, va: u32, asid: u8) -> Option<&mut Entry> {
        self.micro[usize::from(kind == Kind::Execute)].entries.iter_mut().flatten().find(|entry| entry.holds(va, asid))
    }

    /// As [`Tlb::micro`], read-only.
    #[inline]
    pub fn look_in_micro(&self, kind: Kind, va: u32, asid: u8) -> Option<&Entry> {
        self.micro[usize::from(kind == Kind::Execute)].entries.iter().flatten().find(|entry| entry.holds(va, asid))
    }

    /// The entry that an access of a kind to `va` would find with these caches on: see [`Tlb::follow_caches`].
    pub fn look(&self, kind: Kind, va: u32, asid: u8, caches: (bool, bool)) -> Option<Entry> {
        let main = || if self.caches == caches { self.main(va, asid) } else { None };
        self.look_in_micro(kind, va, asid).copied().or_else(main)
    }

    /// The entry that the next [`Tlb::refill`] of the micro TLB replaces.
    pub fn next_to_go(&self, kind: Kind) -> Option<&Entry> {
        let micro = &self.micro[usize::from(kind == Kind::Execute)];
        if micro.entries.iter().any(Option::is_none) { None } else { micro.entries.get(micro.turn)?.as_ref() }
    }

    /// Removes micro TLB entries inside a page that is about to be entered: tables were changed without an
    /// invalidation. So an address has at most one entry, on which its shortcuts depend. True if there was such an
    /// entry.
    pub fn make_way(&mut self, kind: Kind, page: &Entry) -> bool {
        let inside = |entry: &Entry| entry.page.wrapping_sub(page.page) < page.to.page_bytes;
        let mut some = false;
        for place in &mut self.micro[usize::from(kind == Kind::Execute)].entries {
            if place.as_ref().is_some_and(inside) {
                (*place, some) = (None, true);
            }
        }
        some
    }

    /// Puts an entry into that micro TLB; returns the replaced entry.
    pub fn refill(&mut self, kind: Kind, entry: Entry) -> Option<Entry> {
        self.misses += 1;
        let micro = &mut self.micro[usize::from(kind == Kind::Execute)];
        let at = room_in(&micro.entries, &mut micro.turn);
        micro.entries[at].replace(entry)
    }

    /// The entry for `va` in the main TLB.
    pub fn main(&self, va: u32, asid: u8) -> Option<Entry> {
        let mut sizes = self.sizes;
        while sizes != 0 {
            let page_bytes = sizes & sizes.wrapping_neg();
            sizes &= sizes - 1;
            let set = self.set_of(va, page_bytes);
            let found = self.main[set..set + self.ways].iter().flatten();
            if let Some(entry) =
                found.into_iter().find(|entry| entry.to.page_bytes == page_bytes && entry.holds(va, asid))
            {
                return Some(*entry);
            }
        }
        None
    }

    /// Sets which caches are on: entries made with other settings are made anew.
    pub fn follow_caches(&mut self, data: bool, instructions: bool) {
        if self.caches != (data, instructions) {
            self.caches = (data, instructions);
            self.invalidate(TlbEntries::All);
        }
    }

    /// Puts the result of a walk into the main TLB.
    pub fn insert(&mut self, entry: Entry) {
        self.walks += 1;
        self.sizes |= entry.to.page_bytes;
        let set = self.set_of(entry.page, entry.to.page_bytes);
        let set = &mut self.main[set..set + self.ways];
        set[room_in(set, &mut self.turn)] = Some(entry);
    }

    /// Has permissions looked up again: the rights to domains have changed.
    pub fn forget_permissions(&mut self) {
        self.main.iter_mut().flatten().for_each(|entry| entry.allowed = 0);
    }

    /// Empties the micro TLBs.
    pub fn flush_micro(&mut self) {
        self.micro.iter_mut().for_each(|micro| micro.entries.fill(None));
    }

    /// Invalidates entries, and empties the micro TLBs.
    pub fn invalidate(&mut self, which: TlbEntries) {
        self.flush_micro();
        let goes = |entry: &Entry| match which {
            TlbEntries::All => true,
            TlbEntries::Page { va, asid } => entry.holds(va, asid),
            TlbEntries::PageOfAll(va) => va & !(entry.to.page_bytes - 1) == entry.page,
            TlbEntries::Asid(asid) => !entry.to.global && entry.to.asid == asid,
        };
        for entry in &mut self.main {
            *entry = entry.filter(|entry| !goes(entry));
        }
        if which == TlbEntries::All {
            self.sizes = 0;
        }
    }

    /// Index of the first way of the set for a page of this size.
    fn set_of(&self, va: u32, page_bytes: u32) -> usize {
        let sets = self.main.len() / self.ways;
        (va >> page_bytes.trailing_zeros()) as usize % sets * self.ways
    }
}

/// The place of a new entry: a free one, else the next in turn.
fn room_in(entries: &[Option<Entry>], turn: &mut usize) -> usize {
    entries.iter().position(Option::is_none).unwrap_or_else(|| {
        let next = (*turn + 1) % entries.len();
        std::mem::replace(turn, next)
    })
}
