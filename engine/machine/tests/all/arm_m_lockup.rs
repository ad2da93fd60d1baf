//! A Cortex-M4 that locks up, or never leaves its handlers: the message has the fault, the place and the reason why no
//! handler took it, and the stack sums to the time.

use crate::whole::support::arm_m::*;
use crate::{Machine, Outcome, RunReport};
use engine::time::Ps;

/// An unmapped address.
const NOWHERE: u32 = 0x3000_0000;
/// RAM with wait states, which ends at 64 KiB.
const SLOW: u32 = 0x6000_0000;
const VTOR: u32 = 0xe000_ed08;
const CPACR: u32 = 0xe000_ed88;
const CPSID_F: u16 = 0xb671;
const UDF: u16 = 0xdeff;
/// mov sp, r0
const MOV_SP_R0: u16 = 0x4685;

fn ended(program: &[u16], handlers: &[(u32, Code)]) -> (Machine, RunReport) {
    let mut machine = machine(program, handlers);
    let report = machine.run(Ps::from_us(2000), |_| true);
    assert_sums(&report);
    (machine, report)
}

fn fault_of(program: &[u16], handlers: &[(u32, Code)]) -> String {
    let (_, report) = ended(program, handlers);
    let Outcome::Fault(text) = report.outcome else { panic!("{:?}", report.outcome) };
    text
}

/// The handler of HardFault, which does this.
fn hard_fault(code: Code) -> [(u32, Code); 1] {
    [(HARD_FAULT, code)]
}

#[test]
fn a_call_in_the_handler_of_hard_fault_is_named() {
    assert_eq!(
        fault_of(&code![UDF], &hard_fault(code![NOP, svc(1)])),
        "cm4: pc 0x000020c2: supervisor call (svc): the running code is as urgent as its exception, or \
         PRIMASK, BASEPRI or FAULTMASK masks it; it locks the core up: HardFault is being handled; HFSR: FORCED, CFSR: \
         UNDEFINSTR, VTOR 0x00000000"
    );
}

#[test]
fn the_fault_registers_say_the_rest() {
    let text = fault_of(&code![UDF], &hard_fault(code![load_constant(0, NOWHERE), ldr(1, 0, 4)]));
    assert!(
        text.starts_with("cm4: pc 0x000020c8: BusFault: 4-byte load at 0x30000004: nothing is mapped there"),
        "{text}"
    );
    let end = "HardFault is being handled; HFSR: FORCED, CFSR: PRECISERR BFARVALID UNDEFINSTR, BFAR 0x30000004, \
               VTOR 0x00000000; --unmapped warn goes on";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn what_is_masked_is_said() {
    for wrong in [code![UDF], code![svc(2)]] {
        let text = fault_of(&code![CPSID_F, NOP, wrong], &[]);
        assert!(text.starts_with("cm4: pc 0x00000404: "), "{text}");
        assert!(text.contains("it locks the core up: FAULTMASK is set; HFSR: 0, CFSR: "), "{text}");
    }
}

#[test]
fn a_call_that_is_escalated_is_a_fault() {
    let text = fault_of(&code![CPSID_I, NOP, svc(2)], &hard_fault(code![FOREVER]));
    assert!(text.starts_with("cm4: pc 0x00000404: supervisor call (svc): "), "{text}");
    assert!(text.ends_with("its handler is a branch to itself"), "{text}");
}

#[test]
fn vectors_that_can_not_be_read_are_said() {
    let moved = code![load_constant(0, VTOR), load_constant(1, NOWHERE), str(1, 0, 0), NOP];
    let end = "it locks the core up: the vector of its handler can't be read; HFSR: ";
    let text = fault_of(&code![moved.clone(), UDF], &[]);
    assert!(text.contains("udf, a trap") && text.contains(end) && text.ends_with("VTOR 0x30000000"), "{text}");
    let text = fault_of(&code![moved, svc(1)], &[]);
    assert!(text.contains("load of an exception's vector at 0x3000002c: nothing") && text.contains(end), "{text}");
}

#[test]
fn a_frame_that_is_half_stored_takes_its_time_and_no_more() {
    // The frame begins below the RAM's end, and goes on beyond it: with floating-point state or without.
    let enable = code![load_constant(0, CPACR), load_constant(1, 0xf << 20), str(1, 0, 0), vmov(0, 1)];
    for (begin, below) in [(Vec::new(), 0x10), (enable.clone(), 0x10), (enable, 0x58)] {
        let stack = code![load_constant(0, SLOW + 0x1_0000 + below), MOV_SP_R0];
        let stuck = hard_fault(code![FOREVER]);
        let (_, report) = ended(&code![begin.clone(), stack.clone(), UDF], &stuck);
        assert!(matches!(report.outcome, Outcome::Fault(_)), "{:?}", report.outcome);
        // The same with the core locked up at once by what the handler does.
        ended(&code![begin, stack, UDF], &hard_fault(code![UDF]));
    }
}

#[test]
fn a_stack_that_is_nowhere_is_noted_and_ends_the_run() {
    for wrong in [svc(1), UDF] {
        let (_, report) = ended(&code![load_constant(0, NOWHERE), MOV_SP_R0, NOP, wrong], &[]);
        let Outcome::Fault(text) = &report.outcome else { panic!("{:?}", report.outcome) };
        assert!(text.contains("load of an exception's frame at 0x2fffffe0: nothing is mapped there"), "{text}");
        assert!(text.ends_with("its handler raises it again and again; --unmapped warn goes on"), "{text}");
        let stored = "store of an exception's frame at 0x2fffffe0";
        assert!(report.notes.iter().any(|note| note.contains(stored)), "{:?}", report.notes);
    }
}

#[test]
fn a_return_that_never_fits_ends_the_run() {
    let text = fault_of(&code![UDF], &hard_fault(code![load_constant(0, 0xffff_ffe5), bx(0)]));
    assert!(text.contains("UsageFault: EXC_RETURN") && text.ends_with("again and again"), "{text}");
}
