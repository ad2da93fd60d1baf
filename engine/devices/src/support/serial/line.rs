//! The two directions of a UART's line: the transmitter with its holding register or FIFO and its shift register, and
//! the receiver. Times are cycles of the clock in which bits are counted.

use crate::prelude::*;
use crate::support::activities::{SENT, TX_FIFO};
use crate::support::dma_lines::DmaLine;
use crate::support::fifo_entries::Fifo;
use crate::support::kernel_clock::KernelClock;
use crate::support::pin_functions::PinFunctions;
use crate::support::serial::receiver::Receiver;
use engine::serial::wave::Format;

/// A character in the holding register or in the FIFO.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Waiting {
    character: u16,
    /// It can be shifted from this cycle on.
    ready: u64,
}

impl From<Waiting> for u32 {
    fn from(waiting: Waiting) -> u32 {
        waiting.character.into()
    }
}

/// A character on the line.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
pub struct Shifting {
    /// The character.
    pub character: u16,
    /// The cycle in which its start bit began.
    pub start: u64,
    /// The cycle in which its stop bits have ended.
    pub end: u64,
    /// Its format, if the model has one.
    #[poll(skip = "it is that of the registers when the character began")]
    pub format: Option<Format>,
    /// True if it still has its place in the FIFO.
    is_in_fifo: bool,
    /// False if no pin carried TX when it began: it is lost.
    pub is_heard: bool,
}

/// The line.
#[derive(Debug, State, Polled)]
pub struct Line {
    /// The clock in which bits are counted.
    pub clock: KernelClock,
    #[poll(edge = poll.clock())]
    waiting: Fifo<Waiting>,
    shifting: Option<Shifting>,
    /// The cycles from a character's start bit on for which it keeps its place in the FIFO. With 0 it leaves as its
    /// start bit begins. With more, the next character is chosen as soon as the line is free, even if its start bit
    /// comes later.
    #[state(skip)]
    pub place_cycles: u64,
    /// The cycle from which the transmitter is free after the last frame.
    free_from: u64,
    /// The receiver.
    pub receiver: Receiver,
    /// The cycles at which something is due without an access, as the receiver's time-out, while it is counted.
    pub timers: [Option<u64>; 4],
    /// The pins that carry TX and RX, signals 0 and 1.
    pub pins: PinFunctions,
    /// The interrupt, to two processors that have an interrupt controller each.
    pub interrupts: [Option<IrqLine>; 2],
    /// The requests to a DMA controller: there is room to send, a character has come.
    pub dma: [DmaLine; 2],
    pub(super) alarm: Alarm,
    sent_characters: u64,
}

impl Line {
    /// An idle line, whose characters always leave the chip, with an interrupt and no requests.
    pub fn new(clock: KernelClock, interrupt: Option<IrqLine>) -> Line {
        Line {
            clock,
            waiting: Fifo::new(&TX_FIFO),
            shifting: None,
            place_cycles: 0,
            free_from: 0,
            receiver: Receiver::default(),
            timers: [None; 4],
            pins: PinFunctions::default(),
            interrupts: [interrupt, None],
            dma: [DmaLine::default(), DmaLine::default()],
            alarm: Alarm::default(),
            sent_characters: 0,
        }
    }

    /// The cycle at `now`.
    pub fn cycle(&self, now: Ps) -> u64 {
        self.clock.edge(now)
    }

    /// The time of a cycle.
    pub fn time(&self, cycle: u64) -> Ps {
        self.clock.rate().ps_at_floor(Cycles(cycle))
    }

    /// The number of waiting characters.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// True if a character is on the line.
    pub const fn is_shifting(&self) -> bool {
        self.shifting.is_some()
    }

    /// True if no character waits or is on the line.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.shifting.is_none()
    }

    /// A character to send, which can be shifted from a cycle on. In an enabled FIFO, it is recorded from `came` on.
    pub fn put(&mut self, character: u16, ready: u64, came: Option<Ps>) {
        let waiting = Waiting { character, ready };
        match came {
            Some(came) => self.waiting.push(waiting, came),
            None => self.waiting.hold(waiting),
        }
    }

    /// Drops the characters to send, except for the one on the line.
    pub fn drop_waiting(&mut self, now: Ps) {
        self.shifting.iter_mut().for_each(|shifting| shifting.is_in_fifo = false);
        self.waiting.clear(now, self.clock.rate());
    }

    /// Drops received characters.
    pub fn drop_received(&mut self, now: Ps) {
        self.receiver.clear(now, self.clock.rate());
    }

    /// Resets the transmitter.
    pub fn stop_sending(&mut self, now: Ps) {
        self.drop_waiting(now);
        (self.shifting, self.free_from) = (None, 0);
    }

    /// [`Line::stop_sending`], in the middle of a character.
    pub fn cut(&mut self, ctx: &mut Ctx) {
        if self.is_shifting() {
            ctx.cut(&SENT, ctx.now);
        }
        self.stop_sending(ctx.now);
    }

    /// The next received character leaves the receiver.
    pub fn take(&mut self, now: Ps) -> Option<u8> {
        self.receiver.take(now, self.clock.rate())
    }

    /// No character begins before a cycle.
    pub fn hold_until(&mut self, cycle: u64) {
        self.free_from = self.free_from.max(cycle);
    }

    fn next_start(&self) -> Option<u64> {
        let Waiting { ready, .. } = self.waiting.front().filter(|_| self.shifting.is_none())?;
        Some(self.free_from.max(ready))
    }

    /// The cycle at which a frame ends or begins next, or at which its place becomes free.
    pub fn next_change(&self) -> Option<u64> {
        self.next_leave().or_else(|| self.shifting.map(|shifting| shifting.end)).or_else(|| self.next_start())
    }

    fn next_leave(&self) -> Option<u64> {
        self.shifting.filter(|shifting| shifting.is_in_fifo).map(|shifting| shifting.start + self.place_cycles)
    }

    /// True if a character begins by a cycle, or is chosen by then ([`Line::place_cycles`]).
    pub(super) fn begins_by(&self, cycle: u64) -> bool {
        self.next_start().is_some_and(|start| start <= cycle || self.place_cycles > 0)
    }

    /// The next character begins; its frame takes `cycles`.
    pub(super) fn begin(&mut self, cycles: u64, format: Option<Format>) -> Option<Shifting> {
        let start = self.next_start()?;
        let Waiting { character, .. } = self.waiting.front()?;
        let is_heard = self.pins.carries(super::TX);
        self.shifting = Some(Shifting { character, start, end: start + cycles, format, is_in_fifo: true, is_heard });
        self.leave(start);
        self.shifting
    }

    /// True if the place of the character on the line has become free by a cycle.
    pub(super) fn leave(&mut self, cycle: u64) -> bool {
        let Some(at) = self.next_leave().filter(|at| *at <= cycle) else { return false };
        self.waiting.pop(self.time(at), self.clock.rate());
        self.shifting.iter_mut().for_each(|shifting| shifting.is_in_fifo = false);
        true
    }

    /// The character whose frame has ended by a cycle.
    pub(super) fn end(&mut self, cycle: u64) -> Option<Shifting> {
        let ended = self.shifting.take_if(|shifting| shifting.end <= cycle)?;
        self.free_from = ended.end;
        self.sent_characters += 1;
        Some(ended)
    }

    /// The characters that have not been sent.
    pub(super) fn unsent(&self) -> impl Iterator<Item = u16> {
        let waiting = self.waiting.iter().map(|waiting| waiting.character);
        let apart = self.shifting.filter(|shifting| !shifting.is_in_fifo);
        apart.map(|shifting| shifting.character).into_iter().chain(waiting)
    }

    /// The time up to which the other end has all that was sent: for [`Ctx::hear_line`].
    pub(super) fn known(&self, now: Ps) -> Ps {
        self.shifting.map_or(now, |shifting| self.time(shifting.start))
    }

    /// Takes over the clock's settings, after the device has advanced to now: times keep their distance in cycles.
    pub fn follow_clock(&mut self, ctx: &mut Ctx) {
        let (from, to) = self.clock.follow(ctx);
        let moved = |at: u64| to + at.saturating_sub(from);
        self.free_from = moved(self.free_from);
        self.waiting.iter_mut().for_each(|waiting| waiting.ready = moved(waiting.ready));
        self.timers = self.timers.map(|at| at.map(moved));
        if let Some(shifting) = &mut self.shifting {
            shifting.start = to.saturating_sub(from.saturating_sub(shifting.start));
            shifting.end = moved(shifting.end);
            let end = self.clock.rate().ps_at_floor(Cycles(shifting.end));
            ctx.ends_instead(&SENT, end);
        }
        self.alarm.cancel(0, ctx);
    }

    pub(super) fn observe(&mut self, ctx: &mut Ctx) {
        self.waiting.observe(ctx);
        self.receiver.observe(ctx);
        self.pins.follow(ctx);
    }

    pub(super) fn stay(&mut self) {
        self.waiting.stay(self.clock.rate());
        self.receiver.stay(self.clock.rate());
    }

    pub(super) fn counters(&self) -> Vec<(String, u64)> {
        self.receiver.counters(self.sent_characters)
    }
}
