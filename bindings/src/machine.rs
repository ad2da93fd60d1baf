//! The class `Machine`.

use std::sync::Mutex;

use cyclescope_engine::board::build::build;
use cyclescope_engine::machine::{Machine as Engine, Printed};
use cyclescope_engine::pipe::{Goal, Pipe};
use cyclescope_engine::time::Ps;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::{BoardError, ElfError, EngineError};

/// A board, ready to load and run firmware.
#[pyclass(module = "cyclescope._engine")]
pub struct Machine {
    /// Never contended: a method has the object to itself. It makes the class shareable between threads, as Python asks.
    engine: Mutex<Engine>,
}

impl Machine {
    fn engine(&mut self) -> &mut Engine {
        self.engine.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn pipe_of(&mut self, port: &str) -> PyResult<&mut Pipe> {
        self.engine().pipe(port).ok_or_else(|| no_pipe(port))
    }
}

fn no_pipe(port: &str) -> PyErr {
    EngineError::new_err(format!("the board has no device '{port}' with a pipe to the host"))
}

/// Hands on what was printed. False stops the run: for an exception, which is kept in `raised`, or a signal.
fn look(
    console: Option<&Py<PyAny>>,
    stream: Option<&Py<PyAny>>,
    printed: &Printed,
    raised: &mut Option<PyErr>,
) -> bool {
    let result = Python::attach(|py| {
        if let Some(console) = console.filter(|_| !printed.console.is_empty()) {
            console.call1(py, (PyBytes::new(py, &printed.console),))?;
        }
        if let Some(stream) = stream {
            for (name, bytes) in &printed.streams {
                stream.call1(py, (name, PyBytes::new(py, bytes)))?;
            }
        }
        py.check_signals()
    });
    result.map_err(|error| raised.get_or_insert(error)).is_ok()
}

#[pymethods]
impl Machine {
    /// Builds the machine of a board; raises BoardError with all of its faults.
    #[new]
    fn new(py: Python<'_>, board: &Bound<'_, PyDict>) -> PyResult<Machine> {
        let root = crate::nodes::node(board)?;
        match build(&root) {
            Ok(engine) => Ok(Machine { engine: Mutex::new(engine) }),
            Err(faults) => {
                let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                let error = BoardError::new_err(lines.join("\n"));
                error.value(py).setattr("faults", lines)?;
                Err(error)
            }
        }
    }

    /// Cores, clocks, memory map, devices and timing parameters.
    fn describe<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        crate::describe::describe(py, self.engine())
    }

    /// Loads an ELF file; raises ElfError.
    fn load(&mut self, data: &[u8], name: &str) -> PyResult<()> {
        self.engine().load(data).map_err(|error| ElfError::new_err(format!("{name}: {error}")))
    }

    /// Keeps a cycle stack of its own for each of these functions; raises EngineError for one that the firmware lacks.
    fn watch(&mut self, functions: Vec<String>) -> PyResult<()> {
        for function in functions {
            if !self.engine().watch(&function) {
                return Err(EngineError::new_err(format!("the firmware has no function '{function}' to watch")));
            }
        }
        Ok(())
    }

    /// Keeps a window for each call of each of these functions of the first core; raises EngineError for one that the firmware lacks, or if the
    /// core keeps none.
    fn watch_calls(&mut self, functions: Vec<String>) -> PyResult<()> {
        for function in functions {
            if !self.engine().watch_calls(&function) {
                return Err(EngineError::new_err(format!(
                    "the firmware has no function '{function}' whose calls can be kept"
                )));
            }
        }
        Ok(())
    }

    /// Tells what runs on a core whose program another's loads; raises ElfError, or EngineError if there is no such core.
    fn load_symbols(&mut self, core: &str, data: &[u8], name: &str) -> PyResult<()> {
        match self.engine().load_symbols(core, data) {
            Ok(true) => Ok(()),
            Ok(false) => Err(EngineError::new_err(format!("the board has no core '{core}'"))),
            Err(error) => Err(ElfError::new_err(format!("{name}: {error}"))),
        }
    }

    /// Runs to the firmware's end, or to `limit_ps`. `console` gets bytes as they come, and `stream` a label and bytes of each device that
    /// prints on a line of its own. An exception in them (or a signal) stops the run and is raised after it.
    #[pyo3(signature = (limit_ps=None, console=None, stream=None))]
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        limit_ps: Option<u64>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limit = Ps(limit_ps.unwrap_or(u64::MAX / 2).min(u64::MAX / 2));
        let mut raised = None;
        let engine = self.engine();
        let report =
            py.detach(|| engine.run(limit, |printed| look(console.as_ref(), stream.as_ref(), printed, &mut raised)));
        match raised {
            Some(error) => Err(error),
            None => crate::report::report(py, &report),
        }
    }

    /// The label of the first device with a pipe to the host, if there is one.
    fn pipe(&mut self) -> Option<String> {
        self.engine().first_pipe()
    }

    /// Writes bytes to a device's pipe, at the time that the board has reached; raises EngineError if there is no such pipe.
    fn feed(&mut self, port: &str, bytes: &[u8]) -> PyResult<()> {
        self.engine().feed(port, bytes).then_some(()).ok_or_else(|| no_pipe(port))
    }

    /// Bytes that the firmware sent to a pipe since the last call.
    fn drain<'py>(&mut self, py: Python<'py>, port: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.pipe_of(port)?.drain()))
    }

    /// Totals of a pipe since the start: bytes that the firmware is done with, and bytes that it has sent.
    fn piped(&mut self, port: &str) -> PyResult<(u64, u64)> {
        let pipe = self.pipe_of(port)?;
        Ok((pipe.taken_bytes(), pipe.sent_bytes()))
    }

    /// The time that the board has reached, in picoseconds.
    fn now(&mut self) -> u64 {
        self.engine().latest().0
    }

    /// Runs on until the firmware listens at the pipe (("open", 0)), is done with so many bytes of it ("taken") or has sent so many ("sent"), or the
    /// time `until_ps` comes: when the goal was reached (None: it was not), and the report of the run if it ended. `console` and `stream` are as for `run`.
    #[pyo3(signature = (port, until_ps, goal=None, console=None, stream=None))]
    fn advance<'py>(
        &mut self,
        py: Python<'py>,
        port: &str,
        until_ps: u64,
        goal: Option<(String, u64)>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
    ) -> PyResult<(Option<u64>, Option<Bound<'py, PyDict>>)> {
        let goal = match goal.as_ref().map(|(what, bytes)| (what.as_str(), *bytes)) {
            None => None,
            Some(("open", _)) => Some(Goal::Open),
            Some(("taken", bytes)) => Some(Goal::Taken(bytes)),
            Some(("sent", bytes)) => Some(Goal::Sent(bytes)),
            Some((other, _)) => return Err(EngineError::new_err(format!("a pipe has no goal '{other}'"))),
        };
        let mut raised = None;
        let engine = self.engine();
        let until = Ps(until_ps.min(u64::MAX / 2));
        let step = py.detach(|| {
            engine.advance(port, goal, until, |printed| look(console.as_ref(), stream.as_ref(), printed, &mut raised))
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let step = step.ok_or_else(|| no_pipe(port))?;
        let ended = step.ended.map(|outcome| crate::report::report(py, &self.engine().report(outcome))).transpose()?;
        Ok((step.reached.map(|at| at.0), ended))
    }

    /// Blocks become host code after this many runs; 0: never. Results do not depend on it.
    fn compile_after(&mut self, runs: u16) {
        self.engine().compile_after(runs);
    }

    /// Rounds of polling loops are skipped, or not. Results do not depend on it.
    fn skip_polling(&mut self, skip: bool) {
        self.engine().skip_polling(skip);
    }

    /// Changes of wires are recorded from now on.
    fn record_waves(&mut self) {
        self.engine().record_waves();
    }

    /// What was recorded, and forgets it: a (scope, name, first level) for each signal; and by time, for each change, 12 little-endian bytes: 8 of
    /// the time in picoseconds, 4 of twice the signal's index plus the new level.
    fn take_waves<'py>(&mut self, py: Python<'py>) -> (Vec<(String, String, bool)>, Bound<'py, PyBytes>) {
        let waves = &mut self.engine().bus().waves;
        let mut bytes = Vec::new();
        for change in waves.take() {
            bytes.extend(change.at.0.to_le_bytes());
            bytes.extend((change.signal << 1 | u32::from(change.level)).to_le_bytes());
        }
        let signals = waves.signals().iter().map(|signal| (signal.scope.clone(), signal.name.clone(), signal.first));
        (signals.collect(), PyBytes::new(py, &bytes))
    }

    /// Cycles of each core that were skipped.
    fn skipped(&mut self) -> Vec<u64> {
        self.engine().skipped().into_iter().map(|cycles| cycles.0).collect()
    }

    /// Runs `count` instructions one by one. After each come 33 little-endian words: pc, x0 to x31.
    fn trace<'py>(&mut self, py: Python<'py>, count: usize) -> Bound<'py, PyBytes> {
        let mut words = Vec::with_capacity(count.min(1 << 20) * 33 * 4);
        let engine = self.engine();
        py.detach(|| {
            engine.trace(count, |registers| words.extend(registers.iter().flat_map(|word| word.to_le_bytes())));
        });
        PyBytes::new(py, &words)
    }

    /// pc, then x0 to x31, of the first core.
    fn registers(&mut self) -> Vec<u32> {
        self.engine().registers()
    }

    /// Bytes of memory, without time; raises EngineError where there is none.
    fn read_memory<'py>(&mut self, py: Python<'py>, addr: u32, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = vec![0; length];
        if !self.engine().bus().peek(addr, &mut bytes) {
            return Err(EngineError::new_err(format!("no memory at {addr:#010x}, {length} bytes")));
        }
        Ok(PyBytes::new(py, &bytes))
    }
}
