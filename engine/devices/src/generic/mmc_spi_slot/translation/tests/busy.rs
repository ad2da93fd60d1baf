//! Busy times of writes in order: programs, parts of pages, the two buffers.

use super::*;
use crate::generic::mmc_spi_slot::translation::Doing;

#[test]
fn a_lone_sector_is_a_page_with_three_copies() {
    let mut host = Host::with_open_block(4);
    // 830 + 3 * 500, whichever part of the page the sector is.
    for sector in START + 4..START + 12 {
        assert_eq!(host.single(sector), us(2_330));
    }
    assert_eq!(host.total("sectors_copied"), 24);
    assert_eq!(host.total("pages_programmed"), 9);
}

#[test]
fn a_pair_is_a_page_with_two_copies() {
    let mut host = Host::with_open_block(4);
    assert_eq!(host.write(START + 4, 2, 2), us(830 + 2 * 500 + 7));
    assert_eq!(host.write(START + 6, 2, 2), us(830 + 2 * 500 + 7));
    // Across pages: two programs, one after the other.
    host.single(START + 8);
    host.single(START + 9);
    host.single(START + 10);
    assert_eq!(host.write(START + 11, 2, 2), us(2 * (830 + 3 * 500) + 7));
}

#[test]
fn a_whole_page_is_one_program() {
    let mut host = Host::with_open_block(4);
    assert_eq!(host.write(START + 4, 4, 4), us(830 + 7));
    assert_eq!(host.total("sectors_copied"), 0);
}

#[test]
fn announced_sectors_are_programmed_when_the_last_has_come() {
    let mut card = Host::with_open_block(4).card;
    let now = us(100_000);
    card.begin_write(START + 4, 2, now);
    assert_eq!(card.block(START + 4, now), now);
    assert_eq!(card.block(START + 5, now), us(101_830));
    // The stop token comes when the busy time is over, or is late.
    assert_eq!(card.end_write(us(101_830)), us(101_837));
}

#[test]
fn sectors_nobody_announced_wait_for_the_stop_token() {
    let mut card = Host::with_open_block(4).card;
    let now = us(100_000);
    card.begin_write(START + 4, 0, now);
    assert_eq!(card.block(START + 4, now), now);
    assert_eq!(card.block(START + 5, now), now);
    assert_eq!(card.end_write(us(100_600)), us(100_600 + 1_830 + 7));
}

#[test]
fn a_slow_host_never_waits_within_a_command() {
    // 64 sectors, 960 us each: a page comes every 3840 us and is programmed while the next one comes.
    let mut host = Host::with_open_block(4);
    host.gap = us(960);
    assert_eq!(host.write(START + 4, 64, 64), us(64 * 960 + 830 + 7));
    assert_eq!(host.total("sectors_copied"), 0);
}

#[test]
fn a_fast_host_waits_for_a_buffer() {
    let mut card = Host::with_open_block(4).card;
    let now = us(100_000);
    card.begin_write(START + 4, 0, now);
    for sector in 4..8 {
        assert_eq!(card.block(START + sector, now), now);
    }
    // The first page is being programmed, the second one complete: only then no buffer is free.
    for sector in 8..11 {
        assert_eq!(card.block(START + sector, now), now);
    }
    assert_eq!(card.block(START + 11, now), us(100_830));
    assert_eq!(card.end_write(us(100_830)), us(101_660 + 7));
}

#[test]
fn the_next_block_in_order_costs_an_erase() {
    let mut host = Host::with_open_block(252);
    assert_eq!(host.write(START + 252, 4, 4), us(830 + 7));
    assert_eq!(host.write(START + 256, 4, 4), us(1_500 + 830 + 7));
    assert_eq!(host.total("pages_copied"), 0);
    // The write that opened the first block.
    assert_eq!(host.total("address_breaks"), 1);
}

#[test]
fn the_tables_area_costs_a_page_and_leaves_the_block_open() {
    let mut host = Host::with_open_block(4);
    for sector in [0, 500, 7, 7, 511] {
        assert_eq!(host.single(sector), us(2_330));
    }
    assert_eq!(host.write(4, 4, 4), us(837));
    assert_eq!(host.single(START + 4), us(2_330));
    assert_eq!(host.total("address_breaks"), 1);
}

#[test]
fn what_the_flash_does_is_the_whole_of_a_busy_time() {
    let mut card = Host::with_open_block(8).card;
    let now = us(100_000);
    card.begin_write(START + 4, 1, now);
    // Back to the block's second page: 64 - 2 pages complete it, one is copied to the new one, and three sectors.
    let until = card.block(START + 4, now);
    let copies = us((62 + 1) * 1_100 + 3 * 500);
    let (copied, erased) = (now + copies, now + copies + us(1_500));
    let expected =
        [(Doing::Merge, now, copied), (Doing::Erase, copied, erased), (Doing::Program, erased, erased + us(830))];
    assert_eq!(card.doing(now, until), expected);
    assert_eq!(until, erased + us(830));
    // The second sector of a pair comes while nothing is done, and the stop token takes its own time.
    let mut card = Host::with_open_block(4).card;
    card.begin_write(START + 4, 4, now);
    let last = (0..4).fold(now, |_, sector| card.block(START + 4 + sector, now));
    let until = card.end_write(last);
    assert_eq!(card.doing(now, until), [(Doing::Program, now, last), (Doing::Nothing, last, last + us(7))]);
}
