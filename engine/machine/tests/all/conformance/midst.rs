//! A run that ends during an access: the access has lasted up to there, and continues as if the run had not stopped.

use super::program::*;
use super::target::*;
use crate::whole::support::late::{ANSWERS, EXIT_LATER, LATER, RAISE_LATER, VALUE};
use crate::whole::support::rig::{CYCLE_PS, assert_sums};
use crate::whole::support::snapshots;
use crate::{Machine, Outcome, RunReport};
use engine::time::Ps;

/// 1.5 ms.
const ANSWER_CYCLES: u32 = 150_000;
/// Answers begin before this.
const BEFORE: Ps = Ps::from_us(20);
const EXIT_STATUS: i32 = 5;

/// A load or a store that is answered late, after an event was scheduled: an interrupt that nobody takes, or the end of
/// the run. Then an access that may have to wait for it.
fn late<T: Target>(access: Step, (what, after_cycles): (u32, u32)) -> Machine {
    let set = [Begin, Set(A, T::DEVICE), Set(D, ANSWER_CYCLES), Store(D, A, LATER), Set(D, after_cycles)];
    let wait = [Store(D, A, what), Set(C, 40), Label(0), Add(C, -1), IfNotZero(C, 0)];
    let rest = [access, Add(C, 1), Load(F, A, VALUE), Set(C, 60), Label(1), Add(C, -1), IfNotZero(C, 1), Exit];
    let mut machine = machine::<T>(T::CODE[0], &[&set[..], &wait, &rest].concat());
    machine.profile(&[], true).unwrap();
    machine
}

fn accesses() -> [Step; 2] {
    [Load(E, A, ANSWERS), Store(C, A, ANSWERS)]
}

/// The report of a run that has lasted for `elapsed`: it contains no more time than that.
fn assert_lasted(machine: &mut Machine, report: &RunReport, elapsed: Ps) {
    assert_eq!(report.elapsed, elapsed);
    assert_sums(report);
    let core = &report.cores[0];
    assert_eq!(core.cycles.0, elapsed.0.div_ceil(CYCLE_PS));
    assert_eq!(core.stack().iter().map(|share| share.time.0).sum::<u64>(), elapsed.0, "{:?}", core.stack());
    let profile = &machine.profiles()[0];
    let charged: u64 = profile.costs.iter().flat_map(|cost| &cost.charges).map(|(.., cycles)| cycles).sum();
    assert_eq!((charged, profile.rates[0].1), (core.cycles.0, core.cycles));
    // Each cause has the same time in the profile as in the stack.
    for (number, name) in (0..).zip(&profile.causes) {
        let charges = profile.costs.iter().flat_map(|cost| &cost.charges).filter(|(cause, ..)| *cause == number);
        let counted = core.causes().iter().find(|(cause, _)| cause == name).map(|(_, cycles)| cycles.0);
        assert_eq!(counted, Some(charges.map(|(.., cycles)| cycles).sum()), "{name}");
    }
}

fn counter(report: &RunReport, name: &str) -> u64 {
    report.counters.iter().find(|(known, _)| known.ends_with(name)).map(|(_, count)| *count).unwrap()
}

pub fn the_limit_comes_in_the_midst_of_an_access<T: Target>() {
    let raised_after = 100_000;
    for access in accesses() {
        let build = || late::<T>(access, (RAISE_LATER, raised_after));
        let whole = snapshots::run(&mut build());
        let ended = whole.report.clone().unwrap();
        assert_eq!(ended.outcome, Outcome::Exit(0));
        assert!(counter(&ended, "raised in cycle") > 0);
        let mut machine = build();
        // The last limit is after the event, and is not a whole number of cycles.
        for limit in [BEFORE, Ps::from_us(700), Ps(1_234_567_891)] {
            let report = machine.run(limit, |_| true);
            assert!(matches!(report.outcome, Outcome::Limit(_)), "{:?}", report.outcome);
            assert_lasted(&mut machine, &report, limit);
            let (is_raised, is_due) = (counter(&report, "raised in cycle") > 0, limit > Ps::from_us(1100));
            // A load after a buffered store has waited for it, and has arrived at the device.
            let has_passed = matches!(access, Store(..)) && is_raised;
            assert!(is_raised == is_due || has_passed, "{limit}");
        }
        assert!(snapshots::run(&mut machine) == whole, "slices change nothing");
    }
}

pub fn a_snapshot_in_the_midst_of_an_access_changes_nothing<T: Target>() {
    for access in accesses() {
        let build = || late::<T>(access, (RAISE_LATER, 100_000));
        let (until, limit) = (Ps::from_us(300), Ps::from_us(900));
        snapshots::change_nothing(build, [until]);
        let mut at_once = build();
        let report = at_once.run(limit, |_| true);
        let mut stopped = build();
        assert!(stopped.run_to(until, |_| true).is_none());
        let mut restored = build();
        restored.restore(&stopped.snapshot().unwrap()).unwrap();
        for mut machine in [stopped, restored] {
            assert_eq!(machine.run(limit, |_| true), report);
            assert_eq!(machine.profiles(), at_once.profiles());
        }
    }
}

pub fn a_device_ends_the_run_in_the_midst_of_an_access<T: Target>() {
    for access in accesses() {
        let mut machine = late::<T>(access, (EXIT_LATER, 50_000));
        let report = machine.run(Ps::from_us(10_000), |_| true);
        assert_eq!(report.outcome, Outcome::Exit(EXIT_STATUS));
        let at = machine.bus().exit.unwrap().at;
        assert!(at > Ps::from_us(500) && at < Ps::from_us(600), "{at}");
        assert_lasted(&mut machine, &report, at);
    }
}
