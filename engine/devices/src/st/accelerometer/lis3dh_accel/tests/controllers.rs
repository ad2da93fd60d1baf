//! The chip on every SPI controller, driven through the controller's registers: the times of its interrupt's edges.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::{Bench, CLOCK, cells, node, phandle_of, read_tree};
use crate::ingenic::jz4740_gpio::Gpio;
use crate::{Group, Kind, entries};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, SlaveError};
use engine::dt::wiring::DeviceId;
use engine::time::Hz;

const CONTROLLER: DeviceId = DeviceId(0);
const PORT: DeviceId = DeviceId(1);
/// Pins of the port.
const SCK: u32 = 0;
const MOSI: u32 = 1;
const MISO: u32 = 2;
const CS: u32 = 3;
/// Time from the writes that select the chip to the first byte, and from byte to byte.
const BYTE: Ps = Ps::from_us(20);
/// The chip's first data comes after 1.6 ms, the next one after 1 s / 100.
const TURN_ON: Ps = Ps::from_us(1600);
const PERIOD: Ps = Ps::from_us(10_000);

/// Times and levels of a line's edges.
type Edges = Arc<Mutex<Vec<(Ps, bool)>>>;

/// The device that the chip's interrupt is connected to: it keeps the times of the edges.
#[derive(engine::state::State)]
struct Listener(#[state(skip)] Edges);

impl Device for Listener {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn irq_input(&mut self, _: u32, level: bool, ctx: &mut Ctx) {
        let mut edges = self.0.lock().unwrap();
        if edges.last().is_some_and(|(_, last)| *last) != level {
            edges.push((ctx.now, level));
        }
    }
}

impl Polled for Listener {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// How firmware sends bytes in mode 0 at 1 MHz. The controllers' clocks have 100 MHz unless a comment gives another
/// rate.
struct Driver {
    compatibles: &'static [&'static str],
    /// Sets up the controller and selects the chip, or deselects it.
    select: fn(&mut Bench, Ps, bool),
    /// Sends a byte. Returns the end of its last clock.
    byte: fn(&mut Bench, Ps, u8) -> Ps,
}

const DRIVERS: [Driver; 11] = [
    Driver {
        compatibles: &["altr,spi-1.0"],
        // SSO, for slave 0.
        select: |bench, at, on| put(bench, at, &[(0x0c, u32::from(on) << 10)]),
        byte: |bench, at, byte| {
            put(bench, at, &[(0x04, byte.into())]);
            // The byte starts 3 clocks after the access; SCK's last edge is 17 half periods later.
            at + Ps::from_ns(10 * (3 + 17 * 50))
        },
    },
    Driver {
        compatibles: &["atmel,sama5d2-qspi"],
        select: |bench, at, on| {
            if on {
                // SPI mode; the chip stays selected until LASTXFER; a period of 100 clocks; enabled.
                put(bench, at, &[(0x04, 1 << 4), (0x20, 99 << 8), (0x00, 1)]);
            } else {
                put(bench, at, &[(0x00, 1 << 24)]);
            }
        },
        byte: |bench, at, byte| {
            put(bench, at, &[(0x0c, byte.into())]);
            at + Ps::from_us(8)
        },
    },
    Driver {
        compatibles: &["cyclescope,avalonif-mmc"],
        select: |bench, at, on| {
            // The divider, for half periods of 50 clocks; nCS, with nothing to send.
            put(bench, at, &[(0x04, 49), (0x00, 1 << 9 | u32::from(!on) << 8)]);
        },
        byte: |bench, at, byte| {
            put(bench, at, &[(0x00, byte.into())]);
            // The byte is accepted with the end of the first clock; a byte takes 17 half periods.
            at + Ps::from_ns(10 * (1 + 17 * 50))
        },
    },
    // With its pins under software control: reads of the window are flash commands, which this chip does not know.
    Driver {
        compatibles: &["cyclescope,picosoc-spimemio"],
        select: |bench, at, on| picosoc_pins(bench, at, on, false, false),
        byte: |bench, at, byte| by_hand(at, byte, |at, clock, level| picosoc_pins(bench, at, true, clock, level)),
    },
    Driver {
        compatibles: &["ingenic,jz4740-ssi"],
        select: |bench, at, on| {
            // A period of 100 clocks; 8 bits; UNFIN: the frame stays open when there is no word; enabled.
            put(bench, at, &[(0x18, 49), (0x08, 6 << 4 | u32::from(on) << 23), (0x04, 1 << 15)]);
        },
        byte: |bench, at, byte| {
            put(bench, at, &[(0x00, byte.into())]);
            at + Ps::from_us(8)
        },
    },
    Driver {
        compatibles: &["spi-gpio"],
        select: |bench, at, on| {
            let outputs = 1 << CS | 1 << SCK | 1 << MOSI;
            // The clock rests low; outputs; the chip select.
            let select = if on { 0x18 } else { 0x14 };
            put_on(bench, PORT, at, &[(0x18, 1 << SCK), (0x64, outputs), (select, 1 << CS)]);
        },
        byte: |bench, at, byte| {
            by_hand(at, byte, |at, clock, level| {
                let set = |pin, level| (if level { 0x14 } else { 0x18 }, 1_u32 << pin);
                put_on(bench, PORT, at, &[set(SCK, clock), set(MOSI, level)]);
            })
        },
    },
    Driver {
        compatibles: &["st,stm32f469-qspi"],
        select: |bench, at, on| {
            // As OCTOSPI, in other registers: the prescaler is in CR, and CCR has the mode.
            put(bench, at, &[(0x04, 0x1f << 16), (0x10, u32::MAX)]);
            put(bench, at, &[(0x00, 99 << 24 | if on { 1 } else { 3 })]);
            if on {
                put(bench, at, &[(0x14, 1 << 24)]);
            }
        },
        byte: |bench, at, byte| {
            bench.run(at);
            let write =
                |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, 0x20, AccessSize::Byte, byte.into(), ctx);
            assert!(bench.bus.with_device(CONTROLLER, at, write).is_ok());
            at + Ps::from_us(8)
        },
    },
    Driver {
        compatibles: &["st,stm32-ospi"],
        select: |bench, at, on| {
            // A memory of 4 GiB, a period of 100 clocks; data on one line up to the memory's end. ABORT ends them.
            put(bench, at, &[(0x08, 0x1f << 16), (0x0c, 99), (0x40, u32::MAX), (0x100, 1 << 24)]);
            put(bench, at, &[(0x00, if on { 1 } else { 3 })]);
        },
        byte: |bench, at, byte| {
            bench.run(at);
            let write =
                |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, 0x50, AccessSize::Byte, byte.into(), ctx);
            assert!(bench.bus.with_device(CONTROLLER, at, write).is_ok());
            at + Ps::from_us(8)
        },
    },
    Driver { compatibles: &["st,stm32-spi", "st,stm32f4-spi"], select: stm32_select, byte: stm32_byte },
    Driver {
        compatibles: &["st,stm32-spi-fifo"],
        select: |bench, at, on| {
            // Frames of 8 bits, RXNE with each.
            put(bench, at, &[(0x04, 7 << 8 | 1 << 12)]);
            stm32_select(bench, at, on);
        },
        byte: stm32_byte,
    },
    Driver {
        compatibles: &["xlnx,axi-quad-spi-1.00.a", "xlnx,xps-spi-2.00.a"],
        select: |bench, at, on| {
            // SPE, Master, manual slave select.
            put(bench, at, &[(0x60, 0x86), (0x70, !u32::from(on))]);
        },
        byte: |bench, at, byte| {
            put(bench, at, &[(0x68, byte.into())]);
            // EXT_SPI_CLK has 16 MHz; the wire gets the byte after 4 clocks, and each clock of SCK takes 16.
            at + Ps((4 + 8 * 16) * 62_500)
        },
    },
];

/// Enabled as a master, NSS by software, SCK of PCLK / 128; the chip select is a pin of the port.
fn stm32_select(bench: &mut Bench, at: Ps, on: bool) {
    let select = if on { 0x18 } else { 0x14 };
    put_on(bench, PORT, at, &[(0x64, 1 << CS), (select, 1 << CS)]);
    put(bench, at, &[(0x00, 0x374)]);
}

/// Reads the byte received before, and sends a byte by a byte access.
fn stm32_byte(bench: &mut Bench, at: Ps, byte: u8) -> Ps {
    bench.run(at);
    let access = |device: &mut dyn Device, ctx: &mut Ctx| {
        _ = device.read(0, 0x0c, AccessSize::Byte, ctx);
        device.write(0, 0x0c, AccessSize::Byte, byte.into(), ctx)
    };
    assert!(bench.bus.with_device(CONTROLLER, at, access).is_ok());
    at + Ps::from_ns(10 * 8 * 128)
}

/// Writes registers of the controller, each by its offset.
fn put(bench: &mut Bench, at: Ps, writes: &[(u32, u32)]) {
    put_on(bench, CONTROLLER, at, writes);
}

fn put_on(bench: &mut Bench, device: DeviceId, at: Ps, writes: &[(u32, u32)]) {
    bench.run(at);
    for (offset, value) in writes {
        let write = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, *offset, AccessSize::Word, *value, ctx);
        assert!(bench.bus.with_device(device, at, write).is_ok(), "{offset:#x}");
    }
}

/// Sends a byte by clocks whose level and data `set` drives. Data change at the falling edge.
fn by_hand(at: Ps, byte: u8, mut set: impl FnMut(Ps, bool, bool)) -> Ps {
    for bit in 0..8 {
        let (begin, level) = (at + Ps::from_us(bit), byte << bit & 0x80 != 0);
        set(begin, false, level);
        set(begin + Ps::from_ns(500), true, level);
    }
    let end = at + Ps::from_us(8);
    set(end, false, false);
    end
}

/// The configuration register with bit 31 clear: the pins are the firmware's; IO0 is driven.
fn picosoc_pins(bench: &mut Bench, at: Ps, selected: bool, clock: bool, level: bool) {
    put(bench, at, &[(0, 1 << 8 | u32::from(!selected) << 5 | u32::from(clock) << 4 | u32::from(level))]);
}

/// The board of a controller, with the properties that any of the models needs: faults for properties that a model does
/// not know are ignored here.
fn board(driver: &Driver, compatible: &str) -> (Bench, Edges) {
    let port = phandle_of(PORT);
    let properties = vec![
        ("compatible", [compatible.as_bytes(), &[0]].concat()),
        ("reg", cells(&[0x1000, 0x100, 0x10_0000, 0x1000])),
        ("clocks", cells(&[CLOCK; 3])),
        ("clock-frequency", cells(&[1_000_000])),
        ("num-chipselects", cells(&[1])),
        ("sck-gpios", cells(&[port, SCK, 0])),
        ("mosi-gpios", cells(&[port, MOSI, 0])),
        ("miso-gpios", cells(&[port, MISO, 0])),
        ("cs-gpios", cells(&[port, CS, 0])),
        ("xlnx,sck-ratio", cells(&[16])),
        ("cyclescope,read-cycles", cells(&[2])),
        ("cyclescope,write-cycles", cells(&[2])),
        ("cyclescope,tx-sync-clocks", cells(&[4])),
        ("cyclescope,rx-sync-cycles", cells(&[4])),
    ];
    let clock = node("clock", Some(CLOCK), vec![("clock-frequency", cells(&[100_000_000]))], Vec::new());
    let gpio = vec![("compatible", b"ingenic,jz4740-gpio\0".to_vec()), ("gpio-controller", Vec::new())];
    let gpio = node("gpio", Some(port), gpio, Vec::new());
    let controller = node("controller", None, properties, vec![chip_node([0, 0, 1000])]);
    let root = node("", None, Vec::new(), vec![clock, gpio, controller]);
    let model = crate::find(compatible).unwrap().model;
    let Kind::Device(_, from_node) = model.kind else { panic!("{compatible} is no device") };
    let edges = Edges::default();
    let port = Gpio::new(Hz::new(100_000_000).unwrap(), None);
    let mut bench = Bench::boxed(read_tree(&root, from_node).0).and(port).and(Listener(edges.clone()));
    bench.bus.wires.add_port(PORT, 1);
    for id in [CONTROLLER, PORT, LISTENER] {
        bench.bus.with_device(id, Ps::ZERO, |device, ctx| device.reset(ctx));
    }
    (driver.select)(&mut bench, Ps::from_us(1), false);
    (bench, edges)
}

impl Driver {
    /// Sends a frame. Returns the end of its last clock. There are no accesses to the controller from the start of the
    /// last byte until 10 us after its end.
    fn send(&self, bench: &mut Bench, at: Ps, bytes: &[u8]) -> Ps {
        (self.select)(bench, at, true);
        let mut end = at;
        for (index, byte) in (1..).zip(bytes) {
            end = (self.byte)(bench, at + Ps(BYTE.0 * index), *byte);
        }
        (self.select)(bench, at + Ps(BYTE.0 * (bytes.len() as u64 + 1)), false);
        end
    }
}

#[test]
fn data_ready_interrupts_in_time_after_every_controller() {
    for entry in entries().iter().filter(|entry| entry.model.group == Group::Spi) {
        let compatible = entry.compatible;
        let driver = DRIVERS.iter().find(|driver| driver.compatibles.contains(&compatible)).expect(compatible);
        let (mut bench, edges) = board(driver, compatible);
        driver.send(&mut bench, Ps::from_us(10_000), &[CTRL_REG3 as u8, CTRL_REG3_I1_ZYXDA as u8]);
        let first = driver.send(&mut bench, Ps::from_us(11_000), &[CTRL_REG1 as u8, 0x57]) + TURN_ON;
        let mut expected = Vec::new();
        for ready in [first, first + PERIOD] {
            bench.run(ready + Ps::from_us(100));
            // The outputs are read in a frame that begins at a whole microsecond; the line falls with the last of them.
            let begin = Ps::from_us(ready.0 / 1_000_000 + 200);
            let read = driver.send(&mut bench, begin, &[0xe8, 0, 0, 0, 0, 0, 0]);
            expected.extend([(ready, true), (read, false)]);
        }
        assert_eq!(*edges.lock().unwrap(), expected, "{compatible}");
    }
}
