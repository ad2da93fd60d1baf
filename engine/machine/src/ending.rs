//! The end of a run: requests to stop, writing of files, and the last characters on serial lines.
//!
//! Firmware that writes its last line to a UART and ends does not wait for the line. On a real board, the UART then
//! continues by itself. So the remaining characters are sent, each at its time, after the firmware has ended or failed;
//! power that it has switched off is taken to last until then. None of that counts as the firmware's time: elapsed
//! time, stacks, counters and waveforms are those of its end. Nothing is sent where the whole board is reset, or where
//! the run was stopped while the firmware might have continued: a note then lists the missing characters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::exchange::Pause;
use super::{Machine, Outcome, Printed, RunReport};
use engine::bus::device::DeviceId;
use engine::time::Ps;

/// A request to stop, shared between threads, and the time that the run has reached. The run loop checks it between
/// runs of cores: within some tenths of a second of host time.
#[derive(Clone, Debug, Default)]
pub struct StopRequest(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_made: AtomicBool,
    reached_ps: AtomicU64,
}

impl StopRequest {
    /// Requests a stop of all runs that use this object, for good.
    pub fn make(&self) {
        self.0.is_made.store(true, Ordering::Relaxed);
    }

    /// True if a stop was requested.
    pub fn is_made(&self) -> bool {
        self.0.is_made.load(Ordering::Relaxed)
    }

    /// The simulated time that the run had reached at the end of its last slice.
    pub fn reached(&self) -> Ps {
        Ps(self.0.reached_ps.load(Ordering::Relaxed))
    }

    pub(super) fn set_reached(&self, now: Ps) {
        self.0.reached_ps.store(now.0, Ordering::Relaxed);
    }
}

impl Machine {
    /// The end of the run that a device has requested, if one has.
    pub(super) fn outcome_of_devices(&self) -> Option<Outcome> {
        let failed = self.bus.failure.clone().map(Outcome::Fault);
        failed.or_else(|| self.bus.exit.map(|exit| Outcome::Exit(exit.code)))
    }

    /// Ends a run.
    pub(super) fn end(&mut self, outcome: Outcome, pause: Pause) -> RunReport {
        let now = self.now();
        self.answers = match outcome {
            Outcome::Limit(_) | Outcome::Asleep(_) | Outcome::Fault(_) => self.answers_to_waits(),
            Outcome::Exit(_) | Outcome::Script(_) | Outcome::Interrupted => Vec::new(),
        };
        self.finish();
        let outcome = self.outcome_of_scripts(outcome);
        // An error of a wire's last transfer may be known only now.
        let outcome = match (self.bus.failure_of_chips(), outcome) {
            (Some(failure), Outcome::Exit(_) | Outcome::Limit(_) | Outcome::Asleep(_)) => Outcome::Fault(failure),
            (_, outcome) => outcome,
        };
        let mut report = self.report(outcome);
        self.evaluate_at_end(report.elapsed);
        self.bus.activities.end(report.elapsed);
        self.sample_last(&report);
        self.bus.waves.end();
        let cut_off = match report.outcome {
            Outcome::Exit(_) if self.bus.exit_is_reset => Some("the board was reset"),
            Outcome::Exit(_) | Outcome::Asleep(_) | Outcome::Fault(_) | Outcome::Script(_) => None,
            Outcome::Limit(_) => Some("the limit came"),
            Outcome::Interrupted => Some("the run was interrupted"),
        };
        if cut_off.is_none() {
            while self.bus.send_next(now).is_some() {}
            self.bus.receive_the_rest();
        }
        self.note_unsent(cut_off);
        pause(&self.take_printed());
        report.notes = self.notes();
        report
    }

    /// The firmware has ended: sends the rest on serial lines, and returns it. The machine's time advances to the end
    /// of that, so a caller that needs the end of the run must restore it first.
    pub fn print_rest(&mut self) -> Printed {
        let now = self.now();
        if !self.bus.exit_is_reset {
            while self.bus.send_next(now).is_some() {}
            self.bus.receive_the_rest();
        }
        self.take_printed()
    }

    /// Notes the characters that were not sent: since the run was stopped, or since they can't be sent.
    fn note_unsent(&mut self, cut_off: Option<&str>) {
        for (id, name) in (0..).map(DeviceId).zip(&self.bus.device_names) {
            let unsent = self.bus.unsent(id).characters;
            let (were, are) = if unsent.len() == 1 { ("character was", "is") } else { ("characters were", "are") };
            let why = match cut_off {
                Some(when) => format!("still under way when {when}, and {are} not printed"),
                None => "not sent, as the transmitter is off or without a baud rate".to_owned(),
            };
            if !unsent.is_empty() {
                let text = unsent.escape_ascii();
                self.end_notes.push(format!("{name}: {} {were} {why}: \"{text}\"", unsent.len()));
            }
        }
    }
}
