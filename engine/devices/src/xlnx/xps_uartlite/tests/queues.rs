//! What is in the FIFOs, and from when to when.

use super::*;

const CHARACTER: u64 = 10 * BIT;
const A: u32 = b'a' as u32;

fn recorded() -> Bench {
    let mut bench = uart();
    bench.record_entries();
    bench
}

#[test]
fn a_character_keeps_its_place_until_its_last_data_bit_has_been_sent() {
    let mut bench = recorded();
    for character in [A, A + 1, A + 2] {
        bench.write(Ps(7_000), TX_FIFO, character).unwrap();
    }
    let end = Ps(22 * BIT);
    bench.run(end);
    // Taken at the edge of 10 ns. The first start bit is bit 1 of the free-running clock; 8 data bits end with bit 10,
    // and those of the next 10 bits later. The third one is still there.
    let expected = [(10_000, 10 * BIT, A), (10_000, 20 * BIT, A + 1), (10_000, 22 * BIT, A + 2)];
    assert_eq!(bench.entries("TX FIFO", end), expected);
}

#[test]
fn a_received_character_is_there_from_its_stop_bit_until_it_is_read() {
    let mut bench = recorded();
    bench.type_at(Ps::ZERO, "abc");
    bench.run(Ps(4 * CHARACTER));
    bench.value(Ps(4 * CHARACTER + 1_000), RX_FIFO);
    bench.write(Ps(5 * CHARACTER), CTRL, CTRL_RST_RX_FIFO).unwrap();
    let expected = [
        (CHARACTER, 4 * CHARACTER + 10_000, A),
        (2 * CHARACTER, 5 * CHARACTER, A + 1),
        (3 * CHARACTER, 5 * CHARACTER, A + 2),
    ];
    assert_eq!(bench.entries("RX FIFO", Ps(6 * CHARACTER)), expected);
}

#[test]
fn a_reset_of_the_transmit_fifo_empties_it_at_once() {
    let mut bench = recorded();
    for character in [A, A + 1] {
        bench.write(Ps(0), TX_FIFO, character).unwrap();
    }
    bench.write(Ps(3 * BIT), CTRL, CTRL_RST_TX_FIFO).unwrap();
    bench.write(Ps(4 * BIT), TX_FIFO, A + 2).unwrap();
    let end = Ps(40 * BIT);
    bench.run(end);
    // The first one is finished, with bit 9: the third one's start bit is bit 10, its last data bit bit 18.
    let expected = [(0, 3 * BIT, A), (0, 3 * BIT, A + 1), (4 * BIT, 19 * BIT, A + 2)];
    assert_eq!(bench.entries("TX FIFO", end), expected);
}

#[test]
fn what_finds_no_place_was_never_there() {
    let mut bench = recorded();
    bench.type_at(Ps::ZERO, "0123456789abcdefg");
    bench.run(Ps(20 * CHARACTER));
    let entries = bench.entries("RX FIFO", Ps(20 * CHARACTER));
    assert_eq!((entries.len(), entries[15]), (16, (16 * CHARACTER, 20 * CHARACTER, u32::from(b'f'))));
}
