//! Two harts of different clocks: in which order they see each other's accesses, when they wake each other, and that
//! nothing of it depends on how far one is run ahead of the other.

use crate::support::pair::{Entries, JOURNAL, SHARED, pair_of_harts};
use crate::support::riscv::*;
use cyclescope_engine::machine::{Outcome, RunReport};
use cyclescope_engine::time::Ps;

const QUANTA: [Ps; 4] = [Ps(1), Ps::from_ns(10), Ps::from_us(1), Ps::from_us(70)];

/// x8 = shared memory, x9 = the journal, x2 = 0; the external interrupt wakes from wfi.
fn bases() -> Vec<u32> {
    let interrupts = [lui(5, 0x1000), addi(5, 5, -0x800), csrrw(0, MIE, 5)];
    [&[lui(8, SHARED), lui(9, JOURNAL), addi(2, 0, 0)][..], &interrupts].concat()
}

fn program(parts: &[&[u32]]) -> Vec<u32> {
    [&bases(), parts.concat().as_slice()].concat()
}

/// Back to the beginning of what precedes it.
fn again_if_not(rs1: u32, rs2: u32, body: &[u32]) -> u32 {
    bne(rs1, rs2, -4 * body.len() as i32)
}

/// Counts from n down to 0.
fn delay(n: i32) -> [u32; 3] {
    [addi(7, 0, n), addi(7, 7, -1), bne(7, 0, -4)]
}

/// Waits until the word at shared memory + `offset` is what x2 is.
fn until_equal(offset: i32) -> [u32; 2] {
    [lw(3, 8, offset), bne(3, 2, -4)]
}

/// `body`, until x5 has been counted from `times` down to 0.
fn repeat(times: i32, body: &[u32]) -> Vec<u32> {
    let iteration = [body, &[addi(5, 5, -1)]].concat();
    [&[addi(5, 0, times)], iteration.as_slice(), &[again_if_not(5, 0, &iteration)]].concat()
}

fn run_pair(programs: [&[u32]; 2], quantum: Ps) -> (RunReport, Entries) {
    let (mut machine, journal) = pair_of_harts(programs);
    machine.set_quantum(quantum);
    let report = machine.run(Ps::from_us(2000), |_| true);
    assert_eq!(report.outcome, Outcome::Exit(0));
    for core in &report.cores {
        assert_eq!(core.causes.iter().map(|(_, cycles)| cycles.0).sum::<u64>(), core.cycles.0, "{:?}", core.causes);
    }
    let entries = journal.lock().unwrap().clone();
    (report, entries)
}

/// The same for each quantum.
fn run_alike(programs: [&[u32]; 2]) -> (RunReport, Entries) {
    let first = run_pair(programs, QUANTA[0]);
    for quantum in QUANTA {
        let again = run_pair(programs, quantum);
        assert!(again == first, "{quantum}: {:#?}\n{:#?}", again.0, first.0);
    }
    first
}

/// Core 1 says in shared memory + 8 that it has done, and sleeps; core 0 waits for that, and ends the run.
fn endings() -> (Vec<u32>, Vec<u32>) {
    (then_exit(&[&[addi(2, 0, 1)][..], &until_equal(8)].concat()), vec![addi(2, 0, 1), sw(2, 8, 8), WFI, jal(0, -4)])
}

#[test]
fn messages_go_back_and_forth_in_order() {
    let (last, done) = endings();
    let iterations = 200;
    // x2 counts; each core writes what it has got into the journal.
    let asks = [&[addi(2, 2, 1), sw(2, 8, 0)][..], &until_equal(4), &[sw(3, 9, 0x40)], &delay(7)].concat();
    let ping = program(&[&[addi(6, 0, iterations)], &asks, &[again_if_not(2, 6, &asks)], &last]);
    let answers = [&[addi(2, 2, 1)][..], &until_equal(0), &[sw(3, 9, 0x44)], &delay(3), &[sw(2, 8, 4)]].concat();
    let pong = program(&[&[addi(6, 0, iterations)], &answers, &[again_if_not(2, 6, &answers)], &done]);
    let (_, entries) = run_alike([&ping, &pong]);
    let expected = (1..=iterations as u32).flat_map(|n| [(Some(1), 0x44, n), (Some(0), 0x40, n)]);
    let told: Vec<_> = entries.iter().map(|(core, offset, value, _)| (*core, *offset, *value)).collect();
    assert_eq!(told, expected.collect::<Vec<_>>());
    assert!(entries.is_sorted_by_key(|entry| entry.3));
}

#[test]
fn careless_additions_are_lost_in_the_same_way_each_time() {
    let (last, done) = endings();
    let adds = |core: i32| {
        let body = [&[lw(3, 8, 0), addi(3, 3, 1), sw(3, 8, 0), sw(3, 9, 0x40 + 4 * core)][..], &delay(1 + core)];
        repeat(300, &body.concat())
    };
    let (_, entries) = run_alike([&program(&[&adds(0), &last]), &program(&[&adds(1), &done])]);
    assert_eq!(entries.len(), 600);
    let total = entries.iter().map(|entry| entry.2).max().unwrap();
    assert!((301..600).contains(&total), "{total}");
}

#[test]
fn accesses_of_both_come_as_if_each_were_alone() {
    let (last, done) = endings();
    let of = |core: i32, end: &[u32]| {
        let body = [&[sw(5, 9, 0x40 + 4 * core)][..], &delay(1 + 2 * core)].concat();
        program(&[&repeat(300, &body), end])
    };
    // Alone, while the other sleeps: core 1 for good, core 0 until it ends the run.
    let sleeps = [WFI, jal(0, -4)];
    let ends_later = [&[lui(3, 0x1_0000), sw(3, 9, 0x10), WFI][..], &EXIT].concat();
    let first = run_pair([&of(0, &EXIT), &sleeps], QUANTA[2]).1;
    let second = run_pair([&program(&[&ends_later]), &of(1, &sleeps)], QUANTA[2]).1;
    let mut merged = [first, second].concat();
    merged.sort_by_key(|(core, _, _, at)| (*at, *core));
    let (_, both) = run_alike([&of(0, &last), &of(1, &done)]);
    assert_eq!(both.len(), 600);
    assert_eq!(both, merged);
}

#[test]
fn a_hart_that_waits_is_woken_when_its_interrupt_comes() {
    let (last, done) = endings();
    // The device raises core 1's interrupt after 5 us; core 0 works on without looking at anything.
    let works = [&[lui(3, 0x1000), addi(3, 3, 904), sw(3, 9, 0x14)][..], &delay(2000), &last].concat();
    let sleeps = [&[WFI, sw(2, 9, 0x44), sw(2, 9, 4)][..], &done].concat();
    let (report, entries) = run_alike([&program(&[&works]), &program(&[&sleeps])]);
    let [(Some(1), 0x44, 0, at)] = entries[..] else { panic!("{entries:?}") };
    // The device's write arrives some 20 ns after the start, and the journal's is as far.
    assert!((Ps::from_ns(5000)..Ps::from_ns(5100)).contains(&at), "{at}");
    let waits = report.cores[1].causes.iter().find(|(cause, _)| cause == "wait for interrupt").unwrap().1;
    assert!(waits.0 > 900, "{waits:?}");
}

#[test]
fn a_hart_wakes_another_by_a_write() {
    let (last, done) = endings();
    let wakes = [&delay(400)[..], &[addi(3, 0, 1), sw(3, 9, 4), sw(3, 9, 0x40)], &delay(2000), &last].concat();
    let sleeps = [&[WFI, sw(2, 9, 0x44), sw(2, 9, 4)][..], &done].concat();
    let (_, entries) = run_alike([&program(&[&wakes]), &program(&[&sleeps])]);
    let mut told: Vec<_> = entries.iter().map(|(core, offset, value, _)| (*core, *offset, *value)).collect();
    told.sort_unstable();
    assert_eq!(told, [(Some(0), 0x40, 1), (Some(1), 0x44, 0)]);
    // The hart that wakes the other waits for the answer before its next store: the two come within a few cycles.
    assert!(entries[1].3.0 - entries[0].3.0 < Ps::from_ns(50).0, "{entries:?}");
}

#[test]
fn a_hart_begins_when_it_is_let_out_of_reset() {
    let (last, done) = endings();
    let lets_go = program(&[&delay(400), &[addi(3, 0, 1), sw(3, 9, 0x24), sw(3, 9, 0x40)], &last]);
    let begins = program(&[&[sw(2, 9, 0x44)], &done]);
    let run = |quantum| {
        let (mut machine, journal) = pair_of_harts([&lets_go, &begins]);
        machine.set_quantum(quantum);
        machine.hold(1);
        let report = machine.run(Ps::from_us(2000), |_| true);
        assert_eq!(report.outcome, Outcome::Exit(0));
        let entries = journal.lock().unwrap().clone();
        (report, entries)
    };
    let (report, entries) = run(QUANTA[2]);
    let [(Some(0), 0x40, 1, _), (Some(1), 0x44, 0, _)] = entries[..] else { panic!("{entries:?}") };
    assert!(report.cores[1].causes.iter().any(|(cause, cycles)| cause == "held in reset" && cycles.0 > 300));
    QUANTA.into_iter().for_each(|quantum| assert!(run(quantum) == (report.clone(), entries.clone()), "{quantum}"));
}

#[test]
fn polling_is_skipped_while_the_other_hart_waits() {
    let (last, done) = endings();
    // Core 0 sleeps for 65 us, the first 60 of which core 1 polls.
    let sleeps = [&[lui(3, 0x1_0000), sw(3, 9, 0x10), WFI][..], &last].concat();
    let polls = [lui(3, 0xf000), sw(3, 9, 0x30), lw(3, 9, 0x30), beq(3, 0, -4), sw(3, 9, 0x44)];
    let programs = [program(&[&sleeps]), program(&[&polls, &done])];
    let run = |skip| {
        let (mut machine, journal) = pair_of_harts([&programs[0], &programs[1]]);
        machine.skip_polling(skip);
        let report = machine.run(Ps::from_us(2000), |_| true);
        assert_eq!(report.outcome, Outcome::Exit(0));
        let entries = journal.lock().unwrap().clone();
        (report, entries, machine.skipped()[1].0)
    };
    let (skipped, whole) = (run(true), run(false));
    assert!((&skipped.0, &skipped.1) == (&whole.0, &whole.1));
    assert_eq!(whole.2, 0);
    assert!(skipped.2 > 5_000, "{}", skipped.2);
}
