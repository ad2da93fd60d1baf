//! Where the code of blocks is, and what becomes of blocks whose code was written over.
//!
//! A block that is killed is never entered again: nothing finds it, no other is linked to it, and it is never known to
//! be in the instruction cache. What it has done still counts, and its place is free again when all blocks are dropped.

use std::collections::BTreeMap;

use super::{Blocks, NO_BLOCK, NOT_SETTLED, lookup_slot};
use crate::bus::code::CodeSpan;
use crate::cpu::isa::Isa;

/// Blocks are looked for page by page.
const PAGE_SHIFT: u32 = 12;
/// Blocks that may be linked to one without a look at all blocks when that is killed.
const MOST_SOURCES: usize = 32;
/// Dead blocks there may be before all are dropped: few beside those that there is room for.
const MOST_DEAD: usize = 1 << 12;

/// Where a block's code is within one RAM.
#[derive(Clone, Copy, Debug)]
struct Place {
    first: u32,
    last: u32,
    index: u32,
}

/// Where the code of all blocks is, by RAM and page. What lies in several pages is in each of them.
#[derive(Debug, Default)]
pub struct Places {
    by_page: BTreeMap<(usize, u32), Vec<Place>>,
    dead: usize,
}

impl Places {
    /// Nowhere is code any more.
    pub fn clear(&mut self) {
        *self = Places::default();
    }

    /// True if so many blocks are dead that all should be dropped.
    pub fn are_dead(&self) -> bool {
        self.dead >= MOST_DEAD
    }

    fn add(&mut self, index: u32, span: CodeSpan) {
        let CodeSpan { ram, first, last } = span;
        for page in pages(span) {
            self.by_page.entry((ram, page)).or_default().push(Place { first, last, index });
        }
    }

    /// Takes the blocks out whose code shares bytes with a span; some may have been taken out of another page before.
    fn take(&mut self, span: CodeSpan) -> Vec<u32> {
        let mut taken = Vec::new();
        let pages = pages(span);
        for (_, places) in self.by_page.range_mut((span.ram, *pages.start())..=(span.ram, *pages.end())) {
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
}

/// The pages of a span. What is in no RAM is not told apart.
fn pages(span: CodeSpan) -> std::ops::RangeInclusive<u32> {
    if span == CodeSpan::ELSEWHERE { 0..=0 } else { span.first >> PAGE_SHIFT..=span.last >> PAGE_SHIFT }
}

impl<I: Isa> Blocks<I> {
    /// A block has code in this span; may be said of several.
    pub fn place(&mut self, index: u32, span: CodeSpan) {
        self.places.add(index, span);
    }

    /// Links an exit of a block to the block that comes behind it.
    pub fn link(&mut self, from: u32, exit: usize, to: u32) {
        self.hot[from as usize].links[exit] = to;
        let sources = &mut self.cold[to as usize].sources;
        if sources.len() < MOST_SOURCES && !sources.contains(&from) {
            sources.push(from);
        }
    }

    /// Kills the blocks whose code shares bytes with a span that was written: which these are.
    pub fn kill(&mut self, span: CodeSpan) -> Vec<u32> {
        let mut killed = self.places.take(span);
        killed.retain(|index| !std::mem::replace(&mut self.cold[*index as usize].is_dead, true));
        for index in &killed {
            self.bury(*index);
        }
        killed
    }

    fn bury(&mut self, index: u32) {
        self.places.dead += 1;
        let hot = &mut self.hot[index as usize];
        (hot.fetched_epoch, hot.code) = (0, self.uncompiled);
        let at = lookup_slot(hot.pc);
        for slot in self.lookup.iter_mut().map(|slots| &mut slots[at]).filter(|slot| slot.index == index) {
            slot.entry = None;
        }
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

    /// No exit of the block `from` leads to the block `to` any more. Its compiled code may go there without a look at
    /// the links.
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
