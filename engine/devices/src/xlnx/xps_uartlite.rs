//! `xlnx,xps-uartlite-1.00.a`: AXI UART Lite v2.0 (PG142), a UART whose format is fixed when the core is built.
//!
//! Modelled: both FIFOs, the transmitter bit by bit (its bit clock runs freely from reset, 16 periods of the divided
//! bus clock a bit; a character keeps its place in the FIFO until its last data bit has been sent), the status bits,
//! the interrupt pulse when the transmit FIFO becomes empty, and when a character arrives in the empty receive FIFO. A
//! character is on the console, or in the receive FIFO, when its stop bit has ended. Reading the empty receive FIFO is
//! a bus error, as PG142 specifies (Receive Data FIFO). Characters in the transmit FIFO when the firmware ends are sent
//! nevertheless.
//!
//! Not modelled: frame and parity errors, which the other end never causes.

use std::collections::VecDeque;

use crate::model::{Group, Model};
use crate::support::activities::{SENT, SERIAL_WITH_FIFOS};
use crate::support::axi_lite::{AxiLitePort, on_lanes};
use crate::support::fifo_entries::Queues;
use crate::support::receiver::{Receiver, WhenFull, passage};
use crate::support::registers::{AccessKind, Register, flag};
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SerialPort, SlaveError, Unsent, WhenReceived};
use engine::dt::reader::NodeReader;
use engine::polling::{Edge, Poll, Polled};
use engine::serial::Passage;
use engine::state::{Fresh, State};
use engine::time::{Cycles, Hz, Ps};

/// The register map (PG142, Register Space).
pub const REGISTERS: &[Register] = &[
    Register::new("RX_FIFO", 0x0, AccessKind::Ro, 0, 0xff),
    Register::new("TX_FIFO", 0x4, AccessKind::Wo, 0, 0xff),
    Register::new("STAT_REG", 0x8, AccessKind::Ro, STAT_TX_FIFO_EMPTY, 0xff),
    Register::new("CTRL_REG", 0xc, AccessKind::Wo, 0, CTRL_RST_TX_FIFO | CTRL_RST_RX_FIFO | CTRL_ENABLE_INTR),
];

const RX_FIFO: u32 = 0x0;
const TX_FIFO: u32 = 0x4;
const STAT_REG: u32 = 0x8;
const CTRL_REG: u32 = 0xc;

const STAT_RX_FIFO_VALID_DATA: u32 = 1 << 0;
const STAT_RX_FIFO_FULL: u32 = 1 << 1;
const STAT_TX_FIFO_EMPTY: u32 = 1 << 2;
const STAT_TX_FIFO_FULL: u32 = 1 << 3;
const STAT_INTR_ENABLED: u32 = 1 << 4;
const STAT_OVERRUN_ERROR: u32 = 1 << 5;

const CTRL_RST_TX_FIFO: u32 = 1 << 0;
const CTRL_RST_RX_FIFO: u32 = 1 << 1;
const CTRL_ENABLE_INTR: u32 = 1 << 4;

const FIFO_DEPTH_CHARACTERS: usize = 16;

/// The core's configuration.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The register port; the baud rate is divided from its clock.
    pub port: AxiLitePort,
    /// Clocks of the port of a bit on the wire: 16 times the rounded divider.
    pub bit_clocks: u64,
    /// Data bits of a character, 5 to 8.
    pub data_bits: u64,
    /// A parity bit follows the data.
    pub parity: bool,
}

/// A character on the wire.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Sending {
    character: u8,
    /// The number of its start bit, counted from reset.
    start_bit: u64,
    /// True if it still has its place in the FIFO.
    in_fifo: bool,
    /// True if its last data bit has ended.
    data_sent: bool,
    /// True if it has been recorded as an activity.
    is_recorded: bool,
}

/// The device.
#[derive(Debug, State)]
pub struct Uartlite {
    #[state(skip)]
    params: Params,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    tx_fifo: VecDeque<u8>,
    sending: Option<Sending>,
    receiver: Receiver,
    /// STAT_REG's overrun, since it was last read.
    overrun: bool,
    interrupt_enabled: bool,
    /// The latest event that was requested: one for each change of the transmitter.
    scheduled: Ps,
    sent_characters: u64,
    /// The entries of the FIFOs, for recording.
    queues: Queues,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["xlnx,xps-uartlite-1.00.a"], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let speed = reader.u32(
        "current-speed",
        |baud| baud > 0 && baud_divider(port.clock, baud) > 0,
        "the baud rate, from 1 to a sixteenth of the clock",
    );
    let params = Params {
        port,
        bit_clocks: 16 * baud_divider(port.clock, speed.max(1)),
        data_bits: reader.u32("xlnx,data-bits", 5..=8, "a character has 5 to 8 data bits").into(),
        parity: reader.u32("xlnx,use-parity", 0..=1, "0 is no parity bit, 1 is one") == 1,
    };
    reader.u32_or("xlnx,odd-parity", 0, 0..=1, "0 is even, 1 is odd parity");
    reader.u32_or("port-number", 0, 0..=255, "the number of the serial port is 0 to 255");
    Box::new(Uartlite::new(params, reader.interrupt(0, "its interrupt")))
}

/// Divider from the clock to sixteen times the baud rate, to the nearest; a half goes down.
const fn baud_divider(clock: Hz, baud: u32) -> u64 {
    (clock.get() + 8 * baud as u64 - 1) / (16 * baud as u64)
}

impl Uartlite {
    /// The device after reset.
    pub fn new(params: Params, interrupt: Option<IrqLine>) -> Uartlite {
        Uartlite {
            params,
            interrupt,
            tx_fifo: VecDeque::with_capacity(FIFO_DEPTH_CHARACTERS),
            sending: None,
            receiver: Receiver::default(),
            overrun: false,
            interrupt_enabled: false,
            scheduled: Ps::ZERO,
            sent_characters: 0,
            queues: Queues::default(),
        }
    }

    /// Brings the transmitter up to `ctx.now` and requests an event at its next change.
    fn advance(&mut self, ctx: &mut Ctx) {
        while let Some(sending) = self.sending
            && self.next_change(sending) <= ctx.now
        {
            if sending.data_sent { self.end_stop_bit(sending, ctx) } else { self.end_data(sending, ctx) }
        }
        if let Some(sending) = self.sending {
            self.record(sending, ctx);
            let due = self.next_change(sending);
            if due != self.scheduled {
                self.scheduled = due;
                ctx.schedule(due, 0);
            }
        }
    }

    /// Records the character, once.
    fn record(&mut self, sending: Sending, ctx: &mut Ctx) {
        if !sending.is_recorded && ctx.records(Kind::Serial) {
            self.sending = Some(Sending { is_recorded: true, ..sending });
            let begin = self.bit_edge(sending.start_bit);
            let end = self.bit_edge(sending.start_bit + self.frame_bits());
            let detail = Detail::Value(sending.character.into());
            ctx.clocked_span(&SENT, self.params.port.clock, begin, end, detail);
        }
    }

    fn next_change(&self, sending: Sending) -> Ps {
        let bits = if sending.data_sent { self.frame_bits() } else { 1 + self.params.data_bits };
        self.bit_edge(sending.start_bit + bits)
    }

    fn end_data(&mut self, sending: Sending, ctx: &mut Ctx) {
        self.sending = Some(Sending { data_sent: true, ..sending });
        if sending.in_fifo {
            self.queues.tx.leave(self.tx_fifo.len(), self.next_change(sending), self.params.port.clock);
            self.tx_fifo.pop_front();
            if self.tx_fifo.is_empty() {
                self.pulse(ctx);
            }
        }
    }

    /// A pulse of one clock on the interrupt: the controller's input is edge sensitive.
    fn pulse(&self, ctx: &mut Ctx) {
        if self.interrupt_enabled {
            ctx.set_irq(self.interrupt, true);
            ctx.set_irq(self.interrupt, false);
        }
    }

    fn end_stop_bit(&mut self, sending: Sending, ctx: &mut Ctx) {
        ctx.console(&[sending.character]);
        self.sent_characters += 1;
        self.sending = None;
        self.start(sending.start_bit + self.frame_bits());
    }

    /// Starts the next character, if there is one, with bit number `start_bit`.
    fn start(&mut self, start_bit: u64) {
        self.sending = self.tx_fifo.front().map(|&character| Sending {
            character,
            start_bit,
            in_fifo: true,
            data_sent: false,
            is_recorded: false,
        });
    }

    fn push(&mut self, value: u32, ctx: &mut Ctx) -> bool {
        if self.tx_fifo.len() == FIFO_DEPTH_CHARACTERS {
            ctx.note("a character was written to the full transmit FIFO: bus error (PG142, Transmit Data FIFO)");
            return false;
        }
        let character = (value & (0xff >> (8 - self.params.data_bits))) as u8;
        self.queues.tx.come(self.tx_fifo.len(), self.edge(ctx.now), character.into());
        self.tx_fifo.push_back(character);
        if self.sending.is_none() {
            let clocks = self.params.port.clock.cycles_until_ceil(ctx.now).0;
            self.start(clocks.div_ceil(self.params.bit_clocks));
        }
        true
    }

    fn control(&mut self, value: u32, now: Ps) {
        let (clock, at) = (self.params.port.clock, self.edge(now));
        if value & CTRL_RST_TX_FIFO != 0 {
            self.queues.tx.clear(self.tx_fifo.len(), at, clock);
            self.tx_fifo.clear();
            // The character on the wire is completed.
            if let Some(sending) = &mut self.sending {
                sending.in_fifo = false;
            }
        }
        if value & CTRL_RST_RX_FIFO != 0 {
            self.queues.rx.clear(self.receiver.len(), at, clock);
            self.receiver.clear();
        }
        self.interrupt_enabled = value & CTRL_ENABLE_INTR != 0;
    }

    fn status(&self) -> u32 {
        flag(STAT_TX_FIFO_EMPTY, self.tx_fifo.is_empty())
            | flag(STAT_TX_FIFO_FULL, self.tx_fifo.len() == FIFO_DEPTH_CHARACTERS)
            | flag(STAT_INTR_ENABLED, self.interrupt_enabled)
            | flag(STAT_RX_FIFO_VALID_DATA, !self.receiver.is_empty())
            | flag(STAT_RX_FIFO_FULL, self.receiver.len() == FIFO_DEPTH_CHARACTERS)
            | flag(STAT_OVERRUN_ERROR, self.overrun)
    }

    /// Bits of a character on the wire: start, data, parity, stop.
    fn frame_bits(&self) -> u64 {
        1 + self.params.data_bits + u64::from(self.params.parity) + 1
    }

    /// The edge of the port's clock at which it takes an access that arrives at `now`.
    fn edge(&self, now: Ps) -> Ps {
        self.params.port.clock.edge_at_or_after(now)
    }

    fn bit_edge(&self, bit: u64) -> Ps {
        self.params.port.clock.ps_at_floor(Cycles(bit * self.params.bit_clocks))
    }
}

impl Device for Uartlite {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RX_FIFO
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.queues.observe(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.advance(ctx);
        let value = match offset & !3 {
            RX_FIFO => match self.receiver.take() {
                Some(character) => {
                    self.queues.rx.leave(self.receiver.len() + 1, self.edge(ctx.now), self.params.port.clock);
                    character.into()
                }
                None => {
                    ctx.note("the empty receive FIFO was read: bus error (PG142, Receive Data FIFO)");
                    return Err(SlaveError { done: self.params.port.read(0, offset, size, ctx.now).done });
                }
            },
            STAT_REG => {
                let status = self.status();
                self.overrun = false;
                status
            }
            _ => 0,
        };
        Ok(self.params.port.read(value, offset, size, ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.advance(ctx);
        let value = on_lanes(value, offset, size);
        let reply = self.params.port.written(ctx.now);
        match offset & !3 {
            TX_FIFO if !self.push(value, ctx) => return Err(SlaveError { done: reply.done }),
            CTRL_REG => self.control(value, ctx.now),
            _ => {}
        }
        self.advance(ctx);
        Ok(reply)
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn finish(&mut self, _now: Ps) {
        self.queues.stay((self.tx_fifo.len(), self.receiver.len()), self.params.port.clock);
    }

    fn unsent(&self) -> Unsent {
        // Up to the end of its last data bit, the character on the wire is the first in the FIFO.
        let apart = self.sending.filter(|sending| sending.data_sent || !sending.in_fifo);
        let characters = apart.map(|sending| sending.character).into_iter().chain(self.tx_fifo.iter().copied());
        Unsent { characters: characters.collect(), next_change: self.sending.map(|sending| self.next_change(sending)) }
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiver.counters(vec![("tx_characters".to_owned(), self.sent_characters)])
    }
}

impl Polled for Uartlite {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // With another clock, each iteration's accesses would wait for other edges.
        if poll.clock() != self.params.port.clock {
            return false;
        }
        poll.state(self.interrupt_enabled);
        poll.state(self.sent_characters);
        poll.state(self.overrun);
        Edge::edge(&mut self.queues, self.params.port.clock, poll);
        self.receiver.polled(poll);
        self.tx_fifo.iter().for_each(|character| poll.state(*character));
        if let Some(sending) = self.sending {
            let Sending { character, start_bit, in_fifo, data_sent, .. } = sending;
            poll.state(start_bit);
            poll.state(character);
            poll.state(in_fifo);
            poll.state(data_sent);
            let change = self.next_change(sending);
            poll.until(change);
            // An event has to come first.
            return change > poll.now();
        }
        true
    }
}

impl SerialPort for Uartlite {
    fn when_received(&self) -> WhenReceived {
        WhenReceived::raises(self.interrupt_enabled, self.interrupt)
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        passage(self.params.port.clock, ctx.now, self.frame_bits() * self.params.bit_clocks)
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.advance(ctx);
        let was_empty = self.receiver.is_empty();
        let character = character & (0xff >> (8 - self.params.data_bits));
        let before = self.receiver.len();
        let has_room = self.receiver.put(character, FIFO_DEPTH_CHARACTERS, WhenFull::Keep, ctx);
        self.overrun |= !has_room;
        if has_room {
            self.queues.rx.come(before, self.edge(ctx.now), character.into());
        }
        if was_empty {
            self.pulse(ctx);
        }
    }
}

#[cfg(test)]
mod tests;
