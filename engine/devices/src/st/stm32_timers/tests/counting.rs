//! The time base: counting, updates, preloads, interrupts, clocks.

use super::*;
use engine::bus::device::DeviceId;

#[test]
fn it_counts_up_from_a_clock_after_its_enable() {
    // RM0090, "Upcounting mode": 0 to TIM_ARR, then an overflow and an update.
    let mut rig = rig(&[(ARR, 4)], 0);
    rig.counts(2, 0, 1);
    rig.counts(5, 3, 4);
    rig.updates(6);
    assert_eq!(rig.get(6, CNT), 0);
    rig.put(7, SR, !UPDATE);
    rig.updates(11);
}

#[test]
fn the_prescaler_takes_a_new_ratio_with_an_update() {
    let mut rig = rig(&[(ARR, 1), (PSC, 2)], 0);
    // Without an update the counter still takes each clock.
    rig.updates(3);
    rig.counts(6, 0, 1);
    rig.counts(9, 1, 0);
    rig.put(10, SR, 0);
    // UG loads it at once, and restarts it.
    rig.put(10, PSC, 4);
    rig.put(10, EGR, UPDATE);
    assert_eq!(rig.get(10, SR) & UPDATE, UPDATE);
    rig.counts(15, 0, 1);
}

#[test]
fn a_preloaded_reload_waits_for_the_update_and_another_does_not() {
    for (control, second) in [(0, 7 + 3), (CR1_ARPE, 10 + 3)] {
        let mut rig = rig(&[(ARR, 8)], control);
        rig.put(4, ARR, if control == 0 { 5 } else { 2 });
        if control == 0 {
            rig.updates(7);
            rig.put(7, ARR, 2);
        } else {
            rig.updates(10);
        }
        rig.put(if control == 0 { 7 } else { 10 }, SR, 0);
        rig.updates(second);
    }
}

/// RM0090, "TIMx_ARR": the counter is blocked while TIM_ARR is 0. Clocks meanwhile are not counted afterwards.
#[test]
fn a_counter_that_was_blocked_counts_from_where_its_reload_value_is_written() {
    for (has_reads, from) in [(false, 100), (true, 100), (true, 8000)] {
        let mut rig = rig(&[(ARR, 0)], 0);
        if has_reads {
            assert_eq!([from - 50, from - 1].map(|cycle| rig.get(cycle, CNT)), [0, 0]);
        }
        rig.put(from, ARR, 4);
        assert_eq!((rig.get(from, CNT), rig.get(from, SR)), (0, 0));
        rig.counts(from + 1, 0, 1);
        rig.updates(from + 5);
    }
    // The prescaler keeps running: its ticks are counted from the enable, in cycle 1.
    let mut rig = rig(&[(PSC, 2), (ARR, 0), (EGR, UPDATE), (SR, 0)], 0);
    rig.put(101, ARR, 4);
    rig.counts(103, 0, 1);
    rig.updates(115);
}

#[test]
fn it_counts_down_and_to_and_fro() {
    // RM0090, "Downcounting mode": from TIM_ARR to 0, then an underflow; the counter starts at its present value.
    let mut down = rig(&[(ARR, 4), (CNT, 2)], CR1_DIR);
    down.counts(3, 1, 0);
    down.updates(4);
    assert_eq!(down.get(4, CNT), 4);
    // "Center-aligned mode": an overflow on reaching TIM_ARR, an underflow on reaching 0.
    let mut centre = rig(&[(ARR, 3)], 3 << 5);
    centre.updates(4);
    assert_eq!((centre.get(4, CNT), centre.get(4, CR1) & CR1_DIR), (3, CR1_DIR));
    centre.put(4, SR, 0);
    assert_eq!(centre.get(5, CNT), 2);
    centre.updates(7);
    assert_eq!((centre.get(7, CNT), centre.get(7, CR1) & CR1_DIR), (0, 0));
    assert_eq!(centre.get(8, CNT), 1);
}

#[test]
fn repetitions_and_one_pulse() {
    let mut repeated = rig(&[(ARR, 1), (RCR, 2), (EGR, UPDATE), (SR, 0)], 0);
    repeated.updates(1 + 6);
    let mut once = rig(&[(ARR, 3)], CR1_OPM);
    once.counts(5, 3, 0);
    assert_eq!((once.get(30, CNT), once.get(30, CR1), once.get(30, SR) & UPDATE), (0, CR1_OPM, UPDATE));
    // Again, from the next enable.
    once.put(40, CR1, CR1_OPM | CR1_CEN);
    once.counts(42, 0, 1);
}

#[test]
fn updates_can_be_disabled_or_left_to_the_counter() {
    let mut none = rig(&[(ARR, 3)], CR1_UDIS);
    assert_eq!((none.get(100, SR) & UPDATE, none.get(100, CNT)), (0, 99 % 4));
    let mut counted = rig(&[(ARR, 3)], CR1_URS);
    counted.put(3, EGR, UPDATE);
    assert_eq!((counted.get(3, SR) & UPDATE, counted.get(3, CNT)), (0, 0));
    counted.updates(7);
}

#[test]
fn interrupts_come_with_the_flags_and_go_with_them() {
    let mut rig = rig(&[(PSC, 9), (EGR, UPDATE), (SR, 0), (ARR, 99), (CCR, 50), (DIER, UPDATE | 2)], 0);
    rig.0.run(at(1 + 500 - 1));
    assert_eq!(rig.0.pending(), 0);
    rig.0.run(at(1 + 500));
    assert_eq!(rig.0.pending(), 1 << 7);
    rig.0.run(at(1 + 1000));
    assert_eq!(rig.0.pending(), 1 << 7 | 1 << 5);
    rig.put(1010, SR, !UPDATE & 0xffff);
    assert_eq!(rig.0.pending(), 1 << 7);
    rig.put(1011, SR, 0);
    assert_eq!(rig.0.pending(), 0);
    rig.0.run(at(1 + 2000));
    assert_eq!(rig.0.pending(), 1 << 7 | 1 << 5);
}

#[test]
fn long_times_are_as_short_ones() {
    let mut rig = rig(&[(ARR, 6), (PSC, 2), (CCR, 3), (CCMR1, 0x30)], 0);
    // The first period is not prescaled yet: 7 clocks.
    let cycle = 1_000_000_000_u64;
    assert_eq!(u64::from(rig.get(cycle, CNT)), (cycle - 1 - 7) / 3 % 7);
    assert_eq!(rig.get(cycle, SR), UPDATE | 0x1e, "channels of value 0 match at each overflow");
    assert_eq!(rig.0.bus.devices[0].as_ref().unwrap().counters()[0].1, 1 + (cycle - 8) / 21);
}

#[test]
fn a_counter_of_32_bits_and_one_beyond_its_reload() {
    let mut bench = Bench::new(timer(Params { bits: 32, ..params() }, [None; 4]));
    bench.write(at(0), CNT, u32::MAX - 1).unwrap();
    bench.write(at(0), ARR, 100).unwrap();
    bench.write(at(0), CR1, CR1_CEN).unwrap();
    // The counter continues to its largest value, without an update.
    assert_eq!((bench.value(at(2), CNT), bench.value(at(3), CNT), bench.value(at(3), SR) & UPDATE), (u32::MAX, 0, 0));
    assert_eq!((bench.value(at(104), CNT), bench.value(at(104), SR) & UPDATE), (0, UPDATE));
}

#[test]
fn a_clock_that_changes_within_a_tick_leaves_the_prescaler_as_it_is() {
    let mut rig = rig(&[(PSC, 9), (EGR, UPDATE), (SR, 0), (ARR, 9), (DIER, UPDATE)], 0);
    rig.0.bus.clocks.add_user(CLOCK, engine::clocks::User::Device(DeviceId(0)));
    // 37 clocks are counted: 3 ticks and 7 clocks. The remaining 63 are at 42 MHz from the next edge on.
    let now = at(1 + 37) + Ps(100);
    rig.0.run(now);
    rig.0.bus.set_clocks(&[(CLOCK, mhz(42))], now);
    let first = mhz(42).cycles_until_ceil(now).0;
    let due = mhz(42).ps_at_floor(Cycles(first - 1 + 63));
    rig.0.run(Ps(due.0 - 1));
    assert_eq!(rig.0.pending(), 0);
    rig.0.run(due);
    assert_eq!(rig.0.pending(), 1 << 5);
    assert_eq!(rig.0.value(due, CNT), 0);
}

#[test]
fn the_counter_has_a_copy_of_uif_if_it_is_wanted() {
    let mut rig = rig(&[(ARR, 4)], CR1_UIFREMAP);
    assert_eq!((rig.get(5, CNT), rig.get(6, CNT)), (4, 1 << 31));
    rig.put(7, SR, !UPDATE);
    assert_eq!(rig.get(7, CNT), 1);
}
