//! Single calls of a watched function: their times and waits, which do not depend on how the run is simulated.

use super::program::*;
use super::target::*;
use crate::RunReport;
use crate::whole::support::late::READY;
use engine::core::{CallReport, KeptReport, SectionReport};
use engine::observe::waits::WaitShare;
use engine::tiers::sized;
use proptest::prelude::*;
use std::collections::BTreeMap;

const CASES: u32 = if cfg!(target_arch = "x86_64") { 12 } else { 2 };
/// Labels: of the function that waits, of its loop, of the one that calls it twice.
const WAIT: u32 = 1;
const POLL: u32 = 2;
const TWICE: u32 = 3;
const MANY: usize = 1000;

/// Calls that wait until the device is ready after the given cycles, some of them through a function that calls twice.
fn program<T: Target>(calls: &[(u32, bool)]) -> Vec<Step> {
    let mut program = vec![Begin, Set(A, T::DEVICE), Set(B, T::DATA)];
    for (cycles, twice) in calls {
        program.extend([Set(C, *cycles), Call(if *twice { TWICE } else { WAIT }), Add(E, 1)]);
    }
    program.extend([Exit, Nop, Nop]);
    program.extend([Label(WAIT), Load(E, B, 0), Store(C, A, READY)]);
    program.extend([Label(POLL), Load(D, A, READY), IfZero(D, POLL), Store(C, B, 4), Return, Nop, Nop]);
    program.extend([Label(TWICE), Store(LINK, B, 12), Call(WAIT), Call(WAIT), Load(LINK, B, 12), Return, Nop, Nop]);
    program
}

/// A run with the function's calls kept, and how.
fn run_kept<T: Target>(at: u32, program: &[Step], most: usize, (skip, compiled_after): (bool, u16)) -> RunReport {
    let Prepared { mut machine, labels } = prepared::<T>(at, program);
    machine.skip_polling(skip);
    machine.compile_after(compiled_after);
    machine.record_waits();
    assert!(machine.keep_calls_at("wait", 0, labels[&WAIT], most));
    run_to_exit(&mut machine)
}

fn kept(report: &RunReport) -> (&SectionReport, &KeptReport) {
    let section = &report.cores[0].sections[0];
    (section, section.kept.as_ref().unwrap())
}

fn time(call: &CallReport) -> u64 {
    call.stack().iter().map(|share| share.time.0).sum()
}

/// Picoseconds by what was waited for.
fn sums<'a>(rows: impl IntoIterator<Item = &'a WaitShare>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    rows.into_iter().for_each(|row| *sums.entry(row.share.cause.clone()).or_default() += row.share.time.0);
    sums
}

pub fn each_call_has_what_it_took_and_waited_for<T: Target>() {
    let calls = prop::collection::vec((prop_oneof![0..60u32, 60..4000u32], any::<bool>()), 1..12);
    let cases = (calls, prop::sample::select(T::CODE.to_vec()), 1..6usize);
    proptest!(ProptestConfig::with_cases(sized(CASES.div_ceil(4), CASES)), |((calls, at, few) in cases)| {
        let program = program::<T>(&calls);
        let report = run_kept::<T>(at, &program, MANY, (true, 0));
        for how in [(true, 2), (false, 0), (false, 2)] {
            prop_assert_eq!(&run_kept::<T>(at, &program, MANY, how), &report);
        }
        let (section, all) = kept(&report);
        let count: usize = calls.iter().map(|(_, twice)| 1 + usize::from(*twice)).sum();
        prop_assert_eq!((section.calls, all.longest.len()), (count as u64, count));
        let mut in_order: Vec<&CallReport> = all.longest.iter().collect();
        prop_assert!(in_order.windows(2).all(|two| (time(two[1]), two[0].nth) <= (time(two[0]), two[1].nth)));
        in_order.sort_by_key(|call| call.nth);
        prop_assert!((1..).zip(&in_order).all(|(nth, call)| nth == call.nth));
        prop_assert!(in_order.windows(2).all(|two| two[0].begun.0 + time(two[0]) <= two[1].begun.0));
        prop_assert_eq!(all.shortest.map(|shortest| shortest.0), in_order.iter().map(|call| time(call)).min());
        // Each call is exact by itself, and all of them together are those of the function.
        let waits: Vec<Vec<WaitShare>> = in_order.iter().map(|call| call.waits().unwrap()).collect();
        for (call, waits) in in_order.iter().zip(&waits) {
            prop_assert_eq!(waits.iter().map(|row| row.share.time.0).sum::<u64>(), time(call));
        }
        prop_assert_eq!(sums(waits.iter().flatten()), sums(&section.waits().unwrap()));
        prop_assert_eq!(in_order.iter().map(|call| call.instructions).sum::<u64>(), section.instructions);
        let looked = |waits: &[WaitShare]| sums(waits).get("late: looked at").copied().unwrap_or_default();
        prop_assert_eq!(waits.iter().any(|waits| looked(waits) > 0), looked(&section.waits().unwrap()) > 0);
        // With few of them kept, these are the longest.
        let report = run_kept::<T>(at, &program, few, (true, 0));
        let (fewer, some) = kept(&report);
        prop_assert_eq!(&some.longest[..], &all.longest[..few.min(count)]);
        prop_assert_eq!((fewer.waits(), some.shortest), (section.waits(), all.shortest));
    });
}

pub fn a_long_call_waits_for_the_device<T: Target>() {
    let report = run_kept::<T>(T::CODE[0], &program::<T>(&[(50, false), (5000, false), (50, false)]), 1, (true, 0));
    let (_, kept) = kept(&report);
    let [longest] = &kept.longest[..] else { panic!("{:?}", kept.longest) };
    assert_eq!(longest.nth, 2);
    let waits = longest.waits().unwrap();
    assert_eq!((waits[0].share.cause.as_str(), waits[0].sort.name()), ("late: looked at", "looking"));
    assert!(waits[0].share.time.0 * 10 > 9 * time(longest), "{waits:?}");
}
