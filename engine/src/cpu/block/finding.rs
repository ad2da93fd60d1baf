//! Which block was decoded for what is asked for: a table of what was asked for last, and all of them.

use super::{Blocks, Entry, EntryOf, Found, Hot, NO_BLOCK, lookup_slot};
use crate::cpu::isa::{Isa, Pending};

impl<I: Isa> Blocks<I> {
    /// Of each address there are two: for an entry with results under way, and for one without, as after a wait.
    #[inline(always)]
    fn slot_of(entry: &EntryOf<I>) -> usize {
        2 * lookup_slot(entry.pc) + usize::from(entry.pending.is_none())
    }

    /// The block that was decoded for `entry`, if there is one.
    #[inline]
    pub fn find(&mut self, entry: EntryOf<I>) -> Option<u32> {
        let slot = &mut self.lookup[entry.extent as usize][Self::slot_of(&entry)];
        if slot.generation != self.generation || slot.entry != Some(entry) {
            let index = *self.by_entry.get(&entry).filter(|index| !self.cold[**index as usize].is_dead)?;
            *slot = Found { generation: self.generation, index, entry: Some(entry) };
        }
        Some(slot.index).filter(|index| *index != NO_BLOCK)
    }

    /// True if it has been seen that there is no block for `entry`.
    #[inline]
    pub fn is_missing(&self, entry: &EntryOf<I>) -> bool {
        let slot = &self.lookup[entry.extent as usize][Self::slot_of(entry)];
        slot.index == NO_BLOCK && slot.generation == self.generation && slot.entry.as_ref() == Some(entry)
    }

    /// There is no block for `entry`, which is found sooner from now on: until there is one.
    pub fn note_missing(&mut self, entry: EntryOf<I>) {
        let slot = &mut self.lookup[entry.extent as usize][Self::slot_of(&entry)];
        *slot = Found { generation: self.generation, index: NO_BLOCK, entry: Some(entry) };
    }

    /// The same is no longer so.
    pub(super) fn note_found(&mut self, entry: EntryOf<I>, index: u32) {
        self.by_entry.insert(entry, index);
        let slot = &mut self.lookup[entry.extent as usize][Self::slot_of(&entry)];
        if slot.entry == Some(entry) {
            slot.entry = None;
        }
    }

    /// The block that takes the same time with what is under way as with nothing: found for that entry too from now on.
    pub fn find_unaffected(&mut self, timing: &I::Timing, entry: EntryOf<I>) -> Option<u32> {
        let index = self.find(Entry { pending: I::Pending::NONE, ..entry })?;
        self.is_unaffected(timing, index, entry.pending).then(|| {
            self.note_found(entry, index);
            index
        })
    }

    /// True if a block entered with `pending` under way takes the time, and leaves behind it what it would without.
    fn is_unaffected(&self, timing: &I::Timing, index: u32, mut pending: I::Pending) -> bool {
        let (mut clean, fetch) = (I::Pending::NONE, self.cold[index as usize].fetch);
        let same =
            |instr: &I::Instr| I::pass(timing, instr, fetch, &mut pending) == I::pass(timing, instr, fetch, &mut clean);
        self.instrs_of(index).iter().all(same) && pending == clean
    }

    /// True if a block has code between two addresses.
    pub fn have_code_between(&self, first: u32, last: u32) -> bool {
        let overlaps = |hot: &Hot<I::Jump>| {
            let pc = hot.pc & I::ADDRESS_MASK;
            pc <= last && first <= (hot.end_pc & I::ADDRESS_MASK).wrapping_sub(1)
        };
        self.code_in.has_between(first, last) && self.hot.iter().any(overlaps)
    }
}
