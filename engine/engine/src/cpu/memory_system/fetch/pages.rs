//! Validity of decoded code under changes of translation tables: software may change them without TLB maintenance, and
//! an address's translation changes as soon as its page has left the TLBs.
//!
//! All decoded blocks of a page were read from the same physical page, which is recorded here. A block is entered
//! without a check as long as its page is in the micro TLB. Otherwise the page is translated before the fetch: if the
//! result has changed, blocks are dropped, and decoded from their present place. So the time at which code was decoded
//! does not matter.

use std::collections::BTreeMap;

use super::super::access::{Kind, MemoryType};
use super::super::mmu::{AbortOf, Mmu};
use super::super::{Done, Memory};
use crate::bus::Bus;

/// The smallest page of any translation.
const PAGE_BYTES: u32 = 1 << 12;

/// Translation of a virtual page: physical address and memory type.
type Meaning = (u32, MemoryType);

/// Translations of the virtual pages with code of decoded blocks.
pub(in super::super) type CodePages = BTreeMap<u32, Meaning>;

/// The page of an address.
fn page_of(va: u32) -> u32 {
    va & !(PAGE_BYTES - 1)
}

impl Memory {
    /// Records that a block with code from `first` to `last` has been read. False if other blocks of the page were read
    /// from elsewhere: all blocks have to be dropped then.
    pub fn note_code<M: Mmu>(&mut self, bus: &Bus, mmu: &M, first: u32, last: u32) -> bool {
        if !self.may_be_elsewhere::<M>() {
            return true;
        }
        [first, last].into_iter().all(|va| {
            self.meaning_of_page(bus, mmu, va)
                .is_ok_and(|meaning| *self.code_pages.entry(page_of(va)).or_insert(meaning) == meaning)
        })
    }

    /// True if code from `first` to `last`, of a block that is about to be fetched, would be read from the recorded
    /// place.
    pub fn code_stays<M: Mmu>(&self, bus: &Bus, mmu: &M, first: u32, last: u32) -> bool {
        let stays = |va: u32| {
            let known = self.code_pages.get(&page_of(va));
            known.is_none_or(|known| self.meaning_of_page(bus, mmu, va).is_ok_and(|meaning| meaning == *known))
        };
        !self.may_be_elsewhere::<M>() || [first, last].into_iter().all(stays)
    }

    /// True if the micro TLB has the page of this address, unchanged, and the fetch is known to be allowed: no check is
    /// needed as long as no page has left it ([`Memory::fetch_epoch`]).
    pub fn has_code_page<M: Mmu>(&self, mmu: &M, va: u32) -> bool {
        if !self.may_be_elsewhere::<M>() {
            return true;
        }
        let access = mmu.access(Kind::Execute, 0);
        let entry = self.state.tlb.look_in_micro(Kind::Execute, va, mmu.asid()).filter(|entry| entry.allows(access));
        entry.is_some_and(|entry| {
            let meaning = (entry.translation(page_of(va)).physical, entry.to.memory);
            self.code_pages.get(&page_of(va)).is_none_or(|known| *known == meaning)
        })
    }

    /// Loads the page of code in memory at the core into the micro TLB. True if that took no time.
    pub fn fetch_page<M: Mmu>(&mut self, bus: &mut Bus, mmu: &M, now: u64, va: u32) -> Done<bool, M::Status> {
        let mut trip = self.trip(bus, now);
        let result = self.code_place(&mut trip, mmu, va);
        trip.done(result.map(|_| trip.meter.spent() == 0))
    }

    /// Drops all records: no block is decoded any more.
    pub fn forget_code(&mut self) {
        self.code_pages.clear();
    }

    /// False if every change of translation is reported.
    fn may_be_elsewhere<M: Mmu>(&self) -> bool {
        M::WALKS && !self.flat
    }

    fn meaning_of_page<M: Mmu>(&self, bus: &Bus, mmu: &M, va: u32) -> Result<Meaning, AbortOf<M>> {
        let to = self.meaning(bus, mmu, va, mmu.access(Kind::Execute, 0))?;
        Ok((page_of(to.physical), to.memory))
    }

    /// True if a fetch at `va` would evict the page of `flow` from the micro TLB.
    pub(super) fn would_lose_page<M: Mmu>(&self, mmu: &M, va: u32, flow: u32) -> bool {
        let (tlb, asid) = (&self.state.tlb, mmu.asid());
        self.may_be_elsewhere::<M>()
            && tlb.look_in_micro(Kind::Execute, va, asid).is_none()
            && tlb.next_to_go(Kind::Execute).is_some_and(|entry| entry.holds(flow, asid))
    }
}
