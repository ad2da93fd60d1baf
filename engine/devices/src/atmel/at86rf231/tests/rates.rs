//! Data rates above 250 kbit/s, in both directions.

use super::*;

#[test]
fn a_frame_comes_in_at_its_rate_after_a_header_of_250_kbps() {
    for rate in 0..4 {
        let peer = Peer { lengths: vec![127], interval: Ps::from_us(10_000), rate, ..Peer::default() };
        let mut bench = Bench::of(Part::At86rf231, peer);
        bench.start();
        bench.write(registers::TRX_CTRL_2, rate);
        bench.go(Command::PLL_ON);
        bench.command(Command::RX_ON);
        let listens = bench.chip.wakes_at().unwrap();
        let begins = listens + Ps::from_us(10_000);
        while bench.counter("frames_received") == 0 {
            bench.now = bench.chip.wakes_at().unwrap();
            bench.chip.advance(bench.now);
        }
        assert_eq!(bench.now - begins, Ps::from_us(192 + 127 * (32 >> rate)));
        // At the standard's rate the link's quality follows the frame, at others its energy.
        let quality = if rate == 0 { 0xff } else { 60 };
        assert_eq!(bench.frame(), (super::super::air::psdu(127, 0, None), quality));
        assert_eq!(bench.notes(), [""; 0]);
    }
}

#[test]
fn a_peer_of_another_rate_is_not_understood() {
    let peer =
        Peer { lengths: vec![20], interval: Ps::from_us(1000), rate: 3, acknowledged_pct: 100, ..Peer::default() };
    let mut bench = Bench::of(Part::At86rf231, peer);
    bench.start();
    bench.command(Command::RX_ON);
    bench.wait_us(1500);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (0, 1));
    assert!(bench.notes()[0].contains("data rate"));
    // Nor does it acknowledge.
    bench.go(Command::PLL_ON);
    bench.go(Command::TX_ARET_ON);
    bench.write(registers::XAH_CTRL_0, 0x08);
    bench.fill(&[0x61, 0x88, 1, 2, 3]);
    bench.command(Command::TX_START);
    bench.wait_us(5000);
    assert_eq!(bench.read(TRX_STATE) >> 5, 5);
}

#[test]
fn an_acknowledgement_has_the_rate_of_the_frame() {
    let peer = Peer { rate: 3, acknowledged_pct: 100, ..Peer::default() };
    let mut bench = Bench::of(Part::At86rf231, peer);
    bench.start();
    bench.write(registers::TRX_CTRL_2, 3);
    bench.write(registers::CSMA_BE, 0);
    bench.go(Command::TX_ARET_ON);
    bench.fill(&[0x61; 100]);
    bench.read(IRQ_STATUS);
    // Assessment, PLL, header, 100 bytes of 4 us, turnaround, header, 5 bytes.
    let exact = 128 + 16 + 192 + 400 + 192 + 192 + 20;
    assert_eq!(bench.sends_for(), Ps::from_us(exact) + TIMES.interrupt);
}
