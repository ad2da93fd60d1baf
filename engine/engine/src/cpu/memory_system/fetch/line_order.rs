//! The order in which the lines of an instruction cache with LRU replacement were used.
//!
//! A hit takes no time, but it changes the order of the lines. When a block ends or is left, it stamps each line from
//! which it ran an instruction with a number that grows from instruction to instruction. Before an operation on a set,
//! or before a line stops being known as present, the uses since then are entered in the directory, in the order of
//! their stamps.

use std::borrow::Cow;
use std::mem::offset_of;

use super::super::Memory;
use super::{FetchLines, SLOTS};
use crate::memory::cache::{Cache, CacheShape};

/// Stamps of lines, by the slots of [`FetchLines`]; 0 without a use.
pub type Stamps = [u64; SLOTS];

/// A stamp is twice the number of a block's first instruction, counted from 1.
pub const STAMP_SHIFT: i64 = 1;
/// Difference between that number and the number of instructions before it.
pub const STAMP_AFTER: i64 = 1;

/// The stamp of a block before which `instructions` have run. That number may be -1, if the first instruction of all is
/// annulled.
#[inline(always)]
pub const fn stamp(instructions: u64) -> u64 {
    instructions.wrapping_add(STAMP_AFTER as u64) << STAMP_SHIFT
}

/// The stamp of an instruction that raises an exception, and so is not counted: after those of all earlier
/// instructions, and before the next one.
#[inline(always)]
pub const fn stamp_after(instructions: u64) -> u64 {
    (instructions << STAMP_SHIFT) + 1
}

/// True if the order in which lines of instructions are used matters.
pub fn matters(shape: Option<CacheShape>) -> bool {
    shape.is_some_and(Cache::keeps_order)
}

impl FetchLines {
    /// Takes the uses of lines in the slots from `first` on, `step` apart, for which `wanted` holds: passes their
    /// physical addresses on in the order of their stamps.
    fn take_uses(&mut self, first: usize, step: usize, wanted: impl Fn(u32) -> bool, mut learn: impl FnMut(u32)) {
        let mut uses = std::mem::take(&mut self.uses);
        let mut look = |slot: usize| {
            let physical = self.slots[slot].1;
            if self.stamps[slot] != 0 && wanted(physical) {
                uses.push((std::mem::take(&mut self.stamps[slot]), physical));
            }
        };
        // A small cache of few sets holds fewer lines than there are slots to check.
        if self.held.len() < (SLOTS - first).div_ceil(step) {
            self.held.iter().for_each(|slot| look(usize::from(*slot)));
        } else {
            (first..SLOTS).step_by(step).for_each(look);
        }
        uses.sort_unstable();
        uses.drain(..).for_each(|(_, physical)| learn(physical));
        self.uses = uses;
    }

    /// The uses not taken yet: physical addresses of lines, in order.
    pub fn uses(&self) -> Vec<u32> {
        let stamped = self.stamps.iter().zip(self.slots.iter()).filter(|(stamp, _)| **stamp != 0);
        let mut uses: Vec<(u64, u32)> = stamped.map(|(stamp, slot)| (*stamp, slot.1)).collect();
        uses.sort_unstable();
        uses.into_iter().map(|(_, physical)| physical).collect()
    }

    /// The line in the slot of an address, if it has a use not taken yet: its physical address.
    pub fn used_in_slot_of(&self, va: u32) -> Option<u32> {
        let slot = self.slot_of(va);
        (self.stamps[slot] != 0).then_some(self.slots[slot].1)
    }

    /// The slot of a line.
    pub fn slot_of(&self, line: u32) -> usize {
        (line >> self.shift) as usize & (SLOTS - 1)
    }
}

impl Memory {
    /// Address of the stamp of a line, for compiled code, which writes it where a block is entered. `None` if order
    /// does not matter.
    pub fn fetch_stamp_at(&self, va_line: u32) -> Option<usize> {
        let stamps = offset_of!(Memory, fetched) + offset_of!(FetchLines, stamps);
        self.fetched.by_use.then(|| stamps + self.fetched.slot_of(va_line) * size_of::<u64>())
    }

    /// True if a block that is entered without a check of its lines has to stamp them.
    #[inline(always)]
    pub fn stamps_fetches(&self) -> bool {
        self.fetched.by_use
    }

    /// Stamps a line that is present.
    #[inline]
    pub fn stamp_fetch(&mut self, va_line: u32, stamp: u64) {
        let slot = self.fetched.slot_of(va_line);
        self.fetched.stamps[slot] = stamp;
    }

    /// Enters the uses of a set's lines in the instruction cache, before any other operation on the set.
    pub(super) fn learn_fetches_of_set(&mut self, physical: u32) {
        let matters = self.fetched.by_use && self.icache_has_lines;
        let Some(cache) = self.state.icache.as_mut().filter(|_| matters) else { return };
        // A translation keeps the low bits.
        let way_bytes = cache.way_bytes();
        let same_bytes = way_bytes.min(0x1000);
        let first = (physical & (same_bytes - 1)) >> self.fetched.shift;
        let step = (same_bytes >> self.fetched.shift).max(1);
        let in_set = (way_bytes - 1) & !((1 << self.fetched.shift) - 1);
        let of_set = |other: u32| (other ^ physical) & in_set == 0;
        self.fetched.take_uses(first as usize, step as usize, of_set, |line| _ = cache.touch(line, false));
    }

    /// As [`Memory::learn_fetches_of_set`], for all sets: before lines stop being known as present.
    pub(in super::super) fn learn_fetches(&mut self) {
        let Some(cache) = self.state.icache.as_mut().filter(|_| self.fetched.by_use) else { return };
        self.fetched.take_uses(0, 1, |_| true, |line| _ = cache.touch(line, false));
    }

    /// The instruction cache with all uses of its lines entered.
    pub(in super::super) fn ordered_icache(&self) -> Option<Cow<'_, Cache>> {
        let cache = self.state.icache.as_ref()?;
        let uses = if self.fetched.by_use { self.fetched.uses() } else { Vec::new() };
        Some(if uses.is_empty() { Cow::Borrowed(cache) } else { Cow::Owned(cache.after_uses(uses)) })
    }
}
