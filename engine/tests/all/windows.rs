//! Windows of a RISC-V core: each call of a function, with what was done in it.

use crate::support::riscv::*;
use cyclescope_engine::time::{Cycles, Ps};

#[test]
fn each_call_has_a_window() {
    // A function at +0x100 that is called twice, and divides in the second call.
    let function = [addi(5, 0, 7), beq(6, 0, 8), divu(7, 5, 5), jalr(0, 1, 0)];
    let call = |at: i32| jal(1, 0x100 - 4 * at);
    let calls = [&[addi(6, 0, 0), call(1), addi(6, 0, 1), call(3)][..], &EXIT].concat();
    let make = || {
        let mut machine = machine(LOCAL, &calls, 1);
        put(&mut machine, LOCAL + 0x100, &function);
        machine
    };
    let plain = run(&mut make());
    let mut machine = make();
    machine.watch_function("work", 0, LOCAL + 0x100, true);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(
        (report.elapsed, &report.cores[0].causes),
        (plain.elapsed, &plain.cores[0].causes),
        "looking takes no time"
    );
    let windows: Vec<(u64, Cycles)> =
        report.windows.iter().map(|window| (window.cores[0].instructions, window.cores[0].cycles)).collect();
    // li, a branch that is taken at 3, ret at 3; and with a division of 34 behind a branch that is not taken.
    assert_eq!(windows, [(3, Cycles(1 + 3 + 3)), (4, Cycles(1 + 1 + 34 + 3))]);
    let second = &report.windows[1];
    assert_eq!(second.end.0 - second.begin.0, 39 * CYCLE_PS);
    assert_eq!(report.cores[0].sections[0].calls, 2);
    assert!(second.end > Ps::ZERO && second.section == "work");
}
