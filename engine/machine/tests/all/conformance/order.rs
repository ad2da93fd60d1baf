//! Two cores of one instruction set, at different clocks: the order in which they see each other's accesses, and the
//! times at which they wake each other, do not depend on how far one is simulated ahead of the other.

use super::program::*;
use super::target::Target;
use crate::whole::support::pair::{Entries, JOURNAL, PROGRAMS, QUANTA, SHARED, pair_at, run_and_compare, run_pair};
use crate::{Machine, Outcome};
use engine::core::Core;
use engine::tiers::sized;
use engine::time::Ps;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Cores for boards with two of them.
pub trait Pair: Target + Sized {
    /// The input that the journal raises.
    const INTERRUPT: u32 = 0;
    /// Instructions after which the interrupt wakes the core from a wait, and is not taken.
    const LISTENS: &[u32] = &[];

    /// One of the two, from reset on.
    fn core(index: u32) -> Box<dyn Core>;

    /// The start address of a core with its program at an address of local memory.
    fn start(at: u32) -> u32 {
        Self::local(at)
    }

    /// The machine, with a program for each core.
    fn pair(programs: [&[Step]; 2]) -> (Machine, Arc<Mutex<Entries>>) {
        let (machine, journal, _) = Self::pair_with_labels(programs);
        (machine, journal)
    }

    /// The machine, and the addresses of the first program's labels.
    fn pair_with_labels(programs: [&[Step]; 2]) -> (Machine, Arc<Mutex<Entries>>, BTreeMap<u32, u32>) {
        let begin = [Set(A, SHARED), Set(B, JOURNAL), Set(C, 0), Set(G, 0)];
        let [first, second] = [0, 1].map(|core: usize| {
            let listens = words(Self::LISTENS);
            let at = Self::local(PROGRAMS[core]) + listens.len() as u32;
            let (program, labels) = assemble::<Self>(at, &[&begin, programs[core]].concat());
            ([listens, program].concat(), labels)
        });
        let cores = [0, 1].map(Self::core);
        let (machine, journal) = pair_at(cores, PROGRAMS.map(Self::start), Self::INTERRUPT, [&first.0, &second.0]);
        (machine, journal, first.1)
    }
}

fn delay(iterations: u32, label: u32) -> [Step; 4] {
    [Set(D, iterations), Label(label), Add(D, -1), IfNotZero(D, label)]
}

/// Waits until the word at shared memory + `offset` is equal to C, and G to its negative.
fn until_equal(offset: u32, label: u32) -> [Step; 4] {
    [Label(label), Load(E, A, offset), AddTo(E, G), IfNotZero(E, label)]
}

/// `body`, until F has been counted from `times` down to 0.
fn repeat(times: u32, body: &[Step]) -> Vec<Step> {
    [&[Set(F, times), Label(0)], body, &[Add(F, -1), IfNotZero(F, 0)]].concat()
}

/// Core 1 sets shared memory + 8 when it has finished, and sleeps; core 0 waits for that, and ends the run.
const LAST: [Step; 4] = [Label(8), Load(E, A, 8), IfZero(E, 8), Exit];
const DONE: [Step; 5] = [Set(E, 1), Store(E, A, 8), Label(9), Wait, Jump(9)];
/// Core 0 requests its interrupt in 65 us, and sleeps.
const SLEEPS: [Step; 3] = [Set(E, 0xffff), Store(E, B, 0x10), Wait];

fn compared<T: Pair>(programs: [&[Step]; 2]) -> (crate::RunReport, Entries) {
    run_and_compare(|| T::pair(programs))
}

fn without_times(entries: &Entries) -> Vec<(Option<usize>, u32, u32)> {
    entries.iter().map(|(core, offset, value, _)| (*core, *offset, *value)).collect()
}

pub fn messages_go_back_and_forth_in_order<T: Pair>() {
    let iterations = sized(60, 200);
    // C counts; each core writes what it has read into the journal.
    let count = [Add(C, 1), Add(G, -1)];
    let got = |offset, to| [Load(E, A, offset), Store(E, B, to)];
    let asks = [&count[..], &[Store(C, A, 0)], &until_equal(4, 1), &got(4, 0x40), &delay(7, 2)].concat();
    let answers = [&count[..], &until_equal(0, 1), &got(0, 0x44), &delay(3, 2), &[Store(C, A, 4)]].concat();
    let (ping, pong) = (repeat(iterations, &asks), repeat(iterations, &answers));
    let (_, entries) = compared::<T>([&[&ping[..], &LAST].concat(), &[&pong[..], &DONE].concat()]);
    let expected = (1..=iterations).flat_map(|n| [(Some(1), 0x44, n), (Some(0), 0x40, n)]);
    assert_eq!(without_times(&entries), expected.collect::<Vec<_>>());
    assert!(entries.is_sorted_by_key(|entry| entry.3));
}

pub fn careless_additions_are_lost_in_the_same_way_each_time<T: Pair>() {
    let times = sized(100, 300);
    let adds = |core: u32| {
        let add = [Load(E, A, 0), Add(E, 1), Store(E, A, 0), Store(E, B, 0x40 + 4 * core)];
        repeat(times, &[&add[..], &delay(1 + core, 1)].concat())
    };
    let (_, entries) = compared::<T>([&[&adds(0)[..], &LAST].concat(), &[&adds(1)[..], &DONE].concat()]);
    assert_eq!(entries.len(), 2 * times as usize);
    let total = entries.iter().map(|entry| entry.2).max().unwrap();
    assert!((times + 1..2 * times).contains(&total), "{total}");
}

pub fn accesses_of_both_come_as_if_each_were_alone<T: Pair>() {
    let of = |core: u32, end: &[Step]| {
        let body = [&[Store(F, B, 0x40 + 4 * core)][..], &delay(1 + 2 * core, 1)].concat();
        [&repeat(300, &body)[..], end].concat()
    };
    // Alone, while the other sleeps: core 1 for good, core 0 until it ends the run.
    let for_good = [Label(9), Wait, Jump(9)];
    let ends_later = [&SLEEPS[..], &[Exit]].concat();
    let alone = |programs: [&[Step]; 2]| run_pair(T::pair(programs), QUANTA[2]).1;
    let mut merged = [alone([&of(0, &[Exit]), &for_good]), alone([&ends_later, &of(1, &for_good)])].concat();
    merged.sort_by_key(|(core, _, _, at)| (*at, *core));
    let (_, both) = compared::<T>([&of(0, &LAST), &of(1, &DONE)]);
    assert_eq!(both.len(), 600);
    assert_eq!(both, merged);
}

pub fn a_core_that_waits_is_woken_when_its_interrupt_comes<T: Pair>() {
    // The device raises core 1's interrupt after 5 us; core 0 works on without looking at anything.
    let works = [&[Set(E, 5000), Store(E, B, 0x14)][..], &delay(3000, 1), &LAST].concat();
    let sleeps = [&[Wait, Store(C, B, 0x44), Store(C, B, 4)][..], &DONE].concat();
    let (report, entries) = compared::<T>([&works, &sleeps]);
    let [(Some(1), 0x44, 0, at)] = entries[..] else { panic!("{entries:?}") };
    // The device's write arrives some 20 ns after the start, and the journal's is as far.
    assert!((Ps::from_ns(5000)..Ps::from_ns(5100)).contains(&at), "{at}");
    let waits = report.cores[1].causes().iter().find(|(cause, _)| cause == "wait for interrupt").unwrap().1;
    assert!(waits.0 > 900, "{waits:?}");
}

pub fn a_core_wakes_another_by_a_write<T: Pair>() {
    let wakes = [&delay(400, 1)[..], &[Set(E, 1), Store(E, B, 4), Store(E, B, 0x40)], &delay(3000, 2), &LAST].concat();
    let sleeps = [&[Wait, Store(C, B, 0x44), Store(C, B, 4)][..], &DONE].concat();
    let (_, entries) = compared::<T>([&wakes, &sleeps]);
    let mut reported = without_times(&entries);
    reported.sort_unstable();
    assert_eq!(reported, [(Some(0), 0x40, 1), (Some(1), 0x44, 0)]);
    // The core that wakes the other waits for the answer before its next store: the two come within a few cycles.
    assert!(entries[1].3.0 - entries[0].3.0 < Ps::from_ns(50).0, "{entries:?}");
}

pub fn a_core_begins_when_it_is_let_out_of_reset<T: Pair>() {
    let lets_go = [&delay(400, 1)[..], &[Set(E, 1), Store(E, B, 0x24), Store(E, B, 0x40)], &LAST].concat();
    let begins = [&[Store(C, B, 0x44)][..], &DONE].concat();
    let (report, entries) = run_and_compare(|| {
        let (mut machine, journal) = T::pair([&lets_go, &begins]);
        machine.hold(1);
        (machine, journal)
    });
    assert_eq!(without_times(&entries), [(Some(0), 0x40, 1), (Some(1), 0x44, 0)]);
    let held = report.cores[1].causes().iter().find(|(cause, _)| cause == "held in reset").unwrap().1;
    assert!(held.0 > 300, "{held:?}");
}

pub fn polling_is_skipped_while_the_other_core_waits<T: Pair>() {
    // Core 0 sleeps for 65 us. Core 1 polls during the first 60 us of that.
    let sleeps = [&SLEEPS[..], &LAST].concat();
    let polls = [Set(E, 60_000), Store(E, B, 0x30), Label(1), Load(E, B, 0x30), IfZero(E, 1), Store(E, B, 0x44)];
    let polls = [&polls[..], &DONE].concat();
    let run = |skip| {
        let (mut machine, journal) = T::pair([&sleeps, &polls]);
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
