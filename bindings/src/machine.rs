//! The class `Machine`.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, TryLockError};

use cyclescope_engine::board::build::build_with;
use cyclescope_engine::dt::fault::BoardFault;
use cyclescope_engine::machine::loading::RawProgram;
use cyclescope_engine::machine::tracing::Recorded;
use cyclescope_engine::machine::{Machine as Engine, Printed, RunReport};
use cyclescope_engine::observe::fst;
use cyclescope_engine::observe::trace::{CoreTasks, Turn};
use cyclescope_engine::observe::vcd::VcdText;
use cyclescope_engine::pipe::{Goal, Pipe};
use cyclescope_engine::time::Ps;
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

/// Most instructions that are traced at once: each takes 132 bytes.
const MOST_TRACED: usize = 1 << 22;

/// A recorded signal: scope, name, first level.
type SignalItem = (String, String, bool);
/// A function that a core was in: core, number of its stack, task, function, and in picoseconds when it was called and
/// when it returned.
type SliceItem = (String, u32, String, String, u64, u64);
/// A light or a button: its names, its pin, and whether that is low while it is on or pressed.
type PartItem = ([String; 3], String, bool);
type PinsItem = (Vec<(String, u32)>, Vec<PartItem>, Vec<PartItem>);
type TurnItem = (String, String, u64, u64);

/// A board, ready to load and run firmware.
#[pyclass(module = "cyclescope._engine")]
pub struct Machine {
    engine: Mutex<Engine>,
    /// Of devices in Python.
    calls: Calls,
}

impl Machine {
    /// Does something with the engine. Raises EngineError if a run goes on, on another thread or as the one that is
    /// calling back, and for what is wrong in the engine itself.
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

    /// Does something with the engine in a run, which begins with it if none is under way. Raises BoardError if another
    /// run has an image of the board.
    fn with_run<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Engine) -> PyResult<T>) -> PyResult<T> {
        self.with(|engine| {
            engine.begin().map_err(|faults| board_error(py, &faults))?;
            work(engine)
        })
    }

    /// Runs a part of a run, up to a time: its report if the run ended.
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

/// In one line, whatever was asked for.
fn no_function(engine: &Engine, name: &str, what_for: &str) -> PyErr {
    if let Some(several) = engine.several_functions(name) {
        return EngineError::new_err(several);
    }
    let near = engine.functions_like(name).join(" or ");
    let hint = if near.is_empty() { near } else { format!("; did you mean {near}?") };
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

/// Who gets what is printed while a run goes on, and what came of it.
pub struct Sinks {
    pub console: Option<Py<PyAny>>,
    pub stream: Option<Py<PyAny>>,
    pub note: Option<Py<PyAny>>,
    /// Hears that a debugger begins the run anew.
    pub anew: Option<Py<PyAny>>,
    pub raised: Option<PyErr>,
}

impl Sinks {
    /// Hands on what was printed. False stops the run: for an exception, which is kept in `raised`, or a signal.
    pub fn take(&mut self, printed: &Printed) -> bool {
        let result = Python::attach(|py| {
            if let Some(anew) = self.anew.as_ref().filter(|_| printed.begins_anew) {
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
    /// Builds the machine of a board, with models in Python beside the engine's own; raises BoardError with all of its
    /// faults.
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

    /// Loads an ELF file, for the first core that it fits or for the one of this name; raises ElfError, or EngineError
    /// if there is no such core.
    #[pyo3(signature = (data, name, core=None))]
    fn load(&self, data: Arg<PyBackedBytes>, name: Arg<String>, core: Option<Arg<String>>) -> PyResult<()> {
        self.with(|engine| {
            let core = core_named(engine, core)?;
            engine.load_for(&data.0, core).map_err(|error| ElfError::new_err(format!("{}: {error}", name.0)))
        })
    }

    /// Loads a program without headers: parts of an address and bytes, the address of the first instruction as the
    /// file has it, and as the user wants it. Raises ElfError, or EngineError if there is no such core.
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

    /// Keeps a cycle stack of its own for each of these functions; raises EngineError for one that the firmware lacks.
    fn watch(&self, functions: List<String>) -> PyResult<()> {
        for function in functions.0 {
            self.with(|engine| {
                let found = engine.watch(&function);
                found.then_some(()).ok_or_else(|| no_function(engine, &function, "to watch"))
            })?;
        }
        Ok(())
    }

    /// Keeps the longest calls of each of these functions by themselves, as many as are named; raises EngineError for a
    /// function that the firmware lacks.
    fn keep_calls(&self, functions: List<String>, most: Arg<usize>) -> PyResult<()> {
        for function in functions.0 {
            self.with(|engine| {
                let found = engine.keep_calls(&function, most.0);
                found.then_some(()).ok_or_else(|| no_function(engine, &function, "to keep calls of"))
            })?;
        }
        Ok(())
    }

    /// Keeps a window for each call of each of these functions of the first core; raises EngineError for one that the
    /// firmware lacks.
    fn watch_calls(&self, functions: List<String>) -> PyResult<()> {
        for function in functions.0 {
            self.with(|engine| {
                let found = engine.watch_calls(&function);
                found.then_some(()).ok_or_else(|| no_function(engine, &function, "to keep windows of"))
            })?;
        }
        Ok(())
    }

    /// Profiles all cores from now on, with the calls of these functions kept one by one; raises EngineError for one
    /// that the firmware lacks. Paths may be apart by where functions are called from.
    #[pyo3(signature = (functions=List(Vec::new()), by_site=false))]
    fn profile_functions(&self, functions: List<String>, by_site: bool) -> PyResult<()> {
        self.with(|engine| {
            let profiled = engine.profile(&functions.0, by_site);
            profiled.map_err(|name| no_function(engine, &name, "to profile"))
        })
    }

    /// Tells from now on what each core waits for: `waits` of cores and sections in reports.
    fn report_waits(&self) -> PyResult<()> {
        self.with(|engine| {
            engine.report_waits();
            Ok(())
        })
    }

    /// The profiles so far: one a core that has one.
    fn profile<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let profiles = self.with(|engine| Ok(engine.profiles()))?;
        profiles.iter().map(|profile| crate::profile::profile(py, profile)).collect()
    }

    /// Where addresses of a core's program are in the source: function, file, line, column, the innermost inlined
    /// function first. Raises EngineError if there is no such core.
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

    /// Tells what runs on a core whose program another's loads; raises ElfError, or EngineError if there is no such
    /// core.
    fn load_symbols(&self, core: Arg<String>, data: Arg<PyBackedBytes>, name: Arg<String>) -> PyResult<()> {
        self.with(|engine| match engine.load_symbols(&core.0, &data.0) {
            Ok(true) => Ok(()),
            Ok(false) => Err(no_core(&core.0)),
            Err(error) => Err(ElfError::new_err(format!("{}: {error}", name.0))),
        })
    }

    /// Files on the host that chips keep their contents in: the chip's label and the path as the board names it.
    fn images(&self) -> PyResult<Vec<(String, PathBuf)>> {
        self.with(|engine| Ok(engine.images()))
    }

    /// Gives the firmware, by semihosting, the files of `folder`, `stdin`, and its command line. File descriptors are
    /// duplicated; raises OSError or EngineError for one that is none.
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

    /// Runs to the firmware's end, or to `limit_ps`; raises BoardError if another run has an image of the board.
    /// `console` gets bytes as they come, and `stream` a label and bytes of each device that prints on a line of its
    /// own. An exception in them (or a signal) stops the run and is raised after it; `stop` stops it with a report.
    /// `note` gets notes that should not wait for the end.
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

    /// Has `gdb` hold the machine until its client lets go of it: None, and the run may go on; or to the end of the run
    /// as for `run`. `anew` hears that the run begins anew, and what was printed before is of another one. `typist` is
    /// asked what people have typed, with the time in picoseconds and how many characters of each port's are still to
    /// come: it gives characters by the labels of ports, or None once nobody can type any more. It is not asked again
    /// for what is on record where the client goes back.
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

    /// Runs on to `until_ps`, or as soon afterwards as its cores come back anyway, and stays there to go on as if it
    /// had not stopped: None. If the run ends before, as for `run`.
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

    /// All that changes while the firmware runs, as bytes for `restore`. Raises EngineError if something of it can't be
    /// saved, BoardError if another run has an image of the board.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with_run(py, |engine| Ok(PyBytes::new(py, &py.detach(|| snapshots::taken(engine))?)))
    }

    /// Becomes what it was, or another machine of the same board and firmware was, when the snapshot was taken. Raises
    /// EngineError if it is of something else, or damaged.
    fn restore(&self, py: Python<'_>, snapshot: Arg<PyBackedBytes>) -> PyResult<()> {
        self.with_run(py, |engine| py.detach(|| snapshots::load(engine, &snapshot.0)))
    }

    /// Labels of the serial ports that can receive, and that of the console's, if it is known.
    fn serial_ports(&self) -> PyResult<(Vec<String>, Option<String>)> {
        self.with(|engine| Ok((engine.serial_ports(), engine.console_port())))
    }

    /// Puts somebody at the other end of a serial port's line: who types these characters and what is given to
    /// `type_on`, or follows a script of steps (place, what, characters, number). Raises EngineError if there is no
    /// such port, or somebody is there.
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

    /// What a script finds of pins: labels of ports with how many pins each has, names of lights and of buttons, each
    /// as users call it, and by its node's label and name; and the pins of lights and buttons.
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

    /// Puts a node without firmware on a CAN bus, which a label of a controller or the bus stands for: it follows
    /// steps (place, what, frame, whether any data will do, number), prints a line of each frame, or both. Raises
    /// EngineError if there is no such bus, or it has such a node.
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

    /// Types characters on a serial line, at the time that the board has reached; raises EngineError if nobody is at
    /// that line.
    fn type_on(&self, port: Arg<String>, characters: Arg<PyBackedBytes>) -> PyResult<()> {
        self.with(|engine| engine.type_on(&port.0, &characters.0).then_some(()).ok_or_else(|| no_line(&port.0)))
    }

    /// Characters that were typed on a serial line and have not passed it.
    fn untyped(&self, port: Arg<String>) -> PyResult<usize> {
        self.with(|engine| engine.untyped(&port.0).ok_or_else(|| no_line(&port.0)))
    }

    /// As `run`, up to the time `until_ps` only: the report of the run if it ended, else None, and it can go on.
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

    /// Writes bytes to a device's pipe, at the time that the board has reached; raises EngineError if there is no such
    /// pipe.
    fn feed(&self, port: Arg<String>, bytes: Arg<PyBackedBytes>) -> PyResult<()> {
        self.with(|engine| engine.feed(&port.0, &bytes.0).then_some(()).ok_or_else(|| no_pipe(&port.0)))
    }

    /// Bytes that the firmware sent to a pipe since the last call.
    fn drain<'py>(&self, py: Python<'py>, port: Arg<String>) -> PyResult<Bound<'py, PyBytes>> {
        self.with_pipe(&port.0, |pipe| PyBytes::new(py, &pipe.drain()))
    }

    /// Totals of a pipe since the start: bytes that the firmware is done with, and bytes that it has sent.
    fn piped(&self, port: Arg<String>) -> PyResult<(u64, u64)> {
        self.with_pipe(&port.0, |pipe| (pipe.taken_bytes(), pipe.sent_bytes()))
    }

    /// The time that the board has reached, in picoseconds.
    fn now(&self) -> PyResult<u64> {
        self.with(|engine| Ok(engine.latest().0))
    }

    /// Runs on until the firmware listens at the pipe (("open", 0)), is done with so many bytes of it ("taken") or has
    /// sent so many ("sent"), or the time `until_ps` comes: when the goal was reached (None: it was not), and the
    /// report of the run if it ended. `console`, `stream` and `stop` are as for `run`.
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

    /// Ends a run that is made in steps, if it has not ended: gives the images that could not be written, a sentence
    /// each.
    fn finish(&self) -> PyResult<Vec<String>> {
        self.with(|engine| {
            engine.finish();
            Ok(engine.take_failed_saves())
        })
    }

    /// Blocks become host code after this many runs; 0: never. Results do not depend on it.
    fn compile_after(&self, runs: Arg<u16>) -> PyResult<()> {
        self.with(|engine| {
            engine.compile_after(runs.0);
            Ok(())
        })
    }

    /// The segments of the programs that are known: core, first address, bytes from the file, bytes in memory.
    fn loaded(&self) -> PyResult<Vec<(usize, u32, u32, u32)>> {
        self.with(|engine| {
            let loaded = engine.loaded().into_iter();
            Ok(loaded.map(|it| (it.core, it.addr, it.file_bytes, it.memory_bytes)).collect())
        })
    }

    /// Regions of each core's code that have become host code, and regions that could not, so far. No two runs have to
    /// compile the same.
    fn compiled(&self) -> PyResult<Vec<(u64, u64)>> {
        self.with(|engine| Ok(engine.compiled().into_iter().map(|core| (core.regions, core.refused)).collect()))
    }

    /// Iterations of polling loops are skipped, or not. Results do not depend on it.
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

    /// Places in `wave_signals` of what is made of activities of these kinds.
    fn wave_signals_of(&self, kinds: List<String>) -> PyResult<Vec<usize>> {
        let kinds = kinds_of(Some(kinds))?;
        self.with(|engine| {
            let bus = engine.bus();
            Ok(bus.device_signals.of_kinds(kinds, &bus.activities))
        })
    }

    /// Places in `wave_signals` of the pins of ports, each with whether its wire has another name there, too.
    fn wave_pins(&self) -> PyResult<Vec<(usize, bool)>> {
        self.with(|engine| {
            let pins = engine.bus().wires.pin_signals().into_iter();
            Ok(pins.map(|(signal, has_other)| (signal.place(), has_other)).collect())
        })
    }

    /// Whether a change of a signal was recorded, of each of these places in `wave_signals`.
    fn wave_moved(&self, signals: List<usize>) -> PyResult<Vec<bool>> {
        self.with(|engine| Ok(signals.0.iter().map(|place| engine.bus().waves.has_moved(*place)).collect()))
    }

    /// Changes of these wires, by their places in `wave_signals`, are recorded from now on. What memory should not hold
    /// goes to `file`, which is empty and may be removed after the call; without one there is a limit. Raises
    /// EngineError for a wire that is not there, OSError if the file can't be opened.
    #[pyo3(signature = (signals, file=None))]
    fn record_waves(&self, signals: List<usize>, file: Option<Arg<PathBuf>>) -> PyResult<()> {
        self.with(|engine| {
            check_signals(engine, &signals.0)?;
            let file = file.map(|path| File::options().read(true).write(true).open(path.0)).transpose()?;
            engine.record_waves(&signals.0, file);
            Ok(())
        })
    }

    /// How many changes were recorded, and the coarsest power of ten of picoseconds that divides all their times, if
    /// there are any behind time 0.
    fn wave_summary(&self) -> PyResult<(u64, Option<u64>)> {
        self.with(|engine| {
            let summary = engine.bus().waves.summary();
            Ok((summary.changes, summary.unit.map(|unit| unit.0)))
        })
    }

    /// The recorded changes in the order of time, in pieces of bytes: 12 little-endian ones a change, 8 of the time in
    /// picoseconds, 4 of twice the signal's index plus the new level. Raises OSError, here or from the iterator, if the
    /// recording's file could not be written or read.
    fn wave_changes(&self) -> PyResult<Pieces> {
        self.with(|engine| Ok(Pieces::new(change_pieces(engine.bus().waves.recorded().map_err(os_error)?))))
    }

    /// The recorded changes of these wires up to `end_ps` as the text of a Value Change Dump, in pieces. Its unit of
    /// time, `unit_ps`, is a power of ten of picoseconds; times are rounded to it. Raises EngineError for another unit
    /// or wires that are not there, OSError as `wave_changes` does.
    fn vcd(&self, signals: List<usize>, unit_ps: Arg<u64>, end_ps: Arg<u64>) -> PyResult<Pieces> {
        let (unit, end) = (unit_of(unit_ps.0)?, Ps(end_ps.0));
        self.with(|engine| {
            check_signals(engine, &signals.0)?;
            Ok(Pieces::new(VcdText::new(&engine.bus().waves, &signals.0, unit, end).map_err(os_error)?))
        })
    }

    /// The same as a Fast Signal Trace, which is made in `file`, empty as it is, and may be removed after the call.
    fn fst(&self, signals: List<usize>, unit_ps: Arg<u64>, end_ps: Arg<u64>, file: Arg<PathBuf>) -> PyResult<Pieces> {
        let (unit, end) = (unit_of(unit_ps.0)?, Ps(end_ps.0));
        self.with(|engine| {
            check_signals(engine, &signals.0)?;
            let mut file = File::options().read(true).write(true).open(file.0)?;
            fst::write(&engine.bus().waves, &signals.0, unit, end, &mut file).map_err(os_error)?;
            Ok(Pieces::new(file_pieces(file).map_err(os_error)?))
        })
    }

    /// Has activities of these kinds, in so much memory, and totals recorded for a timeline of `from_ps..to_ps`; and so
    /// many calls of functions, if any.
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

    /// Has something done when a condition becomes true, from now on: "count", "snapshot", "halt" (for who holds the
    /// machine), or "trace", which begins a timeline (kinds, bytes, calls, length in picoseconds). Gives the trigger's
    /// number. Raises EngineError for what is no condition over what the board has.
    #[pyo3(signature = (condition, action=Arg("count".to_owned()), timeline=None))]
    fn add_trigger(
        &self,
        condition: Arg<String>,
        action: Arg<String>,
        timeline: Option<triggers::TimelineItem>,
    ) -> PyResult<usize> {
        self.with(|engine| triggers::add(engine, &condition.0, &action.0, timeline))
    }

    /// All triggers: condition, action, how often it became true, when first and last, and how long it was true up to
    /// `now_ps`, in picoseconds.
    fn triggers(&self, now_ps: Arg<u64>) -> PyResult<Vec<triggers::TriggerItem>> {
        self.with(|engine| Ok(triggers::all(engine, Ps(now_ps.0))))
    }

    /// The snapshot that a trigger had taken, once; None if none was. Raises EngineError if none could be taken.
    fn triggered_snapshot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.with(|engine| triggers::snapshot(py, engine))
    }

    /// The timeline that was recorded, as Perfetto reads it, in pieces.
    fn timeline(&self) -> PyResult<Pieces> {
        self.with(|engine| Ok(Pieces::new(engine.timeline().map(Ok))))
    }

    /// The functions that cores were in, as far as that was recorded for a timeline: core, number of its stack, task,
    /// function, and in picoseconds when it was called and when it returned. Callers come before what they called.
    fn function_slices(&self) -> PyResult<Vec<SliceItem>> {
        self.with(|engine| {
            let slices = engine.function_slices().into_iter();
            Ok(slices.map(|it| (it.core, it.stack, it.task, it.name, it.begin.0, it.end.0)).collect())
        })
    }

    /// From when on no function is missing, in picoseconds, if there was no room for all of them when
    /// `function_slices` or `timeline` was called last; else None.
    fn functions_complete_from_ps(&self) -> PyResult<Option<u64>> {
        self.with(|engine| Ok(engine.functions_complete_from().map(|at| at.0)))
    }

    /// Which task each core ran, as far as that was recorded for a timeline: core, task, and in picoseconds from when
    /// to when. Nothing of cores that have one stack of calls.
    fn task_turns(&self) -> PyResult<Vec<TurnItem>> {
        self.with(|engine| {
            let turns_of = |tasks: CoreTasks| {
                let core = tasks.core;
                let turn = move |turn: Turn| (core.clone(), turn.task.to_string(), turn.begin.0, turn.end.0);
                tasks.turns.into_iter().map(turn)
            };
            Ok(engine.task_turns().into_iter().flat_map(turns_of).collect())
        })
    }

    /// What its devices do, to be recorded.
    fn activities(&self) -> PyResult<Activities> {
        self.with(|engine| Ok(Activities(engine.bus().activities.clone())))
    }

    /// Cycles of each core that were skipped.
    fn skipped(&self) -> PyResult<Vec<u64>> {
        self.with(|engine| Ok(engine.skipped().into_iter().map(|cycles| cycles.0).collect()))
    }

    /// Runs `count` instructions one by one, 4,194,304 at the most. After each come 33 little-endian words: pc, x0 to
    /// x31.
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

    /// Bytes of memory, without time; raises EngineError where there is none.
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
