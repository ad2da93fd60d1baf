//! The class `Machine`.

use std::sync::Mutex;

use cyclescope_engine::board::build::build;
use cyclescope_engine::machine::Machine as Engine;
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
        let report = py.detach(|| {
            engine.run(limit, |printed| {
                let result = Python::attach(|py| {
                    if let Some(console) = console.as_ref().filter(|_| !printed.console.is_empty()) {
                        console.call1(py, (PyBytes::new(py, &printed.console),))?;
                    }
                    if let Some(stream) = &stream {
                        for (name, bytes) in &printed.streams {
                            stream.call1(py, (name, PyBytes::new(py, bytes)))?;
                        }
                    }
                    py.check_signals()
                });
                match result {
                    Ok(()) => true,
                    Err(error) => {
                        raised.get_or_insert(error);
                        false
                    }
                }
            })
        });
        match raised {
            Some(error) => Err(error),
            None => crate::report::report(py, &report),
        }
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
