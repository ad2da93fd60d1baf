//! A bus with a chip that records the calls of the bus. PCLK1 has 16 MHz, SCL is low and high for ten cycles each.

use super::*;
use crate::bench::polled::{Access, Loop};
use crate::registers::walk;
use crate::st::i2c::tests::{ADDRESS, Bus, START, clock, cycle as at, params};
use engine::bus::device::DeviceId;
use engine::dt::wiring::{ClockId, ClockInput};
use engine::time::{Cycles, Hz};
use engine::wire::i2c::{Answer, Given};

const HALF: u64 = 10;
const PERIOD: u64 = 20;
const CLOCK: ClockId = ClockId(7);

/// The interface, enabled, with interrupts.
fn bus(answers: &[Answer], bytes: &[u8]) -> Bus {
    let params = params(ClockInput { rate: clock(), id: Some(CLOCK) });
    let own = V1 { rising: Ps::from_ns(300), ..V1::default() };
    let bytes: Vec<Given> = bytes.iter().map(|byte| Given::byte(*byte)).collect();
    let mut bus = Bus::new(params, own, Default::default(), (answers, &bytes));
    for (register, value) in [(CCR, 10), (TRISE, 17), (CR2, 16 | 7 << 8), (CR1, CR1_PE)] {
        bus.write(0, register, value);
    }
    bus
}

impl Bus {
    /// I2C_SR1 changes from `before` to `after` in a cycle.
    #[track_caller]
    fn sr1_turns(&mut self, at: u64, before: u32, after: u32) {
        self.turns(at, SR1, before, after);
    }

    /// START in cycle 0 and the address in cycle 20, as early as SCL can rise. Returns the cycle in which ADDR is set.
    fn addressed(&mut self, more: u32, byte: u8) -> u64 {
        self.write(0, CR1, CR1_PE | CR1_START | more);
        self.sr1_turns(START + HALF, 0, SR1_SB);
        self.write(20, DR, byte.into());
        // The byte's first rising edge, eight clocks to the last falling edge, and the acknowledge clock.
        let rise = 20 + START;
        rise + HALF + 7 * PERIOD + PERIOD
    }

    /// Clears ADDR.
    fn clear(&mut self, cycle: u64) {
        self.read(cycle, SR1);
        self.read(cycle, SR2);
    }
}

const WRITE: u8 = ADDRESS << 1;
const READ: u8 = ADDRESS << 1 | 1;

#[test]
fn bytes_are_sent_as_the_manual_has_it() {
    // RM0090, "Master transmitter": EV5, EV6, EV8_1, EV8, EV8_2.
    let mut bus = bus(&[], &[]);
    let addressed = bus.addressed(0, WRITE);
    assert_eq!(addressed, 192);
    assert_eq!(bus.bench.pending(), 0, "SB is cleared by I2C_DR");
    bus.sr1_turns(addressed, 0, SR1_ADDR | SR1_TXE);
    assert_eq!(bus.bench.pending(), 1 << 4);
    bus.clear(200);
    assert_eq!((bus.read(201, SR1), bus.read(201, SR2)), (SR1_TXE, SR2_MSL | SR2_BUSY | SR2_TRA));
    bus.write(210, DR, 0x11);
    assert_eq!(bus.read(211, SR1), SR1_TXE, "it is in the shift register");
    bus.write(300, DR, 0x22);
    let first = 210 + START + HALF + 7 * PERIOD;
    // The next byte's first rising edge is half a clock after the acknowledge.
    bus.sr1_turns(first + PERIOD, 0, SR1_TXE);
    let second = first + PERIOD + 8 * PERIOD;
    bus.sr1_turns(second + PERIOD, SR1_TXE, SR1_TXE | SR1_BTF);
    bus.write(600, CR1, CR1_PE | CR1_STOP);
    let stop = 600 + START + HALF;
    assert_eq!(bus.read(stop - 1, SR2) & SR2_BUSY, SR2_BUSY);
    assert_eq!((bus.read(stop, SR2), bus.read(stop, SR1), bus.read(stop, CR1)), (0, 0, CR1_PE));
    bus.assert_calls(&[("Write", addressed - PERIOD), ("0x11", first), ("0x22", second), ("stop", stop)]);
}

#[test]
fn a_byte_is_received_and_not_acknowledged() {
    // RM0090, "Master receiver", of a single byte: ACK is 0, ADDR is cleared, STOP is set.
    let mut bus = bus(&[], &[0x5a]);
    let addressed = bus.addressed(0, READ);
    bus.sr1_turns(addressed, 0, SR1_ADDR);
    bus.clear(200);
    bus.write(205, CR1, CR1_PE | CR1_STOP);
    let end = 200 + START + HALF + 7 * PERIOD + PERIOD;
    bus.sr1_turns(end, 0, SR1_RXNE);
    assert_eq!(bus.read(end + 1, DR), 0x5a);
    assert_eq!(bus.read(end + PERIOD, SR2), 0);
    bus.assert_calls(&[("Read", 172), ("read", addressed), ("nack", end), ("stop", end + PERIOD)]);
}

#[test]
fn two_bytes_are_received_with_pos() {
    let mut bus = bus(&[], &[1, 2, 3]);
    bus.addressed(CR1_ACK | CR1_POS, READ);
    bus.clear(200);
    bus.write(201, CR1, CR1_PE | CR1_POS);
    let first = 200 + START + HALF + 8 * PERIOD;
    bus.sr1_turns(first, 0, SR1_RXNE);
    // The second waits in the shift register, with SCL low.
    bus.sr1_turns(first + 9 * PERIOD, SR1_RXNE, SR1_RXNE | SR1_BTF);
    bus.write(600, CR1, CR1_PE | CR1_POS | CR1_STOP);
    assert_eq!((bus.read(610, DR), bus.read(611, DR), bus.read(612, SR1)), (1, 2, 0));
    let stop = 600 + START + HALF;
    let (second, read) = (first + 9 * PERIOD, "read");
    bus.assert_calls(&[("Read", 172), (read, 192), ("ack", first), (read, first), ("nack", second), ("stop", stop)]);
}

#[test]
fn a_late_reader_holds_the_clock() {
    let mut bus = bus(&[], &[1, 2, 3, 4]);
    bus.addressed(CR1_ACK, READ);
    bus.clear(200);
    assert_eq!(bus.read(1000, SR1), SR1_RXNE | SR1_BTF);
    assert_eq!(bus.read(1000, DR), 1);
    // The second byte is in I2C_DR now, and a third one follows.
    let third = 1000 + START + HALF + 8 * PERIOD;
    bus.sr1_turns(third, SR1_RXNE, SR1_RXNE | SR1_BTF);
}

#[test]
fn an_address_that_nobody_acknowledges_is_a_failure() {
    let mut bus = bus(&[], &[]);
    let addressed = bus.addressed(0, 0x20 << 1);
    bus.sr1_turns(addressed, 0, SR1_AF);
    assert_eq!(bus.bench.pending(), 1 << 5);
    bus.write(200, SR1, 0);
    assert_eq!((bus.read(200, SR1), bus.bench.pending()), (0, 0));
    bus.write(200, CR1, CR1_PE | CR1_STOP);
    assert_eq!(bus.read(200 + START + HALF, SR2), 0);
}

#[test]
fn a_repeated_start_follows_the_byte() {
    let mut bus = bus(&[], &[]);
    bus.addressed(0, WRITE);
    bus.clear(200);
    bus.write(200, DR, 7);
    bus.write(210, CR1, CR1_PE | CR1_START);
    let byte = 200 + START + HALF + 8 * PERIOD;
    // SCL rises, is high for half a clock, SDA falls, SCL falls half a clock later.
    bus.sr1_turns(byte + 3 * HALF, 0, SR1_SB);
    bus.write(600, DR, READ.into());
    bus.read(700, SR1);
    bus.assert_calls(&[("Write", 172), ("0x7", byte - PERIOD), ("repeated start", byte + 2 * HALF)]);
}

#[test]
fn a_chip_stretches_the_clock() {
    let mut bus = bus(&[Answer::ACK.stretched(Ps::from_us(10))], &[]);
    bus.addressed(0, WRITE);
    // From the eighth falling edge on: 160 cycles, and then the acknowledge clock.
    bus.sr1_turns(172 + 160 + HALF, 0, SR1_ADDR | SR1_TXE);
}

#[test]
fn fast_mode_and_slow_edges() {
    for (ccr, trise, low, high) in [
        (CCR_FAST | 4, 17, 8, 4),
        (CCR_FAST | CCR_DUTY | 1, 17, 16, 9),
        // 300 ns are five cycles; two of them are beyond I2C_TRISE.
        (10, 3, 10, 12),
    ] {
        let mut bus = bus(&[], &[]);
        bus.write(0, CR1, 0);
        bus.write(0, CCR, ccr);
        bus.write(0, TRISE, trise);
        bus.write(0, CR1, CR1_PE);
        bus.write(0, CR1, CR1_PE | CR1_START);
        bus.sr1_turns(START + high, 0, SR1_SB);
        bus.write(100, DR, WRITE.into());
        bus.sr1_turns(100 + START + high + 8 * (low + high), 0, SR1_ADDR | SR1_TXE);
    }
}

#[test]
fn a_change_of_the_clock_takes_what_is_left_of_a_step() {
    let mut bus = bus(&[], &[]);
    bus.write(0, CR1, CR1_PE | CR1_START);
    let slow = Hz::new(8_000_000).unwrap();
    bus.bench.bus.clocks.add_user(CLOCK, engine::clocks::User::Device(DeviceId(0)));
    bus.bench.run(at(6));
    bus.bench.bus.set_clocks(&[(CLOCK, slow)], at(6));
    // SCL falls in cycle 12: six cycles of 8 MHz later.
    let due = slow.ps_at_floor(Cycles(3 + 6));
    bus.bench.run(Ps(due.0 - 1));
    assert_eq!(bus.bench.value(Ps(due.0 - 1), SR1), 0);
    assert_eq!(bus.bench.value(due, SR1), SR1_SB);
}

#[test]
fn registers_keep_what_they_have_and_pe_resets() {
    walk::table_is_sound(MAP.rows);
    let mut bus = bus(&[], &[]);
    assert_eq!((bus.read(0, CCR), bus.read(0, TRISE), bus.read(0, OAR1)), (10, 17, 0));
    bus.addressed(0, WRITE);
    bus.write(300, CR1, 0);
    assert_eq!((bus.read(300, SR1), bus.read(300, SR2)), (0, 0));
    bus.assert_calls(&[("Write", 172), ("stop", 300)]);
}

#[test]
fn pe_takes_acknowledgement_and_pos_with_it() {
    let mut bus = bus(&[], &[]);
    bus.write(0, CR1, CR1_PE | CR1_ACK | CR1_POS);
    assert_eq!(bus.read(0, CR1), CR1_PE | CR1_ACK | CR1_POS);
    bus.write(1, CR1, CR1_ACK | CR1_POS | 1 << 6);
    assert_eq!(bus.read(1, CR1), 1 << 6);
}

#[test]
fn a_software_reset_is_one_of_all_registers() {
    let mut bus = bus(&[], &[]);
    bus.write(0, OAR1, 0x4022);
    bus.addressed(0, WRITE);
    bus.write(300, CR1, CR1_SWRST | CR1_PE);
    let held = [CR1, CR2, OAR1, SR1, SR2, CCR, TRISE].map(|register| bus.read(300, register));
    assert_eq!(held, [CR1_SWRST, 0, 0, 0, 0, 0, TRISE_RESET]);
    bus.write(301, CCR, 10);
    bus.write(302, CR1, 0);
    bus.write(303, TRISE, 17);
    assert_eq!((bus.read(303, CCR), bus.read(303, TRISE), bus.bench.bus.notes().len()), (0, 17, 1));
}

#[test]
fn a_wait_for_an_address_is_skipped() {
    let make = || {
        let mut bus = bus(&[], &[]);
        bus.write(0, CCR, 1000);
        bus.write(0, CR1, CR1_PE | CR1_START);
        bus.bench
    };
    assert!(Loop::even(clock(), 5, &[Access::Read(SR1)]).assert_skipped_as_run(make, 10, 100));
    assert!(!Loop::even(clock(), 5, &[Access::Read(SR1)]).assert_skipped_as_run(make, 10, 300), "SB is set");
}

#[test]
fn the_clock_is_recorded_edge_by_edge() {
    let mut bus = bus(&[], &[]);
    bus.bench.record();
    let ninth = bus.addressed(0, ADDRESS << 1);
    bus.bench.run(at(ninth + PERIOD));
    let edges = bus.bench.recorded("scl").into_iter();
    let edges: Vec<(u64, bool)> = edges.map(|(at, level)| (clock().cycles_until_floor(at).0, level)).collect();
    let rise = |clock: u64| ninth - (9 - clock) * PERIOD + HALF;
    let clocks = (0..9).flat_map(|clock| [(rise(clock), true), (rise(clock) + HALF, false)]);
    assert_eq!(edges[edges.len() - 18..], clocks.collect::<Vec<_>>());
}
