//! Receptions in RX_AACK.

use super::super::aack::verdict;
use super::super::fcs;
use super::*;
use crate::registers::Registers;

const PAN: u16 = 0x1234;
const SHORT: u16 = 0x5678;
/// Header and check sequence of the peer's frame, and 20 bytes between.
const BYTES: u8 = 31;

/// A receiver in RX_AACK_ON with an address, and a peer that sends to `destination`.
fn listening(destination: (u16, u16)) -> Bench {
    let peer =
        Peer { lengths: vec![BYTES], interval: Ps::from_us(5000), destination: Some(destination), ..Peer::default() };
    let mut bench = Bench::of(Part::At86rf231, peer);
    bench.start();
    address(|at, value| bench.write(at, value));
    bench.go(Command::PLL_ON);
    bench.read(IRQ_STATUS);
    bench.command(Command::RX_AACK_ON);
    bench
}

fn address(mut write: impl FnMut(u32, u8)) {
    let bytes = SHORT.to_le_bytes().into_iter().chain(PAN.to_le_bytes());
    (0x20..).zip(bytes).for_each(|(at, value)| write(at, value));
}

#[test]
fn a_frame_is_acknowledged_twelve_symbols_after_it() {
    for (time, wait) in [(0x00, 192), (0x04, 32)] {
        let mut bench = listening((PAN, SHORT));
        bench.write(registers::XAH_CTRL_1, time);
        let begins = bench.chip.wakes_at().unwrap();
        let mut events = Vec::new();
        while bench.counter("acknowledgements_sent") == 0 {
            let due = bench.chip.wakes_at().unwrap();
            bench.chip.advance(due);
            events.push(((due - begins).0 / 1_000_000, bench.chip.status_code(), bench.chip.registers[IRQ_STATUS]));
        }
        let end = 192 + u64::from(BYTES) * 32;
        let expected = [
            (0, 0x16, 0x00),
            (160, 0x11, 0x00),
            (192, 0x11, 0x00),
            (201, 0x11, 0x04),
            // Nine bytes of header, and the interrupt's latency.
            (192 + 9 * 32 + 9, 0x11, 0x24),
            (end, 0x11, 0x24),
            (end + 9, 0x11, 0x2c),
            (end + wait + 352, 0x16, 0x2c),
        ];
        assert_eq!(events, expected);
        let mut ack = vec![0x02, 0x00, 0x00, 0, 0];
        fcs::close(&mut ack);
        assert_eq!(bench.chip.last_sent, ack);
        bench.now = bench.chip.now;
        assert_eq!(bench.read(TRX_STATE) >> 5, 0);
        assert_eq!(bench.frame().0, super::super::air::psdu(BYTES, 0, Some((PAN, SHORT))));
    }
}

#[test]
fn what_is_for_others_is_not_reported_of() {
    for destination in [(PAN, 1), (1, SHORT)] {
        let mut bench = listening(destination);
        bench.wait_us(9000);
        assert_eq!(bench.read(IRQ_STATUS) & 0x28, 0, "{destination:?}");
        let names = ["frames_received", "frames_filtered", "acknowledgements_sent"];
        assert_eq!(names.map(|name| bench.counter(name)), [0, 1, 0]);
        assert_eq!(bench.status(), 0x16);
    }
    // Broadcast frames are not acknowledged.
    let mut bench = listening((0xffff, 0xffff));
    bench.wait_us(9000);
    assert_eq!((bench.counter("frames_received"), bench.counter("acknowledgements_sent")), (1, 0));
}

#[test]
fn acknowledging_can_be_off_and_the_filter_too() {
    let mut bench = listening((PAN, SHORT));
    bench.write(registers::CSMA_SEED_1, 0x52);
    bench.wait_us(9000);
    assert_eq!((bench.counter("frames_received"), bench.counter("acknowledgements_sent")), (1, 0));
    let mut bench = listening((PAN, 1));
    bench.write(registers::XAH_CTRL_1, 0x02);
    bench.wait_us(9000);
    assert_eq!((bench.counter("frames_received"), bench.counter("acknowledgements_sent")), (1, 0));
}

#[test]
fn the_filter_has_the_standards_rules() {
    let mut registers = Registers::new(Part::At86rf231.map());
    address(|at, value| registers.set(at, value.into()));
    (0x24..0x2c).for_each(|at| registers.set(at, at));
    // Frame control, sequence number, addresses; accepted, acknowledged.
    let rules: [(&[u8], bool, bool); 13] = [
        (&[0x61, 0x88, 1, 0x34, 0x12, 0x78, 0x56, 1, 0], true, true),
        (&[0x41, 0x88, 1, 0x34, 0x12, 0x78, 0x56, 1, 0], true, false),
        (&[0x61, 0x8c, 1, 0x34, 0x12, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 1, 0], true, true),
        (&[0x61, 0x8c, 1, 0x34, 0x12, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x00, 1, 0], false, false),
        (&[0x63, 0x88, 1, 0x34, 0x12, 0x78, 0x56, 1, 0, 4], true, true),
        (&[0x61, 0x88, 1, 0xff, 0xff, 0x78, 0x56, 1, 0], true, true),
        // An acknowledgement, a frame that is too short, a reserved addressing mode.
        (&[0x02, 0x00, 1], false, false),
        (&[0x61, 0x88, 1, 0x34], false, false),
        (&[0x61, 0x84, 1, 0x34, 0x12, 0x78, 0x56, 1, 0], false, false),
        // Versions 1 and 2: AACK_FVN_MODE lets 1 pass.
        (&[0x61, 0x98, 1, 0x34, 0x12, 0x78, 0x56, 1, 0], true, true),
        (&[0x61, 0xa8, 1, 0x34, 0x12, 0x78, 0x56, 1, 0], false, false),
        // A beacon of the PAN, and of another.
        (&[0x00, 0x80, 1, 0x34, 0x12, 1, 0], true, false),
        (&[0x00, 0x80, 1, 0x35, 0x12, 1, 0], false, false),
    ];
    for (header, accepted, acknowledged) in rules {
        let mut psdu = [header, &[0, 0]].concat();
        fcs::close(&mut psdu);
        let found = verdict(&registers, &psdu);
        assert_eq!((found.accepted, found.acknowledged), (accepted, acknowledged), "{header:02x?}");
    }
    // Only a source: for a coordinator.
    let from = [0x21, 0x80, 1, 0x34, 0x12, 1, 0, 0, 0];
    assert!(!verdict(&registers, &from).accepted);
    registers.set(registers::CSMA_SEED_1, 0x4a);
    assert!(verdict(&registers, &from).acknowledged);
    // Reserved types: unless AACK_UPLD_RES_FT lets them pass, filtered or not.
    let reserved = [0x65, 0x88, 1, 0x34, 0x12, 0x99, 0x56, 1, 0, 0, 0];
    for (control, accepted) in [(0x00, false), (0x10, true), (0x30, false)] {
        registers.set(registers::XAH_CTRL_1, control);
        assert_eq!(verdict(&registers, &reserved).accepted, accepted, "{control:#x}");
    }
}

#[test]
fn the_pending_bit_answers_a_request_for_data() {
    let mut bench = Bench::new();
    bench.write(registers::CSMA_SEED_1, 0x62);
    let request = |id| [0x63, 0x88, 9, 0x34, 0x12, 0x78, 0x56, 1, 0, id, 0, 0];
    let first = |bench: &Bench, id| bench.chip.acknowledgement_of(&request(id))[0];
    assert_eq!((first(&bench, 4), first(&bench, 7)), (0x12, 0x02));
}
