use super::*;
use crate::bench::{Bench, CPU_INTC, read_node};
use crate::registers::walk;
use engine::bus::device::ExitRequest;

/// A clock of 32768 Hz, and two of its clocks until the next write.
fn rtc() -> Bench {
    let (bus, clock) = (Hz::new(112_000_000).unwrap(), Hz::new(32_768).unwrap());
    Bench::new(Rtc::new(bus, clock, Cycles(2), Some(IrqLine::Core { core: 0, bit: 4 })))
}

const fn ms(ms: u64) -> Ps {
    Ps::from_us(1000 * ms)
}

#[test]
fn the_device_keeps_its_table() {
    // Without a time to wait between writes. RTCCR's flags are no settings, and HCR ends the run.
    let clock = Hz::new(32_768).unwrap();
    let mut bench = Bench::new(Rtc::new(clock, clock, Cycles(0), None));
    walk::device_keeps_its_table(MAP.rows, &["RTCCR", "RTCGR", "HCR"], &mut bench);
    assert_eq!([RTCCR, RTCGR, HCR].map(|register| bench.value(Ps(0), register)), [0x81, 0x7fff, 0]);
}

#[test]
fn hibernating_switches_the_power_off() {
    let mut bench = rtc();
    bench.write(Ps(0), HCR, 0).unwrap();
    assert_eq!(bench.bus.exit, None);
    bench.write(ms(1), HCR, HCR_PD).unwrap();
    assert_eq!(bench.bus.exit, Some(ExitRequest { code: 0, at: ms(1) }));
}

#[test]
fn a_write_needs_the_one_before_it_to_be_through() {
    let mut bench = rtc();
    bench.write(Ps(1), HSPR, 7).unwrap();
    assert_eq!(bench.value(Ps(1), RTCCR), RTCCR_RTCE);
    bench.write(Ps::from_us(50), HSPR, 8).unwrap();
    assert_eq!((bench.value(Ps::from_us(50), HSPR), bench.bus.notes().len()), (7, 1));
    // The second edge after the one that took it, the first one, at 30.5 us.
    assert_eq!(bench.value(Ps::from_us(91), RTCCR), RTCCR_RTCE);
    assert_eq!(bench.value(Ps::from_us(92), RTCCR), RTCCR_RTCE | RTCCR_WRDY);
    bench.write(Ps::from_us(92), HSPR, 9).unwrap();
    assert_eq!(bench.value(Ps::from_us(92), HSPR), 9);
}

#[test]
fn seconds_are_counted_while_it_runs() {
    let mut bench = rtc();
    assert_eq!([ms(999), ms(1000), ms(2999), ms(3000)].map(|at| bench.value(at, RTCSR)), [0, 1, 2, 3]);
    bench.write(ms(3500), RTCSR, 1000).unwrap();
    assert_eq!([ms(4499), ms(4500)].map(|at| bench.value(at, RTCSR)), [1000, 1001]);
    bench.write(ms(4600), RTCCR, 0).unwrap();
    assert_eq!(bench.value(ms(9000), RTCSR), 1001);
    bench.write(ms(9000), RTCCR, RTCCR_RTCE).unwrap();
    assert_eq!([ms(9999), ms(10_001)].map(|at| bench.value(at, RTCSR)), [1001, 1002]);
}

#[test]
fn the_regulator_says_how_long_a_second_is_until_it_is_locked() {
    let mut bench = rtc();
    bench.write(Ps(0), RTCGR, RTCGR_LOCK | 0x3fff).unwrap();
    assert_eq!(bench.value(ms(1500), RTCSR), 3);
    bench.write(ms(1500), RTCGR, 0x7fff).unwrap();
    assert_eq!((bench.value(ms(1600), RTCGR), bench.bus.notes().len()), (RTCGR_LOCK | 0x3fff, 1));
}

#[test]
fn seconds_interrupt_if_they_are_let() {
    let mut bench = rtc();
    bench.run(ms(1100));
    assert_eq!((bench.pending(), bench.value(ms(1100), RTCCR) & RTCCR_HZ), (0, RTCCR_HZ));
    bench.write(ms(1100), RTCCR, RTCCR_RTCE | RTCCR_HZIE).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.run(ms(1999));
    assert_eq!(bench.pending(), 0);
    bench.run(ms(2000));
    assert_eq!(bench.pending(), 1 << 4);
    // A one keeps the flag.
    bench.write(ms(2001), RTCCR, RTCCR_RTCE | RTCCR_HZIE | RTCCR_HZ).unwrap();
    assert_eq!(bench.pending(), 1 << 4);
    bench.write(ms(2100), RTCCR, RTCCR_RTCE).unwrap();
    assert_eq!((bench.pending(), bench.value(ms(2100), RTCCR) & RTCCR_HZ), (0, 0));
}

#[test]
fn the_alarm_comes_with_its_second() {
    let mut bench = rtc();
    bench.write(ms(0), RTCSAR, 3).unwrap();
    bench.write(ms(1), RTCCR, RTCCR_RTCE | RTCCR_AE | RTCCR_AIE).unwrap();
    bench.run(ms(2999));
    assert_eq!(bench.pending(), 0);
    bench.run(ms(3000));
    assert_eq!((bench.pending(), bench.value(ms(3000), RTCCR) & RTCCR_AF), (1 << 4, RTCCR_AF));
    bench.write(ms(3001), RTCCR, RTCCR_RTCE | RTCCR_AE | RTCCR_AIE).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.run(ms(9000));
    assert_eq!(bench.pending(), 0);
}

#[test]
fn waiting_for_the_write_can_be_skipped() {
    let mut bench = rtc();
    bench.write(Ps(1), HSPR, 7).unwrap();
    let look = |bench: &mut Bench, number: u64| {
        let mut poll = Poll::look(Hz::new(336_000_000).unwrap(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let before = look(&mut bench, 300);
    let after = look(&mut bench, 330);
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), Hz::new(32_768).unwrap().ps_at_floor(Cycles(3)));
}

#[test]
fn a_node_gives_clocks_time_and_interrupt() {
    let (mut bench, faults) = read_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    // The test's node has the time of reads too, which this device does not take.
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("cyclescope,read-cycles")), "{faults:?}");
    bench.write(Ps(0), HSPR, 7).unwrap();
    assert_eq!(bench.value(Ps(29_999), RTCCR), RTCCR_RTCE);
    assert_eq!(bench.value(Ps(30_000), RTCCR), RTCCR_RTCE | RTCCR_WRDY);
}
