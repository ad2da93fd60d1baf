//! Read commands.

use super::*;

#[test]
fn the_token_comes_after_the_access_time() {
    let mut bench = Bench::new();
    bench.write(4, &pattern(4));
    bench.send(&command_frame(17, 4 * 512));
    let ready = bench.now + Ps::from_us(200 + 60);
    assert_eq!(bench.bytes(3), [0xff, 0, 0xff]);
    while bench.now < ready {
        assert_eq!(bench.exchange(0xff), 0xff);
    }
    assert_eq!(bench.exchange(0xff), 0xfe);
    assert_eq!(bench.bytes(512), pattern(4));
    assert_eq!(bench.bytes(2), crc16(&pattern(4)).to_be_bytes());
    assert_eq!(bench.bytes(4), [0xff; 4]);
}

#[test]
fn cmd18_goes_on_until_cmd12() {
    let mut bench = Bench::new();
    for block in 0..6 {
        bench.write(block, &pattern(block as u8));
    }
    assert_eq!(bench.command(18, 0), 0);
    for block in 0..4 {
        assert_eq!(bench.data(512), pattern(block));
    }
    // In the middle of the next block: the byte after CMD12 is the one that the card was about to send.
    assert_eq!(bench.first_other_than(0xff), 0xfe);
    assert_eq!(bench.bytes(10), pattern(4)[..10]);
    bench.send(&command_frame(12, 0));
    assert_eq!(bench.bytes(4), [pattern(4)[16], 0, 0xff, 0xff]);
    assert_eq!(bench.read(5), pattern(5));
    assert_eq!(bench.counter("blocks_read"), 5);
}

#[test]
fn cmd12_stops_a_single_read_and_one_that_waits() {
    let mut bench = Bench::new();
    bench.command(17, 0);
    bench.send(&command_frame(12, 0));
    assert_eq!(bench.bytes(3), [0xff, 0, 0xff]);
    assert_eq!(bench.first_other_than_within(2_000), None);
    assert_eq!(bench.status(), (0, 0));
}

#[test]
fn reading_past_the_end_gives_an_error_token() {
    let mut bench = Bench::new();
    let last = CAPACITY_BYTES / 512 - 1;
    bench.write(last, &pattern(9));
    assert_eq!(bench.command(18, last * 512), 0);
    assert_eq!(bench.data(512), pattern(9));
    assert_eq!(bench.first_other_than(0xff), 0x08);
    assert_eq!(bench.bytes(100), [0xff; 100]);
    assert_eq!(bench.command(12, 0), 0);
    assert_eq!(bench.status(), (0, 0), "the token has reported it");
}

#[test]
fn a_read_that_chip_select_cuts_is_over() {
    let mut bench = Bench::new();
    bench.command(18, 0);
    bench.first_other_than(0xff);
    bench.bytes(5);
    bench.deselect();
    bench.select();
    assert_eq!(bench.bytes(2), [0xff; 2]);
    assert_eq!(bench.command(12, 0), 0x04);
    assert_eq!(bench.notes()[0], "chip select rose within a read: abandoned");
}

#[test]
fn other_commands_are_illegal_while_data_come() {
    let mut bench = Bench::new();
    bench.command(18, 0);
    bench.send(&command_frame(9, 0));
    assert_eq!(bench.bytes(2), [0xff, 0x04]);
    assert_eq!(bench.data(512), [0; 512]);
    assert_eq!(bench.notes(), ["CMD9 is an illegal command while data are read"]);
}

impl Bench {
    fn first_other_than_within(&mut self, bytes: usize) -> Option<u8> {
        (0..bytes).map(|_| self.exchange(0xff)).find(|byte| *byte != 0xff)
    }
}
