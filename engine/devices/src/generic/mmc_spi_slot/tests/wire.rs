//! Bits, bytes and lines.

use super::*;
use engine::wire::spi_pins::{PinLevels, Pins};

/// Data that are sent over one wire in different portions: a session with commands, a write and a read.
fn session() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut command = |index, argument| {
        bytes.extend(command_frame(index, argument));
        bytes.extend([0xff; 28]);
    };
    command(0, 0);
    command(8, 0x1aa);
    command(1, 0);
    for _ in 0..100 {
        command(58, 0);
    }
    command(1, 0);
    command(9, 0);
    command(24, 512);
    bytes.push(0xfe);
    bytes.extend(pattern(1));
    bytes.extend([0xff; 9000]);
    bytes.extend(command_frame(17, 512));
    bytes.extend([0xff; 2000]);
    bytes
}

#[test]
fn bits_give_what_bytes_give() {
    let run = |portion: u32| {
        let mut bench = Bench::cold(&[]);
        bench.power_up();
        let mut seen = Vec::new();
        for bytes in session().chunks(4) {
            let word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
            let mut left = 8 * bytes.len() as u32;
            let mut output = 0_u64;
            while left > 0 {
                let clocks = portion.min(left);
                left -= clocks;
                bench.now += Ps(BYTE_PS / 8 * u64::from(clocks));
                let bits = (u64::from(word) >> left) as u32 & ((1_u64 << clocks) - 1) as u32;
                let burst = Burst { clocks, ..Burst::output(Lines::Single, Rate::Single, 8, bits) };
                output = output << clocks | u64::from(bench.card.shift(burst, bench.now));
            }
            seen.push(output);
        }
        (seen, bench.counter("busy_bytes"), bench.counter("blocks_read"), bench.notes())
    };
    let bytes = run(8);
    assert_eq!((bytes.2, &bytes.3), (1, &Vec::new()));
    assert!(bytes.1 > 7000);
    for portion in [1, 3, 7, 9, 16, 32] {
        assert_eq!(run(portion), bytes, "{portion} clocks at a time");
    }
}

#[test]
fn a_controller_that_only_listens_keeps_its_line_low() {
    let mut bench = Bench::new();
    bench.send(&command_frame(13, 0));
    let listened: Vec<u32> = (0..3)
        .map(|_| {
            bench.now += Ps(BYTE_PS);
            bench.card.shift(Burst::byte_in(Lines::Single), bench.now)
        })
        .collect();
    assert_eq!(listened, [0xff, 0, 0]);
    bench.now += Ps(BYTE_PS);
    assert_eq!(bench.card.shift(Burst::dummy(Lines::Single, 8), bench.now), 0xff);
    assert_eq!(bench.status(), (0, 0));
}

#[test]
fn bytes_are_counted_from_chip_select() {
    let mut bench = Bench::new();
    bench.now += Ps(BYTE_PS);
    bench.card.shift(Burst { clocks: 3, ..Burst::byte_out(Lines::Single, 0b010) }, bench.now);
    bench.send(&[0x40, 0]);
    bench.deselect();
    bench.select();
    assert_eq!(bench.status(), (0, 0));
}

#[test]
fn other_lines_are_noted_and_see_the_cards_own() {
    let mut bench = Bench::new();
    bench.now += Ps(BYTE_PS);
    let idle = bench.card.shift(Burst::input(Lines::Quad, Rate::Single, 32), bench.now);
    assert_eq!(idle, 0xffff_ffff);
    assert_eq!(bench.notes(), ["the card has one data line a direction, and a bit a clock"]);
    // CMD13, bit by bit, on IO0 of two lines.
    for byte in command_frame(13, 0).into_iter().chain([0xff]) {
        for bit in (0..8).rev() {
            bench.now += Ps(BYTE_PS / 8);
            let burst = Burst::output(Lines::Dual, Rate::Single, 2, u32::from(byte >> bit & 1));
            bench.card.shift(burst, bench.now);
        }
    }
    bench.now += Ps(BYTE_PS);
    let answer = bench.card.shift(Burst::input(Lines::Dual, Rate::Single, 16), bench.now);
    assert_eq!(answer, 0b0101_0101_0101_0101, "IO1 low, IO0 pulled up");
}

#[test]
fn a_fast_clock_is_noted_once() {
    let mut bench = Bench::new();
    // As times are rounded, bytes on one clock differ by a picosecond.
    for shorter in [0, 1] {
        bench.now += Ps(BYTE_PS / 2 - shorter);
        bench.card.shift(Burst::byte_out(Lines::Single, 0xff), bench.now);
    }
    assert_eq!(bench.notes(), ["SCK runs at 50000000 Hz; spi-max-frequency is 25000000"]);
}

#[test]
fn pins_driven_by_hand_see_the_same() {
    let mut bench = Bench::new();
    bench.deselect();
    let mut pins = Pins::new();
    let mut seen = Vec::new();
    for byte in command_frame(13, 0).into_iter().chain([0xff; 4]) {
        let mut shown = 0;
        for bit in (0..8).rev() {
            let levels = byte >> bit & 1;
            for clock in [false, true] {
                bench.now += Ps(BYTE_PS / 16);
                pins.set(PinLevels { selected: true, clock, enables: 1, levels }, bench.now, &mut bench.card);
            }
            shown = shown << 1 | pins.read(&bench.card) >> 1 & 1;
        }
        seen.push(shown);
    }
    assert_eq!(seen, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0xff]);
}
