//! The critical path through runs of two cores whose times are known.

use crate::whole::support::arm::*;
use crate::whole::support::pair::{CLOCKS, JOURNAL, QUANTA, pair};
use crate::{Machine, Outcome, RunReport};
use engine::observe::critical_path::{CriticalPath, WORK};
use engine::tiers::sized;
use engine::time::Ps;

/// r9 = the journal, r2 = 0, r3 = 1.
fn program(parts: &[&[u32]]) -> Vec<u32> {
    [&[mov(9, 0), movt(9, JOURNAL >> 16), mov(2, 0), mov(3, 1)], parts.concat().as_slice()].concat()
}

/// Takes n iterations of seven cycles.
fn delay(n: u32) -> [u32; 3] {
    [mov(7, n), subs(7, 7, 1), when(NE, b(-4))]
}

/// Nanoseconds of `n` iterations on a core.
fn delay_ns(core: usize, n: u64) -> u64 {
    7 * n * 1_000_000_000 / CLOCKS[core]
}

/// Raises the interrupt of a core.
fn wakes(core: u32) -> [u32; 1] {
    [str(3, 9, 4 * core)]
}

/// Sleeps until its own interrupt is raised, and lowers that.
fn sleeps(core: u32) -> [u32; 2] {
    [WFI, str(2, 9, 4 * core)]
}

/// Polls the journal for `ns` nanoseconds.
fn polls(ns: u32) -> [u32; 5] {
    [mov(4, ns), str(4, 9, 0x30), ldr(5, 9, 0x30), cmp(5, 0), when(EQ, b(-8))]
}

const REST: [u32; 2] = [WFI, 0xeaff_fffd];

/// The path of a run, which does not depend on how it is simulated.
fn path(programs: [&[u32]; 2], prepare: impl Fn(&mut Machine)) -> (RunReport, CriticalPath) {
    let run = |quantum, (skip, runs)| {
        let (mut machine, _) = pair(programs);
        machine.set_quantum(quantum);
        machine.skip_polling(skip);
        machine.compile_after(runs);
        prepare(&mut machine);
        machine.record_waits();
        machine.run(Ps::from_us(10_000), |_| true)
    };
    let report = run(QUANTA[2], (true, 0));
    let path = report.critical_path.clone().unwrap();
    assert_eq!(path.rows.iter().map(|row| row.time.0).sum::<u64>(), report.elapsed.0, "{path:#?}");
    for quantum in QUANTA {
        for how in [(true, 0), (false, 0), (true, 1), (false, 1)] {
            let again = run(quantum, how);
            assert!(again == report, "{quantum} {how:?}: {again:#?}\n{report:#?}");
        }
    }
    (report, path)
}

fn row(path: &CriticalPath, core: &str, what: &str) -> Ps {
    path.rows.iter().find(|row| row.core == core && row.what == what).map_or(Ps::ZERO, |row| row.time)
}

fn assert_about(time: Ps, ns: u64, within_ns: u64) {
    assert!(time.0.abs_diff(1000 * ns) <= 1000 * within_ns, "{time} is not {ns} ns");
}

/// From core, to core, by which device, number of times.
fn hand_overs(path: &CriticalPath) -> Vec<(&str, &str, &str, u64)> {
    let all = path.hand_overs.iter();
    all.map(|over| (over.from.as_str(), over.to.as_str(), over.device.as_str(), over.times)).collect()
}

#[test]
fn cores_that_wake_each_other_hold_each_other_up() {
    // Core 1 waits for the journal, and works.
    let first = program(&[&delay(4000), &wakes(1), &sleeps(0), &delay(2000), &EXIT]);
    let second = program(&[&sleeps(1), &polls(50_000), &delay(1000), &wakes(0), &REST]);
    let (report, path) = path([&first, &second], |_| {});
    assert_eq!(report.outcome, Outcome::Exit(0));
    assert_eq!(hand_overs(&path), [("cpu1", "cpu0", "journal", 1), ("cpu0", "cpu1", "journal", 1)]);
    let [by_second, by_first] = &path.hand_overs[..] else { panic!("{path:#?}") };
    let (own, tail) = (delay_ns(0, 4000), delay_ns(0, 2000));
    assert_about(by_first.held, own, 200);
    assert_about(by_second.held, 50_000 + delay_ns(1, 1000), 500);
    assert_eq!((by_second.longest, by_first.longest), (by_second.held, by_first.held));
    assert_about(by_first.longest_from, 0, 100);
    assert_about(by_second.longest_from, own, 200);
    assert_about(row(&path, "cpu1", "journal: looked at"), 50_000, 200);
    assert_about(row(&path, "cpu1", WORK), delay_ns(1, 1000), 500);
    assert_about(row(&path, "cpu0", WORK), own + tail, 200);
    let stays: Vec<_> = path.stays.iter().map(|stay| (stay.core.as_str(), stay.mostly.as_str())).collect();
    assert_eq!(stays, [("cpu0", WORK), ("cpu1", "journal: looked at"), ("cpu0", WORK)]);
    assert!(path.stays.windows(2).all(|two| two[0].end == two[1].begin));
    assert_eq!((path.stays[0].begin, path.stays[2].end), (Ps::ZERO, report.elapsed));
}

#[test]
fn nobody_is_held_up_by_what_comes_while_he_works() {
    // Core 0 goes to sleep long after the interrupt was raised.
    let first = program(&[&delay(4000), &sleeps(0), &EXIT]);
    let second = program(&[&delay(100), &wakes(0), &REST]);
    let (report, path) = path([&first, &second], |_| {});
    assert_eq!(hand_overs(&path), []);
    assert_eq!(row(&path, "cpu0", WORK), report.elapsed);
}

#[test]
fn a_core_waits_for_what_a_device_does_for_another() {
    // Core 1 requests an interrupt of core 0 in 20 us; core 0 requests its own for a later time, before it sleeps.
    let later = |ns: u32, store: u32| [mov(4, ns), store];
    let first = program(&[&later(60_000, str(4, 9, 0x10)), &sleeps(0), &delay(500), &EXIT]);
    let second = program(&[&delay(500), &later(20_000, str(4, 9, 0x10)), &REST]);
    let (report, path) = path([&first, &second], |_| {});
    assert_eq!(report.outcome, Outcome::Exit(0));
    assert_eq!(hand_overs(&path), [("cpu1", "cpu0", "journal", 1)]);
    assert_about(path.hand_overs[0].held, delay_ns(1, 500) + 20_000, 200);
    assert_about(row(&path, "cpu1", WORK), delay_ns(1, 500), 200);
    assert_about(report.elapsed, delay_ns(1, 500) + 20_000 + delay_ns(0, 500), 200);
}

#[test]
fn what_a_core_has_a_device_do_for_itself_holds_it_up_alone() {
    let first = program(&[&[mov(4, 60_000), str(4, 9, 0x10)], &sleeps(0), &delay(500), &EXIT]);
    let second = program(&[&delay(500), &[str(3, 9, 0x44)], &REST]);
    let (report, path) = path([&first, &second], |_| {});
    assert_eq!((hand_overs(&path), path.stays.len()), (Vec::new(), 1));
    assert_about(report.elapsed, 60_000 + delay_ns(0, 500), 200);
}

#[test]
fn a_core_in_reset_waits_for_the_one_that_lets_it_go() {
    let first = program(&[&delay(4000), &[str(3, 9, 0x24)], &REST]);
    let second = program(&[&delay(1000), &EXIT]);
    let (report, path) = path([&first, &second], |machine| machine.hold(1));
    assert_eq!(hand_overs(&path), [("cpu0", "cpu1", "journal", 1)]);
    let own = delay_ns(0, 4000);
    assert_about(row(&path, "cpu0", WORK), own, 200);
    assert_about(row(&path, "cpu1", WORK), delay_ns(1, 1000), 200);
    assert_about(report.elapsed, own + delay_ns(1, 1000), 300);
}

#[test]
fn a_run_that_is_cut_off_ends_with_the_core_at_work() {
    let first = program(&[&delay(50), &wakes(1), &REST]);
    let second = program(&[&sleeps(1), &[b(0)]]);
    let run = |skip| {
        let (mut machine, _) = pair([&first, &second]);
        machine.skip_polling(skip);
        machine.record_waits();
        machine.run(Ps::from_us(100), |_| true)
    };
    let report = run(true);
    assert!(matches!(report.outcome, Outcome::Limit(_)));
    let path = report.critical_path.clone().unwrap();
    assert_eq!(hand_overs(&path), [("cpu0", "cpu1", "journal", 1)]);
    assert_eq!(path.rows.iter().map(|row| row.time.0).sum::<u64>(), report.elapsed.0);
    assert!(row(&path, "cpu1", WORK) > Ps::from_us(99));
    assert!(run(false) == report);
}

#[test]
fn many_hand_overs_are_sums() {
    // The number of times that both wake each other.
    let times = sized(100, 2000);
    let round = |own: u32, other: u32, work: u32, begins: bool| {
        let (wakes, sleeps) = (wakes(other), sleeps(own));
        let parts = if begins { [&wakes[..], &sleeps[..]] } else { [&sleeps[..], &wakes[..]] }.concat();
        let body = [&delay(work)[..], &parts, &[subs(8, 8, 1)]].concat();
        let back = b(-4 * body.len() as i32);
        [&[mov(8, times)], body.as_slice(), &[when(NE, back)]].concat()
    };
    let first = program(&[&round(0, 1, 50, true), &EXIT]);
    let second = program(&[&round(1, 0, 3, false), &REST]);
    let (report, path) = path([&first, &second], |_| {});
    assert_eq!(report.outcome, Outcome::Exit(0));
    let handed_over = |from| path.hand_overs.iter().find(|over| over.from == from).map_or(0, |over| over.times);
    assert_eq!(handed_over("cpu1"), u64::from(times), "{path:#?}");
    assert!(handed_over("cpu0") >= u64::from(times) - 1, "{path:#?}");
    assert_eq!(path.stays.len(), 20);
}

#[test]
fn a_core_that_waits_for_its_interrupt_handler_is_held_up() {
    // Core 0 loops until its handler has set a flag in its own memory, at 0x7000; then it works.
    let waits = [ldr(5, 10, 0), cmp(5, 0), when(EQ, b(-8))];
    let first = program(&[&[mov(10, 0x7000), ENABLE], &delay(1000), &waits, &delay(4000), &EXIT]);
    let second = program(&[&delay(20_000), &wakes(0), &REST]);
    let handler = [str(2, 9, 0), str(3, 10, 0), RETURN_FROM_IRQ];
    let prepare = |machine: &mut Machine| {
        let code: Vec<u8> =
            [&[b(0x6000 - 0x18)], &handler[..]].concat().iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(machine.bus().poke(0x18, &code[..4]) && machine.bus().poke(0x6000, &code[4..]));
    };
    let run = |how: (bool, u16)| {
        let (mut machine, _) = pair([&first, &second]);
        machine.skip_polling(how.0);
        machine.compile_after(how.1);
        prepare(&mut machine);
        machine.record_waits();
        machine.run(Ps::from_us(10_000), |_| true)
    };
    let report = run((true, 0));
    assert_eq!(report.outcome, Outcome::Exit(0));
    let path = report.critical_path.clone().unwrap();
    assert_eq!(hand_overs(&path), [("cpu1", "cpu0", "journal", 1)]);
    let (work, own) = (delay_ns(1, 20_000), delay_ns(0, 4000));
    assert_about(row(&path, "cpu1", WORK), work, 300);
    assert_about(row(&path, "cpu0", WORK), own, 1500);
    // Core 0 looks at it every 50 us.
    assert_about(path.hand_overs[0].held, work - delay_ns(0, 1000), 51_000);
    for how in [(false, 0), (true, 1), (false, 1)] {
        assert!(run(how) == report, "{how:?}");
    }
}

#[test]
fn a_core_at_work_is_held_up_by_nobody_who_interrupts_it() {
    let first = program(&[&[mov(10, 0x7000), ENABLE], &delay(40_000), &EXIT]);
    let second = program(&[&delay(2000), &wakes(0), &REST]);
    let (mut machine, _) = pair([&first, &second]);
    let code: Vec<u8> =
        [b(0x6000 - 0x18), str(2, 9, 0), RETURN_FROM_IRQ].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.bus().poke(0x18, &code[..4]) && machine.bus().poke(0x6000, &code[4..]));
    machine.record_waits();
    let report = machine.run(Ps::from_us(10_000), |_| true);
    assert_eq!(report.outcome, Outcome::Exit(0));
    assert_eq!(hand_overs(&report.critical_path.unwrap()), []);
    assert!(report.cores[0].counters.contains(&("cpu0.exceptions".to_owned(), 1)), "{:?}", report.cores[0].counters);
}
