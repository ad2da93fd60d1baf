//! The common shell of UARTs: the line with its two directions, time-outs, events and the serial port. A model says
//! what its registers select, as a [`Transceiver`]; [`Serial`] is the device that it makes.

pub mod line;
pub mod receiver;

use self::line::{Line, Shifting};
use self::receiver::{Room, passage};
use crate::prelude::*;
use crate::support::activities::SENT;
use crate::support::pin_functions::NOT_RECEIVED;
use engine::activity::Kind;
use engine::bus::device::{SerialPort, Unsent, WhenReceived};
use engine::bus::rates::LINE_HEARD;
use engine::serial::Passage;
use engine::serial::wave::{Errors, Format};

/// The signal at the pin of the transmitter.
pub const TX: usize = 0;
/// The signal at the pin of the receiver.
pub const RX: usize = 1;

/// Tokens of the DMA requests' events; the line's token is 0.
const DMA_TOKENS: [u32; 2] = [1, 2];

/// A UART: what its registers select, and what happens in them.
pub trait Transceiver: Table + State + Polled + Send {
    /// The line.
    fn line(&self) -> &Line;

    /// The line, to change it.
    fn line_mut(&mut self) -> &mut Line;

    /// True for a register whose reads take received characters: [`Device::pops`].
    fn pops(&self, _register: u32) -> bool {
        false
    }

    /// Cycles of a character; `None` stops the line.
    fn character_cycles(&self) -> Option<u64>;

    /// The format of characters; `None` without a baud rate, or if the model does not give it.
    fn format(&self) -> Option<Format> {
        None
    }

    /// Data bits of a character.
    fn data_bits(&self) -> u32 {
        8
    }

    /// True if waiting characters may begin.
    fn is_sending(&self) -> bool {
        true
    }

    /// True if the receiver is on.
    fn is_receiving(&self) -> bool {
        true
    }

    /// The room for received characters.
    fn room(&self, now: Ps) -> Room;

    /// True if a received character raises the interrupt.
    fn announces(&self) -> bool;

    /// True if a received character requests a transfer by a DMA controller.
    fn asks_dma(&self) -> bool {
        false
    }

    /// The level of the interrupt; `None` if the model drives it by itself.
    fn level(&self) -> Option<bool> {
        None
    }

    /// The requests to a DMA controller: there is room to send, a character has come.
    fn requests(&self) -> [bool; 2] {
        [false; 2]
    }

    /// One of [`Line::timers`], by its index, is due.
    fn timed_out(&mut self, _timer: usize) {}

    /// The character that is about to be received has errors.
    fn damaged(&mut self, _errors: Errors) {}

    /// A character was received; false if there was no room for it.
    fn received(&mut self, had_room: bool, ctx: &mut Ctx);

    /// The register that an access at an offset reaches.
    fn register_at(&self, offset: u32, _is_write: bool) -> u32 {
        offset
    }

    /// The device comes out of reset.
    fn start(&mut self, _ctx: &mut Ctx) {}

    /// A character begins on the receive line. False while the receiver takes none.
    fn takes_character(&mut self, _ctx: &mut Ctx) -> bool {
        self.is_receiving()
    }

    /// A character that the receiver takes has begun on the line.
    fn passage_began(&mut self) {}

    /// A character has begun on the transmit line.
    fn begun(&mut self, _character: Shifting, _ctx: &mut Ctx) {}

    /// The character on the line has given up its place in the FIFO, after its start bit: with [`Line::place_cycles`]
    /// only.
    fn left(&mut self, _ctx: &mut Ctx) {}

    /// The stop bits of a character have ended.
    fn sent(&mut self, Shifting { character, end, format, .. }: Shifting, ctx: &mut Ctx) {
        let end = self.line().time(end);
        match format {
            Some(format) => ctx.character_sent(character, &format, end, true),
            None => ctx.console(&[character as u8]),
        }
    }

    /// The data of a character that is to be sent.
    fn data(&self, character: u16) -> u16 {
        character
    }

    /// [`Device::clocks_changed`].
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.line_mut().follow_clock(ctx);
        self.refresh(ctx);
    }

    /// [`Device::interrupt_flags`].
    fn flags(&self) -> Option<String> {
        None
    }

    /// Brings the line up to `ctx.now`: for [`Table::settle`].
    fn advance(&mut self, ctx: &mut Ctx) {
        let cycle = self.line().cycle(ctx.now);
        for timer in 0..self.line().timers.len() {
            if self.line_mut().timers[timer].take_if(|at| *at <= cycle).is_some() {
                self.timed_out(timer);
            }
        }
        let Some(cycles) = self.character_cycles() else { return };
        loop {
            if self.line_mut().leave(cycle) {
                self.left(ctx);
            } else if let Some(ended) = self.line_mut().end(cycle) {
                self.sent(ended, ctx);
            } else if self.is_sending() && self.line().begins_by(cycle) {
                self.begin_character(cycles, ctx);
            } else {
                return;
            }
        }
    }

    /// The next character begins on the transmit line.
    fn begin_character(&mut self, cycles: u64, ctx: &mut Ctx) {
        let format = self.format();
        let Some(begun) = self.line_mut().begin(cycles, format) else { return };
        if ctx.records(Kind::Serial) {
            let [begin, end] = [begun.start, begun.end].map(|cycle| self.line().time(cycle));
            let data = Detail::Value(self.data(begun.character).into());
            ctx.clocked_span(&SENT, self.line().clock.rate(), begin, end, data);
        }
        self.begun(begun, ctx);
    }

    /// Drives interrupts and requests, and asks for an event at the next change.
    fn refresh(&mut self, ctx: &mut Ctx) {
        if let Some(level) = self.level() {
            self.line().interrupts.into_iter().for_each(|line| ctx.set_irq(line, level));
        }
        let cycle = self.line().cycle(ctx.now);
        // A time-out of no cycles gets its event, too.
        let is_due = self.line().timers.into_iter().flatten().any(|at| at <= cycle);
        let (requests, next) = (self.requests(), if is_due { Some(cycle) } else { self.next_change(cycle) });
        let line = self.line_mut();
        for ((request, level), token) in line.dma.iter_mut().zip(requests).zip(DMA_TOKENS) {
            request.set(level, token, ctx);
        }
        if let Some(due) = next.and_then(|next| line.clock.due(next)) {
            line.alarm.set(due.max(ctx.now), 0, ctx);
        }
    }

    /// The cycle at which the transmit line begins or ends the next character, if the device is set up for it.
    fn next_on_line(&self) -> Option<u64> {
        let moves = self.line().is_shifting() || self.is_sending();
        self.character_cycles().filter(|_| moves).and_then(|_| self.line().next_change())
    }

    /// The first change without an access after a cycle.
    fn next_change(&self, cycle: u64) -> Option<u64> {
        let timers = self.line().timers.into_iter().flatten();
        self.next_on_line().into_iter().chain(timers).filter(|at| *at > cycle).min()
    }

    /// Lists the next change: called first in a [`Polled`]. False if its event has to come first.
    fn list_changes(&mut self, poll: &mut Poll) -> bool {
        let cycle = self.line().cycle(poll.now());
        let due = |next: u64| self.line().clock.due(next);
        self.next_change(cycle).and_then(due).into_iter().for_each(|due| poll.until(due));
        let timers = self.line().timers.into_iter().flatten();
        self.next_on_line().into_iter().chain(timers).all(|at| at > cycle)
    }
}

/// A UART as a device on the bus.
#[derive(Debug)]
pub struct Serial<U>(pub U);

/// As that of its model.
impl<U: State> State for Serial<U> {
    fn save(&self, to: &mut engine::state::Saver) {
        self.0.save(to);
    }

    fn load(&mut self, from: &mut engine::state::Loader) -> Result<(), engine::state::Damaged> {
        self.0.load(from)
    }
}

impl<U: Polled> Polled for Serial<U> {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.0.polled(poll)
    }
}

impl<U: Transceiver> Device for Serial<U> {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let offset = self.0.register_at(offset, false);
        crate::registers::read(&mut self.0, offset, size, ctx)
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let offset = self.0.register_at(offset, true);
        crate::registers::write(&mut self.0, offset, size, value, ctx)
    }

    fn pops(&self, _range: usize, offset: u32) -> bool {
        self.0.pops(offset & !3)
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.0.line_mut().observe(ctx);
        self.0.start(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == LINE_HEARD {
            return ctx.hear_line(self.0.line().known(ctx.now));
        }
        if let Some(which) = DMA_TOKENS.iter().position(|dma| *dma == token) {
            return self.0.line_mut().dma[which].event(token, ctx);
        }
        self.0.line_mut().alarm.rang(ctx.now);
        self.0.settle(ctx);
        self.0.refresh(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.0.clocks_changed(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.0.settle(ctx);
        if self.0.line_mut().pins.look(ctx) {
            ctx.line_changed();
        }
    }

    fn finish(&mut self, _now: Ps) {
        self.0.line_mut().stay();
    }

    fn unsent(&self) -> Unsent {
        let line = self.0.line();
        if !line.pins.carries(TX) {
            return Unsent::default();
        }
        let next_change = self.0.next_on_line().and_then(|cycle| line.clock.due(cycle));
        Unsent { characters: line.unsent().map(|character| self.0.data(character) as u8).collect(), next_change }
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.0.settle(ctx);
    }

    fn interrupt_flags(&self) -> Option<String> {
        self.0.flags()
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.0.line().counters()
    }
}

impl<U: Transceiver> SerialPort for Serial<U> {
    fn when_received(&self) -> WhenReceived {
        let line = self.0.line();
        match self.0.is_receiving() && line.pins.carries(RX) {
            true if self.0.asks_dma() => WhenReceived::AsksDma,
            true if self.0.announces() => WhenReceived::Raises(line.interrupts.into_iter().flatten().collect()),
            _ => WhenReceived::Nothing,
        }
    }

    fn format(&self) -> Option<Format> {
        self.0.format()
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        if !self.0.takes_character(ctx) {
            return None;
        }
        let cycles = self.0.character_cycles()?;
        let line = self.0.line_mut();
        let passage = passage(line.clock.rate(), ctx.now, cycles);
        if !line.pins.carries(RX) {
            line.pins.note(RX, NOT_RECEIVED, ctx);
            return passage.map(Passage::lost);
        }
        self.0.passage_began();
        passage
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        if self.0.is_receiving() {
            self.0.damaged(errors);
        }
        self.receive(character, ctx);
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.0.settle(ctx);
        if self.0.is_receiving() && self.0.character_cycles().is_some() {
            let data = (u16::from(character) & ((1 << self.0.data_bits()) - 1)) as u8;
            let room = self.0.room(ctx.now);
            let had_room = self.0.line_mut().receiver.put(data, room, ctx);
            self.0.received(had_room, ctx);
        }
        self.0.refresh(ctx);
    }
}
