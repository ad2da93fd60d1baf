//! READ ID, SFDP, and the command table.

use super::super::commands::Protocol;
use super::super::commands::n25q::{COMMANDS, TABLE};
use super::*;

#[test]
fn each_opcode_finds_its_own_row_and_no_other_exists() {
    for command in &COMMANDS {
        assert_eq!(TABLE.find(command.opcode), Some(command), "{:#04x} {}", command.opcode, command.name);
    }
    let known = (0..=255).filter(|opcode| TABLE.find(*opcode).is_some()).count();
    assert_eq!(known, COMMANDS.len());
    assert_eq!(TABLE.find(0x00), None);
}

#[test]
fn read_id_gives_twenty_bytes() {
    for opcode in [0x9e, 0x9f] {
        let id = Bench::new().ask(&[opcode], 20);
        assert_eq!(id[..6], [0x20, 0xba, 0x18, 0x10, 0, 0]);
    }
    let low_voltage = [("compatible", strings(&["micron,n25q128a11", "jedec,spi-nor"]))];
    assert_eq!(Bench::with(&low_voltage).ask(&[0x9f], 3), [0x20, 0xbb, 0x18]);
}

#[test]
fn read_id_is_full_duplex_on_single_lines() {
    let mut bench = Bench::new();
    bench.select();
    assert_eq!(bench.shift(Lines::Single, Drive::Controller, 8, 0x9f), 0xff);
    assert_eq!(bench.shift(Lines::Single, Drive::Controller, 8, 0x00), 0x20);
    assert_eq!(bench.shift(Lines::Single, Drive::Controller, 16, 0xffff), 0xba18);
}

#[test]
fn sfdp_has_its_signature_and_the_density() {
    let mut bench = Bench::new();
    assert_eq!(bench.ask(&[0x5a, 0, 0, 0, 0xff], 4), *b"SFDP");
    // Parameter header: pointer 30h.
    assert_eq!(bench.ask(&[0x5a, 0, 0, 0x0c, 0xff], 3), [0x30, 0, 0]);
    // Word 2 of the basic table: 128 Mbit less one.
    assert_eq!(bench.ask(&[0x5a, 0, 0, 0x34, 0xff], 4), 0x07ff_ffff_u32.to_le_bytes());
    // Past the table.
    assert_eq!(bench.ask(&[0x5a, 0, 0, 0x54, 0xff], 2), [0xff, 0xff]);
}

#[test]
fn multiple_io_read_id_exists_in_the_dual_and_quad_protocols_only() {
    assert_eq!(Bench::new().ask(&[0xaf], 3), [0xff; 3]);
    for (register, lines) in [(0x5f, Lines::Quad), (0x9f, Lines::Dual)] {
        let mut bench = Bench::new();
        bench.write(&[0x61, register]);
        bench.select();
        bench.out(lines, &[0xaf]);
        assert_eq!(bench.read(lines, 4), [0x20, 0xba, 0x18, 0xff]);
        bench.deselect();
        bench.select();
        bench.out(lines, &[0x9f]);
        assert_eq!(bench.read(lines, 1), [0xff], "READ ID is not in this protocol");
    }
}

#[test]
fn protocols_are_bits_of_a_row() {
    assert!(TABLE.find(0x9f).unwrap().exists_in(Protocol::Single));
    assert!(!TABLE.find(0x9f).unwrap().exists_in(Protocol::Dual));
    assert!(!TABLE.find(0x6b).unwrap().exists_in(Protocol::Dual));
    assert!(TABLE.find(0x6b).unwrap().exists_in(Protocol::Quad));
}
