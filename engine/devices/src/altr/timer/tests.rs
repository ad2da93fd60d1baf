use super::*;
use crate::bench::{Bench, CPU_INTC, read_node};
use crate::registers::walk;
use engine::time::{Cycles, Hz};

const IRQ: u32 = 1 << 16;

fn clock() -> Hz {
    Hz::new(100_000_000).unwrap()
}

/// The time of edge number `number`: 10 ns each.
fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

fn timer() -> Bench {
    let port = AxiLitePort { clock: clock(), read_cycles: Cycles(1), write_cycles: Cycles(0) };
    Bench::new(IntervalTimer::new(port, 0, Some(IrqLine::Core { core: 0, bit: 16 })))
}

/// A timer with this period register that was started at cycle 100.
fn started(period: u32, control: u32) -> Bench {
    let mut bench = timer();
    bench.write(cycle(0), PERIODL, period & 0xffff).unwrap();
    bench.write(cycle(0), PERIODH, period >> 16).unwrap();
    bench.write(cycle(100), CONTROL, control | CONTROL_START).unwrap();
    bench
}

/// The counter at a cycle, by a snapshot.
fn snapshot(bench: &mut Bench, at: Ps) -> u32 {
    bench.write(at, SNAPL, 0xbeef).unwrap();
    bench.value(at, SNAPH) << 16 | bench.value(at, SNAPL)
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &["status", "control", "snapl", "snaph"], &mut timer());
    let mut bench = timer();
    assert_eq!(bench.read(cycle(2), CONTROL), Ok((0, cycle(3))));
    assert_eq!(bench.write(cycle(2), CONTROL, !CONTROL_START), Ok(cycle(2)));
    assert_eq!(bench.value(cycle(2), CONTROL), CONTROL_ITO | CONTROL_CONT);
    // Writes of status and the snapshot registers ignore their data.
    bench.write(cycle(2), STATUS, u32::MAX).unwrap();
    assert_eq!(bench.value(cycle(2), STATUS), 0);
}

#[test]
fn a_timeout_comes_a_clock_after_zero() {
    let mut bench = started(5, 0);
    assert_eq!(bench.value(cycle(100), STATUS), STATUS_RUN);
    assert_eq!([100, 101, 105].map(|at| snapshot(&mut bench, cycle(at))), [5, 4, 0]);
    assert_eq!(bench.value(cycle(105), STATUS), STATUS_RUN);
    // Counting down once: reloaded, and stopped.
    assert_eq!(bench.value(cycle(106), STATUS), STATUS_TO);
    assert_eq!(snapshot(&mut bench, cycle(200)), 5);
    bench.write(cycle(200), STATUS, 0).unwrap();
    assert_eq!(bench.value(cycle(300), STATUS), 0);
}

#[test]
fn a_continuous_period_is_one_more_than_its_register() {
    let mut bench = started(5, CONTROL_CONT);
    assert_eq!([106, 111, 112, 118].map(|at| snapshot(&mut bench, cycle(at))), [5, 0, 5, 5]);
    assert_eq!(bench.value(cycle(118), STATUS), STATUS_TO | STATUS_RUN);
    bench.write(cycle(118), STATUS, 0).unwrap();
    assert_eq!(bench.value(cycle(123), STATUS), STATUS_RUN);
    assert_eq!(bench.value(cycle(124), STATUS), STATUS_TO | STATUS_RUN);
    // 100 + 6 * 1_000_000 is a reload.
    assert_eq!(snapshot(&mut bench, cycle(6_000_102)), 3);
}

#[test]
fn all_32_bits_count() {
    let mut bench = started(0x0001_0000, CONTROL_CONT);
    assert_eq!([101, 102].map(|at| snapshot(&mut bench, cycle(at))), [0xffff, 0xfffe]);
    let mut bench = started(u32::MAX, 0);
    assert_eq!(bench.value(cycle(100 + (1 << 32) - 1), STATUS), STATUS_RUN);
    assert_eq!(bench.value(cycle(100 + (1 << 32)), STATUS), STATUS_TO);
}

#[test]
fn stop_holds_the_counter_and_start_goes_on() {
    let mut bench = started(50, CONTROL_CONT);
    bench.write(cycle(110), CONTROL, CONTROL_CONT | CONTROL_STOP).unwrap();
    assert_eq!((bench.value(cycle(110), STATUS), snapshot(&mut bench, cycle(150))), (0, 40));
    bench.write(cycle(200), CONTROL, CONTROL_START).unwrap();
    assert_eq!(bench.value(cycle(240), STATUS), STATUS_RUN);
    assert_eq!(bench.value(cycle(241), STATUS), STATUS_TO);
    // Undefined by the guide: both at once start; and starting what runs changes nothing.
    bench.write(cycle(300), CONTROL, CONTROL_START | CONTROL_STOP).unwrap();
    bench.write(cycle(310), CONTROL, CONTROL_START).unwrap();
    assert_eq!(snapshot(&mut bench, cycle(320)), 30);
}

#[test]
fn writing_the_period_loads_and_stops() {
    let mut bench = started(50, CONTROL_CONT);
    bench.write(cycle(110), PERIODL, 7).unwrap();
    assert_eq!((bench.value(cycle(120), STATUS), snapshot(&mut bench, cycle(120))), (0, 7));
    bench.write(cycle(120), PERIODH, 1).unwrap();
    assert_eq!(snapshot(&mut bench, cycle(130)), 0x0001_0007);
}

#[test]
fn the_interrupt_comes_with_the_flag_and_goes_with_it() {
    let mut bench = started(9, CONTROL_CONT | CONTROL_ITO);
    bench.run(Ps(cycle(110).0 - 1));
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(110));
    assert_eq!(bench.pending(), IRQ);
    // Left alone, it stays, and the next timeout adds nothing.
    bench.run(cycle(125));
    assert_eq!(bench.pending(), IRQ);
    bench.write(cycle(125), STATUS, 0).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.run(cycle(130));
    assert_eq!(bench.pending(), IRQ);
    bench.write(cycle(131), CONTROL, CONTROL_CONT).unwrap();
    assert_eq!(bench.pending(), 0);
    bench.write(cycle(132), CONTROL, CONTROL_CONT | CONTROL_ITO).unwrap();
    assert_eq!(bench.pending(), IRQ);
}

#[test]
fn nothing_is_scheduled_while_the_interrupt_is_disabled() {
    let mut bench = started(9, CONTROL_CONT);
    assert_eq!(bench.bus.events.scheduled(), 0);
    bench.write(cycle(105), CONTROL, CONTROL_CONT | CONTROL_ITO).unwrap();
    assert_eq!(bench.bus.events.scheduled(), 1);
}

#[test]
fn polling_can_be_skipped_until_the_timeout() {
    let mut bench = started(1000, CONTROL_CONT);
    let mut look = |number| {
        let mut poll = Poll::look(clock(), Cycles(number));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let (before, after) = (look(200), look(208));
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), cycle(1101));
    assert!(!look(1101).repeats(&after));
}

#[test]
fn a_node_gives_the_period_after_reset() {
    let lines = [CPU_INTC, 16];
    let (mut bench, faults) =
        read_node(from_node, &[("interrupts-extended", &lines), ("cyclescope,reset-period", &[0x1_869f])]);
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!((bench.value(cycle(0), PERIODL), bench.value(cycle(0), PERIODH)), (0x869f, 1));
    bench.write(cycle(0), CONTROL, CONTROL_START | CONTROL_ITO).unwrap();
    bench.run(cycle(100_000));
    assert_eq!(bench.pending(), IRQ);
}
