//! The receiver: USART_RDR or the receive FIFO, its flags, and the reception of characters.

use super::registers::*;
use super::{RX, Uart};
use crate::support::pin_functions::NOT_RECEIVED;
use crate::support::receiver::{Receiver, WhenFull, passage};
use crate::support::registers::flag;
use engine::bus::device::{Ctx, SerialPort, WhenReceived};
use engine::polling::{Poll, Polled};
use engine::serial::Passage;
use engine::serial::wave::{Errors, Format};
use engine::state::State;

/// Filled eighths of the FIFO that set USART_ISR.RXFT, by RXFTCFG; reserved values act as the last one.
const RXFT_EIGHTHS: [usize; 8] = [1, 2, 4, 6, 7, 8, 8, 8];

/// The state of the receiver.
#[derive(Debug, Default, State)]
pub struct Receiving {
    receiver: Receiver,
    /// The character that was last read.
    last: u8,
    overrun: bool,
    /// PE, FE and NE.
    errors: u32,
    idle: bool,
    /// The kernel clock's cycle from which the line counts as idle, if no character begins before.
    idle_from: Option<u64>,
    timed_out: bool,
    /// The cycle of the receiver's time-out, while it is counted.
    timeout_from: Option<u64>,
}

impl Receiving {
    /// Updates IDLE to a cycle.
    pub fn settle(&mut self, cycle: u64) {
        if self.idle_from.is_some_and(|from| from <= cycle) {
            self.idle_from = None;
            self.idle = true;
        }
        if self.timeout_from.is_some_and(|from| from <= cycle) {
            self.timeout_from = None;
            self.timed_out = true;
        }
    }

    /// The cycle at which IDLE or RTOF will be set next, if no character arrives.
    pub fn next_change(&self) -> Option<u64> {
        self.idle_from.into_iter().chain(self.timeout_from).min()
    }

    /// The receiver's bits of USART_ISR.
    pub fn status(&self, [cr1, _, cr3]: [u32; 3], capacity: usize) -> u32 {
        let (fifo, waiting) = (cr1 & CR1_FIFOEN != 0, self.receiver.len());
        flag(ISR_ORE, self.overrun)
            | self.errors
            | flag(ISR_IDLE, self.idle)
            | flag(ISR_RTOF, self.timed_out)
            | flag(ISR_RXNE, waiting > 0)
            | flag(ISR_RXFF, fifo && waiting >= capacity)
            | flag(ISR_RXFT, fifo && 8 * waiting >= RXFT_EIGHTHS[(cr3 >> CR3_RXFTCFG & 7) as usize] * capacity)
    }

    /// UE is cleared: flags are reset, and received characters are lost.
    pub fn disable(&mut self) {
        self.receiver.clear();
        (self.overrun, self.errors, self.idle, self.timed_out) = (false, 0, false, false);
        (self.idle_from, self.timeout_from) = (None, None);
    }

    /// Resets the receiver, except for its totals.
    pub fn reset(&mut self) {
        self.disable();
        self.last = 0;
    }

    /// A write of USART_ICR.
    pub fn clear_flags(&mut self, value: u32) {
        self.overrun &= value & ICR_ORECF == 0;
        self.errors &= !(value & ICR_ERRORS);
        self.idle &= value & ICR_IDLECF == 0;
        self.timed_out &= value & ICR_RTOCF == 0;
    }

    /// USART_RQR.RXFRQ.
    pub fn flush(&mut self) {
        self.receiver.clear();
    }

    /// A read of USART_RDR.
    pub fn read(&mut self) -> u32 {
        self.last = self.receiver.take().unwrap_or(self.last);
        self.last.into()
    }

    /// Received characters that were not read yet.
    pub fn len(&self) -> usize {
        self.receiver.len()
    }

    /// True if a new character replaces the last one when the receiver is full (USART_CR3.OVRDIS).
    pub const fn overwrites(&self, [.., cr3]: [u32; 3]) -> bool {
        cr3 & CR3_OVRDIS != 0
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

    /// Lists the state for the detection of polling.
    pub fn polled(&mut self, poll: &mut Poll) {
        poll.state(self.last);
        poll.state(self.idle_from.unwrap_or(u64::MAX));
        poll.state(self.timeout_from.unwrap_or(u64::MAX));
        self.receiver.polled(poll);
    }

    /// Appends the receiver's counters to the transmitter's.
    pub fn counters(&self, counters: Vec<(String, u64)>) -> Vec<(String, u64)> {
        self.receiver.counters(counters)
    }
}

/// The bits of USART_ISR whose interrupts are enabled; both RXNEIE and EIE enable ORE's.
pub fn enabled(cr1: u32, cr3: u32) -> u32 {
    flag(ISR_RXNE | ISR_ORE, cr1 & CR1_RXNEIE != 0)
        | flag(ISR_PE, cr1 & CR1_PEIE != 0)
        | flag(ISR_ORE | ISR_FE | ISR_NE, cr3 & CR3_EIE != 0)
        | flag(ISR_IDLE, cr1 & CR1_IDLEIE != 0)
        | flag(ISR_RTOF, cr1 & CR1_RTOIE != 0)
        | flag(ISR_RXFF, cr1 & CR1_RXFFIE != 0)
        | flag(ISR_RXFT, cr3 & CR3_RXFTIE != 0)
}

impl Uart {
    const fn receives(&self) -> bool {
        self.control[0] & (CR1_UE | CR1_RE) == CR1_UE | CR1_RE
    }
}

impl SerialPort for Uart {
    fn when_received(&self) -> WhenReceived {
        let [cr1, _, cr3] = self.control;
        match self.receives() && self.params.pins.carries(RX) {
            true if cr3 & CR3_DMAR != 0 => WhenReceived::AsksDma,
            true if enabled(cr1, cr3) != 0 => {
                WhenReceived::Raises(self.params.interrupts.iter().copied().flatten().collect())
            }
            _ => WhenReceived::Nothing,
        }
    }

    fn format(&self) -> Option<Format> {
        Some(self.frame()?.format(self.params.kernel_clock.rate()))
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        self.settle(ctx);
        let is_full = self.receiving.receiver.len() >= self.capacity();
        let clock = self.params.kernel_clock;
        if !self.receives()
            || !clock.is_running()
            || !self.params.gate.state(ctx.bus)
            || is_full && self.control[2] & CR3_RTSE != 0
        {
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
            self.receiving.errors |=
                flag(ISR_PE, errors.parity) | flag(ISR_FE, errors.framing) | flag(ISR_NE, errors.noise);
        }
        self.receive(character, ctx);
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.settle(ctx);
        if let Some(frame) = self.frame().filter(|_| self.receives()) {
            let when_full = if self.control[2] & CR3_OVRDIS != 0 { WhenFull::Overwrite } else { WhenFull::Keep };
            let data = frame.data(character.into()) as u8;
            let (capacity, before) = (self.capacity(), self.receiving.len());
            let lost = !self.receiving.receiver.put(data, capacity, when_full, ctx);
            self.receiving.overrun |= lost && when_full == WhenFull::Keep;
            self.record_received(data, before, ctx);
            let cycle = self.cycle(ctx);
            let bits = u64::from(self.timeout & RTOR_RTO);
            let counts = self.control[1] & CR2_RTOEN != 0;
            self.receiving.idle_from = Some(cycle + frame.cycles());
            self.receiving.timeout_from = counts.then(|| cycle + frame.cycles_of_bits(bits));
            self.settle(ctx);
        }
        self.update(ctx);
    }
}
