//! What each command answers.

use super::*;

#[test]
fn every_command_of_a_ready_card() {
    let legal = [0, 1, 6, 8, 9, 10, 13, 16, 17, 18, 24, 25, 32, 33, 38, 55, 58, 59];
    for index in 0..64 {
        let mut bench = Bench::new();
        // CMD16 wants a length; CMD33 and CMD38 want their sequence.
        let expected = match index {
            0 => 0x01,
            33 | 38 => 0x10,
            _ if legal.contains(&index) => 0,
            _ => 0x04,
        };
        assert_eq!(bench.command(index, if index == 16 { 512 } else { 0 }), expected, "CMD{index}");
    }
}

#[test]
fn every_application_specific_command() {
    for index in 0..64 {
        let mut bench = Bench::new();
        let r1 = bench.application(index, 0);
        match index {
            13 | 22 | 23 | 41 | 42 | 51 => assert_eq!(r1, 0, "ACMD{index}"),
            // A number without an ACMD is the regular command.
            9 | 17 | 24 => assert_eq!(r1, 0, "ACMD{index}"),
            12 | 27 | 43 => assert_eq!(r1, 0x04, "ACMD{index}"),
            _ => {}
        }
    }
    let mut bench = Bench::new();
    bench.application(23, 2);
    assert_eq!(bench.command(23, 2), 0x04, "CMD55 holds for one command");
}

#[test]
fn the_response_comes_after_ncr() {
    for bytes in 1..=8 {
        let mut bench = Bench::cold(&[("cyclescope,response-clocks", cell(bytes * 8))]);
        bench.power_up();
        bench.send(&command_frame(0, 0));
        let seen = bench.bytes(10);
        assert_eq!(seen.iter().position(|byte| *byte == 0x01), Some(bytes as usize));
        assert_eq!(seen.iter().filter(|byte| **byte == 0xff).count(), 9);
    }
}

#[test]
fn cmd8_echoes_voltage_and_pattern() {
    let mut bench = Bench::new();
    assert_eq!((bench.command(8, 0x1aa), bench.bytes(5)), (0, vec![0, 0, 1, 0xaa, 0xff]));
    assert_eq!((bench.command(8, 0x255), bench.bytes(4)), (0, vec![0, 0, 0, 0x55]), "not at low voltages");
    let mut old = Bench::cold(&[("cyclescope,specification", strings(&["1.10"]))]);
    old.power_up();
    old.command(0, 0);
    assert_eq!(old.command(8, 0x1aa), 0x05);
}

#[test]
fn cmd58_gives_the_ocr() {
    let mut bench = Bench::cold(&[]);
    bench.power_up();
    bench.command(0, 0);
    assert_eq!((bench.command(58, 0), bench.bytes(4)), (1, vec![0x00, 0xff, 0x80, 0]));
    assert_eq!(
        (Bench::new().command(58, 0), {
            let mut b = Bench::new();
            b.command(58, 0);
            b.bytes(4)
        }),
        (0, vec![0x80, 0xff, 0x80, 0])
    );
    let mut bench = Bench::with(&[high()]);
    assert_eq!((bench.command(58, 0), bench.bytes(4)), (0, vec![0xc0, 0xff, 0x80, 0]));
}

#[test]
fn cmd12_without_a_transfer_is_illegal() {
    let mut bench = Bench::new();
    assert_eq!(bench.command(12, 0), 0x04);
    assert_eq!(bench.notes(), ["CMD12 is an illegal command now"]);
}

#[test]
fn cmd23_exists_where_the_board_says_so() {
    let mut bench = Bench::with(&[("cyclescope,set-block-count", Vec::new())]);
    assert_eq!(bench.command(23, 2), 0);
    assert_eq!(bench.register(18, 512), [0; 512]);
    assert_eq!(bench.data(512), [0; 512]);
    assert_eq!(bench.command(12, 0), 0x04, "the read has ended by itself");
    bench.command(23, 2);
    assert_eq!(bench.command(25, 0), 0);
    for token in [0xfc, 0xfc] {
        assert_eq!(bench.block(token, &pattern(1)), 0xe5);
        bench.ready();
    }
    assert_eq!(bench.command(13, 0), 0);
    assert_eq!(bench.exchange(0xff), 0);
    assert_eq!(bench.read(1), pattern(1));
}

#[test]
fn cmd16_sets_the_length_of_reads() {
    let mut bench = Bench::new();
    bench.write(3, &pattern(3));
    assert_eq!((bench.command(16, 0), bench.command(16, 513)), (0x40, 0x40));
    assert_eq!(bench.command(16, 64), 0);
    assert_eq!(bench.command(17, 3 * 512 + 64), 0);
    assert_eq!(bench.data(64), pattern(3)[64..128]);
    assert_eq!(bench.command(24, 0), 0x40, "writes have 512 bytes");
    let mut bench = Bench::with(&[high()]);
    assert_eq!(bench.command(16, 64), 0);
    assert_eq!(bench.register(17, 512).len(), 512, "fixed on high capacity cards");
}
