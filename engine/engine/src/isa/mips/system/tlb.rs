//! The translation lookaside buffer, which software fills (PRA, TLB-based virtual memory management).
//!
//! An entry maps a pair of pages. Two entries that match one address are a software error, and undefined: the first one
//! is used.

use super::System;
use super::{Effect, Now};

use crate::state::State;

/// Index: no entry matched.
const INDEX_P: u32 = 1 << 31;
/// EntryLo: the page is in all address spaces; valid; may be written.
pub(super) const LO_G: u32 = 1 << 0;
pub(super) const LO_V: u32 = 1 << 1;
pub(super) const LO_D: u32 = 1 << 2;
/// Stored bits of EntryLo: page frames of 32-bit addresses, C, D, V, G.
pub(super) const LO_WRITABLE: u32 = 0x03ff_ffff;
/// EntryHi: the pair's number, and the address space.
pub(super) const HI_VPN2: u32 = !0x1fff;
pub(super) const HI_ASID: u32 = 0xff;
/// PageMask: bits in use, for pages from 4 KiB to 16 MiB.
pub(super) const MASK_WRITABLE: u32 = 0x01ff_e000;

/// A pair of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(super) struct Entry {
    /// First address of the pair.
    vpn2: u32,
    /// PageMask.
    mask: u32,
    asid: u32,
    /// In all address spaces.
    pub global: bool,
    /// EntryLo0 and 1, without G.
    lo: [u32; 2],
}

impl Entry {
    /// An entry that no lookup matches: kseg0 is not mapped. Start-up code fills a TLB this way.
    fn nowhere(index: u32) -> Entry {
        Entry { vpn2: 0x8000_0000 + (index << 13), mask: 0, asid: 0, global: false, lo: [0; 2] }
    }

    fn matches(&self, va: u32, asid: u32) -> bool {
        (va ^ self.vpn2) & HI_VPN2 & !self.mask == 0 && (self.global || self.asid == asid)
    }

    /// Bytes of each page of the pair.
    pub fn page_bytes(&self) -> u32 {
        ((self.mask | !HI_VPN2) >> 1) + 1
    }

    /// EntryLo of the page of the pair that contains `va`.
    pub fn lo(&self, va: u32) -> u32 {
        self.lo[usize::from(va & self.page_bytes() != 0)]
    }
}

/// The buffer.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub(super) struct Tlb {
    #[state(with = crate::state::fixed)]
    entries: Vec<Entry>,
    /// Instructions since reset when Random last restarted at its upper end.
    random_since: u64,
}

impl Tlb {
    /// The state after reset, when the contents are undefined: no entry matches.
    pub fn new(entries: u32) -> Tlb {
        Tlb { entries: (0..entries.max(1)).map(Entry::nowhere).collect(), random_since: 0 }
    }

    /// The entry for `va`.
    pub fn find(&self, va: u32, asid: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.matches(va, asid))
    }

    fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Bits of Index, Random and Wired.
    pub fn index_mask(&self) -> u32 {
        self.len().next_power_of_two() - 1
    }

    /// Restarts Random after a write of Wired.
    pub fn restart_random(&mut self, now: Now) {
        self.random_since = now.instructions;
    }

    /// Random: counts from the last entry down to the first that is not wired, one entry per instruction.
    pub fn random(&self, wired: u32, now: Now) -> u32 {
        let last = self.len() - 1;
        let free = u64::from(self.len().saturating_sub(wired).max(1));
        // Less than the number of entries.
        last - (now.instructions.saturating_sub(self.random_since) % free) as u32
    }
}

/// The page mask that a written value stands for: pairs of bits, from the lowest on. Other masks are undefined.
pub(super) fn legal_mask(value: u32) -> u32 {
    let pairs = ((value & MASK_WRITABLE) >> 13).trailing_ones() / 2;
    ((1 << (2 * pairs)) - 1) << 13
}

impl System {
    /// `tlbp`: sets Index to the entry that matches EntryHi.
    pub fn tlbp(&mut self) -> Effect {
        let hi = self.registers.entry_hi;
        let found = self.tlb.entries.iter().position(|entry| entry.matches(hi, hi & HI_ASID));
        self.registers.index = found.map_or(INDEX_P, |index| index as u32);
        Effect::Next
    }

    /// `tlbr`: copies the entry at Index to EntryHi, EntryLo0 and 1, PageMask.
    pub fn tlbr(&mut self) -> Effect {
        let Some(entry) = self.tlb.entries.get(self.index()) else { return Effect::Next };
        let global = if entry.global { LO_G } else { 0 };
        let registers = &mut self.registers;
        let asid = registers.entry_hi & HI_ASID;
        registers.entry_hi = entry.vpn2 | entry.asid;
        registers.entry_lo = entry.lo.map(|lo| lo | global);
        registers.page_mask = entry.mask;
        if entry.asid == asid { Effect::Next } else { Effect::TranslationChanged }
    }

    /// `tlbwi`: copies EntryHi, EntryLo0 and 1, PageMask to the entry at Index.
    pub fn tlbwi(&mut self) -> Effect {
        self.write_entry(self.index())
    }

    /// The entry at Index, whatever P is. An index beyond the last entry is undefined: then nothing is read or written.
    fn index(&self) -> usize {
        (self.registers.index & !INDEX_P) as usize
    }

    /// `tlbwr`: the same for the entry at Random.
    pub fn tlbwr(&mut self, now: Now) -> Effect {
        self.write_entry(self.tlb.random(self.registers.wired, now) as usize)
    }

    fn write_entry(&mut self, index: usize) -> Effect {
        let registers = &self.registers;
        let [lo0, lo1] = registers.entry_lo;
        let entry = Entry {
            vpn2: registers.entry_hi & HI_VPN2 & !registers.page_mask,
            mask: registers.page_mask,
            asid: registers.entry_hi & HI_ASID,
            global: lo0 & lo1 & LO_G != 0,
            lo: [lo0 & !LO_G, lo1 & !LO_G],
        };
        match self.tlb.entries.get_mut(index) {
            Some(slot) if *slot != entry => {
                *slot = entry;
                Effect::TranslationChanged
            }
            _ => Effect::Next,
        }
    }
}
