//! What is in the FIFOs, and from when to when.

use super::*;

fn recorded() -> Rig {
    let mut rig = Rig::new(params(Lines::Single));
    rig.bench.record_entries();
    rig
}

#[test]
fn a_byte_is_in_a_fifo_as_long_as_axi_sees_it_there() {
    let mut rig = recorded();
    rig.send(Ps(0), &[0x05, 0x17]);
    // Looks in between change nothing. Reads are taken at the next edges of 10 ns.
    rig.status(Ps(400_000));
    rig.bench.value(Ps(600_000), DRR);
    rig.bench.value(Ps(699_000), DRR);
    // The wire starts at 50 ns and takes 200 ns a byte; from the AXI edges at 250 and 450 ns on it takes 3 of 10 ns.
    let end = Ps(1_000_000);
    assert_eq!(rig.bench.entries("TX FIFO", end), [(0, 280_000, 0x05), (0, 480_000, 0x17)]);
    // The chip answers with a count.
    assert_eq!(rig.bench.entries("RX FIFO", end), [(280_000, 600_000, 0), (480_000, 700_000, 1)]);
}

#[test]
fn what_is_reset_leaves_then_and_what_is_there_at_the_end_stays() {
    let mut rig = recorded();
    rig.send(Ps(0), &[1]);
    rig.bench.write(Ps(1_000_000), SPICR, STOP).unwrap();
    for (at, byte) in [(1_200_000, 2), (1_300_000, 3)] {
        rig.bench.write(Ps(at), DTR, byte).unwrap();
    }
    rig.bench.write(Ps(1_500_000), SPICR, STOP | SPICR_TX_FIFO_RESET | SPICR_RX_FIFO_RESET).unwrap();
    rig.bench.write(Ps(2_000_000), DTR, 4).unwrap();
    let end = Ps(3_000_000);
    let sent = rig.bench.entries("TX FIFO", end);
    assert_eq!(
        sent,
        [(0, 280_000, 1), (1_200_000, 1_500_000, 2), (1_300_000, 1_500_000, 3), (2_000_000, 3_000_000, 4)]
    );
    assert_eq!(rig.bench.entries("RX FIFO", end), [(280_000, 1_500_000, 0)]);
}

#[test]
fn the_end_of_the_run_is_recorded_as_axi_would_see_it() {
    // The first byte is through at 250 ns, which is seen at 280 ns, the second at 450 ns.
    for (end, sent, received) in [(260_000, 260_000, None), (300_000, 280_000, Some((280_000, 300_000, 0)))] {
        let mut rig = recorded();
        rig.send(Ps(0), &[0x05, 0x17]);
        assert_eq!(rig.bench.entries("TX FIFO", Ps(end)), [(0, sent, 0x05), (0, end, 0x17)]);
        assert_eq!(rig.bench.entries("RX FIFO", Ps(end)), Vec::from_iter(received));
    }
}

#[test]
fn a_byte_that_is_refused_is_in_no_fifo() {
    let mut rig = Rig::new(Params { fifo_depth: 16, ..params(Lines::Single) });
    rig.bench.record_entries();
    rig.bench.write(Ps(0), SPICR, STOP).unwrap();
    let accepted = (0..20).filter(|byte| rig.bench.write(Ps(10_000), DTR, *byte).is_ok()).count();
    assert!(rig.bench.read(Ps(20_000), DRR).is_err());
    let entries: Vec<_> = (0..16).map(|byte| (10_000, 90_000, byte)).collect();
    assert_eq!((accepted, rig.bench.entries("TX FIFO", Ps(90_000))), (16, entries));
    assert_eq!(rig.bench.entries("RX FIFO", Ps(90_000)), []);
}

#[test]
fn registers_alone_are_no_fifos() {
    let mut rig = Rig::new(Params { fifo_depth: 0, ..params(Lines::Single) });
    rig.bench.record_entries();
    rig.send(Ps(0), &[0x05]);
    rig.bench.value(Ps(600_000), DRR);
    assert_eq!(rig.bench.entries("TX FIFO", Ps(900_000)), []);
    assert_eq!(rig.bench.entries("RX FIFO", Ps(900_000)), []);
}
