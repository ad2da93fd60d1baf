//! `st,stm32h7-uart`: the UARTs of STM32H7 and STM32MP1 (RM0436, "Universal synchronous/asynchronous receiver
//! transmitter (USART/UART)"), the UARTs of STM32L4+, with FIFOs of 8 characters (RM0432), and, as `st,stm32-lpuart`,
//! their LPUART (RM0432, "Low-power universal asynchronous receiver transmitter (LPUART)").
//!
//! Modelled: all registers; the transmitter with TDR or its FIFO of 16 characters and the shift register; word lengths,
//! parity, stop bits; the baud rate from the kernel clock, its prescaler, USART_BRR and OVER8; the idle frame that TE
//! sends first; TXE (TXFNF), TC, TXFE, TXFT, TEACK and REACK; the receiver with RDR or its FIFO of 16 characters, RXNE
//! (RXFNE), RXFF, RXFT, ORE, OVRDIS, IDLE, RTOF; interrupts; requests to a DMA controller; registers that are locked
//! while UE is set. A bit takes whole clocks of the kernel clock; in an LPUART it takes LPUART_BRR / 256 clocks, with
//! edges at whole clocks. When the kernel clock changes, a character on the line continues at the new rate; when it
//! stops, the line stops. The start bit comes `cyclescope,start-cycles` kernel clocks after a write of USART_TDR.
//!
//! If TX has no pin (`devices/support/pin_functions.rs`), sent characters are lost, with a note, without an effect on
//! the UART. If RX has no pin while the receiver is on, incoming characters are lost, with a note.
//!
//! Sent characters appear on the console (of the node that `/chosen`'s stdout-path names) or in the node's own stream
//! at the end of their stop bits; characters that are still under way when the firmware ends are sent, too. A received
//! character is in USART_RDR at the end of its stop bits. With RTSE, the sender waits while the receiver is full.
//!
//! If the console's line has another format than the UART's settings, each receiver decodes the waveform with its own
//! settings (`serial/wave.rs`), with PE, FE and NE.
//!
//! Not modelled: the receiver's character match, break, synchronous, smartcard, IrDA, LIN and half-duplex modes, CTS,
//! low-power modes.

mod control;
pub(super) mod frame;
mod params;
mod queues;
mod receiving;
mod registers;
pub(super) mod transmitter;

#[cfg(test)]
mod tests;

pub use self::registers::REGISTERS;

use self::control::note_locked;
use self::frame::Frame;
pub use self::params::Params;
use self::receiving::Receiving;
use self::registers::*;
use self::transmitter::Transmitter;
use crate::model::{Group, Model};
use crate::support::activities::{SENT, SERIAL_WITH_FIFOS};
use crate::support::dma_lines::DmaLine;
use crate::support::fifo_entries::Queues;
use crate::support::pin_functions::NOT_SENT;
use crate::support::registers::{flag, names_of};
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, Reply, SerialPort, SlaveError, Unsent};
use engine::bus::rates::LINE_HEARD;
use engine::dt::reader::NodeReader;
use engine::observe::waves::SignalId;
use engine::polling::{Edge, Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// Free eighths of the FIFO that set USART_ISR.TXFT, by TXFTCFG; reserved values act as the last one.
const TXFT_EIGHTHS: [usize; 8] = [1, 2, 4, 6, 7, 8, 8, 8];

/// Indices of the signals at pins.
const TX: usize = 0;
const RX: usize = 1;

/// Tokens of the DMA requests' events; the line's token is 0.
const DMA_TOKENS: [u32; 2] = [1, 2];

/// The device.
#[derive(Debug, State)]
pub struct Uart {
    params: Params,
    control: [u32; 3],
    baud: u32,
    guard_time: u32,
    timeout: u32,
    prescaler: u32,
    /// The value that was last written to USART_TDR.
    data: u32,
    transmitter: Transmitter,
    /// True if no pin carried TX when the character on the line began: it is lost.
    is_unheard: bool,
    /// USART_ISR.TC.
    complete: bool,
    /// The kernel clock's cycles from which TE and RE are acknowledged, while they are set.
    te_acknowledged: Option<u64>,
    re_acknowledged: Option<u64>,
    alarm: Alarm,
    #[state(skip)]
    signal: Option<SignalId>,
    receiving: Receiving,
    /// Requests to a DMA controller.
    dma: [DmaLine; 2],
    sent_characters: u64,
    /// The flags that raise the interrupt.
    raised_by: u32,
    /// Records the contents of the FIFOs.
    queues: Queues,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["st,stm32h7-uart", params::LOW_POWER], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Uart::new(Params::from_node(reader)))
}

impl Uart {
    /// The device after reset.
    pub fn new(mut params: Params) -> Uart {
        let dma = std::mem::take(&mut params.dma).map(DmaLine::new);
        Uart {
            params,
            control: [0; 3],
            baud: 0,
            guard_time: 0,
            timeout: 0,
            prescaler: 0,
            data: 0,
            transmitter: Transmitter::default(),
            is_unheard: false,
            complete: true,
            te_acknowledged: None,
            re_acknowledged: None,
            alarm: Alarm::default(),
            signal: None,
            receiving: Receiving::default(),
            dma,
            sent_characters: 0,
            raised_by: 0,
            queues: Queues::default(),
        }
    }

    const fn is_enabled(&self) -> bool {
        self.control[0] & CR1_UE != 0
    }

    const fn transmits(&self) -> bool {
        self.control[0] & (CR1_UE | CR1_TE) == CR1_UE | CR1_TE
    }

    const fn has_fifo(&self) -> bool {
        self.control[0] & CR1_FIFOEN != 0
    }

    const fn capacity(&self) -> usize {
        if self.has_fifo() { self.params.fifo_characters } else { 1 }
    }

    fn frame(&self) -> Option<Frame> {
        let format = if self.params.is_low_power { Frame::of_low_power } else { Frame::of };
        format(self.control[0], self.control[1], self.baud, self.prescaler)
    }

    /// The kernel clock's cycle at the time of the call.
    fn cycle(&self, ctx: &Ctx) -> u64 {
        self.params.kernel_clock.edge(ctx.now)
    }

    /// The cycle in which a write at this time has passed the synchroniser.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.params.kernel_clock.next_edge(ctx.now) + self.params.start_cycles.0
    }

    /// Updates the transmitter to the time of the call.
    fn settle(&mut self, ctx: &mut Ctx) {
        let cycle = self.cycle(ctx);
        self.receiving.settle(cycle);
        let Some(frame) = self.frame() else { return };
        loop {
            if let Some(character) = self.transmitter.sent(cycle) {
                self.sent_characters += 1;
                self.complete = self.transmitter.is_idle();
                if !std::mem::take(&mut self.is_unheard) {
                    let clock = self.params.kernel_clock.rate();
                    let end = clock.ps_at_floor(Cycles(self.transmitter.ended()));
                    ctx.character_sent(frame.data(character), &frame.format(clock), end, false);
                }
            } else if let Some((character, start)) = self.transmitter.begin(cycle, frame.cycles()) {
                self.is_unheard = !self.params.pins.carries(TX);
                self.record_begin(start);
                self.record(frame, character, start, ctx);
            } else {
                return;
            }
        }
    }

    /// The time up to which the other end of the line knows all that was sent.
    fn known(&self, now: Ps) -> Ps {
        let begun = self.frame().zip(self.transmitter.end());
        begun.map_or(now, |(frame, end)| {
            self.params.kernel_clock.rate().ps_at_floor(Cycles(end.saturating_sub(frame.cycles())))
        })
    }

    /// Records a character as an activity, and its frame's edges in the waveform.
    fn record(&self, frame: Frame, character: u16, start: u64, ctx: &mut Ctx) {
        if ctx.records(Kind::Serial) {
            let clock = self.params.kernel_clock.rate();
            let [begin, end] = [start, start + frame.cycles()].map(|cycle| clock.ps_at_floor(Cycles(cycle)));
            ctx.clocked_span(&SENT, clock, begin, end, Detail::Value(frame.data(character).into()));
        }
        let Some(signal) = self.signal.filter(|_| ctx.bus.waves.is_on() && !self.is_unheard) else { return };
        frame.edges(character, |offset, level| {
            let at = self.params.kernel_clock.rate().ps_at_floor(Cycles(start + offset));
            ctx.bus.waves.set(signal, at, level);
        });
    }

    /// Corrects the recorded end of the character on the line.
    fn correct_end(&self, ctx: &mut Ctx) {
        if self.transmitter.is_shifting()
            && let Some(end) = self.transmitter.next_change()
        {
            ctx.ends_instead(&SENT, self.params.kernel_clock.rate().ps_at_floor(Cycles(end)));
        }
    }

    fn status(&self, cycle: u64) -> u32 {
        let free = self.capacity() - self.transmitter.waiting().min(self.capacity());
        let is_past = |since: Option<u64>| since.is_some_and(|since| since <= cycle);
        let fifo = self.has_fifo();
        flag(ISR_TC, self.complete)
            | flag(ISR_TXE, free > 0)
            | flag(ISR_TEACK, is_past(self.te_acknowledged))
            | flag(ISR_REACK, is_past(self.re_acknowledged))
            | flag(ISR_TXFE, fifo && free == self.capacity())
            | flag(
                ISR_TXFT,
                fifo && 8 * free >= TXFT_EIGHTHS[(self.control[2] >> CR3_TXFTCFG) as usize] * self.capacity(),
            )
            | self.receiving.status(self.control, self.capacity())
    }

    /// The flags that request an interrupt.
    fn interrupts(&self, cycle: u64) -> u32 {
        let [cr1, _, cr3] = self.control;
        let enabled = flag(ISR_TC, cr1 & CR1_TCIE != 0)
            | flag(ISR_TXE, cr1 & CR1_TXEIE != 0)
            | flag(ISR_TXFE, cr1 & CR1_TXFEIE != 0)
            | flag(ISR_TXFT, cr3 & CR3_TXFTIE != 0)
            | receiving::enabled(cr1, cr3);
        if self.is_enabled() { self.status(cycle) & enabled } else { 0 }
    }

    /// Drives the interrupt lines, and schedules an event for the next change.
    fn update(&mut self, ctx: &mut Ctx) {
        let cycle = self.cycle(ctx);
        self.raised_by = self.interrupts(cycle);
        let level = self.raised_by != 0;
        for line in self.params.interrupts {
            ctx.set_irq(line, level);
        }
        let requests = self.dma_requests();
        for ((line, level), token) in self.dma.iter_mut().zip(requests).zip(DMA_TOKENS) {
            line.set(level, token, ctx);
        }
        if let Some(due) = self.next_change(cycle).and_then(|next| self.params.kernel_clock.due(next)) {
            self.alarm.set(due, 0, ctx);
        }
    }

    /// Levels of the DMA requests of transmission and reception.
    fn dma_requests(&self) -> [bool; 2] {
        let (enabled, cr3) = (self.is_enabled(), self.control[2]);
        let has_room = self.transmitter.waiting() < self.capacity();
        [enabled && cr3 & CR3_DMAT != 0 && has_room, enabled && cr3 & CR3_DMAR != 0 && self.receiving.has_any()]
    }

    fn next_change(&self, cycle: u64) -> Option<u64> {
        let line = self.frame().and_then(|_| self.transmitter.next_change());
        let acknowledged = [self.te_acknowledged, self.re_acknowledged].into_iter().flatten();
        let idle = self.receiving.next_change();
        line.into_iter().chain(acknowledged).chain(idle).filter(|at| *at > cycle).min()
    }

    fn send(&mut self, value: u32, ctx: &mut Ctx) {
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
        if self.transmitter.waiting() == self.capacity() {
            let what = if self.has_fifo() {
                "the full FIFO: it is lost"
            } else {
                "USART_TDR while TXE is 0: the one before it is lost"
            };
            ctx.note(&format!("a character was written to {what}"));
            if self.has_fifo() {
                return;
            }
            self.transmitter.drop_waiting();
        }
        self.params.kernel_clock.is_needed(ctx);
        self.complete = false;
        let arrival = self.arrival(ctx);
        if self.has_fifo() {
            self.queues.tx.come(self.transmitter.waiting(), ctx.now, value);
        }
        self.transmitter.put(value as u16, arrival);
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if matches!(offset, BRR | PRESC | GTPR) && self.is_enabled() && value != self.register(offset, 0) {
            note_locked("USART_BRR, USART_PRESC or USART_GTPR", ctx);
            return;
        }
        match offset {
            CR1 => self.set_cr1(value, ctx),
            CR2 => self.control[1] = value & CR2_MASK,
            CR3 => self.control[2] = value & CR3_MASK,
            BRR => self.baud = value & if self.params.is_low_power { 0xf_ffff } else { 0xffff },
            GTPR => self.guard_time = value & 0xffff,
            RTOR => self.timeout = value,
            RQR => self.request(value, ctx),
            ICR => {
                self.complete &= value & ICR_TCCF == 0;
                self.receiving.clear_flags(value);
            }
            TDR => {
                self.data = value & 0x1ff;
                self.send(self.data, ctx);
            }
            PRESC => self.prescaler = value & 0xf,
            _ => {}
        }
        if self.control[1] & CR2_UNMODELLED | self.control[2] & CR3_UNMODELLED != 0 {
            ctx.note(
                "a mode that is not modelled was enabled (USART_CR2, USART_CR3): the device works as a UART without it",
            );
        }
    }

    fn request(&mut self, value: u32, ctx: &mut Ctx) {
        if value & RQR_TXFRQ != 0 {
            self.queues.tx.clear(self.transmitter.waiting(), ctx.now, self.params.kernel_clock.rate());
            self.transmitter.drop_waiting();
        }
        if value & RQR_RXFRQ != 0 {
            self.queues.rx.clear(self.receiving.len(), ctx.now, self.params.kernel_clock.rate());
            self.receiving.flush();
        }
        if value & RQR_SBKRQ != 0 {
            ctx.note("a break (USART_RQR.SBKRQ) is not modelled: nothing is sent");
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.record_emptied(ctx);
        let kept = std::mem::replace(self, Uart::new(self.params.clone()));
        self.queues = kept.queues;
        (self.dma, self.alarm, self.signal) = (kept.dma, kept.alarm, kept.signal);
        (self.receiving, self.sent_characters) = (kept.receiving, kept.sent_characters);
        self.receiving.reset();
        self.update(ctx);
        ctx.line_changed();
    }

    fn register(&self, offset: u32, cycle: u64) -> u32 {
        match offset {
            CR1 => self.control[0],
            CR2 => self.control[1],
            CR3 => self.control[2],
            BRR => self.baud,
            GTPR => self.guard_time,
            RTOR => self.timeout,
            ISR => self.status(cycle),
            TDR => self.data,
            PRESC => self.prescaler,
            HWCFGR1 | HWCFGR2 => CONFIGURATION,
            VERR => VERSION,
            IPIDR => IDENTIFICATION,
            SIDR => SIZE_IDENTIFICATION,
            _ => 0,
        }
    }
}

impl Device for Uart {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RDR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.params.pins.follow(ctx);
        let name = ctx.bus.device_names[ctx.id.0 as usize].clone();
        self.signal = Some(ctx.bus.waves.signal(&name, "tx", true));
        self.queues.observe(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx);
            match offset {
                RDR => {
                    self.record_read(ctx);
                    let character = self.receiving.read();
                    self.update(ctx);
                    ctx.line_changed();
                    character
                }
                offset => self.register(offset, self.cycle(ctx)),
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
        let (from, to) = self.params.kernel_clock.follow(ctx);
        self.transmitter.rebase(from, to);
        self.correct_end(ctx);
        self.receiving.rebase(from, to);
        for at in self.te_acknowledged.iter_mut().chain(&mut self.re_acknowledged) {
            *at = to + at.saturating_sub(from);
        }
        self.alarm.cancel(0, ctx);
        self.update(ctx);
        ctx.line_changed();
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
        self.queues.stay(entries, self.params.kernel_clock.rate());
    }

    fn unsent(&self) -> Unsent {
        let frame = self.frame();
        let data = |character: u16| frame.as_ref().map_or(character, |frame| frame.data(character)) as u8;
        if !self.params.pins.carries(TX) {
            return Unsent::default();
        }
        let next = frame.as_ref().and_then(|_| self.transmitter.next_change());
        Unsent {
            characters: self.transmitter.characters().map(data).collect(),
            next_change: next.and_then(|cycle| self.params.kernel_clock.due(cycle)),
        }
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
    }

    fn interrupt_flags(&self) -> Option<String> {
        names_of(self.raised_by, FLAGS)
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiving.counters(vec![("tx_characters".to_owned(), self.sent_characters)])
    }
}

impl Polled for Uart {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // All changes without an access happen in events.
        let cycle = self.params.kernel_clock.edge(poll.now());
        if self.transmitter.next_change().is_some_and(|at| at <= cycle) && self.frame().is_some() {
            return false;
        }
        if let Some(due) = self.next_change(cycle).and_then(|next| self.params.kernel_clock.due(next)) {
            poll.until(due);
        }
        self.control.iter().for_each(|register| poll.state(*register));
        for register in [self.baud, self.guard_time, self.timeout, self.prescaler, self.data, self.status(cycle)] {
            poll.state(register);
        }
        self.transmitter.state(|word| poll.state(word));
        Edge::edge(&mut self.queues, poll.clock(), poll);
        self.receiving.polled(poll);
        poll.state(self.sent_characters);
        poll.state(self.params.pins.carried());
        poll.state(self.is_unheard);
        true
    }
}
