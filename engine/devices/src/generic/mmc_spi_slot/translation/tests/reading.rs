//! Reads.

use super::*;

#[test]
fn a_page_is_read_once_for_its_sectors() {
    let mut card = Host::new().card;
    assert_eq!(card.read(START, false, us(0)), us(260));
    assert_eq!(card.read(START + 1, true, us(300)), us(300));
    assert_eq!(card.read(START + 3, true, us(400)), us(400));
    assert_eq!(card.read(START + 4, true, us(500)), us(560));
    // Another command finds the page in its buffer.
    assert_eq!(card.read(START + 5, false, us(600)), us(800));
}

#[test]
fn a_write_or_an_erase_takes_the_buffer() {
    let mut host = Host::new();
    host.card.read(START, false, us(0));
    host.now = us(1_000);
    host.single(START + 8);
    let now = host.now;
    assert_eq!(host.card.read(START, false, now), now + us(260));
    let end = host.card.erase(START + 256, START + 511, now);
    assert_eq!(host.card.read(START, false, end), end + us(260));
}

#[test]
fn a_read_waits_for_the_flash() {
    let mut host = Host::with_open_block(4);
    host.card.begin_write(START + 4, 1, host.now);
    let busy = host.card.block(START + 4, host.now);
    assert_eq!(host.card.read(START, false, host.now), busy + us(260));
}
