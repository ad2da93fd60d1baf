//! The erase sequence.

use super::*;

fn sequence(bench: &mut Bench, first: u32, last: u32) -> [u8; 3] {
    [bench.command(32, first * 512), bench.command(33, last * 512), bench.command(38, 0)]
}

#[test]
fn blocks_are_zero_after_an_erase_and_the_card_is_busy() {
    let mut bench = Bench::new();
    for block in 0..20 {
        bench.write(block, &pattern(block as u8));
    }
    assert_eq!(sequence(&mut bench, 1, 17), [0, 0, 0]);
    assert_eq!(bench.exchange(0xff), 0, "R1b");
    bench.ready();
    for (block, erased) in [(0, false), (1, true), (8, true), (17, true), (18, false)] {
        assert_eq!(bench.read(block), if erased { [0; 512] } else { pattern(block as u8) });
    }
    assert_eq!(bench.counter("sectors_erased"), 17);
}

#[test]
fn errors_of_the_sequence() {
    let mut bench = Bench::new();
    assert_eq!(bench.command(38, 0), 0x10);
    assert_eq!(bench.command(33, 0), 0x10);
    bench.command(32, 0);
    assert_eq!(bench.command(38, 0), 0x10);
    assert_eq!(bench.command(32, CAPACITY_BYTES), 0x40);
    assert_eq!(sequence(&mut bench, 5, 4), [0, 0, 0x40]);
    assert_eq!(bench.status(), (0, 0x40));
    bench.command(32, 0);
    assert_eq!(bench.status(), (0, 0), "CMD13 is allowed within");
    assert_eq!(bench.command(33, 0), 0);
    assert_eq!(bench.command(16, 512), 0x02, "another command clears the sequence");
    assert_eq!(bench.command(38, 0), 0x10);
}

#[test]
fn a_write_protected_card_skips() {
    let mut bench = Bench::with(&[("cyclescope,write-protect", Vec::new())]);
    bench.card.preload(0, &[7]);
    assert_eq!(sequence(&mut bench, 0, 1), [0, 0, 0]);
    assert_eq!(bench.status(), (0, 0x02));
    assert_eq!(bench.read(0)[0], 7);
}

#[test]
fn a_whole_card_of_memory_is_erased_at_once() {
    let changes = [("cyclescope,capacity-bytes", (32_u64 << 30).to_be_bytes().to_vec())];
    let mut bench = Bench::with(&changes);
    bench.card.preload(1 << 30, &[7]);
    assert_eq!((bench.command(32, 0), bench.command(33, (64 << 20) - 1), bench.command(38, 0)), (0, 0, 0));
    let mut byte = [1];
    assert!(bench.card.peek(1 << 30, &mut byte));
    assert_eq!(byte, [0]);
}
