//! The AT86RF230 beside the AT86RF231.

use super::super::part::RF230;
use super::*;

fn rf230(acknowledged_pct: u64) -> Bench {
    let peer = Peer { lengths: vec![20], interval: Ps::from_us(5000), acknowledged_pct, ..Peer::default() };
    let mut bench = Bench::of(Part::At86rf230, peer);
    bench.start();
    bench
}

#[test]
fn it_says_which_it_is_and_has_its_own_registers() {
    let mut bench = rf230(0);
    bench.go(Command::PLL_ON);
    assert_eq!([0x1c, 0x1d, 0x1e, 0x1f].map(|at| bench.read(at)), [0x02, 0x02, 0x1f, 0x00]);
    let known: Vec<u32> = RF230.rows.iter().map(|register| register.offset).collect();
    assert!(known.is_sorted() && known.len() == 35);
    for absent in [registers::TRX_CTRL_1, registers::TRX_CTRL_2, registers::RX_SYN, registers::CSMA_BE] {
        bench.write(absent, 0xff);
        assert_eq!(bench.read(absent), 0, "{absent:#x}");
    }
    let notes = bench.notes();
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes.iter().all(|note| note.contains("there is no register")), "{notes:?}");
}

#[test]
fn it_does_not_know_force_pll_on_and_does_not_report_of_its_start() {
    let mut bench = Bench::of(Part::At86rf230, Peer::default());
    bench.wait_us(300);
    bench.command(Command::TRX_OFF);
    bench.wait_us(50);
    assert_eq!((bench.status(), bench.irq(), bench.read(IRQ_STATUS)), (0x08, false, 0));
    bench.go(Command::RX_ON);
    bench.go(Command::FORCE_PLL_ON);
    assert_eq!(bench.status(), 0x06);
    assert!(bench.notes()[0].contains("FORCE_PLL_ON was ignored"));
    bench.go(Command::PLL_ON);
    assert_eq!(bench.status(), 0x09);
}

#[test]
fn it_protects_no_buffer() {
    let mut bench = rf230(0);
    bench.command(Command::RX_ON);
    bench.wait_us(180 + 3 * 5000 + 2000);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (3, 0));
    assert_eq!(bench.frame().0[0], 2);
}

#[test]
fn automatic_fcs_and_the_least_exponent_are_in_other_registers() {
    let mut bench = rf230(100);
    bench.go(Command::PLL_ON);
    bench.fill(&[0x61, 0x88, 1, 2, 3]);
    bench.command(Command::TX_START);
    bench.wait_us(1000);
    assert_eq!(bench.counter("frames_sent_invalid"), 1);
    bench.write(registers::PHY_TX_PWR, 0x80);
    bench.go(Command::TX_ARET_ON);
    // MIN_BE = 0: no back-off before 128 + 16 + 192 + 160 us of the frame, 192 of the turnaround and 352 of the
    // acknowledgement.
    bench.write(registers::CSMA_SEED_1, 0x02);
    bench.read(IRQ_STATUS);
    assert_eq!(bench.sends_for(), Ps::from_us(128 + 16 + 192 + 160 + 192 + 352) + TIMES.interrupt);
    assert_eq!((bench.counter("frames_sent"), bench.counter("frames_sent_invalid")), (2, 1));
}
