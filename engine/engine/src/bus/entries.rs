//! Sets of map entries that a core has accessed. A polling loop is skipped only if everything that it accesses repeats.

use crate::state::{Fresh, State};

/// A set of map entries. A board has some hundred at the most; those from 255 on are in the set together or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Entries([u64; Entries::WORDS]);

impl Entries {
    const WORDS: usize = 4;

    /// The byte at which an entry's word begins in the set, and its bit there, for compiled code.
    #[inline(always)]
    pub const fn place(entry: usize) -> (usize, u64) {
        const LAST: usize = Entries::WORDS * u64::BITS as usize - 1;
        let entry = if entry < LAST { entry } else { LAST };
        (entry / u64::BITS as usize * size_of::<u64>(), 1 << (entry % u64::BITS as usize))
    }

    /// Adds an entry.
    #[inline(always)]
    pub const fn add(&mut self, entry: usize) {
        let (byte, bit) = Entries::place(entry);
        self.0[byte / size_of::<u64>()] |= bit;
    }

    /// True if the entry was added, or another one with the same bit.
    pub const fn has(&self, entry: usize) -> bool {
        let (byte, bit) = Entries::place(entry);
        self.0[byte / size_of::<u64>()] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_has_a_place_of_its_own_but_the_last_ones() {
        for entry in [0, 1, 62, 63, 64, 127, 200, 254] {
            let mut set = Entries::default();
            set.add(entry);
            assert!((0..300).all(|other| set.has(other) == (other == entry)), "{entry}");
        }
        let mut set = Entries::default();
        set.add(400);
        assert!((0..300).all(|other| set.has(other) == (other >= 255)));
    }
}
