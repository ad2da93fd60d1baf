//! The thread that turns functions into host code, for all cores of the process.

use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::compiler::machine_code;

/// A function to be compiled.
pub(super) struct Job {
    pub context: Context,
    pub isa: OwnedTargetIsa,
    /// The block that it begins with.
    pub index: u32,
    /// The compiler's generation when it sent the job.
    pub generation: u32,
}

/// Result of a job.
pub(super) struct Compiled {
    pub index: u32,
    pub generation: u32,
    /// `None` if it could not be compiled.
    pub code: Option<Vec<u8>>,
}

/// A core's channels to and from the thread.
pub(super) struct Connection {
    answers: Sender<Compiled>,
    answered: Receiver<Compiled>,
}

impl Default for Connection {
    fn default() -> Connection {
        let (answers, answered) = channel();
        Connection { answers, answered }
    }
}

/// A job, and the channel for its answer.
type Order = (Job, Sender<Compiled>);

/// The channel to the thread, and the process in which it runs: a forked process has no thread yet.
static WORKER: Mutex<Option<(u32, Sender<Order>)>> = Mutex::new(None);

impl Connection {
    /// Sends a function to be compiled.
    pub fn send(&self, job: Job) {
        let (index, generation) = (job.index, job.generation);
        let order = (job, self.answers.clone());
        let sent = worker().is_some_and(|worker| worker.send(order).is_ok());
        if !sent {
            // The receiver is this connection's own: it exists.
            let _ = self.answers.send(Compiled { index, generation, code: None });
        }
    }

    /// The next answer, if there is one.
    pub fn receive(&self) -> Option<Compiled> {
        self.answered.try_recv().ok()
    }
}

/// The channel to the thread, which is started if it does not run.
fn worker() -> Option<Sender<Order>> {
    let mut worker = WORKER.lock().ok()?;
    let process = std::process::id();
    match &*worker {
        Some((of, way)) if *of == process => Some(way.clone()),
        _ => {
            let (way, orders) = channel();
            thread::Builder::new().name("compiler".to_owned()).spawn(move || work(&orders)).ok()?;
            *worker = Some((process, way.clone()));
            Some(way)
        }
    }
}

fn work(orders: &Receiver<Order>) {
    for (mut job, answers) in orders {
        let code = machine_code(&mut job.context, &job.isa);
        // The core may be gone: then it does not need the answer.
        let _ = answers.send(Compiled { index: job.index, generation: job.generation, code });
    }
}
