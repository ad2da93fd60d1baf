//! Tests: a port, the bus on four of its pins, and a chip that echoes.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::Bench;
use crate::ingenic::jz4740_gpio::Gpio;
use crate::support::hosted_chip::HostedChip;
use engine::bus::device::IrqLine;
use engine::time::Hz;
use engine::wire::spi::{self, Burst, ControlPin, Edges, NextClock, SpiTarget};

const PORT: DeviceId = DeviceId(0);
const BUS: DeviceId = DeviceId(1);
/// Pins of the port.
const MOSI: u32 = 8;
const SLEEP: u32 = 9;
const MISO: u32 = 10;
const SCK: u32 = 11;
const IRQ: u32 = 12;
const CS: u32 = 13;
/// How long the chip's output takes after an edge.
const DELAY: Ps = Ps(25_000);

/// A call that the chip got.
#[derive(Debug, Default)]
struct Log {
    frames: Vec<(Ps, Vec<u8>)>,
    edges: Vec<Edges>,
    /// Falling edges before the first rising one of a frame.
    first_falls: u32,
    controls: Vec<(ControlPin, bool, Ps)>,
}

/// Answers each byte with the one before it, and its interrupt is high from each frame's end until an alarm 5 us later.
#[derive(engine::state::State)]
struct Echo {
    #[state(skip)]
    log: Arc<Mutex<Log>>,
    shifted: u32,
    clocks: u32,
    /// The bit it shows, the one before it, and since when.
    shown: (bool, bool, Ps),
    ends: Option<Ps>,
}

impl Echo {
    fn show(&mut self, level: bool, now: Ps) {
        self.shown = (level, self.shown.0, now);
    }
}

impl SpiTarget for Echo {
    fn select(&mut self, now: Ps) {
        (self.shifted, self.clocks) = (0xa5, 0);
        self.show(true, now);
        self.log.lock().unwrap().frames.push((now, Vec::new()));
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.shifted = self.shifted << 1 | burst.bits & 1;
        self.clocks += 1;
        if self.clocks.is_multiple_of(8) {
            self.log.lock().unwrap().frames.last_mut().unwrap().1.push(self.shifted as u8);
        }
        self.show(self.shifted >> 7 & 1 != 0, end);
        0
    }

    fn deselect(&mut self, now: Ps) {
        self.ends = Some(now + Ps::from_us(5));
    }

    fn edges(&mut self, edges: Edges) {
        self.log.lock().unwrap().edges.push(edges);
    }

    fn falls_first(&mut self, _: Ps) {
        self.log.lock().unwrap().first_falls += 1;
    }

    fn control(&mut self, pin: ControlPin, level: bool, now: Ps) {
        self.log.lock().unwrap().controls.push((pin, level, now));
    }

    fn advance(&mut self, now: Ps) {
        self.ends = self.ends.filter(|end| *end > now);
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.ends
    }

    fn interrupt(&self) -> Option<bool> {
        Some(self.ends.is_some())
    }

    fn next_clock(&self) -> NextClock {
        let level = if self.shown.0 { spi::MISO } else { 0 };
        NextClock { driven: spi::MISO, levels: [level; 2], ..NextClock::default() }
    }

    fn next_clock_at(&self, now: Ps) -> NextClock {
        let level = if now >= self.shown.2 + DELAY { self.shown.0 } else { self.shown.1 };
        NextClock { driven: spi::MISO, levels: [if level { spi::MISO } else { 0 }; 2], ..NextClock::default() }
    }
}

impl Polled for Echo {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// Firmware with its hands on the port's registers: an access each 100 ns.
struct Hand {
    bench: Bench,
    now: Ps,
    log: Arc<Mutex<Log>>,
    /// The pins as the firmware believes them to be.
    mosi: u32,
    miso: u32,
}

fn pin(number: u32) -> Pin {
    Pin::new(PORT, number)
}

impl Hand {
    fn new(mosi: u32, miso: u32) -> Hand {
        let log = Arc::new(Mutex::new(Log::default()));
        let chip = Echo { log: log.clone(), shifted: 0, clocks: 0, shown: (false, false, Ps::ZERO), ends: None };
        let irq = IrqLine::Device { device: PORT, input: IRQ };
        let hosted = HostedChip::new(Box::new(chip), "echo".into(), Some(irq), 0).with_control(
            pin(SLEEP),
            ControlPin::Sleep,
            "sleep",
        );
        let wiring = Wiring { sck: pin(SCK), mosi: pin(MOSI), miso: pin(MISO), selects: vec![pin(CS)] };
        let bus = SpiGpio::new(wiring, Chips::new(vec![Some(hosted)]));
        let clock = Hz::new(100_000_000).unwrap();
        let port = Gpio::new(clock, Some(IrqLine::Core { core: 0, bit: 2 }));
        let mut hand = Hand { bench: Bench::new(port).as_port().and(bus), now: Ps::ZERO, log, mosi, miso };
        hand.bench.bus.device_names[BUS.0 as usize] = "spi0".into();
        for device in [PORT, BUS] {
            hand.bench.bus.with_device(device, Ps::ZERO, |device, ctx| device.reset(ctx));
        }
        hand
    }

    /// Outputs at rest in mode 0.
    fn ready(&mut self) {
        self.write(0x14, 1 << CS);
        self.write(0x18, 1 << SCK | 1 << self.mosi | 1 << SLEEP);
        self.write(0x64, 1 << CS | 1 << SCK | 1 << self.mosi | 1 << SLEEP);
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.now += Ps(100_000);
        self.bench.run(self.now);
        self.bench.write(self.now, offset, value).unwrap();
    }

    fn pins(&mut self) -> u32 {
        self.now += Ps(100_000);
        self.bench.run(self.now);
        self.bench.value(self.now, 0)
    }

    fn set(&mut self, number: u32, level: bool) {
        self.write(if level { 0x14 } else { 0x18 }, 1 << number);
    }

    fn frame(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.set(CS, false);
        let answer = bytes.iter().map(|byte| self.byte(*byte)).collect();
        self.set(CS, true);
        answer
    }

    /// A byte in mode 0.
    fn byte(&mut self, byte: u8) -> u8 {
        let (mosi, miso) = (self.mosi, self.miso);
        (0..8).rev().fold(0, |answer, bit| {
            self.set(mosi, byte >> bit & 1 != 0);
            self.set(SCK, true);
            let level = self.pins() >> miso & 1;
            self.set(SCK, false);
            answer << 1 | level as u8
        })
    }
}

#[test]
fn bytes_go_both_ways() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    assert_eq!(hand.frame(&[0x12, 0x81, 0xff, 0x00]), [0xa5, 0x12, 0x81, 0xff]);
    assert_eq!(hand.log.lock().unwrap().frames[0].1, [0x12, 0x81, 0xff, 0x00]);
    // Not selected, the chip drives nothing: the port's pull-up.
    assert_eq!(hand.pins() >> MISO & 1, 1);
    assert!(hand.bench.bus.notes().is_empty(), "{:?}", hand.bench.bus.notes());
    let counters = hand.bench.bus.devices[1].as_ref().unwrap().counters();
    assert_eq!(counters, [("sck_clocks".to_owned(), 32), ("frames".to_owned(), 1)]);
}

#[test]
fn data_that_changes_with_the_clock_counts_from_the_next_edge_on() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    hand.set(CS, false);
    for bit in (0..8).rev() {
        let mosi = (0x3c_u32 >> bit & 1) << MOSI;
        // Both up with one write: the edge sees MOSI as it was.
        hand.write(0x14, 1 << SCK | !mosi & 1 << MOSI);
        hand.write(0x18, 1 << SCK | 1 << MOSI);
    }
    hand.set(CS, true);
    assert_eq!(hand.log.lock().unwrap().frames[0].1, [0]);
}

#[test]
fn the_chip_hears_of_exact_edges() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    hand.set(CS, false);
    hand.set(MOSI, true);
    let data = hand.now;
    hand.set(SCK, true);
    let rise = hand.now;
    hand.set(MOSI, false);
    hand.set(SCK, false);
    hand.write(0x14, 1 << SCK | 1 << MOSI);
    hand.set(SCK, false);
    let edges = |data_since, first_rise, high, held| Edges { data_since, first_rise, period: Ps::ZERO, high, held };
    let access = Ps(100_000);
    let expected =
        [edges(data, rise, access + access, access), edges(rise + access, rise + Ps(300_000), access, Ps::ZERO)];
    assert_eq!(hand.log.lock().unwrap().edges, expected);
}

#[test]
fn a_clock_that_rests_high_falls_first_once_a_frame() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    hand.set(SCK, true);
    hand.set(CS, false);
    for level in [false, true, false, true] {
        hand.set(SCK, level);
    }
    hand.set(CS, true);
    let log = hand.log.lock().unwrap();
    assert_eq!((log.first_falls, log.edges.len()), (1, 2));
}

#[test]
fn data_lines_that_are_swapped_read_ones_and_drive_against_each_other() {
    let mut hand = Hand::new(MISO, MOSI);
    hand.ready();
    // The firmware's MISO is the chip's MOSI, which has no driver.
    assert_eq!(hand.frame(&[0x12, 0x00]), [0xff, 0xff]);
    assert_eq!(hand.log.lock().unwrap().frames[0].1, [0xff, 0xff]);
    let notes = hand.bench.bus.notes();
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("device0: pin 10 and what is wired to it drive against each other"), "{notes:?}");
}

#[test]
fn an_output_that_takes_its_time_reads_as_it_was_before() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    hand.set(CS, false);
    hand.set(SCK, true);
    hand.set(SCK, false);
    // The second bit of 0xa5.
    let fell = hand.now;
    assert_eq!(hand.bench.value(fell + Ps(24_999), 0) >> MISO & 1, 1);
    assert_eq!(hand.bench.value(fell + Ps(25_000), 0) >> MISO & 1, 0);
}

#[test]
fn the_interrupt_reaches_the_port_while_it_is_written_and_from_an_alarm() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    assert_eq!(hand.pins() >> IRQ & 1, 0);
    for offset in [0x64, 0x54, 0x28] {
        hand.write(offset, 1 << IRQ);
    }
    assert_eq!(hand.bench.pending(), 0);
    hand.frame(&[0x55]);
    assert_eq!((hand.pins() >> IRQ & 1, hand.bench.pending()), (1, 4));
    hand.bench.run(hand.now + Ps::from_us(5));
    hand.now += Ps::from_us(5);
    assert_eq!(hand.pins() >> IRQ & 1, 0);
    // PxFLGC.
    hand.write(0x14, 1 << IRQ);
    assert_eq!(hand.bench.pending(), 0);
}

#[test]
fn control_pins_follow_the_port() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    let ready = hand.now;
    hand.set(SLEEP, true);
    let controls = std::mem::take(&mut hand.log.lock().unwrap().controls);
    let sleep = |level, at| (ControlPin::Sleep, level, at);
    assert_eq!(controls, [sleep(true, Ps::ZERO), sleep(false, ready), sleep(true, hand.now)]);
}

#[test]
fn waveforms_show_every_edge_at_its_time() {
    let mut hand = Hand::new(MOSI, MISO);
    hand.ready();
    hand.bench.bus.wires.record_levels(&hand.bench.bus.waves);
    hand.bench.bus.waves.start();
    let start = hand.now;
    hand.frame(&[0x80]);
    let names: Vec<String> =
        hand.bench.bus.waves.signals().iter().map(|signal| format!("{}.{}", signal.scope, signal.name)).collect();
    assert_eq!(names, ["spi0.sck", "spi0.mosi", "spi0.miso", "spi0.cs0", "echo.irq", "echo.sleep"]);
    let changes = hand.bench.bus.waves.take();
    let of = |signal: u32| -> Vec<(u64, bool)> {
        let changes = changes.iter().filter(|change| change.signal == signal);
        changes.map(|change| ((change.at.0 - start.0) / 1_000, change.level)).collect()
    };
    // CS at 100 ns; of each bit MOSI, SCK up, a read, SCK down; CS again.
    assert_eq!(of(3), [(100, false), (3400, true)]);
    assert_eq!(of(0)[..4], [(300, true), (500, false), (700, true), (900, false)]);
    assert_eq!(of(0).len(), 16);
    assert_eq!(of(1), [(200, true), (600, false)]);
    // 0xa5 from the chip, 25 ns after each falling edge, though MISO was not read at that time.
    assert_eq!(of(2)[..5], [(100, false), (125, true), (525, false), (925, true), (1325, false)]);
    assert_eq!(of(4), [(3400, true)]);
}
