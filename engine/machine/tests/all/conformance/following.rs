//! Calls are counted once for all uses: functions that call, recur, jump to each other at their ends and across their
//! callers, and interrupts at any place. All counters of calls count the same calls, with the same times.

use super::program::*;
use super::target::*;
use crate::triggers::Action;
use crate::triggers::condition::Truth;
use crate::whole::support::late::{LOWER, RAISE_LATER};
use crate::{Machine, RunReport};
use engine::core::{CallReport, SectionReport};
use engine::observe::profile::PathKind;
use engine::tiers::sized;
use engine::time::Ps;
use proptest::prelude::*;
use std::collections::BTreeMap;

const CASES: u32 = if cfg!(target_arch = "x86_64") { 24 } else { 2 };
/// Labels of functions. A random function only calls later ones; the others are the program's own.
const DRAWN: u32 = 4;
const RECURS: u32 = 10;
const SETJMP: u32 = 11;
const LONGJMP: u32 = 12;
const THROWS: u32 = 13;
const THROWS_DEEP: u32 = 14;
const MAIN: u32 = 15;
/// In the handler's code.
const HANDLES: u32 = 20;
const HELPS: u32 = 21;
/// Labels of loops.
const LOOPS: u32 = 100;
/// Where the first stack pointer, what longjmp goes back to and the handler's link register are, from [`G`] on.
const FIRST_SP: u32 = 0;
const RETURNS: u32 = 16;
const HANDLER_LINK: u32 = 32;
const FRAME_BYTES: i32 = 16;

/// An action of a function.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Loops a number of times.
    Work(u32),
    /// Calls the random function that comes this many places later, if it exists.
    Calls(u32),
    /// Calls a function that calls itself, to this depth.
    Recurs(u32),
    /// An interrupt comes after this many cycles.
    Raise(u32),
    /// Calls a function that does not return to its caller.
    Throws,
}

/// A function, and the one that it jumps to at its end, as in [`Act::Calls`].
#[derive(Clone, Debug)]
struct Function {
    acts: Vec<Act>,
    tail: Option<u32>,
}

struct Writer {
    steps: Vec<Step>,
    loops: u32,
}

impl Writer {
    fn label(&mut self) -> u32 {
        self.loops += 1;
        LOOPS + self.loops
    }

    fn work(&mut self, times: u32) {
        let label = self.label();
        self.steps.extend([Set(B, times), Label(label), Add(B, -1), IfNotZero(B, label)]);
    }

    fn act(&mut self, act: Act, own: u32) {
        match act {
            Act::Work(times) => self.work(times),
            Act::Calls(after) => self.steps.extend(callee(own, after).map(Call)),
            Act::Recurs(depth) => self.steps.extend([Set(A, depth), Call(RECURS)]),
            Act::Raise(cycles) => self.steps.extend([Set(C, cycles), Store(C, F, RAISE_LATER)]),
            Act::Throws => {
                let done = self.label();
                self.steps.extend([Set(E, 1), Call(SETJMP), IfZero(E, done), Set(E, 0), Call(THROWS), Label(done)]);
            }
        }
    }

    /// A function with a frame, whose end is a return or a jump.
    fn function(&mut self, label: u32, body: impl FnOnce(&mut Writer), end: Step) {
        self.steps.extend([Label(label), Add(STACK, -FRAME_BYTES), Store(LINK, STACK, 0)]);
        body(self);
        self.steps.extend([Load(LINK, STACK, 0), Add(STACK, FRAME_BYTES), end, Nop, Nop]);
    }
}

/// The random function that comes `after` places later than another.
fn callee(own: u32, after: u32) -> Option<u32> {
    Some(own + 1 + after).filter(|label| *label <= DRAWN)
}

fn program<T: Target>(main: &[Act], functions: &[Function]) -> Vec<Step> {
    let mut writer = Writer { steps: Vec::new(), loops: 0 };
    let begin =
        [Label(MAIN), Begin, Set(F, T::DEVICE), Set(G, T::DATA), Set(A, T::DATA + 0x4000), Store(A, G, FIRST_SP)];
    writer.steps.extend(begin);
    writer.steps.extend([Load(STACK, G, FIRST_SP), Enable]);
    main.iter().for_each(|act| writer.act(*act, 0));
    // Late interrupts still come.
    writer.work(200);
    writer.steps.extend([Exit, Nop, Nop]);
    for (label, function) in (1..).zip(functions) {
        let end = function.tail.and_then(|after| callee(label, after)).map_or(Return, Jump);
        writer.function(label, |writer| function.acts.iter().for_each(|act| writer.act(*act, label)), end);
    }
    let deepest = writer.label();
    let recurs = [Add(A, -1), IfZero(A, deepest), Call(RECURS), Label(deepest)];
    writer.function(RECURS, |writer| writer.steps.extend(recurs), Return);
    writer.steps.extend([Label(SETJMP), Store(LINK, G, RETURNS), Store(STACK, G, RETURNS + 4), Return, Nop, Nop]);
    writer.steps.extend([Label(LONGJMP), Load(LINK, G, RETURNS), Load(STACK, G, RETURNS + 4), Return, Nop, Nop]);
    for (label, next) in [(THROWS, THROWS_DEEP), (THROWS_DEEP, LONGJMP)] {
        writer.function(label, |writer| writer.steps.extend([Add(D, 1), Call(next), Add(D, 1)]), Return);
    }
    writer.steps
}

/// It calls a function of its own.
fn handler() -> Vec<Step> {
    let enter = [Label(HANDLES), Store(LINK, G, HANDLER_LINK), Store(A, F, LOWER), Add(COUNT, 1), Call(HELPS)];
    let leave = [Load(LINK, G, HANDLER_LINK), Nop, Nop, Nop, Nop, ReturnFromInterrupt, Nop, Nop];
    [&enter[..], &leave, &[Label(HELPS), Add(D, 1), Add(D, 1), Return, Nop, Nop]].concat()
}

/// The number of calls of each function, except those of the handler.
fn expected(main: &[Act], functions: &[Function]) -> BTreeMap<u32, u64> {
    let mut counts = BTreeMap::from([(MAIN, 0)]);
    count(main, 0, functions, &mut counts);
    counts
}

fn count(acts: &[Act], own: u32, functions: &[Function], counts: &mut BTreeMap<u32, u64>) {
    let mut add = |label: u32, calls: u64| *counts.entry(label).or_default() += calls;
    let mut called = Vec::new();
    for act in acts {
        match act {
            Act::Calls(after) => called.extend(callee(own, *after)),
            Act::Recurs(depth) => add(RECURS, u64::from(*depth)),
            Act::Throws => [SETJMP, THROWS, THROWS_DEEP, LONGJMP].into_iter().for_each(|label| add(label, 1)),
            Act::Work(_) | Act::Raise(_) => {}
        }
    }
    if let Some(function) = own.checked_sub(1).and_then(|place| functions.get(place as usize)) {
        called.extend(function.tail.and_then(|after| callee(own, after)));
    }
    for label in called {
        *counts.entry(label).or_default() += 1;
        count(&functions[label as usize - 1].acts, label, functions, counts);
    }
}

fn time(call: &CallReport) -> u64 {
    call.stack().iter().map(|share| share.time.0).sum()
}

/// Calls from their begins to their ends, in the order of their begins.
fn spans(section: &SectionReport) -> Vec<(u64, u64)> {
    let kept = section.kept.as_ref().unwrap().longest.iter();
    let mut spans: Vec<(u64, u64)> = kept.map(|call| (call.begun.0, call.begun.0 + time(call))).collect();
    spans.sort_unstable();
    spans
}

/// The number of periods with an open call, and their total length.
fn under_way(spans: &[(u64, u64)]) -> (u64, u64) {
    let (mut count, mut held, mut until) = (0, 0, None);
    for (begin, end) in spans {
        match until {
            Some(before) if *begin <= before => {
                held += end.saturating_sub(before);
                until = Some(before.max(*end));
            }
            _ => {
                (count, held) = (count + 1, held + end - begin);
                until = Some(*end);
            }
        }
    }
    (count, held)
}

/// A machine in which all counters count calls of the program's functions.
fn watched<T: Target>(at: u32, program: &[Step], skip: bool) -> (Machine, BTreeMap<u32, u32>) {
    let mut machine = handled::<T>(at, program, &handler());
    machine.skip_polling(skip);
    let mut labels = assemble::<T>(at, program).1;
    labels.extend(assemble::<T>(T::local(HANDLER), &handler()).1);
    labels.retain(|label, _| *label < LOOPS);
    (machine, labels)
}

fn watch(machine: &mut Machine, labels: &BTreeMap<u32, u32>) {
    for (label, addr) in labels {
        machine.watch_function(&label.to_string(), 0, *addr, true);
        assert!(machine.keep_calls_at(&label.to_string(), 0, *addr, 10_000));
    }
}

/// By function: calls, and what they took in cycles.
fn profiled(machine: &mut Machine, labels: &BTreeMap<u32, u32>) -> BTreeMap<u32, (u64, u64)> {
    let profiles = machine.profiles();
    let mut sums: BTreeMap<u32, (u64, u64)> = labels.keys().map(|label| (*label, (0, 0))).collect();
    for path in profiles[0].paths.iter().filter(|path| path.kind == PathKind::Function) {
        let label = labels.iter().find(|(_, addr)| Some(**addr) == path.address).map(|(label, _)| *label);
        if let Some(sum) = label.and_then(|label| sums.get_mut(&label)) {
            *sum = (sum.0 + path.calls, sum.1 + path.elapsed.0);
        }
    }
    sums
}

fn sections(report: &RunReport) -> BTreeMap<u32, (u64, u64)> {
    let sections = report.cores[0].sections.iter();
    let cycles = |section: &SectionReport| section.causes().iter().map(|(_, cycles)| cycles.0).sum();
    sections.map(|section| (section.name.parse().unwrap(), (section.calls, cycles(section)))).collect()
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        (1..30u32).prop_map(Act::Work),
        (0..DRAWN).prop_map(Act::Calls),
        (1..5u32).prop_map(Act::Recurs),
        (1..400u32).prop_map(Act::Raise),
    ];
    prop::collection::vec(act, 0..4)
}

fn functions() -> impl Strategy<Value = Vec<Function>> {
    let function = (acts(), prop::option::of(0..DRAWN)).prop_map(|(acts, tail)| Function { acts, tail });
    prop::collection::vec(function, DRAWN as usize)
}

fn main_acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (0..DRAWN).prop_map(Act::Calls),
        1 => Just(Act::Throws),
        1 => (1..5u32).prop_map(Act::Recurs),
        2 => (1..400u32).prop_map(Act::Raise),
    ];
    prop::collection::vec(act, 1..8)
}

pub fn whatever_counts_calls_counts_the_same<T: Target>() {
    let how = (prop::sample::select(T::CODE.to_vec()), any::<bool>(), any::<u32>());
    let cases = (main_acts(), functions(), how);
    let config = ProptestConfig::with_cases(sized(CASES.div_ceil(8), CASES));
    proptest!(config, |((main, functions, (at, skip, chosen)) in cases)| {
        let program = program::<T>(&main, &functions);
        let plain = run_to_exit(&mut watched::<T>(at, &program, skip).0);
        let (mut machine, labels) = watched::<T>(at, &program, skip);
        watch(&mut machine, &labels);
        machine.record_waits();
        for (label, addr) in &labels {
            machine.add_trigger(&label.to_string(), Truth::InCall(0, *addr), Action::Count);
        }
        machine.profile(&[], false).unwrap();
        let report = run_to_exit(&mut machine);
        prop_assert_eq!((report.elapsed, report.cores[0].causes()), (plain.elapsed, plain.cores[0].causes()));
        // The calls that the program makes, and one of the handler an interrupt.
        let taken = u64::from(register::<T>(&machine, COUNT));
        let mut calls = expected(&main, &functions);
        calls.extend([(HANDLES, taken), (HELPS, taken)]);
        let counted = sections(&report);
        for (label, (count, _)) in &counted {
            prop_assert_eq!((label, count), (label, calls.get(label).unwrap_or(&0)));
        }
        prop_assert_eq!(&profiled(&mut machine, &labels), &counted);
        for (section, trigger) in report.cores[0].sections.iter().zip(machine.triggers()) {
            let spans = spans(section);
            let (count, held) = (trigger.seen.count, trigger.seen.held_until(report.elapsed));
            if section.name == MAIN.to_string() {
                prop_assert_eq!((count, held), (1, report.elapsed));
                continue;
            }
            prop_assert_eq!(spans.len() as u64, section.calls);
            let (times, held_ps) = under_way(&spans);
            prop_assert_eq!((&section.name, count, held), (&section.name, times, Ps(held_ps)));
            let of = report.windows.iter().filter(|window| window.section == section.name);
            let mut windows: Vec<(u64, u64)> = of.map(|window| (window.begin.0, window.end.0)).collect();
            windows.sort_unstable();
            // Windows of recursive calls are those of calls that end in turn: each has one of the begins and ends.
            prop_assert_eq!(windows.len() as u64, section.calls);
            if section.name != RECURS.to_string() {
                prop_assert_eq!(&windows, &spans);
            }
        }
        // Other requests change none of that.
        let (mut alone, labels) = watched::<T>(at, &program, !skip);
        watch(&mut alone, &labels);
        let alone = run_to_exit(&mut alone);
        prop_assert_eq!(&sections(&alone), &counted);
        // Nor do requests for other functions.
        let (mut some, mut labels) = watched::<T>(at, &program, skip);
        labels.retain(|label, _| chosen >> label & 1 != 0);
        watch(&mut some, &labels);
        let some = run_to_exit(&mut some);
        prop_assert_eq!(some.elapsed, report.elapsed);
        for (label, of) in sections(&some) {
            prop_assert_eq!((label, of), (label, counted[&label]));
        }
    });
}
