//! The entries of the core's FIFOs as the AXI side sees them, in SPISR and the occupancy registers. Times are edges of
//! the AXI clock.

use super::AxiQuadSpi;
use crate::support::activities::{RX_FIFO, TX_FIFO};
use engine::activity::Activity;
use engine::observe::spi::{FRAME, READING, SHIFTING};
use engine::time::{Hz, Ps};

/// The activities that the core records.
pub const ACTIVITIES: &[&Activity] = &[&SHIFTING, &FRAME, &READING, &TX_FIFO, &RX_FIFO];

impl AxiQuadSpi {
    fn axi(&self) -> Hz {
        self.params.port.clock
    }

    /// A byte was written to SPI DTR at `now`.
    pub(super) fn record_written(&mut self, byte: u8, now: Ps) {
        let at = self.axi().edge_at_or_after(now);
        self.queues.tx.come(self.tx.occupancy() as usize - 1, at, byte.into());
    }

    /// The AXI side sees that a byte has been sent.
    #[inline]
    pub(super) fn report_sent(&mut self) {
        if self.queues.tx.are_recorded() {
            let (before, at) = (self.tx.occupancy() as usize + 1, self.seen_at(self.tx.freed_edge()));
            self.queues.tx.leave(before, at, self.axi());
        }
    }

    /// The AXI side sees that a byte has been received.
    #[inline]
    pub(super) fn report_received(&mut self) {
        if self.queues.rx.are_recorded() {
            let (byte, edge) = self.rx.seen_byte();
            let at = self.seen_at(edge);
            self.queues.rx.come(self.rx.occupancy() as usize - 1, at, byte.into());
        }
    }

    /// SPI DRR was read at `now`.
    pub(super) fn record_read(&mut self, now: Ps) {
        let axi = self.axi();
        self.queues.rx.leave(self.rx.occupancy() as usize + 1, axi.edge_at_or_after(now), axi);
    }

    /// The transmit FIFO is about to be reset.
    pub(super) fn record_tx_reset(&mut self, now: Ps) {
        let axi = self.axi();
        self.queues.tx.clear(self.tx.occupancy() as usize, axi.edge_at_or_after(now), axi);
    }

    /// The receive FIFO is about to be reset.
    pub(super) fn record_rx_reset(&mut self, now: Ps) {
        let axi = self.axi();
        self.queues.rx.clear(self.rx.occupancy() as usize, axi.edge_at_or_after(now), axi);
    }

    /// The run is over, and the wire is up to its end: records the bytes that the AXI side would still see, and the
    /// remaining entries.
    pub(super) fn record_rest(&mut self) {
        if !self.queues.tx.are_recorded() {
            return;
        }
        let (axi, mut sending) = (self.axi(), self.tx.occupancy() as usize);
        let sent: Vec<Ps> = self.tx.unseen().map(|edge| self.seen_at(edge)).collect();
        for at in sent {
            self.queues.tx.leave(sending, at, axi);
            sending -= 1;
        }
        self.queues.tx.stay(sending, axi);
        let mut there = self.rx.occupancy() as usize;
        let received: Vec<(u8, Ps)> = self.rx.unseen_bytes().map(|(byte, edge)| (byte, self.seen_at(edge))).collect();
        for (byte, at) in received {
            self.queues.rx.come(there, at, byte.into());
            there += 1;
        }
        self.queues.rx.stay(there, axi);
    }
}
