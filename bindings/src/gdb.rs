//! The class `Gdb`: a client of GDB's remote protocol.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use cyclescope_debugger::{Ended, Link, Options, serve, serve_typed};
use engine::time::Ps;
use machine::{Machine, Outcome, Printed, RunReport};
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::Arg;

/// A client at a socket or a pair of pipes, which holds one run.
#[pyclass(module = "cyclescope._engine")]
pub struct Gdb {
    link: Mutex<Option<Link>>,
    console_to_client: bool,
}

#[pymethods]
impl Gdb {
    /// The client whose packets are read from one file descriptor, and whose answers are written to another, or the
    /// same one. They are duplicated; raises OSError for an invalid one. With `console`, output goes to the client
    /// alone.
    #[new]
    #[pyo3(signature = (input, output, console=false))]
    fn new(input: Arg<i32>, output: Arg<i32>, console: bool) -> PyResult<Gdb> {
        let link = Link::new(duplicate(input.0)?, duplicate(output.0)?);
        Ok(Gdb { link: Mutex::new(Some(link)), console_to_client: console })
    }
}

fn duplicate(number: i32) -> PyResult<OwnedFd> {
    if number < 0 {
        return Err(EngineError::new_err(format!("{number} is no file descriptor")));
    }
    // SAFETY: the descriptor is only borrowed for the call, which fails for an invalid number.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(file.try_clone_to_owned()?)
}

impl Gdb {
    /// Runs a machine under the client's control, to the end of the run, or until the client detaches: `None`.
    pub fn hold(
        &self,
        engine: &mut Machine,
        limit: Ps,
        typist: Option<&mut Typist>,
        pause: &mut dyn FnMut(&Printed) -> bool,
    ) -> Result<Option<RunReport>, &'static str> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner).take();
        let link = link.ok_or("this debugger's session is over already")?;
        let options = Options { limit, console_to_client: self.console_to_client };
        let ended = match typist {
            None => serve(engine, link, options, pause),
            Some(typist) => {
                serve_typed(engine, link, options, Some(&mut |now, untyped| typist.ask(now, untyped)), pause)
            }
        };
        Ok(match ended {
            Ended::Over(report) => Some(*report),
            Ended::Killed | Ended::Stopped => Some(engine.end_debugged(Outcome::Interrupted, pause)),
            Ended::Detached => None,
            Ended::Lost(why) => {
                let note = format!("gdb: {why}; the run goes on without it");
                pause(&Printed { notes: vec![note], ..Printed::default() });
                None
            }
        })
    }
}

/// Asks Python for the characters that people have typed.
pub struct Typist {
    callable: Py<PyAny>,
    /// The exception that the callable has raised. It is not called any more then.
    pub raised: Option<PyErr>,
}

impl Typist {
    /// A typist that calls `callable`.
    pub fn new(callable: Py<PyAny>) -> Typist {
        Typist { callable, raised: None }
    }

    fn ask(&mut self, now: Ps, untyped: &[(String, usize)]) -> Option<Vec<(String, Vec<u8>)>> {
        let typed = Python::attach(|py| self.callable.call1(py, (now.0, untyped.to_vec()))?.extract(py));
        typed.unwrap_or_else(|error| {
            self.raised = Some(error);
            None
        })
    }
}
