//! What is wrong in the engine itself: a panic becomes an EngineError, so that who calls loses no more than this call.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use cyclescope_engine::patience;
use pyo3::prelude::*;

use crate::EngineError;

thread_local! {
    /// Where and why this thread panicked last.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    /// What a signal's handler has raised on this thread, in the midst of a call.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// How often it is looked whether an answer is still waited for, before it is not: some tenths of a second.
const LOOKS_IN_A_HURRY: u32 = 20;
static LOOKS_LEFT: AtomicU32 = AtomicU32::new(u32::MAX);
/// So often a signal is looked for while another thread works.
const LOOK: Duration = Duration::from_millis(50);
/// The stack of such a thread: what it reads is of bounded depth, at some KiB each.
const STACK_BYTES: usize = 16 << 20;

/// From now on a panic prints nothing: [`caught`] tells of it; and what takes long heeds signals.
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
    // An answer that was cut short is none.
    RAISED.with_borrow_mut(Option::take).map_or(result, Err)
}

/// Has what takes long without simulating end soon from now on, with what it has found by then; or no longer so.
#[pyfunction]
pub fn hurry(soon: bool) {
    LOOKS_LEFT.store(if soon { LOOKS_IN_A_HURRY } else { u32::MAX }, Ordering::Relaxed);
}

/// True if whoever is in a hurry has waited long enough.
fn is_late() -> bool {
    let left = LOOKS_LEFT.load(Ordering::Relaxed);
    if (1..u32::MAX).contains(&left) {
        LOOKS_LEFT.store(left - 1, Ordering::Relaxed);
    }
    left == 0
}

/// Runs the handlers of signals that have come: true if one of them has raised, which [`caught`] does at the end, or if
/// they are in a hurry.
fn is_interrupted() -> bool {
    if RAISED.with_borrow(Option::is_some) {
        return true;
    }
    let raised = Python::try_attach(|py| {
        let raised = py.check_signals().err();
        // Handlers run on the main thread, which may wait for this one.
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

/// Has work done on a thread of its own, and waits for it. What a signal's handler raises ends the waiting at once: the
/// thread is left alone then, and goes with the program.
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
