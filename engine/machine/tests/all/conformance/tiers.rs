//! Compiled code changes no result: random programs give the same results interpreted and compiled, after any number of
//! runs, with or without waiting for the compiler, and with any size of the code memory.

use super::program::*;
use super::target::*;
use crate::whole::support::late::{CYCLE, LOWER, RAISE_LATER, VALUE};
use crate::whole::support::rig::assert_sums;
use crate::{Machine, Outcome, RunReport};
use engine::core::{Compiled, Compiling};
use engine::memory::ram::Ram;
use engine::tiers::sized;
use engine::time::Ps;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::thread;

/// Few where the tests themselves are emulated, as they are for aarch64: new code takes an emulator long.
const CASES: u32 = if cfg!(target_arch = "x86_64") { 24 } else { 3 };
const FUNCTIONS: u32 = 3;

fn config() -> ProptestConfig {
    ProptestConfig::with_cases(sized(CASES.div_ceil(4), CASES))
}

/// Labels: of the loop, then those of the functions, then those within what a program does.
const ROUND: u32 = 0;
const FUNCTION: u32 = 1;
const WITHIN: u32 = 100;
/// Registers for results. A has the address of the device, B that of data, C counts rounds.
const RESULTS: [u32; 4] = [D, E, F, G];
const DATA_BYTES: usize = 1024;
/// The distance of words that share a set of a cache: there are more of its lines than it has ways.
const WAY_BYTES: u32 = 256;

/// What programs do.
#[derive(Clone, Copy, Debug)]
enum Act {
    Do(Step),
    /// Skips an addition if a register is 0.
    Skip(u32, u32),
    /// A number of iterations.
    Loop(u32),
    /// Loads from the first three lines of a set, and stores to them.
    InTurn([u32; 8]),
    /// An interrupt after this many cycles.
    Interrupt(u32),
    /// Calls a function, from the loop.
    Call(u32),
}

fn acts<T: Target>() -> impl Strategy<Value = Vec<Act>> {
    let register = || prop::sample::select(RESULTS.to_vec());
    let word = || {
        let near = (0..DATA_BYTES as u32 / WAY_BYTES, 0..16u32).prop_map(|(way, word)| WAY_BYTES * way + 4 * word);
        prop_oneof![3 => near, 1 => (0..DATA_BYTES as u32 / 4).prop_map(|word| 4 * word)]
    };
    let act = prop_oneof![
        4 => (register(), -100..100).prop_map(|(rd, n)| Act::Do(Add(rd, n))),
        4 => (register(), register()).prop_map(|(rd, rs)| Act::Do(AddTo(rd, rs))),
        2 => (register(), register()).prop_map(|(rd, rs)| Act::Do(Multiply(rd, rs))),
        2 => (register(), register(), 0..256u32).prop_map(|(rd, rs, bits)| Act::Do(And(rd, rs, bits))),
        4 => (register(), word()).prop_map(|(rd, offset)| Act::Do(Load(rd, B, offset))),
        4 => (register(), word()).prop_map(|(rs, offset)| Act::Do(Store(rs, B, offset))),
        1 => (register(), prop::sample::select(vec![VALUE, CYCLE])).prop_map(|(rd, from)| Act::Do(Load(rd, A, from))),
        1 => register().prop_map(|rs| Act::Do(Store(rs, A, VALUE))),
        1 => (register(), word()).prop_map(|(rd, offset)| Act::Do(LoadAfterJump(rd, B, offset))),
        1 => register().prop_map(|rd| Act::Do(LoadAfterJump(rd, A, VALUE))),
        1 => register().prop_map(|rs| Act::Do(StoreAfterJump(rs, A, VALUE))),
        2 => (0..T::OWN.len()).prop_map(|number| Act::Do(Own(number))),
        3 => (register(), register()).prop_map(|(tested, added)| Act::Skip(tested, added)),
        2 => (1..5u32).prop_map(Act::Loop),
        2 => prop::array::uniform8(0..6u32).prop_map(Act::InTurn),
        1 => (1..900u32).prop_map(Act::Interrupt),
        3 => (0..FUNCTIONS).prop_map(Act::Call),
    ];
    prop::collection::vec(act, 0..16)
}

/// An action's steps; `label` is an unused one.
fn steps(act: Act, label: u32, in_loop: bool) -> Vec<Step> {
    match act {
        Act::Do(step) => vec![step],
        Act::Skip(tested, added) => vec![IfZero(tested, label), Add(added, 7), Label(label)],
        Act::Loop(iterations) => {
            vec![Set(F, iterations), Label(label), AddTo(D, F), Load(G, B, 8), Add(F, -1), IfNotZero(F, label)]
        }
        Act::InTurn(lines) => {
            let access = |n: u32| if n < 3 { Load(G, B, n * WAY_BYTES) } else { Store(D, B, (n - 3) * WAY_BYTES + 4) };
            lines.map(access).to_vec()
        }
        Act::Interrupt(after) => vec![Set(E, after), Store(E, A, RAISE_LATER)],
        Act::Call(function) if in_loop => vec![Call(FUNCTION + function)],
        Act::Call(_) => vec![AddTo(D, G)],
    }
}

/// The actions of the loop and of each function; the number of rounds of the loop, or `None` for an endless loop. The
/// program begins with a loop that runs undisturbed, which any core compiles.
fn machine_of<T: Target>(at: u32, acts: &[Vec<Act>], rounds: Option<u32>, how: Compiling) -> Machine {
    let mut label = WITHIN;
    let mut steps_of = |acts: &[Act], in_loop| {
        let steps = acts.iter().flat_map(|act| {
            label += 1;
            steps(*act, label, in_loop)
        });
        steps.collect::<Vec<_>>()
    };
    let mut program = vec![Begin, Set(A, T::DEVICE), Set(B, T::DATA), Set(C, rounds.unwrap_or(1)), Enable];
    program.extend(RESULTS.map(|register| Set(register, register)));
    program.extend([Label(ROUND), Set(F, 50), Label(WITHIN), AddTo(D, F), Add(F, -1), IfNotZero(F, WITHIN)]);
    program.extend(steps_of(&acts[0], true));
    program.extend(rounds.map(|_| Add(C, -1)));
    program.extend([IfNotZero(C, ROUND), Exit]);
    for (function, acts) in (FUNCTION..).zip(&acts[1..]) {
        program.push(Label(function));
        program.extend(steps_of(acts, false));
        program.push(Return);
    }
    // The line is down before the handler ends.
    let handler = [Store(A, A, LOWER), Add(COUNT, 1), Nop, Nop, Nop, Nop, ReturnFromInterrupt];
    let mut machine = handled::<T>(at, &program, &handler);
    machine.compile(how);
    machine
}

const INTERPRETED: Compiling = Compiling::after(0);

fn ways() -> impl Strategy<Value = Compiling> {
    let little = (16usize << 10..96 << 10).prop_map(|bytes| Compiling::LONGEST_BYTES + bytes);
    let memory_bytes = prop_oneof![Just(Compiling::MEMORY_BYTES), little];
    (1..40u16, any::<bool>(), memory_bytes).prop_map(|(after, waits, memory_bytes)| Compiling {
        after,
        waits,
        memory_bytes,
    })
}

/// All visible state at the end.
fn left<T: Target>(machine: &mut Machine) -> (Vec<u32>, Vec<u8>) {
    let mut data = vec![0; DATA_BYTES];
    assert!(machine.bus().peek(T::physical(T::DATA), &mut data));
    (machine.registers(), data)
}

/// The sum over a machine's cores.
fn compiled(machine: &Machine) -> Compiled {
    machine.compiled().into_iter().fold(Compiled::default(), |sum, core| Compiled {
        regions: sum.regions + core.regions,
        refused: sum.refused + core.refused,
        times_full: sum.times_full + core.times_full,
    })
}

pub fn whatever_is_compiled_comes_to_the_same<T: Target>() {
    let acts = prop::collection::vec(acts::<T>(), 1 + FUNCTIONS as usize);
    let cases = (acts, prop::sample::select(T::CODE.to_vec()), 2..60u32, ways());
    proptest!(config(), |((acts, at, rounds, way) in cases)| {
        let mut interpreted = machine_of::<T>(at, &acts, Some(rounds), INTERPRETED);
        let expected = run_to_exit(&mut interpreted);
        for how in [Compiling::after(1), way] {
            let mut machine = machine_of::<T>(at, &acts, Some(rounds), how);
            prop_assert_eq!(&run_to_exit(&mut machine), &expected);
            prop_assert_eq!(left::<T>(&mut machine), left::<T>(&mut interpreted));
            prop_assert_eq!(compiled(&machine).refused, 0);
        }
        prop_assert_eq!(compiled(&interpreted), Compiled::default());
    });
    assert_eq!(any_is_compiled::<T>(), T::COMPILES);
}

/// True if code is compiled in any of some programs, always the same ones: of a few random ones, none may be.
fn any_is_compiled<T: Target>() -> bool {
    let acts = prop::collection::vec(acts::<T>(), 1 + FUNCTIONS as usize);
    let mut runner = TestRunner::deterministic();
    (0..4).any(|_| {
        let acts = acts.new_tree(&mut runner).expect("a program").current();
        T::CODE.into_iter().any(|at| {
            let mut machine = machine_of::<T>(at, &acts, Some(60), Compiling::after(1));
            run_to_exit(&mut machine);
            compiled(&machine).regions > 0
        })
    })
}

/// Accesses without a shortcut take the same time: shared memory has no shortcuts.
pub fn shortcuts_change_nothing<T: Target>() {
    let acts = prop::collection::vec(acts::<T>(), 1 + FUNCTIONS as usize);
    let cases = (acts, prop::sample::select(T::CODE.to_vec()), 2..60u32, prop_oneof![Just(INTERPRETED), ways()]);
    proptest!(config(), |((acts, at, rounds, how) in cases)| {
        let mut slow = machine_of::<T>(at, &acts, Some(rounds), INTERPRETED);
        slow.bus().rams.iter_mut().for_each(Ram::share);
        let mut quick = machine_of::<T>(at, &acts, Some(rounds), how);
        prop_assert_eq!(run_to_exit(&mut quick), run_to_exit(&mut slow));
        prop_assert_eq!(left::<T>(&mut quick), left::<T>(&mut slow));
    });
}

/// Simulated time of a slice, and the most slices: some seconds of the host's time.
const SLICE: Ps = Ps::from_us(50);
const MOST_SLICES: u64 = 100_000;

/// Runs to a time before the end of the program.
fn run_until(machine: &mut Machine, until: Ps) -> RunReport {
    let report = machine.run(until, |_| true);
    assert!(matches!(report.outcome, Outcome::Limit(_)), "{:?}", report.outcome);
    report
}

pub fn what_is_compiled_beside_the_run_changes_nothing<T: Target>() {
    let acts = prop::collection::vec(acts::<T>(), 1 + FUNCTIONS as usize);
    let config = ProptestConfig {
        max_shrink_iters: 100,
        ..ProptestConfig::with_cases(sized(CASES.div_ceil(8), CASES.div_ceil(4)))
    };
    proptest!(config, |((acts, after) in (acts, 1..40u16))| {
        let beside = Compiling { waits: false, ..Compiling::after(after) };
        let mut machine = machine_of::<T>(T::COMPILED, &acts, None, beside);
        let ends = (1..=MOST_SLICES).find(|slice| {
            run_until(&mut machine, Ps(slice * SLICE.0));
            thread::yield_now();
            compiled(&machine).regions > 0
        });
        prop_assert!(ends.is_some(), "nothing was compiled");
        let until = Ps((ends.unwrap() + 10) * SLICE.0);
        let mut interpreted = machine_of::<T>(T::COMPILED, &acts, None, INTERPRETED);
        let report = run_until(&mut interpreted, until);
        assert_sums(&report);
        prop_assert_eq!(run_until(&mut machine, until), report);
        prop_assert_eq!(left::<T>(&mut machine), left::<T>(&mut interpreted));
    });
}

pub fn slices_end_anywhere_in_blocks_and_change_nothing<T: Target>() {
    let acts = prop::collection::vec(acts::<T>(), 1 + FUNCTIONS as usize);
    let cases = (acts, prop::sample::select(T::CODE.to_vec()), 2..12u32, 1..40u16, 7..900u64);
    proptest!(config(), |((acts, at, rounds, after, slice_ns) in cases)| {
        let mut interpreted = machine_of::<T>(at, &acts, Some(rounds), INTERPRETED);
        let expected = run_to_exit(&mut interpreted);
        for how in [INTERPRETED, Compiling::after(after)] {
            let mut machine = machine_of::<T>(at, &acts, Some(rounds), how);
            let mut slices = (1..).map(|n| machine.run(Ps::from_ns(n * slice_ns), |_| true));
            let ended = slices.find(|report| {
                assert_sums(report);
                !matches!(report.outcome, Outcome::Limit(_))
            });
            drop(slices);
            prop_assert_eq!(ended.as_ref(), Some(&expected));
            prop_assert_eq!(left::<T>(&mut machine), left::<T>(&mut interpreted));
        }
    });
}

/// Different functions, which are more code than there is memory for.
fn many_functions() -> Vec<Vec<Act>> {
    let function = |number: i32| {
        let (one, other) = (RESULTS[number as usize % 4], RESULTS[number as usize / 4 % 4]);
        let word = 4 * number as u32;
        let begin = [Add(one, number), Load(other, B, word), AddTo(other, one), Multiply(D, other), And(E, D, 0x5a)];
        let acts = begin.into_iter().map(Act::Do).chain([Act::Skip(E, G), Act::Loop(2), Act::Do(Store(G, B, word))]);
        acts.collect::<Vec<_>>()
    };
    let calls = (0..30).map(Act::Call).collect();
    std::iter::once(calls).chain((0..30).map(function)).collect()
}

pub fn code_is_compiled_again_when_its_memory_was_full<T: Target>() {
    let (acts, at, rounds) = (many_functions(), T::COMPILED, Some(sized(500, 900)));
    let run = |machine: &mut Machine| {
        let report = machine.run(Ps::from_us(200_000), |_| true);
        assert_eq!(report.outcome, Outcome::Exit(0));
        report
    };
    let mut interpreted = machine_of::<T>(at, &acts, rounds, INTERPRETED);
    let expected = run(&mut interpreted);
    let mut roomy = machine_of::<T>(at, &acts, rounds, Compiling::after(2));
    assert_eq!(run(&mut roomy), expected);
    let needed = compiled(&roomy);
    assert!(needed.regions > 0 && needed.times_full == 0, "{needed:?}");
    for waits in [true, false] {
        let how = Compiling { after: 2, waits, memory_bytes: Compiling::LONGEST_BYTES + (24 << 10) };
        let mut narrow = machine_of::<T>(at, &acts, rounds, how);
        assert_eq!(run(&mut narrow), expected);
        assert_eq!(left::<T>(&mut narrow), left::<T>(&mut interpreted));
        let found = compiled(&narrow);
        // The amount of code that is compiled in parallel depends on the host.
        assert!(!waits || found.times_full > 2 && found.regions > needed.regions, "{found:?} {needed:?}");
        assert_eq!(found.refused, 0);
    }
}
