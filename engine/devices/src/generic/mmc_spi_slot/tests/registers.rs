//! Registers against the capacity and the node.

use super::*;

/// Bits `high` to `low` of a register.
fn bits(register: &[u8], high: u32, low: u32) -> u64 {
    let value = u128::from_be_bytes(register.try_into().unwrap());
    (value >> low) as u64 & ((1 << (high - low + 1)) - 1)
}

fn assert_crc7(register: &[u8]) {
    assert_eq!(register[15], crc7(&register[..15]) << 1 | 1);
}

#[test]
fn the_csd_of_standard_cards_says_the_capacity() {
    for bytes in [1 << 20, 64 << 20, 1 << 30, (2 << 30) - (1 << 20), 2 << 30, 121 << 14] {
        let changes = [("cyclescope,capacity-bytes", cell(bytes)), ("cyclescope,page-mapped-bytes", cell(0))];
        let csd = Bench::with(&changes).register(9, 16);
        assert_crc7(&csd);
        assert_eq!(bits(&csd, 127, 126), 0);
        let block = 1 << bits(&csd, 83, 80);
        assert_eq!(bits(&csd, 25, 22), bits(&csd, 83, 80));
        assert_eq!((bits(&csd, 73, 62) + 1) * (4 << bits(&csd, 49, 47)) * block, u64::from(bytes));
        assert_eq!((bits(&csd, 103, 96), bits(&csd, 79, 79), bits(&csd, 46, 46)), (0x32, 1, 1));
        assert_eq!(bits(&csd, 95, 84), 0x535, "classes 0, 2, 4, 5, 8, 10");
    }
}

#[test]
fn the_csd_of_high_capacity_cards_says_the_capacity() {
    for bytes in [3_u64 << 30, 32 << 30, (2 << 30) + (512 << 10)] {
        let changes = [("cyclescope,capacity-bytes", bytes.to_be_bytes().to_vec())];
        let csd = Bench::with(&changes).register(9, 16);
        assert_crc7(&csd);
        assert_eq!(bits(&csd, 127, 126), 1);
        assert_eq!((bits(&csd, 69, 48) + 1) * (512 << 10), bytes);
        // Fixed by 5.3.3.
        assert_eq!((bits(&csd, 119, 112), bits(&csd, 111, 104), bits(&csd, 83, 80)), (0x0e, 0, 9));
        assert_eq!((bits(&csd, 45, 39), bits(&csd, 28, 26), bits(&csd, 25, 22)), (0x7f, 2, 9));
    }
}

#[test]
fn write_protection_shows_in_the_csd() {
    let protected = |changes: Changes| bits(&Bench::with(changes).register(9, 16), 13, 12);
    assert_eq!(protected(&[]), 0);
    assert_eq!(protected(&[("cyclescope,write-protect", Vec::new())]), 1);
}

#[test]
fn the_cid_has_a_name() {
    let cid = Bench::new().register(10, 16);
    assert_crc7(&cid);
    assert_eq!(&cid[1..8], b"CYCYCLE");
    assert_eq!(bits(&cid, 19, 8), 0x086);
}

#[test]
fn the_scr_reports_the_version() {
    let scr = |changes: Changes| {
        let mut bench = Bench::with(changes);
        assert_eq!(bench.application(51, 0), 0);
        bench.data(8)
    };
    assert_eq!(scr(&[]), [2, 0x05, 0, 0, 0, 0, 0, 0]);
    assert_eq!(scr(&[("cyclescope,set-block-count", Vec::new())]), [2, 0x05, 0, 2, 0, 0, 0, 0]);
}

#[test]
fn the_sd_status_has_class_and_allocation_unit() {
    let changes = [("cyclescope,speed-class", cell(6)), ("cyclescope,au-bytes", cell(4 << 20))];
    let mut bench = Bench::with(&changes);
    // R2, then 64 bytes.
    assert_eq!((bench.application(13, 0), bench.exchange(0xff)), (0, 0));
    let status = bench.data(64);
    assert_eq!((status[8], status[10]), (3, 0x90));
    assert_eq!(status.iter().filter(|byte| **byte != 0).count(), 2);
}

#[test]
fn cmd6_finds_default_functions_only() {
    let mut bench = Bench::new();
    assert_eq!(bench.command(6, 0x00ff_fff0), 0);
    let status = bench.data(64);
    assert_eq!(status[2..14], [0x80, 0x01].repeat(6));
    assert_eq!(status[14..17], [0, 0, 0]);
    assert!(status[1] > 0);
    // High Speed in group 1.
    assert_eq!(bench.command(6, 0x80ff_fff1), 0);
    let status = bench.data(64);
    assert_eq!((status[1], &status[14..17]), (0, &[0, 0, 0x0f][..]));
}
