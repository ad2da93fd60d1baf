//! The read commands: lines, dummy clocks, wrap, XIP, the dual and quad protocols.

use super::*;

/// opcode, lines of the address, dummy clocks by default, lines of the data
const FAST_READS: [(u8, Lines, u32, Lines); 5] = [
    (0x0b, Lines::Single, 8, Lines::Single),
    (0x3b, Lines::Single, 8, Lines::Dual),
    (0xbb, Lines::Dual, 8, Lines::Dual),
    (0x6b, Lines::Single, 8, Lines::Quad),
    (0xeb, Lines::Quad, 10, Lines::Quad),
];

const DATA: [u8; 8] = [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0];

fn programmed() -> Bench {
    let mut bench = Bench::new();
    bench.program(0x01_2340, &DATA);
    bench
}

/// A fast read from 0x012340 with this many dummy clocks, their first one carrying `confirmation` on IO0.
fn fast_read(bench: &mut Bench, row: (u8, Lines, u32, Lines), dummies: u32, bytes: usize) -> Vec<u8> {
    let (opcode, address, _, data) = row;
    bench.select();
    bench.out(Lines::Single, &[opcode]);
    bench.out(address, &[0x01, 0x23, 0x40]);
    bench.dummies(data, dummies);
    let bytes = bench.read(data, bytes);
    bench.deselect();
    bytes
}

#[test]
fn read_runs_on_and_wraps_at_the_end_of_the_memory() {
    let mut bench = programmed();
    assert_eq!(bench.contents(0x01_2340, 9), [&DATA[..], &[0xff]].concat());
    bench.program(0xff_ffff, &[0x11]);
    bench.program(0x00_0000, &[0x22]);
    assert_eq!(bench.contents(0xff_ffff, 2), [0x11, 0x22]);
    assert_eq!(bench.counter("bytes_read"), 11);
    assert_eq!(bench.notes(), Vec::<String>::new());
}

#[test]
fn fast_reads_take_their_own_lines_and_dummy_clocks() {
    for row in FAST_READS {
        let mut bench = programmed();
        assert_eq!(fast_read(&mut bench, row, row.2, 8), DATA, "{:02x}h", row.0);
        assert_eq!(bench.notes(), Vec::<String>::new(), "{:02x}h", row.0);
    }
}

#[test]
fn a_quad_read_of_a_page_takes_552_clocks() {
    let mut bench = programmed();
    let start = bench.now;
    fast_read(&mut bench, FAST_READS[3], 8, 256);
    // 8 + 24 + 8 + 256*8/4 = 552 clocks, 11.04 us at 50 MHz
    assert_eq!(bench.now - start, Ps(552 * CLOCK_PS));
}

#[test]
fn the_volatile_configuration_register_sets_the_dummy_clocks() {
    for row in FAST_READS {
        for clocks in [1, 6, 14] {
            let mut bench = programmed();
            bench.write(&[0x81, (clocks as u8) << 4 | 0xb]);
            assert_eq!(fast_read(&mut bench, row, clocks, 8), DATA, "{:02x}h with {clocks}", row.0);
        }
        let mut bench = programmed();
        bench.write(&[0x81, 0x0b]); // 0 is the default, too
        assert_eq!(fast_read(&mut bench, row, row.2, 8), DATA, "{:02x}h with 0", row.0);
    }
}

#[test]
fn too_few_dummy_clocks_read_what_the_lines_show() {
    let mut bench = programmed();
    // The controller reads from dummy clock 7 on: two clocks of pulled-up lines, then the data.
    assert_eq!(fast_read(&mut bench, FAST_READS[3], 6, 4), [0xff, 0x12, 0x34, 0x56]);
    assert_eq!(bench.notes(), ["command 6Bh: 6 dummy clocks, the chip expects 8"]);
    assert_eq!(fast_read(&mut bench, FAST_READS[3], 6, 4), [0xff, 0x12, 0x34, 0x56]);
    assert_eq!(bench.notes(), Vec::<String>::new(), "each note comes once");
}

#[test]
fn too_many_dummy_clocks_lose_data() {
    let mut bench = programmed();
    assert_eq!(fast_read(&mut bench, FAST_READS[3], 10, 2), [0x34, 0x56]);
    assert!(bench.notes().contains(&"command 6Bh: 10 dummy clocks, the chip expects 8".to_owned()));
}

#[test]
fn dummy_clocks_may_pass_with_the_lines_let_go() {
    let mut bench = programmed();
    bench.select();
    bench.out(Lines::Single, &[0xeb]);
    bench.out(Lines::Quad, &[0x01, 0x23, 0x40]);
    bench.shift(Lines::Quad, Drive::Target, 8, 0);
    bench.shift(Lines::Quad, Drive::Target, 2, 0);
    assert_eq!(bench.read(Lines::Quad, 8), DATA);
    assert_eq!(bench.notes(), Vec::<String>::new());
}

#[test]
fn data_on_too_few_lines_is_every_fourth_bit() {
    let mut bench = programmed();
    bench.select();
    bench.out(Lines::Single, &[0x6b, 0x01, 0x23, 0x40]);
    bench.dummies(Lines::Single, 8);
    // IO1 of the nibbles 1 2 3 4 5 6 7 8 is 0 1 1 0 0 1 1 0.
    assert_eq!(bench.read(Lines::Single, 1), [0b0110_0110]);
    assert_eq!(bench.notes(), ["command 6Bh: data on 1 line(s), the chip uses 4"]);
}

#[test]
fn data_on_too_many_lines_shows_pull_ups_and_the_output_of_io1() {
    let mut bench = programmed();
    bench.select();
    bench.out(Lines::Single, &[0x03, 0x01, 0x23, 0x40]);
    // 12h = 0001 0010: each bit on IO1, the other lines pulled up.
    assert_eq!(bench.read(Lines::Quad, 4), [0xdd, 0xdf, 0xdd, 0xfd]);
    assert_eq!(bench.notes(), ["command 03h: data on 4 line(s), the chip uses 1"]);
}

#[test]
fn reads_wrap_where_the_volatile_configuration_register_says() {
    for (code, bytes) in [(0, 16), (1, 32), (2, 64)] {
        let mut bench = Bench::new();
        let page: Vec<u8> = (0..=255).collect();
        bench.program(0x01_2300, &page);
        bench.write(&[0x81, 0xf8 | code]);
        let read = fast_read(&mut bench, FAST_READS[0], 8, bytes + 1);
        assert_eq!(read[..2], [0x40, 0x41]);
        assert_eq!(read[bytes - 1..], [0x40 + bytes as u8 - 1, 0x40]);
        assert_eq!(bench.contents(0x01_2340 + bytes as u32 - 1, 2)[1] as usize, 0x40 + bytes, "READ does not wrap");
    }
}

/// A frame that begins with the address: a quad I/O read in XIP.
fn xip_read(bench: &mut Bench, confirmation: u32) -> Vec<u8> {
    bench.select();
    bench.out(Lines::Quad, &[0x01, 0x23, 0x40]);
    bench.shift(Lines::Quad, Drive::Controller, 1, confirmation);
    bench.dummies(Lines::Quad, 9);
    let bytes = bench.read(Lines::Quad, 4);
    bench.deselect();
    bytes
}

#[test]
fn xip_begins_and_ends_with_the_confirmation_bit() {
    let mut bench = programmed();
    bench.write(&[0x81, 0xf3]);
    bench.select();
    bench.out(Lines::Single, &[0xeb]);
    bench.out(Lines::Quad, &[0x01, 0x23, 0x40]);
    bench.shift(Lines::Quad, Drive::Controller, 2, 0x00);
    bench.dummies(Lines::Quad, 8);
    assert_eq!(bench.read(Lines::Quad, 4), DATA[..4]);
    bench.deselect();
    // From now on without a command, 8 clocks less: 6 + 10 + 8 = 24 clocks for a word.
    let start = bench.now;
    assert_eq!(xip_read(&mut bench, 0xe), DATA[..4]);
    assert_eq!(bench.now - start, Ps(24 * CLOCK_PS));
    assert_eq!(xip_read(&mut bench, 0xf), DATA[..4], "the frame that ends XIP still reads");
    assert_eq!(bench.ask(&[0x85], 1), [0xfb], "XIP is over, and its bit is back");
}

#[test]
fn xip_needs_its_bit_in_the_configuration_register() {
    let mut bench = programmed();
    bench.select();
    bench.out(Lines::Single, &[0x0b, 0x01, 0x23, 0x40, 0x00]);
    bench.deselect();
    assert_eq!(bench.ask(&[0x9f], 1), [0x20]);
}

#[test]
fn xip_can_be_active_after_power_up() {
    // Nonvolatile configuration register, bits 11 to 9: 100 is quad I/O.
    let mut bench = Bench::with(&[("cyclescope,nonvolatile-configuration-register", cell(0xf9ff))]);
    assert_eq!(xip_read(&mut bench, 0xe), [0xff; 4]);
    assert_eq!(bench.counter("bytes_read"), 4);
    xip_read(&mut bench, 0xf);
    assert_eq!(bench.ask(&[0x9f], 1), [0x20]);
}

#[test]
fn the_quad_protocol_has_all_on_four_lines_and_ten_dummy_clocks() {
    let mut bench = programmed();
    bench.write(&[0x61, 0x5f]);
    assert_eq!(bench.notes(), ["commands, addresses and data now go over 4 line(s)"]);
    for opcode in [0x0b, 0x6b, 0xeb] {
        bench.select();
        bench.out(Lines::Quad, &[opcode, 0x01, 0x23, 0x40]);
        bench.dummies(Lines::Quad, 10);
        assert_eq!(bench.read(Lines::Quad, 8), DATA, "{opcode:02x}h");
        bench.deselect();
    }
    assert_eq!(bench.notes(), Vec::<String>::new());
    bench.select();
    bench.out(Lines::Single, &[0x9f]); // 8 clocks with IO3..1 high: FEh or FFh as the first byte
    bench.deselect();
    let notes = bench.notes();
    assert!(notes.contains(&"a command: the command on 1 line(s), the chip uses 4".to_owned()), "{notes:?}");
}

#[test]
fn the_dual_protocol_programs_and_reads_on_two_lines() {
    let mut bench = Bench::new();
    bench.write(&[0x61, 0x9f]);
    bench.select();
    bench.out(Lines::Dual, &[0x06]);
    bench.deselect();
    bench.select();
    bench.out(Lines::Dual, &[0x02, 0, 0, 0, 0x42]);
    bench.deselect();
    bench.wait(Ps::from_us(500));
    bench.select();
    bench.out(Lines::Dual, &[0xbb, 0, 0, 0]);
    bench.dummies(Lines::Dual, 8);
    assert_eq!(bench.read(Lines::Dual, 2), [0x42, 0xff]);
}
