//! When interrupts are taken, and exceptions that the program handles.

use super::program::*;
use super::target::*;
use crate::whole::support::late::{LOWER, RAISE_LATER};
use crate::whole::support::rig::cause;
use crate::{Machine, Outcome, RunReport};
use engine::tiers::sized;
use engine::time::Ps;

/// The line is down before the handler ends.
const HANDLE: [Step; 7] = [Store(A, A, LOWER), Add(COUNT, 1), Nop, Nop, Nop, Nop, ReturnFromInterrupt];

/// The device is asked for an interrupt, which may come or not; then comes code in a straight line.
fn straight<T: Target>(after: u32, enable: bool) -> Machine {
    let begin = [Begin, Set(A, T::DEVICE), Set(B, after), if enable { Enable } else { Nop }, Store(B, A, RAISE_LATER)];
    handled::<T>(T::CODE[0], &[&begin[..], &[Add(C, 1); 100], &[Exit]].concat(), &HANDLE)
}

fn raised_cycle(report: &RunReport) -> u64 {
    report.counters.iter().find(|(name, _)| name == "late.raised in cycle").unwrap().1
}

pub fn an_interrupt_is_taken_at_the_first_instruction_after_its_time<T: Target>() {
    for after in (30..70).step_by(sized(3, 1)) {
        let mut machine = straight::<T>(after, true);
        let (mut begun, mut taken) = (Vec::new(), None);
        while taken.is_none() {
            let report = machine.report(Outcome::Interrupted);
            begun.push(report.cores[0].cycles.0);
            machine.trace(1, |_| {});
            let pc = machine.registers()[0] & 0xffff;
            taken = (pc == HANDLER || T::VECTORS.contains(&pc)).then_some(begun.len() - 1);
        }
        let raised = raised_cycle(&machine.report(Outcome::Interrupted));
        // The last instruction that began before it, and the next one.
        let [before, next] = [begun[taken.unwrap() - 1], begun[taken.unwrap()]];
        assert!(before < raised && raised <= next, "{after}: {before} {raised} {next}");
        // All of the code has run at the end, in one go and in steps.
        let (mut running, mut stepping) = (straight::<T>(after, true), straight::<T>(after, true));
        assert_eq!(run_to_exit(&mut running), step_to_exit(&mut stepping));
        assert_eq!((register::<T>(&running, C), register::<T>(&running, COUNT)), (100, T::TAKEN));
    }
    let mut masked = straight::<T>(40, false);
    run_to_exit(&mut masked);
    assert_eq!(register::<T>(&masked, COUNT), 0);
}

pub fn a_core_waits_for_its_interrupt<T: Target>() {
    let program = [Begin, Set(A, T::DEVICE), Set(B, 1000), Enable, Store(B, A, RAISE_LATER), Wait, Add(C, 1), Exit];
    for at in T::CODE {
        let mut machine = handled::<T>(at, &program, &HANDLE);
        let report = run_to_exit(&mut machine);
        assert_eq!((register::<T>(&machine, C), register::<T>(&machine, COUNT)), (1, T::TAKEN));
        let waited = cause(&report, "wait for interrupt");
        assert!((900..1003).contains(&waited), "{:?}", report.cores[0].causes());
        let mut stepping = handled::<T>(at, &program, &HANDLE);
        assert_eq!(step_to_exit(&mut stepping), report);
    }
}

pub fn a_wait_for_nothing_is_explained<T: Target>() {
    let Prepared { mut machine, labels } = prepared::<T>(T::CODE[0], &[Label(0), Wait, Label(1), Nop]);
    let report = run(&mut machine);
    // At the instruction, or after it.
    let reported = [0, 1].map(|label| {
        let pc = labels[&label];
        let name = &report.cores[0].name;
        format!("{name} waits for an interrupt at pc {pc:#010x}; nothing on the board is due to raise one")
    });
    let Outcome::Asleep(text) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert!(reported.iter().any(|reported| text.starts_with(reported)), "{text}");
    assert!(report.elapsed < Ps::from_us(10));
}

pub fn a_system_call_comes_back<T: Target>() {
    let mut machine =
        handled::<T>(T::CODE[0], &[Begin, Enable, Trap, Add(A, 1), Exit], &[Add(COUNT, 1), ReturnFromTrap]);
    let report = run_to_exit(&mut machine);
    assert_eq!((register::<T>(&machine, COUNT), register::<T>(&machine, A)), (1, 1));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

pub fn an_undefined_instruction_is_handled<T: Target>() {
    let program = [Begin, Enable, Undefined, Add(A, 1), Exit];
    let mut machine = handled::<T>(T::CODE[0], &program, &[Add(COUNT, 1), ReturnAfter]);
    let report = run_to_exit(&mut machine);
    assert_eq!((register::<T>(&machine, COUNT), register::<T>(&machine, A)), (1, 1));
    let reported = report.notes.iter().any(|note| note.contains("(the firmware's trap handler took it)"));
    assert!(reported, "{:?}", report.notes);
}
