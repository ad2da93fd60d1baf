//! Status bits, block protection, lock registers, the configuration registers, reset.

use super::*;

/// True if a program at `address` works; leaves the flags clear.
fn can_program(bench: &mut Bench, address: u32) -> bool {
    let before = bench.counter("pages_programmed");
    bench.program(address, &[0]);
    let works = bench.counter("pages_programmed") > before;
    // PROTECTION and PROGRAM errors; the latch stays set after a failure.
    assert_eq!(bench.flag_status(), if works { 0x80 } else { 0x92 });
    assert_eq!(bench.status() & 0x03, if works { 0x00 } else { 0x02 });
    bench.send(&[0x50]);
    assert_eq!(bench.flag_status(), 0x80);
    works
}

#[test]
fn block_protection_covers_powers_of_two_from_either_end() {
    // BP3 is bit 6, TB bit 5, BP2..0 bits 4..2: level n protects 2^(n-1) sectors of 64 KiB.
    let cases = [
        (0x00, 0x00_0000, 0xff_ffff, None),
        (0x04, 0xfe_ffff, 0xff_ffff, Some(0xff_0000)),
        (0x1c, 0xbf_ffff, 0x00_0000, Some(0xc0_0000)),
        (0x40, 0x7f_ffff, 0x00_0000, Some(0x80_0000)),
        (0x24, 0x01_0000, 0xff_ffff, Some(0x00_ffff)),
        (0x60, 0x80_0000, 0xff_ffff, Some(0x7f_ffff)),
    ];
    for (status, open, also_open, closed) in cases {
        let mut bench = Bench::new();
        bench.write(&[0x01, status]);
        assert_eq!(bench.status(), status);
        assert!(can_program(&mut bench, open), "{status:02x} {open:06x}");
        if closed != Some(0xff_0000) {
            assert!(can_program(&mut bench, also_open), "{status:02x} {also_open:06x}");
        }
        if let Some(closed) = closed {
            assert!(!can_program(&mut bench, closed), "{status:02x} {closed:06x}");
        }
    }
    for status in [0x44, 0x5c, 0x64, 0x7c] {
        let mut bench = Bench::new();
        bench.write(&[0x01, status]);
        assert!(!can_program(&mut bench, 0) && !can_program(&mut bench, 0xff_ffff), "{status:02x} protects all");
    }
}

#[test]
fn a_protected_sector_is_not_erased_and_nothing_is_erased_in_bulk() {
    let mut bench = Bench::new();
    bench.write(&[0x01, 0x24]); // the lowest sector
    for frame in [&[0x20, 0, 0xf0, 0][..], &[0xd8, 0, 0, 0], &[0xc7]] {
        bench.write(frame);
        assert_eq!(bench.flag_status(), 0x80 | 0x20 | 0x02, "{:02x}h", frame[0]);
        bench.send(&[0x50]);
    }
    assert_eq!(bench.notes()[0], "command 20h failed: 0x00f000 is in a protected sector");
    bench.write(&[0xd8, 1, 0, 0]);
    assert_eq!(bench.flag_status(), 0x80);
}

#[test]
fn lock_registers_protect_one_sector_until_reset() {
    let mut bench = Bench::new();
    bench.write(&[0xe5, 0x02, 0x12, 0x34, 0x01]);
    assert_eq!(bench.ask(&[0xe8, 0x02, 0xff, 0xff], 2), [1, 1]);
    assert_eq!(bench.ask(&[0xe8, 0x03, 0, 0], 1), [0]);
    assert!(!can_program(&mut bench, 0x02_0000));
    assert!(can_program(&mut bench, 0x03_0000));
    bench.write(&[0xe5, 0x02, 0, 0, 0x02]);
    assert!(can_program(&mut bench, 0x02_0000));
    bench.write(&[0xe5, 0x02, 0, 0, 0x01]);
    assert_eq!(bench.ask(&[0xe8, 0x02, 0, 0], 1), [2], "locked down");
    bench.send(&[0x66]);
    bench.send(&[0x99]);
    assert_eq!(bench.ask(&[0xe8, 0x02, 0, 0], 1), [0]);
}

#[test]
fn registers_have_their_defaults() {
    let mut bench = Bench::new();
    assert_eq!(bench.status(), 0x00);
    assert_eq!(bench.flag_status(), 0x80);
    assert_eq!(bench.ask(&[0xb5], 2), [0xff, 0xff]);
    assert_eq!(bench.ask(&[0x85], 1), [0xfb]);
    assert_eq!(bench.ask(&[0x65], 1), [0xdf]);
}

#[test]
fn the_nonvolatile_register_takes_effect_at_reset() {
    let mut bench = Bench::new();
    bench.write(&[0xb1, 0xff, 0x6f]); // 6 dummy clocks
    assert_eq!(bench.ask(&[0xb5], 2), [0xff, 0x6f]);
    assert_eq!(bench.ask(&[0x85], 1), [0xfb]);
    bench.send(&[0x66]);
    bench.send(&[0x99]);
    assert_eq!(bench.ask(&[0x85], 1), [0x6b]);
}

#[test]
fn reset_needs_its_enable_just_before() {
    let mut bench = Bench::new();
    bench.write(&[0x81, 0x1b]);
    bench.send(&[0x99]);
    assert_eq!(bench.notes(), ["command 99h ignored: no RESET ENABLE (66h) just before it"]);
    bench.send(&[0x66]);
    bench.status();
    bench.send(&[0x99]);
    assert_eq!(bench.ask(&[0x85], 1), [0x1b], "another command came between");
    bench.send(&[0x66]);
    bench.send(&[0x99]);
    assert_eq!(bench.ask(&[0x85], 1), [0xfb]);
}

#[test]
fn reset_ends_a_cycle() {
    let mut bench = Bench::new();
    bench.send(&[0x06]);
    bench.send(&[0xd8, 0, 0, 0]);
    bench.send(&[0x66]);
    bench.send(&[0x99]);
    assert_eq!(bench.status(), 0);
    assert!(bench.notes()[0].starts_with("reset during a sector erase"));
}

#[test]
fn reserved_bits_keep_their_values() {
    let mut bench = Bench::new();
    bench.write(&[0x81, 0xff]);
    assert_eq!(bench.ask(&[0x85], 1), [0xfb]);
    bench.write(&[0x61, 0xff]);
    assert_eq!(bench.ask(&[0x65], 1), [0xdf]);
}
