//! Tests: a port, the bus on two of its pins, and firmware that bit-bangs.

use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::{Bench, cells, node, phandle_of, read_tree};
use crate::ingenic::jz4740_gpio::Gpio;
use crate::support::hosted_chip::Hosted;
use engine::bus::device::{DeviceId, IrqLine};
use engine::time::Hz;
use engine::wire::i2c::{Answer, Direction, Given, I2cTarget};

const PORT: DeviceId = DeviceId(0);
const BUS: DeviceId = DeviceId(1);
const SCL: u32 = 3;
const SDA: u32 = 7;
/// The port's pins, and the registers that make one an output, an input, and switch its pull-up off.
const PIN: u32 = 0x00;
const DAT_SET: u32 = 0x14;
const PE_SET: u32 = 0x34;
const DIR_SET: u32 = 0x64;
const DIR_CLEAR: u32 = 0x68;
/// Between accesses of the firmware.
const STEP: Ps = Ps::from_us(1);

type Calls = Arc<Mutex<Vec<String>>>;

/// Takes bytes, but refuses 0xee; gives 0x5a and then 0xc3, the second after a stretched clock.
#[derive(engine::state::State)]
struct Chip {
    #[state(skip)]
    calls: Calls,
    given: u8,
    stretch: Ps,
}

impl Chip {
    fn keep(&self, what: impl Into<String>) {
        self.calls.lock().unwrap().push(what.into());
    }
}

impl I2cTarget for Chip {
    fn address(&mut self, direction: Direction, _: Ps) -> Answer {
        self.keep(format!("{direction:?}"));
        Answer::ACK
    }

    fn write(&mut self, byte: u8, _: Ps) -> Answer {
        self.keep(format!("{byte:#x}"));
        if byte == 0xee { Answer::NACK } else { Answer::ACK.stretched(self.stretch) }
    }

    fn read(&mut self, _: Ps) -> Given {
        self.given = if self.given == 0x5a { 0xc3 } else { 0x5a };
        Given::byte(self.given).stretched(self.stretch)
    }

    fn acknowledged(&mut self, ack: bool, _: Ps) {
        self.keep(if ack { "ack" } else { "nack" });
    }

    fn repeated_start(&mut self, _: Ps) {
        self.keep("repeated start");
    }

    fn stop(&mut self, _: Ps) {
        self.keep("stop");
    }
}

/// Firmware with its hands on the port's registers.
struct Hand {
    bench: Bench,
    now: Ps,
    calls: Calls,
}

impl Hand {
    fn new(stretch: Ps) -> Hand {
        let calls = Calls::default();
        let chip: Box<dyn I2cTarget> = Box::new(Chip { calls: Arc::clone(&calls), given: 0, stretch });
        let chips = I2cChips::new(vec![(0x48, Hosted::new(chip, "chip".into(), None, 0))]);
        let [scl, sda] = [SCL, SDA].map(|number| Pin::new(PORT, number));
        let bus = I2cGpio::new(scl, sda, chips);
        let port = Gpio::new(Hz::new(100_000_000).unwrap(), Some(IrqLine::Core { core: 0, bit: 2 }));
        let mut hand = Hand { bench: Bench::new(port).as_port().and(bus), now: Ps::ZERO, calls };
        for device in [PORT, BUS] {
            hand.bench.bus.with_device(device, Ps::ZERO, |device, ctx| device.reset(ctx));
        }
        // The port has no pull-ups on: the board's have to do.
        hand.write(PE_SET, u32::MAX);
        hand
    }

    fn write(&mut self, register: u32, pins: u32) {
        self.now += STEP;
        self.bench.run(self.now);
        self.bench.write(self.now, register, pins).unwrap();
    }

    fn level(&mut self, pin: u32) -> bool {
        self.now += STEP;
        self.bench.run(self.now);
        self.bench.value(self.now, PIN) >> pin & 1 != 0
    }

    fn set(&mut self, pin: u32, level: bool) {
        self.write(if level { DIR_CLEAR } else { DIR_SET }, 1 << pin);
    }

    /// Lets SCL go and waits until it is high.
    fn raise_clock(&mut self) {
        self.set(SCL, true);
        while !self.level(SCL) {}
    }

    fn start(&mut self) {
        self.set(SDA, true);
        self.raise_clock();
        self.set(SDA, false);
        self.set(SCL, false);
    }

    fn stop(&mut self) {
        self.set(SDA, false);
        self.raise_clock();
        self.set(SDA, true);
    }

    fn bit(&mut self, level: bool) -> bool {
        self.set(SDA, level);
        self.raise_clock();
        let level = self.level(SDA);
        self.set(SCL, false);
        level
    }

    fn send(&mut self, byte: u8) -> bool {
        (0..8).for_each(|bit| assert_eq!(self.bit(byte << bit & 0x80 != 0), byte << bit & 0x80 != 0));
        !self.bit(true)
    }

    fn receive(&mut self, ack: bool) -> u8 {
        let byte = (0..8).fold(0, |byte, _| byte << 1 | u8::from(self.bit(true)));
        self.bit(!ack);
        byte
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

#[test]
fn firmware_that_bit_bangs_reaches_the_chip() {
    for stretch in [Ps::ZERO, Ps::from_ns(12_345)] {
        let mut hand = Hand::new(stretch);
        hand.start();
        assert!(hand.send(0x90));
        assert!(hand.send(0x17));
        assert!(!hand.send(0xee));
        hand.start();
        assert!(hand.send(0x91));
        assert_eq!((hand.receive(true), hand.receive(false)), (0x5a, 0xc3));
        hand.stop();
        let expected = ["Write", "0x17", "0xee", "repeated start", "Read", "ack", "nack", "stop"];
        assert_eq!(hand.calls(), expected);
        // Both lines are free.
        assert_eq!((hand.level(SCL), hand.level(SDA)), (true, true));
        assert_eq!(hand.bench.bus.notes().len(), 0);
        let counters = hand.bench.bus.devices[1].as_ref().unwrap().counters();
        assert_eq!(counters, [("frames".to_owned(), 2), ("bytes".to_owned(), 6)]);
    }
}

#[test]
fn nobody_answers_to_another_address() {
    let mut hand = Hand::new(Ps::ZERO);
    hand.start();
    assert!(!hand.send(0x92));
    assert_eq!(hand.receive(true), 0xff);
    hand.stop();
    assert!(hand.calls().is_empty());
}

#[test]
fn a_stretched_clock_is_low_for_its_time() {
    let mut hand = Hand::new(Ps::from_us(50));
    hand.start();
    hand.send(0x90);
    for _ in 0..8 {
        hand.bit(true);
    }
    let fell = hand.now;
    hand.set(SCL, true);
    for (us, level) in [(49, false), (50, true)] {
        let at = fell + Ps::from_us(us);
        hand.bench.run(at);
        assert_eq!(hand.bench.value(at, PIN) >> SCL & 1 != 0, level, "{us} us");
    }
}

#[test]
fn a_line_that_is_driven_high_against_a_chip_is_noted() {
    let mut hand = Hand::new(Ps::ZERO);
    hand.start();
    for bit in 0..8 {
        hand.bit(0x90u8 << bit & 0x80 != 0);
    }
    // The chip acknowledges; the firmware drives SDA high.
    hand.write(DAT_SET, 1 << SDA);
    hand.set(SDA, false);
    assert!(!hand.level(SDA));
    assert_eq!(hand.bench.bus.notes().len(), 1);
}

#[test]
fn a_node_names_two_pins_and_its_chips() {
    let port = node(
        "gpio",
        Some(phandle_of(PORT)),
        vec![
            ("compatible", b"ingenic,jz4740-gpio\0".to_vec()),
            ("gpio-controller", Vec::new()),
            ("#gpio-cells", cells(&[2])),
        ],
        Vec::new(),
    );
    let pin = |number: u32| cells(&[phandle_of(PORT), number, 6]);
    let chip = |compatible: &str, reg: u32| {
        let compatible = [compatible.as_bytes(), b"\0"].concat();
        let temperature = ("cyclescope,temperature-millicelsius", cells(&[(-5000i32) as u32]));
        let conversion = ("cyclescope,conversion-ms", cells(&[100]));
        node(
            "chip",
            None,
            vec![("compatible", compatible), ("reg", cells(&[reg])), temperature, conversion],
            Vec::new(),
        )
    };
    let faults = |chips: Vec<engine::dt::node::Node>| {
        let properties = vec![("scl-gpios", pin(3)), ("sda-gpios", pin(7))];
        let root = node("", None, Vec::new(), vec![port.clone(), node("i2c", None, properties, chips)]);
        let (_, mut faults) = read_tree(&root, from_node);
        faults.retain(|fault| !fault.contains("cyclescope,sources"));
        faults
    };
    assert_eq!(faults(vec![chip("national,lm75", 0x48), chip("national,lm75", 0x49)]), [""; 0]);
    let two = faults(vec![chip("national,lm75", 0x48), chip("national,lm75", 0x48)]);
    assert_eq!(two.len(), 1);
    assert!(two[0].contains("another chip on the bus has this address"), "{two:?}");
    let reserved = faults(vec![chip("national,lm75", 0x78)]);
    assert!(reserved[0].contains("7 bits"), "{reserved:?}");
    let unknown = faults(vec![chip("national,lm76", 0x48)]);
    assert!(unknown[0].contains("national,lm75"), "{unknown:?}");
}
