//! What is wrong in the engine itself: a panic becomes an EngineError, so that who calls loses no more than this call.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use pyo3::PyResult;

use crate::EngineError;

thread_local! {
    /// Where and why this thread panicked last.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From now on a panic prints nothing: [`caught`] tells of it.
pub fn keep_quiet() {
    set_hook(Box::new(|info| LAST.with_borrow_mut(|last| *last = info.to_string())));
}

/// Calls the engine; a panic in it is raised as an EngineError of one line.
pub fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let what = LAST.with_borrow_mut(std::mem::take).split_whitespace().collect::<Vec<_>>().join(" ");
        Err(EngineError::new_err(format!("a fault of Cyclescope itself, please report it: {what}")))
    })
}
