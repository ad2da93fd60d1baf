use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::time::Cycles;

const TIMER_CLOCK2: u32 = 1;
const TIMER_CLOCK5: u32 = 4;
const WAVE: u32 = 1 << 15;
const UP_RC: u32 = 2 << 13;
const COVFS: u32 = 1 << 0;
const CPAS: u32 = 1 << 2;
const CPBS: u32 = 1 << 3;
const CPCS: u32 = 1 << 4;
const CLKSTA: u32 = SR_CLKSTA;

fn clock() -> Hz {
    Hz::new(83_000_000).unwrap()
}

/// The time of edge number `number` of the peripheral clock.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn tcb() -> Bench {
    Bench::new(Tcb::new(clock(), Hz::new(32_768).unwrap(), Some(IrqLine::Core { core: 0, bit: 5 })))
}

/// A block whose first channel has this mode and this RC, and was started in cycle 100.
fn started(mode: u32, rc: u32) -> Bench {
    let mut bench = tcb();
    bench.write(cycle(0), CMR, mode).unwrap();
    bench.write(cycle(0), RC, rc).unwrap();
    bench.write(cycle(100), CCR, CCR_CLKEN | CCR_SWTRG).unwrap();
    bench
}

#[test]
fn the_device_keeps_its_table() {
    // RA and RB are written in waveform mode only.
    walk::device_keeps_its_table(
        MAP.rows,
        &["TC_RA0", "TC_RB0", "TC_RA1", "TC_RB1", "TC_RA2", "TC_RB2", "TC_WPMR"],
        &mut tcb(),
    );
    let mut bench = started(WAVE, 0);
    for register in [RA, RB] {
        bench.write(cycle(100), register, 7).unwrap();
        assert_eq!(bench.value(cycle(100), register), 7);
    }
    bench.write(cycle(100), CMR, 0).unwrap();
    bench.write(cycle(100), RA, 8).unwrap();
    assert_eq!((bench.value(cycle(100), RA), bench.value(cycle(100), RAB)), (7, 7));
}

#[test]
fn timer_clock_2_is_an_eighth_of_the_peripheral_clock() {
    let mut bench = started(TIMER_CLOCK2, 0);
    // The dividers run from reset: their next edge after the trigger is cycle 104.
    for (at, value) in [(100, 0), (104, 0), (111, 0), (112, 1), (104 + 8 * 1000, 1000), (104 + 8 * 1000 + 7, 1000)] {
        assert_eq!(bench.value(cycle(at), CV), value, "cycle {at}");
    }
}

#[test]
fn the_other_clocks_are_a_32nd_a_128th_the_slow_and_the_whole_clock() {
    for (clock, edge, ticks) in [(2, 128, 32), (3, 128, 128)] {
        let mut bench = started(clock, 0);
        assert_eq!(bench.value(cycle(edge + 5 * ticks - 1), CV), 4);
        assert_eq!(bench.value(cycle(edge + 5 * ticks), CV), 5);
    }
    let mut bench = started(TIMER_CLOCK5, 0);
    // Edge number 1 is the trigger's.
    let slow = |edge: u64| Ps(edge * 1_000_000_000_000 / 32_768);
    assert_eq!(bench.value(Ps(slow(11).0 - 20_000), CV), 9);
    assert_eq!(bench.value(slow(11), CV), 10);
    let mut bench = tcb();
    bench.write(cycle(0), EMR, EMR_NODIVCLK).unwrap();
    bench.write(cycle(100), CCR, CCR_CLKEN | CCR_SWTRG).unwrap();
    assert_eq!([101, 102, 201].map(|at| bench.value(cycle(at), CV)), [0, 1, 100]);
}

#[test]
fn a_trigger_takes_effect_with_the_next_tick() {
    let mut bench = started(TIMER_CLOCK2, 0);
    bench.write(cycle(165), CCR, CCR_SWTRG).unwrap();
    assert_eq!([165, 167, 168, 175, 176].map(|at| bench.value(cycle(at), CV)), [7, 7, 0, 0, 1]);
}

#[test]
fn the_clock_must_be_enabled_and_the_counter_triggered() {
    let mut bench = tcb();
    bench.write(cycle(0), CMR, TIMER_CLOCK2).unwrap();
    bench.write(cycle(0), CCR, CCR_SWTRG).unwrap();
    assert_eq!(bench.value(cycle(80), SR), 0);
    bench.write(cycle(80), CCR, CCR_CLKEN).unwrap();
    assert_eq!((bench.value(cycle(160), CV), bench.value(cycle(160), SR)), (0, CLKSTA));
    bench.write(cycle(160), CCR, CCR_SWTRG).unwrap();
    assert_eq!(bench.value(cycle(240), CV), 9);
    // CLKDIS beats CLKEN, and holds the value.
    bench.write(cycle(240), CCR, CCR_CLKEN | CCR_CLKDIS).unwrap();
    assert_eq!((bench.value(cycle(400), CV), bench.value(cycle(400), SR)), (9, 0));
    bench.write(cycle(400), CCR, CCR_CLKEN).unwrap();
    assert_eq!(bench.value(cycle(480), CV), 9);
}

#[test]
fn an_rc_compare_that_triggers_makes_a_period_of_rc_ticks() {
    for mode in [TIMER_CLOCK2 | 1 << 14, TIMER_CLOCK2 | WAVE | UP_RC] {
        let mut bench = started(mode, 10);
        assert_eq!(bench.value(cycle(104 + 79), CV), 9);
        assert_eq!(bench.value(cycle(104 + 79), SR), CLKSTA);
        assert_eq!(bench.value(cycle(104 + 80), CV), 0);
        let zeroes = if mode & WAVE != 0 { CPAS | CPBS } else { 0 };
        assert_eq!(bench.value(cycle(104 + 80), SR), CLKSTA | CPCS | zeroes);
        assert_eq!(bench.value(cycle(104 + 80), SR), CLKSTA);
        assert_eq!(bench.value(cycle(104 + 80 * 1_000_000 + 16), CV), 2);
        assert_eq!(bench.value(cycle(104 + 80 * 1_000_000 + 16), SR), CLKSTA | CPCS | zeroes);
    }
}

#[test]
fn without_a_trigger_the_counter_goes_through_rc_and_round() {
    let mut bench = started(WAVE | TIMER_CLOCK2, 10);
    bench.write(cycle(100), RA, 4).unwrap();
    bench.write(cycle(100), RB, 6).unwrap();
    for (count, flags) in [(3, 0), (4, CPAS), (5, 0), (6, CPBS), (9, 0), (10, CPCS), (11, 0)] {
        assert_eq!(bench.value(cycle(104 + 8 * count), CV) as u64, count);
        assert_eq!(bench.value(cycle(104 + 8 * count), SR), CLKSTA | flags, "count {count}");
    }
    let round = 104 + (8 << 32);
    assert_eq!(bench.value(cycle(round - 1), CV), u32::MAX);
    assert_eq!(bench.value(cycle(round - 1), SR), CLKSTA);
    assert_eq!((bench.value(cycle(round), CV), bench.value(cycle(round), SR)), (0, CLKSTA | COVFS));
}

#[test]
fn an_rc_below_the_counter_lets_it_go_round_first() {
    let mut bench = started(TIMER_CLOCK2 | 1 << 14, 100);
    bench.write(cycle(104 + 8 * 50), RC, 20).unwrap();
    let round = 104 + (8 << 32);
    assert_eq!(bench.value(cycle(round - 1), SR), CLKSTA);
    assert_eq!(bench.value(cycle(round), SR), CLKSTA | COVFS);
    assert_eq!(bench.value(cycle(round + 8 * 19), CV), 19);
    assert_eq!(bench.value(cycle(round + 8 * 20), CV), 0);
    assert_eq!(bench.value(cycle(round + 8 * 20), SR), CLKSTA | CPCS);
}

#[test]
fn up_and_down_turn_at_rc_and_at_0() {
    let mut bench = started(WAVE | TIMER_CLOCK2 | 3 << 13, 5);
    bench.write(cycle(100), RA, 2).unwrap();
    bench.write(cycle(100), RB, u32::MAX).unwrap();
    let values = [0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0, 1];
    for (count, value) in values.into_iter().enumerate() {
        let at = cycle(104 + 8 * count as u64);
        assert_eq!(bench.value(at, CV), value, "tick {count}");
        let flags = if value == 2 { CPAS } else { 0 } | if value == 5 { CPCS } else { 0 };
        assert_eq!(bench.value(at, SR), CLKSTA | flags, "tick {count}");
    }
    // A trigger turns it: 1, 2, and down again.
    bench.write(cycle(104 + 8 * 12), CCR, CCR_SWTRG).unwrap();
    assert_eq!(bench.value(cycle(104 + 8 * 13), CV), 2);
    assert_eq!(bench.value(cycle(104 + 8 * 14), CV), 1);
    assert_eq!(bench.value(cycle(104 + 8 * (15 + 10_000_000)), CV), 0);
    // At 0 it can only go up.
    bench.write(cycle(104 + 8 * (15 + 10_000_000)), CCR, CCR_SWTRG).unwrap();
    assert_eq!(bench.value(cycle(104 + 8 * (17 + 10_000_000)), CV), 1);
}

#[test]
fn rc_can_stop_the_counter_or_disable_its_clock() {
    let mut bench = started(WAVE | TIMER_CLOCK2 | 1 << 6, 10);
    assert_eq!((bench.value(cycle(900), CV), bench.value(cycle(900), SR)), (10, CLKSTA | CPCS));
    bench.write(cycle(900), CCR, CCR_SWTRG).unwrap();
    assert_eq!(bench.value(cycle(904 + 40), CV), 5);
    let mut bench = started(WAVE | TIMER_CLOCK2 | UP_RC | 1 << 7, 10);
    assert_eq!((bench.value(cycle(900), CV), bench.value(cycle(900), SR) & (CLKSTA | CPCS)), (0, CPCS));
}

#[test]
fn the_interrupt_comes_with_an_enabled_flag_and_goes_with_the_status() {
    let mut bench = started(TIMER_CLOCK2 | 1 << 14, 10);
    bench.write(cycle(110), IER, CPCS | COVFS).unwrap();
    assert_eq!(bench.value(cycle(110), IMR), CPCS | COVFS);
    bench.run(cycle(183));
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(184));
    assert_eq!(bench.pending(), 1 << 5);
    assert_eq!((bench.value(cycle(190), SR), bench.pending()), (CLKSTA | CPCS, 0));
    bench.run(cycle(264));
    assert_eq!(bench.pending(), 1 << 5);
    bench.write(cycle(270), IDR, CPCS).unwrap();
    assert_eq!(bench.pending(), 0);
}

#[test]
fn channels_are_independent_and_sync_triggers_all() {
    let mut bench = tcb();
    for index in 0..3 {
        bench.write(cycle(0), index * STRIDE + CMR, index + 1).unwrap();
        bench.write(cycle(0), index * STRIDE + CCR, CCR_CLKEN).unwrap();
    }
    bench.write(cycle(127), BCR, BCR_SYNC).unwrap();
    let values = [0, 1, 2].map(|index| bench.value(cycle(128 + 1280), index * STRIDE + CV));
    assert_eq!(values, [160, 40, 10]);
}

#[test]
fn what_has_no_edges_stands_and_is_noted() {
    let mut bench = started(0, 0);
    assert_eq!((bench.value(cycle(10_000), CV), bench.bus.notes().len()), (0, 1));
    bench.write(cycle(10_000), SMMR, 2).unwrap();
    bench.write(cycle(10_000), CMR, TIMER_CLOCK2).unwrap();
    bench.write(cycle(10_000), CCR, CCR_SWTRG).unwrap();
    bench.write(cycle(10_000), BMR, BMR_QDEN).unwrap();
    assert_eq!(bench.bus.notes().len(), 3);
}

#[test]
fn write_protection_covers_the_settings() {
    let mut bench = started(TIMER_CLOCK2, 10);
    bench.write(cycle(100), WPMR, WPKEY << 8 | 1).unwrap();
    for register in [CMR, RC, STRIDE + RC, EMR, BMR, FMR] {
        bench.write(cycle(100), register, 3).unwrap();
    }
    assert_eq!([CMR, RC, STRIDE + RC, EMR, BMR, FMR].map(|at| bench.value(cycle(100), at)), [1, 10, 0, 0, 0, 0]);
    bench.write(cycle(100), CCR, CCR_CLKDIS).unwrap();
    assert_eq!(bench.value(cycle(100), SR), 0);
}

#[test]
fn nothing_is_scheduled_without_an_interrupt() {
    let mut bench = started(TIMER_CLOCK2 | 1 << 14, 10);
    bench.value(cycle(5000), SR);
    assert_eq!(bench.bus.events.scheduled(), 0);
}

#[test]
fn polling_the_status_is_skipped_to_the_next_flag_and_the_value_is_not() {
    let mut bench = started(TIMER_CLOCK2 | 1 << 14, 1000);
    let look = |bench: &mut Bench, number: u64| {
        let mut poll = Poll::look(Hz::new(498_000_000).unwrap(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let before = look(&mut bench, 6 * 200);
    bench.value(cycle(205), SR);
    let after = look(&mut bench, 6 * 210);
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), cycle(104 + 8000));
    bench.value(cycle(215), CV);
    assert!(!look(&mut bench, 6 * 220).repeats(&after));
}

#[test]
fn a_node_gives_clocks_and_interrupt() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(Ps(0), CMR, TIMER_CLOCK5 | 1 << 14).unwrap();
    bench.write(Ps(0), RC, 7).unwrap();
    bench.write(Ps(0), IER, CPCS).unwrap();
    bench.write(Ps(0), CCR, CCR_CLKEN | CCR_SWTRG).unwrap();
    bench.run(Ps(79_999));
    assert_eq!(bench.pending(), 0);
    // The test's clocks are both 100 MHz: 8 edges.
    bench.run(Ps(80_000));
    assert_eq!(bench.pending(), 1 << 3);
}

#[test]
fn counting_goes_on_at_another_rate() {
    // An eighth of the clock: 12.5 MHz, with a tick for the trigger, and 6.25 MHz.
    let tcb = Tcb::new(Bench::changing_clock(), Hz::new(32_768).unwrap(), Some(IrqLine::Core { core: 0, bit: 5 }));
    let mut bench = Bench::slowed(tcb, |bench| {
        for (register, value) in [(CMR, TIMER_CLOCK2 | WAVE | UP_RC), (RC, 150), (IER, CPCS)] {
            bench.write(Ps(0), register, value).unwrap();
        }
        bench.write(Ps(0), CCR, CCR_CLKEN | CCR_SWTRG).unwrap();
    });
    assert_eq!([8, 16].map(|us| bench.value(Ps::from_us(us), CV)), [99, 149]);
    // One more tick of 160 ns.
    let rises = Ps(Ps::from_us(16).0 + 160_000);
    bench.run(Ps(rises.0 - 1));
    assert_eq!(bench.pending(), 0);
    bench.run(rises);
    assert_eq!(bench.pending(), 1 << 5);
}
