//! The contents of the FIFOs over time.

use super::*;

fn recorded(cr1: u32) -> Bench {
    let mut bench = uart(cr1, 0);
    bench.record_entries();
    bench
}

fn at(number: u64) -> u64 {
    cycle(number).0
}

#[test]
fn a_character_is_in_the_transmit_fifo_until_its_start_bit() {
    let mut bench = recorded(CR1_FIFOEN);
    for (number, character) in (0..).zip("abcd".chars()) {
        send(&mut bench, START + 100 * number, character);
    }
    let end = START + 4 * FRAME;
    bench.run(cycle(START + 2 * FRAME + 500));
    bench.write(cycle(START + 2 * FRAME + 500), RQR, RQR_TXFRQ).unwrap();
    // Two clocks through the synchroniser; then a frame for each character, without a pause.
    let expected = [
        (at(START), at(START + 2), u32::from(b'a')),
        (at(START + 100), at(START + 2 + FRAME), u32::from(b'b')),
        (at(START + 200), at(START + 2 + 2 * FRAME), u32::from(b'c')),
        (at(START + 300), at(START + 500 + 2 * FRAME), u32::from(b'd')),
    ];
    assert_eq!(bench.entries("TX FIFO", cycle(end)), expected);
}

#[test]
fn a_character_is_in_the_receive_fifo_until_it_is_read() {
    let mut bench = recorded(CR1_FIFOEN);
    bench.type_at(cycle(START), "abc");
    bench.run(cycle(START + 4 * FRAME));
    bench.value(cycle(START + 4 * FRAME), RDR);
    bench.write(cycle(START + 5 * FRAME), RQR, RQR_RXFRQ).unwrap();
    let expected = [
        (at(START + FRAME), at(START + 4 * FRAME), u32::from(b'a')),
        (at(START + 2 * FRAME), at(START + 5 * FRAME), u32::from(b'b')),
        (at(START + 3 * FRAME), at(START + 5 * FRAME), u32::from(b'c')),
    ];
    assert_eq!(bench.entries("RX FIFO", cycle(START + 6 * FRAME)), expected);
}

#[test]
fn without_overruns_the_last_character_gives_way() {
    let mut bench = fresh();
    bench.write(Ps(0), BRR, 556).unwrap();
    bench.write(Ps(0), CR3, CR3_OVRDIS).unwrap();
    bench.write(Ps(0), CR1, CR1_FIFOEN | ON).unwrap();
    bench.run(cycle(START));
    bench.record_entries();
    bench.type_at(cycle(START), "0123456789abcdefg");
    bench.run(cycle(START + 18 * FRAME));
    bench.write(cycle(START + 20 * FRAME), CR1, CR1_FIFOEN).unwrap();
    let entries = bench.entries("RX FIFO", cycle(START + 30 * FRAME));
    let last = [
        (at(START + 15 * FRAME), at(START + 20 * FRAME), u32::from(b'e')),
        (at(START + 16 * FRAME), at(START + 17 * FRAME), u32::from(b'f')),
        (at(START + 17 * FRAME), at(START + 20 * FRAME), u32::from(b'g')),
    ];
    assert_eq!((entries.len(), &entries[14..]), (17, &last[..]));
}

#[test]
fn data_registers_are_no_fifos() {
    let mut bench = recorded(0);
    bench.type_at(cycle(START), "a");
    send(&mut bench, START, 'a');
    send(&mut bench, START + 100, 'b');
    bench.run(cycle(START + 4 * FRAME));
    bench.value(cycle(START + 4 * FRAME), RDR);
    assert_eq!(bench.entries("TX FIFO", cycle(START + 5 * FRAME)), []);
    assert_eq!(bench.entries("RX FIFO", cycle(START + 5 * FRAME)), []);
}
