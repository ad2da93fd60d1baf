//! Registers, interrupts, the node, polling loops.

use super::*;
use crate::bench::{CPU_INTC, read_plain_node};
use crate::registers::walk;
use crate::st::i2c::Params;

#[test]
fn the_device_keeps_its_table() {
    // CR1 locks other registers, CR2 starts an operation, and TXDR takes one byte.
    walk::device_keeps_its_table(MAP.rows, &["I2C_CR1", "I2C_CR2", "I2C_TXDR"], &mut off(&[], &[]).bench);
    let mut bus = off(&[], &[]);
    for (register, bits) in [(CR1, 0x00ff_dfff), (CR2, 0x03ff_1fff)] {
        bus.write(0, register, !CR1_PE);
        assert_eq!(bus.read(0, register), bits & !CR1_PE);
    }
}

#[test]
fn a_clock_at_100_khz_takes_what_the_manual_says() {
    let delays =
        Delays { falling: Ps::ZERO, rising: Ps::ZERO, analog_filter: Ps::from_ns(260), synchronisation: Cycles(2) };
    // "tSYNC1 + tSYNC2 minimum value is 4 x tI2CCLK": tSCL is 4 + 144 clocks, 9.25 us, without slopes and filter.
    let timing = delays.timing(TIMING, CR1_ANFOFF, clock());
    assert_eq!((timing.sync1, timing.sync2, timing.period()), (2, 2, 4 + LOW + HIGH));
    // 260 ns are 4.2 clocks, and the digital filter has its 15.
    let timing = delays.timing(TIMING, 15 << CR1_DNF.trailing_zeros(), clock());
    assert_eq!((timing.sync1, timing.sync2), (5 + 15 + 2, 5 + 15 + 2));
    // SCLDEL and SDADEL lengthen the low phase: 15 * 4 + 1 + 16 * 4.
    let timing = delays.timing(TIMING | 0xff_0000, CR1_ANFOFF, clock());
    assert_eq!(timing.least_low(), 2 + 61 + 64);
}

#[test]
fn the_event_interrupt_follows_what_is_enabled() {
    let (event, stop_flag) = (1 << 4, CR1_STOPIE);
    for (enabled, expected) in [(0, [0, 0]), (CR1_TXIE, [event, 0]), (stop_flag, [0, event])] {
        let mut bus = on(&[], &[], enabled);
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
    let mut bus = on(&[], &[], 0);
    bus.write(0, TXDR, 1);
    bus.write(0, TXDR, 2);
    assert_eq!((bus.read(0, TXDR), bus.read(0, ISR), bus.bench.bus.notes().len()), (1, 0, 1));
    bus.write(0, ISR, ISR_TXE);
    bus.write(0, TXDR, 3);
    assert_eq!((bus.read(0, TXDR), bus.bench.bus.notes().len()), (3, 1));
}

#[test]
fn pe_locks_timing_and_filters_and_its_end_resets_the_master() {
    let mut bus = on(&[], &[], 0);
    bus.write(0, TIMINGR, 1);
    bus.write(0, CR1, CR1_PE | CR1_ANFOFF);
    assert_eq!((bus.read(0, TIMINGR), bus.read(0, CR1), bus.bench.bus.notes().len()), (TIMING, CR1_PE, 2));
    bus.write(0, CR2, transfer(1, 0));
    let [eighth, _] = first_byte(START);
    bus.write(eighth + 10, CR1, 0);
    assert_eq!(bus.read(eighth + 10, ISR), ISR_TXE);
    assert_eq!(bus.read(eighth + 10, CR2) & CR2_START, 0);
    assert_eq!(bus.bench.bus.events.next_due(), Ps::MAX);
    bus.assert_calls(&[("Write", eighth), ("stop", eighth + 10)]);
    // Nothing starts while the interface is off.
    bus.write(eighth + 20, CR2, transfer(1, 0));
    assert_eq!((bus.bench.bus.events.next_due(), bus.bench.bus.notes().len()), (Ps::MAX, 3));
}

#[test]
fn polling_can_be_skipped_up_to_the_next_step() {
    let mut bus = on(&[], &[], 0);
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
    // The step that is due has to come first.
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
    let params = Params { start_cycles: Cycles(1), ..params(ClockInput::fixed(Hz::new(1).unwrap())) };
    let mut bench = Bench::new(I2c::new(params, own(delays), Default::default(), I2cChips::default()));
    bench.write(Ps(0), CR1, CR1_PE).unwrap();
    bench.write(Ps(0), CR2, transfer(1, 0)).unwrap();
    bench.run(Ps::from_us(10_000_000));
    assert_eq!(bench.bus.events.next_due(), Ps::MAX);
}
