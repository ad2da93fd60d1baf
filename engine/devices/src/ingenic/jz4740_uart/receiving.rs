//! The receiver: URBR or the receive FIFO, its interrupts and its time-out.

use super::*;
use crate::support::receiver::{Receiver, WhenFull, passage};
use engine::bus::device::Alarm;
use engine::serial::Passage;
use engine::serial::wave::Errors;
use engine::state::State;

/// The numbers of characters for the receive FIFO's interrupt, by UFCR.RDTR.
const RDTR_CHARACTERS: [usize; 4] = [1, 4, 8, 15];
/// The time-out, in times of a character.
const TIMEOUT_CHARACTERS: u64 = 4;
/// Token of the time-out's event; the token of the transmitter's line is 0.
pub const TIMEOUT: u32 = 1;

/// The receiver's state.
#[derive(Debug, Default, State)]
pub struct Receiving {
    receiver: Receiver,
    /// ULSR.OVER.
    overrun: bool,
    /// ULSR.PARER and FMER.
    errors: u32,
    /// The cycle of the baud clock in which the time-out ends, while characters wait.
    timeout_cycle: Option<u64>,
    timed_out: bool,
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

    /// Its bits of ULSR.
    pub fn line_status(&self) -> u32 {
        flag(ULSR_DR, !self.receiver.is_empty()) | flag(ULSR_OVER, self.overrun) | self.errors
    }

    /// ULSR has been read.
    pub fn forget_overrun(&mut self) {
        (self.overrun, self.errors) = (false, 0);
    }

    /// Its interrupts by priority: UIER's bit, whether it is pending, UIIR.INID. `wanted` characters raise the receive
    /// interrupt.
    pub fn pending(&self, wanted: usize) -> [(u32, bool, u32); 3] {
        [
            (UIER_RLSIE, self.overrun || self.errors != 0, UIIR_RLS),
            (UIER_RDRIE, self.receiver.len() >= wanted, UIIR_RDR),
            (UIER_RTOIE, self.timed_out, UIIR_RTO),
        ]
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

    /// Lists its state. False if the event of the time-out has to come first.
    pub fn polled(&mut self, line: &ShiftRegister, poll: &mut Poll) -> bool {
        if let Some(at) = self.timeout_cycle.and_then(|cycle| line.edge(cycle)) {
            if at <= poll.now() {
                return false;
            }
            poll.until(at);
        }
        poll.state(self.timeout_cycle.unwrap_or(u64::MAX));
        poll.state(self.timed_out);
        poll.state(self.overrun);
        poll.state(self.errors);
        self.receiver.polled(poll);
        true
    }

    /// The transmitter's counters, followed by the receiver's.
    pub fn counters(&self, counters: Vec<(String, u64)>) -> Vec<(String, u64)> {
        self.receiver.counters(counters)
    }
}

impl Uart {
    /// The number of characters for the receive interrupt.
    pub(super) const fn wanted(&self) -> usize {
        if self.has_fifo() { RDTR_CHARACTERS[(self.fifo_control >> UFCR_RDTR & 3) as usize] } else { 1 }
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
        let on = self.fifo_control & UFCR_UME != 0 && self.interrupts & (UIER_RDRIE | UIER_RTOIE) != 0;
        WhenReceived::raises(on, self.interrupt)
    }

    fn format(&self) -> Option<Format> {
        (self.divisor > 0).then(|| Uart::format(self))
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        if self.fifo_control & UFCR_UME != 0 {
            self.receiving.errors |= flag(ULSR_FMER, errors.framing) | flag(ULSR_PARER, errors.parity);
        }
        self.receive(character, ctx);
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        let is_on = self.fifo_control & UFCR_UME != 0;
        passage(self.line.clock(), ctx.now, self.character_clocks()).filter(|_| is_on)
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.settle(ctx);
        if self.fifo_control & UFCR_UME != 0 {
            let when_full = if self.has_fifo() { WhenFull::Keep } else { WhenFull::Overwrite };
            let data = character & (0xff >> (3 - (self.line_control & ULCR_WLS)));
            let capacity = self.capacity();
            let before = self.receiving.len();
            let has_room = self.receiving.receiver.put(data, capacity, when_full, ctx);
            self.receiving.overrun |= !has_room;
            if self.has_fifo() && has_room {
                self.queues.rx.come(before, ctx.now, data.into());
            }
            self.restart_timeout(ctx.now);
        }
        self.update(ctx);
    }
}
