//! The class `Machine`.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, TryLockError};

use engine::dt::fault::BoardFault;
use engine::observe::fst;
use engine::observe::trace::{CoreTasks, TaskSlice};
use engine::observe::vcd::VcdText;
use engine::pipe::{Goal, Pipe};
use engine::time::Ps;
use machine::board::build::build_with;
use machine::loading::RawProgram;
use machine::tracing::Recorded;
use machine::{Machine as Engine, Printed, RunReport};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::activities::{Activities, kinds_of};
use crate::arguments::{Arg, List};
use crate::caught::caught;
use crate::gdb::{Gdb, Typist};
use crate::lines::{CanStepItem, StepItem, far_end, partner};
use crate::profile::PlaceItem;
use crate::python::calls::Calls;
use crate::python::models::externals;
use crate::semihosting::Stdin;
use crate::snapshots;
use crate::stop::Stop;
use crate::triggers;
use crate::waves::{Pieces, change_pieces, file_pieces, os_error};
use crate::{BoardError, ElfError, EngineError};

/// The most instructions that are traced at a time: each takes 132 bytes.
const MOST_TRACED: usize = 1 << 22;

/// A recorded signal: scope, name, level at rest.
type SignalItem = (String, String, bool);
/// A call of a function: core, number of its stack, task, function, and the times of call and return in picoseconds.
type SliceItem = (String, u32, String, String, u64, u64);
/// A light or a button: its names, its pin, and whether the pin is low while it is on or pressed.
type PartItem = ([String; 3], String, bool);
type PinsItem = (Vec<(String, u32)>, Vec<PartItem>, Vec<PartItem>);
type TaskSliceItem = (String, String, u64, u64);

/// A board, ready to load and run firmware.
#[pyclass(module = "cyclescope._engine")]
pub struct Machine {
    engine: Mutex<Engine>,
    /// The calls of devices in Python.
    calls: Calls,
}

impl Machine {
    /// Uses the engine. Raises EngineError if a run is active, on another thread or in a caller of this call, and for
    /// faults of the engine itself.
    pub fn with<T>(&self, work: impl FnOnce(&mut Engine) -> PyResult<T>) -> PyResult<T> {
        let mut engine = match self.engine.try_lock() {
            Ok(engine) => engine,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => {
                return Err(EngineError::new_err("the machine is busy: a call to it has not returned yet"));
            }
        };
        caught(|| work(&mut engine))
    }

    /// Uses the engine in a run, which is started if none is active. Raises BoardError if another run uses an image of
    /// the board.
    fn with_run<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Engine) -> PyResult<T>) -> PyResult<T> {
        self.with(|engine| {
            engine.begin().map_err(|faults| board_error(py, &faults))?;
            work(engine)
        })
    }

    /// Simulates a part of a run, up to a time: its report if the run ended.
    fn run_part<'py>(
        &self,
        py: Python<'py>,
        until_ps: u64,
        mut sinks: Sinks,
        stop: Option<&Stop>,
        work: impl FnOnce(&mut Engine, Ps, &mut dyn FnMut(&Printed) -> bool) -> Option<RunReport> + Send,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let until = Ps(until_ps.min(u64::MAX / 2));
        self.calls.begin(py, stop)?;
        let ended = self.with_run(py, |engine| {
            engine.stop_on(stop.map(Stop::shared).unwrap_or_default());
            Ok(py.detach(|| work(engine, until, &mut |printed| sinks.take(printed))))
        })?;
        match sinks.raised.or(self.calls.take_raised()) {
            Some(error) => Err(error),
            None => ended.map(|report| crate::report::report(py, &report)).transpose(),
        }
    }

    fn with_pipe<T>(&self, port: &str, work: impl FnOnce(&mut Pipe) -> T) -> PyResult<T> {
        self.with(|engine| engine.pipe(port).map(work).ok_or_else(|| no_pipe(port)))
    }
}

/// A BoardError with all faults, a line each.
pub fn board_error(py: Python<'_>, faults: &[BoardFault]) -> PyErr {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let error = BoardError::new_err(lines.join("\n"));
    error.value(py).setattr("faults", lines).map_or_else(|failed| failed, |()| error)
}

/// The text is one line, whatever the name.
fn no_function(engine: &Engine, name: &str, what_for: &str) -> PyErr {
    if let Some(several) = engine.several_functions(name) {
        return EngineError::new_err(several);
    }
    let similar = engine.functions_like(name).join(" or ");
    let hint = if similar.is_empty() { similar } else { format!("; did you mean {similar}?") };
    EngineError::new_err(format!("the firmware has no function '{}' {what_for}{hint}", name.escape_debug()))
}

/// The index of a core, if one is named.
fn core_named(engine: &Engine, name: Option<Arg<String>>) -> PyResult<Option<usize>> {
    let Some(Arg(name)) = name else { return Ok(None) };
    let known: Vec<&str> = engine.description().cores.iter().map(|core| core.name.as_str()).collect();
    let no_core =
        || EngineError::new_err(format!("the board has no core {}; it has {}", name.escape_debug(), known.join(", ")));
    engine.core_named(&name).map(Some).ok_or_else(no_core)
}

fn no_core(name: &str) -> PyErr {
    EngineError::new_err(format!("the board has no core '{}'", name.escape_debug()))
}

fn no_pipe(port: &str) -> PyErr {
    EngineError::new_err(format!("the board has no device '{}' with a pipe to the host", port.escape_debug()))
}

fn no_line(port: &str) -> PyErr {
    EngineError::new_err(format!("the board has no serial port '{}' whose line can be used so", port.escape_debug()))
}

/// A unit of time that a waveform may have.
fn unit_of(unit_ps: u64) -> PyResult<Ps> {
    let no_unit = || EngineError::new_err(format!("{unit_ps} ps is no unit of time for a waveform"));
    VcdText::has_unit(Ps(unit_ps)).then_some(Ps(unit_ps)).ok_or_else(no_unit)
}

fn check_signals(engine: &mut Engine, signals: &[usize]) -> PyResult<()> {
    let known = engine.bus().waves.signals().len();
    match signals.iter().find(|signal| **signal >= known) {
        Some(signal) => {
            Err(EngineError::new_err(format!("the board has {known} signals to record, and no number {signal}")))
        }
        None => Ok(()),
    }
}

/// The receivers of output during a run, and their result.
pub struct Sinks {
    pub console: Option<Py<PyAny>>,
    pub stream: Option<Py<PyAny>>,
    pub note: Option<Py<PyAny>>,
    /// Called when a debugger restarts the run.
    pub anew: Option<Py<PyAny>>,
    pub raised: Option<PyErr>,
}

impl Sinks {
    /// Passes output on. False stops the run: for an exception, which is kept in `raised`, or for a signal.
    pub fn take(&mut self, printed: &Printed) -> bool {
        let result = Python::attach(|py| {
            if let Some(anew) = self.anew.as_ref().filter(|_| printed.is_restart) {
                anew.call0(py)?;
            }
            if let Some(console) = self.console.as_ref().filter(|_| !printed.console.is_empty()) {
                console.call1(py, (PyBytes::new(py, &printed.console),))?;
            }
            if let Some(stream) = &self.stream {
                for (name, bytes) in &printed.streams {
                    stream.call1(py, (name, PyBytes::new(py, bytes)))?;
                }
            }
            if let Some(note) = &self.note {
                for text in &printed.notes {
                    note.call1(py, (text,))?;
                }
            }
            py.check_signals()
        });
        result.map_err(|error| self.raised.get_or_insert(error)).is_ok()
    }
}

#[pymethods]
impl Machine {
    /// Builds the machine of a board, with models in Python in addition to the engine's own. Raises BoardError with all
    /// faults of the board.
    #[new]
    #[pyo3(signature = (board, models=None))]
    fn new(py: Python<'_>, board: &Bound<'_, PyAny>, models: Option<&Bound<'_, PyAny>>) -> PyResult<Machine> {
        let (root, calls) = (crate::nodes::node(board)?, Calls::default());
        let externals = externals(models, &calls)?;
        let built = caught(|| Ok(build_with(&root, &externals)))?;
        if let Some(error) = calls.take_raised() {
            return Err(error);
        }
        match built {
            Ok(engine) => Ok(Machine { engine: Mutex::new(engine), calls }),
            Err(faults) => Err(board_error(py, &faults)),
        }
    }

    /// Cores, clocks, memory map, devices and timing parameters.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.with(|engine| crate::describe::describe(py, engine))
    }

    /// Loads an ELF file for the first core that it fits, or for the named core. Raises ElfError, or EngineError if
    /// there is no such core.
    #[pyo3(signature = (data, name, core=None))]
    fn load(&self, data: Arg<PyBackedBytes>, name: Arg<String>, core: Option<Arg<String>>) -> PyResult<()> {
        self.with(|engine| {
            let core = core_named(engine, core)?;
            engine.load_for(&data.0, core).map_err(|error| ElfError::new_err(format!("{}: {error}", name.0)))
        })
    }

    /// Loads a program without headers: parts (address and bytes), and the address of the first instruction from the
    /// file and from the user. Raises ElfError, or EngineError if there is no such core.
    #[pyo3(signature = (parts, entry, start, name, core=None))]
    fn load_raw(
        &self,
        parts: List<(u32, Vec<u8>)>,
        entry: Option<Arg<u32>>,
        start: Option<Arg<u32>>,
        name: Arg<String>,
        core: Option<Arg<String>>,
    ) -> PyResult<()> {
        let parts = parts.0.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
        let program = RawProgram { parts, entry: entry.map(|entry| entry.0), start: start.map(|start| start.0) };
        self.with(|engine| {
            let core = core_named(engine, core)?;
            engine.load_raw(program, core).map_err(|error| ElfError::new_err(format!("{}: {error}", name.0)))
        })
    }

    /// Keeps a separate cycle stack for each given function. Raises EngineError for a function that the firmware lacks.
    fn watch(&self, functions: List<String>) -> PyResult<()> {
        for function in functions.0 {
            self.with(|engine| {
                let found = engine.watch(&function);
                found.then_some(()).ok_or_else(|| no_function(engine, &function, "to watch"))
            })?;
        }
        Ok(())
    }

    /// Keeps the `most` longest calls of each given function. Raises EngineError for a function that the firmware
    /// lacks.
    fn keep_calls(&self, functions: List<String>, most: Arg<usize>) -> PyResult<()> {
        for function in functions.0 {
            self.with(|engine| {
                let found = engine.keep_calls(&function, most.0);
                found.then_some(()).ok_or_else(|| no_function(engine, &function, "to keep calls of"))
            })?;
        }
        Ok(())
    }

    /// Keeps a window for each call of the given functions of the first core. Raises EngineError for a function that
    /// the firmware lacks.
    fn watch_calls(&self, functions: List<String>) -> PyResult<()> {
        for function in functions.0 {
            self.with(|engine| {
                let found = engine.watch_calls(&function);
                found.then_some(()).ok_or_else(|| no_function(engine, &function, "to keep windows of"))
            })?;
        }
        Ok(())
    }

    /// Profiles all cores from now on; calls of the given functions are kept one by one. With `by_site`, paths are
    /// distinguished by the places of the calls. Raises EngineError for a function that the firmware lacks.
    #[pyo3(signature = (functions=List(Vec::new()), by_site=false))]
    fn profile_functions(&self, functions: List<String>, by_site: bool) -> PyResult<()> {
        self.with(|engine| {
            let profiled = engine.profile(&functions.0, by_site);
            profiled.map_err(|name| no_function(engine, &name, "to profile"))
        })
    }

    /// Records from now on what each core waits for: `waits` of cores and sections in reports.
    fn report_waits(&self) -> PyResult<()> {
        self.with(|engine| {
            engine.record_waits();
            Ok(())
        })
    }

    /// The profiles so far, one for each profiled core.
    fn profile<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let profiles = self.with(|engine| Ok(engine.profiles()))?;
        profiles.iter().map(|profile| crate::profile::profile(py, profile)).collect()
    }

    /// The source places of addresses in a core's program: function, file, line, column, the innermost inlined function
    /// first. Raises EngineError if there is no such core.
    fn places(&self, core: Arg<String>, addresses: List<u32>) -> PyResult<Vec<Vec<PlaceItem>>> {
        self.with(|engine| {
            let places = engine.places(&core.0, &addresses.0);
            let places = places.ok_or_else(|| no_core(&core.0))?;
            Ok(places.into_iter().map(|frames| frames.into_iter().map(crate::profile::place).collect()).collect())
        })
    }

    /// The functions of a core's program: address, size, name. Raises EngineError if there is no such core.
    fn functions(&self, core: Arg<String>) -> PyResult<Vec<(u32, u32, String)>> {
        self.with(|engine| engine.functions(&core.0).ok_or_else(|| no_core(&core.0)))
    }

    /// Loads the symbols of a program that another core loads for this one. Raises ElfError, or EngineError if there is
    /// no such core.
    fn load_symbols(&self, core: Arg<String>, data: Arg<PyBackedBytes>, name: Arg<String>) -> PyResult<()> {
        self.with(|engine| match engine.load_symbols(&core.0, &data.0) {
            Ok(true) => Ok(()),
            Ok(false) => Err(no_core(&core.0)),
            Err(error) => Err(ElfError::new_err(format!("{}: {error}", name.0))),
        })
    }

    /// Files on the host in which chips keep their contents: the chip's label, and the path in the board's description.
    fn images(&self) -> PyResult<Vec<(String, PathBuf)>> {
        self.with(|engine| Ok(engine.images()))
    }

    /// Gives the firmware semihosting with the files of `folder`, `stdin`, and a command line. File descriptors are
    /// duplicated. Raises OSError or EngineError for an invalid one.
    #[pyo3(signature = (folder=None, stdin=None, arguments=List(Vec::new())))]
    fn semihosting(
        &self,
        folder: Option<Arg<i32>>,
        stdin: Option<Arg<Stdin>>,
        arguments: List<Vec<u8>>,
    ) -> PyResult<()> {
        let (folder, stdin) = (folder.map(|folder| folder.0), stdin.map(|stdin| stdin.0));
        self.with(|engine| crate::semihosting::give(&mut engine.bus().host, folder, stdin, arguments.0))
    }

    /// Runs to the firmware's end, or to `limit_ps`. Raises BoardError if another run uses an image of the board.
    /// `console` gets bytes when they are printed, and `stream` gets a label and bytes for each device that prints on a
    /// line of its own. An exception in them (or a signal) stops the run and is raised afterwards; `stop` stops the
    /// run, with a report. `note` gets urgent notes during the run.
    #[pyo3(signature = (limit_ps=None, console=None, stream=None, stop=None, note=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        limit_ps: Option<Arg<u64>>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
        stop: Option<&Stop>,
        note: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limit = Ps(limit_ps.map_or(u64::MAX / 2, |limit| limit.0.min(u64::MAX / 2)));
        let mut sinks = Sinks { console, stream, note, anew: None, raised: None };
        self.calls.begin(py, stop)?;
        let report = self.with_run(py, |engine| {
            engine.stop_on(stop.map(Stop::shared).unwrap_or_default());
            Ok(py.detach(|| engine.run(limit, |printed| sinks.take(printed))))
        })?;
        match sinks.raised.or(self.calls.take_raised()) {
            Some(error) => Err(error),
            None => crate::report::report(py, &report),
        }
    }

    /// Lets `gdb` hold the machine until its client detaches (None: the run may continue), or to the end of the run
    /// (the report, as from `run`). `anew` is called when the run is restarted: earlier output belongs to another run
    /// then. `typist` is asked for characters that people have typed, with the time in picoseconds and the number of
    /// characters that each port has yet to send. It returns characters by the labels of ports, or None when nobody can
    /// type any more. Where the client goes back, recorded characters are typed again and `typist` is not asked.
    #[pyo3(signature = (
        gdb, limit_ps=None, console=None, stream=None, stop=None, note=None, anew=None, typist=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn hold<'py>(
        &self,
        py: Python<'py>,
        gdb: &Gdb,
        limit_ps: Option<Arg<u64>>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
        stop: Option<&Stop>,
        note: Option<Py<PyAny>>,
        anew: Option<Py<PyAny>>,
        typist: Option<Py<PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let limit = limit_ps.map_or(u64::MAX, |limit| limit.0);
        let sinks = Sinks { console, stream, note, anew, raised: None };
        let mut typist = typist.map(Typist::new);
        let mut used = Ok(());
        let ended = self.run_part(py, limit, sinks, stop, |engine, limit, pause| {
            let ended = gdb.hold(engine, limit, typist.as_mut(), pause);
            ended.unwrap_or_else(|why| {
                used = Err(EngineError::new_err(why));
                None
            })
        })?;
        used?;
        match typist.and_then(|typist| typist.raised) {
            Some(error) => Err(error),
            None => Ok(ended),
        }
    }

    /// Runs to `until_ps`, or as soon afterwards as the cores return to the machine anyway, and stops there: None. The
    /// run continues as if it had not stopped. If it ends before, the report, as from `run`.
    #[pyo3(signature = (until_ps, console=None, stream=None, stop=None, note=None))]
    fn run_to<'py>(
        &self,
        py: Python<'py>,
        until_ps: Arg<u64>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
        stop: Option<&Stop>,
        note: Option<Py<PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let sinks = Sinks { console, stream, note, anew: None, raised: None };
        self.run_part(py, until_ps.0, sinks, stop, |engine, until, pause| engine.run_to(until, pause))
    }

    /// All state that changes while the firmware runs, as bytes for `restore`. Raises EngineError if a part of it can't
    /// be saved, BoardError if another run uses an image of the board.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with_run(py, |engine| Ok(PyBytes::new(py, &py.detach(|| snapshots::taken(engine))?)))
    }

    /// Restores the state of this machine, or of another machine with the same board and firmware, from a snapshot.
    /// Raises EngineError if the snapshot is damaged, or belongs to another board or firmware.
    fn restore(&self, py: Python<'_>, snapshot: Arg<PyBackedBytes>) -> PyResult<()> {
        self.with_run(py, |engine| py.detach(|| snapshots::load(engine, &snapshot.0)))
    }

    /// Labels of the serial ports that can receive, and the label of the console's port, if it is known.
    fn serial_ports(&self) -> PyResult<(Vec<String>, Option<String>)> {
        self.with(|engine| Ok((engine.serial_ports(), engine.console_port())))
    }

    /// Connects the other end of a serial port's line: it types these characters and those of `type_on`, or follows a
    /// script of steps (place, action, characters, number). Raises EngineError if there is no such port, or if its line
    /// is connected already.
    #[pyo3(signature = (port, characters=Arg(Vec::new()), script=None))]
    fn attach(
        &self,
        port: Option<Arg<String>>,
        characters: Arg<Vec<u8>>,
        script: Option<List<StepItem>>,
    ) -> PyResult<()> {
        self.with(|engine| {
            let end = far_end(characters.0, script, engine.bus())?;
            match port {
                Some(port) => engine.attach(&port.0, end).then_some(()).ok_or_else(|| no_line(&port.0)),
                None => engine.attach_at_pins(end).then_some(()).ok_or_else(|| no_line("")),
            }
        })
    }

    /// The pins for scripts: labels of ports with the number of pins of each; lights and buttons, each by the name for
    /// users and by its node's label and name, with its pin.
    fn pins(&self) -> PyResult<PinsItem> {
        self.with(|engine| {
            let bus = engine.bus();
            let lights = bus.lights(Ps::ZERO).into_iter().map(|it| (it.names, bus.name_of_pin(it.pin), it.active_low));
            let keys = bus.keys().map(|it| (it.names.clone(), bus.name_of_pin(it.pin), it.active_low));
            Ok((bus.ports(), lights.collect(), keys.collect()))
        })
    }

    /// Labels of the controllers that are on a CAN bus, each with that of its bus.
    fn can_controllers(&self) -> PyResult<Vec<(String, String)>> {
        self.with(|engine| Ok(engine.can_controllers()))
    }

    /// Connects a node without firmware to a CAN bus, which is named by its label or by a controller's: the node
    /// follows steps (place, action, frame, whether any data matches, number), prints a line for each frame, or both.
    /// Raises EngineError if there is no such bus, or if it has such a node already.
    #[pyo3(signature = (label, steps=None, logs=Arg(false), bits_per_second=None))]
    fn attach_can(
        &self,
        label: Arg<String>,
        steps: Option<List<CanStepItem>>,
        logs: Arg<bool>,
        bits_per_second: Option<Arg<u32>>,
    ) -> PyResult<()> {
        let node = partner(&label.0, steps, logs.0, bits_per_second.map(|rate| rate.0))?;
        let no_bus = || EngineError::new_err(format!("no CAN bus '{}' without a node", label.0.escape_debug()));
        self.with(|engine| engine.attach_can(&label.0, node).then_some(()).ok_or_else(no_bus))
    }

    /// Types characters on a serial line, at the current time of the board. Raises EngineError if the line's other end
    /// is not connected.
    fn type_on(&self, port: Arg<String>, characters: Arg<PyBackedBytes>) -> PyResult<()> {
        self.with(|engine| engine.type_on(&port.0, &characters.0).then_some(()).ok_or_else(|| no_line(&port.0)))
    }

    /// The number of characters that were typed on a serial line and have not passed it yet.
    fn untyped(&self, port: Arg<String>) -> PyResult<usize> {
        self.with(|engine| engine.untyped(&port.0).ok_or_else(|| no_line(&port.0)))
    }

    /// Like `run`, but to the time `until_ps` at most: the report if the run ended, else None, and the run can
    /// continue.
    #[pyo3(signature = (until_ps, console=None, stream=None, stop=None, note=None))]
    fn run_until<'py>(
        &self,
        py: Python<'py>,
        until_ps: Arg<u64>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
        stop: Option<&Stop>,
        note: Option<Py<PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let sinks = Sinks { console, stream, note, anew: None, raised: None };
        self.run_part(py, until_ps.0, sinks, stop, |engine, until, pause| engine.run_until(until, pause))
    }

    /// The label of the first device with a pipe to the host, if there is one.
    fn pipe(&self) -> PyResult<Option<String>> {
        self.with(|engine| Ok(engine.first_pipe()))
    }

    /// Writes bytes to a device's pipe, at the current time of the board. Raises EngineError if there is no such pipe.
    fn feed(&self, port: Arg<String>, bytes: Arg<PyBackedBytes>) -> PyResult<()> {
        self.with(|engine| engine.feed(&port.0, &bytes.0).then_some(()).ok_or_else(|| no_pipe(&port.0)))
    }

    /// Bytes that the firmware sent to a pipe since the last call.
    fn drain<'py>(&self, py: Python<'py>, port: Arg<String>) -> PyResult<Bound<'py, PyBytes>> {
        self.with_pipe(&port.0, |pipe| PyBytes::new(py, &pipe.drain()))
    }

    /// Totals of a pipe since the start: bytes that the firmware has consumed, and bytes that it has sent.
    fn piped(&self, port: Arg<String>) -> PyResult<(u64, u64)> {
        self.with_pipe(&port.0, |pipe| (pipe.taken_bytes(), pipe.sent_bytes()))
    }

    /// The current time of the board, in picoseconds.
    fn now(&self) -> PyResult<u64> {
        self.with(|engine| Ok(engine.latest().0))
    }

    /// Runs until the firmware listens at the pipe (goal ("open", 0)), has consumed a number of its bytes ("taken") or
    /// has sent a number of bytes ("sent"), or until `until_ps`. Returns the time when the goal was reached (None if it
    /// was not), and the report if the run ended. `console`, `stream` and `stop` are those of `run`.
    #[pyo3(signature = (port, until_ps, goal=None, console=None, stream=None, stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are Python's, by name")]
    fn advance<'py>(
        &self,
        py: Python<'py>,
        port: Arg<String>,
        until_ps: Arg<u64>,
        goal: Option<Arg<(String, u64)>>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
        stop: Option<&Stop>,
    ) -> PyResult<(Option<u64>, Option<Bound<'py, PyDict>>)> {
        let goal = match goal.as_ref().map(|Arg((what, bytes))| (what.as_str(), *bytes)) {
            None => None,
            Some(("open", _)) => Some(Goal::Open),
            Some(("taken", bytes)) => Some(Goal::Taken(bytes)),
            Some(("sent", bytes)) => Some(Goal::Sent(bytes)),
            Some((other, _)) => return Err(EngineError::new_err(format!("a pipe has no goal '{other}'"))),
        };
        let mut sinks = Sinks { console, stream, note: None, anew: None, raised: None };
        let until = Ps(until_ps.0.min(u64::MAX / 2));
        self.calls.begin(py, stop)?;
        let (reached, report) = self.with_run(py, |engine| {
            engine.stop_on(stop.map(Stop::shared).unwrap_or_default());
            let step = py.detach(|| engine.advance(&port.0, goal, until, |printed| sinks.take(printed)));
            let step = step.ok_or_else(|| no_pipe(&port.0))?;
            Ok((step.reached, step.ended))
        })?;
        if let Some(error) = sinks.raised.or(self.calls.take_raised()) {
            return Err(error);
        }
        let ended = report.map(|report| crate::report::report(py, &report)).transpose()?;
        Ok((reached.map(|at| at.0), ended))
    }

    /// Ends a run that is made in steps, unless it has ended. Returns a sentence for each image that could not be
    /// written.
    fn finish(&self) -> PyResult<Vec<String>> {
        self.with(|engine| {
            engine.finish();
            Ok(engine.take_failed_saves())
        })
    }

    /// Blocks are compiled to host code after this many runs; 0: never. Results do not depend on it.
    fn compile_after(&self, runs: Arg<u16>) -> PyResult<()> {
        self.with(|engine| {
            engine.compile_after(runs.0);
            Ok(())
        })
    }

    /// The segments of the loaded programs: core, first address, bytes in the file, bytes in memory.
    fn loaded(&self) -> PyResult<Vec<(usize, u32, u32, u32)>> {
        self.with(|engine| {
            let loaded = engine.loaded().into_iter();
            Ok(loaded.map(|it| (it.core, it.addr, it.file_bytes, it.memory_bytes)).collect())
        })
    }

    /// By core, the number of regions of its code that were compiled to host code, and of those that could not be, so
    /// far. Runs with equal results may differ in it.
    fn compiled(&self) -> PyResult<Vec<(u64, u64)>> {
        self.with(|engine| Ok(engine.compiled().into_iter().map(|core| (core.regions, core.refused)).collect()))
    }

    /// Switches the skipping of polling loops. Results do not depend on it.
    fn skip_polling(&self, skip: Arg<bool>) -> PyResult<()> {
        self.with(|engine| {
            engine.skip_polling(skip.0);
            Ok(())
        })
    }

    /// The wires that can be recorded: scope, name, and level at rest.
    fn wave_signals(&self) -> PyResult<Vec<SignalItem>> {
        self.with(|engine| {
            let signals = engine.bus().waves.signals().into_iter();
            Ok(signals.map(|signal| (signal.scope, signal.name, signal.first)).collect())
        })
    }

    /// Indices in `wave_signals` of the signals that are made of activities of the given kinds.
    fn wave_signals_of(&self, kinds: List<String>) -> PyResult<Vec<usize>> {
        let kinds = kinds_of(Some(kinds))?;
        self.with(|engine| {
            let bus = engine.bus();
            Ok(bus.device_signals.of_kinds(kinds, &bus.activities))
        })
    }

    /// Indices in `wave_signals` of ports' pins, each with whether its wire has another name there, too.
    fn wave_pins(&self) -> PyResult<Vec<(usize, bool)>> {
        self.with(|engine| {
            let pins = engine.bus().wires.pin_signals().into_iter();
            Ok(pins.map(|(signal, has_other)| (signal.place(), has_other)).collect())
        })
    }

    /// For each given index in `wave_signals`, whether a change of the signal was recorded.
    fn wave_moved(&self, signals: List<usize>) -> PyResult<Vec<bool>> {
        self.with(|engine| Ok(signals.0.iter().map(|place| engine.bus().waves.has_moved(*place)).collect()))
    }

    /// Records changes of the given wires (indices in `wave_signals`) from now on. Changes that do not fit in memory go
    /// to `file`, which is empty and may be removed after the call; without a file there is a limit. Raises EngineError
    /// for an invalid index, OSError if the file can't be opened.
    #[pyo3(signature = (signals, file=None))]
    fn record_waves(&self, signals: List<usize>, file: Option<Arg<PathBuf>>) -> PyResult<()> {
        self.with(|engine| {
            check_signals(engine, &signals.0)?;
            let file = file.map(|path| File::options().read(true).write(true).open(path.0)).transpose()?;
            engine.record_waves(&signals.0, file);
            Ok(())
        })
    }

    /// The number of recorded changes, and the coarsest power of ten of picoseconds that divides all their times, if
    /// there are any after time 0.
    fn wave_summary(&self) -> PyResult<(u64, Option<u64>)> {
        self.with(|engine| {
            let summary = engine.bus().waves.summary();
            Ok((summary.changes, summary.unit.map(|unit| unit.0)))
        })
    }

    /// The recorded changes in the order of time, in pieces of bytes: a change has 12 little-endian bytes, 8 of the
    /// time in picoseconds, 4 of twice the signal's index plus the new level. Raises OSError, here or from the
    /// iterator, if the recording's file could not be written or read.
    fn wave_changes(&self) -> PyResult<Pieces> {
        self.with(|engine| Ok(Pieces::new(change_pieces(engine.bus().waves.recorded().map_err(os_error)?))))
    }

    /// The recorded changes of the given wires up to `end_ps` as the text of a Value Change Dump, in pieces. Its unit
    /// of time, `unit_ps`, is a power of ten of picoseconds; times are rounded to it. Raises EngineError for another
    /// unit or an invalid index, OSError like `wave_changes`.
    fn vcd(&self, signals: List<usize>, unit_ps: Arg<u64>, end_ps: Arg<u64>) -> PyResult<Pieces> {
        let (unit, end) = (unit_of(unit_ps.0)?, Ps(end_ps.0));
        self.with(|engine| {
            check_signals(engine, &signals.0)?;
            Ok(Pieces::new(VcdText::new(&engine.bus().waves, &signals.0, unit, end).map_err(os_error)?))
        })
    }

    /// Like `vcd`, as a Fast Signal Trace. It is made in `file`, which is empty and may be removed after the call.
    fn fst(&self, signals: List<usize>, unit_ps: Arg<u64>, end_ps: Arg<u64>, file: Arg<PathBuf>) -> PyResult<Pieces> {
        let (unit, end) = (unit_of(unit_ps.0)?, Ps(end_ps.0));
        self.with(|engine| {
            check_signals(engine, &signals.0)?;
            let mut file = File::options().read(true).write(true).open(file.0)?;
            fst::write(&engine.bus().waves, &signals.0, unit, end, &mut file).map_err(os_error)?;
            Ok(Pieces::new(file_pieces(file).map_err(os_error)?))
        })
    }

    /// Records activities of the given kinds, in `most_bytes` of memory, and totals, for a timeline of
    /// `from_ps..to_ps`; and `calls` calls of functions, if that is given.
    fn record_timeline(
        &self,
        kinds: List<String>,
        most_bytes: Arg<usize>,
        from_ps: Arg<u64>,
        to_ps: Arg<u64>,
        calls: Arg<Option<usize>>,
    ) -> PyResult<()> {
        let kinds = kinds_of(Some(kinds))?;
        self.with(|engine| {
            let (from, to) = (Ps(from_ps.0), Ps(to_ps.0));
            engine.record_timeline(Recorded { kinds, calls: calls.0, most_bytes: most_bytes.0, from, to });
            Ok(())
        })
    }

    /// Adds a trigger: from now on an action is taken when a condition becomes true: "count", "snapshot", "halt" (for
    /// the holder of the machine), or "trace", which begins a timeline (kinds, bytes, calls, length in picoseconds).
    /// Returns the trigger's number. Raises EngineError for an invalid condition.
    #[pyo3(signature = (condition, action=Arg("count".to_owned()), timeline=None))]
    fn add_trigger(
        &self,
        condition: Arg<String>,
        action: Arg<String>,
        timeline: Option<triggers::TimelineItem>,
    ) -> PyResult<usize> {
        self.with(|engine| triggers::add(engine, &condition.0, &action.0, timeline))
    }

    /// All triggers: condition, action, number of times that it became true, first and last of them, and how long it
    /// was true up to `now_ps`, in picoseconds.
    fn triggers(&self, now_ps: Arg<u64>) -> PyResult<Vec<triggers::TriggerItem>> {
        self.with(|engine| Ok(triggers::all(engine, Ps(now_ps.0))))
    }

    /// Takes the snapshot that a trigger has made; None without one. Raises EngineError if it could not be made.
    fn triggered_snapshot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.with(|engine| triggers::snapshot(py, engine))
    }

    /// The timeline that was recorded, as Perfetto reads it, in pieces.
    fn timeline(&self) -> PyResult<Pieces> {
        self.with(|engine| Ok(Pieces::new(engine.timeline().map(Ok))))
    }

    /// The calls of functions that were recorded for a timeline: core, number of its stack, task, function, and the
    /// times of call and return in picoseconds. Callers come before the functions that they called.
    fn function_slices(&self) -> PyResult<Vec<SliceItem>> {
        self.with(|engine| {
            let slices = engine.function_slices().into_iter();
            Ok(slices.map(|it| (it.core, it.stack, it.task, it.name, it.begin.0, it.end.0)).collect())
        })
    }

    /// The time in picoseconds from which on no function is missing, if memory did not suffice for all when
    /// `function_slices` or `timeline` was called last; else None.
    fn functions_complete_from_ps(&self) -> PyResult<Option<u64>> {
        self.with(|engine| Ok(engine.functions_complete_from().map(|at| at.0)))
    }

    /// The time slices of tasks that were recorded for a timeline: core, task, begin and end in picoseconds. Cores with
    /// one stack of calls have none.
    fn task_slices(&self) -> PyResult<Vec<TaskSliceItem>> {
        self.with(|engine| {
            let slices_of = |tasks: CoreTasks| {
                let core = tasks.core;
                let slice = move |slice: TaskSlice| (core.clone(), slice.task.to_string(), slice.begin.0, slice.end.0);
                tasks.slices.into_iter().map(slice)
            };
            Ok(engine.task_slices().into_iter().flat_map(slices_of).collect())
        })
    }

    /// The recording of its devices' activities.
    fn activities(&self) -> PyResult<Activities> {
        self.with(|engine| Ok(Activities(engine.bus().activities.clone())))
    }

    /// Cycles of each core that were skipped.
    fn skipped(&self) -> PyResult<Vec<u64>> {
        self.with(|engine| Ok(engine.skipped().into_iter().map(|cycles| cycles.0).collect()))
    }

    /// Runs `count` instructions one by one, at most 4,194,304. Returns 33 little-endian words for each: pc and x0 to
    /// x31 after it.
    fn trace<'py>(&self, py: Python<'py>, count: Arg<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let Arg(count) = count;
        if count > MOST_TRACED {
            return Err(EngineError::new_err(format!("a trace of {count} instructions: {MOST_TRACED} at the most")));
        }
        let mut bytes = Vec::new();
        self.with_run(py, |engine| {
            py.detach(|| {
                engine.trace(count, |registers| {
                    registers.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
                });
            });
            Ok(())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// pc, then x0 to x31, of the first core.
    fn registers(&self) -> PyResult<Vec<u32>> {
        self.with(|engine| Ok(engine.registers()))
    }

    /// Bytes of memory, in no simulated time. Raises EngineError where there is no memory.
    fn read_memory<'py>(&self, py: Python<'py>, addr: Arg<u32>, length: Arg<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let (Arg(addr), Arg(length)) = (addr, length);
        let nothing = || EngineError::new_err(format!("no memory at {addr:#010x}, {length} bytes"));
        self.with(|engine| {
            let mut bytes = Vec::new();
            let fits = engine.bus().is_mapped(addr, length) && bytes.try_reserve_exact(length).is_ok();
            bytes.resize(if fits { length } else { 0 }, 0);
            (fits && engine.bus().peek(addr, &mut bytes)).then(|| PyBytes::new(py, &bytes)).ok_or_else(nothing)
        })
    }
}
