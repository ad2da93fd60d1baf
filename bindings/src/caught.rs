//! Faults of the engine itself: a panic becomes an EngineError, so the caller loses only this call.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use engine::patience;
use pyo3::prelude::*;

use crate::EngineError;

thread_local! {
    /// The place and the message of this thread's last panic.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    /// The exception that a signal's handler has raised on this thread during a call.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The number of looks before unfinished work is cut short: some tenths of a second.
const LOOKS_IN_A_HURRY: u32 = 20;
static LOOKS_LEFT: AtomicU32 = AtomicU32::new(u32::MAX);
/// The interval between checks for signals while another thread works.
const LOOK: Duration = Duration::from_millis(50);
/// The stack of such a thread: the inputs that it reads have bounded depth, at some KiB a level.
const STACK_BYTES: usize = 16 << 20;

/// From now on a panic prints nothing ([`caught`] reports it), and long work checks for signals.
pub fn keep_quiet() {
    patience::ask(is_interrupted);
    set_hook(Box::new(|info| LAST.with_borrow_mut(|last| *last = info.to_string())));
}

/// Calls the engine; a panic in it is raised as an EngineError of one line.
pub fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let what = LAST.with_borrow_mut(std::mem::take).split_whitespace().collect::<Vec<_>>().join(" ");
        Err(EngineError::new_err(format!("a fault of Cyclescope itself, please report it: {what}")))
    });
    // An answer that was cut short is not returned.
    RAISED.with_borrow_mut(Option::take).map_or(result, Err)
}

/// Makes long work without simulation end soon, with what it has found by then; or no longer.
#[pyfunction]
pub fn hurry(soon: bool) {
    LOOKS_LEFT.store(if soon { LOOKS_IN_A_HURRY } else { u32::MAX }, Ordering::Relaxed);
}

/// True if the caller is in a hurry and has waited long enough.
fn is_late() -> bool {
    let left = LOOKS_LEFT.load(Ordering::Relaxed);
    if (1..u32::MAX).contains(&left) {
        LOOKS_LEFT.store(left - 1, Ordering::Relaxed);
    }
    left == 0
}

/// Runs the handlers of pending signals. True if one of them has raised an exception, which [`caught`] raises at the
/// end, or if the caller is in a hurry.
fn is_interrupted() -> bool {
    if RAISED.with_borrow(Option::is_some) {
        return true;
    }
    let raised = Python::try_attach(|py| {
        let raised = py.check_signals().err();
        // Handlers run on the main thread, which may be waiting for this one.
        py.detach(thread::yield_now);
        raised
    });
    let raised = raised.flatten();
    let is_raised = raised.is_some();
    if is_raised {
        RAISED.set(raised);
    }
    is_raised || is_late()
}

/// Runs work on a thread of its own, and waits for it. An exception of a signal's handler ends the wait at once: the
/// thread is abandoned then, and ends with the program.
pub fn waited_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let (done, mut result) = channel();
    let work = move || drop(done.send(caught(work)));
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work)?;
    loop {
        let waiting = &mut result;
        match py.detach(move || waiting.recv_timeout(LOOK)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(EngineError::new_err("a thread has ended unasked")),
        }
    }
}
