//! The USARTs, UARTs and LPUARTs of STM32: what all their generations have in common. Each generation has a file with
//! its register map, its [`Generation`] and what its own registers do.

pub mod f4;
mod frame;
pub mod g4;
mod generation;
pub mod h7;
mod params;
mod queues;
mod receiving;
mod transmitter;

#[cfg(test)]
mod tests;

pub use self::generation::Generation;
pub use self::params::Params;

use self::frame::Frame;
use self::h7::*;
use self::receiving::Receiving;
use self::transmitter::Transmitter;
use crate::prelude::*;
use crate::registers::Row;
use crate::support::activities::SENT;
use crate::support::dma_lines::DmaLine;
use crate::support::fifo_entries::Queues;
use crate::support::pin_functions::NOT_SENT;
use engine::activity::Kind;
use engine::bus::device::{SerialPort, Unsent};
use engine::bus::rates::LINE_HEARD;
use engine::observe::waves::SignalId;

/// Free or filled eighths of a FIFO that set TXFT or RXFT, by TXFTCFG or RXFTCFG; reserved values act as the last one.
const EIGHTHS: [usize; 8] = [1, 2, 4, 6, 7, 8, 8, 8];

/// Indices of the signals at pins.
const TX: usize = 0;
const RX: usize = 1;

/// Tokens of the DMA requests' events; the line's token is 0.
const DMA_TOKENS: [u32; 2] = [1, 2];

/// Bits of USART_CR1 and of USART_CR3, and the flags whose interrupts they enable.
const ENABLES_OF_CR1: [(u32, u32); 8] = [
    (CR1_TCIE, ISR_TC),
    (CR1_TXEIE, ISR_TXE),
    (CR1_TXFEIE, ISR_TXFE),
    (CR1_RXNEIE, ISR_RXNE | ISR_ORE),
    (CR1_PEIE, ISR_PE),
    (CR1_IDLEIE, ISR_IDLE),
    (CR1_RTOIE, ISR_RTOF),
    (CR1_RXFFIE, ISR_RXFF),
];
const ENABLES_OF_CR3: [(u32, u32); 2] = [(CR3_TXFTIE, ISR_TXFT), (CR3_RXFTIE, ISR_RXFT)];

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Usart::look)]
pub struct Usart {
    #[state(skip)]
    generation: &'static Generation,
    params: Params,
    registers: Registers,
    /// The flags that are set until they are cleared: TC, PE, FE, NE, ORE, IDLE, RTOF.
    flags: u32,
    /// USART_SR at its last read, where an access to USART_DR then clears flags.
    seen: u32,
    /// The kernel clock's cycles from which TE and RE are acknowledged, while they are set.
    acknowledged: [Option<u64>; 2],
    transmitter: Transmitter,
    /// True if no pin carried TX when the character on the line began: it is lost.
    is_unheard: bool,
    receiving: Receiving,
    alarm: Alarm,
    #[state(skip)]
    signal: Option<SignalId>,
    /// Requests to a DMA controller.
    dma: [DmaLine; 2],
    sent_characters: u64,
    /// Records the contents of the FIFOs.
    #[poll(edge = poll.clock())]
    queues: Queues,
}

impl Usart {
    /// The device after reset.
    pub fn new(generation: &'static Generation, mut params: Params) -> Usart {
        let dma = std::mem::take(&mut params.dma).map(DmaLine::new);
        Usart {
            generation,
            params,
            registers: Registers::new(generation.map),
            flags: ISR_TC,
            seen: 0,
            acknowledged: [None; 2],
            transmitter: Transmitter::default(),
            is_unheard: false,
            receiving: Receiving::default(),
            alarm: Alarm::default(),
            signal: None,
            dma,
            sent_characters: 0,
            queues: Queues::default(),
        }
    }

    fn cr1(&self) -> u32 {
        self.registers[self.generation.at.cr1]
    }

    fn cr2(&self) -> u32 {
        self.registers[self.generation.at.cr2]
    }

    fn cr3(&self) -> u32 {
        self.registers[self.generation.at.cr3]
    }

    fn is_enabled(&self) -> bool {
        self.cr1() & self.generation.ue != 0
    }

    fn transmits(&self) -> bool {
        self.is_enabled() && self.cr1() & CR1_TE != 0
    }

    fn receives(&self) -> bool {
        self.is_enabled() && self.cr1() & CR1_RE != 0
    }

    fn has_fifo(&self) -> bool {
        self.cr1() & CR1_FIFOEN != 0
    }

    fn capacity(&self) -> usize {
        if self.has_fifo() { self.params.fifo_characters } else { 1 }
    }

    fn frame(&self) -> Option<Frame> {
        let at = &self.generation.at;
        (self.generation.frame)(self.cr1(), self.cr2(), self.registers[at.brr], self.registers[at.presc])
    }

    /// The kernel clock's cycle at the time of the call.
    fn cycle(&self, ctx: &Ctx) -> u64 {
        self.params.clock.edge(ctx.now)
    }

    /// The cycle in which a write at this time has passed the synchroniser.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.params.clock.next_edge(ctx.now) + self.params.start_cycles.0
    }

    /// The time of a cycle.
    fn time(&self, cycle: u64) -> Ps {
        self.params.clock.rate().ps_at_floor(Cycles(cycle))
    }

    /// A character's stop bits have ended.
    fn sent(&mut self, character: u16, frame: Frame, ctx: &mut Ctx) {
        self.sent_characters += 1;
        self.flags |= flag(ISR_TC, self.transmitter.is_idle());
        if !std::mem::take(&mut self.is_unheard) {
            let end = self.time(self.transmitter.ended());
            ctx.character_sent(frame.data(character), &frame.format(self.params.clock.rate()), end, false);
        }
    }

    /// The time up to which the other end of the line knows all that was sent.
    fn known(&self, now: Ps) -> Ps {
        let begun = self.frame().zip(self.transmitter.end());
        begun.map_or(now, |(frame, end)| self.time(end.saturating_sub(frame.cycles())))
    }

    /// Records a character as an activity, and its frame's edges in the waveform.
    fn record(&self, frame: Frame, character: u16, start: u64, ctx: &mut Ctx) {
        if ctx.records(Kind::Serial) {
            let [begin, end] = [start, start + frame.cycles()].map(|cycle| self.time(cycle));
            let data = Detail::Value(frame.data(character).into());
            ctx.clocked_span(&SENT, self.params.clock.rate(), begin, end, data);
        }
        let Some(signal) = self.signal.filter(|_| ctx.bus.waves.is_on() && !self.is_unheard) else { return };
        frame.edges(character, |offset, level| ctx.bus.waves.set(signal, self.time(start + offset), level));
    }

    /// Corrects the recorded end of the character on the line.
    fn correct_end(&self, ctx: &mut Ctx) {
        if let Some(end) = self.transmitter.end() {
            ctx.ends_instead(&SENT, self.time(end));
        }
    }

    fn status(&self, cycle: u64) -> u32 {
        let (capacity, came) = (self.capacity(), self.receiving.len());
        let free = capacity - self.transmitter.waiting().min(capacity);
        let [te, re] = self.acknowledged.map(|since| since.is_some_and(|since| since <= cycle));
        let status = self.flags | flag(ISR_TXE, free > 0) | flag(ISR_RXNE, came > 0);
        let status = status | flag(ISR_TEACK, te) | flag(ISR_REACK, re);
        if !self.has_fifo() {
            return status;
        }
        let reach = |count: usize, level: u32| 8 * count >= EIGHTHS[field(self.cr3(), level) as usize] * capacity;
        status
            | flag(ISR_TXFE, free == capacity)
            | flag(ISR_TXFT, reach(free, CR3_TXFTCFG))
            | flag(ISR_RXFF, came >= capacity)
            | flag(ISR_RXFT, reach(came, CR3_RXFTCFG))
    }

    /// The flags whose interrupts are enabled.
    fn enabled(&self) -> u32 {
        let (cr1, cr3, errors) = (self.cr1(), self.cr3(), self.generation.error_enables);
        let of_cr1 = ENABLES_OF_CR1.iter().fold(0, |flags, (enable, of)| flags | flag(*of, cr1 & enable != 0));
        let of_both = ENABLES_OF_CR3.iter().fold(of_cr1, |flags, (enable, of)| flags | flag(*of, cr3 & enable != 0));
        of_both | flag(ISR_ORE | ISR_FE | ISR_NE, cr3 & errors == errors)
    }

    /// The flags that request an interrupt.
    fn interrupts(&self) -> u32 {
        // Nothing that depends on the cycle interrupts.
        if self.is_enabled() { self.status(0) & self.enabled() } else { 0 }
    }

    /// Levels of the DMA requests of transmission and reception.
    fn dma_requests(&self) -> [bool; 2] {
        let (enabled, cr3) = (self.is_enabled(), self.cr3());
        let has_room = self.transmitter.waiting() < self.capacity();
        [enabled && cr3 & CR3_DMAT != 0 && has_room, enabled && cr3 & CR3_DMAR != 0 && self.receiving.has_any()]
    }

    /// Drives interrupts and requests, and schedules an event for the next change.
    fn drive(&mut self, ctx: &mut Ctx) {
        let level = self.interrupts() != 0;
        for line in self.params.interrupts {
            ctx.set_irq(line, level);
        }
        let requests = self.dma_requests();
        for ((line, level), token) in self.dma.iter_mut().zip(requests).zip(DMA_TOKENS) {
            line.set(level, token, ctx);
        }
        if let Some(due) = self.next_change(self.cycle(ctx)).and_then(|next| self.params.clock.due(next)) {
            self.alarm.set(due, 0, ctx);
        }
    }

    /// The cycle at which the line begins or ends the next character, if the device is set up for it.
    fn next_on_line(&self) -> Option<u64> {
        let moves = self.transmitter.is_shifting() || self.is_enabled();
        self.frame().filter(|_| moves).and_then(|_| self.transmitter.next_change())
    }

    fn next_change(&self, cycle: u64) -> Option<u64> {
        let acknowledged = self.acknowledged.into_iter().flatten();
        let changes = self.next_on_line().into_iter().chain(acknowledged).chain(self.receiving.next_change());
        changes.filter(|at| *at > cycle).min()
    }

    /// A write of data to send. True unless they are lost.
    fn send(&mut self, value: u32, ctx: &mut Ctx) -> bool {
        if !self.transmits() {
            ctx.note("a character was written while the transmitter is off (USART_CR1.UE, TE): it is not sent");
            return false;
        }
        if self.frame().is_none() {
            ctx.note("a character was written while USART_BRR is below 16: without a baud rate it is not sent");
        }
        if !self.params.pins.carries(TX) {
            self.params.pins.note(TX, NOT_SENT, ctx);
        }
        if self.transmitter.waiting() == self.capacity() {
            if self.has_fifo() {
                ctx.note("a character was written to the full FIFO: it is lost");
                return false;
            }
            let register = self.generation.words.tdr;
            ctx.note(&format!("a character was written to {register} while TXE is 0: the one before it is lost"));
            self.transmitter.drop_waiting();
        }
        self.params.clock.is_needed(ctx);
        if self.has_fifo() {
            self.queues.tx.come(self.transmitter.waiting(), ctx.now, value);
        }
        self.transmitter.put(value as u16, self.arrival(ctx));
        true
    }

    /// USART_CR1 was written, and held `old`: an idle frame comes first when the transmitter begins.
    fn begin_idle_frame(&mut self, old: u32, ctx: &Ctx) {
        let on = self.generation.ue | CR1_TE;
        if let Some(frame) = self.frame().filter(|_| old & on != on && self.transmits()) {
            self.transmitter.hold_until(self.arrival(ctx) + frame.cycles());
        }
    }

    /// A read of received data.
    fn take(&mut self, ctx: &mut Ctx) -> u8 {
        self.record_read(ctx);
        let character = self.receiving.read();
        self.drive(ctx);
        ctx.line_changed();
        character
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.record_emptied(ctx);
        self.registers.reset();
        (self.flags, self.seen, self.acknowledged) = (ISR_TC, 0, [None; 2]);
        (self.transmitter, self.is_unheard) = (Transmitter::default(), false);
        self.receiving.reset();
        self.drive(ctx);
        ctx.line_changed();
    }

    /// All changes without an access happen in events.
    fn look(&mut self, poll: &mut Poll) -> bool {
        let cycle = self.params.clock.edge(poll.now());
        if self.next_on_line().is_some_and(|at| at <= cycle) {
            return false;
        }
        if let Some(due) = self.next_change(cycle).and_then(|next| self.params.clock.due(next)) {
            poll.until(due);
        }
        poll.state(self.status(cycle));
        true
    }
}

impl Table for Usart {
    fn settle(&mut self, ctx: &mut Ctx) {
        let cycle = self.cycle(ctx);
        self.flags |= self.receiving.due(cycle);
        let Some(frame) = self.frame() else { return };
        loop {
            if let Some(character) = self.transmitter.sent(cycle) {
                self.sent(character, frame, ctx);
            } else if self.is_enabled()
                && let Some((character, start)) = self.transmitter.begin(cycle, frame.cycles())
            {
                self.is_unheard = !self.params.pins.carries(TX);
                self.record_begin(start);
                self.record(frame, character, start, ctx);
            } else {
                return;
            }
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        (self.generation.shown)(self, register, held, ctx)
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        (self.generation.wrote)(self, register, old, new, ctx);
    }

    fn unmodelled(&mut self, _: &'static Row, _: u32, ctx: &mut Ctx) {
        ctx.note(
            "a mode that is not modelled was enabled (USART_CR2, USART_CR3): the device works as a UART without it",
        );
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.drive(ctx);
        ctx.line_changed();
    }
}

impl Device for Usart {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == self.generation.at.rdr
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.params.pins.follow(ctx);
        let name = ctx.bus.device_names[ctx.id.0 as usize].clone();
        self.signal = Some(ctx.bus.waves.signal(&name, "tx", true));
        self.queues.observe(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if let Some(which) = DMA_TOKENS.iter().position(|dma| *dma == token) {
            return self.dma[which].event(token, ctx);
        }
        if token == LINE_HEARD {
            return ctx.hear_line(self.known(ctx.now));
        }
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.drive(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let (from, to) = self.params.clock.follow(ctx);
        self.transmitter.rebase(from, to);
        self.correct_end(ctx);
        self.receiving.rebase(from, to);
        for at in self.acknowledged.iter_mut().flatten() {
            *at = to + at.saturating_sub(from);
        }
        self.alarm.cancel(0, ctx);
        self.drive(ctx);
        if self.generation.resumes_with_clock {
            ctx.line_changed();
        }
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        if self.params.pins.look(ctx) {
            ctx.line_changed();
        }
    }

    fn finish(&mut self, _now: Ps) {
        let entries = (self.transmitter.waiting(), self.receiving.len());
        self.queues.stay(entries, self.params.clock.rate());
    }

    fn unsent(&self) -> Unsent {
        if !self.params.pins.carries(TX) {
            return Unsent::default();
        }
        let frame = self.frame();
        let data = |character: u16| frame.as_ref().map_or(character, |frame| frame.data(character)) as u8;
        Unsent {
            characters: self.transmitter.characters().map(data).collect(),
            next_change: self.next_on_line().and_then(|cycle| self.params.clock.due(cycle)),
        }
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
    }

    fn interrupt_flags(&self) -> Option<String> {
        let names: Vec<&str> = MAP.row(ISR)?.names(self.interrupts() & !ISR_ERRORS).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiving.counters(vec![("tx_characters".to_owned(), self.sent_characters)])
    }
}
