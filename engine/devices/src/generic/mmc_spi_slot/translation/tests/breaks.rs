//! Writes out of order: what is copied, and what the published orders cost.

use super::*;

/// Time of the lone sector itself.
const LONE: u64 = 2_330;
/// The two breaks of a late flush in the orders below: they cut and copy pages so that they take 126.5 copies on
/// average.
const TWO_BREAKS: u64 = 1_265 * 110 + 2 * 1_500;

#[test]
fn a_write_backward_completes_the_block_and_begins_it_again() {
    let mut host = Host::with_open_block(16);
    // Pages 0 to 3 are written: 60 are copied to complete the block. Then sector 5 is on page 1: page 0 is copied.
    assert_eq!(host.single(START + 5), us(61 * 1_100 + 1_500 + LONE));
    assert_eq!(host.total("pages_copied"), 61);
    assert_eq!(host.total("blocks_erased"), 1);
    assert_eq!(host.total("address_breaks"), 2);
    // The block continues from there.
    assert_eq!(host.single(START + 6), us(LONE));
}

#[test]
fn the_same_sector_again_is_a_break() {
    let mut host = Host::with_open_block(4);
    host.single(START + 4);
    // Pages 0 and 1 are written: 62 copies to complete, one to begin again.
    assert_eq!(host.single(START + 4), us(63 * 1_100 + 1_500 + LONE));
}

#[test]
fn a_skip_forward_copies_what_it_skips() {
    let mut host = Host::with_open_block(4);
    // 63 to complete the block, pages 0 and 1 to begin it again.
    assert_eq!(host.single(START + 8), us(65 * 1_100 + 1_500 + LONE));
}

#[test]
fn another_block_costs_both_their_copies() {
    let mut host = Host::with_open_block(16);
    // 60 pages of the one, and the 32 before the middle of the other.
    assert_eq!(host.single(START + 256 * 5 + 128), us((60 + 32) * 1_100 + 1_500 + LONE));
    // The first sector of the block after one that is not complete is a break too: 31 pages of this one.
    assert_eq!(host.single(START + 256 * 6), us(31 * 1_100 + 1_500 + LONE));
}

#[test]
fn with_two_open_blocks_the_one_written_least_recently_goes() {
    let mut host = Host::new();
    host.card = Translation::new(Geometry { open_blocks: 2, ..GEOMETRY }, TIMES);
    let (one, two, three) = (START, START + 256, START + 1024);
    host.write(one, 4, 4);
    host.write(two, 8, 8);
    assert_eq!(host.single(one + 4), us(LONE));
    assert_eq!(host.single(two + 8), us(LONE));
    assert_eq!(host.single(one + 5), us(LONE));
    // Block two goes: 3 of its 64 pages are written.
    assert_eq!(host.single(three), us(61 * 1_100 + 1_500 + LONE));
    assert_eq!(host.single(one + 6), us(LONE));
}

/// Writes `order`, commands of (sector, number), and gives the time and the breaks of its second half.
fn replay(order: &[(u32, u32)]) -> (Ps, u64) {
    let mut host = Host::new();
    let (first, second) = order.split_at(order.len() / 2);
    for &(sector, number) in first {
        host.write(START + sector, number, number);
    }
    let (time, breaks) = (host.now, host.total("address_breaks"));
    for &(sector, number) in second {
        host.write(START + sector, number, number);
    }
    (host.now - time, host.total("address_breaks") - breaks)
}

#[test]
fn calls_of_768_bytes_cost_two_breaks_a_late_flush() {
    // 0, 2, 3, 1, 5, 6, 4, 8, 9, 7 ...: sector 3j + 1 comes after the two that follow it.
    let order: Vec<(u32, u32)> = (0..40).flat_map(|j| [(3 * j + 2, 1), (3 * j + 3, 1), (3 * j + 1, 1)]).collect();
    let (time, breaks) = replay(&order);
    assert_eq!(breaks, 40);
    assert_eq!(time, us(20 * (3 * LONE + TWO_BREAKS)));
}

#[test]
fn calls_of_1280_bytes_cost_two_breaks_a_late_flush() {
    // 0 1 | 3 4 | 5 6 | 2 | 8 9 | 10 11 | 7 ...: sector 5j + 2 comes after the four that follow it.
    let order: Vec<(u32, u32)> = (0..40).flat_map(|j| [(5 * j + 3, 2), (5 * j + 5, 2), (5 * j + 2, 1)]).collect();
    let (time, breaks) = replay(&order);
    assert_eq!(breaks, 40);
    assert_eq!(order[3..6], [(8, 2), (10, 2), (7, 1)]);
    // A quarter of the 40 pairs lies across two pages: two programs with six copies instead of one with two.
    let pairs = 10 * 2 * LONE + 30 * (830 + 2 * 500) + 40 * 7;
    assert_eq!(time, us(20 * (LONE + TWO_BREAKS) + pairs));
}

#[test]
fn an_erased_block_has_nothing_to_copy() {
    let mut host = Host::new();
    // Two whole blocks: an erase each.
    assert_eq!(host.card.erase(START, START + 511, us(0)), us(3_000));
    host.now = us(3_000);
    // Again: they are erased already.
    assert_eq!(host.card.erase(START, START + 511, us(3_000)), us(3_000));
    // The middle of an empty block; then the rest of its page: only sectors that were written are moved.
    assert_eq!(host.single(START + 130), us(830));
    assert_eq!(host.single(START + 131), us(830 + 500));
    // To the other one, backward: neither has anything to copy or erase, but the first holds data from now on.
    assert_eq!(host.single(START + 256), us(830));
    assert_eq!(host.single(START + 8), us(2 * 1_100 + LONE));
}

#[test]
fn an_erase_copies_the_pages_that_stay() {
    let mut host = Host::with_open_block(16);
    let start = host.now;
    // From sector 6 on: pages 0 and 1 stay. In the next block, up to its sector 249: pages 62 and 63 stay.
    let end = host.card.erase(START + 6, START + 256 + 249, start);
    assert_eq!(end - start, us(4 * 1_100 + 2 * 1_500));
    // The open block is gone.
    host.now = end;
    assert_eq!(host.single(START + 16), us(4 * 1_100 + LONE));
}

#[test]
fn an_erase_of_the_tables_area_copies_nothing() {
    let mut host = Host::new();
    assert_eq!(host.card.erase(1, 510, us(0)), us(2 * 1_500));
    assert_eq!(host.total("pages_copied"), 0);
}
