//! The chip on pins that are driven by hand.

use proptest::prelude::*;

use super::*;
use engine::wire::spi_pins::{PinLevels, Pins};

/// A controller that sets pins.
struct Hand {
    bench: Bench,
    pins: Pins,
    /// The clock rests high (SPI mode 3).
    rests_high: bool,
}

impl Hand {
    fn new(bench: Bench, rests_high: bool) -> Hand {
        let mut hand = Hand { bench, pins: Pins::new(), rests_high };
        hand.set(false, rests_high, 0, 0);
        hand
    }

    fn set(&mut self, selected: bool, clock: bool, enables: u8, levels: u8) {
        self.bench.wait(Ps(CLOCK_PS / 2));
        self.pins.set(PinLevels { selected, clock, enables, levels }, self.bench.now, &mut self.bench.flash);
    }

    fn read(&self) -> u8 {
        self.pins.read(&self.bench.flash)
    }

    fn select(&mut self) {
        self.set(true, self.rests_high, 0, 0);
    }

    fn deselect(&mut self) {
        self.set(false, self.rests_high, 0, 0);
    }

    /// One clock; the lines as they can be read before its rising edge and after it.
    fn clock(&mut self, enables: u8, levels: u8) -> (u8, u8) {
        self.set(true, false, enables, levels);
        let before = self.read();
        self.set(true, true, enables, levels);
        let after = self.read();
        if !self.rests_high {
            self.set(true, false, enables, levels);
        }
        (before, after)
    }

    /// Drives bytes on `lines`.
    fn out(&mut self, lines: Lines, bytes: &[u8]) {
        let width = lines.bits();
        for byte in bytes {
            for clock in 1..=8 / width {
                self.clock(lines.mask(), byte >> (8 - clock * width) & lines.mask());
            }
        }
    }

    /// Lets go of the lines and reads bytes, each bit twice.
    fn read_bytes(&mut self, lines: Lines, bytes: usize) -> Vec<u8> {
        let bit_of = |levels: u8| if lines == Lines::Single { levels >> 1 & 1 } else { levels & lines.mask() };
        let enables = u8::from(lines == Lines::Single);
        let mut read_byte = || {
            (0..8 / lines.bits()).fold(0, |byte: u8, _| {
                let (before, after) = self.clock(enables, 0);
                assert_eq!(before, after, "a bit stays until the falling edge");
                ((u32::from(byte) << lines.bits()) as u8) | bit_of(before)
            })
        };
        (0..bytes).map(|_| read_byte()).collect()
    }
}

#[test]
fn the_id_can_be_read_by_hand_in_modes_0_and_3() {
    for rests_high in [false, true] {
        let mut hand = Hand::new(Bench::new(), rests_high);
        assert_eq!(hand.read(), 0xf, "pulled up");
        hand.select();
        hand.out(Lines::Single, &[0x9f]);
        assert_eq!(hand.read_bytes(Lines::Single, 4), [0x20, 0xba, 0x18, 0x10]);
        assert_eq!(hand.read() & 0b1100, 0b1100, "nobody drives IO2 and IO3");
        hand.deselect();
        assert_eq!(hand.read(), 0xf);
        assert_eq!(hand.bench.notes(), Vec::<String>::new());
    }
}

#[test]
fn the_controller_reads_its_own_level_back() {
    let mut hand = Hand::new(Bench::new(), false);
    hand.set(true, false, 0b0101, 0b1100);
    assert_eq!(hand.read(), 0b1110);
}

#[test]
fn a_clock_counts_from_its_rising_edge() {
    let mut hand = Hand::new(Bench::new(), false);
    hand.select();
    for bit in [0, 0, 0, 0, 0, 1, 1] {
        hand.clock(1, bit);
    }
    // The eighth bit rises, and chip select ends the frame before the clock falls.
    hand.set(true, false, 1, 0);
    hand.set(true, true, 1, 0);
    hand.set(false, true, 0, 0);
    assert_eq!(hand.bench.status(), 0x02);
}

#[test]
fn an_edge_sees_the_lines_as_they_were_before() {
    let mut hand = Hand::new(Bench::new(), false);
    hand.select();
    for bit in [0, 0, 0, 0, 0, 1, 1, 0] {
        hand.set(true, false, 1, bit);
        hand.set(true, true, 1, bit ^ 1);
    }
    hand.set(false, false, 0, 0);
    assert_eq!(hand.bench.status(), 0x02);
}

#[test]
fn write_protect_and_hold_may_be_driven_beside_a_single_line() {
    let mut hand = Hand::new(Bench::new(), false);
    hand.select();
    for bit in [1, 0, 0, 1, 1, 1, 1, 1] {
        hand.clock(0b1101, 0b1100 | bit);
    }
    let id = (0..8).fold(0, |byte, _| byte << 1 | hand.clock(0b1101, 0b1100).0 >> 1 & 1);
    assert_eq!(id, 0x20);
    assert_eq!(hand.bench.notes(), Vec::<String>::new());
}

/// opcode, lines of the address, dummy clocks, lines of the data
const READS: [(u8, Lines, u32, Lines); 6] = [
    (0x03, Lines::Single, 0, Lines::Single),
    (0x0b, Lines::Single, 8, Lines::Single),
    (0x3b, Lines::Single, 8, Lines::Dual),
    (0xbb, Lines::Dual, 8, Lines::Dual),
    (0x6b, Lines::Single, 8, Lines::Quad),
    (0xeb, Lines::Quad, 10, Lines::Quad),
];

proptest! {
    #[test]
    fn frames_by_hand_read_what_whole_bursts_read(
        read in 0..READS.len(),
        address in 0u32..0x100,
        page in proptest::collection::vec(any::<u8>(), 0x200),
        bytes in 1usize..40,
        rests_high in any::<bool>(),
    ) {
        let (opcode, address_lines, dummies, lines) = READS[read];
        let mut bench = Bench::new();
        prop_assert!(bench.flash.preload(0x01_2300, &page));
        let mut hand = Hand::new(Bench { flash: bench.flash.clone(), now: bench.now }, rests_high);
        let header = [0x01, 0x23, address as u8];
        bench.select();
        bench.out(Lines::Single, &[opcode]);
        bench.out(address_lines, &header);
        bench.shift(lines, Drive::Nobody, dummies, 0);
        let whole = bench.read(lines, bytes);
        bench.deselect();
        hand.select();
        hand.out(Lines::Single, &[opcode]);
        hand.out(address_lines, &header);
        for _ in 0..dummies {
            hand.clock(0, 0);
        }
        let by_hand = hand.read_bytes(lines, bytes);
        hand.deselect();
        prop_assert_eq!(&whole, &page[address as usize..][..bytes]);
        prop_assert_eq!(by_hand, whole);
        prop_assert_eq!(hand.bench.notes(), Vec::<String>::new());
        prop_assert_eq!(bench.notes(), Vec::<String>::new());
        prop_assert_eq!(hand.bench.flash.counters(), bench.flash.counters());
    }
}
