//! Frames that the chip sends.

use super::super::fcs::fcs;
use super::*;

/// Sends what is in the buffer: how long from TX_START to the interrupt.
fn send(bench: &mut Bench) -> Ps {
    bench.command(Command::TX_START);
    let start = bench.chip.now;
    while !bench.irq() {
        let due = bench.chip.wakes_at().unwrap();
        bench.chip.advance(due);
        bench.now = due;
    }
    assert_eq!(bench.read(IRQ_STATUS), 0x08);
    bench.now - start
}

fn in_pll_on() -> Bench {
    let mut bench = Bench::new();
    bench.go(Command::PLL_ON);
    bench.read(IRQ_STATUS);
    bench
}

/// From TX_START to TRX_END at 250 kbit/s times two to `rate`, with the interrupt's latency.
fn air_time(bytes: u64, rate: u32) -> Ps {
    Ps::from_us(16 + 6 * 32 + bytes * (32 >> rate) + 9)
}

#[test]
fn a_frame_goes_out_with_its_check_sequence() {
    let mut bench = in_pll_on();
    for bytes in [3, 5, 127] {
        let psdu: Vec<u8> = (0..bytes).collect();
        bench.fill(&psdu);
        let took = send(&mut bench);
        let exact = air_time(u64::from(bytes), 0);
        assert!(took >= exact && took < exact + Ps::from_us(20), "{took} {exact}");
        let payload = usize::from(bytes) - 2;
        assert_eq!(bench.chip.last_sent[..payload], psdu[..payload]);
        assert_eq!(bench.chip.last_sent[payload..], fcs(&psdu[..payload]));
    }
    assert_eq!(["frames_sent", "frames_sent_invalid", "bytes_sent"].map(|name| bench.counter(name)), [3, 0, 135]);
    assert_eq!((bench.status(), bench.notes()), (0x09, Vec::new()));
}

#[test]
fn the_times_are_exact_from_event_to_event() {
    for rate in 0..4 {
        let mut bench = in_pll_on();
        bench.write(registers::TRX_CTRL_2, rate);
        bench.fill(&[7; 100]);
        bench.command(Command::TX_START);
        let mut events = Vec::new();
        while let Some(due) = bench.chip.wakes_at() {
            bench.chip.advance(due);
            events.push((due, bench.chip.status_code(), bench.irq()));
        }
        let begin = events[0].0;
        let after = |us| begin + Ps::from_us(us);
        let end = 192 + 100 * (32 >> rate);
        let expected =
            [(begin, 0x02, false), (after(192), 0x02, false), (after(end), 0x09, false), (after(end + 9), 0x09, true)];
        assert_eq!(events, expected);
    }
}

#[test]
fn slp_tr_starts_a_transmission_too() {
    let mut bench = in_pll_on();
    bench.fill(&[1, 2, 3, 4]);
    bench.control(ControlPin::Sleep, true);
    assert_eq!(bench.status(), 0x1f);
    bench.control(ControlPin::Sleep, false);
    bench.wait_us(20);
    assert_eq!(bench.status(), 0x02);
    bench.wait_us(400);
    assert_eq!((bench.counter("frames_sent"), bench.status()), (1, 0x09));
}

#[test]
fn without_automatic_fcs_the_buffer_goes_out_as_it_is() {
    let mut bench = in_pll_on();
    bench.write(registers::TRX_CTRL_1, 0);
    bench.fill(&[1, 2, 3, 4]);
    send(&mut bench);
    assert_eq!(bench.chip.last_sent, [1, 2, 3, 4]);
    assert_eq!(bench.counter("frames_sent_invalid"), 1);
}

#[test]
fn bytes_may_be_written_while_the_frame_goes_out_but_not_too_late() {
    let mut bench = in_pll_on();
    bench.access(&[0x60, 100]);
    bench.command(Command::TX_START);
    bench.fill(&[9; 100]);
    bench.wait_us(4000);
    assert_eq!((bench.read(IRQ_STATUS), bench.chip.last_sent[..98].to_vec()), (0x08, vec![9; 98]));
    bench.command(Command::TX_START);
    bench.wait_us(1000);
    bench.fill(&[8; 100]);
    assert_eq!((bench.read(IRQ_STATUS), bench.counter("underruns") > 0), (0x40, true));
    assert!(bench.notes()[0].contains("TRX_UR"));
}

#[test]
fn commands_wait_for_the_end_of_the_frame_unless_they_are_forced() {
    let mut bench = in_pll_on();
    bench.fill(&[1; 20]);
    bench.command(Command::TX_START);
    bench.wait_us(100);
    bench.command(Command::RX_ON);
    assert_eq!(bench.status(), 0x02);
    bench.wait_us(1000);
    assert_eq!((bench.status(), bench.counter("frames_sent")), (0x06, 1));
    bench.go(Command::PLL_ON);
    bench.command(Command::TX_START);
    bench.wait_us(100);
    bench.command(Command::FORCE_TRX_OFF);
    bench.wait_us(1000);
    assert_eq!((bench.status(), bench.counter("frames_sent")), (0x08, 1));
}
