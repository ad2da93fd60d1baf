//! The class `Gdb`: a client of GDB's remote protocol.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use cyclescope_debugger::{Ended, Link, Options, serve};
use cyclescope_engine::machine::{Machine, Outcome, Printed, RunReport};
use cyclescope_engine::time::Ps;
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::Arg;

/// A client at a socket or a pair of pipes, who holds one run.
#[pyclass(module = "cyclescope._engine")]
pub struct Gdb {
    link: Mutex<Option<Link>>,
    console_to_client: bool,
}

#[pymethods]
impl Gdb {
    /// The client whose packets are read from one file descriptor, and whose answers are written to another, or the
    /// same. They are duplicated; raises OSError for one that is none. What is printed goes to the client alone if
    /// `console` says so.
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
    // SAFETY: it is only borrowed for the call, which fails for a number that is no file's.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(file.try_clone_to_owned()?)
}

impl Gdb {
    /// Runs a machine as the client wants, and to its end when the client has let go of it.
    pub fn run(
        &self,
        engine: &mut Machine,
        limit: Ps,
        pause: &mut dyn FnMut(&Printed) -> bool,
    ) -> Result<RunReport, &'static str> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner).take();
        let link = link.ok_or("this debugger's session is over already")?;
        let options = Options { limit, console_to_client: self.console_to_client };
        Ok(match serve(engine, link, options, pause) {
            Ended::Over(outcome) => engine.end_debugged(outcome, pause),
            Ended::Killed | Ended::Stopped => engine.end_debugged(Outcome::Interrupted, pause),
            Ended::Detached => engine.run(limit, pause),
            Ended::Lost(why) => {
                let note = format!("gdb: {why}; the run goes on without it");
                pause(&Printed { notes: vec![note], ..Printed::default() });
                engine.run(limit, pause)
            }
        })
    }
}
