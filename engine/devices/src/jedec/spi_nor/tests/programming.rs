//! Program and erase: what changes, when, and what is ignored.

use super::*;

const READY_US: u64 = 500;

#[test]
fn each_program_command_takes_its_own_lines() {
    let commands = [
        (0x02, Lines::Single, Lines::Single),
        (0xa2, Lines::Single, Lines::Dual),
        (0xd2, Lines::Dual, Lines::Dual),
        (0x32, Lines::Single, Lines::Quad),
        (0x12, Lines::Quad, Lines::Quad),
    ];
    for (opcode, address, data) in commands {
        let mut bench = Bench::new();
        bench.send(&[0x06]);
        bench.select();
        bench.out(Lines::Single, &[opcode]);
        bench.out(address, &[0x00, 0x10, 0x00]);
        bench.out(data, &[0xca, 0xfe]);
        bench.deselect();
        bench.wait(Ps::from_us(READY_US));
        assert_eq!(bench.contents(0x1000, 3), [0xca, 0xfe, 0xff], "{opcode:02x}h");
        assert_eq!(bench.notes(), Vec::<String>::new(), "{opcode:02x}h");
        assert_eq!(bench.counter("pages_programmed"), 1);
    }
}

#[test]
fn page_program_wraps_at_256_bytes() {
    let mut bench = Bench::new();
    bench.program(0x10_00fe, &[1, 2, 3, 4]);
    assert_eq!(bench.contents(0x10_00fe, 2), [1, 2]);
    assert_eq!(bench.contents(0x10_0000, 3), [3, 4, 0xff]);
    assert_eq!(bench.contents(0x10_0100, 1), [0xff]);
}

#[test]
fn only_the_last_256_bytes_count() {
    let mut bench = Bench::new();
    let data: Vec<u8> = (0..258).map(|index| if index < 2 { 0 } else { 0xa5 }).collect();
    bench.program(0, &data);
    assert_eq!(bench.contents(0, 256), [0xa5; 256], "bytes 256 and 257 replaced 0 and 1 in the buffer");
}

#[test]
fn programming_only_clears_bits() {
    let mut bench = Bench::new();
    bench.program(0, &[0b1111_0000]);
    bench.program(0, &[0b1010_1010]);
    assert_eq!(bench.contents(0, 1), [0b1010_0000]);
}

#[test]
fn a_page_is_busy_for_its_time_from_the_deselection() {
    let mut bench = Bench::new();
    bench.send(&[0x06]);
    assert_eq!(bench.status(), 0x02);
    bench.send(&[&[0x02, 0, 0, 0][..], &[0x55; 256]].concat());
    let deselected = bench.now;
    // The status byte that begins before 500 us shows busy, the next one does not: the first of them is taken at the
    // end of the command's 8 clocks, and then one comes each 8 clocks of 20 ns = 0.16 us.
    bench.now = deselected + Ps::from_us(500) - Ps(8 * CLOCK_PS) - Ps(1);
    assert_eq!(bench.ask(&[0x05], 2), [0x03, 0x00]);
    let mut exact = Bench::new();
    exact.send(&[0x06]);
    exact.send(&[&[0x02, 0, 0, 0][..], &[0x55; 256]].concat());
    exact.now += Ps::from_us(500) - Ps(8 * CLOCK_PS);
    assert_eq!(exact.status(), 0x00, "ready at 500 us to the picosecond, and the latch is cleared");
}

/// The time from the deselection until the chip is ready, to the picosecond.
fn busy_time(bench: &mut Bench, frame: &[u8]) -> Ps {
    bench.send(&[0x06]);
    bench.send(frame);
    let flash = bench.flash.clone();
    let (mut low, mut high) = (0, 1_000_000_000_000_000);
    while low < high {
        let middle = low + (high - low) / 2;
        let probe = flash.clone();
        if probe.status(bench.now + Ps(middle)) & 1 != 0 { low = middle + 1 } else { high = middle }
    }
    assert_eq!(flash.flag_status(bench.now + Ps(low)) & 0x80, 0x80);
    Ps(low)
}

#[test]
fn busy_times_are_the_boards() {
    let program = |bytes: usize| [vec![0x02, 0, 0, 0], vec![0; bytes]].concat();
    let cases: [(Vec<u8>, Ps, Ps); 10] = [
        (program(256), Ps::from_us(500), Ps::from_us(5_000)),
        // Units of 8 bytes: 500 us / 32 = 15.625 us each.
        (program(1), Ps(15_625_000), Ps::from_us(5_000)),
        (program(9), Ps(31_250_000), Ps::from_us(5_000)),
        (program(300), Ps::from_us(500), Ps::from_us(5_000)),
        (vec![0x20, 0, 0, 0], Ps::from_us(250_000), Ps::from_us(800_000)),
        (vec![0xd8, 0, 0, 0], Ps::from_us(700_000), Ps::from_us(3_000_000)),
        (vec![0xc7], Ps::from_us(170_000_000), Ps::from_us(250_000_000)),
        (vec![0x01, 0], Ps::from_us(1_300), Ps::from_us(8_000)),
        (vec![0xb1, 0xff, 0xff], Ps::from_us(200_000), Ps::from_us(3_000_000)),
        (vec![0x42, 0, 0, 0, 0], Ps::from_us(200), Ps::from_us(200)),
    ];
    for (frame, typical, maximum) in cases {
        assert_eq!(busy_time(&mut Bench::new(), &frame), typical, "{:02x}h typical", frame[0]);
        let mut slow = Bench::with(&[("cyclescope,busy-times", strings(&["maximum"]))]);
        assert_eq!(busy_time(&mut slow, &frame), maximum, "{:02x}h maximum", frame[0]);
    }
}

#[test]
fn erases_reach_their_unit_and_no_further() {
    for (opcode, first, last) in [(0x20, 0x2_3000, 0x2_3fff), (0xd8, 0x2_0000, 0x2_ffff), (0xc7, 0, 0xff_ffff)] {
        let mut bench = Bench::new();
        for address in [0x1_ffff, 0x2_0000, 0x2_2fff, 0x2_3000, 0x2_3fff, 0x2_4000, 0x2_ffff, 0x3_0000] {
            bench.program(address, &[0]);
        }
        let bulk = [opcode];
        let one = [opcode, 0x02, 0x34, 0x56];
        bench.write(if opcode == 0xc7 { &bulk } else { &one });
        for address in [0x1_ffff, 0x2_0000, 0x2_2fff, 0x2_3000, 0x2_3fff, 0x2_4000, 0x2_ffff, 0x3_0000] {
            let expected = if (first..=last).contains(&address) { 0xff } else { 0 };
            assert_eq!(bench.contents(address, 1), [expected], "{opcode:02x}h {address:06x}");
        }
        assert_eq!(bench.notes(), Vec::<String>::new());
    }
}

#[test]
fn erases_are_counted() {
    let mut bench = Bench::new();
    bench.write(&[0x20, 0, 0, 0]);
    bench.write(&[0xd8, 0, 0, 0]);
    bench.write(&[0xc7]);
    assert_eq!(bench.counter("subsectors_erased"), 1);
    assert_eq!(bench.counter("sectors_erased"), 1);
    assert_eq!(bench.counter("bulk_erases"), 1);
}

#[test]
fn nothing_is_written_without_write_enable() {
    let frames: [&[u8]; 9] = [
        &[0x02, 0, 0, 0, 0],
        &[0x20, 0, 0, 0],
        &[0xd8, 0, 0, 0],
        &[0xc7],
        &[0x01, 0x1c],
        &[0xb1, 0, 0],
        &[0x81, 0],
        &[0x61, 0],
        &[0xe5, 0, 0, 0, 1],
    ];
    for frame in frames {
        let mut bench = Bench::new();
        bench.send(frame);
        assert_eq!(bench.notes(), [format!("command {:02X}h ignored: no WRITE ENABLE (06h) before it", frame[0])]);
        assert_eq!(bench.status(), 0);
        assert_eq!(bench.flag_status(), 0x80, "no error bit");
    }
}

#[test]
fn write_disable_clears_the_latch() {
    let mut bench = Bench::new();
    bench.send(&[0x06]);
    bench.send(&[0x04]);
    assert_eq!(bench.status(), 0);
}

#[test]
fn a_busy_chip_answers_its_status_and_nothing_else() {
    let mut bench = Bench::new();
    bench.send(&[0x06]);
    bench.send(&[0x02, 0, 0, 0, 0]);
    assert_eq!(bench.contents(0, 2), [0xff; 2]);
    assert_eq!(bench.ask(&[0x9f], 2), [0xff; 2]);
    bench.send(&[0x06]);
    assert_eq!(bench.status() & 1, 1);
    assert_eq!(bench.flag_status() & 0x80, 0);
    assert_eq!(
        bench.notes(),
        [
            "command 03h ignored: the chip is busy with a page program",
            "command 9Fh ignored: the chip is busy with a page program",
            "command 06h ignored: the chip is busy with a page program",
        ]
    );
    bench.wait(Ps::from_us(READY_US));
    assert_eq!(bench.contents(0, 2), [0, 0xff]);
}

#[test]
fn a_command_counts_from_the_end_of_its_eighth_clock() {
    for (early, answer) in [(0, 0x20), (1, 0xff)] {
        let mut bench = Bench::new();
        bench.send(&[0x06]);
        bench.send(&[0x42, 0, 0, 0, 0]); // 200 us
        bench.wait(Ps::from_us(200) - Ps(8 * CLOCK_PS) - Ps(early));
        assert_eq!(bench.ask(&[0x9f], 1), [answer], "{early} ps early");
    }
}

#[test]
fn a_frame_of_the_wrong_length_is_ignored() {
    // Bytes, then extra clocks on one line.
    let cases: [(&[u8], u32, &str); 8] = [
        (&[0x02, 0, 0, 0, 0x55], 3, "after a whole byte of data"),
        (&[0x02, 0, 0, 0], 0, "after a whole byte of data"),
        (&[0x02, 0, 0], 0, "after a whole byte of data"),
        (&[0x20, 0, 0, 0], 1, "right after the address"),
        (&[0xd8, 0, 0], 5, "right after the address"),
        (&[0xc7], 1, "right after the command"),
        (&[0x01, 0x1c, 0x1c], 0, "after exactly one byte of data"),
        (&[0xb1, 0x1c], 0, "after exactly two bytes of data"),
    ];
    for (bytes, clocks, expected) in cases {
        let mut bench = Bench::new();
        bench.send(&[0x06]);
        bench.select();
        bench.out(Lines::Single, bytes);
        for _ in 0..clocks {
            bench.shift(Lines::Single, Drive::Controller, 1, 0);
        }
        bench.deselect();
        assert_eq!(bench.notes(), [format!("command {:02X}h ignored: its frame must end {expected}", bytes[0])]);
        assert_eq!(bench.status(), 0x02, "the latch stays set");
    }
}

#[test]
fn otp_is_programmed_and_locked() {
    let mut bench = Bench::new();
    bench.write(&[0x42, 0, 0, 2, 0xab, 0xcd]);
    assert_eq!(bench.ask(&[0x4b, 0, 0, 1, 0xff], 4), [0xff, 0xab, 0xcd, 0xff]);
    bench.write(&[0x42, 0, 0, 64, 0xfe]);
    bench.write(&[0x42, 0, 0, 2, 0x00]);
    assert_eq!(bench.ask(&[0x4b, 0, 0, 2, 0xff], 1), [0xab]);
    assert_eq!(bench.flag_status(), 0x80 | 0x10 | 0x02);
}
