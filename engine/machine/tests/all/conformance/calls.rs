//! Calls of functions, and their measured times.

use super::program::*;
use super::target::*;

/// Two calls of the function at label 1, which takes 20 iterations in the second.
const CALLS: [Step; 15] = [
    Set(A, 1),
    Call(1),
    Set(A, 20),
    Call(1),
    Exit,
    // The function.
    Label(1),
    Set(B, 0),
    Label(2),
    Add(B, 1),
    Multiply(C, B),
    Add(A, -1),
    IfNotZero(A, 2),
    Return,
    Nop,
    Nop,
];

pub fn calls_return_to_after_themselves<T: Target>() {
    for at in T::CODE {
        let program =
            [Set(A, 1), Call(1), Add(A, 2), Call(1), Multiply(A, A), Exit, Label(1), Add(A, 4), Return, Nop, Nop];
        let mut machine = machine::<T>(at, &program);
        run_to_exit(&mut machine);
        assert_eq!(register::<T>(&machine, A), (1 + 4 + 2 + 4) * (1 + 4 + 2 + 4));
    }
}

pub fn a_watched_function_has_a_stack_of_its_own<T: Target>() {
    for at in T::CODE {
        let Prepared { machine: mut watching, labels } = prepared::<T>(at, &CALLS);
        watching.watch_address("work", labels[&1]);
        let (report, plain) = (run_to_exit(&mut watching), run_to_exit(&mut machine::<T>(at, &CALLS)));
        assert_eq!((report.elapsed, &report.cores[0].causes()), (plain.elapsed, &plain.cores[0].causes()));
        let section = &report.cores[0].sections[0];
        assert_eq!((section.name.as_str(), section.calls), ("work", 2));
        // The same function, between its first instruction and the instruction after the call, step by step.
        let (instructions, cycles) = stepped::<T>(at, labels[&1]);
        assert_eq!(section.instructions, instructions);
        assert_eq!(section.causes().iter().map(|(_, cycles)| cycles.0).sum::<u64>(), cycles);
    }
}

/// Instructions and cycles from each entry of the function to the instruction after its call.
fn stepped<T: Target>(at: u32, function: u32) -> (u64, u64) {
    let mut machine = machine::<T>(at, &CALLS);
    let (mut instructions, mut cycles, mut entered, mut within) = (0, 0, (0, 0), None);
    for _ in 0..400 {
        machine.trace(1, |_| {});
        let (pc, core) = (machine.registers()[0], machine.report(crate::Outcome::Interrupted));
        let now = (core.cores[0].instructions, core.cores[0].cycles.0);
        if pc == function {
            (entered, within) = (now, Some(machine.registers()[T::register(LINK)] & !1));
        } else if within == Some(pc) {
            instructions += now.0 - entered.0;
            cycles += now.1 - entered.1;
            within = None;
        }
    }
    (instructions, cycles)
}

pub fn each_call_has_a_window<T: Target>() {
    for at in T::CODE {
        let Prepared { mut machine, labels } = prepared::<T>(at, &CALLS);
        machine.watch_function("work", 0, labels[&1], true);
        let (report, plain) = (run_to_exit(&mut machine), run_to_exit(&mut prepared::<T>(at, &CALLS).machine));
        assert_eq!((report.elapsed, &report.cores[0].causes()), (plain.elapsed, &plain.cores[0].causes()));
        let [first, second] = &report.windows[..] else { panic!("{:?}", report.windows) };
        assert!(first.end <= second.begin && second.end < report.elapsed && second.section == "work");
        let section = &report.cores[0].sections[0];
        let in_windows = first.cores[0].instructions + second.cores[0].instructions;
        assert_eq!((section.calls, section.instructions), (2, in_windows));
        assert!(second.cores[0].instructions > 10 * first.cores[0].instructions);
        for window in [first, second] {
            let core = &window.cores[0];
            assert_eq!(report.cores[0].clock.ps_at_floor(core.cycles).0, window.end.0 - window.begin.0);
            assert_eq!(core.causes().iter().map(|(_, cycles)| cycles.0).sum::<u64>(), core.cycles.0);
        }
    }
}
