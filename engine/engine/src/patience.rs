//! Cancellation of slow work that simulates nothing (reading an ELF's debug information, demangling names): it checks
//! now and then whether the caller still waits, and gives up if not.

use std::cell::Cell;
use std::sync::OnceLock;

/// Amount of work between two checks: some milliseconds of a host.
const WORK: u64 = 1 << 20;

static ASKED: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// Sets the check for the present thread: `asked` returns true if nobody waits any longer. The first one set is kept.
pub fn ask(asked: fn() -> bool) {
    ASKED.get_or_init(|| asked);
}

/// True if nobody waits any longer. `work` is the work since the last call, in bytes that are read. The caller then
/// returns the results so far.
pub fn is_over(work: u64) -> bool {
    let done = DONE.get().saturating_add(work);
    DONE.set(if done < WORK { done } else { 0 });
    done >= WORK && ASKED.get().is_some_and(|asked| asked())
}
