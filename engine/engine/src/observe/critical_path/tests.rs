//! Paths that are kept as the run goes forward are equal to paths that are found backwards from a list of all wake-ups.

use super::{Path, Paths, What};
use crate::dt::wiring::DeviceId;
use crate::time::Ps;
use proptest::prelude::*;

const CORES: usize = 3;
const MAILBOX: DeviceId = DeviceId(4);
const LATEST: Ps = Ps(2_000_000);

/// Core `to` slept from `since` on, until `from` stored at `stored`; it woke a little later.
#[derive(Clone, Copy, Debug)]
struct Woken {
    from: usize,
    to: usize,
    since: u64,
    stored: u64,
}

/// A run in which one core after the other is woken, `gap` after the last.
fn woken_of(steps: &[(usize, usize, u64)]) -> Vec<Woken> {
    let (mut at, mut awake_since) = (0, [0; CORES]);
    let mut all = Vec::new();
    for (from, to, gap) in steps.iter().filter(|(from, to, _)| from != to) {
        at += 10 + gap;
        // It slept for the last half of that time.
        let since = awake_since[*to] + (at - awake_since[*to]) / 2;
        all.push(Woken { from: *from, to: *to, since, stored: at });
        awake_since[*to] = at + 3;
    }
    all
}

fn forward(all: &[Woken], complete: bool) -> Paths {
    let mut paths = Paths::new(CORES, LATEST);
    for Woken { from, to, since, stored } in all {
        paths.sleeps(*to, Ps(*since));
        paths.stored(*from as u32, MAILBOX, Ps(*stored));
        paths.raised(*to, Ps(*stored));
        paths.over(false);
        paths.wakes(*to, Ps(stored + 3), Ps(stored - 1));
        // Each waits for a device named after it, in the last 4 ps before it stores.
        for (place, begin, end) in paths.places(*from as u32, Ps(stored - 4), Ps(*stored)) {
            paths.add_wait(*from as u32, place, What::Activity(*from as u32), end - begin);
        }
        if complete {
            (0..CORES as u32).for_each(|core| paths.waits_complete(core, Ps(*stored)));
        }
    }
    paths
}

/// Time by core on the path, and the sleeps that ended on it, found backwards from the end.
fn backward(all: &[Woken], last: usize, end: u64) -> ([u64; CORES], Vec<Woken>) {
    let (mut times, mut sleeps) = ([0; CORES], Vec::new());
    let (mut core, mut to) = (last, end);
    while let Some(woken) = all.iter().rev().find(|woken| woken.to == core && woken.stored < to) {
        times[core] += to - woken.stored;
        sleeps.push(*woken);
        (core, to) = (woken.from, woken.stored);
    }
    times[core] += to;
    (times, sleeps)
}

fn check(path: &Path, all: &[Woken], last: usize, end: u64) {
    let (times, sleeps) = backward(all, last, end);
    for (core, time) in times.iter().enumerate() {
        let own = path.rows.iter().filter(|((by, _), _)| *by == core as u32);
        assert_eq!(own.map(|(_, time)| time).sum::<u64>(), *time, "core {core}");
        let waited = path.rows.get(&(core as u32, What::Activity(core as u32))).copied().unwrap_or(0);
        assert!(waited >= 4 * sleeps.iter().filter(|woken| woken.from == core).count() as u64);
    }
    let held: u64 = path.hand_overs.values().map(|sleeps| sleeps.held.0).sum();
    assert_eq!(held, sleeps.iter().map(|woken| woken.stored + 3 - woken.since).sum::<u64>());
    assert_eq!(path.hand_overs.values().map(|sleeps| sleeps.times).sum::<u64>(), sleeps.len() as u64);
}

proptest! {
    #[test]
    fn a_path_is_what_leads_back_from_the_end(
        steps in prop::collection::vec((0..CORES, 0..CORES, 0..100_u64), 0..300),
        complete in any::<bool>(),
        rest in 0..50_u64,
    ) {
        let all = woken_of(&steps);
        let paths = forward(&all, complete);
        let end = all.last().map_or(0, |woken| woken.stored + 3) + rest;
        for last in 0..CORES {
            check(&paths.path(last, Ps(end)), &all, last, end);
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_run() {
    let steps: Vec<_> =
        (0..4_000).map(|step| (step % CORES, (step * 7 + step / 5) % CORES, step as u64 % 11)).collect();
    let all = woken_of(&steps);
    let paths = forward(&all, true);
    assert!(paths.pieces() < 200, "{}", paths.pieces());
    let end = all[all.len() - 1].stored + 3;
    check(&paths.path(0, Ps(end)), &all, 0, end);
}

#[test]
fn pieces_that_never_complete_are_cut_off_somewhere() {
    let steps: Vec<_> = (0..1_500).map(|step| (step % 2, (step + 1) % 2, 0)).collect();
    let all = woken_of(&steps);
    let paths = forward(&all, false);
    assert!(paths.pieces() < 1_125, "{}", paths.pieces());
    let end = all[all.len() - 1].stored + 3;
    let total: u64 = paths.path(0, Ps(end)).rows.values().sum();
    assert_eq!(total, end);
}

#[test]
fn what_follows_from_an_event_follows_from_who_asked_for_it() {
    let mut paths = Paths::new(2, LATEST);
    paths.sleeps(1, Ps(50));
    paths.stored(0, MAILBOX, Ps(100));
    paths.asked_for(7);
    paths.over(false);
    // An event of an event.
    paths.happens(7);
    paths.asked_for(8);
    paths.over(false);
    paths.happens(8);
    paths.raised(1, Ps(300));
    paths.over(false);
    paths.wakes(1, Ps(301), Ps(299));
    let path = paths.path(1, Ps(400));
    let times: Vec<(u32, u64)> = path.rows.iter().map(|((core, _), time)| (*core, *time)).collect();
    assert_eq!(times, [(0, 100), (1, 300)]);
    let sleeps = path.hand_overs[&(0, 1, MAILBOX)];
    assert_eq!((sleeps.times, sleeps.held, sleeps.longest_from), (1, Ps(251), Ps(50)));
}

#[test]
fn an_interrupt_of_another_time_wakes_nobody() {
    for (stored, wakes) in [(100, 400), (40, 101)] {
        let mut paths = Paths::new(2, LATEST);
        paths.sleeps(1, Ps(50));
        paths.stored(0, MAILBOX, Ps(stored));
        paths.raised(1, Ps(100));
        paths.over(false);
        paths.wakes(1, Ps(wakes), Ps(wakes - 2));
        assert!(paths.path(1, Ps(500)).hand_overs.is_empty());
    }
}
