//! The store buffer: stores for which the core no longer waits.

use super::renumbered;
use std::mem::offset_of;

use crate::state::{Fresh, State};

/// Most entries that a store buffer can have.
pub const MOST_ENTRIES: usize = 8;

/// Stores under way, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub(super) struct StoreBuffer {
    /// Core cycles in which the latest stores end, in order.
    ends: [u64; MOST_ENTRIES],
    /// The 8 bytes of the latest store; others can still be merged with it.
    last: Option<u32>,
}

impl StoreBuffer {
    /// Offset of the value of [`StoreBuffer::all_done`], for compiled code.
    pub const ALL_DONE: usize = offset_of!(StoreBuffer, ends) + (MOST_ENTRIES - 1) * size_of::<u64>();

    /// The core cycle in which the last store ends.
    pub fn all_done(&self) -> u64 {
        self.ends[MOST_ENTRIES - 1]
    }

    /// The core cycle from which there is room for one more among `entries`.
    pub fn has_room(&self, entries: u32) -> u64 {
        self.ends[MOST_ENTRIES - (entries as usize).clamp(1, MOST_ENTRIES)]
    }

    /// True if a store to `physical` in core cycle `now` is merged with the latest, which has not begun.
    pub fn merges(&self, now: u64, physical: u32) -> bool {
        // The previous store has not ended: so the latest has not begun.
        self.last == Some(physical & !7) && self.ends[MOST_ENTRIES - 2] > now
    }

    /// Adds a store that ends in core cycle `end`; `physical` if others to the same 8 bytes may be merged with it.
    pub fn push(&mut self, end: u64, physical: Option<u32>) {
        self.ends.copy_within(1.., 0);
        self.ends[MOST_ENTRIES - 1] = end.max(self.ends[MOST_ENTRIES - 2]);
        self.last = physical.map(|physical| physical & !7);
    }

    /// True if the stores under way in cycle `now` equal those in the state `before`, in cycle `then`.
    pub fn behaves_like(&self, now: u64, before: &StoreBuffer, then: u64) -> bool {
        let mut pairs = self.ends.iter().zip(&before.ends);
        let last = |buffer: &StoreBuffer, now| buffer.last.filter(|_| buffer.all_done() > now);
        pairs.all(|(end, earlier)| end.saturating_sub(now) == earlier.saturating_sub(then))
            && last(self, now) == last(before, then)
    }

    /// Renumbers cycles: `before` is `now` from now on.
    pub fn renumber(&mut self, before: u64, now: u64) {
        self.ends.iter_mut().for_each(|end| *end = renumbered(*end, before, now));
    }

    /// Shifts all stores by `cycles`.
    pub fn move_on(&mut self, cycles: u64) {
        self.ends.iter_mut().filter(|end| **end != 0).for_each(|end| *end += cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_while_fewer_are_under_way() {
        let mut buffer = StoreBuffer::default();
        assert_eq!((buffer.has_room(2), buffer.all_done()), (0, 0));
        buffer.push(20, None);
        assert_eq!((buffer.has_room(1), buffer.has_room(2), buffer.all_done()), (20, 0, 20));
        buffer.push(30, None);
        assert_eq!((buffer.has_room(2), buffer.has_room(3), buffer.all_done()), (20, 0, 30));
    }

    #[test]
    fn a_store_that_waits_takes_others_along() {
        let mut buffer = StoreBuffer::default();
        buffer.push(20, Some(0x100));
        assert!(!buffer.merges(10, 0x104), "it has begun");
        buffer.push(30, Some(0x10c));
        assert!(buffer.merges(10, 0x108) && !buffer.merges(10, 0x110) && !buffer.merges(20, 0x108));
        buffer.push(40, None);
        assert!(!buffer.merges(10, 0x108));
    }

    #[test]
    fn it_behaves_the_same_some_time_later() {
        let (mut one, mut other) = (StoreBuffer::default(), StoreBuffer::default());
        one.push(20, Some(0x100));
        other.push(7, None);
        other.push(120, Some(0x100));
        assert!(other.behaves_like(110, &one, 10));
        assert!(!other.behaves_like(110, &one, 11));
        one.move_on(100);
        assert!(other.behaves_like(110, &one, 110));
    }
}
