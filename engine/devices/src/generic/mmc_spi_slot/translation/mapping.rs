//! The map from logical blocks to blocks of the flash: the copies and erases that a write or an erase causes.
//!
//! A logical block lives in one flash block. To write in it, the card *opens* it: it takes an empty flash block, copies
//! the pages before the written one from the old flash block, and programs. From there on the open block takes sectors
//! in order at no further cost. It is *closed* when it is complete, or when something else must be opened: the pages
//! after the last written one are copied, and the old flash block is erased. A write that continues no open block, an
//! *address break*, so costs about a block's worth of copies, wherever it goes.
//!
//! A page that is written in parts is programmed once for each part, as if the open block had room for that: real cards
//! keep such pages separately, in a way that is not documented.

use std::collections::VecDeque;

use super::parameters::Geometry;
use crate::prelude::*;

/// Consecutive sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Run {
    /// The first.
    pub first: u32,
    /// The number of sectors.
    pub sectors: u32,
}

impl Run {
    /// The sector after the last.
    pub fn end(self) -> u32 {
        self.first.saturating_add(self.sectors)
    }
}

/// The flash's operations besides programming the host's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Counters)]
pub struct Work {
    /// Sectors moved within a page.
    pub sectors_copied: u64,
    /// Pages copied to another block.
    pub pages_copied: u64,
    /// Blocks erased.
    pub blocks_erased: u64,
    /// Writes that continued no open block.
    pub address_breaks: u64,
}

impl Work {
    /// Adds `more` to it.
    pub fn add(&mut self, more: Work) {
        self.sectors_copied += more.sectors_copied;
        self.pages_copied += more.pages_copied;
        self.blocks_erased += more.blocks_erased;
        self.address_breaks += more.address_breaks;
    }
}

/// A block that takes writes.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Open {
    /// The logical block.
    block: u32,
    /// The sector of the block that was written first.
    from: u32,
    /// The sector of the block that comes next; the block's size once it is complete.
    next: u32,
    /// True if there is no old flash block from which to copy.
    blank: bool,
}

/// The open blocks, and the empty ones.
#[derive(Clone, Debug, Default, State)]
pub struct Mapping {
    #[state(skip)]
    geometry: Geometry,
    /// Least recently written first.
    open: VecDeque<Open>,
    /// By logical block: erased, and not opened since. At the start all blocks hold data.
    blank: Vec<bool>,
}

impl Mapping {
    /// A card that is full of data, with nothing open.
    pub fn new(geometry: Geometry) -> Mapping {
        Mapping { geometry, open: VecDeque::new(), blank: vec![false; geometry.blocks() as usize] }
    }

    /// Programs consecutive sectors within one page.
    pub fn write(&mut self, run: Run) -> Work {
        let Geometry { page, block, mapped, .. } = self.geometry;
        if run.first < mapped {
            return Work { sectors_copied: u64::from(page.saturating_sub(run.sectors)), ..Work::default() };
        }
        let offset = run.first % block;
        let mut work = Work::default();
        let mut open = self.take(run.first / block, offset, &mut work);
        let missing =
            if open.blank { (offset % page).min(offset - open.from) } else { page.saturating_sub(run.sectors) };
        work.sectors_copied += u64::from(missing);
        open.next = offset + run.sectors;
        self.open.push_back(open);
        work
    }

    /// Erases sectors `first` to `last`. Blocks that keep some pages are rewritten with them; in the page-mapped area
    /// no copies are needed.
    pub fn erase(&mut self, first: u32, last: u32) -> Work {
        let mut work = Work::default();
        let size = self.geometry.block;
        for number in first / size..=last / size {
            let start = number * size;
            if start < self.geometry.mapped {
                work.blocks_erased += 1;
                continue;
            }
            if let Some(index) = self.position(|open| open.block == number) {
                self.open.remove(index);
            }
            if self.is_blank(number) {
                continue;
            }
            let end = start.saturating_add(size).min(self.geometry.card);
            let before = first.saturating_sub(start).div_ceil(self.geometry.page);
            let after = end.saturating_sub(1).saturating_sub(last).div_ceil(self.geometry.page);
            let kept = (before + after).min(self.geometry.pages_per_block());
            work.pages_copied += u64::from(kept);
            work.blocks_erased += 1;
            self.set_blank(number, kept == 0);
        }
        work
    }

    /// Takes the open block that continues with sector `offset` of `block` out of the list, or opens a block.
    fn take(&mut self, block: u32, offset: u32, work: &mut Work) -> Open {
        let own = self.position(|open| open.block == block);
        if let Some(open) = own.and_then(|index| self.open.get(index).copied().filter(|open| open.next == offset)) {
            own.and_then(|index| self.open.remove(index));
            return open;
        }
        let size = self.geometry.block;
        let before = self.position(|open| open.block + 1 == block && open.next == size && offset == 0);
        if own.is_some() || before.is_none() {
            work.address_breaks += 1;
        }
        let full = self.open.len() >= self.geometry.open_blocks;
        if let Some(open) = own.or(before).or(full.then_some(0)).and_then(|index| self.open.remove(index)) {
            self.close(open, work);
        }
        let blank = self.is_blank(block);
        self.set_blank(block, false);
        if !blank {
            work.pages_copied += u64::from(offset / self.geometry.page);
        }
        Open { block, from: offset, next: offset, blank }
    }

    fn close(&self, open: Open, work: &mut Work) {
        if !open.blank {
            let written = open.next.div_ceil(self.geometry.page);
            work.pages_copied += u64::from(self.geometry.pages_per_block() - written);
            work.blocks_erased += 1;
        }
    }

    fn position(&self, is_it: impl Fn(&Open) -> bool) -> Option<usize> {
        self.open.iter().position(is_it)
    }

    fn is_blank(&self, block: u32) -> bool {
        self.blank.get(block as usize).copied().unwrap_or(false)
    }

    fn set_blank(&mut self, block: u32, blank: bool) {
        if let Some(entry) = self.blank.get_mut(block as usize) {
            *entry = blank;
        }
    }
}
