//! Pages of code: where decoded code was read from, and whether it may run without a look at the TLBs.
//!
//! A page of code is a virtual page with its translation, for one privilege. It has a number, which is part of the
//! state in which a block is decoded: code at the same address in another address space has another number, and a page
//! that is mapped anew as before has its old one. So blocks stay when translations change.
//!
//! A block of a page is entered without a check only while the micro TLB has the page: the page is present. Then the
//! page's entry in [`CodePages::valid`] is the page's mark, which blocks keep ([`Hot::fetched`]) once their lines have
//! been found in the cache. Otherwise the address is translated before the fetch. Software may change tables without
//! TLB maintenance: what counts is the translation at that time. So the time at which code was decoded does not matter.
//!
//! [`Hot::fetched`]: crate::cpu::block::Hot::fetched

use std::collections::BTreeMap;
use std::mem::offset_of;

use super::super::access::{Kind, MemoryType, Translation};
use super::super::mmu::{AbortOf, Mmu};
use super::super::{Done, Memory};
use crate::bus::Bus;

/// The smallest page of any translation.
pub const PAGE_BYTES: u32 = 1 << 12;

/// The number of a page of code.
pub type PageNumber = u16;

/// No page.
pub const NO_PAGE: PageNumber = 0;

/// All addresses that are not translated: always present.
pub const UNTRANSLATED: PageNumber = 1;

/// Numbers that can be given.
pub const MOST_PAGES: usize = 1 << 11;

/// Not the mark of a page: the micro TLB does not have it.
const ABSENT: u32 = u32::MAX;

/// A virtual page with its translation, for one privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    first: u32,
    bytes: u32,
    physical: u32,
    memory: MemoryType,
    privileged: bool,
}

/// A page that the micro TLB has, and from which fetches with a privilege are known to be allowed.
#[derive(Clone, Copy, Debug)]
struct Present {
    first: u32,
    bytes: u32,
    privileged: bool,
    number: PageNumber,
}

impl Present {
    fn holds(&self, va: u32, privileged: bool) -> bool {
        va.wrapping_sub(self.first) < self.bytes && self.privileged == privileged
    }
}

/// The pages of decoded code.
#[derive(Debug)]
pub(in super::super) struct CodePages {
    /// By number: the page's mark while it is present, else [`ABSENT`]. Inside the core, at a fixed offset for compiled
    /// code.
    valid: [u32; MOST_PAGES],
    numbers: BTreeMap<Page, PageNumber>,
    present: Vec<Present>,
    /// Incremented when all lines are removed: the upper part of all marks.
    generation: u32,
}

/// Generations before marks repeat.
const MOST_GENERATIONS: u32 = 1 << (u32::BITS - MOST_PAGES.ilog2());

impl CodePages {
    pub fn new() -> CodePages {
        let mut pages =
            CodePages { valid: [ABSENT; MOST_PAGES], numbers: BTreeMap::new(), present: Vec::new(), generation: 1 };
        pages.valid[usize::from(UNTRANSLATED)] = pages.mark_of(UNTRANSLATED);
        pages
    }

    /// The mark of a page's blocks whose lines are in the cache: never 0.
    fn mark_of(&self, number: PageNumber) -> u32 {
        (self.generation * MOST_PAGES as u32) | u32::from(number)
    }

    fn at(&self, va: u32, privileged: bool) -> Option<PageNumber> {
        self.present.iter().find(|page| page.holds(va, privileged)).map(|page| page.number)
    }

    fn number_of(&mut self, page: Page) -> PageNumber {
        let next = UNTRANSLATED as usize + 1 + self.numbers.len();
        *self.numbers.entry(page).or_insert(next.min(MOST_PAGES - 1) as PageNumber)
    }

    /// Records that the micro TLB has a page.
    fn arrived(&mut self, page: Page) -> PageNumber {
        let number = self.number_of(page);
        let Page { first, bytes, privileged, .. } = page;
        self.present.push(Present { first, bytes, privileged, number });
        self.valid[usize::from(number)] = self.mark_of(number);
        number
    }

    /// Records that the micro TLB has no page with addresses of a span any more.
    fn left(&mut self, first: u32, bytes: u32) {
        let valid = &mut self.valid;
        self.present.retain(|page| {
            let stays = page.first.wrapping_sub(first) >= bytes && first.wrapping_sub(page.first) >= page.bytes;
            if !stays {
                valid[usize::from(page.number)] = ABSENT;
            }
            stays
        });
    }

    /// Records that the micro TLB is empty.
    pub fn all_left(&mut self) {
        for page in self.present.drain(..) {
            self.valid[usize::from(page.number)] = ABSENT;
        }
    }

    /// Makes all marks invalid. False if marks of long ago are valid again: those have to be dropped.
    pub fn begin_generation(&mut self) -> bool {
        self.generation = (self.generation + 1) % MOST_GENERATIONS;
        let is_unique = self.generation != 0;
        // The last generation would have the mark that means an absent page.
        self.generation = self.generation.max(1);
        for number in self.present.iter().map(|page| page.number).chain([UNTRANSLATED]) {
            self.valid[usize::from(number)] = (self.generation * MOST_PAGES as u32) | u32::from(number);
        }
        is_unique
    }
}

impl Memory {
    /// Offset of the marks of pages that are present, by number, for compiled code.
    pub const VALID_PAGES: usize = offset_of!(Memory, code_pages) + offset_of!(CodePages, valid);

    /// The number of the page of code at `va`, with the current translation and privilege. Takes no time.
    ///
    /// # Errors
    ///
    /// The abort of a fetch.
    pub fn code_page<M: Mmu>(&mut self, bus: &Bus, mmu: &M, va: u32) -> Result<PageNumber, AbortOf<M>> {
        if !is_translated(mmu, va) {
            return Ok(UNTRANSLATED);
        }
        if let Some(number) = self.code_pages.at(va, mmu.is_privileged()) {
            return Ok(number);
        }
        let to = self.meaning(bus, mmu, va, mmu.access(Kind::Execute, 0))?;
        Ok(self.code_pages.number_of(page_of(va, to, mmu.is_privileged())))
    }

    /// True if code from `first` to `last`, of a block that was decoded in these two pages, and is about to be fetched,
    /// would be read from there.
    pub fn code_stays<M: Mmu>(
        &mut self,
        bus: &Bus,
        mmu: &M,
        (first, last): (u32, u32),
        pages: (PageNumber, PageNumber),
    ) -> bool {
        !self.may_be_elsewhere::<M>()
            || self.code_page(bus, mmu, first).is_ok_and(|page| page == pages.0)
                && (pages.0 == pages.1 || self.code_page(bus, mmu, last).is_ok_and(|page| page == pages.1))
    }

    /// The number of the page of a block's last byte, if the first one is in the page `number`.
    ///
    /// # Errors
    ///
    /// The abort of its fetch.
    pub fn last_page<M: Mmu>(
        &mut self,
        bus: &Bus,
        mmu: &M,
        (first, last): (u32, u32),
        number: PageNumber,
    ) -> Result<PageNumber, AbortOf<M>> {
        if (first ^ last) & !(PAGE_BYTES - 1) == 0 { Ok(number) } else { self.code_page(bus, mmu, last) }
    }

    /// The mark of a page's blocks whose lines are in the cache: see [`Memory::is_valid`].
    #[inline(always)]
    pub fn mark_of(&self, number: PageNumber) -> u32 {
        self.code_pages.mark_of(number)
    }

    /// True for the mark of a page that is present, if no lines of the block that has it were removed.
    #[inline(always)]
    pub fn is_valid(&self, mark: u32) -> bool {
        self.code_pages.valid[mark as usize % MOST_PAGES] == mark
    }

    /// True if the micro TLB has the page with this number, and the fetch is known to be allowed.
    #[inline(always)]
    pub fn has_code_page(&self, number: PageNumber) -> bool {
        self.code_pages.valid[usize::from(number)] != ABSENT
    }

    /// Records a fetch from a page that the micro TLB has.
    #[inline]
    pub(in super::super) fn note_code_page<M: Mmu>(&mut self, mmu: &M, va: u32, to: Translation) -> PageNumber {
        if !is_translated(mmu, va) {
            return UNTRANSLATED;
        }
        let privileged = mmu.is_privileged();
        self.code_pages.at(va, privileged).unwrap_or_else(|| self.code_pages.arrived(page_of(va, to, privileged)))
    }

    /// Follows the loss of a page from the micro TLB.
    pub(in super::super) fn lose_code_page(&mut self, first: u32, bytes: u32) {
        self.code_pages.left(first, bytes);
        self.fetched.went();
    }

    /// Follows the loss of all pages from the micro TLB.
    pub(in super::super) fn lose_code_pages(&mut self) {
        self.code_pages.all_left();
        self.fetched.went();
    }

    /// Loads the page of code in memory at the core into the micro TLB. True if that took no time.
    pub fn fetch_page<M: Mmu>(&mut self, bus: &mut Bus, mmu: &M, now: u64, va: u32) -> Done<bool, M::Status> {
        let mut trip = self.trip(bus, now);
        let result = self.code_place(&mut trip, mmu, va);
        trip.done(result.map(|_| trip.meter.spent() == 0))
    }

    /// True if there may be no more numbers for the pages of three blocks: drop all blocks first.
    pub fn code_pages_are_full(&self) -> bool {
        self.code_pages.numbers.len() + 8 > MOST_PAGES
    }

    /// Forgets what is known of blocks: none is decoded any more.
    pub fn forget_code(&mut self) {
        self.fetched.forget_blocks();
    }

    /// Drops all numbers: no block is decoded any more.
    pub fn number_code_pages_anew(&mut self) {
        self.learn_fetches();
        self.code_pages.all_left();
        self.code_pages.numbers.clear();
        self.clear_fetched();
    }

    /// False if every change of translation is reported.
    fn may_be_elsewhere<M: Mmu>(&self) -> bool {
        M::WALKS && !self.flat
    }

    /// True if a fetch at `va` would evict the page of `flow` from the micro TLB.
    pub(super) fn would_lose_page<M: Mmu>(&self, mmu: &M, va: u32, flow: u32) -> bool {
        let (tlb, asid) = (&self.state.tlb, mmu.asid());
        self.may_be_elsewhere::<M>()
            && tlb.look_in_micro(Kind::Execute, va, asid).is_none()
            && tlb.next_to_go(Kind::Execute).is_some_and(|entry| entry.holds(flow, asid))
    }
}

/// True if a fetch of `va` needs a page in the micro TLB.
fn is_translated<M: Mmu>(mmu: &M, va: u32) -> bool {
    M::TRANSLATES && mmu.mmu_is_on() && mmu.is_mapped(va)
}

fn page_of(va: u32, to: Translation, privileged: bool) -> Page {
    let offset = va & (to.page_bytes - 1);
    let (first, physical) = (va - offset, to.physical - offset);
    Page { first, bytes: to.page_bytes, physical, memory: to.memory, privileged }
}
