//! Code that is written while it runs, and code that runs for the first time.

use super::program::*;
use super::target::*;
use crate::whole::support::random;
use engine::tiers::sized;

/// Local memory, which no cache keeps.
fn local<T: Target>() -> u32 {
    T::CODE[0]
}

/// The first word of an encoded step.
fn word<T: Target>(step: Step) -> u32 {
    let bytes = T::encode(step, 0, 0);
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The address of a label, into a register: known once the program before it is.
fn with_address<T: Target>(label: u32, program: impl Fn(u32) -> Vec<Step>) -> Prepared {
    let at = assemble::<T>(local::<T>(), &program(0)).1[&label];
    prepared::<T>(local::<T>(), &program(at))
}

pub fn code_that_is_written_runs_as_written<T: Target>() {
    // A function's instruction is replaced between two calls.
    let Prepared { mut machine, .. } = with_address::<T>(1, |function| {
        let replaces = [Set(B, function), Set(C, word::<T>(Add(A, 100))), Store(C, B, 0)];
        [&[Begin, Call(1)], &replaces[..], &[Call(1), Exit, Label(1), Add(A, 7), Return, Nop]].concat()
    });
    run_to_exit(&mut machine);
    assert_eq!(register::<T>(&machine, A), 107);
}

pub fn a_store_to_the_next_instructions_takes_effect<T: Target>() {
    // Twice, so that what follows the store has been decoded the second time.
    let Prepared { mut machine, .. } = with_address::<T>(1, |next| {
        let iteration = [Label(0), Store(C, B, 0), Nop, Nop, Nop, Nop, Label(1), Add(A, 1), AddTo(C, D), Add(E, -1)];
        let new = word::<T>(Add(A, 2));
        let once_more = word::<T>(Add(A, 3)).wrapping_sub(new);
        let begin = [Begin, Set(B, next), Set(C, new), Set(D, once_more), Set(E, 2)];
        [&begin[..], &iteration, &[IfNotZero(E, 0), Exit]].concat()
    });
    run_to_exit(&mut machine);
    assert_eq!(register::<T>(&machine, A), 2 + 3);
}

pub fn what_was_data_runs_as_code<T: Target>() {
    // The function's word is written before anything there is decoded, so that stores to it are free by then; after the
    // first call they may not be.
    let Prepared { mut machine, .. } = with_address::<T>(1, |function| {
        let (first, second) = (Set(C, word::<T>(Add(A, 2))), Set(D, word::<T>(Add(A, 30))));
        let stores = [Store(C, B, 0), Store(D, B, 0), Store(C, B, 0), Call(1), Store(D, B, 0), Call(1), Exit];
        [&[Begin, Set(B, function), first, second], &stores[..], &[Label(1), Nop, Nop, Nop, Nop, Return, Nop]].concat()
    });
    run_to_exit(&mut machine);
    assert_eq!(register::<T>(&machine, A), 32);
}

/// Steps of the code that is swept.
pub const SWEPT: usize = 5000;

/// Additions and multiplications, a set's own instructions, and now and then a short loop, or a branch over a few
/// instructions.
pub fn sweep<T: Target>() -> Vec<Step> {
    let mut state = 7;
    let mut program = vec![Begin, Set(A, 3), Set(B, 5), Set(G, 1)];
    for label in 0..SWEPT as u32 {
        match random::below(&mut state, 50) {
            0 => program.extend([Set(F, 3), Label(label), Add(F, -1), IfNotZero(F, label)]),
            1 => program.extend([IfNotZero(G, label), Add(A, 1), AddTo(B, A), Label(label)]),
            2 => program.extend([IfZero(G, label), Add(A, 1), Label(label)]),
            3..8 => program.push(Multiply(A, B)),
            8..16 => program.push(Own(random::below(&mut state, T::OWN.len() as u32) as usize)),
            n => program.push(AddTo(n % 5, n % 3)),
        }
    }
    program.push(Exit);
    program
}

pub fn cold_code_takes_the_time_that_it_takes_in_steps<T: Target>() {
    let program = sweep::<T>();
    for at in [T::CODE[1] + 8, T::CODE[1], T::CODE[2]].into_iter().take(sized(1, 3)) {
        let ran = run_to_exit(&mut machine::<T>(at, &program));
        assert!(ran.cores[0].instructions as usize > SWEPT);
        assert_eq!(step_to_exit(&mut machine::<T>(at, &program)), ran, "from {at:#x}");
    }
}
