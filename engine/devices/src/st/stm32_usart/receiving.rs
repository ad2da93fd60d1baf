//! The receiver: its part of USART_DR, its flags, and the reception of characters.

use super::registers::*;
use super::{RX, Usart};
use crate::support::pin_functions::NOT_RECEIVED;
use crate::support::receiver::{Receiver, WhenFull, passage};
use crate::support::registers::flag;
use engine::bus::device::{Ctx, SerialPort, WhenReceived};
use engine::polling::{Poll, Polled};
use engine::serial::Passage;
use engine::serial::wave::{Errors, Format};
use engine::state::State;

/// The shift register has one character, and USART_DR the previous one.
const CAPACITY: usize = 1;

/// The state of the receiver.
#[derive(Debug, Default, State)]
pub struct Receiving {
    receiver: Receiver,
    /// The character that was last read.
    last: u8,
    overrun: bool,
    /// PE, FE and NF.
    errors: u32,
    idle: bool,
    /// The clock's cycle from which the line counts as idle, if no character begins before.
    idle_from: Option<u64>,
}

impl Receiving {
    /// Updates IDLE to a cycle.
    pub fn settle(&mut self, cycle: u64) {
        if self.idle_from.is_some_and(|from| from <= cycle) {
            self.idle_from = None;
            self.idle = true;
        }
    }

    /// The cycle at which IDLE will be set, if no character arrives.
    pub fn next_change(&self) -> Option<u64> {
        self.idle_from
    }

    /// Renumbers cycles, like [`super::Transmitter::rebase`].
    pub fn rebase(&mut self, from: u64, to: u64) {
        self.idle_from = self.idle_from.map(|at| to + at.saturating_sub(from));
    }

    /// The receiver's bits of USART_SR.
    pub fn status(&self) -> u32 {
        flag(SR_ORE, self.overrun) | self.errors | flag(SR_IDLE, self.idle) | flag(SR_RXNE, !self.receiver.is_empty())
    }

    /// Clears USART_SR.RXNE, by a read of USART_DR or a write.
    pub fn read(&mut self) -> u8 {
        self.last = self.receiver.take().unwrap_or(self.last);
        self.last
    }

    /// Resets the receiver, except for its totals.
    pub fn reset(&mut self) {
        self.receiver.clear();
        (self.last, self.overrun, self.errors, self.idle, self.idle_from) = (0, false, 0, false, None);
    }

    /// Clears flags that were seen in USART_SR before USART_DR is read.
    pub fn clear(&mut self, seen: u32) {
        self.overrun &= seen & SR_ORE == 0;
        self.errors &= !seen;
        self.idle &= seen & SR_IDLE == 0;
    }

    /// Lists the state for the detection of polling.
    pub fn polled(&mut self, poll: &mut Poll) {
        poll.state(self.last);
        poll.state(self.idle_from.unwrap_or(u64::MAX));
        self.receiver.polled(poll);
    }

    /// Appends the receiver's counters to the transmitter's.
    pub fn counters(&self, counters: Vec<(String, u64)>) -> Vec<(String, u64)> {
        self.receiver.counters(counters)
    }
}

impl Usart {
    const fn receives(&self) -> bool {
        self.control[0] & (CR1_UE | CR1_RE) == CR1_UE | CR1_RE
    }
}

impl SerialPort for Usart {
    fn when_received(&self) -> WhenReceived {
        let [cr1, _, cr3] = self.control;
        let receives = self.receives() && self.params.pins.carries(RX);
        if receives && cr3 & CR3_DMAR != 0 {
            return WhenReceived::AsksDma;
        }
        WhenReceived::raises(receives && cr1 & (CR1_RXNEIE | CR1_IDLEIE) != 0, self.params.interrupt)
    }

    fn format(&self) -> Option<Format> {
        Some(self.frame()?.format(self.params.clock.rate))
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        self.settle(ctx);
        let holds_sender = self.receiving.status() & SR_RXNE != 0 && self.control[2] & CR3_RTSE != 0;
        if !self.receives() || !self.params.gate.state(ctx.bus) || holds_sender {
            return None;
        }
        let passage = passage(self.params.clock.rate, ctx.now, self.frame()?.cycles());
        if !self.params.pins.carries(RX) {
            self.params.pins.note(RX, NOT_RECEIVED, ctx);
            return passage.map(Passage::lost);
        }
        self.receiving.idle_from = None;
        passage
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        let has_room = self.receiving.receiver.is_empty();
        if has_room && self.receives() {
            self.receiving.errors |=
                flag(SR_PE, errors.parity) | flag(SR_FE, errors.framing) | flag(SR_NF, errors.noise);
        }
        self.receive(character, ctx);
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.settle(ctx);
        if let Some(frame) = self.frame().filter(|_| self.receives()) {
            let data = frame.data(character.into()) as u8;
            let took = self.receiving.receiver.put(data, CAPACITY, WhenFull::Keep, ctx);
            self.receiving.overrun |= !took;
            self.receiving.idle_from = Some(self.cycle(ctx) + frame.cycles());
        }
        self.update(ctx);
    }
}
