//! Two Arm cores of different clocks: exclusive accesses, exact times of one core's effects on the other, windows of
//! calls, and messages. [`crate::whole::conformance`] tests their order for each instruction set.

use crate::Outcome;
use crate::whole::support::arm::*;
use crate::whole::support::pair::{CLOCKS, JOURNAL, PROGRAMS, QUANTA, SHARED, pair, run_and_compare};
use crate::windows::Window;
use engine::time::Ps;

/// subs rd, rn, rm
fn subs_register(rd: u32, rn: u32, rm: u32) -> u32 {
    0xe050_0000 | rn << 16 | rd << 12 | rm
}
fn ldrex(rt: u32, rn: u32) -> u32 {
    0xe190_0f9f | rn << 16 | rt << 12
}
fn strex(rd: u32, rt: u32, rn: u32) -> u32 {
    0xe180_0f90 | rn << 16 | rd << 12 | rt
}

/// r8 = shared memory, r9 = the journal.
fn bases() -> Vec<u32> {
    vec![mov(8, 0), movt(8, SHARED >> 16), mov(9, 0), movt(9, JOURNAL >> 16), mov(2, 0)]
}

fn program(parts: &[&[u32]]) -> Vec<u32> {
    [&bases(), parts.concat().as_slice()].concat()
}

/// Takes n iterations of two cycles, or three.
fn delay(n: u32) -> [u32; 3] {
    [mov(7, n), subs(7, 7, 1), when(NE, b(-4))]
}

/// Waits until the word at shared memory + `offset` is equal to r2.
fn until_equal(offset: u32) -> [u32; 3] {
    [ldr(3, 8, offset), subs_register(4, 3, 2), when(NE, b(-8))]
}

/// Core 1 sets shared memory + 8 when it has finished, and sleeps; core 0 waits for that, and ends the run.
fn endings() -> (Vec<u32>, Vec<u32>) {
    let waits = [mov(2, 1), until_equal(8)[0], until_equal(8)[1], until_equal(8)[2]];
    (then_exit(&waits), vec![mov(2, 1), str(2, 8, 8), WFI, b(-4)])
}

/// Adds 1 to the first shared word `times` times, without synchronization or exclusively, and writes to the journal
/// what it read.
fn adds(times: u32, exclusively: bool, offset: u32, pause: u32) -> Vec<u32> {
    let careless = [ldr(3, 8, 0), add(3, 3, 1), str(3, 8, 0)];
    let careful = [ldrex(3, 8), add(3, 3, 1), strex(4, 3, 8), cmp(4, 0), when(NE, b(-16))];
    let body = if exclusively { &careful[..] } else { &careless[..] };
    let iteration = [body, &[str(3, 9, offset)], &delay(pause), &[subs(5, 5, 1)]].concat();
    let back = b(-4 * iteration.len() as i32);
    [&[mov(5, times)], iteration.as_slice(), &[when(NE, back)]].concat()
}

#[test]
fn careless_additions_are_lost_in_the_same_way_each_time() {
    let (last, done) = endings();
    let of = |core: usize, exclusively| adds(300, exclusively, 0x40 + 4 * core as u32, 1 + core as u32);
    let total = |exclusively| {
        let programs = [program(&[&of(0, exclusively), &last]), program(&[&of(1, exclusively), &done])];
        let (_, entries) = run_and_compare(|| pair([&programs[0], &programs[1]]));
        assert_eq!(entries.len(), 600);
        entries.iter().map(|entry| entry.2).max().unwrap()
    };
    assert!((301..550).contains(&total(false)), "{}", total(false));
    assert_eq!(total(true), 600);
}

#[test]
fn a_core_wakes_another_by_a_write() {
    let (last, done) = endings();
    let wakes = [&delay(400)[..], &[mov(3, 1), str(3, 9, 4), str(3, 9, 0x40)], &delay(3000), &last].concat();
    let sleeps = [&[WFI, str(2, 9, 0x44), str(2, 9, 4)][..], &done].concat();
    let (_, entries) = run_and_compare(|| pair([&program(&[&wakes]), &program(&[&sleeps])]));
    let [(Some(1), 0x44, 0, at), (Some(0), 0x40, 1, raised)] = entries[..] else { panic!("{entries:?}") };
    // The core that wakes the other waits for the answer before its next store. The other core's store is half a cycle
    // ahead of it.
    assert_eq!(Ps(raised.0 - at.0), Ps::from_ns(5));
}

#[test]
fn a_core_wakes_another_by_an_event() {
    const WFE: u32 = 0xe320_f002;
    const SEV: u32 = 0xe320_f004;
    let (last, done) = endings();
    let wakes = [&delay(400)[..], &[mov(3, 1), SEV, str(3, 9, 0x40)], &delay(3000), &last].concat();
    let sleeps = [&[WFE, str(2, 9, 0x44)][..], &done].concat();
    let cluster = || {
        let (mut machine, journal) = pair([&program(&[&wakes]), &program(&[&sleeps])]);
        machine.bus().cluster = 3;
        (machine, journal)
    };
    let (report, entries) = run_and_compare(cluster);
    assert_eq!(entries.iter().map(|entry| entry.1).collect::<Vec<_>>().len(), 2, "{entries:?}");
    let waits = |(cause, cycles): &(String, _)| (cause == "wait for interrupt").then_some(*cycles);
    let slept = report.cores[1].causes().iter().find_map(waits).unwrap();
    assert!(slept > engine::time::Cycles(200), "{slept:?}");
}

#[test]
fn a_core_begins_when_it_is_let_out_of_reset() {
    let (last, done) = endings();
    let lets_go = [&delay(400)[..], &[mov(3, 1), str(3, 9, 0x24), str(3, 9, 0x40)], &last].concat();
    let begins = program(&[&[str(2, 9, 0x44)], &done]);
    let lets_go = program(&[&lets_go]);
    let run = |quantum| {
        let (mut machine, journal) = pair([&lets_go, &begins]);
        machine.set_quantum(quantum);
        machine.hold(1);
        let report = machine.run(Ps::from_us(2000), |_| true);
        assert_eq!(report.outcome, Outcome::Exit(0));
        let entries = journal.lock().unwrap().clone();
        (report, entries)
    };
    let (report, entries) = run(QUANTA[2]);
    let [(Some(0), 0x40, 1, released), (Some(1), 0x44, 0, at)] = entries[..] else { panic!("{entries:?}") };
    assert!((Ps(0)..Ps::from_ns(100)).contains(&Ps(at.0 - released.0)), "{released} {at}");
    let held = report.cores[1].causes().iter().find(|(cause, _)| cause == "held in reset").unwrap().1;
    let causes = &report.cores[1].causes();
    assert!((840..900).contains(&held.0), "{held:?}");
    assert_eq!(causes.iter().map(|(_, cycles)| cycles.0).sum::<u64>(), report.cores[1].cycles.0);
    QUANTA.into_iter().for_each(|quantum| assert!(run(quantum) == (report.clone(), entries.clone()), "{quantum}"));
}

#[test]
fn a_window_reports_what_all_cores_did() {
    let (last, done) = endings();
    // Core 0 calls a function at +0x300 twice; core 1 sleeps, and is woken in the second call to work forever.
    let function = [&[mov(3, 1)][..], &delay(100), &[str(6, 9, 4), bx(14)]].concat();
    let call = |at: u32| bl(0x300 - 4 * at as i32);
    let start = [bases().as_slice(), &delay(20), &[mov(6, 0)]].concat();
    let at = start.len() as u32;
    let caller = [&start[..], &[call(at), mov(6, 1), call(at + 2)], &last].concat();
    let mut calls = vec![NOP; 0xc0];
    calls[..caller.len()].copy_from_slice(&caller);
    calls.extend(&function);
    let works = program(&[&[WFI, str(2, 9, 4)], &delay(2000), &done]);
    let (mut machine, _) = pair([&calls, &works]);
    machine.watch_function("work", 0, PROGRAMS[0] + 0x300, true);
    machine.watch_function("sleep", 1, PROGRAMS[1], false);
    let report = machine.run(Ps::from_us(2000), |_| true);
    assert_eq!(report.outcome, Outcome::Exit(0));
    let [first, second] = &report.windows[..] else { panic!("{:?}", report.windows) };
    let section = &report.cores[0].sections[0];
    assert_eq!((section.name.as_str(), section.calls), ("work", 2));
    let cycles = |window: &Window, core: usize| window.cores[core].cycles.0;
    assert_eq!(section.causes().iter().map(|(_, cycles)| cycles.0).sum::<u64>(), cycles(first, 0) + cycles(second, 0));
    assert!(first.begin < first.end && first.end < second.begin && second.end < report.elapsed);
    for window in [first, second] {
        // Each core's share is as long as the window, to a cycle of its own, and all of it has a cause.
        for (core, hz) in CLOCKS.into_iter().enumerate() {
            let whole = (window.end.0 - window.begin.0) * (hz / 1_000_000) / 1_000_000;
            assert!(cycles(window, core).abs_diff(whole) <= 1, "{whole} {window:#?}");
            let causes = &window.cores[core].causes();
            assert_eq!(causes.iter().map(|(_, cycles)| cycles.0).sum::<u64>(), cycles(window, core));
        }
    }
    assert_eq!((first.cores[1].causes().len(), first.cores[1].instructions), (1, 0), "{:?}", first.cores[1]);
    assert_eq!(first.cores[1].causes()[0].0, "wait for interrupt");
}

#[test]
fn each_core_reports_where_it_is() {
    let polls = [ldr(3, 9, 0x30), b(-4)];
    let (mut machine, _) = pair([&program(&[&polls]), &program(&[&[WFI, b(-4)]])]);
    let report = machine.run(Ps::from_us(50), |_| true);
    let Outcome::Limit(text) = report.outcome else { panic!("{:?}", report.outcome) };
    let reported = "cpu0 polled journal at pc 0x0000011";
    assert!(text.contains(reported), "{text}");
    assert!(text.contains("; cpu1 waited for an interrupt at pc 0x00008118: raise it"), "{text}");
    let (mut machine, _) = pair([&program(&[&[WFI, b(-4)]]), &program(&[&[WFI, b(-4)]])]);
    let report = machine.run(Ps::from_us(50), |_| true);
    let text = "cpu0 waits for an interrupt at pc 0x00000118; cpu1 waits for an interrupt at pc 0x00008118; \
                nothing on the board is due to raise one";
    assert_eq!(report.outcome, Outcome::Asleep(text.to_owned()));
    let (mut machine, _) = pair([&program(&[&[WFI, b(-4)]]), &program(&[&[WFI, b(-4)]])]);
    machine.hold(1);
    let report = machine.run(Ps::from_us(50), |_| true);
    let Outcome::Asleep(text) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(text.contains("; cpu1 is held in reset; "), "{text}");
}
