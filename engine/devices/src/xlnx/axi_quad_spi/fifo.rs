//! The core's FIFOs, each between the AXI clock and the SPI clock.
//!
//! The two sides see the same bytes at different times, as with a real FIFO of independent clocks. A slot therefore has
//! the edge of EXT_SPI_CLK at which the other side sees it, and a FIFO three pointers: two for the sides' own accesses,
//! one for those of the wire that the AXI side has seen. The recorded entries are those that the AXI side sees, in
//! SPISR and the occupancy registers.

use crate::prelude::*;
use crate::support::activities::{RX_FIFO, TX_FIFO};
use crate::support::fifo_entries::FifoEntries;
use engine::polling::Edge;

/// Depth of the deepest FIFO that the core has.
const SLOTS: u64 = 256;

/// A byte of a FIFO.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Slot {
    byte: u8,
    /// The edge from which on the wire can take the byte; after the wire's access, that of the access.
    pub edge: u64,
}

/// A FIFO between AXI and the wire.
#[derive(Debug, State)]
pub struct Fifo {
    slots: Box<[Slot; SLOTS as usize]>,
    #[state(skip)]
    depth: u64,
    /// True if the wire fills it and AXI empties it, false if the reverse.
    #[state(skip)]
    is_from_wire: bool,
    #[state(skip)]
    axi: Hz,
    /// The numbers of bytes that were written and read, and of those with an access of the wire that AXI has seen.
    written: u64,
    read: u64,
    seen: u64,
    entries: FifoEntries,
}

impl Fifo {
    /// SPI DTR and its FIFO, of `depth` bytes (up to 256): written from AXI, emptied by the wire.
    pub fn to_wire(depth: u32, axi: Hz) -> Fifo {
        Fifo {
            slots: Box::new([Slot::default(); SLOTS as usize]),
            depth: u64::from(depth).clamp(1, SLOTS),
            is_from_wire: false,
            axi,
            written: 0,
            read: 0,
            seen: 0,
            entries: FifoEntries::new(&TX_FIFO),
        }
    }

    /// SPI DRR and its FIFO: filled by the wire, read from AXI.
    pub fn from_wire(depth: u32, axi: Hz) -> Fifo {
        Fifo { is_from_wire: true, entries: FifoEntries::new(&RX_FIFO), ..Fifo::to_wire(depth, axi) }
    }

    /// Records its entries from now on.
    pub fn observe(&mut self, ctx: &Ctx) {
        self.entries.observe(ctx.scope());
    }

    /// Empties both sides at once, at `now` (a FIFO reset).
    pub fn reset(&mut self, now: Ps) {
        self.entries.clear(self.occupancy() as usize, self.axi.edge_at_or_after(now), self.axi);
        (self.read, self.seen) = (self.written, self.written);
    }

    /// The number of its bytes, as the AXI side sees it.
    pub fn occupancy(&self) -> u32 {
        let by_axi = if self.is_from_wire { self.read } else { self.written };
        self.seen.abs_diff(by_axi) as u32
    }

    /// True if it is full, as the AXI side sees it.
    pub fn is_full(&self) -> bool {
        u64::from(self.occupancy()) >= self.depth
    }

    fn slot(&self, number: u64) -> Slot {
        self.slots[(number % SLOTS) as usize]
    }

    /// A byte is written, which the other side can see from `edge` on. False if the FIFO is full: the byte is lost, of
    /// the wire's an overrun.
    pub fn push(&mut self, byte: u8, edge: u64) -> bool {
        if self.written - self.read.min(self.seen) >= self.depth {
            return false;
        }
        self.slots[(self.written % SLOTS) as usize] = Slot { byte, edge };
        self.written += 1;
        true
    }

    /// AXI writes a byte at `now`, which the wire can take from `edge` on.
    pub fn write(&mut self, byte: u8, edge: u64, now: Ps) {
        let before = self.occupancy() as usize;
        if self.push(byte, edge) {
            self.entries.come(before, self.axi.edge_at_or_after(now), byte.into());
        }
    }

    /// AXI reads a byte at `now`: `None` if the FIFO is empty, as the AXI side sees it.
    pub fn read(&mut self, now: Ps) -> Option<u8> {
        let before = self.occupancy() as usize;
        if before == 0 {
            return None;
        }
        self.entries.leave(before, self.axi.edge_at_or_after(now), self.axi);
        self.read += 1;
        Some(self.slot(self.read - 1).byte)
    }

    /// The byte that the wire sends next, and the edge from which on it can.
    pub fn front(&self) -> Option<(u8, u64)> {
        let Slot { byte, edge } = self.slot(self.read);
        (self.read < self.written).then_some((byte, edge))
    }

    /// The wire has sent the front byte at `edge`.
    pub fn complete(&mut self, edge: u64) {
        self.slots[(self.read % SLOTS) as usize].edge = edge;
        self.read += 1;
    }

    /// The number of bytes that the wire has not sent, and the edge from which on it can take the last of them.
    pub fn unsent(&self) -> Option<(u64, u64)> {
        let count = self.written - self.read;
        (count > 0).then(|| (count, self.slot(self.written - 1).edge))
    }

    /// The wire's accesses that the AXI side has not seen.
    pub fn unseen(&self) -> impl Iterator<Item = Slot> {
        let by_wire = if self.is_from_wire { self.written } else { self.read };
        (self.seen..by_wire).map(|number| self.slot(number))
    }

    /// Lets the AXI side see one more access of the wire, which was at `seen_edge` or earlier: false if there is no
    /// such access. `seen_at` gives the time at which the AXI side sees an edge.
    pub fn see_one(&mut self, seen_edge: u64, seen_at: impl Fn(u64) -> Ps) -> bool {
        let Some(slot) = self.unseen().next().filter(|slot| slot.edge <= seen_edge) else { return false };
        if self.entries.are_recorded() {
            self.record(slot, self.occupancy() as usize, seen_at(slot.edge));
        }
        self.seen += 1;
        true
    }

    /// Records that the AXI side sees an access of the wire at `at`, and saw `before` bytes until then.
    fn record(&mut self, slot: Slot, before: usize, at: Ps) {
        if self.is_from_wire {
            self.entries.come(before, at, slot.byte.into());
        } else {
            self.entries.leave(before, at, self.axi);
        }
    }

    /// The run is over, and the wire is up to its end: records the accesses that the AXI side would still see, and the
    /// remaining entries.
    pub fn record_rest(&mut self, seen_at: impl Fn(u64) -> Ps) {
        let mut left = self.occupancy() as usize;
        for slot in self.unseen().collect::<Vec<Slot>>() {
            self.record(slot, left, seen_at(slot.edge));
            left = if self.is_from_wire { left + 1 } else { left - 1 };
        }
        self.entries.stay(left, self.axi);
    }
}

/// The entries, with the edges of `clock` at which the other side sees them, and the recorded ones.
impl Edge for Fifo {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        for count in [self.written - self.read, self.written - self.seen] {
            poll.state(count);
        }
        (self.read..self.written).for_each(|number| poll.state(self.slot(number).byte));
        (self.seen..self.written).for_each(|number| poll.edge(clock, &mut self.slots[(number % SLOTS) as usize].edge));
        self.entries.edge(self.axi, poll);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXI: Hz = Hz::new(100_000_000).unwrap();

    /// Entries are not recorded.
    fn never(_: u64) -> Ps {
        Ps::MAX
    }

    #[test]
    fn a_sent_byte_frees_its_place_when_axi_comes_to_know() {
        let mut fifo = Fifo::to_wire(2, AXI);
        assert!(fifo.push(1, 10) && fifo.push(2, 11));
        assert!(!fifo.push(3, 12));
        assert_eq!(fifo.front(), Some((1, 10)));
        fifo.complete(20);
        assert!(!fifo.see_one(19, never));
        assert!(fifo.is_full());
        assert!(fifo.see_one(20, never) && !fifo.see_one(20, never));
        assert_eq!((fifo.occupancy(), fifo.front()), (1, Some((2, 11))));
        fifo.reset(Ps::ZERO);
        assert_eq!((fifo.occupancy(), fifo.front()), (0, None));
    }

    #[test]
    fn a_received_byte_is_readable_when_axi_comes_to_know() {
        let mut fifo = Fifo::from_wire(2, AXI);
        assert!(fifo.push(7, 5) && fifo.push(8, 9));
        assert!(!fifo.push(9, 13));
        assert_eq!(fifo.read(Ps::ZERO), None);
        assert!(fifo.see_one(8, never) && !fifo.see_one(8, never));
        assert_eq!((fifo.occupancy(), fifo.read(Ps::ZERO), fifo.read(Ps::ZERO)), (1, Some(7), None));
        assert!(fifo.see_one(9, never));
        assert_eq!(fifo.read(Ps::ZERO), Some(8));
    }

    #[test]
    fn fifos_go_round() {
        let (mut tx, mut rx) = (Fifo::to_wire(256, AXI), Fifo::from_wire(256, AXI));
        for iteration in 0..1000u64 {
            assert!(tx.push(iteration as u8, iteration));
            assert_eq!(tx.front(), Some((iteration as u8, iteration)));
            tx.complete(iteration);
            assert!(tx.see_one(iteration, never));
            assert!(rx.push(iteration as u8, iteration) && rx.see_one(iteration, never));
            assert_eq!(rx.read(Ps::ZERO), Some(iteration as u8));
        }
    }
}
