//! State that a machine's devices in Python share: the calling thread, and the exception that they raised.

use std::ffi::c_long;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::stop::Stop;
use pyo3::exceptions::PyBaseException;
use pyo3::{Py, PyAny, PyErr, PyResult, Python, create_exception, ffi, intern, prelude::*};

create_exception!(_engine, Stopped, PyBaseException, "A run is to stop while a device in Python is called.");

/// The state that devices share.
#[derive(Clone, Default)]
pub struct Calls(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Python's number for the thread that runs the machine.
    thread: AtomicI64,
    /// That thread is in a device's code.
    is_inside: AtomicBool,
    /// An exception [`Stopped`] was requested for that thread.
    is_interrupted: AtomicBool,
    /// An exception that is not a fault of a device, such as KeyboardInterrupt: it is raised after the run.
    raised: Mutex<Option<PyErr>>,
}

impl Calls {
    /// This thread is about to run the machine; `stop` reaches the devices that it calls.
    pub fn begin(&self, py: Python<'_>, stop: Option<&Stop>) -> PyResult<()> {
        let Some(stop) = stop.filter(|_| self.has_devices()) else { return Ok(()) };
        let thread: i64 = py.import(intern!(py, "threading"))?.call_method0(intern!(py, "get_ident"))?.extract()?;
        self.0.thread.store(thread, Ordering::Relaxed);
        stop.reaches(self);
        Ok(())
    }

    /// True if anything else, such as a device, shares this state.
    pub fn has_devices(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Takes the exception to be raised after the run.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Raises [`Stopped`] in a device that is being called, as it may not return by itself.
    pub fn interrupt(&self, py: Python<'_>) {
        if self.0.is_inside.load(Ordering::Relaxed) {
            let stopped: Py<PyAny> = py.get_type::<Stopped>().into_any().unbind();
            self.0.is_interrupted.store(true, Ordering::Relaxed);
            // SAFETY: the interpreter's lock is held. The exception is a class, and the call takes its own reference to
            // it. A thread that has ended is not found.
            unsafe { ffi::PyThreadState_SetAsyncExc(self.thread(), stopped.as_ptr()) };
        }
    }

    /// Calls a device.
    pub fn inside<T>(&self, _py: Python<'_>, call: impl FnOnce() -> T) -> T {
        self.0.is_inside.store(true, Ordering::Relaxed);
        let result = call();
        self.0.is_inside.store(false, Ordering::Relaxed);
        if self.0.is_interrupted.swap(false, Ordering::Relaxed) {
            // The request may have come too late, and must not raise the exception elsewhere.
            // SAFETY: the interpreter's lock is held; a null exception cancels the request.
            unsafe { ffi::PyThreadState_SetAsyncExc(self.thread(), ptr::null_mut()) };
        }
        result
    }

    /// Keeps an exception to be raised after the run.
    pub fn keep(&self, error: PyErr) {
        self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn thread(&self) -> c_long {
        self.0.thread.load(Ordering::Relaxed)
    }
}
