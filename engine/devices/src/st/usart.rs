//! The USARTs, UARTs and LPUARTs of STM32: what all their generations have in common. Each generation has a file with
//! its register map, its [`Generation`] and what its own registers do.

pub mod f4;
mod frame;
pub mod g4;
mod generation;
pub mod h7;
mod params;

#[cfg(test)]
mod tests;

pub use self::generation::Generation;
pub use self::params::Params;

use self::frame::Frame;
use self::h7::*;
use crate::prelude::*;
use crate::registers::Row;
use crate::support::dma_lines::DmaLine;
use crate::support::pin_functions::NOT_SENT;
use crate::support::serial::line::{Line, Shifting};
use crate::support::serial::receiver::{Room, WhenFull};
use crate::support::serial::{Serial, TX, Transceiver};
use engine::observe::waves::SignalId;
use engine::serial::wave::{Errors, Format};

/// Free or filled eighths of a FIFO that set TXFT or RXFT, by TXFTCFG or RXFTCFG; reserved values act as the last one.
const EIGHTHS: [usize; 8] = [1, 2, 4, 6, 7, 8, 8, 8];

/// The flags that the line's timers set: the line counts as idle, the receiver's time-out, TE and RE are acknowledged.
const TIMERS: [u32; 4] = [ISR_IDLE, ISR_RTOF, ISR_TEACK, ISR_REACK];
/// Those of the acknowledges, with their enable bits.
const ACKNOWLEDGES: [(usize, u32); 2] = [(2, CR1_TE), (3, CR1_RE)];

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
    #[state(skip)]
    params: Params,
    registers: Registers,
    /// The flags that are set until they are cleared: TC, PE, FE, NE, ORE, IDLE, RTOF, TEACK, REACK.
    flags: u32,
    /// USART_SR at its last read, where an access to USART_DR then clears flags.
    seen: u32,
    /// The character that was last read.
    last: u8,
    line: Line,
    #[state(skip)]
    signal: Option<SignalId>,
}

impl Usart {
    /// The device after reset.
    pub fn device(generation: &'static Generation, mut params: Params) -> Serial<Usart> {
        let mut line = Line::new(params.clock, None);
        (line.interrupts, line.pins) = (params.interrupts, std::mem::take(&mut params.pins));
        line.dma = std::mem::take(&mut params.dma).map(DmaLine::new);
        Serial(Usart {
            generation,
            params,
            registers: Registers::new(generation.map),
            flags: ISR_TC,
            seen: 0,
            last: 0,
            line,
            signal: None,
        })
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

    /// The cycle in which a write at this time has passed the synchroniser.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.line.clock.next_edge(ctx.now) + self.params.start_cycles.0
    }

    fn status(&self) -> u32 {
        let (capacity, came) = (self.capacity(), self.line.receiver.len());
        let free = capacity - self.line.waiting().min(capacity);
        let status = self.flags | flag(ISR_TXE, free > 0) | flag(ISR_RXNE, came > 0);
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
        if self.is_enabled() { self.status() & self.enabled() } else { 0 }
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
        if !self.line.pins.carries(TX) {
            self.line.pins.note(TX, NOT_SENT, ctx);
        }
        if self.line.waiting() == self.capacity() {
            if self.has_fifo() {
                ctx.note("a character was written to the full FIFO: it is lost");
                return false;
            }
            let register = self.generation.words.tdr;
            ctx.note(&format!("a character was written to {register} while TXE is 0: the one before it is lost"));
            self.line.drop_waiting(ctx.now);
        }
        self.line.clock.is_needed(ctx);
        self.line.put(value as u16, self.arrival(ctx), self.has_fifo().then_some(ctx.now));
        true
    }

    /// USART_CR1 was written, and held `old`: an idle frame comes first when the transmitter begins.
    fn begin_idle_frame(&mut self, old: u32, ctx: &Ctx) {
        let on = self.generation.ue | CR1_TE;
        if let Some(frame) = self.frame().filter(|_| old & on != on && self.transmits()) {
            self.line.hold_until(self.arrival(ctx) + frame.cycles());
        }
    }

    /// A read of received data.
    fn take(&mut self, ctx: &mut Ctx) -> u8 {
        self.last = self.line.take(ctx.now).unwrap_or(self.last);
        self.refresh(ctx);
        ctx.line_changed();
        self.last
    }

    /// Discards operations under way, and resets the flags.
    fn discard(&mut self, ctx: &Ctx) {
        self.line.stop_sending(ctx.now);
        self.line.drop_received(ctx.now);
        self.line.timers = [None; 4];
        self.flags = ISR_TC;
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.discard(ctx);
        self.registers.reset();
        (self.seen, self.last) = (0, 0);
        self.refresh(ctx);
        ctx.line_changed();
    }

    /// All changes without an access happen in events.
    fn look(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.status());
        self.list_changes(poll)
    }
}

impl Table for Usart {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
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
        self.refresh(ctx);
        ctx.line_changed();
    }
}

impl Transceiver for Usart {
    fn line(&self) -> &Line {
        &self.line
    }

    fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    fn pops(&self, register: u32) -> bool {
        register == self.generation.at.rdr
    }

    fn character_cycles(&self) -> Option<u64> {
        self.frame().map(Frame::cycles)
    }

    fn format(&self) -> Option<Format> {
        Some(self.frame()?.format(self.line.clock.rate()))
    }

    fn data_bits(&self) -> u32 {
        self.frame().map_or(8, Frame::data_bits)
    }

    fn is_sending(&self) -> bool {
        self.is_enabled()
    }

    fn is_receiving(&self) -> bool {
        self.is_enabled() && self.cr1() & CR1_RE != 0
    }

    fn room(&self, now: Ps) -> Room {
        let when_full = if self.cr3() & CR3_OVRDIS != 0 { WhenFull::Overwrite } else { WhenFull::Keep };
        let recorded = self.has_fifo().then(|| (now, self.line.clock.rate()));
        Room { characters: self.capacity(), when_full, recorded }
    }

    fn announces(&self) -> bool {
        self.enabled() & self.generation.announced != 0
    }

    fn asks_dma(&self) -> bool {
        self.cr3() & CR3_DMAR != 0
    }

    fn level(&self) -> Option<bool> {
        Some(self.interrupts() != 0)
    }

    fn requests(&self) -> [bool; 2] {
        let asks = |enable: u32| self.is_enabled() && self.cr3() & enable != 0;
        [asks(CR3_DMAT) && self.line.waiting() < self.capacity(), asks(CR3_DMAR) && !self.line.receiver.is_empty()]
    }

    fn timed_out(&mut self, timer: usize) {
        self.flags |= TIMERS[timer];
    }

    fn damaged(&mut self, errors: Errors) {
        if self.line.receiver.len() < self.capacity() {
            self.flags |= flag(ISR_PE, errors.parity) | flag(ISR_FE, errors.framing) | flag(ISR_NE, errors.noise);
        }
    }

    fn received(&mut self, had_room: bool, ctx: &mut Ctx) {
        self.flags |= flag(ISR_ORE, !had_room && self.cr3() & CR3_OVRDIS == 0);
        let Some(frame) = self.frame() else { return };
        let cycle = self.line.cycle(ctx.now);
        let bits = u64::from(field(self.registers[self.generation.at.rtor], RTOR_RTO));
        let counts = self.cr2() & CR2_RTOEN != 0;
        let timeout = counts.then(|| cycle + frame.cycles_of_bits(bits));
        self.line.timers[..2].copy_from_slice(&[Some(cycle + frame.cycles()), timeout]);
        self.settle(ctx);
    }

    fn start(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        let name = ctx.label().to_owned();
        self.signal = Some(ctx.bus.waves.signal(&name, "tx", true));
    }

    fn takes_character(&mut self, ctx: &mut Ctx) -> bool {
        self.settle(ctx);
        let holds_sender = self.line.receiver.len() >= self.capacity() && self.cr3() & CR3_RTSE != 0;
        self.is_receiving() && self.line.clock.is_running() && self.params.gate.state(ctx.bus) && !holds_sender
    }

    fn passage_began(&mut self) {
        self.line.timers[..2].fill(None);
    }

    /// The edges of the frame are in the waveform.
    fn begun(&mut self, begun: Shifting, ctx: &mut Ctx) {
        let Some(signal) = self.signal.filter(|_| ctx.bus.waves.is_on() && begun.is_heard) else { return };
        let Some(frame) = self.frame() else { return };
        frame.edges(begun.character, |at, level| ctx.bus.waves.set(signal, self.line.time(begun.start + at), level));
    }

    fn sent(&mut self, sent: Shifting, ctx: &mut Ctx) {
        self.flags |= flag(ISR_TC, self.line.is_idle());
        if let Some(format) = self.format().filter(|_| sent.is_heard) {
            ctx.character_sent(self.data(sent.character), &format, self.line.time(sent.end), false);
        }
    }

    fn data(&self, character: u16) -> u16 {
        self.frame().map_or(character, |frame| frame.data(character))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.line.follow_clock(ctx);
        self.refresh(ctx);
        if self.generation.resumes_with_clock {
            ctx.line_changed();
        }
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn flags(&self) -> Option<String> {
        let names: Vec<&str> = MAP.row(ISR)?.names(self.interrupts() & !ISR_ERRORS).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
