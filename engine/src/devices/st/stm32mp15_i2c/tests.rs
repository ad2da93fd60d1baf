use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::timing::Timing;
use super::*;
use crate::devices::bench::{Bench, CPU_INTC, read_plain_node};
use crate::devices::support::hosted_chip::Hosted;
use crate::devices::support::registers::walk;
use crate::time::Ps;
use crate::wire::i2c::{Answer, Direction, Given, I2cTarget};

/// RM0360, table 75 and its kin: 100 kHz from a kernel clock of 16 MHz. PRESC 3, SCLDEL 4, SDADEL 2, SCLH 15, SCLL 19.
const TIMING: u32 = 0x3042_0f13;
/// tSCLL: 20 * 4, tSCLH: 16 * 4, tSDADEL: 2 * 4 + 1, tSCLDEL: 5 * 4.
const LOW: u64 = 80;
const HIGH: u64 = 64;
const DATA: u64 = 9;
const SETUP: u64 = 20;
/// Falling in 10 ns behind a filter of 50 ns: 60 ns are 0.96 clocks of 62.5 ns, so one, and two of the synchronisation.
const SYNC1: u64 = 3;
/// Rising in 100 ns: 150 ns are 2.4 clocks, so three, and two.
const SYNC2: u64 = 5;
const PERIOD: u64 = SYNC1 + LOW + SYNC2 + HIGH;
/// From a write to the bus.
const START: u64 = 2;
/// From SDA's falling edge to the first falling edge of SCL.
const HOLD: u64 = SYNC1 + HIGH;
const ADDRESS: u8 = 0x48;

/// What a chip was told, with when.
type Calls = Arc<Mutex<Vec<(String, u64)>>>;

/// Answers with what it is given, and keeps what it is told.
struct Recorder {
    calls: Calls,
    answers: VecDeque<Answer>,
    bytes: VecDeque<Given>,
}

impl Recorder {
    fn told(&self, what: impl Into<String>, now: Ps) {
        let cycle = clock().cycles_until_floor(now).0;
        assert_eq!(cycle_ps(cycle), now, "between edges of the kernel clock");
        self.calls.lock().unwrap().push((what.into(), cycle));
    }

    fn answer(&mut self) -> Answer {
        self.answers.pop_front().unwrap_or(Answer::ACK)
    }
}

impl I2cTarget for Recorder {
    fn address(&mut self, direction: Direction, now: Ps) -> Answer {
        self.told(format!("{direction:?}"), now);
        self.answer()
    }

    fn general_call(&mut self, now: Ps) -> Answer {
        self.told("general call", now);
        self.answer()
    }

    fn write(&mut self, byte: u8, now: Ps) -> Answer {
        self.told(format!("{byte:#x}"), now);
        self.answer()
    }

    fn read(&mut self, now: Ps) -> Given {
        self.told("read", now);
        self.bytes.pop_front().unwrap_or(Given::byte(0xff))
    }

    fn acknowledged(&mut self, ack: bool, now: Ps) {
        self.told(if ack { "ack" } else { "nack" }, now);
    }

    fn repeated_start(&mut self, now: Ps) {
        self.told("repeated start", now);
    }

    fn stop(&mut self, now: Ps) {
        self.told("stop", now);
    }
}

fn clock() -> Hz {
    Hz::new(16_000_000).unwrap()
}

fn cycle_ps(cycle: u64) -> Ps {
    clock().ps_at_floor(Cycles(cycle))
}

/// A bus with a recorder on it.
struct Bus {
    bench: Bench,
    calls: Calls,
}

impl Bus {
    /// Not switched on yet.
    fn new(answers: &[Answer], bytes: &[Given]) -> Bus {
        let calls = Calls::default();
        let (answers, bytes) = (answers.iter().copied().collect(), bytes.iter().copied().collect());
        let chip: Box<dyn I2cTarget> = Box::new(Recorder { calls: Arc::clone(&calls), answers, bytes });
        let chips = I2cChips::new(vec![(ADDRESS, Hosted::new(chip, "chip".to_owned(), None, 0))]);
        let delays = Delays {
            falling: Ps::from_ns(10),
            rising: Ps::from_ns(100),
            analog_filter: Ps::from_ns(50),
            synchronisation: Cycles(2),
        };
        let [event, error] = [4, 5].map(|bit| [Some(IrqLine::Core { core: 0, bit }), None]);
        let gate = ClockGate::default();
        let params = Params { kernel_clock: clock(), delays, start_cycles: Cycles(START), event, error, gate };
        Bus { bench: Bench::new(I2c::new(params, chips)), calls }
    }

    /// Switched on, with interrupts.
    fn on(answers: &[Answer], bytes: &[Given], interrupts: u32) -> Bus {
        let mut bus = Bus::new(answers, bytes);
        bus.write(0, TIMINGR, TIMING);
        bus.write(0, CR1, CR1_PE | interrupts);
        bus
    }

    fn write(&mut self, cycle: u64, register: u32, value: u32) {
        self.bench.run(cycle_ps(cycle));
        self.bench.write(cycle_ps(cycle), register, value).unwrap();
    }

    fn read(&mut self, cycle: u64, register: u32) -> u32 {
        self.bench.run(cycle_ps(cycle));
        self.bench.value(cycle_ps(cycle), register)
    }

    /// I2C_ISR is one thing up to a cycle, and another from it on.
    #[track_caller]
    fn turns(&mut self, cycle: u64, before: u32, after: u32) {
        assert_eq!(self.read(cycle - 1, ISR), before, "a cycle before {cycle}");
        assert_eq!(self.read(cycle, ISR), after, "at {cycle}");
    }

    #[track_caller]
    fn heard(&self, expected: &[(&str, u64)]) {
        let calls = self.calls.lock().unwrap();
        let calls: Vec<(&str, u64)> = calls.iter().map(|(what, cycle)| (what.as_str(), *cycle)).collect();
        assert_eq!(calls, expected);
    }
}

/// I2C_CR2 for a transfer of so many bytes with the recorder.
const fn transfer(bytes: u32, more: u32) -> u32 {
    bytes << CR2_NBYTES | (ADDRESS as u32) << 1 | CR2_START | more
}

/// When SCL falls behind the eighth and the ninth clock of the first byte after a START at `at`.
const fn first_byte(at: u64) -> [u64; 2] {
    let first_fall = at + HOLD;
    [first_fall + 8 * PERIOD, first_fall + 9 * PERIOD]
}

#[test]
fn the_device_keeps_its_table() {
    // CR1 locks others, CR2 begins something, and TXDR takes one byte.
    walk::device_keeps_its_table(REGISTERS, &["I2C_CR1", "I2C_CR2", "I2C_TXDR"], &mut Bus::new(&[], &[]).bench);
    let mut bus = Bus::new(&[], &[]);
    for (register, bits) in [(CR1, 0x00ff_dfff), (CR2, 0x03ff_1fff)] {
        bus.write(0, register, u32::MAX & !CR1_PE);
        assert_eq!(bus.read(0, register), bits & !CR1_PE);
    }
}

#[test]
fn a_clock_at_100_khz_takes_what_the_manual_says() {
    let delays =
        Delays { falling: Ps::ZERO, rising: Ps::ZERO, analog_filter: Ps::from_ns(260), synchronisation: Cycles(2) };
    // "tSYNC1 + tSYNC2 minimum value is 4 x tI2CCLK": tSCL is 4 + 144 clocks, 9.25 us, without slopes and filter.
    let timing = Timing::of(TIMING, CR1_ANFOFF, clock(), &delays);
    assert_eq!((timing.sync1, timing.sync2, timing.period()), (2, 2, 4 + LOW + HIGH));
    // 260 ns are 4.2 clocks, and the digital filter has its 15.
    let timing = Timing::of(TIMING, 15 << CR1_DNF, clock(), &delays);
    assert_eq!((timing.sync1, timing.sync2), (5 + 15 + 2, 5 + 15 + 2));
    // SCLDEL and SDADEL make the low phase longer: 15 * 4 + 1 + 16 * 4.
    let timing = Timing::of(TIMING | 0xff_0000, CR1_ANFOFF, clock(), &delays);
    assert_eq!(timing.least_low(), 2 + 61 + 64);
}

#[test]
fn two_bytes_are_written_with_their_times() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(100, CR2, transfer(2, CR2_AUTOEND));
    let start = 100 + START;
    bus.turns(start + SYNC1, ISR_TXE, ISR_TXE | ISR_BUSY);
    let [eighth, ninth] = first_byte(start);
    // The acknowledge is seen with the edge behind it; SCL stays low without data.
    let asks = ISR_TXE | ISR_TXIS | ISR_BUSY;
    bus.turns(ninth + SYNC1, ISR_TXE | ISR_BUSY, asks);
    // 1000 cycles later: data goes out at once, SCL follows when it has been set up.
    let written = ninth + 1000;
    bus.write(written, TXDR, 0xa5);
    bus.turns(written + START, ISR_BUSY, asks);
    bus.write(written + 10, TXDR, 0x3c);
    let first_rise = written + START + SETUP;
    let first_end = first_rise + SYNC2 + HIGH + 7 * PERIOD;
    bus.turns(first_end + PERIOD + SYNC1, ISR_BUSY, ISR_TXE | ISR_BUSY);
    let second_end = first_end + 9 * PERIOD;
    // STOP: SCL falls behind the acknowledge, is low, and high for tSCLH, then SDA rises.
    let stop = second_end + PERIOD + PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
    bus.heard(&[("Write", eighth), ("0xa5", first_end), ("0x3c", second_end), ("stop", stop)]);
    assert_eq!(bus.read(stop + 100, CR2) & (CR2_START | CR2_STOP), 0);
    let counters = bus.bench.bus.devices[0].as_ref().unwrap().counters();
    let own = [("frames", 1), ("bytes", 3), ("nacks", 0)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counters, own);
}

#[test]
fn bytes_that_are_there_in_time_follow_each_other() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, TXDR, 1);
    bus.write(0, CR2, transfer(2, CR2_AUTOEND));
    let [eighth, ninth] = first_byte(START);
    // The first byte waits in I2C_TXDR, and goes out without a gap; the second is asked for.
    bus.turns(ninth + SYNC1, ISR_BUSY, ISR_TXE | ISR_TXIS | ISR_BUSY);
    bus.write(ninth + 50, TXDR, 2);
    let stop = eighth + (1 + 9 + 9 + 1) * PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
    let ends = [0, 9, 18].map(|clocks| eighth + clocks * PERIOD);
    bus.heard(&[("Write", ends[0]), ("0x1", ends[1]), ("0x2", ends[2]), ("stop", stop)]);
}

#[test]
fn two_bytes_are_read_and_the_last_is_not_acknowledged() {
    let mut bus = Bus::on(&[], &[Given::byte(0x19), Given::byte(0x80)], 0);
    bus.write(0, CR2, transfer(2, CR2_AUTOEND | CR2_RD_WRN));
    let [eighth, ninth] = first_byte(START);
    let first = ninth + 8 * PERIOD;
    // RXNE comes behind the eighth clock.
    bus.turns(first + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    assert_eq!(bus.read(first + 100, RXDR), 0x19);
    let second = first + 9 * PERIOD;
    bus.turns(second + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    let stop = second + 2 * PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_RXNE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_STOPF);
    assert_eq!(bus.read(stop + 100, RXDR), 0x80);
    let (ack, nack) = (first + PERIOD, second + PERIOD);
    bus.heard(&[("Read", eighth), ("read", ninth), ("ack", ack), ("read", ack), ("nack", nack), ("stop", stop)]);
}

#[test]
fn scl_is_held_in_front_of_the_acknowledge_until_a_byte_is_read() {
    let mut bus = Bus::on(&[], &[Given::byte(1), Given::byte(2)], 0);
    bus.write(0, CR2, transfer(2, CR2_AUTOEND | CR2_RD_WRN));
    let [_, ninth] = first_byte(START);
    let (first, second) = (ninth + 8 * PERIOD, ninth + 17 * PERIOD);
    // The second byte waits in the shift register.
    let late = second + 5000;
    assert_eq!(bus.read(late, RXDR), 1);
    bus.turns(late + START, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    assert_eq!(bus.read(late + START + 1, RXDR), 2);
    // The acknowledge is set up, then its clock, then STOP.
    let acknowledged = late + START + SETUP + SYNC2 + HIGH;
    let stop = acknowledged + PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
    let calls = bus.calls.lock().unwrap().clone();
    assert_eq!(calls[2], ("ack".to_owned(), first + PERIOD));
    assert_eq!(calls[4..], [("nack".to_owned(), acknowledged), ("stop".to_owned(), stop)]);
}

#[test]
fn a_repeated_start_turns_the_direction_around() {
    let mut bus = Bus::on(&[], &[Given::byte(0x55)], 0);
    bus.write(0, CR2, transfer(1, 0));
    bus.write(0, TXDR, 7);
    let [eighth, ninth] = first_byte(START);
    let written = ninth + 9 * PERIOD;
    bus.turns(written + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_TC | ISR_BUSY);
    let ordered = written + 3000;
    bus.write(ordered, CR2, transfer(1, CR2_AUTOEND | CR2_RD_WRN));
    assert_eq!(bus.read(ordered, ISR), ISR_TXE | ISR_BUSY);
    // SDA is let go, and SCL when that is set up; tSU;STA is tSCLL from where SCL's rising edge is seen.
    let start = ordered + START + SETUP + SYNC2 + LOW;
    let [second_eighth, second_ninth] = first_byte(start);
    let read = second_ninth + 8 * PERIOD;
    bus.turns(read + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    let stop = read + 2 * PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_RXNE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_STOPF);
    bus.heard(&[
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
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, CR2, 1 << CR2_NBYTES | 0x49 << 1 | CR2_START);
    let [_, ninth] = first_byte(START);
    bus.turns(ninth + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_BUSY);
    assert_eq!(bus.read(ninth + SYNC1, CR2) & CR2_START, 0);
    let stop = ninth + PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_NACKF | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_STOPF);
    bus.heard(&[]);
    bus.write(stop + 100, ICR, ISR_NACKF | ISR_STOPF);
    assert_eq!(bus.read(stop + 100, ISR), ISR_TXE);
}

#[test]
fn a_byte_that_is_refused_ends_the_frame() {
    let mut bus = Bus::on(&[Answer::ACK, Answer::NACK], &[], 0);
    bus.write(0, CR2, transfer(5, CR2_AUTOEND));
    bus.write(0, TXDR, 7);
    let [eighth, ninth] = first_byte(START);
    bus.turns(ninth + 9 * PERIOD + SYNC1, ISR_TXE | ISR_TXIS | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_BUSY);
    let stop = ninth + 10 * PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_NACKF | ISR_BUSY, ISR_TXE | ISR_NACKF | ISR_STOPF);
    bus.heard(&[("Write", eighth), ("0x7", ninth + 8 * PERIOD), ("stop", stop)]);
}

#[test]
fn more_than_255_bytes_go_in_parts() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, CR2, transfer(1, CR2_RELOAD));
    bus.write(0, TXDR, 7);
    let [_, ninth] = first_byte(START);
    let first = ninth + 9 * PERIOD;
    bus.turns(first + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_TCR | ISR_BUSY);
    bus.write(first + 500, CR2, 1 << CR2_NBYTES | CR2_AUTOEND);
    assert_eq!(bus.read(first + 500, ISR), ISR_TXE | ISR_TXIS | ISR_BUSY);
    bus.write(first + 600, TXDR, 8);
    let second = first + 600 + START + SETUP + SYNC2 + HIGH + 8 * PERIOD;
    let stop = second + PERIOD;
    bus.turns(stop + SYNC2, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_STOPF);
}

#[test]
fn a_chip_stretches_the_clock() {
    // By 20 us, 320 clocks, in front of the acknowledge of its address; by 10 us and a bit in front of a byte.
    let answers = [Answer::ACK.stretched(Ps::from_us(20))];
    let mut bus = Bus::on(&answers, &[Given::byte(1).stretched(Ps::from_ns(10_001))], 0);
    bus.write(0, CR2, transfer(1, CR2_AUTOEND | CR2_RD_WRN));
    let [eighth, _] = first_byte(START);
    let ninth = eighth + 320 + SYNC2 + HIGH;
    let read = ninth + 161 + SYNC2 + HIGH + 7 * PERIOD;
    bus.turns(read + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    let stop = read + 2 * PERIOD;
    bus.bench.run(cycle_ps(stop));
    bus.heard(&[("Read", eighth), ("read", ninth), ("nack", read + PERIOD), ("stop", stop)]);
}

#[test]
fn a_general_call_reaches_all_chips() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, CR2, 1 << CR2_NBYTES | CR2_START | CR2_AUTOEND);
    bus.write(0, TXDR, 6);
    let [eighth, ninth] = first_byte(START);
    bus.bench.run(cycle_ps(ninth + 20 * PERIOD));
    bus.heard(&[("general call", eighth), ("0x6", ninth + 8 * PERIOD), ("stop", ninth + 10 * PERIOD)]);
}

#[test]
fn a_start_behind_a_stop_waits_until_the_bus_has_been_free() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, CR2, transfer(0, CR2_AUTOEND));
    let [eighth, ninth] = first_byte(START);
    let stop = ninth + PERIOD;
    // Set again while the STOP is on its way.
    bus.write(ninth + 20, CR2, transfer(0, CR2_AUTOEND));
    let start = stop + SYNC2 + LOW;
    bus.turns(start + SYNC1, ISR_TXE | ISR_STOPF, ISR_TXE | ISR_STOPF | ISR_BUSY);
    let [second, second_ninth] = first_byte(start);
    bus.bench.run(cycle_ps(second_ninth + PERIOD));
    bus.heard(&[("Write", eighth), ("stop", stop), ("Write", second), ("stop", second_ninth + PERIOD)]);
}

#[test]
fn the_event_interrupt_follows_what_is_enabled() {
    let (event, stop_flag) = (1 << 4, CR1_STOPIE);
    for (enabled, expected) in [(0, [0, 0]), (CR1_TXIE, [event, 0]), (stop_flag, [0, event])] {
        let mut bus = Bus::on(&[], &[], enabled);
        bus.write(0, CR2, transfer(1, CR2_AUTOEND));
        let [_, ninth] = first_byte(START);
        bus.bench.run(cycle_ps(ninth + SYNC1));
        assert_eq!(bus.bench.pending(), expected[0], "{enabled:#x}");
        bus.write(ninth + SYNC1, TXDR, 1);
        bus.bench.run(cycle_ps(ninth + 20 * PERIOD));
        assert_eq!(bus.bench.pending(), expected[1], "{enabled:#x}");
        bus.write(ninth + 20 * PERIOD, ICR, ISR_STOPF);
        assert_eq!(bus.bench.pending(), 0);
    }
}

#[test]
fn a_byte_that_waits_is_not_overwritten_but_flushed() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, TXDR, 1);
    bus.write(0, TXDR, 2);
    assert_eq!((bus.read(0, TXDR), bus.read(0, ISR), bus.bench.bus.notes().len()), (1, 0, 1));
    bus.write(0, ISR, ISR_TXE);
    bus.write(0, TXDR, 3);
    assert_eq!((bus.read(0, TXDR), bus.bench.bus.notes().len()), (3, 1));
}

#[test]
fn pe_locks_timing_and_filters_and_its_end_resets_the_master() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, TIMINGR, 1);
    bus.write(0, CR1, CR1_PE | CR1_ANFOFF);
    assert_eq!((bus.read(0, TIMINGR), bus.read(0, CR1), bus.bench.bus.notes().len()), (TIMING, CR1_PE, 2));
    bus.write(0, CR2, transfer(1, 0));
    let [eighth, _] = first_byte(START);
    bus.write(eighth + 10, CR1, 0);
    assert_eq!(bus.read(eighth + 10, ISR), ISR_TXE);
    assert_eq!(bus.read(eighth + 10, CR2) & CR2_START, 0);
    assert_eq!(bus.bench.bus.events.next_due(), Ps::MAX);
    bus.heard(&[("Write", eighth), ("stop", eighth + 10)]);
    // Nothing begins while it is off.
    bus.write(eighth + 20, CR2, transfer(1, 0));
    assert_eq!((bus.bench.bus.events.next_due(), bus.bench.bus.notes().len()), (Ps::MAX, 3));
}

#[test]
fn the_wires_are_recorded_edge_by_edge() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.bench.record();
    bus.write(0, CR2, transfer(0, CR2_AUTOEND));
    let [eighth, ninth] = first_byte(START);
    let stop = ninth + PERIOD;
    bus.bench.run(cycle_ps(stop + 100));
    let first_fall = START + HOLD;
    let mut scl = vec![(first_fall, false)];
    for clock in 1..=9 {
        let fall = first_fall + clock * PERIOD;
        scl.extend([(fall - SYNC2 - HIGH, true), (fall, false)]);
    }
    scl.push((stop - SYNC2 - HIGH, true));
    let cycles = |wire| -> Vec<(u64, bool)> {
        let changes = bus.bench.recorded(wire).into_iter();
        changes.map(|(at, level)| (clock().cycles_until_floor(at).0, level)).collect()
    };
    assert_eq!(cycles("scl"), scl);
    // 0x90: 1 0 0 1 0 0 0 0, each behind a falling edge that was seen. The chip's acknowledge keeps SDA low; it lets go
    // of it at the end of the ninth clock, and the master pulls it low for the STOP.
    let change = |clock: u64| first_fall + clock * PERIOD + SYNC1 + DATA;
    let sda = [
        (START, false),
        (change(0), true),
        (change(1), false),
        (change(3), true),
        (change(4), false),
        (ninth, true),
        (ninth + SYNC1 + DATA, false),
        (stop, true),
    ];
    assert_eq!(cycles("sda"), sda);
    assert!(eighth < ninth);
}

/// Its interrupt rises by itself, and falls as its address is called.
struct Alarm(Option<Ps>, bool);

impl I2cTarget for Alarm {
    fn address(&mut self, _: Direction, _: Ps) -> Answer {
        self.1 = false;
        Answer::ACK
    }

    fn write(&mut self, _: u8, _: Ps) -> Answer {
        Answer::ACK
    }

    fn read(&mut self, _: Ps) -> Given {
        Given::byte(0)
    }

    fn stop(&mut self, _: Ps) {}

    fn advance(&mut self, now: Ps) {
        if self.0.is_some_and(|due| due <= now) {
            (self.0, self.1) = (None, true);
        }
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.0
    }

    fn interrupt(&self) -> Option<bool> {
        Some(self.1)
    }
}

#[test]
fn a_chip_is_woken_and_its_interrupt_comes_through() {
    let mut bus = Bus::on(&[], &[], 0);
    let due = Ps::from_ns(12_345);
    let line = Some(IrqLine::Core { core: 0, bit: 9 });
    let chip: Box<dyn I2cTarget> = Box::new(Alarm(Some(due), false));
    let delays = Delays { falling: Ps::ZERO, rising: Ps::ZERO, analog_filter: Ps::ZERO, synchronisation: Cycles(2) };
    let (lines, gate) = ([None; 2], ClockGate::default());
    let params = Params { kernel_clock: clock(), delays, start_cycles: Cycles(2), event: lines, error: lines, gate };
    let chips = I2cChips::new(vec![(ADDRESS, Hosted::new(chip, "chip".to_owned(), line, 0))]);
    bus.bench = Bench::new(I2c::new(params, chips));
    bus.bench.record();
    bus.bench.run(Ps(due.0 - 1));
    assert_eq!(bus.bench.pending(), 0);
    bus.bench.run(due);
    assert_eq!(bus.bench.pending(), 1 << 9);
    bus.write(1000, TIMINGR, TIMING);
    bus.write(1000, CR1, CR1_PE);
    bus.write(1000, CR2, transfer(0, CR2_AUTOEND));
    // Called behind the eighth clock: without slopes and filter the delays are two cycles each.
    let eighth = 1000 + START + 2 + HIGH + 8 * (2 + LOW + 2 + HIGH);
    bus.bench.run(cycle_ps(eighth - 1));
    assert_eq!(bus.bench.pending(), 1 << 9);
    bus.bench.run(cycle_ps(eighth));
    assert_eq!(bus.bench.pending(), 0);
}

#[test]
fn polling_can_be_skipped_up_to_the_next_step() {
    let mut bus = Bus::on(&[], &[], 0);
    bus.write(0, CR2, transfer(1, CR2_AUTOEND));
    let core = Hz::new(650_000_000).unwrap();
    let look = |bus: &mut Bus, cycle: u64| {
        let mut poll = Poll::look(core, core.cycles_until_ceil(cycle_ps(cycle)));
        bus.bench.bus.devices[0].as_mut().unwrap().polled(&mut poll).then_some(poll)
    };
    let [eighth, _] = first_byte(START);
    bus.bench.run(cycle_ps(START + HOLD));
    let before = look(&mut bus, START + HOLD + 10).unwrap();
    let after = look(&mut bus, START + HOLD + 20).unwrap();
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), cycle_ps(eighth));
    // What is due has to come first.
    assert!(look(&mut bus, eighth).is_none());
    bus.bench.run(cycle_ps(eighth));
    assert!(!look(&mut bus, eighth + 1).unwrap().repeats(&before));
}

#[test]
fn a_node_gives_clock_lines_gate_and_delays() {
    let (mut bench, mut faults) = read_plain_node(
        from_node,
        &[
            ("interrupts-extended", &[CPU_INTC, 3, CPU_INTC, 4, CPU_INTC, 5, CPU_INTC, 6]),
            ("cyclescope,clock-enable", &[0xa00, 21]),
            ("cyclescope,start-cycles", &[2]),
            ("cyclescope,synchronisation-cycles", &[2]),
            ("cyclescope,analog-filter-ns", &[50]),
            ("i2c-scl-rising-time-ns", &[96]),
            ("i2c-scl-falling-time-ns", &[3]),
        ],
    );
    faults.retain(|fault| !fault.contains("cyclescope,sources"));
    assert!(faults.is_empty(), "{faults:?}");
    bench.bus.clocks.set_gates(0xa00, 0);
    assert_eq!((bench.value(Ps(0), ISR), bench.bus.notes().len()), (0, 1));
    bench.bus.clocks.set_gates(0xa00, 1 << 21);
    bench.write(Ps(0), CR1, CR1_PE | CR1_STOPIE).unwrap();
    bench.write(Ps(0), CR2, transfer(0, CR2_AUTOEND)).unwrap();
    bench.run(Ps::from_us(100));
    // Both event lines.
    assert_eq!(
        (bench.value(Ps::from_us(100), ISR), bench.pending()),
        (ISR_TXE | ISR_STOPF | ISR_NACKF, 1 << 3 | 1 << 5)
    );
}

#[test]
fn a_frame_that_outlasts_any_run_has_no_event() {
    let delays = Delays {
        falling: Ps::ZERO,
        rising: Ps::ZERO,
        analog_filter: Ps::ZERO,
        synchronisation: Cycles(u64::from(u32::MAX)),
    };
    let (event, gate) = ([None; 2], ClockGate::default());
    let kernel_clock = Hz::new(1).unwrap();
    let params = Params { kernel_clock, delays, start_cycles: Cycles(1), event, error: event, gate };
    let mut bench = Bench::new(I2c::new(params, I2cChips::default()));
    bench.write(Ps(0), CR1, CR1_PE).unwrap();
    bench.write(Ps(0), CR2, transfer(1, 0)).unwrap();
    bench.run(Ps::from_us(10_000_000));
    assert_eq!(bench.bus.events.next_due(), Ps::MAX);
}
