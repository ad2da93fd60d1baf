//! The FL-L family: S25FL128L.

use super::*;
use engine::wire::spi_pins::{PinLevels, Pins};

/// Times and the latency of code 0: property, value.
const FL_L: [(&str, u32); 19] = [
    ("cyclescope,page-program-typical-us", 300),
    ("cyclescope,page-program-maximum-us", 900),
    ("cyclescope,first-byte-program-typical-us", 60),
    ("cyclescope,first-byte-program-maximum-us", 90),
    ("cyclescope,further-byte-program-typical-us", 10),
    ("cyclescope,further-byte-program-maximum-us", 20),
    ("cyclescope,sector-erase-typical-ms", 50),
    ("cyclescope,sector-erase-maximum-ms", 200),
    ("cyclescope,half-block-erase-typical-ms", 190),
    ("cyclescope,half-block-erase-maximum-ms", 363),
    ("cyclescope,block-erase-typical-ms", 270),
    ("cyclescope,block-erase-maximum-ms", 725),
    ("cyclescope,chip-erase-typical-ms", 70_000),
    ("cyclescope,chip-erase-maximum-ms", 180_000),
    ("cyclescope,write-registers-typical-ms", 220),
    ("cyclescope,write-registers-maximum-ms", 750),
    ("cyclescope,suspend-latency-us", 40),
    ("cyclescope,release-us", 3),
    ("cyclescope,latency-code-0-clocks", 0),
];

/// A node of the part; `changes` replace properties.
fn fl_l_node(changes: &[(&str, Vec<u8>)]) -> Node {
    let names: Vec<&str> = FL_L.iter().map(|(name, _)| *name).collect();
    let sources = format!("{}: datasheet", names.join(", "));
    let mut values: Vec<(&str, Vec<u8>)> = vec![
        ("compatible", strings(&["cypress,s25fl128l", "jedec,spi-nor"])),
        ("cyclescope,sources", strings(&[&sources])),
    ];
    values.extend(FL_L.iter().map(|(name, value)| (*name, cell(*value))));
    values.extend(changes.iter().map(|(name, value)| (*name, value.clone())));
    let mut node = node(&values);
    node.properties.retain(|property| {
        !TIMES.iter().any(|(name, _)| *name == property.name) || FL_L.iter().any(|(name, _)| *name == property.name)
    });
    node
}

fn bench_with(changes: &[(&str, Vec<u8>)]) -> Bench {
    let (flash, faults) = read_node(&fl_l_node(changes));
    assert_eq!(faults, []);
    Bench { flash, now: Ps::ZERO }
}

const BASE: u32 = 0x12_3400;

fn byte_at(address: u32) -> u8 {
    (address ^ address >> 5 ^ 0xa7) as u8
}

fn word_at(address: u32) -> u32 {
    u32::from_be_bytes([0, 1, 2, 3].map(|byte| byte_at(address + byte)))
}

pub(super) fn bench() -> Bench {
    let mut bench = bench_with(&[]);
    let contents: Vec<u8> = (BASE..BASE + 0x400).map(byte_at).collect();
    assert!(bench.flash.preload(BASE, &contents));
    bench
}

/// QUAD, and a read latency, as a controller's firmware sets them.
pub(super) fn set_up(bench: &mut Bench, latency: u32) {
    for frame in [&[0x06][..], &[0x71, 0x80, 0, 0x02, 0x02], &[0x06], &[0x71, 0x80, 0, 0x04, 0x70 | latency as u8]] {
        bench.send(frame);
    }
}

/// A read with a mode byte: opcode, lines, rate, clocks up to and with the mode byte.
type Read = (u8, Lines, Rate, u32);
const READS: [Read; 3] =
    [(0xbb, Lines::Dual, Rate::Single, 16), (0xeb, Lines::Quad, Rate::Single, 8), (0xed, Lines::Quad, Rate::Double, 4)];

impl Bench {
    /// A frame of `words` words; with the command, or as the continuation of the frame before.
    fn frame(&mut self, read: Read, command: bool, address: u32, mode: u8, dummies: u32, words: usize) -> Vec<u32> {
        let (opcode, lines, rate, _) = read;
        self.select();
        if command {
            self.out(Lines::Single, &[opcode]);
        }
        self.burst(Burst::output(lines, rate, 32, address << 8 | u32::from(mode)));
        if dummies > 0 {
            self.burst(Burst::dummy(lines, dummies));
        }
        let words = (0..words).map(|_| self.burst(Burst::input(lines, rate, 32))).collect();
        self.deselect();
        words
    }
}

#[test]
fn it_says_what_it_is() {
    let mut bench = bench();
    assert_eq!(bench.ask(&[0x9f], 4), [0x01, 0x60, 0x18, 0xff]);
    assert_eq!(bench.ask(&[0xab, 0, 0, 0], 1), [0x18]);
    for compatible in ["spansion,s25fl128l", "infineon,s25fl128l"] {
        let changes = [("compatible", strings(&[compatible, "jedec,spi-nor"]))];
        assert_eq!(bench_with(&changes).flash.part.size_bytes, 16 << 20);
    }
}

#[test]
fn registers_are_as_delivered_and_read_by_address_after_the_latency() {
    let mut bench = bench();
    assert_eq!(bench.ask(&[0x05], 2), [0, 0]);
    assert_eq!([0x07, 0x35, 0x15, 0x33].map(|opcode| bench.ask(&[opcode], 1)[0]), [0, 0, 0x60, 0x78]);
    set_up(&mut bench, 8);
    // Eight dummy clocks are one byte.
    let registers = [0, 1, 2, 3, 4].map(|low| bench.ask(&[0x65, 0x80, 0, low, 0], 1)[0]);
    assert_eq!(registers, [0, 0, 0x02, 0x60, 0x78]);
    let nonvolatile = [0, 2, 3, 4].map(|low| bench.ask(&[0x65, 0, 0, low, 0], 1)[0]);
    assert_eq!(nonvolatile, [0, 0, 0x60, 0x78]);
    assert_eq!(bench.notes(), Vec::<String>::new());
}

#[test]
fn reads_take_any_latency_with_and_without_continuation() {
    for read in READS {
        for latency in 0..16 {
            let mut bench = bench();
            set_up(&mut bench, latency);
            let expected = [word_at(BASE + 8), word_at(BASE + 12), word_at(BASE + 16)];
            let case = format!("{:02X}h with {latency}", read.0);
            assert_eq!(bench.frame(read, true, BASE + 8, 0xff, latency, 3), expected, "{case}");
            assert_eq!(bench.frame(read, true, BASE + 8, 0xa5, latency, 3), expected, "{case}");
            for _ in 0..2 {
                assert_eq!(bench.frame(read, false, BASE + 8, 0xa5, latency, 3), expected, "{case}, continued");
            }
            assert_eq!(bench.frame(read, false, BASE + 12, 0xff, latency, 1), [expected[1]], "{case}, the last");
            assert_eq!(bench.ask(&[0x9f], 1), [0x01], "{case}, over");
            assert_eq!(bench.notes(), Vec::<String>::new(), "{case}");
        }
    }
}

#[test]
fn fast_reads_without_mode_byte_take_the_latency_too() {
    for (opcode, lines) in [(0x0b, Lines::Single), (0x3b, Lines::Dual), (0x6b, Lines::Quad)] {
        for latency in [0, 1, 7, 15] {
            let mut bench = bench();
            set_up(&mut bench, latency);
            bench.select();
            bench.out(Lines::Single, &[opcode]);
            bench.burst(Burst::output(Lines::Single, Rate::Single, 24, BASE));
            bench.burst(Burst::dummy(lines, latency));
            assert_eq!(bench.burst(Burst::input(lines, Rate::Single, 32)), word_at(BASE));
            assert_eq!(bench.notes(), Vec::<String>::new());
        }
    }
}

#[test]
fn latency_code_0_is_what_the_board_says() {
    let mut bench = bench_with(&[("cyclescope,latency-code-0-clocks", cell(8))]);
    assert!(bench.flash.preload(BASE, &word_at(BASE).to_be_bytes()));
    set_up(&mut bench, 0);
    assert_eq!(bench.frame(READS[1], true, BASE, 0xff, 8, 1), [word_at(BASE)]);
}

#[test]
fn a_wrong_latency_reads_wrong_data_and_leaves_a_note() {
    for read in READS {
        for (chip, controller) in [(8, 7), (8, 9), (4, 8), (8, 4), (8, 0), (0, 8), (15, 1)] {
            let mut bench = bench();
            set_up(&mut bench, chip);
            assert_ne!(bench.frame(read, true, BASE, 0xff, controller, 1), [word_at(BASE)]);
            let expected = format!("command {:02X}h: {controller} dummy clocks, the chip expects {chip}", read.0);
            assert!(bench.notes().contains(&expected), "{expected}");
        }
    }
}

#[test]
fn a_wrong_rate_reads_wrong_data_and_leaves_a_note() {
    let mut bench = bench();
    set_up(&mut bench, 4);
    let ddr_as_sdr = (0xed, Lines::Quad, Rate::Single, 8);
    assert_ne!(bench.frame(ddr_as_sdr, true, BASE, 0xff, 4, 1), [word_at(BASE)]);
    assert!(bench.notes().contains(&"command EDh: the chip takes address on both edges of each clock".to_owned()));
    let sdr_as_ddr = (0xeb, Lines::Quad, Rate::Double, 4);
    assert_ne!(bench.frame(sdr_as_ddr, true, BASE, 0xff, 4, 1), [word_at(BASE)]);
    assert!(bench.notes().contains(&"command EBh: the chip takes address on one edge of each clock".to_owned()));
}

#[test]
fn quad_commands_need_quad() {
    let mut bench = bench();
    for read in [READS[1], READS[2]] {
        assert_eq!(bench.frame(read, true, BASE, 0xa5, 8, 1), [u32::MAX]);
        let expected = format!("command {:02X}h ignored: quad data lines are not enabled (CR1V, bit 1)", read.0);
        assert_eq!(bench.notes(), [expected]);
    }
    assert_eq!(bench.frame(READS[0], true, BASE, 0xff, 8, 1), [word_at(BASE)], "dual reads don't");
}

#[test]
fn continuous_reads_end_by_ones_clocked_by_hand() {
    for (read, latency) in READS.into_iter().zip([1, 4, 8]) {
        let mut bench = bench();
        set_up(&mut bench, latency);
        bench.frame(read, true, BASE, 0xa5, latency, 1);
        let (_, lines, _, exit_clocks) = read;
        let mut pins = Pins::new();
        let mut set = |clock, enables, levels| {
            bench.wait(Ps(CLOCK_PS / 2));
            pins.set(PinLevels { selected: true, clock, enables, levels }, bench.now, &mut bench.flash);
        };
        for _ in 0..exit_clocks {
            set(false, lines.mask(), 0xf);
            set(true, lines.mask(), 0xf);
        }
        for _ in 0..latency {
            set(false, 0, 0);
            set(true, 0, 0);
        }
        set(false, 0, 0);
        pins.set(PinLevels::default(), bench.now, &mut bench.flash);
        set_up(&mut bench, 3);
        assert_eq!(bench.frame(read, true, BASE, 0xff, 3, 1), [word_at(BASE)], "{:02X}h", read.0);
        assert_eq!(bench.notes(), Vec::<String>::new());
    }
}

#[test]
fn continuous_reads_end_by_mode_bit_reset_and_by_a_frame_without_data() {
    for read in READS {
        let mut bench = bench();
        set_up(&mut bench, 2);
        bench.frame(read, true, BASE, 0xa5, 2, 1);
        bench.send(&[0xff]);
        assert_eq!(bench.ask(&[0x9f], 1), [0x01], "{:02X}h", read.0);
        bench.send(&[0xff]);
        assert_eq!(bench.notes(), Vec::<String>::new());
        bench.frame(read, true, BASE, 0xa5, 2, 1);
        bench.frame(read, false, BASE, 0xa5, 0, 0);
        assert_eq!(bench.ask(&[0x9f], 1), [0x01], "{:02X}h", read.0);
    }
}

#[test]
fn the_mode_byte_is_axh_and_at_the_double_rate_its_own_complement() {
    for (read, modes, others) in
        [(READS[1], [0xa0, 0xaf, 0xa5], [0x5a, 0x00, 0xb5]), (READS[2], [0xa5, 0x5a, 0x0f], [0xa0, 0xff, 0xaf])]
    {
        for (modes, continues) in [(modes, true), (others, false)] {
            for mode in modes {
                let mut bench = bench();
                set_up(&mut bench, 1);
                bench.frame(read, true, BASE, mode, 1, 1);
                assert_eq!(bench.flash.xip.is_some(), continues, "{:02X}h with {mode:02X}h", read.0);
            }
        }
    }
}

#[test]
fn a_whole_word_is_what_its_clocks_are_one_by_one() {
    let (mut whole, mut single) = (bench(), bench());
    for (opcode, lines, rate, _) in READS {
        for bench in [&mut whole, &mut single] {
            set_up(bench, 1);
            bench.select();
            bench.out(Lines::Single, &[opcode]);
            bench.burst(Burst::output(lines, rate, 32, (BASE + 2) << 8 | 0xff));
            bench.burst(Burst::dummy(lines, 1));
        }
        let one = Burst { clocks: 1, ..Burst::input(lines, rate, 0) };
        for _ in 0..8 {
            let word = whole.burst(Burst::input(lines, rate, 32));
            let bits = one.bits_per_clock();
            assert_eq!(word, (0..32 / bits).fold(0, |word: u32, _| word.unbounded_shl(bits) | single.burst(one)));
        }
        whole.deselect();
        single.deselect();
    }
    assert_eq!(whole.flash.counters(), single.flash.counters());
}

#[test]
fn words_run_on_across_sectors_and_wrap_at_the_end() {
    let mut bench = bench();
    set_up(&mut bench, 1);
    assert!(bench.flash.preload(0xff_fffa, &[1, 2, 3, 4, 5, 6]) && bench.flash.preload(0, &[7, 8]));
    assert_eq!(bench.frame(READS[1], true, 0xff_fffa, 0xff, 1, 2), [0x0102_0304, 0x0506_0708]);
    assert!(bench.flash.preload(0xffe, &[9, 10, 11, 12]));
    assert_eq!(bench.frame(READS[2], true, 0xffe, 0xff, 1, 1), [0x090a_0b0c]);
}

#[test]
fn quad_io_reads_wrap_where_configuration_register_3_says() {
    for (code, bytes) in [(0, 8), (1, 16), (2, 32), (3, 64)] {
        let mut bench = bench();
        set_up(&mut bench, 8);
        bench.send(&[0x06]);
        bench.send(&[0x71, 0x80, 0, 0x04, code << 5 | 8]);
        let words = bench.frame(READS[1], true, BASE + bytes - 4, 0xff, 8, 2);
        assert_eq!(words, [word_at(BASE + bytes - 4), word_at(BASE)]);
        let words = bench.frame(READS[0], true, BASE + bytes - 4, 0xff, 8, 2);
        assert_eq!(words[1], word_at(BASE + bytes), "dual reads don't");
    }
}

#[test]
fn volatile_registers_are_written_at_once_and_lost_by_a_reset() {
    let mut bench = bench();
    bench.send(&[0x71, 0x80, 0, 0x02, 0x02]);
    assert_eq!(bench.notes(), ["command 71h ignored: no WRITE ENABLE (06h) before it"]);
    bench.send(&[0x50]);
    bench.send(&[0x01, 0x00, 0x02, 0x60, 0x74]);
    assert_eq!([0x35, 0x33, 0x05].map(|opcode| bench.ask(&[opcode], 1)[0]), [0x02, 0x74, 0x00]);
    bench.send(&[0x66]);
    bench.send(&[0x99]);
    assert_eq!([0x35, 0x33].map(|opcode| bench.ask(&[opcode], 1)[0]), [0x00, 0x78]);
    assert_eq!(bench.notes(), Vec::<String>::new());
}

#[test]
fn nonvolatile_registers_take_their_time_and_stay() {
    for frame in [&[0x01, 0x00, 0x02, 0x60, 0x74][..], &[0x71, 0, 0, 0x02, 0x02]] {
        let mut bench = bench();
        bench.send(&[0x06]);
        bench.send(frame);
        bench.wait(Ps::from_us(219_990));
        assert_eq!(bench.status(), 0x03);
        bench.wait(Ps::from_us(10));
        assert_eq!(bench.status(), 0x00);
        bench.send(&[0x66]);
        bench.send(&[0x99]);
        assert_eq!(bench.ask(&[0x35], 1), [0x02]);
    }
}

#[test]
fn what_a_register_write_cannot_do_is_noted() {
    let mut bench = bench();
    for frame in
        [[0x71, 0x80, 0, 0x03, 0x68], [0x71, 0x80, 0, 0x07, 0], [0x71, 0x80, 0, 0x02, 0x01], [0x71, 0x80, 0, 0x00, 4]]
    {
        bench.send(&[0x06]);
        bench.send(&frame);
    }
    assert_eq!(
        bench.notes(),
        [
            "CR2 was written with 68h: some of its bits are not modelled and stay 0",
            "command 71h ignored: no register at 800007h",
            "a register write was ignored: SRP1 (CR1V, bit 0) locks them until power-up",
        ]
    );
    assert_eq!([0x05, 0x15, 0x35].map(|opcode| bench.ask(&[opcode], 1)[0]), [0x00, 0x60, 0x01]);
}

#[test]
fn busy_times_are_the_boards() {
    let program = |bytes: usize| [vec![0x02, 0, 0, 0], vec![0; bytes]].concat();
    let cases: [(Vec<u8>, u64, u64); 8] = [
        (program(256), 300, 900),
        (program(1), 60, 90),
        (program(3), 60 + 2 * 10, 90 + 2 * 20),
        (vec![0x20, 0, 0, 0], 50_000, 200_000),
        (vec![0x52, 0, 0, 0], 190_000, 363_000),
        (vec![0xd8, 0, 0, 0], 270_000, 725_000),
        (vec![0x60], 70_000_000, 180_000_000),
        (vec![0xc7], 70_000_000, 180_000_000),
    ];
    for (frame, typical_us, maximum_us) in cases {
        for (column, us) in [("typical", typical_us), ("maximum", maximum_us)] {
            let mut bench = bench_with(&[("cyclescope,busy-times", strings(&[column]))]);
            bench.send(&[0x06]);
            bench.send(&frame);
            let end = bench.now + Ps::from_us(us);
            assert_eq!(bench.flash.status(end - Ps(1)), 0x03, "{frame:02x?} {column}");
            assert_eq!(bench.flash.status(end), 0x00, "{frame:02x?} {column}");
        }
    }
}

#[test]
fn erases_take_their_units() {
    for (opcode, bytes, counter) in
        [(0x20, 0x1000, "subsectors_erased"), (0x52, 0x8000, "half_blocks_erased"), (0xd8, 0x1_0000, "sectors_erased")]
    {
        let mut bench = bench_with(&[]);
        assert!(bench.flash.preload(0, &vec![0; 0x2_0000]));
        bench.write(&[opcode, 0, 0x12, 0x34]);
        let base = 0x1234 & !(bytes - 1);
        assert_eq!(bench.contents(base + bytes - 1, 2), [0xff, 0x00], "{opcode:02x}h");
        assert_eq!(bench.counter(counter), 1);
    }
}

#[test]
fn a_failure_keeps_the_chip_busy_until_it_is_cleared() {
    let mut bench = bench();
    // The upper 64 KiB; then all but them.
    for (registers, protected, open) in [([0x04, 0x00], 0xff_0000, 0xfe_ffff), ([0x04, 0x40], 0xfe_ffff, 0xff_0000)] {
        bench.write(&[0x01, registers[0], registers[1]]);
        bench.program(protected, &[0]);
        assert_eq!((bench.ask(&[0x05], 1), bench.ask(&[0x07], 1)), (vec![0x07], vec![0x20]));
        bench.send(&[0x9f]);
        bench.send(&[0x30]);
        assert_eq!((bench.ask(&[0x05], 1), bench.ask(&[0x07], 1)), (vec![0x04], vec![0x00]));
        bench.program(open, &[0]);
        assert_eq!(bench.contents(open, 1), [0]);
        bench.write(&[0xc7]);
        assert_eq!(bench.ask(&[0x07], 1), [0x40]);
        bench.send(&[0x30]);
    }
    let notes = bench.notes();
    assert!(notes.contains(&"command 02h failed: 0xff0000 is in a protected sector".to_owned()), "{notes:?}");
    assert!(
        notes.contains(
            &"command 9Fh ignored: the chip is busy with a failed program or erase (30h clears it)".to_owned()
        )
    );
}

#[test]
fn protection_counts_from_either_end_up_to_all() {
    for (status, first_protected) in [(0x04, 0xff_0000), (0x08, 0xfe_0000), (0x20, 0x80_0000)] {
        let mut bench = bench();
        bench.write(&[0x01, status]);
        assert!(bench.flash.registers.is_protected(first_protected));
        assert!(!bench.flash.registers.is_protected(first_protected - 1));
        bench.write(&[0x01, status | 0x40]);
        assert!(bench.flash.registers.is_protected(0xff_ffff - first_protected));
        assert!(!bench.flash.registers.is_protected(0x100_0000 - first_protected));
    }
    let mut bench = bench();
    bench.write(&[0x01, 0x3c]);
    assert!(bench.flash.registers.is_protected(0) && bench.flash.registers.is_protected(0xff_ffff));
}

#[test]
fn an_erase_suspends_and_resumes() {
    let mut bench = bench();
    bench.send(&[0x06]);
    bench.send(&[0x52, 0, 0, 0]);
    bench.send(&[0x75]);
    bench.wait(Ps::from_us(40));
    assert_eq!([0x05, 0x07, 0x35].map(|opcode| bench.ask(&[opcode], 1)[0]), [0x00, 0x02, 0x80]);
    assert_eq!(bench.contents(BASE, 1), [byte_at(BASE)]);
    bench.send(&[0x7a]);
    assert_eq!([0x05, 0x07].map(|opcode| bench.ask(&[opcode], 1)[0] & 3), [0x01, 0x00]);
    assert_eq!(bench.notes(), Vec::<String>::new());
}

#[test]
fn deep_power_down_ends_with_its_release_and_a_wait() {
    let mut bench = bench();
    bench.send(&[0xab]);
    assert_eq!(bench.ask(&[0x9f], 1), [0x01], "nothing to release, nothing to wait for");
    bench.send(&[0xb9]);
    assert_eq!(bench.ask(&[0x9f], 1), [0xff]);
    bench.send(&[0xab]);
    assert_eq!(bench.ask(&[0x9f], 1), [0xff]);
    bench.wait(Ps::from_us(3));
    assert_eq!(bench.ask(&[0x9f], 1), [0x01]);
    assert_eq!(
        bench.notes(),
        [
            "command 9Fh ignored: the chip is in deep power-down (ABh ends it)",
            "command 9Fh ignored: the chip is busy with a release from deep power-down",
        ]
    );
}

#[test]
fn a_node_without_a_time_is_refused() {
    let mut node = fl_l_node(&[]);
    node.properties.retain(|property| property.name != "cyclescope,latency-code-0-clocks");
    let faults = read_node(&node).1;
    assert!(faults.iter().any(|fault| fault.to_string().contains("cyclescope,latency-code-0-clocks")), "{faults:?}");
}
