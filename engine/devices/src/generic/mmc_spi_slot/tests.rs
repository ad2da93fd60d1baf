//! Tests: a bench that exchanges bytes at 25 MHz, and one file a subject.

use std::sync::Arc;

use super::Card;
use super::crc::{crc7, crc16};
use engine::dt::fault::BoardFault;
use engine::dt::node::{Location, Node, Property};
use engine::dt::reader::{Board, NodeReader};
use engine::time::Ps;
use engine::wire::spi::{Burst, Drive, Lines, Rate, SpiTarget};

mod addressing;
mod controller;
mod crcs;
mod erasing;
mod faults;
mod garbage;
mod image;
mod initialising;
mod nodes;
mod polling;
mod reading;
mod registers;
mod responses;
mod state;
mod wire;
mod writing;

/// A byte of the bench: 8 clocks of 25 MHz.
const BYTE_PS: u64 = 320_000;

/// Timing properties with which the arithmetic in tests is easy.
const TIMES: [(&str, u32); 13] = [
    ("cyclescope,response-clocks", 8),
    ("cyclescope,initialisation-us", 1_000),
    ("cyclescope,page-bytes", 2048),
    ("cyclescope,pages-per-block", 64),
    ("cyclescope,open-blocks", 1),
    ("cyclescope,page-mapped-bytes", 1 << 20),
    ("cyclescope,page-program-us", 830),
    ("cyclescope,sector-copy-us", 500),
    ("cyclescope,page-copy-us", 1_100),
    ("cyclescope,block-erase-us", 1_500),
    ("cyclescope,page-read-us", 60),
    ("cyclescope,read-access-us", 200),
    ("cyclescope,stop-us", 7),
];

/// The card of the tests: 64 MiB.
const CAPACITY_BYTES: u32 = 64 << 20;

type Changes<'a> = &'a [(&'a str, Vec<u8>)];

fn cell(value: u32) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn strings(values: &[&str]) -> Vec<u8> {
    values.iter().flat_map(|value| value.bytes().chain([0])).collect()
}

/// A high capacity card of the tests' size.
fn high() -> (&'static str, Vec<u8>) {
    ("cyclescope,capacity-class", strings(&["high"]))
}

/// A node with everything that a card needs; `changes` replace or add properties.
fn node(changes: Changes) -> Node {
    let names: Vec<&str> = TIMES.iter().map(|(name, _)| *name).collect();
    let sources = format!("{}: chosen for the tests", names.join(", "));
    let mut values: Vec<(&str, Vec<u8>)> = vec![
        ("compatible", strings(&["mmc-spi-slot"])),
        ("reg", cell(0)),
        ("spi-max-frequency", cell(25_000_000)),
        ("cyclescope,capacity-bytes", cell(CAPACITY_BYTES)),
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
        path: "/spi/mmc@0".to_owned(),
        name: "mmc@0".to_owned(),
        labels: vec!["card0".to_owned()],
        properties: values.into_iter().map(property).collect(),
        at: at.clone(),
        phandle: None,
        children: Vec::new(),
    }
}

/// Reads a node: the card and all faults.
fn read_node(node: &Node) -> (Card, Vec<BoardFault>) {
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
    let card = Card::from_node(&mut reader);
    reader.finish();
    (card, board.faults)
}

fn command_frame(index: u8, argument: u32) -> [u8; 6] {
    let [a, b, c, d] = argument.to_be_bytes();
    let frame = [0x40 | index, a, b, c, d];
    [frame[0], a, b, c, d, crc7(&frame) << 1 | 1]
}

/// A controller for one card.
struct Bench {
    card: Card,
    now: Ps,
}

impl Bench {
    /// A card before power-up.
    fn cold(changes: Changes) -> Bench {
        let (card, faults) = read_node(&node(changes));
        assert_eq!(faults, []);
        Bench { card, now: Ps::ZERO }
    }

    /// A card after power-up, CMD0, CMD8 and the initialisation; selected.
    fn with(changes: Changes) -> Bench {
        let mut bench = Bench::cold(changes);
        bench.initialise();
        bench
    }

    fn new() -> Bench {
        Bench::with(&[])
    }

    fn power_up(&mut self) {
        self.now += Ps(10 * BYTE_PS);
        self.card.idle_clocks(80, self.now);
        self.select();
    }

    fn initialise(&mut self) {
        self.power_up();
        assert_eq!(self.command(0, 0), 0x01);
        self.command(8, 0x1aa);
        self.bytes(4);
        assert_eq!(self.application(41, 1 << 30), 0x01);
        self.now += Ps::from_us(1_000);
        assert_eq!(self.application(41, 1 << 30), 0x00);
    }

    fn select(&mut self) {
        self.card.select(self.now);
    }

    fn deselect(&mut self) {
        self.card.deselect(self.now);
    }

    fn exchange(&mut self, byte: u8) -> u8 {
        self.now += Ps(BYTE_PS);
        self.card.shift(Burst::byte_out(Lines::Single, byte), self.now) as u8
    }

    fn send(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.exchange(*byte);
        }
    }

    /// The card's output while the host sends FFh.
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.exchange(0xff)).collect()
    }

    /// A command and R1, which comes after one byte.
    fn command(&mut self, index: u8, argument: u32) -> u8 {
        self.send(&command_frame(index, argument));
        let between = self.exchange(0xff);
        assert!(matches!(between, 0xff | 0) || index == 12, "{between:#x}");
        self.exchange(0xff)
    }

    fn application(&mut self, index: u8, argument: u32) -> u8 {
        assert_eq!(self.command(55, 0) & !1, 0);
        self.command(index, argument)
    }

    /// R1 and R2 of CMD13.
    fn status(&mut self) -> (u8, u8) {
        (self.command(13, 0), self.exchange(0xff))
    }

    /// Waits for the token, and takes `len` bytes and a correct CRC.
    fn data(&mut self, len: usize) -> Vec<u8> {
        assert_eq!(self.first_other_than(0xff), 0xfe);
        let data = self.bytes(len);
        assert_eq!(self.bytes(2), crc16(&data).to_be_bytes());
        data
    }

    /// The first byte that is another one, within 0.1 s.
    fn first_other_than(&mut self, usual: u8) -> u8 {
        (0..312_500).map(|_| self.exchange(0xff)).find(|byte| *byte != usual).unwrap()
    }

    fn register(&mut self, index: u8, len: usize) -> Vec<u8> {
        assert_eq!(self.command(index, 0), 0);
        self.data(len)
    }

    /// A block and its CRC after a token: the data response.
    fn block(&mut self, token: u8, data: &[u8; 512]) -> u8 {
        self.exchange(token);
        self.send(data);
        self.send(&crc16(data).to_be_bytes());
        self.exchange(0xff)
    }

    /// CMD24 by block number on a standard capacity card: the data response, and a wait for the end of busy.
    fn write(&mut self, lba: u32, data: &[u8; 512]) -> u8 {
        assert_eq!(self.command(24, lba * 512), 0);
        let response = self.block(0xfe, data);
        self.ready();
        response
    }

    /// CMD17 by block number on a standard capacity card.
    fn read(&mut self, lba: u32) -> Vec<u8> {
        assert_eq!(self.command(17, lba * 512), 0);
        self.data(512)
    }

    /// Waits for the end of busy: how long that took.
    fn ready(&mut self) -> Ps {
        let start = self.now;
        while self.exchange(0xff) != 0xff {
            assert!(self.now - start < Ps::from_us(1_000_000));
        }
        self.now - start
    }

    fn notes(&mut self) -> Vec<String> {
        self.card.take_notes()
    }

    fn counter(&self, name: &str) -> u64 {
        self.card.counters().iter().find(|(known, _)| *known == name).map(|(_, value)| *value).unwrap()
    }
}

/// Data that differ from block to block.
fn pattern(seed: u8) -> [u8; 512] {
    std::array::from_fn(|at| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ seed)
}
