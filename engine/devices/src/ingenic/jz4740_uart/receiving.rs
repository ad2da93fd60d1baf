//! The receiver: URBR or the receive FIFO, its interrupts and its time-out.

use super::*;
use crate::prelude::*;
use crate::support::receiver::{Receiver, WhenFull, passage};
use engine::serial::Passage;
use engine::serial::wave::Errors;

/// The numbers of characters for the receive FIFO's interrupt, by UFCR.RDTR.
const RDTR_CHARACTERS: [usize; 4] = [1, 4, 8, 15];
/// The time-out, in times of a character.
const TIMEOUT_CHARACTERS: u64 = 4;
/// Token of the time-out's event; the token of the transmitter's line is 0.
pub const TIMEOUT: u32 = 1;

/// The receiver's state.
#[derive(Debug, Default, State, Polled)]
pub struct Receiving {
    receiver: Receiver,
    /// The cycle of the baud clock in which the time-out ends, while characters wait.
    timeout_cycle: Option<u64>,
    /// True if characters have waited for that time.
    pub timed_out: bool,
    alarm: Alarm,
}

impl Receiving {
    /// Brings the time-out up to a cycle.
    pub fn settle(&mut self, cycle: u64) {
        if self.timeout_cycle.is_some_and(|at| at <= cycle) {
            self.timeout_cycle = None;
            self.timed_out = true;
        }
    }

    /// The number of waiting characters.
    pub fn len(&self) -> usize {
        self.receiver.len()
    }

    /// True if no character waits.
    pub fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }

    /// A read of URBR.
    pub fn read(&mut self) -> u8 {
        self.receiver.take().unwrap_or(0)
    }

    /// Drops all characters.
    pub fn flush(&mut self) {
        self.receiver.clear();
    }

    /// Requests an event at the time-out.
    pub fn set_alarm(&mut self, line: &ShiftRegister, ctx: &mut Ctx) {
        if let Some(at) = self.timeout_cycle.and_then(|cycle| line.edge(cycle)) {
            self.alarm.set(at, TIMEOUT, ctx);
        }
    }

    /// The time-out's event has come.
    pub fn rang(&mut self, now: Ps) {
        self.alarm.rang(now);
    }

    /// The transmitter's counters, followed by the receiver's.
    pub fn counters(&self, counters: Vec<(String, u64)>) -> Vec<(String, u64)> {
        self.receiver.counters(counters)
    }
}

impl Uart {
    /// The number of characters for the receive interrupt.
    pub(super) fn wanted(&self) -> usize {
        if self.has_fifo() { RDTR_CHARACTERS[self.registers.field(UFCR, UFCR_RDTR) as usize] } else { 1 }
    }

    /// Lists the time-out. False if its event has to come first.
    pub(super) fn list_timeout(&mut self, poll: &mut Poll) -> bool {
        let timeout = self.receiving.timeout_cycle.and_then(|cycle| self.line.edge(cycle));
        timeout.into_iter().for_each(|at| poll.until(at));
        timeout.is_none_or(|at| at > poll.now())
    }

    /// Restarts the time-out, after a character or a read.
    pub(super) fn restart_timeout(&mut self, now: Ps) {
        let waits = self.has_fifo() && !self.receiving.receiver.is_empty();
        let cycles = TIMEOUT_CHARACTERS * self.character_clocks();
        self.receiving.timed_out = false;
        self.receiving.timeout_cycle = waits.then(|| self.line.cycle(now) + cycles);
    }
}

impl SerialPort for Uart {
    fn when_received(&self) -> WhenReceived {
        let on = self.is_on() && self.registers.has(UIER, UIER_RDRIE | UIER_RTOIE);
        WhenReceived::raises(on, self.interrupt)
    }

    fn format(&self) -> Option<Format> {
        (self.divisor() > 0).then(|| Uart::format(self))
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        if self.is_on() {
            let flags = flag(ULSR_FMER, errors.framing) | flag(ULSR_PARER, errors.parity);
            self.registers.put(ULSR, flags, true);
        }
        self.receive(character, ctx);
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        passage(self.line.clock(), ctx.now, self.character_clocks()).filter(|_| self.is_on())
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.pass_on(ctx);
        if self.is_on() {
            let when_full = if self.has_fifo() { WhenFull::Keep } else { WhenFull::Overwrite };
            let data = character & (0xff >> (8 - self.data_bits()));
            let capacity = self.capacity();
            let before = self.receiving.len();
            let has_room = self.receiving.receiver.put(data, capacity, when_full, ctx);
            self.registers.put(ULSR, flag(ULSR_OVER, !has_room), true);
            if self.has_fifo() && has_room {
                self.received.come(before, ctx.now, data.into());
            }
            self.restart_timeout(ctx.now);
        }
        self.update(ctx);
    }
}
