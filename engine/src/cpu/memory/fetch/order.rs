//! The order in which an instruction cache's lines were used, where it gives up the one that was used longest ago.
//!
//! A line that is there costs nothing; but its use makes others older. A block leaves a stamp for each line of which an
//! instruction has run, when it comes to its end or is left, a number that grows from instruction to instruction.
//! Before anything is done with a set, or a line is no longer known to be there, the directory learns of the uses since
//! then, in the order of their stamps.

use std::borrow::Cow;
use std::mem::offset_of;

use super::super::Memory;
use super::{FetchLines, SLOTS};
use crate::memory::cache::{Cache, CacheShape};

/// Stamps of lines, by the slots of [`FetchLines`]; 0 for none.
pub type Stamps = [u64; SLOTS];

/// A stamp is twice the number of a block's first instruction, counted from 1.
pub const STAMP_SHIFT: i64 = 1;
/// From instructions before it to that number.
pub const STAMP_AFTER: i64 = 1;

/// The stamp of a block before which so many instructions have run. That may be one less than none, where the first
/// of all is annulled.
#[inline(always)]
pub const fn stamp(instructions: u64) -> u64 {
    instructions.wrapping_add(STAMP_AFTER as u64) << STAMP_SHIFT
}

/// That of an instruction which raises an exception, and so is not counted: behind all of those before it, and before
/// what comes next.
#[inline(always)]
pub const fn stamp_after(instructions: u64) -> u64 {
    (instructions << STAMP_SHIFT) + 1
}

/// True if it matters in which order lines of instructions are used.
pub fn matters(shape: Option<CacheShape>) -> bool {
    shape.is_some_and(Cache::keeps_order)
}

impl FetchLines {
    /// Takes the uses of lines that are in the slots from `first` on, `step` apart, and of which `wanted` holds: their
    /// physical addresses in the order of their stamps.
    fn take_uses(&mut self, first: usize, step: usize, wanted: impl Fn(u32) -> bool, mut learn: impl FnMut(u32)) {
        let mut uses = std::mem::take(&mut self.uses);
        let mut look = |slot: usize| {
            let physical = self.slots[slot].1;
            if self.stamps[slot] != 0 && wanted(physical) {
                uses.push((std::mem::take(&mut self.stamps[slot]), physical));
            }
        };
        // A small cache of few sets holds less lines than there are slots to look at.
        if self.held.len() < (SLOTS - first).div_ceil(step) {
            self.held.iter().for_each(|slot| look(usize::from(*slot)));
        } else {
            (first..SLOTS).step_by(step).for_each(look);
        }
        uses.sort_unstable();
        uses.drain(..).for_each(|(_, physical)| learn(physical));
        self.uses = uses;
    }

    /// The uses that are left to be taken: physical addresses of lines, in their order.
    pub fn uses(&self) -> Vec<u32> {
        let stamped = self.stamps.iter().zip(self.slots.iter()).filter(|(stamp, _)| **stamp != 0);
        let mut uses: Vec<(u64, u32)> = stamped.map(|(stamp, slot)| (*stamp, slot.1)).collect();
        uses.sort_unstable();
        uses.into_iter().map(|(_, physical)| physical).collect()
    }

    /// The line in the slot of an address, if it has a use that is left to be taken: its physical address.
    pub fn used_in_slot_of(&self, va: u32) -> Option<u32> {
        let slot = self.slot_of(va);
        (self.stamps[slot] != 0).then_some(self.slots[slot].1)
    }

    /// The slot that a line chooses.
    pub fn slot_of(&self, line: u32) -> usize {
        (line >> self.shift) as usize & (SLOTS - 1)
    }
}

impl Memory {
    /// Where the stamp is of a line's use, for compiled code, which stores one where a block is entered. `None` if it
    /// does not matter.
    pub fn fetch_stamp_at(&self, va_line: u32) -> Option<usize> {
        let stamps = offset_of!(Memory, fetched) + offset_of!(FetchLines, stamps);
        self.fetched.by_use.then(|| stamps + self.fetched.slot_of(va_line) * size_of::<u64>())
    }

    /// True if a block that is entered without a look at its lines has to leave stamps.
    #[inline(always)]
    pub fn stamps_fetches(&self) -> bool {
        self.fetched.by_use
    }

    /// Leaves a stamp for a line that is there.
    #[inline]
    pub fn stamp_fetch(&mut self, va_line: u32, stamp: u64) {
        let slot = self.fetched.slot_of(va_line);
        self.fetched.stamps[slot] = stamp;
    }

    /// The instruction cache learns of the uses of a set's lines: before anything else is done with the set.
    pub(super) fn learn_fetches_of_set(&mut self, physical: u32) {
        let matters = self.fetched.by_use && self.icache_has_lines;
        let Some(cache) = self.state.icache.as_mut().filter(|_| matters) else { return };
        // A translation leaves the low bits.
        let way_bytes = cache.way_bytes();
        let same_bytes = way_bytes.min(0x1000);
        let first = (physical & (same_bytes - 1)) >> self.fetched.shift;
        let step = (same_bytes >> self.fetched.shift).max(1);
        let in_set = (way_bytes - 1) & !((1 << self.fetched.shift) - 1);
        let of_set = |other: u32| (other ^ physical) & in_set == 0;
        self.fetched.take_uses(first as usize, step as usize, of_set, |line| _ = cache.touch(line, false));
    }

    /// The same of all sets: before lines are no longer known to be there.
    pub(in super::super) fn learn_fetches(&mut self) {
        let Some(cache) = self.state.icache.as_mut().filter(|_| self.fetched.by_use) else { return };
        self.fetched.take_uses(0, 1, |_| true, |line| _ = cache.touch(line, false));
    }

    /// The instruction cache as if it had learned of all uses of its lines.
    pub(in super::super) fn ordered_icache(&self) -> Option<Cow<'_, Cache>> {
        let cache = self.state.icache.as_ref()?;
        let uses = if self.fetched.by_use { self.fetched.uses() } else { Vec::new() };
        Some(if uses.is_empty() { Cow::Borrowed(cache) } else { Cow::Owned(cache.after_uses(uses)) })
    }
}
