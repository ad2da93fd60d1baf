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
use crate::support::activities::SERIAL_WITH_FIFOS;
use crate::support::axi_lite::AxiLitePort;
use crate::support::kernel_clock::KernelClock;
use crate::support::serial::line::Line;
use crate::support::serial::receiver::{Room, WhenFull};
use crate::support::serial::{Serial, Transceiver};

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

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.params.port))]
#[poll(first = Uartlite::look)]
pub struct Uartlite {
    #[state(skip)]
    params: Params,
    line: Line,
    /// STAT_REG has the enable of the interrupt, and an overrun.
    registers: Registers,
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
    Box::new(Uartlite::device(params, reader.interrupt(0, "its interrupt")))
}

/// Divider from the clock to sixteen times the baud rate, to the nearest; a half goes down.
const fn baud_divider(clock: Hz, baud: u32) -> u64 {
    (clock.get() + 8 * baud as u64 - 1) / (16 * baud as u64)
}

impl Uartlite {
    /// The device after reset.
    pub fn device(params: Params, interrupt: Option<IrqLine>) -> Serial<Uartlite> {
        let mut line = Line::new(KernelClock::new(params.port.clock.into()), interrupt);
        line.place_cycles = (1 + params.data_bits) * params.bit_clocks;
        Serial(Uartlite { params, line, registers: Registers::new(&MAP) })
    }

    /// A pulse of one clock on the interrupt: the controller's input is edge sensitive.
    fn pulse(&self, ctx: &mut Ctx) {
        if self.announces() {
            [true, false].into_iter().for_each(|level| ctx.set_irq(self.line.interrupts[0], level));
        }
    }

    fn push(&mut self, value: u32, now: Ps) {
        let character = value & (0xff >> (8 - self.params.data_bits));
        // The bit clock runs freely.
        let bit = self.line.clock.next_edge(now).div_ceil(self.params.bit_clocks);
        self.line.put(character as u16, bit * self.params.bit_clocks, Some(self.edge(now)));
    }

    fn control(&mut self, value: u32, now: Ps) {
        let at = self.edge(now);
        if value & CTRL_RST_TX_FIFO != 0 {
            // The character on the wire is completed.
            self.line.drop_waiting(at);
        }
        if value & CTRL_RST_RX_FIFO != 0 {
            self.line.drop_received(at);
        }
        self.registers.put(STAT, STAT_INTR_ENABLED, value & CTRL_ENABLE_INTR != 0);
    }

    fn is_full(&self) -> bool {
        self.line.waiting() == FIFO_DEPTH_CHARACTERS
    }

    fn status(&self, held: u32) -> u32 {
        held & (STAT_INTR_ENABLED | STAT_OVERRUN_ERROR)
            | flag(STAT_TX_FIFO_EMPTY, self.line.waiting() == 0)
            | flag(STAT_TX_FIFO_FULL, self.is_full())
            | flag(STAT_RX_FIFO_VALID_DATA, !self.line.receiver.is_empty())
            | flag(STAT_RX_FIFO_FULL, self.line.receiver.len() == FIFO_DEPTH_CHARACTERS)
    }

    /// With another clock, each iteration's accesses would wait for other edges.
    fn look(&mut self, poll: &mut Poll) -> bool {
        poll.clock() == self.params.port.clock && self.list_changes(poll)
    }

    /// The edge of the port's clock at which it takes an access that arrives at `now`.
    fn edge(&self, now: Ps) -> Ps {
        self.params.port.clock.edge_at_or_after(now)
    }
}

impl Table for Uartlite {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn error(&self, register: u32, is_write: bool) -> Option<&'static str> {
        match register {
            RX_FIFO if !is_write && self.line.receiver.is_empty() => {
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
            RX_FIFO => self.line.take(self.edge(ctx.now)).map_or(0, u32::from),
            STAT => self.status(held),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        match register {
            TX_FIFO => self.push(new, ctx.now),
            CTRL => self.control(new, ctx.now),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.refresh(ctx);
    }
}

impl Transceiver for Uartlite {
    fn line(&self) -> &Line {
        &self.line
    }

    fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    fn pops(&self, register: u32) -> bool {
        register == RX_FIFO
    }

    /// Start bit, data, parity, stop bit.
    fn character_cycles(&self) -> Option<u64> {
        Some((1 + self.params.data_bits + u64::from(self.params.parity) + 1) * self.params.bit_clocks)
    }

    fn data_bits(&self) -> u32 {
        self.params.data_bits as u32
    }

    fn room(&self, now: Ps) -> Room {
        let recorded = Some((self.edge(now), self.params.port.clock));
        Room { characters: FIFO_DEPTH_CHARACTERS, when_full: WhenFull::Keep, recorded }
    }

    fn announces(&self) -> bool {
        self.registers.has(STAT, STAT_INTR_ENABLED)
    }

    fn left(&mut self, ctx: &mut Ctx) {
        if self.line.waiting() == 0 {
            self.pulse(ctx);
        }
    }

    fn received(&mut self, had_room: bool, ctx: &mut Ctx) {
        self.registers.put(STAT, flag(STAT_OVERRUN_ERROR, !had_room), true);
        if self.line.receiver.len() == 1 {
            self.pulse(ctx);
        }
    }
}

#[cfg(test)]
mod tests;
