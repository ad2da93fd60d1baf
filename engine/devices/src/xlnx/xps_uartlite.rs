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

use crate::prelude::*;
use crate::support::activities::{SENT, SERIAL_WITH_FIFOS, TX_FIFO as TX_ENTRIES};
use crate::support::axi_lite::AxiLitePort;
use crate::support::fifo_entries::Fifo;
use crate::support::serial::receiver::{Receiver, Room, WhenFull, passage};
use engine::activity::Kind;
use engine::bus::device::{SerialPort, Unsent, WhenReceived};
use engine::serial::Passage;

registers! {
    /// The register map (PG142, Register Space).
    const MAP "" {
        RX_FIFO 0x0 ro volatile mask 0xff;
        TX_FIFO 0x4 wo mask 0xff;
        STAT "STAT_REG" 0x8 ro reset 0x4 {
            RX_FIFO_VALID_DATA 0, RX_FIFO_FULL 1, TX_FIFO_EMPTY 2, TX_FIFO_FULL 3, INTR_ENABLED 4, OVERRUN_ERROR 5 rc,
            FRAME_ERROR 6, PARITY_ERROR 7
        };
        CTRL "CTRL_REG" 0xc wo { RST_TX_FIFO 0, RST_RX_FIFO 1, ENABLE_INTR 4 };
    }
}

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
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Sending {
    character: u8,
    /// The number of its start bit, counted from reset.
    start_bit: u64,
    /// True if it still has its place in the FIFO.
    in_fifo: bool,
    /// True if its last data bit has ended.
    data_sent: bool,
    /// True if it has been recorded as an activity.
    #[poll(skip = "software does not see it")]
    is_recorded: bool,
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.params.port))]
#[poll(first = Uartlite::list_change)]
pub struct Uartlite {
    #[state(skip)]
    params: Params,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    #[poll(edge = self.params.port.clock)]
    tx_fifo: Fifo<u8>,
    sending: Option<Sending>,
    receiver: Receiver,
    /// STAT_REG has the enable of the interrupt, and an overrun.
    registers: Registers,
    /// The latest event that was requested: one for each change of the transmitter.
    scheduled: Ps,
    sent_characters: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["xlnx,xps-uartlite-1.00.a"], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(MAP.rows);

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
            tx_fifo: Fifo::new(&TX_ENTRIES),
            sending: None,
            receiver: Receiver::default(),
            registers: Registers::new(&MAP),
            scheduled: Ps::ZERO,
            sent_characters: 0,
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
            self.tx_fifo.pop(self.next_change(sending), self.params.port.clock);
            if self.tx_fifo.is_empty() {
                self.pulse(ctx);
            }
        }
    }

    /// A pulse of one clock on the interrupt: the controller's input is edge sensitive.
    fn pulse(&self, ctx: &mut Ctx) {
        if self.is_interrupting() {
            ctx.set_irq(self.interrupt, true);
            ctx.set_irq(self.interrupt, false);
        }
    }

    fn is_interrupting(&self) -> bool {
        self.registers.has(STAT, STAT_INTR_ENABLED)
    }

    fn end_stop_bit(&mut self, sending: Sending, ctx: &mut Ctx) {
        ctx.console(&[sending.character]);
        self.sent_characters += 1;
        self.sending = None;
        self.start(sending.start_bit + self.frame_bits());
    }

    /// Starts the next character, if there is one, with bit number `start_bit`.
    fn start(&mut self, start_bit: u64) {
        self.sending = self.tx_fifo.front().map(|character| Sending {
            character,
            start_bit,
            in_fifo: true,
            data_sent: false,
            is_recorded: false,
        });
    }

    fn push(&mut self, value: u32, ctx: &mut Ctx) {
        let character = (value & (0xff >> (8 - self.params.data_bits))) as u8;
        self.tx_fifo.push(character, self.edge(ctx.now));
        if self.sending.is_none() {
            let clocks = self.params.port.clock.cycles_until_ceil(ctx.now).0;
            self.start(clocks.div_ceil(self.params.bit_clocks));
        }
    }

    fn pop(&mut self, ctx: &Ctx) -> u32 {
        self.receiver.take(self.edge(ctx.now), self.params.port.clock).map_or(0, u32::from)
    }

    fn control(&mut self, value: u32, now: Ps) {
        let (clock, at) = (self.params.port.clock, self.edge(now));
        if value & CTRL_RST_TX_FIFO != 0 {
            self.tx_fifo.clear(at, clock);
            // The character on the wire is completed.
            if let Some(sending) = &mut self.sending {
                sending.in_fifo = false;
            }
        }
        if value & CTRL_RST_RX_FIFO != 0 {
            self.receiver.clear(at, clock);
        }
        self.registers.put(STAT, STAT_INTR_ENABLED, value & CTRL_ENABLE_INTR != 0);
    }

    fn is_full(&self) -> bool {
        self.tx_fifo.len() == FIFO_DEPTH_CHARACTERS
    }

    fn status(&self, held: u32) -> u32 {
        held & (STAT_INTR_ENABLED | STAT_OVERRUN_ERROR)
            | flag(STAT_TX_FIFO_EMPTY, self.tx_fifo.is_empty())
            | flag(STAT_TX_FIFO_FULL, self.is_full())
            | flag(STAT_RX_FIFO_VALID_DATA, !self.receiver.is_empty())
            | flag(STAT_RX_FIFO_FULL, self.receiver.len() == FIFO_DEPTH_CHARACTERS)
    }

    /// Lists the next change. False if its event has to come first.
    fn list_change(&mut self, poll: &mut Poll) -> bool {
        let change = self.sending.map(|sending| self.next_change(sending));
        change.into_iter().for_each(|at| poll.until(at));
        // With another clock, each iteration's accesses would wait for other edges.
        poll.clock() == self.params.port.clock && change.is_none_or(|at| at > poll.now())
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

impl Table for Uartlite {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn error(&self, register: u32, is_write: bool) -> Option<&'static str> {
        match register {
            RX_FIFO if !is_write && self.receiver.is_empty() => {
                Some("the empty receive FIFO was read: bus error (PG142, Receive Data FIFO)")
            }
            TX_FIFO if is_write && self.is_full() => {
                Some("a character was written to the full transmit FIFO: bus error (PG142, Transmit Data FIFO)")
            }
            _ => None,
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            RX_FIFO => self.pop(ctx),
            STAT => self.status(held),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        match register {
            TX_FIFO => self.push(new, ctx),
            CTRL => self.control(new, ctx.now),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }
}

impl Device for Uartlite {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RX_FIFO
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.tx_fifo.observe(ctx);
        self.receiver.observe(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn finish(&mut self, _now: Ps) {
        self.tx_fifo.stay(self.params.port.clock);
        self.receiver.stay(self.params.port.clock);
    }

    fn unsent(&self) -> Unsent {
        // Up to the end of its last data bit, the character on the wire is the first in the FIFO.
        let apart = self.sending.filter(|sending| sending.data_sent || !sending.in_fifo);
        let characters = apart.map(|sending| sending.character).into_iter().chain(self.tx_fifo.iter());
        Unsent { characters: characters.collect(), next_change: self.sending.map(|sending| self.next_change(sending)) }
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiver.counters(self.sent_characters)
    }
}

impl SerialPort for Uartlite {
    fn when_received(&self) -> WhenReceived {
        WhenReceived::raises(self.is_interrupting(), self.interrupt)
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        passage(self.params.port.clock, ctx.now, self.frame_bits() * self.params.bit_clocks)
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.advance(ctx);
        let was_empty = self.receiver.is_empty();
        let character = character & (0xff >> (8 - self.params.data_bits));
        let recorded = Some((self.edge(ctx.now), self.params.port.clock));
        let room = Room { characters: FIFO_DEPTH_CHARACTERS, when_full: WhenFull::Keep, recorded };
        let has_room = self.receiver.put(character, room, ctx);
        self.registers.put(STAT, flag(STAT_OVERRUN_ERROR, !has_room), true);
        if was_empty {
            self.pulse(ctx);
        }
    }
}

#[cfg(test)]
mod tests;
