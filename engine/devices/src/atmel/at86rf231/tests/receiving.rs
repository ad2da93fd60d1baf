//! Frames from the peer.

use super::super::air;
use super::*;

/// The peer's frame, without a header.
fn psdu(length: u8, number: u64) -> Vec<u8> {
    air::psdu(length, number, None)
}

/// A receiver that has been listening from now on.
fn listening(lengths: &[u8], interval_us: u64) -> Bench {
    let mut bench = Bench::with(lengths, interval_us);
    bench.go(Command::PLL_ON);
    bench.read(IRQ_STATUS);
    bench.command(Command::RX_ON);
    bench
}

#[test]
fn a_frame_comes_in_at_its_times() {
    let mut bench = listening(&[20], 5000);
    let listens = bench.chip.wakes_at().unwrap();
    let mut events = Vec::new();
    while events.len() < 7 {
        let due = bench.chip.wakes_at().unwrap();
        bench.chip.advance(due);
        events.push(((due - listens).0 / 1_000_000, bench.chip.status_code(), bench.irq()));
    }
    let expected = [
        (0, 0x06, false),
        (5000, 0x06, false),
        (5160, 0x01, false),
        (5192, 0x01, false),
        (5201, 0x01, true),
        (5192 + 640, 0x06, true),
        (5192 + 640 + 9, 0x06, true),
    ];
    assert_eq!(events, expected);
    bench.now = bench.chip.now;
    assert_eq!(bench.read(IRQ_STATUS), 0x0c);
    assert_eq!(bench.frame(), (psdu(20, 0), 0xff));
    assert_eq!(bench.read(registers::PHY_RSSI) & 0x80, 0x80);
    assert_eq!(bench.notes(), [""; 0]);
}

#[test]
fn lengths_come_in_turn_and_the_interval_is_kept() {
    let mut bench = listening(&[1, 127, 2], 6000);
    let mut frames = Vec::new();
    for _ in 0..4 {
        while bench.read(IRQ_STATUS) & 0x08 == 0 {
            bench.wait_us(10);
        }
        frames.push(bench.frame().0);
    }
    assert_eq!(frames, [psdu(1, 0), psdu(127, 1), psdu(2, 2), psdu(1, 3)]);
    let begins: Vec<u8> = frames.iter().map(|frame| frame[0]).collect();
    assert_eq!(begins, [0, 1, 2, 3]);
    let names = ["frames_received", "frames_missed", "bytes_received"];
    assert_eq!(names.map(|name| bench.counter(name)), [4, 0, 131]);
    assert!(bench.now > Ps::from_us(4 * 6000) && bench.now < Ps::from_us(4 * 6000 + 1500), "{}", bench.now);
}

#[test]
fn a_receiver_that_does_not_listen_misses_a_frame_and_the_peer_waits() {
    let mut bench = listening(&[10], 3000);
    bench.wait_us(10);
    bench.command(Command::PLL_ON);
    bench.wait_us(20_000);
    assert_eq!((bench.counter("frames_missed"), bench.chip.wakes_at()), (1, None));
    bench.command(Command::RX_ON);
    bench.wait_us(3000 + 192 + 320 + 10);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (1, 1));
}

#[test]
fn leaving_in_the_middle_loses_the_frame_and_waiting_does_not() {
    let mut bench = listening(&[100], 10_000);
    bench.wait_us(10_500);
    assert_eq!(bench.status(), 0x01);
    bench.command(Command::FORCE_PLL_ON);
    bench.wait_us(5000);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (0, 1));
    // The peer has kept its rhythm: a frame at 20 ms.
    bench.command(Command::RX_ON);
    bench.wait_us(5000);
    bench.command(Command::PLL_ON);
    assert_eq!(bench.status(), 0x01);
    bench.wait_us(5000);
    assert_eq!((bench.status(), bench.counter("frames_received")), (0x09, 1));
}

#[test]
fn a_protected_buffer_is_not_overwritten() {
    let mut bench = Bench::with(&[10], 2000);
    bench.write(registers::TRX_CTRL_2, 0x80);
    bench.command(Command::RX_ON);
    bench.wait_us(110 + 3 * 2000 + 1000);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (1, 2));
    assert_eq!(bench.frame().0, psdu(10, 0));
    bench.wait_us(1500);
    assert_eq!(bench.frame().0, psdu(10, 3));
    // Without protection the last one counts.
    bench.write(registers::TRX_CTRL_2, 0);
    bench.wait_us(3 * 2000);
    assert_eq!(bench.frame().0, psdu(10, 6));
}

#[test]
fn reading_ahead_of_the_frame_is_an_underrun() {
    let mut bench = listening(&[50], 1000);
    while bench.read(IRQ_STATUS) & 0x04 == 0 {
        bench.wait_us(1);
    }
    // The PHR alone can be read.
    assert_eq!((bench.access(&[0x20, 0])[1], bench.counter("underruns")), (50, 0));
    bench.access(&[0x20; 52]);
    assert!(bench.counter("underruns") > 0);
    assert_eq!(bench.read(IRQ_STATUS) & 0x40, 0x40);
}

#[test]
fn with_rx_pdt_dis_or_another_rate_frames_are_missed() {
    let mut bench = listening(&[10], 1000);
    bench.write(registers::RX_SYN, 0x80);
    bench.wait_us(1500);
    bench.write(registers::RX_SYN, 0);
    bench.write(registers::TRX_CTRL_2, 0x01);
    bench.wait_us(1000);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (0, 2));
    assert!(bench.notes()[0].contains("OQPSK_DATA_RATE"));
    bench.write(registers::TRX_CTRL_2, 0);
    bench.wait_us(1000);
    assert_eq!(bench.counter("frames_received"), 1);
}

#[test]
fn frames_never_overlap() {
    let mut bench = listening(&[127], 1);
    bench.wait_us(3 * (192 + 127 * 32) + 100);
    assert_eq!((bench.counter("frames_received"), bench.counter("frames_missed")), (3, 0));
}

#[test]
fn after_a_transmission_the_pll_settles_before_a_frame_is_heard() {
    let mut bench = listening(&[5], 10);
    bench.command(Command::FORCE_PLL_ON);
    bench.fill(&[1, 2, 3]);
    bench.wait_us(3);
    bench.command(Command::TX_START);
    bench.command(Command::RX_ON);
    bench.wait_us(10);
    bench.command(Command::RX_ON);
    bench.wait_us(500);
    // One begins 10 us after the receiver listens again, which is too early; the next 10 us after it.
    assert_eq!((bench.counter("frames_sent"), bench.counter("frames_missed")), (1, 2));
}
