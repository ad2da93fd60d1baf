//! A client's session: packets while the machine is halted, and the machine while it runs.

use std::io;
use std::time::{Duration, Instant};

use cyclescope_engine::machine::debugging::{Halt, Step};
use cyclescope_engine::machine::{Machine, Outcome, Printed};
use cyclescope_engine::time::Ps;
use gdbstub::common::Signal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStubBuilder, GdbStubError, MultiThreadStopReason};
use gdbstub::target::ext::base::reverse_exec::ReplayLogPosition;

use crate::Link;
use crate::history::Back;
use crate::target::{Held, Reverse, tid_of};

/// How often the host is asked whether it wants something, while the client is silent.
const IDLE: Duration = Duration::from_millis(50);
/// The longest packet: what `load` and reads of memory are cut into.
const PACKET_BYTES: usize = 1 << 14;

/// How a client is served.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long the machine may run.
    pub limit: Ps,
    /// What is printed goes to the client, and nowhere else.
    pub console_to_client: bool,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client has let go of the machine, which may run on.
    Detached,
    /// The client has gone without a word, or said what nobody understands: why, as a sentence for the user.
    Lost(String),
    /// The client ended the run.
    Killed,
    /// The user ended it.
    Stopped,
    /// The run is over.
    Over(Outcome),
}

/// What the user sees of the machine.
type Pause<'a> = &'a mut dyn FnMut(&Printed) -> bool;
type Stub<'a> = GdbStubStateMachine<'static, Held<'a>, Link>;

/// Serves the client at a link until it is done with the machine. `pause` gets what was printed, and says whether to go
/// on; it is asked now and then while the machine is halted, too. Breakpoints and watchpoints are gone afterwards.
pub fn serve(machine: &mut Machine, link: Link, options: Options, pause: Pause) -> Ended {
    let mut held = Held::new(machine, options.limit);
    let ended = session(&mut held, link, options, pause);
    held.let_go();
    ended
}

fn session(held: &mut Held, link: Link, options: Options, pause: Pause) -> Ended {
    let mut over = None;
    let built = GdbStubBuilder::new(link).packet_buffer_size(PACKET_BYTES).build();
    let mut stub = match built.map(|stub| stub.run_state_machine(held)) {
        Ok(Ok(stub)) => stub,
        Ok(Err(error)) => return lost(error),
        Err(_) => return Ended::Lost("the host has no memory for a client".to_owned()),
    };
    loop {
        let next = match stub {
            GdbStubStateMachine::Idle(mut idle) => match wait(idle.borrow_conn(), pause) {
                Waited::Byte(byte) => idle.incoming_data(held, byte),
                Waited::Ended(ended) => return ended,
            },
            GdbStubStateMachine::Running(running) => match run(running, held, options, pause, &mut over) {
                Ok(next) => next,
                Err(ended) => return ended,
            },
            GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
                let core = held.machine.main_core();
                let reason = MultiThreadStopReason::SignalWithThread { tid: tid_of(core), signal: Signal::SIGINT };
                held.halts.add(held.machine);
                interrupt.interrupt_handled(held, Some(reason))
            }
            GdbStubStateMachine::Disconnected(gone) => return disconnected(gone.get_reason(), held, over),
        };
        stub = match next {
            Ok(next) => next,
            Err(error) => return if held.is_killed { Ended::Killed } else { lost(error) },
        };
    }
}

fn disconnected(reason: DisconnectReason, held: &Held, over: Option<Outcome>) -> Ended {
    match (reason, over) {
        _ if held.is_killed => Ended::Killed,
        (DisconnectReason::Kill, _) => Ended::Killed,
        (DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_), Some(over)) => Ended::Over(over),
        (_, _) => Ended::Detached,
    }
}

enum Waited {
    Byte(u8),
    Ended(Ended),
}

/// The next byte of the client's.
fn wait(link: &mut Link, pause: Pause) -> Waited {
    loop {
        if let Some(byte) = link.take_byte() {
            return Waited::Byte(byte);
        }
        if link.is_over() {
            return Waited::Ended(Ended::Lost("the debugger has gone without detaching".to_owned()));
        }
        match link.has_news(IDLE) {
            Ok(true) => {}
            Ok(false) if pause(&Printed::default()) => {}
            Ok(false) => return Waited::Ended(Ended::Stopped),
            Err(error) => return Waited::Ended(Ended::Lost(format!("the line to the debugger failed: {error}"))),
        }
    }
}

type Running<'a> = gdbstub::stub::state_machine::GdbStubStateMachineInner<
    'static,
    gdbstub::stub::state_machine::state::Running,
    Held<'a>,
    Link,
>;
type Next<'a> = Result<Stub<'a>, GdbStubError<&'static str, io::Error>>;

/// Runs the machine until it halts or the client says something.
fn run<'a>(
    mut running: Running<'a>,
    held: &mut Held<'a>,
    options: Options,
    pause: Pause,
    over: &mut Option<Outcome>,
) -> Result<Next<'a>, Ended> {
    if let Some(reverse) = held.reverse.take() {
        *over = None;
        let reason = run_back(held, reverse, running.borrow_conn());
        return Ok(running.report_stop(held, reason));
    }
    let mut line = Line { link: running.borrow_conn(), options, pause, failed: None, stopped: false, spoke: false };
    let step = held.step.take();
    let halt = run_on(held, step.clone(), &mut line);
    let Line { failed, stopped, spoke, .. } = line;
    if let Some(error) = failed {
        return Err(Ended::Lost(format!("the line to the debugger failed: {error}")));
    }
    let is_step = matches!(halt, Halt::Stepped { .. });
    let reason = match halt {
        Halt::Interrupted if stopped || !spoke => return Err(Ended::Stopped),
        Halt::Interrupted => {
            // What the client says may be no interrupt: the step is not over then.
            held.step = step;
            return match running.borrow_conn().take_byte() {
                Some(byte) => Ok(running.incoming_data(held, byte)),
                None => Err(Ended::Lost("the debugger has gone while the machine ran".to_owned())),
            };
        }
        Halt::Ended(outcome) => {
            let reason = ended_reason(&outcome, over.is_some(), held);
            if let Some(text) = text_of(&outcome).filter(|_| over.is_none()) {
                let _told = running.borrow_conn().send_output(format!("{text}\n").as_bytes());
            }
            *over = Some(outcome);
            reason
        }
        halt => {
            if let Some(text) = text_of_trigger(&halt, held) {
                let _told = running.borrow_conn().send_output(text.as_bytes());
            }
            reason_of(&halt, held)
        }
    };
    if !is_step {
        held.halts.add(held.machine);
    }
    Ok(running.report_stop(held, reason))
}

/// Runs on until something halts the machine, and takes snapshots on the way.
fn run_on(held: &mut Held, step: Option<Step>, line: &mut Line) -> Halt {
    let limit = held.limit;
    loop {
        // A step is short, and must not be broken off.
        let until = step.is_none().then(|| held.machine.latest().saturating_add(held.snapshots_every));
        let begun = host_time();
        let (told, furthest) = (&mut held.history.told, &mut held.furthest);
        let halt = held.machine.resume(step.clone(), until, limit, |printed| line.pause(&told.add(printed, furthest)));
        if halt != Halt::Time {
            return halt;
        }
        held.follow_pace(begun.elapsed());
        held.history.take(held.machine);
    }
}

/// The host's time: how long the machine ran on it decides when a snapshot is taken, and nothing else.
#[allow(clippy::disallowed_methods)]
fn host_time() -> Instant {
    Instant::now()
}

/// Goes back: why the machine halted there.
fn run_back(held: &mut Held, reverse: Reverse, link: &mut Link) -> MultiThreadStopReason<u64> {
    let limit = held.limit;
    let back = match reverse {
        Reverse::Step(core) => held.history.step_back(held.machine, core, limit),
        Reverse::Continue => held.history.run_back(held.machine, held.layout.steps_behind_accesses(), limit),
    };
    let core = held.machine.main_core();
    match back {
        Ok(Back::Halt(halt)) => {
            if let Some(text) = text_of_trigger(&halt, held) {
                let _told = link.send_output(text.as_bytes());
            }
            reason_of(&halt, held)
        }
        Ok(Back::Begin) => MultiThreadStopReason::ReplayLog { tid: Some(tid_of(core)), pos: ReplayLogPosition::Begin },
        Err(why) => {
            let _told = link.send_output(format!("no way back: {why}\n").as_bytes());
            MultiThreadStopReason::SignalWithThread { tid: tid_of(core), signal: Signal::SIGTRAP }
        }
    }
}

fn reason_of(halt: &Halt, held: &Held) -> MultiThreadStopReason<u64> {
    match halt {
        Halt::Break { core } => MultiThreadStopReason::SwBreak(tid_of(*core)),
        Halt::Watch { core, hit } => {
            let (addr, kind) = held.watched(hit.watch);
            MultiThreadStopReason::Watch { tid: tid_of(*core), kind, addr: addr.into() }
        }
        Halt::Stepped { core } | Halt::Trigger { core, .. } => {
            MultiThreadStopReason::SignalWithThread { tid: tid_of(*core), signal: Signal::SIGTRAP }
        }
        _ => MultiThreadStopReason::Signal(Signal::SIGTRAP),
    }
}

/// The line to the client while the machine runs, and who gets what is printed.
struct Line<'l, 'p> {
    link: &'l mut Link,
    options: Options,
    pause: Pause<'p>,
    failed: Option<io::Error>,
    stopped: bool,
    spoke: bool,
}

impl Line<'_, '_> {
    /// Hands on what was printed. False if the machine is to halt: the user or the client wants something.
    fn pause(&mut self, printed: &Printed) -> bool {
        let shown = show(self.link, printed, self.options, self.pause);
        let news = shown.and_then(|go_on| Ok((go_on, self.link.has_news(Duration::ZERO)?)));
        match news {
            Ok((go_on, has_news)) => (self.stopped, self.spoke) = (!go_on, has_news),
            Err(error) => self.failed = Some(error),
        }
        self.failed.is_none() && !self.stopped && !self.spoke
    }
}

/// What was printed goes to the user, or to the client. Tells whether the user wants to go on.
fn show(link: &mut Link, printed: &Printed, options: Options, pause: Pause) -> io::Result<bool> {
    if !options.console_to_client {
        return Ok(pause(printed));
    }
    if !printed.console.is_empty() {
        link.send_output(&printed.console)?;
    }
    Ok(pause(&Printed { console: Vec::new(), ..printed.clone() }))
}

/// A run that can't go on is shown where it is; when it is told to go on all the same, it is over.
fn ended_reason(outcome: &Outcome, was_told: bool, held: &Held) -> MultiThreadStopReason<u64> {
    let tid = tid_of(held.machine.main_core());
    match outcome {
        Outcome::Exit(code) => MultiThreadStopReason::Exited(*code as u8),
        Outcome::Fault(_) if !was_told => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGSEGV },
        Outcome::Limit(_) if !was_told => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGXCPU },
        _ => MultiThreadStopReason::Exited(1),
    }
}

/// What the client shows beside a signal that tells nothing of a condition.
fn text_of_trigger(halt: &Halt, held: &Held) -> Option<String> {
    let Halt::Trigger { numbers, .. } = halt else { return None };
    let line = |number: &usize| {
        let trigger = held.machine.triggers().get(*number)?;
        let at = trigger.seen.last?;
        Some(format!("condition {number}, {}, has become true at {at} ({} ps)\n", trigger.text, at.0))
    };
    Some(numbers.iter().filter_map(line).collect())
}

fn text_of(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Fault(text) | Outcome::Limit(text) | Outcome::Script(text) => Some(text),
        Outcome::Exit(_) | Outcome::Interrupted => None,
    }
}

fn lost(error: GdbStubError<&'static str, io::Error>) -> Ended {
    if error.is_connection_error() {
        let why = error.into_connection_error().map_or_else(String::new, |(error, _)| format!(": {error}"));
        return Ended::Lost(format!("the line to the debugger failed{why}"));
    }
    Ended::Lost(format!("the debugger sent what can't be understood ({error})"))
}
