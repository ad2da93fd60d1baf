//! `xlnx,xps-uartlite-1.00.a`: AXI UART Lite v2.0 (PG142), a UART whose format is fixed when the core is built.
//!
//! Modelled: both FIFOs, the transmitter bit by bit (its bit clock runs freely from reset, 16 periods of the
//! divided bus clock a bit; a character keeps its place in the FIFO until its last data bit has been sent), the status
//! bits, the interrupt pulse when the transmit FIFO runs empty, and when a character comes into the empty receive FIFO.
//! A character is on the console when its stop bit has ended, and in the receive FIFO when that of a received one has.
//! Reading the empty receive FIFO is a bus error, as PG142 says (Receive Data FIFO). What is still in the transmit FIFO
//! when the firmware ends is sent all the same ([`crate::machine::ending`]).
//!
//! Not modelled: frame and parity errors, which nobody sends.

use std::collections::VecDeque;

use crate::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SerialPort, SlaveError, Unsent};
use crate::devices::model::{Group, Model};
use crate::devices::support::axi_lite::{AxiLitePort, on_lanes};
use crate::devices::support::receiver::{Receiver, WhenFull, passage};
use crate::devices::support::registers::{AccessKind, Register, flag};
use crate::dt::reader::NodeReader;
use crate::polling::Poll;
use crate::serial::Passage;
use crate::time::{Cycles, Hz, Ps};

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

/// How the core is built.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The register port; its clock is the one that the baud rate is divided from.
    pub port: AxiLitePort,
    /// Clocks of the port's clock a bit on the wire: 16 times the rounded divider.
    pub bit_clocks: u64,
    /// Data bits of a character, 5 to 8.
    pub data_bits: u64,
    /// A parity bit follows the data.
    pub parity: bool,
}

/// A character on the wire.
#[derive(Clone, Copy, Debug)]
struct Sending {
    character: u8,
    /// Number of the bit, counted from reset, that is its start bit.
    start_bit: u64,
    /// It still has its place in the FIFO.
    in_fifo: bool,
    /// Its last data bit has ended.
    data_sent: bool,
}

/// The device.
#[derive(Debug)]
pub struct Uartlite {
    params: Params,
    interrupt: Option<IrqLine>,
    tx_fifo: VecDeque<u8>,
    sending: Option<Sending>,
    receiver: Receiver,
    /// STAT_REG's, since that was read last.
    overrun: bool,
    interrupt_enabled: bool,
    /// The latest event asked for: there is one for each change of the transmitter.
    scheduled: Ps,
    sent_characters: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["xlnx,xps-uartlite-1.00.a"], 1, from_node);

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
        }
    }

    /// Brings the transmitter up to `ctx.now` and asks for an event at its next change.
    fn advance(&mut self, ctx: &mut Ctx) {
        while let Some(sending) = self.sending
            && self.next_change(sending) <= ctx.now
        {
            if sending.data_sent { self.end_stop_bit(sending, ctx) } else { self.end_data(sending, ctx) }
        }
        if let Some(sending) = self.sending {
            let due = self.next_change(sending);
            if due != self.scheduled {
                self.scheduled = due;
                ctx.schedule(due, 0);
            }
        }
    }

    fn next_change(&self, sending: Sending) -> Ps {
        let bits = if sending.data_sent { self.frame_bits() } else { 1 + self.params.data_bits };
        self.bit_edge(sending.start_bit + bits)
    }

    fn end_data(&mut self, sending: Sending, ctx: &mut Ctx) {
        self.sending = Some(Sending { data_sent: true, ..sending });
        if sending.in_fifo {
            self.tx_fifo.pop_front();
            if self.tx_fifo.is_empty() {
                self.pulse(ctx);
            }
        }
    }

    /// The interrupt is a pulse of a clock: the controller's input is edge sensitive.
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

    /// Starts on the next character, if there is one, with bit number `start_bit`.
    fn start(&mut self, start_bit: u64) {
        self.sending =
            self.tx_fifo.front().map(|&character| Sending { character, start_bit, in_fifo: true, data_sent: false });
    }

    fn push(&mut self, value: u32, ctx: &mut Ctx) -> bool {
        if self.tx_fifo.len() == FIFO_DEPTH_CHARACTERS {
            ctx.note("a character was written to the full transmit FIFO: bus error (PG142, Transmit Data FIFO)");
            return false;
        }
        self.tx_fifo.push_back((value & (0xff >> (8 - self.params.data_bits))) as u8);
        if self.sending.is_none() {
            let clocks = self.params.port.clock.cycles_until_ceil(ctx.now).0;
            self.start(clocks.div_ceil(self.params.bit_clocks));
        }
        true
    }

    fn control(&mut self, value: u32) {
        if value & CTRL_RST_TX_FIFO != 0 {
            self.tx_fifo.clear();
            // The character on the wire is finished.
            if let Some(sending) = &mut self.sending {
                sending.in_fifo = false;
            }
        }
        if value & CTRL_RST_RX_FIFO != 0 {
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

    fn bit_edge(&self, bit: u64) -> Ps {
        self.params.port.clock.ps_at_floor(Cycles(bit * self.params.bit_clocks))
    }
}

impl Device for Uartlite {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.advance(ctx);
        let value = match offset & !3 {
            RX_FIFO => match self.receiver.take() {
                Some(character) => character.into(),
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
            CTRL_REG => self.control(value),
            _ => {}
        }
        self.advance(ctx);
        Ok(reply)
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        // On another clock, each iteration's accesses would wait for other edges.
        if poll.clock() != self.params.port.clock {
            return false;
        }
        poll.state(self.interrupt_enabled);
        poll.state(self.sent_characters);
        poll.state(self.overrun);
        self.receiver.polled(poll);
        self.tx_fifo.iter().for_each(|character| poll.state(*character));
        if let Some(sending) = self.sending {
            let Sending { character, start_bit, in_fifo, data_sent } = sending;
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

    fn unsent(&self) -> Unsent {
        // Up to its last data bit, the character on the wire is the first in the FIFO.
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

impl SerialPort for Uartlite {
    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        passage(self.params.port.clock, ctx.now, self.frame_bits() * self.params.bit_clocks)
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.advance(ctx);
        let was_empty = self.receiver.is_empty();
        let character = character & (0xff >> (8 - self.params.data_bits));
        self.overrun |= !self.receiver.put(character, FIFO_DEPTH_CHARACTERS, WhenFull::Keep, ctx);
        if was_empty {
            self.pulse(ctx);
        }
    }
}

#[cfg(test)]
mod receiving_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::device::DeviceId;
    use crate::devices::bench::{Bench, read_node};
    use crate::devices::support::registers::walk;

    /// 9600 baud from 100 MHz: divider 651, a bit is 16 * 651 = 10416 clocks of 10 ns = 104.16 us.
    const BIT: u64 = 104_160_000;

    fn params(data_bits: u64, parity: bool) -> Params {
        let clock = Hz::new(100_000_000).unwrap();
        let port = AxiLitePort { clock, read_cycles: Cycles(4), write_cycles: Cycles(4) };
        Params { port, bit_clocks: 16 * baud_divider(clock, 9600), data_bits, parity }
    }

    fn uart() -> Bench {
        Bench::new(Uartlite::new(params(8, false), None))
    }

    fn look(bench: &mut Bench, cycle: u64) -> Option<Poll> {
        let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(cycle));
        let now = poll.now();
        bench.bus.with_device(DeviceId(0), now, |device, _| device.polled(&mut poll)).then_some(poll)
    }

    #[test]
    fn a_loop_that_asks_for_room_repeats_until_a_character_makes_some() {
        let mut bench = uart();
        for _ in 0..FIFO_DEPTH_CHARACTERS {
            bench.write(Ps(10_000), TX_FIFO, u32::from(b'A')).unwrap();
        }
        let before = look(&mut bench, 10).unwrap();
        assert_eq!(bench.value(Ps(110_000), STAT_REG), STAT_TX_FIFO_FULL);
        let after = look(&mut bench, 20).unwrap();
        assert!(after.repeats(&before));
        // The last data bit of the first: until then every answer is the same, and then another.
        assert_eq!(after.deadline(&before), Ps(10 * BIT));
        assert_eq!(bench.value(Ps(10 * BIT - 1), STAT_REG), STAT_TX_FIFO_FULL);
        assert!(look(&mut bench, 10 * BIT / 10_000).is_none(), "the event comes first");
        bench.run(Ps(10 * BIT));
        assert_eq!(bench.value(Ps(10 * BIT), STAT_REG), 0);
        assert!(!look(&mut bench, 10 * BIT / 10_000 + 1).unwrap().repeats(&after));
    }

    #[test]
    fn a_core_on_another_clock_skips_nothing() {
        let mut poll = Poll::look(Hz::new(50_000_000).unwrap(), Cycles(10));
        assert!(!uart().bus.with_device(DeviceId(0), Ps::from_us(1), |device, _| device.polled(&mut poll)));
    }

    #[test]
    fn an_iteration_that_sends_repeats_nothing() {
        let mut bench = uart();
        bench.write(Ps(10_000), TX_FIFO, u32::from(b'A')).unwrap();
        let before = look(&mut bench, 10).unwrap();
        bench.write(Ps(110_000), TX_FIFO, u32::from(b'A')).unwrap();
        assert!(!look(&mut bench, 20).unwrap().repeats(&before));
    }

    #[test]
    fn the_divider_is_the_nearest_one() {
        let clock = Hz::new(100_000_000).unwrap();
        // 651.04, 54.25, 27.13, and exactly 2.5 -> 2.
        for (baud, divider) in [(9600, 651), (115_200, 54), (230_400, 27), (2_500_000, 2), (6_250_000, 1)] {
            assert_eq!(baud_divider(clock, baud), divider, "{baud}");
        }
        assert_eq!(baud_divider(clock, 100_000_000), 0);
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &["RX_FIFO"], &mut uart());
    }

    #[test]
    fn an_access_takes_its_clocks() {
        let mut bench = uart();
        assert_eq!(bench.read(Ps(20_000), STAT_REG), Ok((STAT_TX_FIFO_EMPTY, Ps(60_000))));
        assert_eq!(bench.write(Ps(20_000), TX_FIFO, 0x41), Ok(Ps(60_000)));
    }

    #[test]
    fn a_character_is_printed_when_its_stop_bit_ends() {
        let mut bench = uart();
        bench.write(Ps(10_000), TX_FIFO, u32::from(b'A')).unwrap();
        // Starts with bit 1 of the free-running clock; start + 8 data bits end with bit 10, the stop bit with bit 11.
        bench.run(Ps(10 * BIT - 1));
        assert_eq!(bench.value(Ps(10 * BIT - 1), STAT_REG) & STAT_TX_FIFO_EMPTY, 0);
        bench.run(Ps(10 * BIT));
        assert_eq!(bench.value(Ps(10 * BIT), STAT_REG), STAT_TX_FIFO_EMPTY);
        bench.run(Ps(11 * BIT - 1));
        assert_eq!(bench.printed(), "");
        bench.run(Ps(11 * BIT));
        assert_eq!(bench.printed(), "A");
    }

    #[test]
    fn what_is_under_way_when_the_firmware_ends_is_sent_in_its_time() {
        let mut bench = uart();
        for character in b"abc" {
            bench.write(Ps(10_000), TX_FIFO, u32::from(*character)).unwrap();
        }
        assert_eq!(bench.bus.unsent(DeviceId(0)).characters, b"abc");
        // The last data bit of the first has gone: it is in the FIFO no more.
        assert_eq!(bench.value(Ps(10 * BIT), STAT_REG), 0);
        let unsent = bench.bus.unsent(DeviceId(0));
        assert_eq!(unsent, Unsent { characters: b"abc".to_vec(), next_change: Some(Ps(11 * BIT)) });
        // From bit 1 on, 10 bits each.
        let ends = [("a", 11), ("b", 21), ("c", 31)].map(|(text, bit)| (text.to_owned(), Ps(bit * BIT)));
        assert_eq!(bench.rest(Ps(10 * BIT)), ends);
        assert_eq!(bench.bus.unsent(DeviceId(0)), Unsent::default());
    }

    #[test]
    fn a_character_whose_fifo_was_reset_is_finished_after_the_end() {
        let mut bench = uart();
        for character in b"abc" {
            bench.write(Ps(10_000), TX_FIFO, u32::from(*character)).unwrap();
        }
        bench.write(Ps(5 * BIT), CTRL_REG, CTRL_RST_TX_FIFO).unwrap();
        bench.write(Ps(5 * BIT), TX_FIFO, u32::from(b'd')).unwrap();
        assert_eq!(bench.bus.unsent(DeviceId(0)).characters, b"ad");
        assert_eq!(bench.rest(Ps(6 * BIT)), [("a".to_owned(), Ps(11 * BIT)), ("d".to_owned(), Ps(21 * BIT))]);
    }

    #[test]
    fn parity_and_data_bits_change_the_frame() {
        let mut bench = Bench::new(Uartlite::new(params(7, true), None));
        bench.write(Ps(0), TX_FIFO, 0xc1).unwrap();
        // Start, 7 data, parity, stop: 10 bits from bit 0.
        bench.run(Ps(10 * BIT - 1));
        assert_eq!(bench.printed(), "");
        bench.run(Ps(10 * BIT));
        assert_eq!(bench.printed(), "A");
    }

    #[test]
    fn sixteen_characters_fill_the_fifo_and_leave_it_back_to_back() {
        let mut bench = uart();
        for character in b'a'..b'a' + 16 {
            assert!(bench.write(Ps(0), TX_FIFO, u32::from(character)).is_ok());
        }
        assert_eq!(bench.value(Ps(0), STAT_REG), STAT_TX_FIFO_FULL);
        assert_eq!(bench.write(Ps(0), TX_FIFO, 0x41), Err(Ps(40_000)));
        assert_eq!(bench.bus.notes().len(), 1);
        // The first character's data has ended after 9 bits: a place is free, even if no event has run yet.
        assert_eq!(bench.value(Ps(9 * BIT), STAT_REG), 0);
        bench.run(Ps(160 * BIT - 1));
        assert_eq!(bench.printed(), "abcdefghijklmno");
        bench.run(Ps(160 * BIT));
        assert_eq!(bench.printed(), "p");
    }

    #[test]
    fn an_empty_transmit_fifo_pulses_the_interrupt() {
        use crate::bus::device::DeviceId;
        use std::sync::{Arc, Mutex};

        /// What an interrupt controller sees.
        struct Edges(Arc<Mutex<Vec<(bool, Ps)>>>);
        impl Device for Edges {
            fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
                Err(SlaveError { done: ctx.now })
            }
            fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
                Err(SlaveError { done: ctx.now })
            }
            fn irq_input(&mut self, _: u32, level: bool, ctx: &mut Ctx) {
                self.0.lock().unwrap().push((level, ctx.now));
            }
        }
        let edges = Arc::default();
        let line = IrqLine::Device { device: DeviceId(1), input: 3 };
        let mut bench = Bench::new(Uartlite::new(params(8, false), Some(line))).and(Edges(Arc::clone(&edges)));
        bench.write(Ps(0), TX_FIFO, 0x41).unwrap();
        bench.run(Ps(20 * BIT));
        assert!(edges.lock().unwrap().is_empty());
        bench.write(Ps(20 * BIT), CTRL_REG, CTRL_ENABLE_INTR).unwrap();
        bench.write(Ps(20 * BIT), TX_FIFO, 0x42).unwrap();
        bench.run(Ps(40 * BIT));
        assert_eq!(*edges.lock().unwrap(), [(true, Ps(29 * BIT)), (false, Ps(29 * BIT))]);
    }

    #[test]
    fn resetting_the_fifo_drops_all_but_the_character_on_the_wire() {
        let mut bench = uart();
        for character in *b"xyz" {
            bench.write(Ps(0), TX_FIFO, u32::from(character)).unwrap();
        }
        bench.write(Ps(BIT), CTRL_REG, CTRL_RST_TX_FIFO | CTRL_RST_RX_FIFO).unwrap();
        assert_eq!(bench.value(Ps(BIT), STAT_REG), STAT_TX_FIFO_EMPTY);
        bench.write(Ps(2 * BIT), TX_FIFO, u32::from(b'!')).unwrap();
        bench.run(Ps(10 * BIT));
        assert_eq!(bench.printed(), "x");
        bench.run(Ps(20 * BIT));
        assert_eq!(bench.printed(), "!");
    }

    #[test]
    fn reading_the_empty_receive_fifo_is_a_bus_error() {
        let mut bench = uart();
        assert_eq!(bench.read(Ps(0), RX_FIFO), Err(Ps(40_000)));
    }

    #[test]
    fn a_node_says_how_the_core_is_built() {
        let format = [("current-speed", &[1_000_000][..]), ("xlnx,data-bits", &[8]), ("xlnx,use-parity", &[0])];
        let (mut bench, faults) = read_node(from_node, &format);
        assert!(faults.is_empty(), "{faults:?}");
        bench.write(Ps(0), TX_FIFO, u32::from(b'A')).unwrap();
        // Divider 6 (of 6.25): 10 bits of 96 clocks of 10 ns = 9.6 us.
        bench.run(Ps(9_599_999));
        assert_eq!(bench.printed(), "");
        bench.run(Ps(9_600_000));
        assert_eq!(bench.printed(), "A");
    }

    #[test]
    fn a_node_that_no_core_can_be_built_from_has_all_its_faults_named() {
        let (_, faults) = read_node(from_node, &[("current-speed", &[100_000_000]), ("xlnx,data-bits", &[9])]);
        assert_eq!(
            faults,
            [
                "current-speed is 100000000; the baud rate, from 1 to a sixteenth of the clock",
                "xlnx,data-bits is 9; a character has 5 to 8 data bits",
                "property 'xlnx,use-parity' is missing: 0 is no parity bit, 1 is one",
            ]
        );
    }
}
