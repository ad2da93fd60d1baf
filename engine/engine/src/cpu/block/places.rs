//! The code addresses of blocks, and the invalidation of blocks whose code was overwritten.
//!
//! A killed block is never entered again: lookups do not find it, no block is linked to it, and it never counts as
//! present in the instruction cache. Its counters still count, and its index is free again when all blocks are dropped.

use std::collections::BTreeMap;

use super::{Blocks, NO_BLOCK, NOT_FETCHED, NOT_SETTLED, lookup_slot};
use crate::bus::code::CodeSpan;
use crate::cpu::isa::Isa;

/// Blocks are indexed by page.
const PAGE_SHIFT: u32 = 12;
/// Most blocks linked to one block that are listed; with more, killing it searches all blocks.
const MOST_SOURCES: usize = 32;
/// Most dead blocks before all blocks are dropped: few, compared with the capacity.
const MOST_DEAD: usize = 1 << 12;

/// The range of a block's code within one RAM.
#[derive(Clone, Copy, Debug)]
struct Place {
    first: u32,
    last: u32,
    index: u32,
}

/// The code ranges of all blocks, by RAM and page. A range in several pages is listed in each of them.
#[derive(Debug, Default)]
pub struct Places {
    by_page: BTreeMap<(usize, u32), Vec<Place>>,
    dead: usize,
}

impl Places {
    /// Removes all code ranges.
    pub fn clear(&mut self) {
        *self = Places::default();
    }

    /// True if the number of dead blocks is so high that all blocks should be dropped.
    pub fn are_dead(&self) -> bool {
        self.dead >= MOST_DEAD
    }

    fn add(&mut self, index: u32, span: CodeSpan) {
        let CodeSpan { ram, first, last } = span;
        for page in pages(span) {
            self.by_page.entry((ram, page)).or_default().push(Place { first, last, index });
        }
    }

    /// Removes the blocks whose code shares bytes with a span, and returns them; some may have been taken from another
    /// page before.
    fn take(&mut self, span: CodeSpan) -> Vec<u32> {
        let mut taken = Vec::new();
        if span == CodeSpan::ELSEWHERE {
            let elsewhere =
                self.by_page.iter_mut().filter(|((ram, _), _)| CodeSpan { ram: *ram, ..span }.is_elsewhere());
            elsewhere.for_each(|(_, places)| taken.extend(places.drain(..).map(|place| place.index)));
            return taken;
        }
        let pages = pages(span);
        let here = self.by_page.range_mut((span.ram, *pages.start())..=(span.ram, *pages.end()));
        for (_, places) in here {
            places.retain(|place| {
                let stays = place.last < span.first || span.last < place.first;
                if !stays {
                    taken.push(place.index);
                }
                stays
            });
        }
        taken
    }

    /// Removes the blocks with code at an unknown address in a device, and returns them.
    fn take_unknown(&mut self) -> Vec<u32> {
        let unknown = self.by_page.remove(&(CodeSpan::ELSEWHERE.ram, 0)).unwrap_or_default();
        unknown.into_iter().map(|place| place.index).collect()
    }
}

/// Parts of the address space, 64 KiB each, that contain code of blocks.
#[derive(Debug)]
pub struct Spread {
    parts: Box<[u64; Spread::WORDS]>,
    /// All parts that are set lie between these two.
    first: u32,
    last: u32,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { parts: Box::new([0; Spread::WORDS]), first: u32::MAX, last: 0 }
    }
}

impl Spread {
    const SHIFT: u32 = 16;
    const WORDS: usize = 1 << (u32::BITS - Spread::SHIFT - u64::BITS.ilog2());

    /// Records code from one address to another.
    pub fn add(&mut self, first: u32, last: u32) {
        let (first, last) = (first >> Spread::SHIFT, last >> Spread::SHIFT);
        for part in [first, last] {
            self.parts[(part / u64::BITS) as usize] |= 1 << (part % u64::BITS);
            (self.first, self.last) = (self.first.min(part), self.last.max(part));
        }
    }

    /// Records that there is no code.
    pub fn clear(&mut self) {
        if self.first <= self.last {
            self.parts[(self.first / u64::BITS) as usize..=(self.last / u64::BITS) as usize].fill(0);
        }
        (self.first, self.last) = (u32::MAX, 0);
    }

    /// False if there is certainly no code from one address to another.
    pub fn has_between(&self, first: u32, last: u32) -> bool {
        let parts = (first >> Spread::SHIFT).max(self.first)..=(last >> Spread::SHIFT).min(self.last);
        parts.into_iter().any(|part| self.parts[(part / u64::BITS) as usize] >> (part % u64::BITS) & 1 != 0)
    }
}

/// The pages of a span; addresses in [`CodeSpan::ELSEWHERE`] are unknown.
fn pages(span: CodeSpan) -> std::ops::RangeInclusive<u32> {
    if span == CodeSpan::ELSEWHERE { 0..=0 } else { span.first >> PAGE_SHIFT..=span.last >> PAGE_SHIFT }
}

impl<I: Isa> Blocks<I> {
    /// Records that a block has code in this span; a block may have several spans.
    pub fn place(&mut self, index: u32, span: CodeSpan) {
        self.places.add(index, span);
    }

    /// Links an exit of a block to the block that follows it.
    pub fn link(&mut self, from: u32, exit: usize, to: u32) {
        self.hot[from as usize].links[exit] = to;
        let sources = &mut self.cold[to as usize].sources;
        if sources.len() < MOST_SOURCES && !sources.contains(&from) {
            sources.push(from);
        }
    }

    /// Kills the blocks whose code shares bytes with a span that was written, and returns their indices.
    pub fn kill(&mut self, span: CodeSpan) -> Vec<u32> {
        let mut killed = self.places.take(span);
        if span.is_elsewhere() && span != CodeSpan::ELSEWHERE {
            killed.extend(self.places.take_unknown());
        }
        killed.retain(|index| !std::mem::replace(&mut self.cold[*index as usize].is_dead, true));
        for index in &killed {
            self.bury(*index);
        }
        killed
    }

    fn bury(&mut self, index: u32) {
        self.places.dead += 1;
        let hot = &mut self.hot[index as usize];
        (hot.fetched, hot.code) = (NOT_FETCHED, self.uncompiled);
        let at = lookup_slot(hot.pc);
        let slots = self.lookup.iter_mut().flat_map(|slots| &mut slots[2 * at..2 * at + 2]);
        slots.filter(|slot| slot.index == index).for_each(|slot| slot.entry = None);
        if self.settled[at].index == index {
            self.settled[at] = NOT_SETTLED;
        }
        let sources = std::mem::take(&mut self.cold[index as usize].sources);
        if sources.len() < MOST_SOURCES {
            sources.iter().for_each(|from| self.unlink(*from, index));
        } else {
            (0..self.hot.len() as u32).for_each(|from| self.unlink(from, index));
        }
    }

    /// Removes the links from block `from` to block `to`. Compiled code of `from` may jump there without reading the
    /// links.
    fn unlink(&mut self, from: u32, to: u32) {
        let hot = &mut self.hot[from as usize];
        for link in hot.links.iter_mut().filter(|link| **link == to) {
            *link = NO_BLOCK;
            if hot.code != self.uncompiled {
                (hot.code, hot.runs_to_go) = (self.uncompiled, self.compile_after);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dt::wiring::DeviceId;

    #[test]
    fn what_is_written_in_a_device_concerns_that_part_of_it() {
        let mut places = Places::default();
        let of = |device, first| CodeSpan::of_device(DeviceId(device), first, first + 15);
        for (index, span) in [(0, of(1, 0x100)), (1, of(1, 0x1100)), (2, of(2, 0x100))] {
            places.add(index, span);
        }
        places.add(3, CodeSpan { ram: 1, first: 0x100, last: 0x10f });
        places.add(4, CodeSpan::ELSEWHERE);
        assert_eq!(places.take(of(1, 0x108)), [0]);
        assert_eq!((places.take(of(1, 0x108)), places.take_unknown()), (vec![], vec![4]));
        places.add(5, CodeSpan::ELSEWHERE);
        assert_eq!(places.take(CodeSpan::ELSEWHERE), [1, 2, 5], "of all devices, and of no memory");
        assert_eq!(places.take(CodeSpan { ram: 1, first: 0x10f, last: 0x10f }), [3]);
    }

    #[test]
    fn a_spread_knows_where_surely_no_code_is() {
        let mut spread = Spread::default();
        assert!(!spread.has_between(0, u32::MAX));
        spread.add(0x0800_fff0, 0x0801_0010);
        spread.add(0x2000_0000, 0x2000_0010);
        for (first, last, has) in [
            (0x0800_0000, 0x0800_00ff, true),
            (0x0801_0000, 0x0801_ffff, true),
            (0x0802_0000, 0x1fff_ffff, false),
            (0, 0x07ff_ffff, false),
            (0x2001_0000, u32::MAX, false),
            (0, u32::MAX, true),
        ] {
            assert_eq!(spread.has_between(first, last), has, "{first:#x}");
        }
        spread.clear();
        assert!(!spread.has_between(0, u32::MAX));
    }
}
