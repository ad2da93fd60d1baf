//! The bus besides transfers: stretched clocks, general calls, waveforms, chips' interrupts.

use super::*;

#[test]
fn a_chip_stretches_the_clock() {
    // By 20 us, 320 clocks, before the acknowledge of its address; by 10 us and a bit before a byte.
    let answers = [Answer::ACK.stretched(Ps::from_us(20))];
    let mut bus = on(&answers, &[Given::byte(1).stretched(Ps::from_ns(10_001))], 0);
    bus.write(0, CR2, transfer(1, CR2_AUTOEND | CR2_RD_WRN));
    let [eighth, _] = first_byte(START);
    let ninth = eighth + 320 + SYNC2 + HIGH;
    let read = ninth + 161 + SYNC2 + HIGH + 7 * PERIOD;
    bus.isr_turns(read + SYNC1, ISR_TXE | ISR_BUSY, ISR_TXE | ISR_RXNE | ISR_BUSY);
    let stop = read + 2 * PERIOD;
    bus.bench.run(cycle_ps(stop));
    bus.assert_calls(&[("Read", eighth), ("read", ninth), ("nack", read + PERIOD), ("stop", stop)]);
}

#[test]
fn a_general_call_reaches_all_chips() {
    let mut bus = on(&[], &[], 0);
    bus.write(0, CR2, 1 << NBYTES | CR2_START | CR2_AUTOEND);
    bus.write(0, TXDR, 6);
    let [eighth, ninth] = first_byte(START);
    bus.bench.run(cycle_ps(ninth + 20 * PERIOD));
    bus.assert_calls(&[("general call", eighth), ("0x6", ninth + 8 * PERIOD), ("stop", ninth + 10 * PERIOD)]);
}

#[test]
fn the_wires_are_recorded_edge_by_edge() {
    let mut bus = on(&[], &[], 0);
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
    // 0x90: 1 0 0 1 0 0 0 0, each after a detected falling edge. The chip's acknowledge keeps SDA low; the chip
    // releases it at the end of the ninth clock, and the master pulls it low for the STOP.
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

/// A chip whose interrupt rises without an access, and falls as its address is called.
#[derive(engine::state::State)]
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
    let mut bus = on(&[], &[], 0);
    let due = Ps::from_ns(12_345);
    let line = Some(IrqLine::Core { core: 0, bit: 9 });
    let chip: Box<dyn I2cTarget> = Box::new(Alarm(Some(due), false));
    let delays = Delays { falling: Ps::ZERO, rising: Ps::ZERO, analog_filter: Ps::ZERO, synchronisation: Cycles(2) };
    let params = params(ClockInput::fixed(clock()));
    let chips = I2cChips::new(vec![(ADDRESS, Hosted::new(chip, "chip".to_owned(), line, 0))]);
    bus.bench = Bench::new(I2c::new(params, own(delays), Default::default(), chips));
    bus.bench.record();
    bus.bench.run(Ps(due.0 - 1));
    assert_eq!(bus.bench.pending(), 0);
    bus.bench.run(due);
    assert_eq!(bus.bench.pending(), 1 << 9);
    bus.write(1000, TIMINGR, TIMING);
    bus.write(1000, CR1, CR1_PE);
    bus.write(1000, CR2, transfer(0, CR2_AUTOEND));
    // Called after the eighth clock: without slopes and filter the delays are two cycles each.
    let eighth = 1000 + START + 2 + HIGH + 8 * (2 + LOW + 2 + HIGH);
    bus.bench.run(cycle_ps(eighth - 1));
    assert_eq!(bus.bench.pending(), 1 << 9);
    bus.bench.run(cycle_ps(eighth));
    assert_eq!(bus.bench.pending(), 0);
}
