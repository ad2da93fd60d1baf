//! All decoded blocks by the entries for which they were decoded: lists by address.

/// Lists of entries.
const LISTS: usize = 1 << 14;
/// The end of a list.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Item<E> {
    entry: E,
    index: u32,
    /// The next item of the list.
    next: u32,
}

/// A list's first item, valid in one generation.
#[derive(Clone, Copy, Debug)]
struct Head {
    generation: u32,
    item: u32,
}

/// Blocks by entries.
#[derive(Debug)]
pub(super) struct KnownEntries<E> {
    heads: Vec<Head>,
    items: Vec<Item<E>>,
    /// Clearing the heads would take longer than anything else that drops all blocks.
    generation: u32,
}

impl<E: PartialEq> KnownEntries<E> {
    pub fn new() -> KnownEntries<E> {
        KnownEntries { heads: vec![Head { generation: 0, item: NONE }; LISTS], items: Vec::new(), generation: 1 }
    }

    /// The block that was last added for an entry at `pc`.
    pub fn get(&self, pc: u32, entry: &E) -> Option<u32> {
        let mut at = self.first(pc);
        while let Some(item) = self.items.get(at as usize) {
            if item.entry == *entry {
                return Some(item.index);
            }
            at = item.next;
        }
        None
    }

    pub fn add(&mut self, pc: u32, entry: E, index: u32) {
        let next = self.first(pc);
        self.heads[list_of(pc)] = Head { generation: self.generation, item: self.items.len() as u32 };
        self.items.push(Item { entry, index, next });
    }

    pub fn clear(&mut self) {
        self.items.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.heads.fill(Head { generation: 0, item: NONE });
            self.generation = 1;
        }
    }

    fn first(&self, pc: u32) -> u32 {
        let head = self.heads[list_of(pc)];
        if head.generation == self.generation { head.item } else { NONE }
    }
}

/// The list of an address.
fn list_of(pc: u32) -> usize {
    ((pc >> 1) ^ (pc >> 15)) as usize & (LISTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_of_an_entry_is_found_until_all_are_dropped() {
        let mut known = KnownEntries::new();
        // The same list.
        let (pc, other) = (0x8000, 0x8000 ^ (1 << 15 | 1 << 1));
        assert_eq!(list_of(pc), list_of(other));
        for (pc, entry, index) in [(pc, "a", 1), (other, "b", 2), (pc, "c", 3), (pc, "a", 4)] {
            known.add(pc, entry, index);
        }
        assert_eq!([known.get(pc, &"a"), known.get(pc, &"c"), known.get(other, &"b")], [Some(4), Some(3), Some(2)]);
        assert_eq!(known.get(pc + 2, &"d"), None);
        known.clear();
        assert_eq!(known.get(pc, &"a"), None);
        known.add(pc, "d", 5);
        assert_eq!((known.get(pc, &"a"), known.get(pc, &"d")), (None, Some(5)));
    }
}
