//! One result for all ways to run: in one go, in slices, instruction by instruction, and with output handed over at any
//! time.

use super::program::*;
use super::target::*;
use crate::whole::support::late::{LOWER, RAISE_LATER, VALUE};
use crate::whole::support::printer::add_printer;
use crate::whole::support::snapshots;
use crate::{Machine, Outcome, RunReport};
use engine::observe::output::HandOver;
use engine::tiers::sized;
use engine::time::{Cycles, Ps};

/// A program with everything that takes time, and an interrupt after a number of cycles.
fn everything<T: Target>(at: u32, interrupt_after: u32) -> Machine {
    everything_after::<T>(&[Begin], at, interrupt_after)
}

fn everything_after<T: Target>(begin: &[Step], at: u32, interrupt_after: u32) -> Machine {
    let set = [Set(A, T::DEVICE), Set(B, T::DATA), Set(C, 20), Set(D, interrupt_after)];
    let mut program = [begin, &set[..], &[Store(D, A, RAISE_LATER), Enable, Label(0)]].concat();
    program.extend([Load(D, B, 0), AddTo(D, C), Store(D, B, 64), Load(E, B, 128), Multiply(E, D)]);
    program.extend((0..T::OWN.len()).map(Own));
    program.extend([Store(E, A, VALUE), Load(F, A, VALUE), Call(1), Add(B, 4), Add(C, -1), IfNotZero(C, 0), Exit]);
    program.extend([Label(1), Add(G, 3), IfZero(E, 2), Multiply(G, G), Label(2), Return]);
    // The line is down before the handler ends.
    let handler = [Store(A, A, LOWER), Add(COUNT, 1), Nop, Nop, Nop, Nop, ReturnFromInterrupt];
    handled::<T>(at, &program, &handler)
}

pub fn stepping_and_running_come_to_the_same<T: Target>() {
    let begins: &[&[Step]] = if T::CACHES_ARE_OFF { &[&[Begin], &[]] } else { &[&[Begin]] };
    for (at, begin) in T::CODE.into_iter().flat_map(|at| begins.iter().map(move |begin| (at, begin))) {
        for interrupt_after in (1..200).step_by(sized(46, 23)).chain([777]) {
            let mut running = everything_after::<T>(begin, at, interrupt_after);
            let ran = run_to_exit(&mut running);
            assert_eq!(register::<T>(&running, COUNT), T::TAKEN, "from {at:#x}");
            let mut stepping = everything_after::<T>(begin, at, interrupt_after);
            assert_eq!(step_to_exit(&mut stepping), ran, "from {at:#x}, interrupted after {interrupt_after}");
            assert_eq!(stepping.registers(), running.registers());
        }
    }
}

pub fn both_cores_come_to_the_same<T: Target, U: Target>() {
    for at in T::CODE {
        let (mut one, mut other) = (everything::<T>(at, 777), everything::<U>(at, 777));
        assert_eq!(run_to_exit(&mut one), run_to_exit(&mut other));
        assert_eq!(one.registers(), other.registers());
    }
}

pub fn running_in_slices_comes_to_the_same<T: Target>() {
    let mut whole = everything::<T>(T::CODE[1], 777);
    let ran = run_to_exit(&mut whole);
    for slice_ns in [70, 1000] {
        let mut machine = everything::<T>(T::CODE[1], 777);
        let slices = (1..).map(|n| Ps::from_ns(n * slice_ns));
        let ended = slices.map(|limit| machine.run(limit, |_| true)).find(|report| report.outcome == Outcome::Exit(0));
        assert_eq!(ended.as_ref(), Some(&ran), "slices of {slice_ns} ns");
    }
}

pub fn snapshots_change_nothing<T: Target>() {
    for (number, at) in T::CODE.into_iter().enumerate() {
        let build = || {
            let mut machine = everything::<T>(at, 777);
            machine.record_waits();
            if number % 2 == 0 {
                machine.profile(&[], true).unwrap();
            }
            machine
        };
        let every = sized(4, 1);
        let times = (0..40).step_by(every).map(|n| Ps(n * (97_000 + 13_331 * n)));
        let seen = snapshots::change_nothing(build, times);
        assert_eq!(seen.report.map(|report| report.outcome), Some(Outcome::Exit(0)));
    }
}

pub fn each_instruction_counts_and_takes_its_cycles<T: Target>() {
    let counts = |additions: usize| {
        let mut machine = machine::<T>(T::CODE[0], &[vec![Add(A, 3); additions], vec![Exit]].concat());
        let report = run_to_exit(&mut machine);
        assert_eq!(register::<T>(&machine, A), 3 * additions as u32);
        (report.cores[0].instructions, report.cores[0].cycles.0)
    };
    let (none, some) = (counts(4), counts(24));
    assert_eq!((some.0 - none.0, some.1 - none.1), (20, 20 * T::ADD_CYCLES));
}

pub fn a_program_that_never_ends_meets_the_limit<T: Target>() {
    let report = machine::<T>(T::CODE[0], &[Label(0), Jump(0)]).run(Ps::from_us(100), |_| true);
    let pc = T::CODE[0];
    let Outcome::Limit(text) = &report.outcome else { panic!("{:?}", report.outcome) };
    let name = &report.cores[0].name;
    let reported = format!("the limit of 100.000 us simulated time is reached; {name} was at pc {pc:#010x}");
    assert!(text.starts_with(&reported), "{text}");
    assert!(report.elapsed >= Ps::from_us(100) && report.elapsed < Ps::from_us(101), "{}", report.elapsed);
}

pub fn a_program_ends_with_its_status<T: Target>() {
    for (end, status) in [(Exit, 0), (Fail, 1)] {
        let report = run(&mut machine::<T>(T::CODE[0], &[Nop, end, Nop]));
        assert_eq!(report.outcome, Outcome::Exit(status));
    }
}

pub fn an_access_to_nothing_says_what_and_where<T: Target>() {
    let (reported, addr) = T::NOWHERE;
    let broken = T::physical(T::DEVICE) + 12;
    for (access, addr, reported, what) in [
        (Load(B, A, 8), addr, reported + 8, "4-byte load"),
        (Store(B, A, 4), addr, reported + 4, "4-byte store"),
        (Load(B, A, 12), T::DEVICE, broken, "4-byte load"),
    ] {
        let Prepared { mut machine, labels } = prepared::<T>(T::CODE[0], &[Set(A, addr), Nop, Label(0), access, Nop]);
        let report = run(&mut machine);
        let (text, name) = (fault_text(&report), &report.cores[0].name);
        assert!(text.starts_with(&format!("{name}: pc {:#010x}: ", labels[&0])), "{text}");
        let why = if reported == broken { "late answered with an error" } else { "nothing is mapped there" };
        assert!(text.contains(&format!("{what} at {reported:#010x}: {why}")), "{text}");
        // No file has this code: the message has the instruction that ran.
        let (_, instruction) = text.split_once("; the instruction: ").expect(text);
        assert!(instruction.starts_with(if what.ends_with("load") { 'l' } else { 's' }), "{text}");
    }
}

/// The least number of prints of a program.
pub const ITERATIONS: u32 = 300;
/// At once, soon, only by bytes, and at the end of a slice.
pub const HAND_OVERS: [(usize, u64); 5] = [(1, 1), (1 << 20, 7), (1 << 20, 1000), (10, 1 << 40), (1 << 20, 1 << 40)];

pub fn what_is_printed_is_handed_over_at_any_time<T: Target>() {
    // A character by semihosting, one by a device at once and one by its event later, and some iterations between.
    let program = [
        [Set(A, T::DEVICE + 0x100), Set(C, ITERATIONS), Label(0), Print(TEXT), Store(C, A, 0), Set(D, 20)],
        [Label(1), Add(D, -1), IfNotZero(D, 1), Add(C, -1), IfNotZero(C, 0), Exit],
    ];
    let build = || {
        let mut machine = machine::<T>(T::CODE[0], &program.concat());
        assert!(machine.bus().poke(TEXT, b"c"));
        add_printer(&mut machine, T::physical(T::DEVICE) + 0x100);
        machine
    };
    let (_, text) = run_and_compare(build);
    let iteration: &[u8] = if T::PRINTS { b"c!" } else { b"!" };
    assert_eq!(text.console, iteration.repeat(ITERATIONS as usize));
}

/// The output, and the number of pieces.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Text {
    pub console: Vec<u8>,
    stream: Vec<u8>,
    pieces: usize,
}

fn run_handing_over(machine: &mut Machine, (bytes, cycles): (usize, u64)) -> (RunReport, Vec<u32>, Text) {
    machine.set_hand_over(HandOver { bytes, cycles: Cycles(cycles) });
    let mut text = Text::default();
    let report = machine.run(Ps::from_us(10_000), |printed| {
        text.console.extend_from_slice(&printed.console);
        printed.streams.iter().for_each(|(_, bytes)| text.stream.extend_from_slice(bytes));
        text.pieces += usize::from(!printed.console.is_empty() || !printed.streams.is_empty());
        true
    });
    (report, machine.registers(), text)
}

/// Runs the program for each hand-over, and from snapshots, and compares the results. Returns what was printed.
pub fn run_and_compare(build: impl Fn() -> Machine) -> (RunReport, Text) {
    let (first, registers, text) = run_handing_over(&mut build(), HAND_OVERS[0]);
    assert_eq!(first.outcome, Outcome::Exit(0));
    let mut pieces = vec![text.pieces];
    for hand_over in &HAND_OVERS[1..] {
        let (report, last, again) = run_handing_over(&mut build(), *hand_over);
        assert!(report == first, "{hand_over:?}: {report:#?}\n{first:#?}");
        assert_eq!((last, &again.console, &again.stream), (registers.clone(), &text.console, &text.stream));
        pieces.push(again.pieces);
    }
    let elapsed = first.elapsed.0;
    let seen = snapshots::change_nothing(&build, [elapsed / 13, elapsed / 5, elapsed / 11 * 10].map(Ps));
    assert_eq!((seen.console, seen.streams), (text.console.clone(), text.stream.clone()));
    assert!(pieces[0] > ITERATIONS as usize && pieces[1] > pieces[2] && pieces[4] == 1, "{pieces:?}");
    assert!(pieces[3] >= (text.console.len() + text.stream.len()) / 12, "{pieces:?}");
    (first, text)
}
