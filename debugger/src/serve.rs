//! A client's session: packets while the machine is halted, and the machine while it runs.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use engine::time::Ps;
use gdbstub::common::Signal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStubBuilder, GdbStubError, MultiThreadStopReason};
use gdbstub::target::ext::base::reverse_exec::ReplayLogPosition;
use machine::debugging::{Halt, Step};
use machine::{Machine, Outcome, Printed, RunReport};

use crate::Link;
use crate::history::Back;
use crate::monitor::Halts;
use crate::target::{Asked, Held, Reverse, tid_of};

/// The interval of looks at the host while the client is silent.
const IDLE: Duration = Duration::from_millis(50);
/// The simulated time between looks at what people have typed.
const LOOK: Ps = Ps::from_us(4000);
/// The longest packet: GDB divides `load` and reads of memory into such packets.
const PACKET_BYTES: usize = 1 << 14;

/// Options of a session.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The time limit of the run.
    pub limit: Ps,
    /// Output goes only to the client.
    pub console_to_client: bool,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client has detached from the machine, which may run on.
    Detached,
    /// The client has gone without detaching, or sent something invalid: why, as a sentence for the user.
    Lost(String),
    /// The client ended the run.
    Killed,
    /// The user ended the run.
    Stopped,
    /// The run is over, with this report.
    Over(Box<RunReport>),
}

/// Passes output to the user; false if the machine is to halt.
type Pause<'a> = &'a mut dyn FnMut(&Printed) -> bool;
/// Asks people at serial lines for the characters that they have typed. It gets the machine's time, and by the label of
/// each port the number of characters that have yet to be sent. It returns characters by these labels, or `None` when
/// nobody can type any more. It may block.
pub type Typist<'a> = &'a mut dyn FnMut(Ps, &[(String, usize)]) -> Option<Vec<(String, Vec<u8>)>>;
type Stub<'a> = GdbStubStateMachine<'static, Held<'a>, Link>;

/// Serves the client of a link until it is done with the machine. `pause` gets output, and returns whether to go on; it
/// is also called now and then while the machine is halted. Breakpoints and watchpoints are removed at the end.
pub fn serve(machine: &mut Machine, link: Link, options: Options, pause: Pause) -> Ended {
    serve_typed(machine, link, options, None, pause)
}

/// Like [`serve`], with people at serial lines. Their characters are recorded: where the client goes back, they are
/// typed again at the same times, and people are asked again from the furthest moment of the run on.
pub fn serve_typed(machine: &mut Machine, link: Link, options: Options, typist: Option<Typist>, pause: Pause) -> Ended {
    let mut held = Held::new(machine, options.limit);
    held.machine.attend(typist.is_some());
    let ended = session(&mut held, link, options, typist, pause);
    held.let_go();
    let over = match ended {
        Ended::Detached | Ended::Lost(_) if !held.is_live => Some(as_the_run(&mut held, pause)),
        Ended::Detached | Ended::Lost(_) => catch_up(&mut held, pause),
        _ => None,
    };
    held.machine.attend(false);
    over.unwrap_or(ended)
}

/// A client that has gone back has detached: runs to the furthest moment without printing again. Returns how the run
/// ended, if it did.
fn catch_up(held: &mut Held, pause: Pause) -> Option<Ended> {
    while held.over.is_none() && held.machine.latest() < held.known_until {
        let (output, furthest, until) = (&mut held.history.output, &mut held.furthest, held.known_until);
        let halt = held.machine.resume(None, Some(until), held.limit, |printed| pause(&output.add(printed, furthest)));
        match halt {
            Halt::Ended(outcome) => {
                held.over = Some(outcome);
                return Some(as_the_run(held, pause));
            }
            Halt::Interrupted => return Some(Ended::Stopped),
            _ => {}
        }
    }
    None
}

fn session(held: &mut Held, mut link: Link, options: Options, mut typist: Option<Typist>, pause: Pause) -> Ended {
    link.refuse_by(Arc::clone(&held.refused));
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
            GdbStubStateMachine::Running(running) => match run(running, held, options, &mut typist, pause) {
                Ok(next) => next,
                Err(ended) => return ended,
            },
            GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
                let core = held.machine.main_core();
                let reason = MultiThreadStopReason::SignalWithThread { tid: tid_of(core), signal: Signal::SIGINT };
                held.halts.add(held.machine);
                interrupt.interrupt_handled(held, Some(reason))
            }
            GdbStubStateMachine::Disconnected(end) => match disconnected(end.get_reason(), held) {
                Some(ended) => return ended,
                None => Ok(end.return_to_idle()),
            },
        };
        stub = match next {
            Ok(next) => next,
            Err(error) => return if held.is_killed { Ended::Killed } else { lost(error) },
        };
        if std::mem::take(&mut held.is_anew) && !pause(&Printed { is_restart: true, ..Printed::default() }) {
            return Ended::Stopped;
        }
    }
}

/// The end of the run or the session; `None` if the client may start another run.
fn disconnected(reason: DisconnectReason, held: &mut Held) -> Option<Ended> {
    match reason {
        DisconnectReason::Kill => return Some(Ended::Killed),
        DisconnectReason::Disconnect => return Some(Ended::Detached),
        DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_) => held.leave_run(),
    }
    (!held.is_extended).then_some(Ended::Detached)
}

/// The end of a session without a run: the end of the last run.
fn as_the_run(held: &mut Held, pause: Pause) -> Ended {
    let Some(outcome) = held.over.take().filter(|_| !held.is_killed) else { return Ended::Killed };
    let (output, furthest) = (&mut held.history.output, &mut held.furthest);
    Ended::Over(Box::new(held.machine.end_debugged(outcome, |printed| pause(&output.add(printed, furthest)))))
}

/// The firmware has ended, and the client stays: shows it the remaining output of serial lines.
fn show_rest(held: &mut Held, link: &mut Link, options: Options, pause: Pause) -> io::Result<bool> {
    let (Ok(here), output) = (held.machine.snapshot(), held.history.output.clone()) else { return Ok(true) };
    let rest = held.machine.print_rest();
    let shown = held.history.output.add(&rest, &mut held.furthest);
    held.history.output = output;
    // A snapshot can be loaded where it was taken.
    let _loaded = held.machine.go_back(&here);
    show(link, &shown, options, pause)
}

enum Waited {
    Byte(u8),
    Ended(Ended),
}

/// Waits for the client's next byte.
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

/// Runs the machine until it halts or the client sends something.
fn run<'a>(
    mut running: Running<'a>,
    held: &mut Held<'a>,
    options: Options,
    typist: &mut Option<Typist>,
    pause: Pause,
) -> Result<Next<'a>, Ended> {
    if !held.is_live {
        return Ok(running.report_stop(held, MultiThreadStopReason::Terminated(Signal::SIGKILL)));
    }
    if let Some(core) = held.take_step_over_access() {
        return Ok(running.report_stop(held, reason_of(&Halt::Stepped { core }, held)));
    }
    if let Some(reverse) = held.reverse.take() {
        held.over = None;
        let reason = run_back(held, reverse, running.borrow_conn());
        held.halts = Halts::new(held.machine);
        return Ok(running.report_stop(held, reason));
    }
    let mut line = Line { link: running.borrow_conn(), options, pause, failed: None, stopped: false, spoke: false };
    let step = held.step.take();
    let halt = run_on(held, step.clone(), typist, &mut line);
    let Line { failed, stopped, spoke, .. } = line;
    if let Some(error) = failed {
        return Err(Ended::Lost(format!("the line to the debugger failed: {error}")));
    }
    let is_step = matches!(halt, Halt::Stepped { .. });
    let reason = match halt {
        Halt::Interrupted if stopped || !spoke => return Err(Ended::Stopped),
        Halt::Interrupted => {
            // The client's byte may be no interrupt: the step is not over then.
            held.step = step;
            return match running.borrow_conn().take_byte() {
                Some(byte) => Ok(running.incoming_data(held, byte)),
                None => Err(Ended::Lost("the debugger has gone while the machine ran".to_owned())),
            };
        }
        Halt::Ended(outcome) => {
            let reason = ended_reason(&outcome, held.over.is_some(), held);
            if let Some(text) = text_of(&outcome).filter(|_| held.over.is_none()) {
                let _sent = running.borrow_conn().send_output(format!("{text}\n").as_bytes());
            }
            if held.is_extended && matches!(outcome, Outcome::Exit(_)) {
                match show_rest(held, running.borrow_conn(), options, pause) {
                    Ok(true) => {}
                    Ok(false) => return Err(Ended::Stopped),
                    Err(error) => return Err(Ended::Lost(format!("the line to the debugger failed: {error}"))),
                }
            }
            held.over = Some(outcome);
            reason
        }
        halt => {
            if let Some(text) = text_of_trigger(&halt, held) {
                let _sent = running.borrow_conn().send_output(text.as_bytes());
            }
            held.accessed = accessed_by(&halt, held);
            reason_of(&halt, held)
        }
    };
    if !is_step {
        held.halts.add(held.machine);
    }
    Ok(running.report_stop(held, reason))
}

/// Runs until something halts the machine, takes snapshots meanwhile, and looks at what people type.
fn run_on(held: &mut Held, step: Option<Step>, typist: &mut Option<Typist>, line: &mut Line) -> Halt {
    let limit = held.limit;
    let mut lap = held.history.begin_lap(held.machine);
    loop {
        ask(held, typist);
        let now = held.machine.latest();
        // A step is short, and must not be interrupted; one that waits for a character is long.
        let until = match (&step, &typist) {
            (None, None) => Some(lap.due),
            (None, Some(_)) => Some(lap.due.min(now.saturating_add(LOOK))),
            (Some(_), None) => None,
            (Some(_), Some(_)) => Some(now.saturating_add(LOOK)),
        };
        let (output, furthest) = (&mut held.history.output, &mut held.furthest);
        let halt =
            held.machine.resume(step.clone(), until, limit, |printed| line.pause(&output.add(printed, furthest)));
        held.known_until = held.known_until.max(held.machine.latest());
        if halt != Halt::Time {
            return halt;
        }
        held.history.follow(held.machine, &mut lap);
    }
}

/// Asks people for typed characters, unless they are on record.
fn ask(held: &mut Held, typist: &mut Option<Typist>) {
    let now = held.machine.latest();
    let Some(asked) = typist.as_mut().filter(|_| now >= held.known_until) else { return };
    let ports = held.machine.serial_ports();
    let untyped = |port: String| held.machine.untyped(&port).map(|count| (port, count));
    let untyped: Vec<(String, usize)> = ports.into_iter().filter_map(untyped).collect();
    match asked(now, &untyped) {
        Some(typed) => typed.iter().for_each(|(port, characters)| {
            held.machine.type_on(port, characters);
        }),
        None => {
            *typist = None;
            held.machine.attend(false);
        }
    }
}

/// Goes back: the reason why the machine halted there.
fn run_back(held: &mut Held, reverse: Reverse, link: &mut Link) -> MultiThreadStopReason<u64> {
    let limit = held.limit;
    let back = match reverse {
        Reverse::Step(core) => held.history.step_back(held.machine, core, limit),
        Reverse::Continue => held.history.run_back(held.machine, limit),
    };
    let core = held.machine.main_core();
    match back {
        Ok(Back::Halt(halt)) => {
            held.accessed = accessed_by(&halt, held);
            if let Some(text) = text_of_trigger(&halt, held) {
                let _sent = link.send_output(text.as_bytes());
            }
            reason_of(&halt, held)
        }
        Ok(Back::Begin) => MultiThreadStopReason::ReplayLog { tid: Some(tid_of(core)), pos: ReplayLogPosition::Begin },
        Err(why) => {
            let _sent = link.send_output(format!("no way back: {why}\n").as_bytes());
            MultiThreadStopReason::SignalWithThread { tid: tid_of(core), signal: Signal::SIGTRAP }
        }
    }
}

/// The core that made a watched access, and the watchpoint.
fn accessed_by(halt: &Halt, held: &Held) -> Option<(usize, Asked)> {
    match halt {
        Halt::Watch { core, hit } => Some((*core, held.watched(hit.watch))),
        _ => None,
    }
}

fn reason_of(halt: &Halt, held: &Held) -> MultiThreadStopReason<u64> {
    match halt {
        Halt::Break { core } => MultiThreadStopReason::SwBreak(tid_of(*core)),
        Halt::Watch { core, hit } => {
            let Asked { addr, kind, .. } = held.watched(hit.watch);
            MultiThreadStopReason::Watch { tid: tid_of(*core), kind, addr: addr.into() }
        }
        Halt::Stepped { core } | Halt::Trigger { core, .. } => {
            MultiThreadStopReason::SignalWithThread { tid: tid_of(*core), signal: Signal::SIGTRAP }
        }
        _ => MultiThreadStopReason::Signal(Signal::SIGTRAP),
    }
}

/// The connection to the client while the machine runs, and the receivers of output.
struct Line<'l, 'p> {
    link: &'l mut Link,
    options: Options,
    pause: Pause<'p>,
    failed: Option<io::Error>,
    stopped: bool,
    spoke: bool,
}

impl Line<'_, '_> {
    /// Passes output on. False if the machine is to halt for the user or the client.
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

/// Passes output to the user or to the client. Returns whether the user wants to go on.
fn show(link: &mut Link, printed: &Printed, options: Options, pause: Pause) -> io::Result<bool> {
    if !options.console_to_client {
        return Ok(pause(printed));
    }
    if !printed.console.is_empty() {
        link.send_output(&printed.console)?;
    }
    Ok(pause(&Printed { console: Vec::new(), ..printed.clone() }))
}

/// A run that can't continue is first shown where it is; if the client continues it then, it is over.
fn ended_reason(outcome: &Outcome, was_shown: bool, held: &Held) -> MultiThreadStopReason<u64> {
    let tid = tid_of(held.machine.main_core());
    match outcome {
        Outcome::Exit(code) => MultiThreadStopReason::Exited(*code as u8),
        Outcome::Fault(_) if !was_shown => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGSEGV },
        Outcome::Asleep(_) if !was_shown => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGWAITING },
        Outcome::Limit(_) if !was_shown => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGXCPU },
        _ => MultiThreadStopReason::Exited(1),
    }
}

/// The text that the client shows with a halt for a condition, as a signal can't name the condition.
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
        Outcome::Asleep(text) | Outcome::Fault(text) | Outcome::Limit(text) | Outcome::Script(text) => Some(text),
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
