//! Whether whoever waits for an answer still does: what takes long without simulating anything (reading an ELF's debug
//! information, making names readable) asks now and then, and gives up.

use std::cell::Cell;
use std::sync::OnceLock;

/// So much is done between two questions: some milliseconds of a host.
const WORK: u64 = 1 << 20;

static ASKED: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// Has this asked from now on, on the thread that is at work: true if nobody waits any longer. The first one counts.
pub fn ask(asked: fn() -> bool) {
    ASKED.get_or_init(|| asked);
}

/// True if nobody waits any longer, after so much work in bytes that are read: whatever has been found so far will do.
pub fn is_over(work: u64) -> bool {
    let done = DONE.get().saturating_add(work);
    DONE.set(if done < WORK { done } else { 0 });
    done >= WORK && ASKED.get().is_some_and(|asked| asked())
}
