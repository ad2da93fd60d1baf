//! Exceptions that the program handles.

use super::program::*;
use super::target::*;

pub fn a_system_call_comes_back<T: Target>() {
    let mut machine =
        handled::<T>(T::CODE[0], &[Begin, Enable, Trap, Add(A, 1), Exit], &[Add(COUNT, 1), ReturnFromTrap]);
    let report = run_to_exit(&mut machine);
    assert_eq!((register::<T>(&machine, COUNT), register::<T>(&machine, A)), (1, 1));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

pub fn an_undefined_instruction_is_handled<T: Target>() {
    let program = [Begin, Enable, Undefined, Add(A, 1), Exit];
    let mut machine = handled::<T>(T::CODE[0], &program, &[Add(COUNT, 1), ReturnBehind]);
    let report = run_to_exit(&mut machine);
    assert_eq!((register::<T>(&machine, COUNT), register::<T>(&machine, A)), (1, 1));
    let told = report.notes.iter().any(|note| note.contains("(the firmware's trap handler took it)"));
    assert!(told, "{:?}", report.notes);
}
