//! Random programs that write into their own code and next to it: the results are equal in one go and in steps.

use super::program::*;
use super::target::*;
use crate::Machine;
use engine::tiers::sized;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Functions of a program. Each has an addition that may be replaced, and is followed by a word of data.
const FUNCTIONS: u32 = 3;
/// Labels: of the program's loop, then those of each function, its addition, its data.
const ROUND: u32 = 0;
const FUNCTION: u32 = 10;
const ADDITION: u32 = 20;
const DATA: u32 = 30;

/// Actions of programs, most of them on one of the functions.
#[derive(Clone, Copy, Debug)]
enum Act {
    Add(i32),
    /// Stores the sum in its data.
    Keep(u32),
    /// Adds its data to the sum.
    Recall(u32),
    /// Replaces its addition.
    Replace(u32, i32),
    /// Replaces its addition with the same one.
    Rewrite(u32),
    /// Calls it, from the loop.
    Call(u32),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let function = || 0..FUNCTIONS;
    let act = prop_oneof![
        2 => (-100..100).prop_map(Act::Add),
        3 => function().prop_map(Act::Keep),
        2 => function().prop_map(Act::Recall),
        2 => (function(), -100..100).prop_map(|(function, n)| Act::Replace(function, n)),
        1 => function().prop_map(Act::Rewrite),
        2 => function().prop_map(Act::Call),
    ];
    prop::collection::vec(act, 0..7)
}

/// An action's steps, for known addresses of labels.
fn steps<T: Target>(act: Act, labels: &BTreeMap<u32, u32>, in_loop: bool) -> Vec<Step> {
    let to = |label: u32| Set(B, labels.get(&label).map_or(0, |at| at.next_multiple_of(4)));
    match act {
        Act::Add(n) => vec![Add(A, n)],
        Act::Keep(function) => vec![to(DATA + function), Store(A, B, 0)],
        Act::Recall(function) => vec![to(DATA + function), Load(E, B, 0), AddTo(A, E)],
        Act::Replace(function, n) => {
            let new = T::encode(Add(A, n), 0, 0);
            let word = u32::from_le_bytes([new[0], new[1], new[2], new[3]]);
            vec![to(ADDITION + function), Set(C, word), Store(C, B, 0)]
        }
        Act::Rewrite(function) => vec![to(ADDITION + function), Load(E, B, 0), Store(E, B, 0)],
        Act::Call(function) if in_loop => vec![Call(FUNCTION + function)],
        Act::Call(_) => vec![AddTo(D, A)],
    }
}

/// The program, with a number of steps before each function that aligns its addition to a word.
fn program<T: Target>(acts: &[Vec<Act>], padding: &[usize], labels: &BTreeMap<u32, u32>) -> Vec<Step> {
    let of = |acts: &[Act], in_loop| acts.iter().flat_map(|act| steps::<T>(*act, labels, in_loop)).collect::<Vec<_>>();
    let mut program = vec![Begin, Set(A, 1), Set(D, 1), Set(G, 7), Label(ROUND)];
    program.extend(of(&acts[0], true));
    program.extend((0..FUNCTIONS).map(|function| Call(FUNCTION + function)));
    program.extend([Add(G, -1), IfNotZero(G, ROUND), Exit]);
    for (function, acts) in (0..FUNCTIONS).zip(&acts[1..]) {
        let (before, after) = acts.split_at(acts.len() / 2);
        program.push(Label(FUNCTION + function));
        program.extend(of(before, false));
        program.extend(vec![Nop; padding[function as usize]]);
        program.extend([Label(ADDITION + function), Add(A, 3)]);
        program.extend(of(after, false));
        program.extend([Return, Label(DATA + function), Nop, Nop, Nop]);
    }
    program
}

/// The addresses of the program's labels, and the program.
fn placed<T: Target>(at: u32, acts: &[Vec<Act>]) -> (Vec<Step>, u32) {
    let (mut padding, mut labels) = ([0; FUNCTIONS as usize], BTreeMap::new());
    for function in 0..FUNCTIONS {
        labels = assemble::<T>(at, &program::<T>(acts, &padding, &labels)).1;
        padding[function as usize] = usize::from(!labels[&(ADDITION + function)].is_multiple_of(4));
    }
    for _ in 0..2 {
        labels = assemble::<T>(at, &program::<T>(acts, &padding, &labels)).1;
    }
    let program = program::<T>(acts, &padding, &labels);
    let bytes = assemble::<T>(at, &program).0.len() as u32;
    (program, bytes)
}

pub fn programs_that_write_their_code_come_to_the_same_in_steps<T: Target>() {
    let cases = (prop::collection::vec(acts(), 1 + FUNCTIONS as usize), prop::sample::select(T::CODE.to_vec()));
    proptest!(ProptestConfig::with_cases(sized(6, 24)), |((acts, at) in cases)| {
        let (program, bytes) = placed::<T>(at, &acts);
        let left = |machine: &mut Machine| {
            let mut memory = vec![0; bytes as usize];
            assert!(machine.bus().peek(T::physical(at), &mut memory));
            (machine.registers(), memory)
        };
        let (mut running, mut stepping) = (machine::<T>(at, &program), machine::<T>(at, &program));
        prop_assert_eq!(run_to_exit(&mut running), step_to_exit(&mut stepping));
        prop_assert_eq!(left(&mut running), left(&mut stepping));
    });
}
