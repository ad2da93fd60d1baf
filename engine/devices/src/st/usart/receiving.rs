//! The receiver: the register of received data or the receive FIFO, and the reception of characters.

use super::h7::{
    CR2_RTOEN, CR3_DMAR, CR3_OVRDIS, CR3_RTSE, ISR_FE, ISR_IDLE, ISR_NE, ISR_ORE, ISR_PE, ISR_RTOF, RTOR_RTO,
};
use super::{RX, Usart};
use crate::prelude::*;
use crate::support::pin_functions::NOT_RECEIVED;
use crate::support::receiver::{Receiver, WhenFull, passage};
use engine::bus::device::{SerialPort, WhenReceived};
use engine::serial::Passage;
use engine::serial::wave::{Errors, Format};

/// The state of the receiver. Times are cycles of the kernel clock.
#[derive(Debug, Default, State, Polled)]
pub struct Receiving {
    receiver: Receiver,
    /// The character that was last read.
    last: u8,
    /// The line counts as idle from then on, if no character begins before.
    idle_from: Option<u64>,
    /// The receiver's time-out, while it is counted.
    timeout_from: Option<u64>,
}

impl Receiving {
    /// The flags that are due at a cycle: IDLE, RTOF.
    pub fn due(&mut self, cycle: u64) -> u32 {
        let take = |from: &mut Option<u64>| from.take_if(|from| *from <= cycle).is_some();
        flag(ISR_IDLE, take(&mut self.idle_from)) | flag(ISR_RTOF, take(&mut self.timeout_from))
    }

    /// The cycle at which IDLE or RTOF will be set next, if no character arrives.
    pub fn next_change(&self) -> Option<u64> {
        self.idle_from.into_iter().chain(self.timeout_from).min()
    }

    /// Received characters are lost, and nothing is counted.
    pub fn clear(&mut self) {
        self.receiver.clear();
        (self.idle_from, self.timeout_from) = (None, None);
    }

    /// Resets the receiver, except for its totals.
    pub fn reset(&mut self) {
        self.clear();
        self.last = 0;
    }

    /// Received characters are lost.
    pub fn flush(&mut self) {
        self.receiver.clear();
    }

    /// A read of received data.
    pub fn read(&mut self) -> u8 {
        self.last = self.receiver.take().unwrap_or(self.last);
        self.last
    }

    /// Received characters that were not read yet.
    pub fn len(&self) -> usize {
        self.receiver.len()
    }

    /// True if a character waits to be read.
    pub fn has_any(&self) -> bool {
        !self.receiver.is_empty()
    }

    /// Renumbers cycles, like [`super::transmitter::Transmitter::rebase`].
    pub fn rebase(&mut self, from: u64, to: u64) {
        for at in self.idle_from.iter_mut().chain(&mut self.timeout_from) {
            *at = to + at.saturating_sub(from);
        }
    }

    /// Appends the receiver's counters to the transmitter's.
    pub fn counters(&self, counters: Vec<(String, u64)>) -> Vec<(String, u64)> {
        self.receiver.counters(counters)
    }
}

impl SerialPort for Usart {
    fn when_received(&self) -> WhenReceived {
        match self.receives() && self.params.pins.carries(RX) {
            true if self.cr3() & CR3_DMAR != 0 => WhenReceived::AsksDma,
            true if self.enabled() & self.generation.announced != 0 => {
                WhenReceived::Raises(self.params.interrupts.iter().copied().flatten().collect())
            }
            _ => WhenReceived::Nothing,
        }
    }

    fn format(&self) -> Option<Format> {
        Some(self.frame()?.format(self.params.clock.rate()))
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        self.settle(ctx);
        let holds_sender = self.receiving.len() >= self.capacity() && self.cr3() & CR3_RTSE != 0;
        let clock = self.params.clock;
        if !self.receives() || !clock.is_running() || !self.params.gate.state(ctx.bus) || holds_sender {
            return None;
        }
        let passage = passage(clock.rate(), ctx.now, self.frame()?.cycles());
        if !self.params.pins.carries(RX) {
            self.params.pins.note(RX, NOT_RECEIVED, ctx);
            return passage.map(Passage::lost);
        }
        (self.receiving.idle_from, self.receiving.timeout_from) = (None, None);
        passage
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        if self.receives() && self.receiving.len() < self.capacity() {
            self.flags |= flag(ISR_PE, errors.parity) | flag(ISR_FE, errors.framing) | flag(ISR_NE, errors.noise);
        }
        self.receive(character, ctx);
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.settle(ctx);
        if let Some(frame) = self.frame().filter(|_| self.receives()) {
            let when_full = if self.cr3() & CR3_OVRDIS != 0 { WhenFull::Overwrite } else { WhenFull::Keep };
            let data = frame.data(character.into()) as u8;
            let (capacity, before) = (self.capacity(), self.receiving.len());
            let lost = !self.receiving.receiver.put(data, capacity, when_full, ctx);
            self.flags |= flag(ISR_ORE, lost && when_full == WhenFull::Keep);
            self.record_received(data, before, ctx);
            let cycle = self.cycle(ctx);
            let bits = u64::from(field(self.registers[self.generation.at.rtor], RTOR_RTO));
            let counts = self.cr2() & CR2_RTOEN != 0;
            self.receiving.idle_from = Some(cycle + frame.cycles());
            self.receiving.timeout_from = counts.then(|| cycle + frame.cycles_of_bits(bits));
            self.settle(ctx);
        }
        self.drive(ctx);
    }
}
