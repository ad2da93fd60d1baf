//! What is in the FIFOs, while there are any (USART_CR1.FIFOEN). A character leaves the transmit FIFO as its start bit
//! begins.

use super::Uart;
use crate::bus::device::Ctx;
use crate::time::Cycles;

impl Uart {
    /// The first character's start bit has begun, in a cycle of the kernel clock.
    pub(super) fn report_begun(&mut self, start: u64) {
        let clock = self.params.kernel_clock.rate();
        self.queues.tx.leave(self.transmitter.waiting() + 1, clock.ps_at_floor(Cycles(start)), clock);
    }

    /// USART_RDR is about to be read.
    pub(super) fn report_read(&mut self, ctx: &Ctx) {
        if self.receiving.has_any() {
            self.queues.rx.leave(self.receiving.len(), ctx.now, self.params.kernel_clock.rate());
        }
    }

    /// A character has come where there were `before`; for a lost one there is none, or it takes the place of the last.
    pub(super) fn report_received(&mut self, character: u8, before: usize, ctx: &Ctx) {
        if !self.has_fifo() {
            return;
        }
        let now = self.receiving.len();
        if now == before && self.receiving.overwrites(self.control) {
            self.queues.rx.leave_last(before, ctx.now, self.params.kernel_clock.rate());
        } else if now == before {
            return;
        }
        self.queues.rx.come(now - 1, ctx.now, character.into());
    }

    /// Both are about to be emptied.
    pub(super) fn report_emptied(&mut self, ctx: &Ctx) {
        let entries = (self.transmitter.waiting(), self.receiving.len());
        self.queues.clear(entries, ctx.now, self.params.kernel_clock.rate());
    }
}
