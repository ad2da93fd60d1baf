//! Lookup of decoded blocks: a table of recently requested entries, and lists of all blocks.

use super::{Blocks, Entry, EntryOf, Found, Hot, NO_BLOCK, lookup_slot};
use crate::cpu::isa::{Isa, Pending};

impl<I: Isa> Blocks<I> {
    /// Each address has two slots: one for entries with results under way, one for entries without, as after a wait.
    #[inline(always)]
    fn slot_of(entry: &EntryOf<I>) -> usize {
        2 * lookup_slot(entry.pc) + usize::from(entry.pending.is_none())
    }

    /// The block that was decoded for `entry`, if any.
    #[inline]
    pub fn find(&mut self, entry: EntryOf<I>) -> Option<u32> {
        let slot = &mut self.lookup[entry.extent as usize][Self::slot_of(&entry)];
        if slot.generation != self.generation || slot.entry != Some(entry) {
            let index = self.by_entry.get(entry.pc, &entry).filter(|index| !self.cold[*index as usize].is_dead)?;
            *slot = Found { generation: self.generation, index, entry: Some(entry) };
        }
        Some(slot.index).filter(|index| *index != NO_BLOCK)
    }

    /// True if the table already records that no block exists for `entry`.
    #[inline]
    pub fn is_missing(&self, entry: &EntryOf<I>) -> bool {
        let slot = &self.lookup[entry.extent as usize][Self::slot_of(entry)];
        slot.index == NO_BLOCK && slot.generation == self.generation && slot.entry.as_ref() == Some(entry)
    }

    /// Records that no block exists for `entry`, so that the next lookup is fast, until one is added.
    pub fn note_missing(&mut self, entry: EntryOf<I>) {
        let slot = &mut self.lookup[entry.extent as usize][Self::slot_of(&entry)];
        *slot = Found { generation: self.generation, index: NO_BLOCK, entry: Some(entry) };
    }

    /// Records the block that now exists for `entry`.
    pub(super) fn note_found(&mut self, entry: EntryOf<I>, index: u32) {
        self.by_entry.add(entry.pc, entry, index);
        let slot = &mut self.lookup[entry.extent as usize][Self::slot_of(&entry)];
        if slot.entry == Some(entry) {
            slot.entry = None;
        }
    }

    /// A block that takes the same time with the entry's results under way as with none: from now on found for that
    /// entry, too.
    pub fn find_unaffected(&mut self, timing: &I::Timing, entry: EntryOf<I>) -> Option<u32> {
        let index = self.find(Entry { pending: I::Pending::NONE, ..entry })?;
        self.is_unaffected(timing, index, entry.pending).then(|| {
            self.note_found(entry, index);
            index
        })
    }

    /// True if a block entered with `pending` under way takes the same time, and leaves the same results under way, as
    /// without.
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
