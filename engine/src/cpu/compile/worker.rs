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
    /// As the compiler had it when it asked.
    pub generation: u32,
}

/// What has become of a job.
pub(super) struct Compiled {
    pub index: u32,
    pub generation: u32,
    /// `None` if it could not be compiled.
    pub code: Option<Vec<u8>>,
}

/// A core's way to the thread, and back.
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

/// A job, and who gets its answer.
type Order = (Job, Sender<Compiled>);

/// The way to the thread, and the process that it is in: one that was forked has none yet.
static WORKER: Mutex<Option<(u32, Sender<Order>)>> = Mutex::new(None);

impl Connection {
    /// Has a function compiled.
    pub fn send(&self, job: Job) {
        let (index, generation) = (job.index, job.generation);
        let order = (job, self.answers.clone());
        let sent = worker().is_some_and(|worker| worker.send(order).is_ok());
        if !sent {
            // The receiver is ours: it is there.
            let _ = self.answers.send(Compiled { index, generation, code: None });
        }
    }

    /// The next answer, if there is one.
    pub fn receive(&self) -> Option<Compiled> {
        self.answered.try_recv().ok()
    }
}

/// The way to the thread, which is started where there is none.
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
        // A core that has gone meanwhile does not need it.
        let _ = answers.send(Compiled { index: job.index, generation: job.generation, code });
    }
}
