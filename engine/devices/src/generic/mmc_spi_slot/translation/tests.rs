//! Tests: a card with round numbers, and one file a subject.

use super::Translation;
use super::parameters::{Geometry, Times};
use engine::time::Ps;

mod breaks;
mod busy;
mod node;
mod properties;
mod reading;

/// Pages of 4 sectors, blocks of 64 pages, and the first two blocks mapped page by page.
const GEOMETRY: Geometry = Geometry { card: 256 * 100, page: 4, block: 256, mapped: 512, open_blocks: 1 };

/// Times whose sums are unique.
const TIMES: Times = Times {
    page_program: Ps::from_us(830),
    sector_copy: Ps::from_us(500),
    page_copy: Ps::from_us(1_100),
    block_erase: Ps::from_us(1_500),
    page_read: Ps::from_us(60),
    read_access: Ps::from_us(200),
    stop: Ps::from_us(7),
};

/// The first sector of a block in the middle of the card.
const START: u32 = 256 * 10;

/// A host that asks the layer for writes, each as soon as the card is ready, with `gap` for every sector.
struct Host {
    card: Translation,
    now: Ps,
    gap: Ps,
}

impl Host {
    /// A host that takes no time itself.
    fn new() -> Host {
        Host { card: Translation::new(GEOMETRY, TIMES), now: Ps::ZERO, gap: Ps::ZERO }
    }

    /// A host whose card has the block at [`START`] open, up to and without sector `START + next`, which begins a page.
    fn with_open_block(next: u32) -> Host {
        let mut host = Host::new();
        host.write(START, next, next);
        host
    }

    /// One command of `sectors` sectors: how long it took, from its first sector to the end of busy.
    fn write(&mut self, lba: u32, sectors: u32, announced: u32) -> Ps {
        let start = self.now;
        self.card.begin_write(lba, announced, self.now);
        for sector in lba..lba + sectors {
            self.now += self.gap;
            self.now = self.card.block(sector, self.now);
        }
        self.now = self.card.end_write(self.now);
        self.now - start
    }

    fn single(&mut self, lba: u32) -> Ps {
        self.write(lba, 1, 1)
    }

    fn total(&self, name: &str) -> u64 {
        self.card.counters().into_iter().find(|(known, _)| *known == name).map(|(_, total)| total).unwrap()
    }
}

/// A number of microseconds, for sums in the tests.
fn us(us: u64) -> Ps {
    Ps::from_us(us)
}
