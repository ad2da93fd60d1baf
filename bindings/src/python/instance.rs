//! An object of the user's, and calls to it.

use engine::state::{Damaged, Fresh, Loader, Saver, State};
use engine::time::Ps;
use pyo3::BoundObject;
use pyo3::exceptions::{PyException, PySystemExit, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyTuple};

use super::base::{DeviceBase, Effect};
use super::calls::{Calls, Stopped};
use crate::BusError;
use crate::states;

/// Why a call has no result.
pub enum Failed {
    /// The device answers with a bus error.
    Bus,
    /// The device can't continue: one line for the user. It is not called any more.
    Ended(String),
    /// The device could not continue before this call.
    Before,
}

/// An object of a class that `cyclescope.devices.device` registered.
pub struct Instance {
    object: Py<PyAny>,
    base: Py<DeviceBase>,
    /// Makes a line for the user from the object, the exception, the method, and its arguments.
    report: Py<PyAny>,
    calls: Calls,
    /// The device may answer accesses with a bus error.
    on_bus: bool,
    failed: bool,
}

impl Instance {
    /// The object. Raises TypeError if its class is not registered.
    pub fn new(object: &Bound<'_, PyAny>, report: Py<PyAny>, calls: Calls, on_bus: bool) -> PyResult<Instance> {
        let base = object.cast::<DeviceBase>()?.clone().unbind();
        Ok(Instance { object: object.clone().unbind(), base, report, calls, on_bus, failed: false })
    }

    /// Calls a method at `now`, and converts its result. `range` is that of an access.
    pub fn call<T>(
        &mut self,
        method: &str,
        now: Ps,
        range: usize,
        arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple>,
        result: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> (Result<T, Failed>, Vec<Effect>) {
        if self.failed {
            return (Err(Failed::Before), Vec::new());
        }
        Python::attach(|py| {
            let base = self.base.clone_ref(py);
            let base = base.get();
            {
                let mut state = base.state();
                (state.now_ps, state.range) = (now.0, range);
            }
            let calls = self.calls.clone();
            let called = calls.inside(py, || self.called(py, method, arguments, result));
            let effects = std::mem::take(&mut base.state().effects);
            (called, effects)
        })
    }

    /// Sets the levels of the device's pins.
    pub fn set_levels(&self, levels: impl Iterator<Item = bool>) {
        let mut state = self.base.get().state();
        state.levels.clear();
        state.levels.extend(levels);
    }

    /// The object's `counters`; values that are not numbers are left out.
    pub fn counters(&self) -> Vec<(String, u64)> {
        Python::attach(|py| {
            let counters = self.object.bind(py).getattr("counters").and_then(|kept| Ok(kept.cast_into::<PyDict>()?));
            let items = counters.into_iter().flatten();
            items.filter_map(|(name, count)| Some((name.extract().ok()?, count.extract().ok()?))).collect()
        })
    }

    fn called<'py, T>(
        &mut self,
        py: Python<'py>,
        method: &str,
        arguments: impl IntoPyObject<'py, Target = PyTuple>,
        result: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T, Failed> {
        let arguments = match arguments.into_pyobject(py) {
            Ok(arguments) => arguments.into_bound(),
            Err(error) => return Err(self.end(py, method, &PyTuple::empty(py), error.into())),
        };
        let called = self.object.bind(py).getattr(method).and_then(|method| method.call1(&arguments));
        match called.and_then(|value| result(&value)) {
            Ok(value) => Ok(value),
            Err(error) if self.on_bus && matches!(method, "read" | "write") && error.is_instance_of::<BusError>(py) => {
                Err(Failed::Bus)
            }
            Err(error) => Err(self.end(py, method, &arguments, error)),
        }
    }

    /// The device can't continue.
    fn end(&mut self, py: Python<'_>, method: &str, arguments: &Bound<'_, PyTuple>, error: PyErr) -> Failed {
        self.failed = true;
        if !error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PySystemExit>(py) {
            if !error.is_instance_of::<Stopped>(py) {
                self.calls.keep(error);
            }
            return Failed::Ended("the run was interrupted in a device".to_owned());
        }
        let line = self.report.bind(py).call1((&self.object, error.clone_ref(py).into_value(py), method, arguments));
        let text = line.and_then(|line| line.extract()).unwrap_or_else(|_| error.to_string());
        Failed::Ended(text)
    }
}

/// Uses the object's `save_state` and `load_state`, which may refuse.
impl State for Instance {
    fn save(&self, to: &mut Saver) {
        if to.is_shown() {
            // For people: the current attributes, without a call of the object's methods.
            return to.show(Python::attach(|py| states::of_object(self.object.bind(py))));
        }
        self.failed.save(to);
        match Python::attach(|py| self.saved(py)) {
            Ok(data) => data.save(to),
            Err(why) => to.refuse(why),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.failed.load(from)?;
        let data = Vec::<u8>::loaded(from)?;
        Python::attach(|py| self.load_saved(py, &data)).map_err(|why| from.refuse(why))
    }
}

impl Instance {
    fn saved(&self, py: Python<'_>) -> Result<Vec<u8>, String> {
        let saved = self.object.bind(py).call_method0("save_state").and_then(|data| data.extract());
        saved.map_err(|error| self.line_of(py, &error, "save_state"))
    }

    fn load_saved(&self, py: Python<'_>, data: &[u8]) -> Result<(), String> {
        let loaded = self.object.bind(py).call_method1("load_state", (PyBytes::new(py, data),));
        // The engine has the levels of its lines and its events.
        self.base.get().state().effects.clear();
        loaded.map(|_| ()).map_err(|error| self.line_of(py, &error, "load_state"))
    }

    /// The line for the user that describes an exception.
    fn line_of(&self, py: Python<'_>, error: &PyErr, method: &str) -> String {
        let line = self.report.bind(py).call1((&self.object, error.clone_ref(py).into_value(py), method, ()));
        line.and_then(|line| line.extract()).unwrap_or_else(|_| error.to_string())
    }
}

/// A number in a method's result, at most `most`. Raises TypeError or ValueError for anything else.
pub fn number(value: &Bound<'_, PyAny>, what: &str, most: u64) -> PyResult<u64> {
    if value.is_instance_of::<PyBool>() {
        return Ok(u64::from(value.is_truthy()?));
    }
    let wrong = || {
        let shown = value.repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
        (shown.chars().take(60).collect::<String>(), most)
    };
    match value.extract::<u64>() {
        Ok(number) if number <= most => Ok(number),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(PyTypeError::new_err(format!("{what} is {}, and has to be an int", wrong().0)))
        }
        Ok(_) | Err(_) => Err(PyValueError::new_err(format!("{what} is {}, and has to be 0 to {most:#x}", wrong().0))),
    }
}
