//! The flash translation layer of an SD card as a timing model: how long the card is busy, and why.
//!
//! The model is a small card of 2008: one NAND flash, a controller with two page buffers, and a map from logical to
//! flash blocks. A *sector* is the host's block of 512 bytes; a *page* is the unit of programming; a *block* is the
//! unit of erasing.
//!
//! - Sectors are collected in a page buffer. The page is programmed when it is complete, when all announced sectors
//!   have been received, or when the command ends. Sectors of the page that the host did not supply are copied from the
//!   old page.
//! - While a page is programmed, the other buffer takes sectors. The card is busy after a sector while no buffer is
//!   free, and after the last sector until all pages are programmed.
//! - Logical blocks are mapped as a whole. Only open blocks take writes, sector after sector in order; a write
//!   elsewhere makes the card complete one block with copies from the old one and open another: see [`mapping`].
//! - The first bytes of the card, where file systems have their tables, are mapped page by page: a write there only
//!   copies the rest of a page.
//! - The flash does one operation after the other; copies come before the program of the page that caused them. All
//!   copies are recorded before the erases that belong to them: only the sum of each is known.
//!
//! Not modelled: wear levelling, bad blocks, garbage collection of the page-mapped area, the time to move sectors
//! between host and buffers inside the card, and any work while the card is idle. Contents are not kept here.

mod doing;
mod mapping;
mod parameters;
#[cfg(test)]
mod tests;

pub use doing::Doing;
use doing::Schedule;
use mapping::{Mapping, Run, Work};
use parameters::{Geometry, Times};

use crate::prelude::*;

/// The translation layer. Its caller, the card, passes commands in the order of time and never beyond the card's end.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Translation {
    #[state(skip)]
    geometry: Geometry,
    #[state(skip)]
    times: Times,
    #[poll(skip = "changes in calls")]
    mapping: Mapping,
    /// Sectors that the current write command announced; 0 if it announced no number.
    announced: u32,
    /// Sectors of the current write command so far.
    received: u32,
    /// The sectors in the page buffer, all of one page.
    #[poll(skip = "changes in calls")]
    gathered: Run,
    /// The end of all requested operations of the flash.
    flash_free: Ps,
    /// The operations up to then.
    #[poll(skip = "changes in calls")]
    schedule: Schedule,
    /// The time from which on the buffer is free that does not hold the page programmed last.
    buffer_free: Ps,
    /// The page that a read left in its buffer.
    read_page: Option<u32>,
    #[poll(skip = "changes in calls")]
    totals: Totals,
    /// Calls that may have changed an answer. Earlier answers are deadlines of the caller.
    calls: u64,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, State, Counters)]
struct Totals {
    pages_programmed: u64,
    pages_read: u64,
    #[counter(skip)]
    work: Work,
}

impl Translation {
    /// The layer of a card of `sectors` times 512 bytes, from the card's node. Faults go to the reader.
    pub fn from_node(reader: &mut NodeReader, sectors: u32) -> Translation {
        let geometry = Geometry::from_node(reader, sectors);
        Translation::new(geometry, Times::from_node(reader))
    }

    fn new(geometry: Geometry, times: Times) -> Translation {
        Translation { geometry, times, mapping: Mapping::new(geometry), ..Translation::default() }
    }

    /// A write command begins at sector `lba`; `announced` sectors will come: 1 for WRITE_BLOCK, for
    /// WRITE_MULTIPLE_BLOCK the number of SET_WR_BLK_ERASE_COUNT, 0 if unknown.
    pub fn begin_write(&mut self, lba: u32, announced: u32, now: Ps) {
        self.calls += 1;
        self.program(now);
        self.gathered = Run { first: lba, sectors: 0 };
        self.announced = announced;
        self.received = 0;
    }

    /// Sector `lba` was received and accepted at `now`: returns the end of the card's busy time.
    pub fn block(&mut self, lba: u32, now: Ps) -> Ps {
        self.calls += 1;
        if lba != self.gathered.end() {
            self.program(now);
            self.gathered = Run { first: lba, sectors: 0 };
        }
        self.gathered.sectors += 1;
        self.received = self.received.saturating_add(1);
        let last = self.received == self.announced;
        if last || self.geometry.is_last_of_page(lba) {
            self.program(now);
        }
        now.max(if last { self.flash_free } else { self.buffer_free })
    }

    /// The write command ends at `now`, with a stop token or after its only sector: returns the end of the busy time.
    pub fn end_write(&mut self, now: Ps) -> Ps {
        self.calls += 1;
        self.program(now);
        let stop = if self.announced == 1 { Ps::ZERO } else { self.times.stop };
        now.max(self.flash_free).saturating_add(stop)
    }

    /// Sector `lba` is requested at `now`, as the next one of a command if `sequential`: returns the time from which on
    /// its data can be sent.
    pub fn read(&mut self, lba: u32, sequential: bool, now: Ps) -> Ps {
        self.calls += 1;
        let page = self.geometry.page(lba);
        let mut ready = now.max(self.flash_free);
        if !sequential {
            ready = ready.saturating_add(self.times.read_access);
        }
        if self.read_page.replace(page) != Some(page) {
            self.totals.pages_read += 1;
            ready = ready.saturating_add(self.times.page_read);
        }
        ready
    }

    /// Erases sectors `first` to `last`: returns the end of the card's busy time.
    pub fn erase(&mut self, first: u32, last: u32, now: Ps) -> Ps {
        self.calls += 1;
        self.program(now);
        let work = self.mapping.erase(first, last);
        self.occupy(work, Ps::ZERO, now);
        self.buffer_free = self.flash_free;
        now.max(self.flash_free)
    }

    /// The operations of the flash in a period, in order, without gaps.
    pub fn doing(&self, from: Ps, to: Ps) -> Vec<(Doing, Ps, Ps)> {
        self.schedule.within(from, to)
    }

    /// Totals since the start of the run.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.totals.counters();
        counters.extend(self.totals.work.counters());
        counters
    }

    /// Programs the sectors in the buffer, if there are any; the next sectors go to the other buffer.
    fn program(&mut self, now: Ps) {
        let next = Run { first: self.gathered.end(), sectors: 0 };
        let run = std::mem::replace(&mut self.gathered, next);
        if run.sectors == 0 {
            return;
        }
        self.buffer_free = self.flash_free;
        self.totals.pages_programmed += 1;
        let work = self.mapping.write(run);
        self.occupy(work, self.times.page_program, now);
    }

    /// The flash does `work` and then an operation of length `more`, as soon as it is free.
    fn occupy(&mut self, work: Work, more: Ps, now: Ps) {
        self.read_page = None;
        self.totals.work.add(work);
        self.schedule.forget_before(now);
        let start = now.max(self.flash_free);
        let steps = [
            (Doing::Merge, self.times.of_copies(work)),
            (Doing::Erase, self.times.of_erasures(work)),
            (Doing::Program, more),
        ];
        self.flash_free = self.schedule.add(start, &steps);
    }
}
