//! Entry, return, priorities: compared with chapter B1.5 of the manual.

use super::*;

const PRIMASK: u32 = 16;
const BASEPRI: u32 = 17;
const BASEPRI_MAX: u32 = 18;
const FAULTMASK: u32 = 19;
const CONTROL: u32 = 20;
const PSP: u32 = 9;
const SET: u32 = 1 << 9;
const CLEAR: u32 = 1 << 10;
const I: u32 = 1 << 7;
const F: u32 = 1 << 6;

/// One input high.
fn levels(input: usize) -> Levels {
    let mut levels = [0; 8];
    levels[input / 32] = 1 << (input % 32);
    levels
}

#[test]
fn a_frame_has_eight_words_and_comes_back() {
    let mut rig = rig();
    for register in 0..15 {
        rig.x[register] = 0x100 + register as u32;
    }
    rig.x[13] = STACK;
    rig.set_special(0, 0xa000_0000);
    rig.system.state.it = 0x5c;
    let (before, status) = (rig.x, rig.system.xpsr(&rig.x));
    rig.enable(5, 0x40);
    rig.lines(&[5]);
    assert_eq!(rig.take(), 21);
    assert_eq!((rig.sp(), rig.lr(), rig.special(5)), (STACK - 0x20, exc_return::THREAD_MAIN, 21));
    let words: Vec<u32> = (0..8).map(|at| rig.memory[&(STACK - 0x20 + 4 * at)]).collect();
    assert_eq!(words, [0x100, 0x101, 0x102, 0x103, 0x10c, 0x10e, CODE, status]);
    assert_eq!((rig.system.state.it, rig.system.in_handler()), (0, true));
    rig.lines(&[]);
    rig.x[0..4].fill(0);
    rig.set_special(0, 0);
    assert_eq!(rig.leave(), None);
    assert_eq!((rig.pc, rig.system.xpsr(&rig.x)), (CODE, status));
    assert_eq!(rig.x[0..15], before[0..15]);
}

#[test]
fn a_stack_that_is_no_multiple_of_eight_is_aligned_and_put_back() {
    for (sp, stkalign, frame, aligned) in [
        (STACK - 4, true, STACK - 0x28, true),
        (STACK, true, STACK - 0x20, false),
        (STACK - 4, false, STACK - 0x24, false),
    ] {
        let mut rig = rig();
        rig.write(0xd14, if stkalign { 0x200 } else { 0 });
        rig.x[13] = sp;
        rig.write(0xd04, 1 << 28);
        assert_eq!(rig.take(), number::PEND_SV);
        assert_eq!((rig.sp(), rig.memory[&(frame + 28)] >> 9 & 1 != 0), (frame, aligned));
        assert_eq!(rig.leave(), None);
        assert_eq!(rig.sp(), sp);
    }
}

#[test]
fn thread_mode_may_have_a_stack_of_its_own() {
    let mut rig = rig();
    rig.set_special(PSP, STACK - 0x400);
    rig.set_special(CONTROL, 2);
    assert_eq!((rig.sp(), rig.special(8)), (STACK - 0x400, STACK));
    rig.write(0xd04, 1 << 28);
    rig.take();
    assert_eq!((rig.sp(), rig.special(PSP), rig.lr()), (STACK, STACK - 0x420, exc_return::THREAD_PROCESS));
    assert_eq!(rig.special(CONTROL), 0);
    // SPSEL applies to Thread mode only.
    rig.set_special(CONTROL, 2);
    assert_eq!((rig.special(CONTROL), rig.sp()), (0, STACK));
    assert_eq!(rig.leave(), None);
    assert_eq!((rig.sp(), rig.special(CONTROL), rig.special(8)), (STACK - 0x400, 2, STACK));
}

#[test]
fn the_more_urgent_pre_empts_and_the_rest_waits() {
    let mut rig = rig();
    for (interrupt, priority) in [(0, 0x80), (1, 0x40), (2, 0x80)] {
        rig.enable(interrupt, priority);
    }
    rig.lines(&[0]);
    assert_eq!(rig.take(), 16);
    rig.lines(&[2]);
    assert_eq!(rig.system.due(), None, "the same priority pre-empts nothing");
    rig.lines(&[1, 2]);
    assert_eq!(rig.take(), 17);
    assert_eq!((rig.lr(), rig.system.execution_priority()), (exc_return::HANDLER, 0x40));
    rig.lines(&[]);
    assert_eq!(rig.leave(), None, "2 is not more urgent than 0, which goes on");
    assert_eq!((rig.special(5), rig.system.due()), (16, None));
    assert_eq!(rig.leave(), Some(18), "tail-chained");
    assert_eq!(rig.sp(), STACK - 0x20);
    assert_eq!(rig.leave(), None);
    assert_eq!((rig.pc, rig.sp(), rig.system.in_handler()), (CODE, STACK, false));
}

#[test]
fn of_equals_the_lower_number_comes_first() {
    let mut rig = rig();
    for interrupt in [149, 100, 40] {
        rig.enable(interrupt, 0x20);
    }
    rig.lines(&[40, 100, 149]);
    assert_eq!(rig.take(), 56);
    rig.lines(&[]);
    assert_eq!([rig.leave(), rig.leave(), rig.leave()], [Some(116), Some(165), None]);
}

#[test]
fn what_comes_while_the_frame_is_stored_goes_first() {
    let mut rig = rig();
    rig.enable(0, 0x80);
    rig.enable(1, 0x40);
    rig.lines(&[0]);
    assert_eq!(rig.take_after(|rig| rig.lines(&[0, 1])), 17);
    rig.lines(&[]);
    assert_eq!(rig.lr(), exc_return::THREAD_MAIN);
    assert_eq!(rig.leave(), Some(16));
    assert_eq!(rig.leave(), None);
}

#[test]
fn subpriorities_order_but_do_not_pre_empt() {
    let mut rig = rig();
    // Two of the four implemented bits choose the group.
    rig.write(0xd0c, 0x05fa_0500);
    assert_eq!(rig.read(0xd0c), 0xfa05_0500);
    rig.enable(0, 0x70);
    rig.enable(1, 0x50);
    rig.enable(2, 0x3f);
    assert_eq!(rig.read(0x400), 0x0030_5070, "four bits of a priority are there");
    rig.lines(&[0]);
    rig.take();
    rig.lines(&[1]);
    assert_eq!((rig.system.due(), rig.system.execution_priority()), (None, 0x40));
    rig.lines(&[2]);
    assert_eq!(rig.take(), 18);
    rig.lines(&[]);
    assert_eq!([rig.leave(), rig.leave(), rig.leave()], [None, Some(17), None]);
    // Without the key the write has no effect.
    rig.write(0xd0c, 0x0000_0000);
    assert_eq!(rig.read(0xd0c), 0xfa05_0500);
}

#[test]
fn masks_hold_what_they_say() {
    let mut rig = rig();
    rig.enable(0, 0x80);
    rig.lines(&[0]);
    let due = |rig: &Rig| rig.system.due().is_some();
    rig.cps(SET | I);
    assert!(!due(&rig) && rig.special(PRIMASK) == 1);
    assert!(rig.system.wakes(&inputs(&[0])), "PRIMASK does not matter to wfi");
    rig.cps(CLEAR | I);
    rig.set_special(BASEPRI, 0x8f);
    assert!(!due(&rig) && rig.special(BASEPRI) == 0x80 && !rig.system.wakes(&inputs(&[0])));
    rig.set_special(BASEPRI_MAX, 0x90);
    assert_eq!(rig.special(BASEPRI), 0x80);
    rig.set_special(BASEPRI_MAX, 0x70);
    assert_eq!(rig.special(BASEPRI), 0x70);
    rig.set_special(BASEPRI, 0x90);
    assert!(due(&rig));
    rig.set_special(BASEPRI, 0);
    rig.cps(SET | F);
    assert!(!due(&rig) && rig.system.execution_priority() == -1);
    // NMI is taken, and its return does not change FAULTMASK.
    rig.write(0xd04, 1 << 31);
    assert_eq!(rig.take(), number::NMI);
    rig.leave();
    assert_eq!(rig.special(FAULTMASK), 1);
    rig.cps(CLEAR | F);
    assert!(due(&rig));
    rig.take();
    rig.cps(SET | F);
    rig.lines(&[]);
    rig.leave();
    assert_eq!(rig.special(FAULTMASK), 0, "an exception's return clears it");
}

#[test]
fn a_line_that_stays_up_interrupts_again() {
    let mut rig = rig();
    rig.enable(52, 0);
    rig.lines(&[52]);
    rig.take();
    assert_eq!(rig.read(0x200 + 4), 0, "no more pending once it is handled");
    assert_eq!(rig.leave(), Some(68));
    rig.lines(&[]);
    rig.lines(&[52]);
    rig.lines(&[]);
    assert_eq!(rig.leave(), Some(68), "a pulse while it was handled");
    assert_eq!(rig.leave(), None);
    // Pending but not enabled; ICPR clears that only if the line is low.
    rig.write(0x180 + 4, 1 << 20);
    rig.lines(&[52]);
    assert!(rig.system.due().is_none());
    rig.write(0x280 + 4, 1 << 20);
    assert_eq!(rig.read(0x204), 1 << 20);
    rig.lines(&[]);
    rig.write(0x280 + 4, 1 << 20);
    assert_eq!(rig.read(0x204), 0);
}

#[test]
fn each_change_of_the_system_timers_line_is_a_tick() {
    let mut rig = rig();
    rig.lines(&[255]);
    assert_eq!(rig.take(), number::SYS_TICK);
    assert_eq!(rig.leave(), None);
    rig.lines(&[]);
    assert_eq!(rig.take(), number::SYS_TICK);
    assert_eq!(rig.leave(), None);
    assert_eq!(rig.system.due(), None);
}

#[test]
fn lines_that_are_not_reported_yet_count() {
    let mut rig = rig();
    rig.enable(3, 0x10);
    let is_due = |inputs: &Levels| {
        let mut reported = rig.system.clone();
        reported.set_inputs(inputs);
        reported.due().is_some()
    };
    assert!(!is_due(&[0; 8]) && is_due(&levels(3)) && SystemSide::wakes(&rig.system, &inputs(&[3])));
    assert!(is_due(&levels(255)));
    assert!(!is_due(&levels(158)), "an interrupt that the controller does not have");
    assert_eq!(rig.system.due(), None);
}

#[test]
fn supervisor_calls_return_after_themselves() {
    let mut rig = rig();
    rig.system.state.it = 0x05;
    assert_eq!(rig.raise(Exception::Svc(7)), Ok(number::SVCALL));
    assert_eq!(rig.memory[&(STACK - 8)], CODE + 2);
    assert_eq!(rig.memory[&(STACK - 4)] >> 25 & 3 | rig.memory[&(STACK - 4)] >> 8 & 0xfc, 0x0a);
    // A more urgent exception first: the call stays pending.
    rig.leave();
    rig.enable(0, 0);
    rig.write(0xd1c, 0x4000_0000);
    rig.system.raise(Exception::Svc(7), CODE).unwrap();
    rig.lines(&[0]);
    assert_eq!(rig.take(), 16);
    assert_eq!(rig.read(0xd24) >> 15 & 1, 1);
    rig.lines(&[]);
    assert_eq!(rig.leave(), Some(number::SVCALL));
}

#[test]
fn the_claim_of_an_exclusive_load_ends_with_an_exception() {
    let mut rig = rig();
    rig.system.reserve(0, 4);
    rig.write(0xd04, 1 << 28);
    rig.take();
    assert!(!rig.system.claim(0, 4));
    rig.system.reserve(0, 4);
    rig.leave();
    assert!(!rig.system.claim(0, 4));
    rig.system.reserve(0, 4);
    assert!(rig.system.claim(0, 4) && !rig.system.claim(0, 4));
}
