//! Decoded code, by pages: for each page that has run, an operation for each of its words.
//!
//! An operation is decoded when it is first needed, with the others of its line; until then, and where the outer loop wants to see each pass, its place
//! holds [`Code::Undecoded`]. Targets of branches are absolute, so a page that runs at two addresses is kept twice.

use std::collections::BTreeMap;

use super::op::{Code, Op, SINK, ZERO};
use crate::memory::first_level::Way;

/// Bytes of a page: no translation maps less.
pub(super) const PAGE_BYTES: u32 = 1 << 12;
/// Words of a page.
pub(super) const PAGE_OPS: usize = PAGE_BYTES as usize / 4;
/// Pages that can be found at once.
const SLOTS: usize = 1 << 8;
/// Pages that are kept: 64 MiB of operations at the most.
const MOST_PAGES: usize = 1 << 13;
/// An address that no page begins at.
const NOWHERE: u32 = 1;

/// What stands for an instruction that has not been looked at.
pub(super) const UNDECODED: Op = Op { code: Code::Undecoded, rd: SINK, rs: ZERO, rt: ZERO, imm: 0 };

/// A page that is known to be at a virtual address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Virtual address.
    pub page: u32,
    /// Physical address.
    pub physical: u32,
    /// How it is fetched.
    pub way: Way,
    /// Index of the page.
    pub index: u32,
}

const EMPTY: Found = Found { page: NOWHERE, physical: 0, way: Way::Uncached, index: 0 };

/// A page of operations.
#[derive(Debug)]
pub(super) struct Page {
    /// Virtual address.
    page: u32,
    ops: Box<[Op; PAGE_OPS]>,
}

/// Pages of operations.
#[derive(Debug)]
pub(super) struct Pages {
    pages: Vec<Page>,
    /// By virtual and physical address.
    known: BTreeMap<(u32, u32), u32>,
    /// What has been found for the current translation and privilege, in the slots that virtual addresses choose.
    slots: Box<[Found; SLOTS]>,
}

impl Pages {
    pub fn new() -> Pages {
        Pages { pages: Vec::new(), known: BTreeMap::new(), slots: Box::new([EMPTY; SLOTS]) }
    }

    /// The page that holds `pc`, if it is known where that is.
    #[inline(always)]
    pub fn find(&self, pc: u32) -> Option<Found> {
        let page = pc & !(PAGE_BYTES - 1);
        let found = self.slots[(page / PAGE_BYTES) as usize & (SLOTS - 1)];
        (found.page == page).then_some(found)
    }

    /// The page that holds `pc`, which is at a physical address and fetched so. New ones have nothing decoded.
    pub fn add(&mut self, pc: u32, physical: u32, way: Way) -> Found {
        let (page, physical) = (pc & !(PAGE_BYTES - 1), physical & !(PAGE_BYTES - 1));
        if self.pages.len() >= MOST_PAGES {
            self.clear();
        }
        let pages = &mut self.pages;
        let index = *self.known.entry((page, physical)).or_insert_with(|| {
            pages.push(Page { page, ops: Box::new([UNDECODED; PAGE_OPS]) });
            pages.len() as u32 - 1
        });
        let found = Found { page, physical, way, index };
        self.slots[(page / PAGE_BYTES) as usize & (SLOTS - 1)] = found;
        found
    }

    /// The operations of a page.
    #[inline(always)]
    pub fn ops(&self, found: Found) -> &[Op; PAGE_OPS] {
        &self.pages[found.index as usize].ops
    }

    /// Puts a decoded operation at `pc`.
    pub fn set(&mut self, found: Found, pc: u32, op: Op) {
        self.pages[found.index as usize].ops[(pc % PAGE_BYTES / 4) as usize] = op;
    }

    /// Has the outer loop see each pass of `pc` from now on.
    pub fn undecode(&mut self, pc: u32) {
        for page in self.pages.iter_mut().filter(|page| page.page == pc & !(PAGE_BYTES - 1)) {
            page.ops[(pc % PAGE_BYTES / 4) as usize] = UNDECODED;
        }
    }

    /// What virtual addresses mean has changed, or for whom.
    pub fn forget_places(&mut self) {
        self.slots.fill(EMPTY);
    }

    /// Some code was written.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.known.clear();
        self.forget_places();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: Op = Op { code: Code::Nop, ..UNDECODED };

    #[test]
    fn a_page_is_found_where_it_was_put_until_translation_changes() {
        let mut pages = Pages::new();
        assert!(pages.find(0x8000_0010).is_none());
        let found = pages.add(0x8000_0010, 0x10, Way::Cached);
        pages.set(found, 0x8000_0010, NOP);
        assert_eq!(pages.find(0x8000_0ffc).map(|found| found.index), Some(found.index));
        assert!(pages.find(0x8010_0000).is_none(), "another page of the same slot");
        pages.forget_places();
        assert!(pages.find(0x8000_0010).is_none());
        let again = pages.add(0x8000_0020, 0x20, Way::Cached);
        assert_eq!(pages.ops(again)[4].code, Code::Nop, "it has been kept");
        let alias = pages.add(0xa000_0010, 0x10, Way::Uncached);
        assert_eq!(pages.ops(alias)[4].code, Code::Undecoded, "targets are others there");
    }

    #[test]
    fn an_operation_is_undecoded_wherever_its_page_is() {
        let mut pages = Pages::new();
        let places = [0x1000, 0x5000].map(|physical| pages.add(0x40_0000, physical, Way::Cached));
        places.iter().for_each(|found| pages.set(*found, 0x40_0008, NOP));
        pages.undecode(0x40_0008);
        assert!(places.iter().all(|found| pages.ops(*found)[2].code == Code::Undecoded));
    }
}
