//! Transmissions in TX_ARET.

use super::*;

const PHY_ED_LEVEL_OF_OTHERS: u8 = 60;
/// From the first symbol of a frame to its last, an acknowledgement with the turnaround before it, and the wait for one
/// that does not come.
const FRAME_US: u64 = 192 + 127 * 32;
const ACK_US: u64 = 192 + 352;
const NO_ACK_US: u64 = 864;

/// A chip in TX_ARET_ON with a frame of the greatest length that asks for an acknowledgement.
fn ready(acknowledged_pct: u64, others: Others) -> Bench {
    let mut bench = Bench::of(Part::At86rf231, Peer { acknowledged_pct, ..Peer::default() });
    bench.chip.others = others;
    bench.start();
    bench.go(Command::PLL_ON);
    bench.go(Command::TX_ARET_ON);
    assert_eq!((bench.status(), bench.trac()), (0x19, 7));
    let mut psdu = [7; 127];
    psdu[..3].copy_from_slice(&[0x61, 0x88, 1]);
    bench.fill(&psdu);
    bench.read(IRQ_STATUS);
    bench
}

impl Bench {
    /// TRAC_STATUS.
    fn trac(&mut self) -> u8 {
        self.read(TRX_STATE) >> 5
    }

    /// Sends what is in the buffer: how long from TX_START to TRX_END, without the interrupt's latency.
    fn transact(&mut self) -> u64 {
        let span = self.sends_for() - TIMES.interrupt;
        assert_eq!((self.read(IRQ_STATUS), self.status()), (0x08, 0x19));
        assert_eq!(span.0 % 1_000_000, 0, "{span}");
        span.0 / 1_000_000
    }
}

#[test]
fn without_a_back_off_a_frame_takes_the_sum_of_its_parts() {
    let mut bench = ready(100, Others::default());
    bench.write(registers::CSMA_BE, 0);
    // JN-AN-1035: 128 + 4256 + 192 + 352 = 4928 us; the chip's PLL takes 16 us more before the frame.
    assert_eq!(bench.transact(), 128 + 16 + FRAME_US + ACK_US);
    assert_eq!(128 + FRAME_US + ACK_US, 4928);
    assert_eq!((bench.trac(), bench.counter("frames_sent"), bench.notes().len()), (0, 1, 0));
}

#[test]
fn back_offs_are_0_to_7_periods_and_the_seed_gives_them_again() {
    let mut bench = ready(100, Others::default());
    let least = 128 + 16 + FRAME_US + ACK_US;
    let draw = |bench: &mut Bench| -> Vec<u64> { (0..64).map(|_| bench.transact() - least).collect() };
    let first = draw(&mut bench);
    let periods: Vec<u64> = (0..8).map(|period| period * 320).collect();
    let mut found = first.clone();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, periods);
    bench.write(registers::CSMA_SEED_0, 0xea);
    assert_eq!(draw(&mut bench), first);
    bench.write(registers::CSMA_SEED_0, 0x11);
    assert_ne!(draw(&mut bench), first);
}

#[test]
fn a_frame_that_asks_for_nothing_is_through_at_its_end() {
    let mut bench = ready(0, Others::default());
    bench.write(registers::CSMA_BE, 0);
    bench.fill(&[0x41, 0x88, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((bench.transact(), bench.trac()), (128 + 16 + 192 + 320, 0));
}

#[test]
fn a_frame_without_acknowledgement_is_sent_again() {
    let mut bench = ready(50, Others::default());
    bench.write(registers::CSMA_BE, 0);
    let attempt = 128 + 16 + FRAME_US;
    // Of two frames the peer acknowledges the second.
    assert_eq!((bench.transact(), bench.trac()), (2 * attempt + NO_ACK_US + ACK_US, 0));
    assert_eq!((bench.counter("frames_repeated"), bench.counter("frames_sent")), (1, 2));
    bench.chip.peer.acknowledged_pct = 0;
    assert_eq!((bench.transact(), bench.trac()), (4 * (attempt + NO_ACK_US), 5));
    assert_eq!((bench.counter("frames_unacknowledged"), bench.counter("frames_repeated")), (1, 4));
    // MAX_CSMA_RETRIES = 7: at once, and once only.
    bench.write(registers::XAH_CTRL_0, 0x3e);
    assert_eq!((bench.transact(), bench.trac()), (16 + FRAME_US + NO_ACK_US, 5));
}

#[test]
fn a_busy_channel_is_looked_for_again_with_longer_back_offs() {
    let always = Others { busy: Ps::from_us(100), interval: Ps::from_us(100), ed_level: PHY_ED_LEVEL_OF_OTHERS };
    let mut bench = ready(100, always);
    bench.write(registers::CSMA_BE, 0);
    // Five assessments, each of eight symbols, without a period between them.
    assert_eq!((bench.transact(), bench.trac()), (5 * 128, 3));
    assert_eq!((bench.counter("channel_busy"), bench.counter("channel_access_failures")), (5, 1));
    bench.write(registers::CSMA_BE, 0x53);
    let spans: Vec<u64> = (0..32).map(|_| bench.transact() - 5 * 128).collect();
    // Exponents 3, 4, 5, 5, 5: at most 7 + 15 + 3 x 31 periods.
    assert!(spans.iter().all(|span| span % 320 == 0 && *span <= 115 * 320), "{spans:?}");
    assert!(spans.iter().any(|span| *span > 5 * 7 * 320), "{spans:?}");
    assert_eq!(bench.counter("frames_sent"), 0);
}

#[test]
fn the_mode_of_assessment_reports_what_is_busy() {
    // Frames of other stations, far away: -91 + 10 dBm, below the threshold of -91 + 14.
    let far = Others { busy: Ps::from_us(100), interval: Ps::from_us(100), ed_level: 10 };
    let mut bench = ready(100, far);
    bench.write(registers::CSMA_BE, 0);
    for (mode, busy) in [(0, true), (1, false), (2, true), (3, false)] {
        bench.write(registers::PHY_CC_CCA, mode << 5 | 11);
        bench.transact();
        assert_eq!(bench.trac(), if busy { 3 } else { 0 }, "mode {mode}");
        bench.wait_us(20);
    }
    bench.write(registers::PHY_CC_CCA, 1 << 5 | 11);
    bench.write(registers::CCA_THRES, 4);
    bench.transact();
    assert_eq!(bench.trac(), 3);
}

#[test]
fn other_stations_come_and_go() {
    let others = Others { busy: Ps::from_us(300), interval: Ps::from_us(1000), ed_level: 60 };
    let heard = |from, to| others.are_heard(Ps::from_us(from), Ps::from_us(to));
    let found =
        [(0, 1), (299, 300), (300, 428), (872, 1000), (873, 1001), (400, 3000)].map(|(from, to)| heard(from, to));
    assert_eq!(found, [true, true, false, false, true, true]);
}

#[test]
fn a_transaction_is_left_at_its_end_or_by_force() {
    let mut bench = ready(100, Others::default());
    bench.command(Command::TX_START);
    assert_eq!((bench.status(), bench.trac()), (0x12, 7));
    bench.command(Command::PLL_ON);
    assert_eq!(bench.status(), 0x12);
    bench.wait_us(8000);
    assert_eq!((bench.status(), bench.counter("frames_sent")), (0x09, 1));
    bench.go(Command::TX_ARET_ON);
    bench.control(ControlPin::Sleep, true);
    bench.control(ControlPin::Sleep, false);
    bench.wait_us(2500);
    assert_eq!(bench.status(), 0x12);
    bench.go(Command::FORCE_PLL_ON);
    bench.wait_us(8000);
    assert_eq!((bench.status(), bench.counter("frames_sent")), (0x09, 1));
}
