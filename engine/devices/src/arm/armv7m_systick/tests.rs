use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use engine::bus::device::DeviceId;
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::time::Cycles;

const ON: u32 = CSR_ENABLE | CSR_CLKSOURCE;

fn clock() -> Hz {
    Hz::new(209_000_000).unwrap()
}

/// The time of edge number `number` of the core's clock.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn timer() -> Bench {
    let external = Hz::new(26_125_000).map(ClockInput::fixed);
    Bench::new(SysTick::new(ClockInput::fixed(clock()), external, Some(IrqLine::Core { core: 0, bit: 3 })))
}

/// A timer that was enabled at cycle 100, with its counter at 0.
fn started(reload: u32, control: u32) -> Bench {
    let mut bench = timer();
    bench.write(Ps(0), RVR, reload).unwrap();
    bench.write(cycle(100), CSR, control).unwrap();
    bench
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &["SYST_CSR", "SYST_CVR"], &mut timer());
}

#[test]
fn it_counts_from_the_reload_value_to_0() {
    let mut bench = started(9, ON);
    for (at, count) in [(100, 0), (101, 9), (105, 5), (110, 0), (111, 9), (120, 0), (1004, 6)] {
        assert_eq!(bench.value(cycle(at), CVR), count, "cycle {at}");
    }
}

#[test]
fn countflag_reports_of_0_and_is_cleared_by_reading() {
    let mut bench = started(9, ON);
    for (at, set) in [(109, false), (110, true), (111, false), (119, false), (121, true), (129, false), (5000, true)] {
        assert_eq!(bench.value(cycle(at), CSR) & CSR_COUNTFLAG != 0, set, "cycle {at}");
    }
    bench.run(cycle(6000));
    bench.write(cycle(6005), CVR, 77).unwrap();
    assert_eq!((bench.value(cycle(6005), CSR), bench.value(cycle(6005), CVR)), (ON, 0));
    assert_eq!([6006, 6015].map(|at| bench.value(cycle(at), CVR)), [9, 0]);
}

#[test]
fn each_tick_changes_the_line() {
    let mut bench = started(9, ON | CSR_TICKINT);
    for (at, line) in [(109, 0), (110, 8), (119, 8), (120, 0), (130, 8)] {
        bench.run(cycle(at));
        assert_eq!(bench.pending(), line, "cycle {at}");
    }
    bench.write(cycle(135), CSR, ON).unwrap();
    bench.run(cycle(200));
    assert_eq!(bench.pending(), 8);
}

#[test]
fn a_new_reload_value_holds_from_the_next_0() {
    let mut bench = started(9, ON);
    bench.write(cycle(104), RVR, 99).unwrap();
    assert_eq!([105, 110, 111].map(|at| bench.value(cycle(at), CVR)), [5, 0, 99]);
    // A reload value of 0 stops the counter at 0.
    bench.write(cycle(150), RVR, 0).unwrap();
    assert_eq!([209, 210, 400].map(|at| bench.value(cycle(at), CVR)), [1, 0, 0]);
    assert_eq!([400, 500].map(|at| bench.value(cycle(at), CSR) & CSR_COUNTFLAG), [CSR_COUNTFLAG, 0]);
}

/// DDI 0403E, B3.3.1: the counter is reloaded at the clock after 0, and a tick is the step from 1 to 0.
#[test]
fn a_reload_value_that_comes_after_the_enable_is_loaded_at_the_next_clock() {
    // With and without reads in between, at several distances from the enable.
    for (at, has_reads) in [(101, false), (163, true), (1126, false), (7777, true)] {
        let mut bench = started(0, ON | CSR_TICKINT);
        if has_reads {
            assert_eq!([102, at].map(|at| bench.value(cycle(at), CVR)), [0, 0]);
        }
        bench.run(cycle(at));
        assert_eq!((bench.value(cycle(at), CSR) & CSR_COUNTFLAG, bench.pending()), (0, 0), "no tick before {at}");
        bench.write(cycle(at), RVR, 999).unwrap();
        assert_eq!([at, at + 1, at + 999].map(|at| bench.value(cycle(at), CVR)), [0, 999, 1], "from {at}");
        for (tick, line) in [(at + 999, 0), (at + 1000, 8), (at + 1999, 8), (at + 2000, 0)] {
            bench.run(cycle(tick));
            assert_eq!(bench.pending(), line, "cycle {tick} of {at}");
        }
    }
    // Likewise after the counter has counted a value down to 0.
    let mut bench = started(9, ON);
    bench.write(cycle(103), RVR, 0).unwrap();
    bench.write(cycle(555), RVR, 99).unwrap();
    assert_eq!([555, 556, 655, 656].map(|at| bench.value(cycle(at), CVR)), [0, 99, 0, 99]);
}

#[test]
fn polls_of_a_counter_that_has_nothing_to_count_can_be_skipped() {
    let mut bench = started(0, ON);
    let mut look = |number: u64| {
        let mut poll = Poll::look(clock(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (before, after) = (look(200), look(210));
    assert!(after.repeats(&before));
}

#[test]
fn it_goes_on_where_it_was_stopped() {
    let mut bench = started(99, ON);
    bench.write(cycle(131), CSR, 0).unwrap();
    assert_eq!([131, 900].map(|at| bench.value(cycle(at), CVR)), [69, 69]);
    // By the external clock, with a period of eight core clocks.
    bench.write(cycle(1600), CSR, CSR_ENABLE).unwrap();
    assert_eq!([1607, 1608, 1600 + 8 * 69].map(|at| bench.value(cycle(at), CVR)), [69, 68, 0]);
}

#[test]
fn polling_can_be_skipped_until_the_next_tick() {
    let mut bench = started(999, ON);
    let mut look = |number: u64| {
        let mut poll = Poll::look(clock(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (before, after) = (look(200), look(210));
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), cycle(1100));
    assert!(!look(1200).repeats(&after));
}

#[test]
fn a_node_gives_clocks_and_interrupt() {
    let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!((bench.value(Ps(0), CALIB), bench.value(Ps(0), CSR)), (0, 0));
    bench.write(Ps(0), RVR, 9).unwrap();
    bench.write(Ps(0), CSR, CSR_ENABLE | CSR_TICKINT).unwrap();
    bench.run(Ps(99_999));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps(100_000));
    assert_eq!(bench.pending(), 1 << 3);
}

#[test]
fn without_an_external_clock_the_cores_is_chosen_for_good() {
    let mut bench = Bench::new(SysTick::new(ClockInput::fixed(clock()), None, None));
    bench.write(Ps(0), CSR, 0).unwrap();
    assert_eq!((bench.value(Ps(0), CALIB), bench.value(Ps(0), CSR)), (CALIB_NOREF, CSR_CLKSOURCE));
}

#[test]
fn it_follows_its_clock() {
    let id = ClockId(7);
    let core_clock = ClockInput { rate: clock(), id: Some(id) };
    let mut bench = Bench::new(SysTick::new(core_clock, None, Some(IrqLine::Core { core: 0, bit: 3 })));
    bench.bus.clocks.add_user(id, User::Device(DeviceId(0)));
    bench.write(Ps(0), RVR, 999).unwrap();
    bench.write(cycle(100), CSR, ON | CSR_TICKINT).unwrap();
    // 600 is left of 1000; at 1 MHz that is 600 us, to the next edge of that clock.
    bench.run(cycle(500));
    let slow = Hz::new(1_000_000).unwrap();
    bench.bus.set_clocks(&[(id, slow)], cycle(500));
    let first = slow.cycles_until_floor(cycle(500)).0;
    let tick = slow.ps_at_floor(Cycles(first + 600));
    assert_eq!(bench.value(cycle(501), CVR), 600);
    bench.run(Ps(tick.0 - 1));
    assert_eq!((bench.value(Ps(tick.0 - 1), CVR), bench.pending()), (1, 0));
    bench.run(tick);
    assert_eq!((bench.value(tick, CVR), bench.pending()), (0, 8));
    // The next tick comes a whole period later.
    let next = slow.ps_at_floor(Cycles(first + 1600));
    bench.run(Ps(next.0 - 1));
    assert_eq!(bench.pending(), 8);
    bench.run(next);
    assert_eq!(bench.pending(), 0);
}
