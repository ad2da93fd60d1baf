//! Tests: a bench that drives the chip with SCLK at 4 MHz, and one file a subject.

use super::air::{Others, Peer};
use super::limits::Limits;
use super::parameters::{Parameters, Times};
use super::registers::{self, IRQ_MASK, IRQ_STATUS, TRX_STATE, TRX_STATUS};
use super::states::Command;
use super::{Part, Transceiver};
use engine::time::Ps;
use engine::wire::spi::{Burst, ControlPin, Edges, Lines, SpiTarget};

mod aack;
mod accesses;
mod csma;
mod garbage;
mod interrupts;
mod nodes;
mod parts;
mod rates;
mod receiving;
mod states;
mod transmitting;
mod wire;

/// Times as the datasheet has them.
const TIMES: Times = Times {
    power_on: Ps::from_us(275),
    filter_tuning: Ps::from_us(25),
    wake_up: Ps::from_us(240),
    fall_asleep: Ps::from_us(35),
    pll_start: Ps::from_us(110),
    change: Ps::from_us(1),
    transmit_start: Ps::from_us(16),
    transmit_end: Ps::from_us(32),
    reset: Ps::from_us(37),
    channel: Ps::from_us(11),
    interrupt: Ps::from_us(9),
    measurement: Ps::from_us(140),
};

const LIMITS: Limits = [
    Ps(133_333),
    Ps::from_ns(180),
    Ps::from_ns(10),
    Ps::from_ns(10),
    Ps::from_ns(10),
    Ps::from_ns(250),
    Ps(62_500),
    Ps::from_ns(250),
    Ps::from_ns(250),
];

/// Half a period of the bench's SCLK.
const HALF: Ps = Ps::from_ns(125);

/// A controller for one chip.
struct Bench {
    chip: Transceiver,
    now: Ps,
}

impl Bench {
    /// A chip whose supply has just been switched on, and a peer that sends frames of `lengths`.
    fn cold(lengths: &[u8], interval_us: u64) -> Bench {
        Bench::of(
            Part::At86rf231,
            Peer { lengths: lengths.to_vec(), interval: Ps::from_us(interval_us), ..Peer::default() },
        )
    }

    /// A part and a peer.
    fn of(part: Part, peer: Peer) -> Bench {
        let parameters = Parameters { times: TIMES, limits: LIMITS, peer, others: Others::default() };
        Bench { chip: Transceiver::new(part, parameters), now: Ps::ZERO }
    }

    /// A chip in TRX_OFF with all interrupts on, and none pending.
    fn with(lengths: &[u8], interval_us: u64) -> Bench {
        let mut bench = Bench::cold(lengths, interval_us);
        bench.start();
        bench
    }

    /// From TX_START to the interrupt.
    fn sends_for(&mut self) -> Ps {
        self.command(Command::TX_START);
        // The command counts when its last bit has come: 425 ns before the bench lets the chip go.
        let start = self.now - Ps::from_ns(425);
        while !self.irq() {
            self.now = self.chip.wakes_at().unwrap();
            self.chip.advance(self.now);
        }
        self.now - start
    }

    /// From P_ON to TRX_OFF.
    fn start(&mut self) {
        self.wait_us(300);
        self.command(Command::TRX_OFF);
        self.write(IRQ_MASK, 0xff);
        self.wait_us(50);
        self.read(IRQ_STATUS);
    }

    /// The same, without a peer.
    fn new() -> Bench {
        Bench::with(&[], 0)
    }

    fn wait_us(&mut self, us: u64) {
        self.now += Ps::from_us(us);
        self.chip.advance(self.now);
    }

    /// A frame on the wire: what the chip shows meanwhile.
    fn access(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.now += Ps::from_ns(500);
        self.chip.select(self.now);
        self.now += Ps::from_ns(300);
        let shown = bytes.iter().map(|byte| self.byte(*byte)).collect();
        self.now += Ps::from_ns(300);
        self.chip.deselect(self.now);
        shown
    }

    fn byte(&mut self, byte: u8) -> u8 {
        let first_rise = self.now + HALF;
        let edges = Edges { data_since: self.now, first_rise, period: HALF + HALF, high: HALF, held: HALF };
        self.now += Ps(16 * HALF.0);
        self.chip.edges(edges);
        let shown = self.chip.shift(Burst::byte_out(Lines::Single, byte), self.now);
        self.now += HALF;
        shown as u8
    }

    fn read(&mut self, address: u32) -> u8 {
        self.access(&[0x80 | address as u8, 0])[1]
    }

    fn write(&mut self, address: u32, value: u8) {
        self.access(&[0xc0 | address as u8, value]);
    }

    fn command(&mut self, command: Command) {
        let codes = 0..0x20;
        let code = codes.into_iter().find(|code| Command::of(*code) == command).unwrap();
        self.write(TRX_STATE, code);
    }

    /// A command that takes its time.
    fn go(&mut self, command: Command) {
        self.command(command);
        self.wait_us(200);
    }

    fn status(&mut self) -> u8 {
        self.read(TRX_STATUS) & 0x1f
    }

    /// A frame buffer write of a PSDU.
    fn fill(&mut self, psdu: &[u8]) {
        let mut bytes = vec![0x60, psdu.len() as u8];
        bytes.extend(psdu);
        self.access(&bytes);
    }

    /// A frame buffer read: PSDU and LQI.
    fn frame(&mut self) -> (Vec<u8>, u8) {
        let length = self.access(&[0x20, 0])[1];
        let mut shown = self.access(&vec![0x20; 3 + usize::from(length)]);
        assert_eq!(shown[1], length);
        let lqi = shown.pop().unwrap();
        (shown.split_off(2), lqi)
    }

    fn control(&mut self, pin: ControlPin, level: bool) {
        self.chip.control(pin, level, self.now);
    }

    fn irq(&self) -> bool {
        self.chip.interrupt().unwrap()
    }

    fn notes(&mut self) -> Vec<String> {
        self.chip.take_notes()
    }

    fn counter(&self, name: &str) -> u64 {
        self.chip.counters().iter().find(|(known, _)| *known == name).map(|(_, value)| *value).unwrap()
    }
}
