//! The Arm core in a small machine: what instructions cost, exceptions, interrupts, and that no cycle is lost.

#[path = "support/arm.rs"]
mod support;

use cyclescope_engine::machine::Outcome;
use support::*;

/// Cycles of `EXIT`: the call is charged as a return from an exception.
const EXIT_CYCLES: u64 = 3 + 4;

fn cycles_of(program: &[u32]) -> u64 {
    let (report, _) = run_program(&then_exit(program));
    assert_exit(&report);
    report.cores[0].cycles.0 - EXIT_CYCLES
}

// ---- Static costs

#[test]
fn straight_line_code_takes_a_cycle_an_instruction() {
    let (report, registers) = run_program(&then_exit(&[mov(2, 7), add(3, 2, 1), add_register(4, 2, 3)]));
    assert_exit(&report);
    assert_eq!(registers[1 + 4], 15);
    assert_eq!(report.cores[0].cycles.0, 3 + EXIT_CYCLES);
    assert_eq!(report.cores[0].instructions, 3 + 4);
}

#[test]
fn a_loop_without_prediction_pays_for_its_taken_branches() {
    // 10 rounds of subs and bne; taken 9 times at 1 + 5 cycles, once not at 1.
    assert_eq!(cycles_of(&[mov(2, 10), subs(2, 2, 1), when(NE, b(-4))]), 1 + 10 + 9 * 6 + 1);
}
