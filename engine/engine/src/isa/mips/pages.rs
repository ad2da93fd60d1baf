//! Pages of code: for virtual pages from which instructions were fetched, the physical ones.

use crate::cpu::memory_system::Via;
use crate::cpu::memory_system::fetch::pages::{PageNumber, UNTRANSLATED};

/// The smallest page of any translation.
pub(super) const PAGE_BYTES: u32 = 1 << 12;
/// Number of pages in the table.
const SLOTS: usize = 1 << 8;
/// Not the address of a page.
const NOWHERE: u32 = 1;

/// A known mapping of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page {
    /// Its virtual address.
    va: u32,
    /// Its physical address.
    physical: u32,
    /// Its size: smaller than a page if an overlay begins or ends in it.
    bytes: u16,
    /// The path by which it is fetched.
    pub via: Via,
    /// Its number among the pages of code.
    pub number: PageNumber,
}

impl Page {
    /// The physical address of `pc`, which is in the page.
    #[cfg(test)]
    fn physical(self, pc: u32) -> u32 {
        self.physical + (pc - self.va)
    }
}

/// No page.
pub(super) const NO_PAGE: Page = Page { va: NOWHERE, physical: 0, bytes: 0, via: Via::Uncached, number: UNTRANSLATED };

/// The pages found with the current translation and privilege, in slots by virtual address.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    slots: Box<[Page; SLOTS]>,
}

/// Contents of this table do not change a program's behaviour.
impl PartialEq for Pages {
    fn eq(&self, _: &Pages) -> bool {
        true
    }
}

impl Pages {
    pub fn new() -> Pages {
        Pages { slots: Box::new([NO_PAGE; SLOTS]) }
    }

    /// The page that contains `pc`, if known.
    #[inline(always)]
    pub fn find(&self, pc: u32) -> Option<Page> {
        let page = self.slots[slot(pc)];
        (pc.wrapping_sub(page.va) < u32::from(page.bytes)).then_some(page)
    }

    /// Adds the page, or the part of one, that contains `pc`, with its physical address and its path: from `first` to
    /// `last`.
    pub fn add(&mut self, pc: u32, physical: u32, (via, number): (Via, PageNumber), (first, last): (u32, u32)) -> Page {
        let page = Page { va: pc - (physical - first), physical: first, bytes: (last - first + 1) as u16, via, number };
        self.slots[slot(page.va)] = page;
        page
    }

    /// Drops all pages, after a change of translation or privilege.
    pub fn forget(&mut self) {
        self.slots.fill(NO_PAGE);
    }
}

fn slot(va: u32) -> usize {
    (va / PAGE_BYTES) as usize & (SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_where_it_was_put_until_translation_changes() {
        let mut pages = Pages::new();
        assert!(pages.find(0x8000_0010).is_none());
        let page = pages.add(0x8000_0010, 0x10, (Via::Cached, UNTRANSLATED), (0, 0xfff));
        assert_eq!(pages.find(0x8000_0ffc), Some(page));
        assert_eq!((page.physical(0x8000_0ffc), page.via), (0xffc, Via::Cached));
        assert!(pages.find(0x8010_0000).is_none(), "another page of the same slot");
        pages.forget();
        assert!(pages.find(0x8000_0010).is_none());
    }
    #[test]
    fn a_part_of_a_page_is_found_inside_its_ends() {
        let mut pages = Pages::new();
        let part = pages.add(0x8000_0090, 0x90, (Via::Uncached, UNTRANSLATED), (0x80, 0xbf));
        assert_eq!([pages.find(0x8000_0080), pages.find(0x8000_00bc)], [Some(part); 2]);
        assert_eq!([pages.find(0x8000_007c), pages.find(0x8000_00c0)], [None; 2]);
        assert_eq!(part.physical(0x8000_0084), 0x84);
    }
}
