//! Whether whoever waits for an answer still does: what takes long without simulating anything (reading an ELF's debug
//! information, making names readable) asks now and then, and gives up.

use std::sync::OnceLock;

static ASKED: OnceLock<fn() -> bool> = OnceLock::new();

/// Has this asked from now on, on the thread that is at work: true if nobody waits any longer. The first one counts.
pub fn ask(asked: fn() -> bool) {
    ASKED.get_or_init(|| asked);
}

/// True if nobody waits any longer: whatever has been found so far will do.
pub fn is_over() -> bool {
    ASKED.get().is_some_and(|asked| asked())
}
