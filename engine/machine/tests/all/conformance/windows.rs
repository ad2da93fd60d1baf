//! Windows: the waits in each call, which do not depend on how the run is simulated.

use super::order::Pair;
use super::program::*;
use super::target::*;
use crate::whole::support::late::READY;
use crate::whole::support::pair::{PROGRAMS, QUANTA};
use crate::windows::Window;
use crate::{Outcome, RunReport};
use engine::core::{CoreReport, SectionReport};
use engine::observe::stack::Share;
use engine::observe::waits::WaitShare;
use engine::tiers::sized;
use engine::time::Ps;
use proptest::prelude::*;
use std::collections::BTreeMap;

const CASES: u32 = if cfg!(target_arch = "x86_64") { 8 } else { 2 };
/// A long wait, in iterations of its loop.
const LONGEST: u32 = 4000;
/// Labels: of the function that waits, of its loop, of the function that calls it twice, of the function that is called
/// between looks, and of the first loop with such calls.
const WAIT: u32 = 1;
const POLL: u32 = 2;
const TWICE: u32 = 3;
const PEEK: u32 = 4;
const PEEKING: u32 = 10;
const WATCHED: [(&str, u32); 3] = [("wait", WAIT), ("twice", TWICE), ("peek", PEEK)];
/// The number of calls of each function that are kept.
const MANY: usize = 1000;

#[derive(Clone, Copy, Debug)]
enum Manner {
    /// Calls the function that waits.
    Waits,
    /// Calls the function that calls it twice.
    Twice,
    /// Waits in a loop that makes a call between its looks.
    Peeks,
}

/// Waits until the device is ready after the given cycles, each in its own manner.
fn program<T: Target>(waits: &[(u32, Manner)]) -> Vec<Step> {
    let mut program = vec![Begin, Set(A, T::DEVICE), Set(B, T::DATA)];
    for (label, (cycles, manner)) in (PEEKING..).zip(waits) {
        program.push(Set(C, *cycles));
        match manner {
            Manner::Waits => program.push(Call(WAIT)),
            Manner::Twice => program.push(Call(TWICE)),
            Manner::Peeks => {
                let body = [Label(label), Load(D, A, READY), Call(PEEK), IfZero(D, label)];
                program.push(Store(C, A, READY));
                program.extend(body);
            }
        }
        program.push(Add(E, 1));
    }
    program.extend([Exit, Nop, Nop]);
    program.extend([Label(WAIT), Load(E, B, 0), Store(C, A, READY)]);
    program.extend([Label(POLL), Load(D, A, READY), IfZero(D, POLL), Store(C, B, 4), Return, Nop, Nop]);
    program.extend([Label(TWICE), Store(LINK, B, 12), Call(WAIT), Call(WAIT), Load(LINK, B, 12), Return, Nop, Nop]);
    program.extend([Label(PEEK), Add(E, 1), Add(E, 2), Return, Nop, Nop]);
    program
}

/// A run with what was waited for, with windows or without, and how.
fn run_with<T: Target>(at: u32, program: &[Step], windows: bool, (skip, compiled_after): (bool, u16)) -> RunReport {
    let Prepared { mut machine, labels } = prepared::<T>(at, program);
    machine.skip_polling(skip);
    machine.compile_after(compiled_after);
    machine.record_waits();
    for (name, label) in WATCHED {
        machine.watch_function(name, 0, labels[&label], windows);
        assert!(machine.keep_calls_at(name, 0, labels[&label], MANY));
    }
    run_to_exit(&mut machine)
}

/// Picoseconds by what was waited for.
fn sums<'a>(rows: impl IntoIterator<Item = &'a WaitShare>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    rows.into_iter().for_each(|row| *sums.entry(row.share.cause.clone()).or_default() += row.share.time.0);
    sums
}

fn time(stack: &[Share]) -> u64 {
    stack.iter().map(|share| share.time.0).sum()
}

/// The waits of a core, which are all of its time, as are those of its sections.
fn all_waits(core: &CoreReport) -> BTreeMap<String, u64> {
    core.sections.iter().for_each(|section| drop(section_waits(section)));
    let waits = sums(&core.waits().unwrap());
    assert_eq!(waits.values().sum::<u64>(), time(&core.stack()), "{waits:?}");
    waits
}

fn section_waits(section: &SectionReport) -> BTreeMap<String, u64> {
    let waits = sums(&section.waits().unwrap());
    assert_eq!(waits.values().sum::<u64>(), time(&section.stack()), "{waits:?}");
    waits
}

fn windows_of<'a>(report: &'a RunReport, section: &'a str) -> impl Iterator<Item = &'a Window> {
    report.windows.iter().filter(move |window| window.section == section)
}

pub fn each_window_has_what_was_waited_for<T: Target>() {
    let manner = prop_oneof![Just(Manner::Waits), Just(Manner::Twice), Just(Manner::Peeks)];
    let waits = prop::collection::vec((prop_oneof![0..60u32, 60..sized(LONGEST / 10, LONGEST)], manner), 1..12);
    let cases = (waits, prop::sample::select(T::CODE.to_vec()));
    proptest!(ProptestConfig::with_cases(sized(2, CASES)), |((waits, at) in cases)| {
        let program = program::<T>(&waits);
        let report = run_with::<T>(at, &program, true, (true, 0));
        for how in [(true, 2), (false, 0), (false, 2)] {
            prop_assert_eq!(&run_with::<T>(at, &program, true, how), &report);
        }
        let plain = run_with::<T>(at, &program, false, (true, 0));
        prop_assert_eq!((&plain.cores, plain.elapsed), (&report.cores, report.elapsed));
        let whole = all_waits(&report.cores[0]);
        for window in &report.windows {
            let waits = all_waits(&window.cores[0]);
            prop_assert_eq!(waits.values().sum::<u64>(), window.end.0 - window.begin.0);
            prop_assert!(waits.iter().all(|(what, time)| *what == "CPU" || *time <= whole[what]), "{:?}", waits);
        }
        // A call that neither begins nor ends within a wait has its own waits, and those of calls in it.
        for section in &report.cores[0].sections[..2] {
            let mut calls: Vec<_> = section.kept.as_ref().unwrap().longest.iter().collect();
            calls.sort_by_key(|call| call.nth);
            let windows: Vec<_> = windows_of(&report, &section.name).collect();
            prop_assert_eq!(calls.len(), windows.len());
            for (call, window) in calls.iter().zip(&windows) {
                prop_assert_eq!(call.begun, window.begin);
                prop_assert_eq!(call.waits(), window.cores[0].waits());
            }
        }
        for window in &report.windows {
            let within = |other: &&Window| window.begin <= other.begin && other.end <= window.end;
            for section in &window.cores[0].sections {
                let calls = windows_of(&report, &section.name).filter(within);
                let calls: Vec<WaitShare> = calls.flat_map(|call| call.cores[0].waits().unwrap()).collect();
                if section.name != "peek" {
                    prop_assert_eq!(sums(&calls), section_waits(section));
                }
            }
        }
        // A call between two looks has waited all the time, a call after the last look has not.
        let mut longest = 0;
        for window in windows_of(&report, "peek") {
            let waits = all_waits(&window.cores[0]);
            if let Some(looked) = waits.get("late: looked at") {
                prop_assert_eq!(waits.len(), 1, "{:?}", waits);
                longest = longest.max(*looked);
            }
        }
        let peeks_long = waits.iter().any(|(cycles, manner)| *cycles > 1000 && matches!(manner, Manner::Peeks));
        prop_assert!(longest > 0 || !peeks_long);
    });
}

/// Core 0 makes counted calls; core 1 works meanwhile.
fn beside<T: Pair>(other: &[Step], (skip, compiled_after): (bool, u16), quantum: Ps) -> RunReport {
    let calls = [Set(F, 12), Label(0), Call(7), Call(7), Add(F, -1), IfNotZero(F, 0)];
    let last = [Label(8), Load(E, A, 8), IfZero(E, 8), Exit, Nop, Nop];
    let counts = [Label(7), Set(D, 300), Label(6), Add(D, -1), IfNotZero(D, 6), Return, Nop, Nop];
    let (mut machine, _, labels) = T::pair_with_labels([&[&calls[..], &last, &counts].concat(), other]);
    assert!(labels[&7] > PROGRAMS[0]);
    machine.set_quantum(quantum);
    machine.skip_polling(skip);
    machine.compile_after(compiled_after);
    machine.record_waits();
    machine.watch_function("count", 0, labels[&7], true);
    let report = machine.run(Ps::from_us(5000), |_| true);
    assert_eq!(report.outcome, Outcome::Exit(0));
    for window in &report.windows {
        window.cores.iter().for_each(|core| drop(all_waits(core)));
    }
    assert_eq!(report.windows.len(), 24);
    report
}

/// Core 1 sets a word when it has finished its work, and sleeps forever.
const DONE: [Step; 5] = [Set(E, 1), Store(E, A, 8), Label(9), Wait, Jump(9)];

pub fn a_window_has_what_another_core_waited_for<T: Pair>() {
    // Polls the journal, or sleeps until its interrupt comes; each takes longer than the calls.
    let polls = [Set(E, 100_000), Store(E, B, 0x30), Label(1), Load(E, B, 0x30), IfZero(E, 1)];
    let sleeps = [Set(E, 0xffff), Store(E, B, 0x14), Wait, Store(C, B, 4)];
    for (program, what) in [(&polls[..], "journal: looked at"), (&sleeps, "journal: interrupt awaited")] {
        let program = [program, &DONE].concat();
        for quantum in QUANTA.into_iter().step_by(sized(QUANTA.len(), 1)) {
            let report = beside::<T>(&program, (true, 0), quantum);
            for how in [(true, 2), (false, 0), (false, 2)] {
                assert_eq!(beside::<T>(&program, how, quantum).cores, report.cores);
            }
            let whole = all_waits(&report.cores[1]);
            let parts: Vec<BTreeMap<String, u64>> = report.windows.iter().map(|it| all_waits(&it.cores[1])).collect();
            let in_windows: u64 = parts.iter().filter_map(|waits| waits.get(what)).sum();
            assert!(in_windows <= whole[what], "{in_windows} {whole:?}");
            // In the middle it does nothing else.
            for waits in &parts[4..8] {
                let all: u64 = waits.values().sum();
                assert_eq!(waits.get(what).copied().unwrap_or_default(), all, "{quantum} {waits:?}");
            }
        }
    }
}
