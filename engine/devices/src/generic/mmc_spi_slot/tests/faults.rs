//! Faults that the board asks for.

use super::*;

fn with(name: &str, value: u32) -> Bench {
    Bench::with(&[(name, cell(value))])
}

#[test]
fn the_card_leaves_after_a_number_of_blocks() {
    let mut bench = with("cyclescope,removed-after-blocks", 2);
    assert!(bench.card.present(bench.now));
    assert_eq!(bench.write(0, &pattern(0)), 0xe5);
    assert_eq!(bench.write(1, &pattern(1)), 0xe5, "the second block is acknowledged");
    assert!(!bench.card.present(bench.now));
    assert_eq!(bench.command(24, 1024), 0xff);
    assert_eq!(bench.block(0xfe, &pattern(2)), 0xff);
    let mut bytes = [0; 512 * 3];
    assert!(bench.card.peek(0, &mut bytes));
    assert_eq!(bytes, *[pattern(0), pattern(1), [0; 512]].concat());
    assert_eq!(bench.notes(), ["as the board asked: the card left its slot"]);
}

#[test]
fn the_card_leaves_at_a_time() {
    let mut bench = with("cyclescope,removed-at-ms", 20);
    bench.write(0, &pattern(0));
    let at = Ps::from_us(20_000);
    assert!(bench.card.present(at - Ps(1)) && !bench.card.present(at));
    // The block's last byte ends before that time; its response would begin after it.
    bench.now = at - Ps((8 + 1 + 514) * BYTE_PS);
    bench.card.deselect(bench.now);
    bench.select();
    assert_eq!(bench.command(24, 512), 0);
    assert_eq!(bench.block(0xfe, &pattern(1)), 0xff);
    assert_eq!(bench.now, at + Ps(BYTE_PS));
    let mut byte = [0xff];
    assert!(bench.card.peek(512, &mut byte));
    assert_eq!((byte, bench.counter("blocks_written")), ([0], 1), "what was not acknowledged is not stored");
    assert_eq!(bench.bytes(20), [0xff; 20]);
}

#[test]
fn a_damaged_block_is_found_by_its_crc_only() {
    for on in [true, false] {
        let mut bench = with("cyclescope,crc-error-block", 2);
        bench.command(59, u32::from(on));
        assert_eq!(bench.write(0, &pattern(0)), 0xe5);
        assert_eq!(bench.write(1, &pattern(1)), if on { 0xeb } else { 0xe5 });
        let read = bench.read(1);
        if on {
            assert_eq!(read, [0; 512]);
        } else {
            let differing: u32 = read.iter().zip(pattern(1)).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!(differing, 1);
        }
        assert_eq!(bench.write(1, &pattern(1)), 0xe5, "tried again, it is well");
        assert_eq!(bench.read(1), pattern(1));
    }
}

#[test]
fn a_stuck_card_stays_busy_even_over_a_reset() {
    let mut bench = with("cyclescope,stuck-busy-block", 1);
    bench.command(24, 0);
    assert_eq!(bench.block(0xfe, &pattern(0)), 0xe5);
    bench.now += Ps::from_us(100_000_000);
    assert_eq!(bench.bytes(3), [0; 3]);
    assert_eq!(bench.command(0, 0), 0x01);
    assert_eq!(bench.bytes(3), [0; 3]);
    let mut byte = [0; 512];
    assert!(bench.card.peek(0, &mut byte));
    assert_eq!(byte, pattern(0));
}

#[test]
fn a_block_that_cannot_be_read_gives_an_error_token() {
    let mut bench = with("cyclescope,read-error-block", 2);
    bench.read(0);
    assert_eq!(bench.command(17, 512), 0);
    assert_eq!(bench.first_other_than(0xff), 0x04);
    assert_eq!(bench.status(), (0, 0), "the token has reported it");
}

#[test]
fn an_error_whose_token_nobody_read_is_reported_by_cmd13() {
    let mut bench = with("cyclescope,read-error-block", 1);
    assert_eq!(bench.command(17, 512), 0);
    bench.deselect();
    bench.select();
    assert_eq!((bench.status(), bench.status()), ((0, 0x10), (0, 0)));
}
