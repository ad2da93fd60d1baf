//! Tests: a bench that drives frames at 50 MHz, and one file a subject.

use std::sync::Arc;

use super::Flash;
use super::commands::Source;
use super::registers::n25q;
use engine::dt::fault::BoardFault;
use engine::dt::node::{Location, Node, Property};
use engine::dt::reader::{Board, NodeReader};
use engine::time::Ps;
use engine::wire::spi::{Burst, Drive, Lines, Rate, SpiTarget};

mod fl_l;
mod identification;
mod image;
mod parameters;
mod pins;
mod programming;
mod protection;
mod reading;
mod suspending;
mod wire;

/// A clock of the bench: 50 MHz.
const CLOCK_PS: u64 = 20_000;

/// Busy times as the datasheet has them: property, value.
const TIMES: [(&str, u32); 15] = [
    ("cyclescope,page-program-typical-us", 500),
    ("cyclescope,page-program-maximum-us", 5_000),
    ("cyclescope,subsector-erase-typical-ms", 250),
    ("cyclescope,subsector-erase-maximum-ms", 800),
    ("cyclescope,sector-erase-typical-ms", 700),
    ("cyclescope,sector-erase-maximum-ms", 3_000),
    ("cyclescope,bulk-erase-typical-ms", 170_000),
    ("cyclescope,bulk-erase-maximum-ms", 250_000),
    ("cyclescope,write-status-register-typical-us", 1_300),
    ("cyclescope,write-status-register-maximum-us", 8_000),
    ("cyclescope,write-nonvolatile-configuration-register-typical-ms", 200),
    ("cyclescope,write-nonvolatile-configuration-register-maximum-ms", 3_000),
    ("cyclescope,program-otp-typical-us", 200),
    ("cyclescope,program-suspend-latency-us", 7),
    ("cyclescope,erase-suspend-latency-us", 15),
];

fn cell(value: u32) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn strings(values: &[&str]) -> Vec<u8> {
    values.iter().flat_map(|value| value.bytes().chain([0])).collect()
}

/// A node with everything that a flash needs; `changes` replace or add properties.
fn node(changes: &[(&str, Vec<u8>)]) -> Node {
    let names: Vec<&str> = TIMES.iter().map(|(name, _)| *name).collect();
    let sources = format!("{}: N25Q128A datasheet", names.join(", "));
    let mut values: Vec<(&str, Vec<u8>)> = vec![
        ("compatible", strings(&["micron,n25q128a", "jedec,spi-nor"])),
        ("reg", cell(0)),
        ("cyclescope,sources", strings(&[&sources])),
    ];
    values.extend(TIMES.iter().map(|(name, value)| (*name, cell(*value))));
    for (name, value) in changes {
        values.retain(|(known, _)| known != name);
        values.push((name, value.clone()));
    }
    let at = Location { file: Arc::from("board.dts"), line: 7 };
    let property = |(name, value): (&str, Vec<u8>)| Property { name: name.to_owned(), value, at: at.clone() };
    Node {
        path: "/spi/flash@0".to_owned(),
        name: "flash@0".to_owned(),
        labels: vec!["flash0".to_owned()],
        properties: values.into_iter().map(property).collect(),
        at: at.clone(),
        phandle: None,
        children: Vec::new(),
    }
}

/// Reads a node: the flash and all faults.
fn read_node(node: &Node) -> (Flash, Vec<BoardFault>) {
    let mut board = Board {
        root: node,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        pins: crate::pins_of,
        external: None,
        interrupts: &|_, _| None,
    };
    let mut reader = NodeReader::new(node, &mut board);
    let flash = Flash::from_node(&mut reader);
    reader.finish();
    (flash, board.faults)
}

fn flash_with(changes: &[(&str, Vec<u8>)]) -> Flash {
    let (flash, faults) = read_node(&node(changes));
    assert_eq!(faults, []);
    flash
}

impl Flash {
    /// The status register at `at`.
    fn status(&self, at: Ps) -> u8 {
        self.registers.read(Source::Live(n25q::SR), 0, 0, self.condition(at))
    }

    /// The flag status register at `at`.
    fn flag_status(&self, at: Ps) -> u8 {
        self.registers.read(Source::Live(n25q::FSR), 0, 0, self.condition(at))
    }
}

/// A controller for one flash.
struct Bench {
    flash: Flash,
    now: Ps,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(&[])
    }

    fn with(changes: &[(&str, Vec<u8>)]) -> Bench {
        Bench { flash: flash_with(changes), now: Ps::ZERO }
    }

    fn shift(&mut self, lines: Lines, drive: Drive, clocks: u32, bits: u32) -> u32 {
        self.burst(Burst { lines, rate: Rate::Single, drive, clocks, bits })
    }

    fn burst(&mut self, burst: Burst) -> u32 {
        self.now += Ps(CLOCK_PS * u64::from(burst.clocks));
        self.flash.shift(burst, self.now)
    }

    fn select(&mut self) {
        self.flash.select(self.now);
    }

    fn deselect(&mut self) {
        self.flash.deselect(self.now);
    }

    fn out(&mut self, lines: Lines, bytes: &[u8]) {
        for byte in bytes {
            self.shift(lines, Drive::Controller, lines.clocks(8), u32::from(*byte));
        }
    }

    fn read(&mut self, lines: Lines, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|_| self.shift(lines, Drive::Target, lines.clocks(8), 0) as u8).collect()
    }

    /// Dummy clocks that the controller drives high: no XIP.
    fn dummies(&mut self, lines: Lines, clocks: u32) {
        for _ in 0..clocks {
            self.shift(lines, Drive::Controller, 1, (1 << lines as u32) - 1);
        }
    }

    /// A frame on one line.
    fn send(&mut self, bytes: &[u8]) {
        self.select();
        self.out(Lines::Single, bytes);
        self.deselect();
    }

    /// A frame on one line that ends with `bytes` of answer.
    fn ask(&mut self, out: &[u8], bytes: usize) -> Vec<u8> {
        self.select();
        self.out(Lines::Single, out);
        let answer = self.read(Lines::Single, bytes);
        self.deselect();
        answer
    }

    fn status(&mut self) -> u8 {
        self.ask(&[0x05], 1)[0]
    }

    fn flag_status(&mut self) -> u8 {
        self.ask(&[0x70], 1)[0]
    }

    fn wait(&mut self, span: Ps) {
        self.now += span;
    }

    /// WRITE ENABLE, the frame, and a wait of a second, three for the bulk erase.
    fn write(&mut self, bytes: &[u8]) {
        self.send(&[0x06]);
        self.send(bytes);
        self.wait(Ps::from_us(if bytes[0] == 0xc7 { 170_000_000 } else { 1_000_000 }));
    }

    fn program(&mut self, address: u32, data: &[u8]) {
        let mut frame = vec![0x02];
        frame.extend_from_slice(&address.to_be_bytes()[1..]);
        frame.extend_from_slice(data);
        self.write(&frame);
    }

    fn contents(&mut self, address: u32, bytes: usize) -> Vec<u8> {
        let [_, high, middle, low] = address.to_be_bytes();
        self.ask(&[0x03, high, middle, low], bytes)
    }

    fn notes(&mut self) -> Vec<String> {
        self.flash.take_notes()
    }

    fn counter(&self, name: &str) -> u64 {
        self.flash.counters().iter().find(|(known, _)| *known == name).map(|(_, value)| *value).unwrap()
    }
}
