//! Addresses of standard and high capacity cards.

use super::*;

#[test]
fn standard_cards_count_bytes() {
    let mut bench = Bench::new();
    assert_eq!(bench.command(24, 513), 0x20);
    assert_eq!(bench.command(17, 1), 0x20);
    assert_eq!(bench.command(17, CAPACITY_BYTES), 0x40);
    assert_eq!(bench.command(24, CAPACITY_BYTES - 512), 0);
    bench.block(0xfe, &pattern(1));
    bench.ready();
    assert_eq!(bench.read(CAPACITY_BYTES / 512 - 1), pattern(1));
    bench.command(16, 100);
    assert_eq!(bench.command(17, 412), 0);
    bench.data(100);
    assert_eq!(bench.command(17, 413), 0x20, "across the limit of a block");
}

#[test]
fn high_capacity_cards_count_blocks() {
    let mut bench = Bench::with(&[high()]);
    let blocks = CAPACITY_BYTES / 512;
    assert_eq!(bench.command(24, blocks), 0x40);
    assert_eq!(bench.command(24, blocks - 1), 0);
    bench.block(0xfe, &pattern(1));
    bench.ready();
    assert_eq!(bench.register(17, 512), [0; 512]);
    assert_eq!(bench.command(17, blocks - 1), 0);
    assert_eq!(bench.data(512), pattern(1));
    let mut bytes = [0; 4];
    assert!(bench.card.peek(CAPACITY_BYTES - 512, &mut bytes));
    assert_eq!(bytes, pattern(1)[..4]);
}

#[test]
fn a_multiple_write_over_the_end_fails_there() {
    let mut bench = Bench::new();
    bench.command(25, CAPACITY_BYTES - 512);
    assert_eq!(bench.block(0xfc, &pattern(1)), 0xe5);
    bench.ready();
    assert_eq!(bench.block(0xfc, &pattern(2)), 0xed);
    assert_eq!(bench.command(12, 0), 0);
    bench.ready();
    assert_eq!(bench.status(), (0, 0x80));
    assert_eq!(bench.notes(), ["an access past the end of the card, which has 131072 blocks"]);
}

#[test]
fn a_programmer_reaches_all_bytes() {
    let mut bench = Bench::new();
    assert!(bench.card.preload(510, &[1, 2, 3, 4]));
    assert!(!bench.card.preload(CAPACITY_BYTES - 1, &[1, 2]));
    assert!(!bench.card.peek(u32::MAX, &mut [0; 2]));
    assert_eq!(bench.read(0)[510..], [1, 2]);
    assert_eq!(bench.read(1)[..3], [3, 4, 0]);
}
