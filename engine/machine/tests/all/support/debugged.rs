//! A machine under a debugger.

use super::random::below;
use crate::debugging::{Halt, Step};
use crate::{Machine, RunReport};
use engine::time::Ps;
use std::ops::Range;

/// The number of halts, after which the machine runs to its end.
const HALTS: usize = 80;

/// The number of halts by their cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Halts {
    pub breaks: usize,
    pub steps: usize,
    pub times: usize,
}

/// Runs a machine to its end. Halts at random before instructions from `code`, at times, and after steps, and reads all
/// that a debugger can read.
pub fn run_debugged(machine: &mut Machine, seed: u64, limit: Ps, code: Range<u32>) -> (RunReport, Halts) {
    let mut state = seed | 1;
    let mut halts = Halts::default();
    for _ in 0..HALTS {
        let place = |state: &mut u64| code.start + 2 * below(state, (code.end - code.start) / 2);
        machine.set_breaks((0..below(&mut state, 4)).map(|_| place(&mut state)).collect());
        let core = below(&mut state, machine.core_count() as u32) as usize;
        let into_handlers = below(&mut state, 2) == 0;
        let step = (below(&mut state, 2) == 0).then_some(Step { core, range: None, into_handlers });
        let later = machine.time_of_core(core).saturating_add(Ps(1 + u64::from(below(&mut state, 2_000_000))));
        let until = (below(&mut state, 2) == 0).then_some(later);
        let before = machine.position(core);
        match machine.resume(step.clone(), until, limit, |_| true) {
            Halt::Ended(outcome) => return (machine.end_debugged(outcome, |_| true), halts),
            Halt::Break { core } => {
                halts.breaks += 1;
                let place = machine.position(core).pc;
                assert!(machine.breaks().contains(&place), "{place:#x}: nobody asked for it");
            }
            Halt::Stepped { core } => {
                halts.steps += 1;
                let step = step.expect("a step was asked for");
                assert_eq!(core, step.core);
                let now = machine.position(core);
                assert!(now.instructions > before.instructions || step.into_handlers && now.interrupts > 0);
            }
            Halt::Time => halts.times += 1,
            Halt::Watch { .. } | Halt::Trigger { .. } | Halt::Interrupted => {
                panic!("nothing is watched, and nobody interrupts")
            }
        }
        for core in 0..machine.core_count() {
            let registers = machine.debug_registers(core);
            assert!(!registers.is_empty());
            // The same value again.
            let number = below(&mut state, 13) as usize;
            machine.set_debug_register(core, number, registers[number].value);
            machine.debug_read(core, registers[13].value as u32 & !3, &mut [0; 32]);
        }
    }
    machine.set_breaks([].into());
    let Halt::Ended(outcome) = machine.resume(None, None, limit, |_| true) else { panic!("nothing halts it") };
    (machine.end_debugged(outcome, |_| true), halts)
}
