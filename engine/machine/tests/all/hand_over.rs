//! Output of programs is handed over soon and in small pieces, and the time of that changes nothing else: on two cores,
//! and for a program that only prints. [`crate::whole::conformance`] tests it for each core.

use crate::Outcome;
use crate::whole::conformance::{HAND_OVERS, ITERATIONS, run_and_compare};
use crate::whole::support::arm::*;
use crate::whole::support::pair::{JOURNAL, SHARED, pair};
use crate::whole::support::printer::add_printer;
use engine::time::Ps;

const TEXT: u32 = 0x4000;

#[test]
fn two_cores_that_wake_each_other() {
    // Each prints, adds to a shared word without synchronization, and raises and lowers the other's interrupt; core 1
    // sleeps between.
    let iteration = |core: u32| {
        let mut iteration =
            vec![mov(0, 3), mov(1, TEXT + 4 * core), 0xef12_3456, str(6, 10, 0), ldr(3, 8, 0), add(3, 3, 1)];
        iteration.extend([str(3, 8, 0), str(3, 9, 0x40 + 4 * core), mov(7, 9 + core), subs(7, 7, 1), when(NE, b(-4))]);
        if core == 0 {
            iteration.extend([mov(4, 1), str(4, 9, 4)]);
        } else {
            iteration.extend([WFI, mov(4, 0), str(4, 9, 4)]);
        }
        iteration
    };
    let begin = [mov(6, ITERATIONS), mov(8, 0), movt(8, SHARED >> 16), mov(9, 0), movt(9, JOURNAL >> 16)];
    let program = |core: u32, end: &[u32]| {
        let iteration = [iteration(core), vec![subs(6, 6, 1)]].concat();
        let back = when(NE, b(-4 * iteration.len() as i32));
        [&begin[..], &[mov(10, 0), movt(10, 0x5000)], &iteration, &[back], end].concat()
    };
    let programs = [program(0, &EXIT), program(1, &[WFI, b(-4)])];
    for quantum in [Ps::from_ns(10), Ps::from_us(1)] {
        let journals = std::cell::RefCell::new(Vec::new());
        let build = || {
            let (mut machine, journal) = pair([&programs[0], &programs[1]]);
            machine.set_quantum(quantum);
            put(&mut machine, TEXT, &[u32::from(b'0'), u32::from(b'1')]);
            add_printer(&mut machine, 0x5000_0000);
            journals.borrow_mut().push(journal);
            machine
        };
        let (_, text) = run_and_compare(build);
        assert_eq!(text.console.iter().filter(|byte| **byte == b'0').count(), ITERATIONS as usize);
        // The following machines continue from snapshots, and have the rest of the journal.
        let journals = &journals.borrow()[..HAND_OVERS.len()];
        let journals: Vec<_> = journals.iter().map(|journal| journal.lock().unwrap().clone()).collect();
        assert!(journals[0].len() > ITERATIONS as usize && journals.iter().all(|journal| *journal == journals[0]));
    }
}

#[test]
fn a_program_that_prints_without_end_is_handed_over_by_bytes_and_can_be_stopped() {
    // SYS_WRITE0 of 1000 characters.
    let program = [mov(0, 4), mov(1, TEXT), 0xef12_3456, b(-12)];
    let mut machine = machine(PROGRAM, &program);
    put(&mut machine, TEXT, &[u32::from_le_bytes(*b"abcd"); 250]);
    let mut sizes = Vec::new();
    let report = machine.run(Ps::MAX, |printed| {
        sizes.push(printed.console.len());
        sizes.len() < 5
    });
    assert_eq!(report.outcome, Outcome::Interrupted);
    // 64 KiB, and the output of the call that exceeds it.
    assert_eq!(sizes, [66_000, 66_000, 66_000, 66_000, 66_000, 0, 0]);
}
