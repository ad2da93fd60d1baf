//! Write commands: tokens, data responses, the busy signal.

use super::*;

/// A block in the area that is mapped page by page: its page's other three sectors are moved.
const SINGLE_BUSY: Ps = Ps::from_us(830 + 3 * 500);

#[test]
fn a_single_block_is_busy_for_its_time() {
    let mut bench = Bench::new();
    assert_eq!(bench.command(24, 8 * 512), 0);
    bench.exchange(0xff);
    bench.exchange(0xfe);
    bench.send(&pattern(8));
    bench.send(&[0, 0]);
    let end = bench.now + SINGLE_BUSY;
    assert_eq!(bench.exchange(0xff), 0xe5);
    let mut busy_bytes = 0;
    while bench.now + Ps(BYTE_PS) <= end {
        assert_eq!(bench.exchange(0xff), 0);
        busy_bytes += 1;
    }
    // 2330 us are 7281.25 bytes, the first of them the response: a quarter of a byte is left, two clocks.
    assert_eq!((busy_bytes, bench.exchange(0xff)), (7280, 0b0011_1111));
    assert_eq!((bench.exchange(0xff), bench.counter("busy_bytes")), (0xff, 7281));
    assert_eq!(bench.read(8), pattern(8));
}

#[test]
fn busy_goes_on_while_chip_select_is_high() {
    let mut bench = Bench::new();
    bench.command(24, 0);
    bench.block(0xfe, &pattern(1));
    bench.deselect();
    assert_eq!(bench.bytes(4), [0xff; 4], "not selected, the card lets go of its line");
    bench.select();
    assert_eq!(bench.bytes(2), [0, 0]);
    bench.now += SINGLE_BUSY;
    assert_eq!(bench.exchange(0xff), 0xff);
}

#[test]
fn a_multiple_write_ends_with_the_stop_token() {
    let mut bench = Bench::new();
    assert_eq!(bench.application(23, 8), 0);
    assert_eq!(bench.command(25, 0), 0);
    for block in 0..8 {
        bench.exchange(0xff);
        assert_eq!(bench.block(0xfc, &pattern(block)), 0xe5);
        bench.ready();
    }
    bench.exchange(0xfd);
    assert_eq!(bench.exchange(0xff), 0xff, "the byte before busy");
    assert_eq!(bench.exchange(0xff), 0, "cyclescope,stop-us");
    bench.ready();
    for block in 0..8 {
        assert_eq!(bench.read(u32::from(block)), pattern(block));
    }
    assert_eq!(bench.application(22, 0), 0);
    assert_eq!(bench.data(4), [0, 0, 0, 8]);
    assert_eq!((bench.counter("blocks_written"), bench.counter("blocks_read")), (8, 8));
    assert_eq!(bench.notes(), Vec::<String>::new());
}

#[test]
fn chip_select_may_rise_between_the_blocks_of_a_multiple_write() {
    let mut bench = Bench::new();
    bench.command(25, 0);
    for block in 0..3 {
        assert_eq!(bench.block(0xfc, &pattern(block)), 0xe5);
        bench.deselect();
        bench.select();
        bench.ready();
    }
    bench.exchange(0xfd);
    bench.exchange(0xff);
    bench.ready();
    assert_eq!(bench.read(2), pattern(2));
}

#[test]
fn cmd12_stops_a_multiple_write_with_r1b() {
    let mut bench = Bench::new();
    bench.command(25, 0);
    bench.block(0xfc, &pattern(0));
    bench.ready();
    // One sector of the page has come: it is programmed now.
    assert_eq!(bench.command(12, 0), 0);
    assert_eq!(bench.exchange(0xff), 0);
    let busy = bench.ready();
    assert!(busy > Ps::from_us(2_300) && busy < Ps::from_us(2_400), "{busy}");
    assert_eq!(bench.status(), (0, 0));
}

#[test]
fn while_busy_only_cmd13_and_cmd0_are_legal() {
    let mut bench = Bench::new();
    bench.command(24, 0);
    bench.block(0xfe, &pattern(0));
    assert_eq!(bench.status(), (0, 0));
    assert_eq!((bench.command(12, 0), bench.command(17, 0), bench.exchange(0xff)), (4, 4, 0));
    assert_eq!(bench.command(0, 0), 1);
    assert_eq!(bench.exchange(0xff), 0xff, "a reset ends the programming");
}

#[test]
fn wrong_tokens_and_tokens_while_busy_are_ignored() {
    let mut bench = Bench::new();
    bench.command(24, 0);
    bench.send(&[0xfc, 0xfd, 0xff]);
    assert_eq!(bench.block(0xfe, &pattern(0)), 0xe5);
    bench.ready();
    bench.command(25, 0);
    bench.send(&[0xfe, 0xff]);
    for block in 0..8 {
        bench.block(0xfc, &pattern(block));
    }
    // A second page has come before the first is programmed.
    bench.exchange(0xfc);
    let notes = bench.notes();
    assert!(notes.contains(&"FCh is no token here; the card waits for FEh".to_owned()), "{notes:?}");
    assert!(notes.contains(&"FEh is no token here; the card waits for FCh, FDh or CMD12".to_owned()));
    assert!(notes.contains(&"token FCh ignored: the card is busy".to_owned()), "{notes:?}");
}

#[test]
fn a_write_protected_card_refuses_data() {
    let mut bench = Bench::with(&[("cyclescope,write-protect", Vec::new())]);
    assert!(bench.card.write_protected());
    assert_eq!(bench.write(0, &pattern(0)) & 0x1f, 0x0d);
    assert_eq!((bench.status(), bench.status()), ((0, 0x20), (0, 0)), "reported once");
    bench.command(25, 0);
    assert_eq!(bench.block(0xfc, &pattern(0)) & 0x1f, 0x0d);
    bench.exchange(0xfd);
    bench.exchange(0xff);
    assert_eq!(bench.ready(), Ps(BYTE_PS));
    assert_eq!(bench.read(0), [0; 512]);
}

#[test]
fn a_write_that_chip_select_cuts_stores_nothing() {
    let mut bench = Bench::new();
    bench.command(24, 0);
    bench.exchange(0xfe);
    bench.send(&[1; 300]);
    bench.deselect();
    bench.select();
    bench.ready();
    assert_eq!(bench.read(0), [0; 512]);
    assert_eq!(bench.notes(), ["chip select rose within a write: abandoned"]);
}
