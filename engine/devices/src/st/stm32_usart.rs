//! `st,stm32-usart`: the USARTs and UARTs of STM32F4 and older STM32 families (RM0090, "Universal synchronous
//! asynchronous receiver transmitter (USART)").
//!
//! Modelled: all registers; the transmitter with USART_DR and the shift register; 8 and 9 bits, parity, stop bits; the
//! baud rate from the peripheral's bus clock, USART_BRR and OVER8; the idle frame that TE sends first; TXE, TC, RXNE,
//! ORE and IDLE with the sequences that clear them (a read of USART_SR, then an access to USART_DR); interrupts;
//! requests to a DMA controller. A bit takes whole clocks; the start bit comes `cyclescope,start-cycles` clocks after a
//! write of USART_DR. When the clock changes, a character on the line continues at the new rate.
//!
//! If TX has no pin (`devices/support/pin_functions.rs`), sent characters are lost, with a note, without an effect on
//! the USART. If RX has no pin while the receiver is on, incoming characters are lost, with a note.
//!
//! Sent characters appear on the console (of the node that `/chosen`'s stdout-path names) or in the node's own stream
//! at the end of their stop bits; characters that are still under way when the firmware ends are sent, too. A received
//! character is in USART_DR at the end of its stop bits; with parity, the highest bit of its word is the parity bit. A
//! character that arrives while RXNE is set is lost. With RTSE, the sender waits meanwhile.
//!
//! If the console's line has another format than the USART's settings, each receiver decodes the waveform with its own
//! settings (`serial/wave.rs`), with PE, FE and NF.
//!
//! Not modelled: break, mute mode, synchronous, smartcard, IrDA, LIN and half-duplex modes, CTS. A character under way
//! is completed when UE is cleared, and lost when TE is cleared.

mod receiving;
mod registers;

#[cfg(test)]
mod tests;

pub use self::registers::REGISTERS;

use self::receiving::Receiving;
use self::registers::*;
use super::stm32h7_uart::frame::Frame;
use super::stm32h7_uart::transmitter::Transmitter;
use crate::model::{Group, Model};
use crate::support::activities::{SENT, SERIAL};
use crate::support::axi_lite::edge_in_reach;
use crate::support::dma_lines::DmaLine;
use crate::support::pin_functions::{NOT_SENT, PinFunctions};
use crate::support::registers::{flag, names_of};
use crate::support::stm32_clock_gate::ClockGate;
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SerialPort, SlaveError, Unsent};
use engine::bus::rates::LINE_HEARD;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::observe::waves::SignalId;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// The board's parameters of the device.
#[derive(Clone, Debug, State)]
pub struct Params {
    /// The clock of its bus.
    pub clock: ClockInput,
    /// Clocks from a write of USART_DR to the start bit.
    #[state(skip)]
    pub start_cycles: Cycles,
    /// Its interrupt.
    #[state(skip)]
    pub interrupt: Option<IrqLine>,
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
    /// The requests to a DMA controller: USART_DR is free, USART_DR has a character.
    #[state(skip)]
    pub dma: [Vec<IrqLine>; 2],
    /// The pins that carry [`TX`] and [`RX`].
    pub pins: PinFunctions,
}

/// Indices of the signals at pins.
const TX: usize = 0;
const RX: usize = 1;

/// Tokens of the DMA requests' events; the line's token is 0.
const DMA_TOKENS: [u32; 2] = [1, 2];

/// The device.
#[derive(Debug, State)]
pub struct Usart {
    params: Params,
    control: [u32; 3],
    baud: u32,
    guard_time: u32,
    transmitter: Transmitter,
    /// True if no pin carried TX when the character on the line began: it is lost.
    is_unheard: bool,
    /// USART_SR.TC.
    complete: bool,
    /// USART_SR at its last read: flags that an access to USART_DR clears.
    seen: u32,
    alarm: Alarm,
    #[state(skip)]
    signal: Option<SignalId>,
    receiving: Receiving,
    /// Requests to a DMA controller.
    dma: [DmaLine; 2],
    sent_characters: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["st,stm32-usart", "st,stm32-uart"], 1, from_node)
    .with_activities(SERIAL)
    .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Usart::new(Params {
        clock: reader.clock_input(0, "the clock of its bus, from which the baud rate is divided"),
        start_cycles: reader
            .timing_cycles("cyclescope,start-cycles", "clocks from a write of USART_DR to the start bit"),
        interrupt: reader.interrupt(0, "its interrupt"),
        gate: ClockGate::from_node(reader),
        dma: [reader.dma_lines("tx", "USART_DR is free"), reader.dma_lines("rx", "USART_DR has a character")],
        pins: PinFunctions::from_node(reader, &["tx", "rx"]),
    }))
}

impl Usart {
    /// The device after reset.
    pub fn new(mut params: Params) -> Usart {
        let dma = std::mem::take(&mut params.dma).map(DmaLine::new);
        Usart {
            params,
            control: [0; 3],
            baud: 0,
            guard_time: 0,
            transmitter: Transmitter::default(),
            is_unheard: false,
            complete: true,
            seen: 0,
            alarm: Alarm::default(),
            signal: None,
            receiving: Receiving::default(),
            dma,
            sent_characters: 0,
        }
    }

    const fn is_enabled(&self) -> bool {
        self.control[0] & CR1_UE != 0
    }

    const fn transmits(&self) -> bool {
        self.control[0] & (CR1_UE | CR1_TE) == CR1_UE | CR1_TE
    }

    /// The frame's format: its bits have the same positions as in the newer UARTs.
    fn frame(&self) -> Option<Frame> {
        Frame::of(self.control[0], self.control[1] & CR2_FORMAT, self.baud, 0)
    }

    /// The clock's cycle at the time of the call.
    fn cycle(&self, ctx: &Ctx) -> u64 {
        self.params.clock.rate.cycles_until_floor(ctx.now).0
    }

    /// The cycle in which the shift register can begin with a character that is written now.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.params.clock.rate.cycles_until_ceil(ctx.now).0 + self.params.start_cycles.0
    }

    /// Updates the device to the time of the call.
    fn settle(&mut self, ctx: &mut Ctx) {
        let cycle = self.cycle(ctx);
        self.receiving.settle(cycle);
        let Some(frame) = self.frame() else { return };
        loop {
            if let Some(character) = self.transmitter.sent(cycle) {
                self.sent_characters += 1;
                self.complete |= self.transmitter.is_idle();
                if !std::mem::take(&mut self.is_unheard) {
                    let clock = self.params.clock.rate;
                    let end = clock.ps_at_floor(Cycles(self.transmitter.ended()));
                    ctx.character_sent(frame.data(character), &frame.format(clock), end, false);
                }
            } else if self.transmits()
                && let Some((character, start)) = self.transmitter.begin(cycle, frame.cycles())
            {
                self.is_unheard = !self.params.pins.carries(TX);
                self.record(frame, character, start, ctx);
            } else {
                return;
            }
        }
    }

    /// The time up to which the other end of the line knows all that was sent.
    fn known(&self, now: Ps) -> Ps {
        let begun = self.frame().zip(self.transmitter.end());
        begun.map_or(now, |(frame, end)| self.params.clock.rate.ps_at_floor(Cycles(end.saturating_sub(frame.cycles()))))
    }

    /// Records a character as an activity, and its frame's edges in the waveform.
    fn record(&self, frame: Frame, character: u16, start: u64, ctx: &mut Ctx) {
        if ctx.records(Kind::Serial) {
            let clock = self.params.clock.rate;
            let [begin, end] = [start, start + frame.cycles()].map(|cycle| clock.ps_at_floor(Cycles(cycle)));
            ctx.clocked_span(&SENT, clock, begin, end, Detail::Value(frame.data(character).into()));
        }
        let Some(signal) = self.signal.filter(|_| ctx.bus.waves.is_on() && !self.is_unheard) else { return };
        frame.edges(character, |offset, level| {
            let at = self.params.clock.rate.ps_at_floor(Cycles(start + offset));
            ctx.bus.waves.set(signal, at, level);
        });
    }

    /// Corrects the recorded end of the character on the line.
    fn correct_end(&self, ctx: &mut Ctx) {
        if self.transmitter.is_shifting()
            && let Some(end) = self.transmitter.next_change()
        {
            ctx.ends_instead(&SENT, self.params.clock.rate.ps_at_floor(Cycles(end)));
        }
    }

    fn status(&self) -> u32 {
        flag(SR_TC, self.complete) | flag(SR_TXE, self.transmitter.waiting() == 0) | self.receiving.status()
    }

    /// The flags that request an interrupt.
    fn interrupts(&self) -> u32 {
        let (status, [cr1, _, cr3]) = (self.status(), self.control);
        let enabled = flag(SR_TC, cr1 & CR1_TCIE != 0)
            | flag(SR_TXE, cr1 & CR1_TXEIE != 0)
            | flag(SR_RXNE | SR_ORE, cr1 & CR1_RXNEIE != 0)
            | flag(SR_IDLE, cr1 & CR1_IDLEIE != 0)
            | flag(SR_PE, cr1 & CR1_PEIE != 0)
            | flag(SR_ORE | SR_NF | SR_FE, cr3 & CR3_EIE != 0 && cr3 & CR3_DMAR != 0);
        if self.is_enabled() { status & enabled } else { 0 }
    }

    /// Levels of the DMA requests of transmission and reception.
    fn dma_requests(&self) -> [bool; 2] {
        let (status, cr3) = (self.status(), self.control[2]);
        let wants = |mode: u32, flag: u32| self.is_enabled() && cr3 & mode != 0 && status & flag != 0;
        [wants(CR3_DMAT, SR_TXE), wants(CR3_DMAR, SR_RXNE)]
    }

    /// Drives interrupt and requests, and schedules an event for the next change.
    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.params.interrupt, self.interrupts() != 0);
        let requests = self.dma_requests();
        for ((line, level), token) in self.dma.iter_mut().zip(requests).zip(DMA_TOKENS) {
            line.set(level, token, ctx);
        }
        let cycle = self.cycle(ctx);
        if let Some(due) = self.next_change(cycle).and_then(|next| edge_in_reach(self.params.clock.rate, next)) {
            self.alarm.set(due, 0, ctx);
        }
    }

    /// The cycle at which the line begins or ends the next character, if the device is set up for it.
    fn next_on_line(&self) -> Option<u64> {
        let moves = self.transmitter.is_shifting() || self.transmits();
        self.frame().filter(|_| moves).and_then(|_| self.transmitter.next_change())
    }

    fn next_change(&self, cycle: u64) -> Option<u64> {
        self.next_on_line().into_iter().chain(self.receiving.next_change()).filter(|at| *at > cycle).min()
    }

    fn send(&mut self, value: u32, ctx: &mut Ctx) {
        self.complete &= self.seen & SR_TC == 0;
        self.seen &= !SR_TC;
        if !self.transmits() {
            ctx.note("a character was written while the transmitter is off (USART_CR1.UE, TE): it is not sent");
            return;
        }
        if self.frame().is_none() {
            ctx.note("a character was written while USART_BRR is below 16: without a baud rate it is not sent");
        }
        if !self.params.pins.carries(TX) {
            self.params.pins.note(TX, NOT_SENT, ctx);
        }
        if self.transmitter.waiting() > 0 {
            ctx.note("a character was written to USART_DR while TXE is 0: the one before it is lost");
            self.transmitter.drop_waiting();
        }
        let arrival = self.arrival(ctx);
        self.transmitter.put((value & 0x1ff) as u16, arrival);
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            SR => {
                // A write of 0 clears TC and RXNE; other flags are read-only.
                self.complete &= value & SR_TC != 0;
                if value & SR_RXNE == 0 {
                    self.receiving.read();
                }
            }
            DR => self.send(value, ctx),
            BRR => self.baud = value & 0xffff,
            CR1 => self.set_cr1(value & CR1_MASK, ctx),
            CR2 => self.control[1] = value & CR2_MASK,
            CR3 => self.control[2] = value & CR3_MASK,
            GTPR => self.guard_time = value & 0xffff,
            _ => {}
        }
        if self.control[1] & CR2_UNMODELLED | self.control[2] & CR3_UNMODELLED != 0 {
            ctx.note(
                "a mode that is not modelled was enabled (USART_CR2, USART_CR3): the device works as a UART without it",
            );
        }
    }

    fn set_cr1(&mut self, value: u32, ctx: &mut Ctx) {
        let was_on = self.transmits();
        if value & CR1_SBK != 0 {
            ctx.note("a break (USART_CR1.SBK) is not modelled: nothing is sent");
        }
        // The end of the break character clears SBK.
        self.control[0] = value & !CR1_SBK;
        if value & CR1_TE == 0 {
            if self.transmitter.is_shifting() {
                ctx.note("TE was cleared while a character was being sent: it is lost");
                ctx.cut(&SENT, ctx.now);
            }
            self.transmitter = Transmitter::default();
        }
        if let Some(frame) = self.frame().filter(|_| !was_on && self.transmits()) {
            // An idle frame comes first.
            self.transmitter.hold_until(self.arrival(ctx) + frame.cycles());
        }
    }

    /// A read of USART_DR.
    fn take(&mut self, ctx: &mut Ctx) -> u32 {
        let character = u16::from(self.receiving.read());
        self.receiving.clear(self.seen);
        self.seen &= SR_TC;
        self.update(ctx);
        ctx.line_changed();
        self.frame().map_or(character, |frame| frame.received(character)).into()
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        let kept = std::mem::replace(self, Usart::new(self.params.clone()));
        (self.dma, self.alarm, self.signal) = (kept.dma, kept.alarm, kept.signal);
        (self.receiving, self.sent_characters) = (kept.receiving, kept.sent_characters);
        self.receiving.reset();
        self.update(ctx);
        ctx.line_changed();
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            BRR => self.baud,
            CR1 => self.control[0],
            CR2 => self.control[1],
            CR3 => self.control[2],
            GTPR => self.guard_time,
            _ => 0,
        }
    }
}

impl Device for Usart {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.params.pins.follow(ctx);
        let name = ctx.bus.device_names[ctx.id.0 as usize].clone();
        self.signal = Some(ctx.bus.waves.signal(&name, "tx", true));
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx);
            match offset {
                SR => {
                    self.seen = self.status();
                    self.seen
                }
                DR => self.take(ctx),
                offset => self.register(offset),
            }
        })
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.params.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.settle(ctx);
            self.set_register(offset, value, ctx);
            self.settle(ctx);
            self.update(ctx);
            ctx.line_changed();
        })
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
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let from = self.cycle(ctx);
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        let to = self.cycle(ctx);
        self.transmitter.rebase(from, to);
        self.correct_end(ctx);
        self.receiving.rebase(from, to);
        self.alarm.cancel(0, ctx);
        self.update(ctx);
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

    fn unsent(&self) -> Unsent {
        let frame = self.frame();
        let data = |character: u16| frame.as_ref().map_or(character, |frame| frame.data(character)) as u8;
        if !self.params.pins.carries(TX) {
            return Unsent::default();
        }
        let next = self.next_on_line();
        Unsent {
            characters: self.transmitter.characters().map(data).collect(),
            next_change: next.and_then(|cycle| edge_in_reach(self.params.clock.rate, cycle)),
        }
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
    }

    fn interrupt_flags(&self) -> Option<String> {
        names_of(self.interrupts(), FLAGS)
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiving.counters(vec![("tx_characters".to_owned(), self.sent_characters)])
    }
}

impl Polled for Usart {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All changes without an access happen in events.
        let cycle = self.params.clock.rate.cycles_until_floor(poll.now()).0;
        if self.next_on_line().is_some_and(|at| at <= cycle) {
            return false;
        }
        if let Some(due) = self.next_change(cycle).and_then(|next| edge_in_reach(self.params.clock.rate, next)) {
            poll.until(due);
        }
        self.control.iter().for_each(|register| poll.state(*register));
        for register in [self.baud, self.guard_time, self.seen, self.status()] {
            poll.state(register);
        }
        self.transmitter.state(|word| poll.state(word));
        self.receiving.polled(poll);
        poll.state(self.sent_characters);
        poll.state(self.params.pins.carried());
        poll.state(self.is_unheard);
        true
    }
}
