//! CRC on and off.

use super::*;

fn wrong(index: u8, argument: u32) -> [u8; 6] {
    let mut frame = command_frame(index, argument);
    frame[5] ^= 0x80;
    frame
}

#[test]
fn command_crcs_count_when_they_are_on() {
    let mut bench = Bench::new();
    bench.send(&wrong(13, 0));
    assert_eq!(bench.bytes(3), [0xff, 0, 0]);
    assert_eq!(bench.command(59, 1), 0);
    bench.send(&wrong(13, 0));
    assert_eq!(bench.bytes(3), [0xff, 0x08, 0xff]);
    assert_eq!(bench.counter("crc_errors"), 1);
    assert_eq!(bench.notes(), ["CMD13 refused: its CRC7 is wrong"]);
    assert_eq!(bench.status(), (0, 0));
    bench.command(59, 0);
    bench.send(&wrong(13, 0));
    assert_eq!(bench.bytes(2), [0xff, 0]);
}

#[test]
fn cmd0_and_cmd8_are_always_checked() {
    let mut bench = Bench::new();
    for index in [0, 8] {
        bench.send(&wrong(index, 0x1aa));
        assert_eq!(bench.bytes(2), [0xff, 0x08]);
    }
    assert_eq!(bench.status(), (0, 0), "the wrong CMD0 did nothing");
}

#[test]
fn a_refused_command_of_an_application_is_over() {
    let mut bench = Bench::new();
    bench.command(59, 1);
    bench.command(55, 0);
    bench.send(&wrong(23, 8));
    assert_eq!(bench.bytes(2), [0xff, 0x08]);
    assert_eq!(bench.command(23, 8), 0x04);
}

#[test]
fn a_block_with_a_wrong_crc_is_not_stored() {
    for on in [false, true] {
        let mut bench = Bench::new();
        bench.write(7, &pattern(1));
        bench.command(59, u32::from(on));
        assert_eq!(bench.command(24, 7 * 512), 0);
        bench.send(&[0xff, 0xfe]);
        bench.send(&pattern(2));
        bench.send(&[0, 0]);
        assert_eq!(bench.exchange(0xff) & 0x1f, if on { 0x0b } else { 0x05 });
        bench.ready();
        assert_eq!(bench.read(7), pattern(if on { 1 } else { 2 }));
        assert_eq!((bench.counter("crc_errors"), bench.counter("blocks_written")), (u64::from(on), 2 - u64::from(on)));
    }
}

#[test]
fn after_a_wrong_crc_a_multiple_write_takes_nothing_more() {
    let mut bench = Bench::new();
    bench.command(59, 1);
    bench.command(25, 0x10_0000);
    assert_eq!(bench.block(0xfc, &pattern(1)), 0xe5);
    bench.ready();
    bench.exchange(0xfc);
    bench.send(&[0x55; 514]);
    assert_eq!(bench.exchange(0xff), 0xeb);
    assert_eq!(bench.block(0xfc, &pattern(3)), 0xeb);
    // 7.3.3.1: the host stops with CMD12, and asks ACMD22 how many blocks are well.
    assert_eq!(bench.command(12, 0), 0);
    bench.ready();
    assert_eq!(bench.application(22, 0), 0);
    assert_eq!(bench.data(4), [0, 0, 0, 1]);
    assert_eq!(bench.read(2048), pattern(1));
    assert_eq!(bench.read(2049), [0; 512]);
}
