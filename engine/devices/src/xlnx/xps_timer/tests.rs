use super::*;
use crate::bench::{Bench, read_node};
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::time::{Cycles, Hz};

const MEI: u32 = 1 << 11;

/// The time of cycle `n` of 100 MHz.
const fn cycle(n: u64) -> Ps {
    Ps(n * 10_000)
}

fn timer() -> Bench {
    timer_with(32, true)
}

fn timer_with(width_bits: u32, has_timer1: bool) -> Bench {
    let port = AxiLitePort { clock: Hz::new(100_000_000).unwrap(), read_cycles: Cycles(4), write_cycles: Cycles(3) };
    let line = IrqLine::Core { core: 0, bit: 11 };
    Bench::new(XpsTimer::new(port, width_bits, has_timer1, Some(line)))
}

/// Loads `start` and lets the timer at `base` run from cycle 0.
fn started(bench: &mut Bench, base: u32, start: u32, mode: u32) {
    bench.write(cycle(0), base + TLR, start).unwrap();
    bench.write(cycle(0), base + TCSR, mode | TCSR_LOAD).unwrap();
    bench.write(cycle(0), base + TCSR, mode | TCSR_ENT).unwrap();
}

#[test]
fn the_device_keeps_its_table() {
    // Writing TCSR enables and loads the counters.
    walk::device_keeps_its_table(MAP.rows, &["TCSR0", "TCSR1"], &mut timer());
}

#[test]
fn control_bits_that_do_not_exist_stay_zero() {
    let mut bench = timer();
    for (offset, written, read) in
        [(TCSR, !TCSR_ENALL, 0xaff), (TCSR1, TCSR_CASC | TCSR_ARHT, TCSR_ARHT), (TCR, 5, 0), (0x0c, 1, 0), (0x20, 1, 0)]
    {
        assert_eq!(bench.write(cycle(0), offset, written), Ok(cycle(3)));
        assert_eq!(bench.read(cycle(0), offset), Ok((read, cycle(4))), "{offset:#x}");
    }
}

#[test]
fn the_counter_counts_its_clock_only_while_enabled() {
    let mut bench = timer();
    started(&mut bench, 0, 1000, 0);
    assert_eq!(bench.value(cycle(123), TCR), 1123);
    bench.write(cycle(200), TCSR, 0).unwrap();
    assert_eq!(bench.value(cycle(500), TCR), 1200);
    bench.write(cycle(500), TCSR, TCSR_ENT | TCSR_UDT).unwrap();
    assert_eq!(bench.value(cycle(600), TCR), 1100);
}

#[test]
fn load_keeps_the_counter_at_the_load_register() {
    let mut bench = timer();
    bench.write(cycle(0), TCSR, TCSR_LOAD | TCSR_ENT).unwrap();
    bench.write(cycle(10), TLR, 77).unwrap();
    assert_eq!(bench.value(cycle(50), TCR), 77);
    bench.write(cycle(50), TCSR, TCSR_ENT).unwrap();
    assert_eq!(bench.value(cycle(53), TCR), 80);
}

#[test]
fn auto_reload_periods_are_those_of_the_sheet() {
    // Down: TLR + 2 = 100 cycles; up: MAX - TLR + 2 = 100 cycles.
    for (mode, tlr) in [(TCSR_UDT, 98), (0, u32::MAX - 98)] {
        let mut bench = timer();
        started(&mut bench, 0, tlr, mode | TCSR_ARHT | TCSR_ENIT);
        // The first rollover is a cycle earlier: there is no reload before it.
        for rollover in [99, 199, 299, 1_000_099] {
            bench.run(cycle(rollover - 1));
            assert_eq!(bench.pending(), 0, "{rollover}");
            bench.run(cycle(rollover));
            assert_eq!(bench.pending(), MEI, "{rollover}");
            assert_eq!(bench.value(cycle(rollover + 1), TCR), tlr);
            let control = bench.value(cycle(rollover + 1), TCSR);
            assert_ne!(control & TCSR_TINT, 0);
            bench.write(cycle(rollover + 1), TCSR, control).unwrap();
            assert_eq!((bench.pending(), bench.value(cycle(rollover + 1), TCSR) & TCSR_TINT), (0, 0));
            if rollover == 299 {
                bench.write(cycle(rollover + 1), TCSR, control & !TCSR_ENIT).unwrap();
                bench.write(cycle(1_000_000), TCSR, control | TCSR_TINT).unwrap();
            }
        }
    }
}

#[test]
fn without_auto_reload_the_counter_holds_after_one_rollover() {
    for (mode, start, held) in [(0, u32::MAX - 9, 0), (TCSR_UDT, 9, u32::MAX)] {
        let mut bench = timer();
        started(&mut bench, 0, start, mode | TCSR_ENIT);
        bench.run(cycle(9));
        assert_eq!(bench.pending(), 0);
        bench.run(cycle(10));
        assert_eq!(bench.pending(), MEI);
        assert_eq!(bench.value(cycle(1000), TCR), held);
        bench.write(cycle(1000), TCSR, mode | TCSR_ENIT | TCSR_ENT | TCSR_TINT).unwrap();
        bench.run(cycle(1 << 34));
        assert_eq!((bench.pending(), bench.value(cycle(1 << 34), TCR)), (0, held));
    }
}

#[test]
fn the_flag_is_set_without_the_interrupt_enable() {
    let mut bench = timer();
    started(&mut bench, 0, 5, TCSR_UDT);
    bench.run(cycle(100));
    assert_ne!(bench.value(cycle(100), TCSR) & TCSR_TINT, 0);
    assert_eq!(bench.pending(), 0);
    bench.write(cycle(100), TCSR, TCSR_UDT | TCSR_ENIT).unwrap();
    assert_eq!(bench.pending(), MEI);
}

#[test]
fn an_event_that_runs_after_a_later_access_changes_nothing() {
    let mut bench = timer();
    started(&mut bench, 0, 98, TCSR_UDT | TCSR_ARHT | TCSR_ENIT);
    // Acknowledged at cycle 150, before the event of cycle 99 has run.
    let control = bench.value(cycle(150), TCSR);
    bench.write(cycle(150), TCSR, control).unwrap();
    bench.run(cycle(150));
    assert_eq!((bench.pending(), bench.value(cycle(150), TCR)), (0, 48));
    bench.run(cycle(199));
    assert_eq!(bench.pending(), MEI);
}

#[test]
fn both_timers_share_the_line_and_enall() {
    let mut bench = timer();
    bench.write(cycle(0), TLR1, 5).unwrap();
    bench.write(cycle(0), TCSR1, TCSR_LOAD).unwrap();
    bench.write(cycle(0), TCSR1, TCSR_UDT | TCSR_ENIT).unwrap();
    bench.write(cycle(0), TCSR, TCSR_ENALL).unwrap();
    assert_eq!((bench.value(cycle(3), TCR), bench.value(cycle(3), TCR1)), (3, 2));
    assert_eq!(bench.value(cycle(3), TCSR1), TCSR_UDT | TCSR_ENIT | TCSR_ENT | TCSR_ENALL);
    bench.run(cycle(6));
    assert_eq!(bench.pending(), MEI);
    // Clearing ENALL stops no timer.
    bench.write(cycle(10), TCSR1, TCSR_UDT | TCSR_TINT | TCSR_ENT).unwrap();
    assert_eq!((bench.pending(), bench.value(cycle(20), TCSR)), (0, TCSR_ENT));
    assert_eq!(bench.value(cycle(20), TCR), 20);
}

#[test]
fn cascade_mode_counts_64_bits() {
    let mut bench = timer();
    bench.write(cycle(0), TLR, u32::MAX - 1).unwrap();
    bench.write(cycle(0), TLR1, 6).unwrap();
    bench.write(cycle(0), TCSR1, TCSR_LOAD).unwrap();
    bench.write(cycle(0), TCSR, TCSR_CASC | TCSR_LOAD).unwrap();
    bench.write(cycle(0), TCSR1, 0).unwrap();
    bench.write(cycle(0), TCSR, TCSR_CASC | TCSR_ENT).unwrap();
    assert_eq!((bench.value(cycle(1), TCR), bench.value(cycle(1), TCR1)), (u32::MAX, 6));
    assert_eq!((bench.value(cycle(3), TCR), bench.value(cycle(3), TCR1)), (1, 7));
    assert_eq!(bench.value(cycle(3), TCSR) & TCSR_TINT, 0);
    bench.write(cycle(3), TCSR, 0).unwrap();
    assert_eq!((bench.value(cycle(9), TCR), bench.value(cycle(9), TCR1)), (1, 7));
}

#[test]
fn capture_mode_runs_round_without_a_flag() {
    let mut bench = timer();
    started(&mut bench, 0, u32::MAX, TCSR_MDT);
    assert_eq!((bench.value(cycle(5), TCR), bench.value(cycle(5), TCSR)), (4, TCSR_MDT | TCSR_ENT));
}

#[test]
fn a_narrow_single_timer_has_what_it_is_built_with() {
    let mut bench = timer_with(16, false);
    started(&mut bench, 0, 0x1_fffe, TCSR_ARHT);
    assert_eq!(bench.value(cycle(0), TLR), 0xfffe);
    // fffe, ffff, 0, fffe
    assert_eq!((bench.value(cycle(2), TCR), bench.value(cycle(3), TCR)), (0, 0xfffe));
    bench.write(cycle(3), TLR1, 1).unwrap();
    assert_eq!((bench.value(cycle(3), TLR1), bench.value(cycle(3), TCSR1)), (0, 0));
}

#[test]
fn pins_that_are_not_modelled_are_noted_once() {
    let mut bench = timer();
    bench.write(cycle(0), TCSR, TCSR_GENT).unwrap();
    bench.write(cycle(0), TCSR1, TCSR_CAPT | TCSR_PWMA).unwrap();
    assert_eq!(bench.bus.notes().len(), 1);
}

#[test]
fn a_node_says_how_the_core_is_built() {
    let built = [("xlnx,count-width", &[8][..]), ("xlnx,one-timer-only", &[1])];
    let (mut bench, faults) = read_node(from_node, &built);
    assert!(faults.is_empty(), "{faults:?}");
    bench.write(cycle(0), TLR, u32::MAX).unwrap();
    bench.write(cycle(0), TLR1, u32::MAX).unwrap();
    assert_eq!((bench.value(cycle(0), TLR), bench.value(cycle(0), TLR1)), (0xff, 0));
    let (_, faults) = read_node(from_node, &[("xlnx,count-width", &[12]), ("xlnx,one-timer-only", &[0])]);
    assert_eq!(faults, ["xlnx,count-width is 12; the counters have 8, 16 or 32 bits"]);
}

fn look(bench: &mut Bench, at_cycle: u64) -> Poll {
    let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(at_cycle));
    assert!(bench.bus.with_device(DeviceId(0), cycle(at_cycle), |device, _| device.polled(&mut poll)));
    poll
}

#[test]
fn a_loop_that_asks_for_the_flag_repeats_until_the_rollover() {
    let mut bench = timer();
    started(&mut bench, 0, 5_000, TCSR_UDT);
    let before = look(&mut bench, 100);
    bench.value(cycle(110), TCSR);
    let after = look(&mut bench, 140);
    assert!(after.repeats(&before));
    // Counts down from 5000 at cycle 0; the rollover is the cycle after 0.
    assert_eq!(after.deadline(&before), cycle(5_001));
    assert_eq!(bench.value(cycle(5_000), TCSR) & TCSR_TINT, 0);
    assert_eq!(bench.value(cycle(5_001), TCSR) & TCSR_TINT, TCSR_TINT);
    assert!(!look(&mut bench, 5_002).repeats(&after));
}

#[test]
fn a_core_on_another_clock_skips_nothing() {
    let mut poll = Poll::look(Hz::new(50_000_000).unwrap(), Cycles(10));
    assert!(!timer().bus.with_device(DeviceId(0), Ps::from_us(1), |device, _| device.polled(&mut poll)));
}

#[test]
fn a_loop_that_reads_or_loads_the_counter_repeats_nothing() {
    let mut bench = timer();
    started(&mut bench, 0, 5_000, TCSR_UDT);
    let before = look(&mut bench, 100);
    bench.value(cycle(110), TCR);
    let read = look(&mut bench, 140);
    assert!(!read.repeats(&before));
    bench.write(cycle(150), TLR, 5_000).unwrap();
    assert!(!look(&mut bench, 180).repeats(&read));
}
