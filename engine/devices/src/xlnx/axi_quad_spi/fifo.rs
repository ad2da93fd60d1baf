//! The core's two FIFOs, each between the AXI clock and the SPI clock.
//!
//! The two sides see the same bytes at different times, as with a real FIFO of independent clocks. A slot therefore has
//! the edge of EXT_SPI_CLK at which the other side sees it, and each FIFO three pointers: two for the sides' own
//! accesses, one for the entries that the AXI side has seen.

use crate::prelude::*;
use engine::polling::Edge;

/// Depth of the deepest FIFO that the core has.
const SLOTS: u64 = 256;

#[derive(Clone, Copy, Debug, Default, State)]
struct Slot {
    byte: u8,
    edge: u64,
}

/// SPI DTR and its FIFO: written from AXI, emptied by the wire.
#[derive(Debug, State)]
pub struct TxFifo {
    slots: Box<[Slot; SLOTS as usize]>,
    #[state(skip)]
    depth: u64,
    written: u64,
    sent: u64,
    freed: u64,
}

impl TxFifo {
    /// An empty FIFO of `depth` bytes (up to 256).
    pub fn new(depth: u32) -> TxFifo {
        let slots = Box::new([Slot::default(); SLOTS as usize]);
        TxFifo { slots, depth: u64::from(depth).clamp(1, SLOTS), written: 0, sent: 0, freed: 0 }
    }

    /// Empties both sides at once (a FIFO reset).
    pub fn clear(&mut self) {
        self.freed = self.written;
        self.sent = self.written;
    }

    /// The number of its bytes, as the AXI side sees it.
    pub fn occupancy(&self) -> u32 {
        (self.written - self.freed) as u32
    }

    /// True if AXI must not write.
    pub fn is_full(&self) -> bool {
        self.written - self.freed >= self.depth
    }

    /// A write from AXI, which the wire can take from `visible_edge` on. False if the FIFO is full: the byte is lost.
    pub fn push(&mut self, byte: u8, visible_edge: u64) -> bool {
        if self.is_full() {
            return false;
        }
        self.slots[(self.written % SLOTS) as usize] = Slot { byte, edge: visible_edge };
        self.written += 1;
        true
    }

    /// The byte that the wire sends next, and the edge from which on it can.
    pub fn front(&self) -> Option<(u8, u64)> {
        let slot = self.slots[(self.sent % SLOTS) as usize];
        (self.sent < self.written).then_some((slot.byte, slot.edge))
    }

    /// The wire has sent the front byte at `edge`.
    pub fn complete(&mut self, edge: u64) {
        self.slots[(self.sent % SLOTS) as usize].edge = edge;
        self.sent += 1;
    }

    /// The edges at which bytes left that the AXI side still counts.
    pub fn unseen(&self) -> impl Iterator<Item = u64> {
        (self.freed..self.sent).map(|index| self.slots[(index % SLOTS) as usize].edge)
    }

    /// The edge of the last departure that the AXI side has seen.
    pub fn freed_edge(&self) -> u64 {
        self.slots[(self.freed.wrapping_sub(1) % SLOTS) as usize].edge
    }

    /// The number of bytes that the wire has not sent, and the edge from which on it can take the last of them.
    pub fn unsent(&self) -> Option<(u64, u64)> {
        let count = self.written - self.sent;
        let last = self.written.checked_sub(1).filter(|_| count > 0)?;
        Some((count, self.slots[(last % SLOTS) as usize].edge))
    }

    /// Lets the AXI side see one more byte that left at `seen_edge` or earlier: false if there is no such byte.
    pub fn free_one(&mut self, seen_edge: u64) -> bool {
        let free = self.freed < self.sent && self.slots[(self.freed % SLOTS) as usize].edge <= seen_edge;
        self.freed += u64::from(free);
        free
    }
}

/// The entries, with their arrivals and departures by edges of `clock`.
impl Edge for TxFifo {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        for count in [self.written - self.freed, self.written - self.sent] {
            poll.state(count);
        }
        (self.sent..self.written).for_each(|index| poll.state(self.slots[(index % SLOTS) as usize].byte));
        (self.freed..self.written).for_each(|index| poll.edge(clock, &mut self.slots[(index % SLOTS) as usize].edge));
    }
}

/// SPI DRR and its FIFO: filled by the wire, read from AXI.
#[derive(Debug, State)]
pub struct RxFifo {
    slots: Box<[Slot; SLOTS as usize]>,
    #[state(skip)]
    depth: u64,
    received: u64,
    seen: u64,
    read: u64,
}

impl RxFifo {
    /// An empty FIFO of `depth` bytes (up to 256).
    pub fn new(depth: u32) -> RxFifo {
        let slots = Box::new([Slot::default(); SLOTS as usize]);
        RxFifo { slots, depth: u64::from(depth).clamp(1, SLOTS), received: 0, seen: 0, read: 0 }
    }

    /// Empties both sides at once (a FIFO reset).
    pub fn clear(&mut self) {
        self.read = self.received;
        self.seen = self.received;
    }

    /// The number of its bytes, as the AXI side sees it.
    pub fn occupancy(&self) -> u32 {
        (self.seen - self.read) as u32
    }

    /// True if it is full, as the AXI side sees it.
    pub fn is_full(&self) -> bool {
        self.seen - self.read >= self.depth
    }

    /// A byte from the wire at `edge`. False if the FIFO is full: the byte is lost (an overrun).
    pub fn push(&mut self, byte: u8, edge: u64) -> bool {
        if self.received - self.read >= self.depth {
            return false;
        }
        self.slots[(self.received % SLOTS) as usize] = Slot { byte, edge };
        self.received += 1;
        true
    }

    /// The edges at which bytes arrived that the AXI side has not seen.
    pub fn unseen(&self) -> impl Iterator<Item = u64> {
        self.unseen_bytes().map(|(_, edge)| edge)
    }

    /// The same with the bytes.
    pub fn unseen_bytes(&self) -> impl Iterator<Item = (u8, u64)> {
        (self.seen..self.received).map(|index| self.slots[(index % SLOTS) as usize]).map(|slot| (slot.byte, slot.edge))
    }

    /// The last byte that the AXI side has seen, and the edge of its arrival.
    pub fn seen_byte(&self) -> (u8, u64) {
        let slot = self.slots[(self.seen.wrapping_sub(1) % SLOTS) as usize];
        (slot.byte, slot.edge)
    }

    /// Lets the AXI side see one more byte that arrived at `seen_edge` or earlier: false if there is no such byte.
    pub fn see_one(&mut self, seen_edge: u64) -> bool {
        let seen = self.seen < self.received && self.slots[(self.seen % SLOTS) as usize].edge <= seen_edge;
        self.seen += u64::from(seen);
        seen
    }

    /// A read from AXI: `None` if the FIFO is empty, as the AXI side sees it.
    pub fn pop(&mut self) -> Option<u8> {
        if self.read == self.seen {
            return None;
        }
        let slot = self.slots[(self.read % SLOTS) as usize];
        self.read += 1;
        Some(slot.byte)
    }
}

/// The entries, with the edges of `clock` at which the AXI side sees them.
impl Edge for RxFifo {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        for count in [self.received - self.read, self.received - self.seen] {
            poll.state(count);
        }
        (self.read..self.received).for_each(|index| poll.state(self.slots[(index % SLOTS) as usize].byte));
        (self.seen..self.received).for_each(|index| poll.edge(clock, &mut self.slots[(index % SLOTS) as usize].edge));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sent_byte_frees_its_place_when_axi_comes_to_know() {
        let mut fifo = TxFifo::new(2);
        assert!(fifo.push(1, 10) && fifo.push(2, 11));
        assert!(!fifo.push(3, 12));
        assert_eq!(fifo.front(), Some((1, 10)));
        fifo.complete(20);
        assert!(!fifo.free_one(19));
        assert!(fifo.is_full());
        assert!(fifo.free_one(20) && !fifo.free_one(20));
        assert_eq!((fifo.occupancy(), fifo.front()), (1, Some((2, 11))));
        fifo.clear();
        assert_eq!((fifo.occupancy(), fifo.front()), (0, None));
    }

    #[test]
    fn a_received_byte_is_readable_when_axi_comes_to_know() {
        let mut fifo = RxFifo::new(2);
        assert!(fifo.push(7, 5) && fifo.push(8, 9));
        assert!(!fifo.push(9, 13));
        assert_eq!(fifo.pop(), None);
        assert!(fifo.see_one(8) && !fifo.see_one(8));
        assert_eq!((fifo.occupancy(), fifo.pop(), fifo.pop()), (1, Some(7), None));
        assert!(fifo.see_one(9));
        assert_eq!(fifo.pop(), Some(8));
    }

    #[test]
    fn fifos_go_round() {
        let (mut tx, mut rx) = (TxFifo::new(256), RxFifo::new(256));
        for iteration in 0..1000u64 {
            assert!(tx.push(iteration as u8, iteration));
            assert_eq!(tx.front(), Some((iteration as u8, iteration)));
            tx.complete(iteration);
            assert!(tx.free_one(iteration));
            assert!(rx.push(iteration as u8, iteration) && rx.see_one(iteration));
            assert_eq!(rx.pop(), Some(iteration as u8));
        }
    }
}
