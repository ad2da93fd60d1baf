//! Frames, each byte and flag at its time.

use super::*;

#[test]
fn two_bytes_are_written_with_their_times() {
    let mut bus = on(&[], &[], 0);
    bus.write(100, CR2, transfer(2, CR2_AUTOEND));
    let start = 100 + START;
    bus.isr_turns(start + SYNC1, ISR_TXE, ISR_TXE | ISR_BUSY);
    let [eighth, ninth] = first_byte(start);
    // The acknowledge is detected with the edge after it; SCL stays low without data.
    let asks = ISR_TXE | ISR_TXIS | ISR_BUSY;
    bus.isr_turns(ninth + SYNC1, ISR_TXE | ISR_BUSY, asks);
    // 1000 cycles later: SDA changes at once, SCL rises after the setup time.
    let written = ninth + 1000;
    bus.write(written, TXDR, 0xa5);
    bus.isr_turns(written + START, ISR_BUSY, asks);
    bus.write(written + 10, TXDR, 0x3c);
    let first_rise = written + START + SETUP;
    let first_end = first_rise + SYNC2 + HIGH + 7 * PERIOD;
    bus.isr_turns(first_end + PERIOD + SYNC1, ISR_BUSY, ISR_TXE | ISR_BUSY);
    let second_end = first_end + 9 * PERIOD;
    // STOP: SCL falls after the acknowledge, is low, and high for tSCLH, then SDA rises.
    let stop = second_end + PERIOD + PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
    bus.assert_calls(&[("Write", eighth), ("0xa5", first_end), ("0x3c", second_end), ("stop", stop)]);
    assert_eq!(bus.read(stop + 100, CR2) & (CR2_START | CR2_STOP), 0);
    let counters = bus.bench.bus.devices[0].as_ref().unwrap().counters();
    let own = [("frames", 1), ("bytes", 3), ("nacks", 0)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counters, own);
}

#[test]
fn bytes_that_are_there_in_time_follow_each_other() {
    let mut bus = on(&[], &[], 0);
    bus.write(0, TXDR, 1);
    bus.write(0, CR2, transfer(2, CR2_AUTOEND));
    let [eighth, ninth] = first_byte(START);
    // The first byte waits in I2C_TXDR, and follows without a gap; the second is requested.
    bus.isr_turns(ninth + SYNC1, ISR_BUSY, ISR_TXE | ISR_TXIS | ISR_BUSY);
    bus.write(ninth + 50, TXDR, 2);
    let stop = eighth + (1 + 9 + 9 + 1) * PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
    let ends = [0, 9, 18].map(|clocks| eighth + clocks * PERIOD);
    bus.assert_calls(&[("Write", ends[0]), ("0x1", ends[1]), ("0x2", ends[2]), ("stop", stop)]);
}

#[test]
fn two_bytes_are_read_and_the_last_is_not_acknowledged() {
    let mut bus = on(&[], &[Given::byte(0x19), Given::byte(0x80)], 0);
    bus.write(0, CR2, transfer(2, CR2_AUTOEND | CR2_RD_WRN));
    let [eighth, ninth] = first_byte(START);
    let first = ninth + 8 * PERIOD;
    // RXNE comes after the eighth clock.
    bus.isr_turns(first + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    assert_eq!(bus.read(first + 100, RXDR), 0x19);
    let second = first + 9 * PERIOD;
    bus.isr_turns(second + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    let stop = second + 2 * PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_RXNE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_STOPF);
    assert_eq!(bus.read(stop + 100, RXDR), 0x80);
    let (ack, nack) = (first + PERIOD, second + PERIOD);
    bus.assert_calls(&[("Read", eighth), ("read", ninth), ("ack", ack), ("read", ack), ("nack", nack), ("stop", stop)]);
}

#[test]
fn scl_is_held_in_front_of_the_acknowledge_until_a_byte_is_read() {
    let mut bus = on(&[], &[Given::byte(1), Given::byte(2)], 0);
    bus.write(0, CR2, transfer(2, CR2_AUTOEND | CR2_RD_WRN));
    let [_, ninth] = first_byte(START);
    let (first, second) = (ninth + 8 * PERIOD, ninth + 17 * PERIOD);
    // The second byte waits in the shift register.
    let late = second + 5000;
    assert_eq!(bus.read(late, RXDR), 1);
    bus.isr_turns(late + START, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    assert_eq!(bus.read(late + START + 1, RXDR), 2);
    // The acknowledge is set up; its clock and the STOP follow.
    let acknowledged = late + START + SETUP + SYNC2 + HIGH;
    let stop = acknowledged + PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
    let calls = bus.calls();
    assert_eq!(calls[2], ("ack".to_owned(), first + PERIOD));
    assert_eq!(calls[4..], [("nack".to_owned(), acknowledged), ("stop".to_owned(), stop)]);
}

#[test]
fn a_repeated_start_turns_the_direction_around() {
    let mut bus = on(&[], &[Given::byte(0x55)], 0);
    bus.write(0, CR2, transfer(1, 0));
    bus.write(0, TXDR, 7);
    let [eighth, ninth] = first_byte(START);
    let written = ninth + 9 * PERIOD;
    bus.isr_turns(written + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_TC | ISR_BUSY);
    let ordered = written + 3000;
    bus.write(ordered, CR2, transfer(1, CR2_AUTOEND | CR2_RD_WRN));
    assert_eq!(bus.read(ordered, ISR), ISR_TXE | ISR_BUSY);
    // SDA is released, and SCL after the setup time; tSU;STA is tSCLL from the detection of SCL's rising edge.
    let start = ordered + START + SETUP + SYNC2 + LOW;
    let [second_eighth, second_ninth] = first_byte(start);
    let read = second_ninth + 8 * PERIOD;
    bus.isr_turns(read + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    let stop = read + 2 * PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_RXNE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_STOPF);
    bus.assert_calls(&[
        ("Write", eighth),
        ("0x7", ninth + 8 * PERIOD),
        ("repeated start", start),
        ("Read", second_eighth),
        ("read", second_ninth),
        ("nack", read + PERIOD),
        ("stop", stop),
    ]);
}

#[test]
fn an_address_that_nobody_has_ends_with_nackf_and_a_stop() {
    let mut bus = on(&[], &[], 0);
    bus.write(0, CR2, 1 << NBYTES | 0x49 << 1 | CR2_START);
    let [_, ninth] = first_byte(START);
    bus.isr_turns(ninth + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_BUSY);
    assert_eq!(bus.read(ninth + SYNC1, CR2) & CR2_START, 0);
    let stop = ninth + PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_NACKF | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_STOPF);
    bus.assert_calls(&[]);
    bus.write(stop + 100, ICR, ISR_NACKF | ISR_STOPF);
    assert_eq!(bus.read(stop + 100, ISR), ISR_TXE);
}

#[test]
fn a_byte_that_is_refused_ends_the_frame() {
    let mut bus = on(&[Answer::ACK, Answer::NACK], &[], 0);
    bus.write(0, CR2, transfer(5, CR2_AUTOEND));
    bus.write(0, TXDR, 7);
    let [eighth, ninth] = first_byte(START);
    bus.isr_turns(ninth + 9 * PERIOD + SYNC1, ISR_TXE | ISR_TXIS | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_BUSY);
    let stop = ninth + 10 * PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_NACKF | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_STOPF);
    bus.assert_calls(&[("Write", eighth), ("0x7", ninth + 8 * PERIOD), ("stop", stop)]);
}

#[test]
fn more_than_255_bytes_go_in_parts() {
    let mut bus = on(&[], &[], 0);
    bus.write(0, CR2, transfer(1, CR2_RELOAD));
    bus.write(0, TXDR, 7);
    let [_, ninth] = first_byte(START);
    let first = ninth + 9 * PERIOD;
    bus.isr_turns(first + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_TCR | ISR_BUSY);
    bus.write(first + 500, CR2, 1 << NBYTES | CR2_AUTOEND);
    assert_eq!(bus.read(first + 500, ISR), ISR_TXE | ISR_TXIS | ISR_BUSY);
    bus.write(first + 600, TXDR, 8);
    let second = first + 600 + START + SETUP + SYNC2 + HIGH + 8 * PERIOD;
    let stop = second + PERIOD;
    bus.isr_turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
}

#[test]
fn a_start_after_a_stop_waits_until_the_bus_has_been_free() {
    let mut bus = on(&[], &[], 0);
    bus.write(0, CR2, transfer(0, CR2_AUTOEND));
    let [eighth, ninth] = first_byte(START);
    let stop = ninth + PERIOD;
    // Set again while the STOP is on its way.
    bus.write(ninth + 20, CR2, transfer(0, CR2_AUTOEND));
    let start = stop + SYNC2 + LOW;
    bus.isr_turns(start + SYNC1, ISR_TXE | ISR_STOPF, ISR_TXE | ISR_STOPF | ISR_BUSY);
    let [second, second_ninth] = first_byte(start);
    bus.bench.run(cycle_ps(second_ninth + PERIOD));
    bus.assert_calls(&[("Write", eighth), ("stop", stop), ("Write", second), ("stop", second_ninth + PERIOD)]);
}
