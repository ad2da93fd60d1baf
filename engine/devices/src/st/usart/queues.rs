//! Records the contents of the FIFOs, while they are enabled (USART_CR1.FIFOEN). A character leaves the transmit FIFO
//! as its start bit begins.

use super::Usart;
use super::h7::CR3_OVRDIS;
use engine::bus::device::Ctx;

impl Usart {
    /// The first character's start bit has begun, in a cycle of the kernel clock.
    pub(super) fn record_begin(&mut self, start: u64) {
        let begins = self.time(start);
        self.queues.tx.leave(self.transmitter.waiting() + 1, begins, self.params.clock.rate());
    }

    /// The register of received data is about to be read.
    pub(super) fn record_read(&mut self, ctx: &Ctx) {
        if self.receiving.has_any() {
            self.queues.rx.leave(self.receiving.len(), ctx.now, self.params.clock.rate());
        }
    }

    /// A character has arrived; the FIFO had `before` entries. A lost character is not recorded, or replaces the last
    /// one.
    pub(super) fn record_received(&mut self, character: u8, before: usize, ctx: &Ctx) {
        if !self.has_fifo() {
            return;
        }
        let now = self.receiving.len();
        if now == before && self.cr3() & CR3_OVRDIS != 0 {
            self.queues.rx.leave_last(before, ctx.now, self.params.clock.rate());
        } else if now == before {
            return;
        }
        self.queues.rx.come(now - 1, ctx.now, character.into());
    }

    /// Both FIFOs are about to be emptied.
    pub(super) fn record_emptied(&mut self, ctx: &Ctx) {
        let entries = (self.transmitter.waiting(), self.receiving.len());
        self.queues.clear(entries, ctx.now, self.params.clock.rate());
    }
}
