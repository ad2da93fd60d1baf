//! Polling loops: skipping their iterations has no visible effect.

use super::program::*;
use super::target::*;
use crate::whole::support::late::{BOTH, LOWER, RAISE_LATER, READY, TRANSFER, VALUE};
use crate::{Machine, RunReport};
use engine::tiers::sized;
use proptest::prelude::*;

/// Runs with and without skipping. Returns the common report, and the cycles that were skipped.
pub fn with_and_without_skipping(prepared: impl Fn() -> Machine) -> (RunReport, u64) {
    let once = |skip: bool| {
        let mut machine = prepared();
        machine.skip_polling(skip);
        let report = run_to_exit(&mut machine);
        (report, machine.registers(), machine.skipped()[0].0)
    };
    let ((skipping, registers, skipped), (running, same, nothing)) = (once(true), once(false));
    assert_eq!((&skipping, &registers), (&running, &same));
    assert_eq!(nothing, 0);
    (skipping, skipped)
}

fn with_and_without_skipping_of<T: Target>(at: u32, program: &[Step]) -> (RunReport, u64) {
    with_and_without_skipping(|| machine::<T>(at, program))
}

/// Most of `cycles` are skipped.
fn assert_most(skipped: u64, cycles: u64) {
    assert!(skipped > cycles - cycles / 25, "{skipped} of {cycles}");
}

/// Requests an event of the device after `cycles` cycles, by a register; then these steps, and the exit.
fn after<T: Target>(cycles: u32, register: u32, steps: &[Step]) -> Vec<Step> {
    let begin = [Begin, Set(A, T::DEVICE), Set(B, T::DATA), Set(C, cycles), Store(C, A, register)];
    [&begin[..], steps, &[Exit]].concat()
}

fn wait_for_event<T: Target>(cycles: u32, padding: usize) -> Vec<Step> {
    let iteration = [vec![Label(0), Load(D, A, VALUE)], vec![Nop; padding], vec![IfZero(D, 0)]];
    after::<T>(cycles, RAISE_LATER, &iteration.concat())
}

fn wait_until_ready<T: Target>(cycles: u32) -> Vec<Step> {
    after::<T>(cycles, READY, &[Label(0), Load(D, A, READY), IfZero(D, 0)])
}

/// Exchanges bytes of `byte_cycles` until the device is ready: in a function that keeps registers in cached memory.
fn exchange_until_ready<T: Target>(cycles: u32, byte_cycles: u32) -> Vec<Step> {
    let mut program = after::<T>(cycles, READY, &[Label(0), Call(1), IfZero(D, 0)]);
    program.extend([Label(1), Add(B, -16), Store(LINK, B, 12), Store(C, B, 8), Set(E, byte_cycles)]);
    program.extend([Store(E, A, TRANSFER), Label(2), Load(F, A, TRANSFER), IfNotZero(F, 2), Load(D, A, READY)]);
    program.extend([Load(LINK, B, 12), Add(B, 16), Return, Nop]);
    program
}

/// The same in a loop that sees the byte's end and the answer in one register.
fn exchange_in_one_register<T: Target>(cycles: u32, byte_cycles: u32) -> Vec<Step> {
    let iteration = [Label(0), Store(E, A, TRANSFER), Label(1), Load(D, A, BOTH), And(F, D, 1), IfNotZero(F, 1)];
    after::<T>(cycles, READY, &[&[Set(E, byte_cycles)], &iteration[..], &[IfZero(D, 0)]].concat())
}

pub fn a_wait_for_an_event_is_skipped<T: Target>() {
    let cycles = sized(300_000, 500_000);
    for at in T::CODE {
        // With iterations that are longer than a small cache, too.
        let events = [0, 60].map(|padding| wait_for_event::<T>(cycles, padding));
        for program in events.into_iter().chain([wait_until_ready::<T>(cycles)]) {
            let (report, skipped) = with_and_without_skipping_of::<T>(at, &program);
            assert_most(skipped, report.cores[0].cycles.0);
            assert!(report.cores[0].cycles.0 > u64::from(cycles));
            let reads = &report.counters.iter().find(|(name, _)| name == "late.reads").unwrap().1;
            assert!(*reads > u64::from(cycles) / 10_000, "{reads}");
        }
    }
}

pub fn an_exchange_of_bytes_is_skipped<T: Target>() {
    for at in T::CODE {
        for byte_cycles in [34, 150] {
            for program in [exchange_until_ready::<T>, exchange_in_one_register::<T>] {
                let (report, skipped) =
                    with_and_without_skipping_of::<T>(at, &program(sized(100_000, 200_000), byte_cycles));
                assert_most(skipped, report.cores[0].cycles.0);
            }
        }
    }
}

/// Waits for the device while it adds to a register, `limit` at first, until that is 0.
fn wait_with_a_limit<T: Target>(cycles: u32, limit: u32, add: i32) -> Vec<Step> {
    let iteration = [Label(0), Load(D, A, VALUE), IfNotZero(D, 1), Add(E, add), IfNotZero(E, 0), Label(1)];
    after::<T>(cycles, RAISE_LATER, &[&[Set(E, limit)], &iteration[..]].concat())
}

pub fn a_wait_with_a_limit_is_skipped<T: Target>() {
    let up = [Set(E, 0), Label(0), Load(D, A, VALUE), Add(E, 1), IfZero(D, 0)];
    let cycles = sized(100_000, 500_000);
    for at in T::CODE {
        for program in [wait_with_a_limit::<T>(cycles, u32::MAX / 2, -1), after::<T>(cycles, RAISE_LATER, &up)] {
            let (report, skipped) = with_and_without_skipping_of::<T>(at, &program);
            assert!(report.cores[0].cycles.0 > u64::from(cycles));
            assert_most(skipped, report.cores[0].cycles.0);
        }
    }
}

pub fn a_wait_ends_in_the_iteration_that_reaches_its_limit<T: Target>() {
    for (limit, add) in [(3000, -1), (6000, -2), (0_u32.wrapping_sub(3000), 1)] {
        let mut machine = machine::<T>(T::CODE[0], &wait_with_a_limit::<T>(5_000_000, limit, add));
        run_to_exit(&mut machine);
        assert_eq!(register::<T>(&machine, E), 0);
        let program = wait_with_a_limit::<T>(5_000_000, limit, add);
        let (report, skipped) = with_and_without_skipping_of::<T>(T::CODE[0], &program);
        let cycles = report.cores[0].cycles.0;
        assert!(cycles < 5_000_000 && skipped > cycles / 2, "{skipped} of {cycles}");
    }
}

pub fn a_loop_that_does_more_than_count_is_run<T: Target>() {
    let in_memory = [Load(E, B, 0), Add(E, 1), Store(E, B, 0), Set(E, 0)];
    let kept = [Add(E, 1), Store(E, B, 0)];
    let looked_at = [Add(E, 1), And(F, E, 1)];
    let multiplied = [Add(E, 1), Set(F, 3), Multiply(F, E)];
    for body in [&in_memory[..], &kept, &looked_at, &multiplied] {
        let iteration = [&[Set(E, 0), Label(0), Load(D, A, VALUE)], body, &[IfZero(D, 0)]].concat();
        let (_, skipped) = with_and_without_skipping_of::<T>(T::CODE[0], &after::<T>(50_000, RAISE_LATER, &iteration));
        assert_eq!(skipped, 0, "{body:?}");
    }
}

/// Skipped cycles of a wait of `cycles`. Each iteration writes the same to a word as the one before: beside
/// the loop's code, or over it.
fn wait_that_writes<T: Target>(cycles: u32, at: u32, word: u32) -> u64 {
    let iteration = [Jump(1), Label(2), Nop, Nop, Nop, Label(1), Load(D, A, VALUE), Load(C, B, 0), Store(C, B, 0)];
    let program = |word: u32| {
        let wait = [&[Set(B, word.next_multiple_of(4))], &iteration[..], &[IfZero(D, 1)]].concat();
        after::<T>(cycles, RAISE_LATER, &wait)
    };
    let word = assemble::<T>(at, &program(0)).1[&word];
    with_and_without_skipping_of::<T>(at, &program(word)).1
}

pub fn a_loop_that_writes_beside_its_code_is_skipped<T: Target>() {
    for at in &T::CODE[..2] {
        assert_most(wait_that_writes::<T>(500_000, *at, 2), 500_000);
    }
}

pub fn a_loop_that_writes_over_its_code_is_run<T: Target>() {
    for at in &T::CODE[..2] {
        let skipped = wait_that_writes::<T>(sized(50_000, 500_000), *at, 1);
        assert!(skipped == 0 || !T::DROPS_CODE, "{skipped}");
    }
}

pub fn a_watched_loop_keeps_its_stack<T: Target>() {
    let program = exchange_until_ready::<T>(50_000, 34);
    let (report, _) = with_and_without_skipping(|| {
        let Prepared { mut machine, labels } = prepared::<T>(T::CODE[0], &program);
        machine.watch_address("exchange", labels[&1]);
        machine
    });
    assert!(report.cores[0].sections[0].calls > 300);
}

pub fn interrupts_come_at_the_same_instruction<T: Target>() {
    // An interrupt counts up a word of memory after each `cycles` cycles; the program polls the device and the word
    // until it is 5.
    for cycles in [977, 10_000, 12_345] {
        let iteration = [Label(0), Load(D, A, READY), Load(D, B, 0), Add(D, -5), IfNotZero(D, 0)];
        let program = after::<T>(cycles, RAISE_LATER, &[&[Enable], &iteration[..]].concat());
        let count = [Load(E, B, 0), Add(E, 1), Store(E, B, 0)];
        let handler = [&[Store(A, A, LOWER)], &count[..], &[Store(C, A, RAISE_LATER), ReturnFromInterrupt]].concat();
        let (_, skipped) = with_and_without_skipping(|| handled::<T>(T::CODE[0], &program, &handler));
        // Counted once or more for each interrupt.
        assert!(cycles < 1000 || skipped > u64::from(3 * cycles / T::TAKEN), "{cycles}: {skipped}");
    }
}

pub fn skipping_changes_nothing<T: Target>() {
    let cases = (0_u32..100_000, 0_u32..200, 0_usize..60, prop::sample::select(T::CODE.to_vec()));
    proptest!(ProptestConfig::with_cases(sized(8, 32)), |((cycles, byte_cycles, padding, at) in cases)| {
        with_and_without_skipping_of::<T>(at, &wait_for_event::<T>(cycles, padding));
        with_and_without_skipping_of::<T>(at, &exchange_until_ready::<T>(cycles, byte_cycles));
        with_and_without_skipping_of::<T>(at, &exchange_in_one_register::<T>(cycles, byte_cycles));
        let (limit, add) = (byte_cycles * 16, if padding % 2 == 0 { -1 } else { 4 });
        with_and_without_skipping_of::<T>(at, &wait_with_a_limit::<T>(cycles, limit, add));
    });
}
