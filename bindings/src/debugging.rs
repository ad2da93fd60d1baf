//! The class `Hold`: a debugger's hold on a machine, for programs in Python.

use cyclescope_debugger::history::{Access, BUDGET_BYTES, Back, History, OutputLength};
use engine::bus::device::AccessSize;
use engine::bus::watches::Watch;
use engine::core::debug::{Group, Register};
use engine::time::Ps;
use machine::debugging::{Halt, Step};
use machine::{Machine as Engine, Outcome};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::EngineError;
use crate::arguments::{Arg, List};
use crate::machine::{Machine, Sinks};
use crate::stop::Stop;

/// Name, bits, group, value.
type RegisterItem = (String, u32, &'static str, u64);
/// The cause, the core, the watched access (first and last byte, and whether it was a store), and the triggers'
/// numbers.
type HaltItem = (&'static str, Option<usize>, Option<(u32, u32, bool)>, Vec<usize>);
/// The core, its next address, its instructions so far, its time in picoseconds, and the device that made an access.
type AccessItem = (usize, u32, u64, u64, Option<String>);

/// A debugger's hold on a machine that has been loaded.
#[pyclass(module = "cyclescope._engine")]
pub struct Hold {
    machine: Py<Machine>,
    ended: Option<Outcome>,
    /// The snapshots that the run can go back to, from the first run on.
    history: Option<History>,
    /// The output up to the furthest moment of the run.
    furthest: OutputLength,
    /// Something was written since the last run: the run can't go back to before that.
    is_changed: bool,
    /// The report was taken: the run has ended.
    is_over: bool,
}

impl Hold {
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Engine) -> PyResult<T>) -> PyResult<T> {
        self.machine.bind(py).borrow().with(work)
    }

    /// Like [`Hold::with`], with the history, which begins where the machine is at first, and the output so far.
    fn with_history<T>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Engine, &mut History, &mut OutputLength) -> PyResult<T>,
    ) -> PyResult<T> {
        let (history, furthest) = (&mut self.history, &mut self.furthest);
        let is_changed = std::mem::take(&mut self.is_changed);
        self.machine.bind(py).borrow().with(|engine| {
            let history = match history {
                Some(history) => history,
                None => history.insert(History::new(engine, BUDGET_BYTES)),
            };
            if is_changed {
                history.begin_anew(engine);
                *furthest = history.output.clone();
            }
            work(engine, history, furthest)
        })
    }

    /// Like [`Hold::with`], with a core, by its index; raises EngineError if there is no such core.
    fn with_core<T>(
        &self,
        py: Python<'_>,
        core: usize,
        work: impl FnOnce(&mut Engine, usize) -> PyResult<T>,
    ) -> PyResult<T> {
        self.with(py, |engine| match core < engine.core_count() {
            true => work(engine, core),
            false => Err(EngineError::new_err(format!("the board has {} cores", engine.core_count()))),
        })
    }
}

/// Runs until something halts the machine, and takes snapshots meanwhile. Nothing is printed twice.
fn run_on(
    engine: &mut Engine,
    history: &mut History,
    furthest: &mut OutputLength,
    (step, until, limit): (Option<Step>, Option<Ps>, Ps),
    sinks: &mut Sinks,
) -> Halt {
    let mut lap = history.begin_lap(engine);
    loop {
        let next = match step {
            // A step is short, and must not be interrupted.
            Some(_) => until,
            None => Some(until.map_or(lap.due, |until| until.min(lap.due))),
        };
        let output = &mut history.output;
        let halt = engine.resume(step.clone(), next, limit, |printed| sinks.take(&output.add(printed, furthest)));
        if halt != Halt::Time || step.is_some() || until.is_some_and(|until| engine.latest() >= until) {
            return halt;
        }
        history.follow(engine, &mut lap);
    }
}

fn halt_item(halt: &Halt) -> HaltItem {
    match halt {
        Halt::Break { core } => ("break", Some(*core), None, vec![]),
        Halt::Watch { core, hit } => {
            ("watch", Some(*core), Some((hit.watch.first, hit.watch.last, hit.is_write)), vec![])
        }
        Halt::Stepped { core } => ("stepped", Some(*core), None, vec![]),
        Halt::Trigger { core, numbers } => ("trigger", Some(*core), None, numbers.clone()),
        Halt::Interrupted => ("interrupted", None, None, vec![]),
        Halt::Time => ("time", None, None, vec![]),
        Halt::Ended(_) => ("ended", None, None, vec![]),
    }
}

fn watch_of((first, last, reads, writes): (u32, u32, bool, bool)) -> Watch {
    Watch { first, last, reads, writes }
}

fn no_way_back(why: String) -> PyErr {
    EngineError::new_err(format!("no way back: {why}"))
}

#[pymethods]
impl Hold {
    /// A hold on a machine that has not run.
    #[new]
    fn new(machine: Py<Machine>) -> Hold {
        Hold {
            machine,
            ended: None,
            history: None,
            furthest: OutputLength::default(),
            is_changed: false,
            is_over: false,
        }
    }

    /// Runs until something halts the machine, to `until_ps` at most, and to `limit_ps` in any case. If `step` names a
    /// core, it makes one step, or several while the next instruction is in `range`. Returns the cause: "break",
    /// "watch", "stepped", "trigger", "time", "interrupted" or "ended". The sinks are those of `Machine.run`.
    #[pyo3(signature = (
        limit_ps, until_ps=None, step=None, range=None, into_handlers=false, console=None, stream=None, stop=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn resume(
        &mut self,
        py: Python<'_>,
        limit_ps: Arg<u64>,
        until_ps: Option<Arg<u64>>,
        step: Option<Arg<usize>>,
        range: Option<(u32, u32)>,
        into_handlers: bool,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
        stop: Option<&Stop>,
    ) -> PyResult<HaltItem> {
        let mut sinks = Sinks { console, stream, note: None, anew: None, raised: None };
        let limit = Ps(limit_ps.0.min(u64::MAX / 2));
        let step = step.map(|core| Step { core: core.0, range, into_handlers });
        let until = until_ps.map(|until| Ps(until.0));
        let halt = self.with_history(py, |engine, history, furthest| {
            engine.stop_on(stop.map(Stop::shared).unwrap_or_default());
            Ok(py.detach(|| run_on(engine, history, furthest, (step, until, limit), &mut sinks)))
        })?;
        if let Some(error) = sinks.raised {
            return Err(error);
        }
        let item = halt_item(&halt);
        if let Halt::Ended(outcome) = halt {
            self.ended = Some(outcome);
        }
        Ok(item)
    }

    /// Goes back by an instruction of a core, or to the last halt. Returns the cause of that halt, as `resume` does, or
    /// "begin" where history begins. For a watched access, that is the moment before it. Raises EngineError if the run
    /// can't go back.
    #[pyo3(signature = (limit_ps, step=None))]
    fn go_back(&mut self, py: Python<'_>, limit_ps: Arg<u64>, step: Option<Arg<usize>>) -> PyResult<HaltItem> {
        let limit = Ps(limit_ps.0.min(u64::MAX / 2));
        let back = self.with_history(py, |engine, history, _| {
            let back = py.detach(|| match step {
                Some(core) => history.step_back(engine, core.0, limit),
                None => history.run_back(engine, limit),
            });
            back.map_err(no_way_back)
        })?;
        self.ended = None;
        Ok(match back {
            Back::Halt(halt) => halt_item(&halt),
            Back::Begin => ("begin", None, None, vec![]),
        })
    }

    /// The last access to physical addresses (first and last byte, loads, stores) before the current moment, at which
    /// the machine stays; None without such an access. Raises EngineError if the run can't go back, or if the addresses
    /// can't be watched.
    fn last_access(
        &mut self,
        py: Python<'_>,
        limit_ps: Arg<u64>,
        watched: (u32, u32, bool, bool),
    ) -> PyResult<Option<AccessItem>> {
        let limit = Ps(limit_ps.0.min(u64::MAX / 2));
        let watch = watch_of(watched);
        let found = self.with_history(py, |engine, history, _| {
            py.detach(|| history.last_access(engine, watch, limit)).map_err(no_way_back)
        })?;
        Ok(found.map(|Access { core, pc, instructions, time, device }| (core, pc, instructions, time.0, device)))
    }

    /// The report of the run, as `Machine.run` returns it: how it ended, or that it was interrupted here. Nothing runs
    /// afterwards.
    #[pyo3(signature = (console=None, stream=None))]
    fn end<'py>(
        &mut self,
        py: Python<'py>,
        console: Option<Py<PyAny>>,
        stream: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut sinks = Sinks { console, stream, note: None, anew: None, raised: None };
        let outcome = self.ended.clone().unwrap_or(Outcome::Interrupted);
        self.is_over = true;
        let report =
            self.with(py, |engine| Ok(py.detach(|| engine.end_debugged(outcome, |printed| sinks.take(printed)))))?;
        match sinks.raised {
            Some(error) => Err(error),
            None => crate::report::report(py, &report),
        }
    }

    /// All cores stop before instructions at these addresses, and at no others.
    fn set_breaks(&self, py: Python<'_>, addresses: List<u32>) -> PyResult<()> {
        self.with(py, |engine| {
            engine.set_breaks(addresses.0.into_iter().collect());
            Ok(())
        })
    }

    /// Watches these physical addresses, and no others: first and last byte, loads, stores. Raises EngineError for
    /// loads from memory and for unmapped addresses.
    fn set_watches(&self, py: Python<'_>, watches: List<(u32, u32, bool, bool)>) -> PyResult<()> {
        let watches = watches.0.into_iter().map(watch_of);
        let refused = self.with(py, |engine| Ok(engine.set_watches(watches.collect())))?;
        match refused.first() {
            Some(watch) => Err(EngineError::new_err(format!("{:#010x} can't be watched so", watch.first))),
            None => Ok(()),
        }
    }

    /// The registers of a core: name, bits, "general", "float" or "system", value.
    fn registers(&self, py: Python<'_>, core: Arg<usize>) -> PyResult<Vec<RegisterItem>> {
        let item = |register: Register| {
            let group = match register.group {
                Group::General => "general",
                Group::Float => "float",
                Group::System => "system",
            };
            (register.name.into_owned(), register.bits, group, register.value)
        };
        self.with_core(py, core.0, |engine, core| Ok(engine.debug_registers(core).into_iter().map(item).collect()))
    }

    /// Writes a register of a core by its place in `registers`. False if it can't be written.
    fn set_register(
        &mut self,
        py: Python<'_>,
        core: Arg<usize>,
        number: Arg<usize>,
        value: Arg<u64>,
    ) -> PyResult<bool> {
        self.is_changed = true;
        self.with_core(py, core.0, |engine, core| Ok(engine.set_debug_register(core, number.0, value.0)))
    }

    /// A core's next address, stack pointer, instructions so far and local time in picoseconds.
    fn position(&self, py: Python<'_>, core: Arg<usize>) -> PyResult<(u32, u32, u64, u64)> {
        self.with_core(py, core.0, |engine, core| {
            let position = engine.position(core);
            Ok((position.pc, position.sp, position.instructions, engine.time_of_core(core).0))
        })
    }

    /// Memory and registers of devices as a core sees them, without side effects: the bytes up to the first unreadable
    /// one.
    fn read<'py>(
        &self,
        py: Python<'py>,
        core: Arg<usize>,
        addr: Arg<u32>,
        length: Arg<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.with_core(py, core.0, |engine, core| {
            let mut bytes = vec![0; length.0 as usize];
            let count = match self.is_over {
                true => engine.debug_read(core, addr.0, &mut bytes),
                false => engine.debug_read_all(core, addr.0, &mut bytes),
            };
            Ok(PyBytes::new(py, &bytes[..count]))
        })
    }

    /// Writes memory as a core sees it, without time. False if some of it can't be written.
    fn write(&mut self, py: Python<'_>, core: Arg<usize>, addr: Arg<u32>, data: Arg<Vec<u8>>) -> PyResult<bool> {
        self.is_changed = true;
        self.with_core(py, core.0, |engine, core| Ok(engine.debug_write(core, addr.0, &data.0)))
    }

    /// Loads 1, 2 or 4 bytes like a core, with the side effects on a device. Raises EngineError if nothing answers.
    fn force_read(&mut self, py: Python<'_>, core: Arg<usize>, addr: Arg<u32>, bytes: Arg<u32>) -> PyResult<u32> {
        self.is_changed = true;
        self.with_core(py, core.0, |engine, core| {
            let nothing = || EngineError::new_err(format!("nothing, or an error, answers at {:#010x}", addr.0));
            let size = AccessSize::of_bytes(bytes.0).ok_or_else(|| EngineError::new_err("1, 2 or 4 bytes"))?;
            let (physical, _) = engine.physical(core, addr.0).ok_or_else(nothing)?;
            engine.force_read(core, physical, size).map_err(|_| nothing())
        })
    }

    /// Labels of devices and of chips that are connected to them, for `device_state`.
    fn devices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |engine| Ok(engine.labels_with_states().into_iter().map(|(label, _)| label).collect()))
    }

    /// The state of a device or a chip by its model's names for it, in nested dicts and lists; None if there is no such
    /// device.
    fn device_state<'py>(&self, py: Python<'py>, label: Arg<String>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.with(py, |engine| {
            engine.device_state(&label.0).map(|shown| crate::states::to_python(py, &shown)).transpose()
        })
    }

    /// The physical address for a core's address; None if it is not mapped for reads.
    fn physical(&self, py: Python<'_>, core: Arg<usize>, addr: Arg<u32>) -> PyResult<Option<u32>> {
        self.with_core(py, core.0, |engine, core| Ok(engine.physical(core, addr.0).map(|(physical, _)| physical)))
    }
}
