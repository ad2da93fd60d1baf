//! Exchanges between a machine and the host.
//!
//! Output goes to the host at the end of each slice, and in between when it is due. Then the core continues as if it
//! had not stopped, so that nothing depends on that time. With a program on the host at a pipe of one of its devices, a
//! machine is run in steps.

use super::{Machine, Outcome, Printed, RunReport, SLICE_CYCLES};
use engine::bus::device::DeviceId;
use engine::core::Stop;
use engine::observe::output::HandOver;
use engine::pipe::{Goal, Pipe};
use engine::time::Ps;

/// Notifies the device of new bytes.
const FED: u32 = 0;
/// The end of a step: an event that stays due while a core waits for the host's bytes.
const STEP_END: u32 = 1;

/// Gets the output since the last call. Returns false if the user wants to stop. The simulation waits for it.
pub(super) type Pause<'a> = &'a mut dyn FnMut(&Printed) -> bool;

/// The end of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The time at which the goal was reached; `None` if the step's time was up first.
    pub reached: Option<Ps>,
    /// The report, if the firmware or the user ended the run in the step.
    pub ended: Option<RunReport>,
}

impl Machine {
    /// Sets when the host gets output, in addition to the end of each slice. It has no other effect.
    pub fn set_hand_over(&mut self, hand_over: HandOver) {
        self.bus.output.hand_over = hand_over;
    }

    /// Runs a core up to `horizon`, and passes on its output when that is due. `None` if the user wants to stop.
    pub(super) fn run_printing(&mut self, core: usize, horizon: Ps, pause: Pause) -> Option<Stop> {
        loop {
            if let Some(at) = self.hand_over_at {
                self.bus.order.break_off(at);
            }
            let stop = self.cores[core].run(&mut self.bus, horizon);
            let broken_off = self.bus.order.take_broken_off();
            if stop != Stop::Horizon || !broken_off {
                return Some(stop);
            }
            let (now, before) = (self.core_time(core), self.hand_over_at);
            if !self.hand_over_if_due(now, pause) {
                return None;
            }
            if self.hand_over_at == before {
                // It stopped for another reason.
                return Some(stop);
            }
        }
    }

    /// Passes on the output if that is due at `now`. False if the user wants to stop.
    pub(super) fn hand_over_if_due(&mut self, now: Ps, pause: Pause) -> bool {
        if self.bus.output.is_empty() {
            return true;
        }
        let soon = now.saturating_add(self.cores[0].clock().ps_at_floor(self.bus.output.hand_over.cycles));
        let due = *self.hand_over_at.get_or_insert(soon);
        (!self.bus.output.is_full() && now < due) || (pause(&self.take_printed()) && !self.stop.is_made())
    }

    /// The output since the last call.
    pub(super) fn take_printed(&mut self) -> Printed {
        self.hand_over_at = None;
        let (console, streams) = self.bus.output.take();
        let named =
            streams.into_iter().map(|(device, bytes)| (self.bus.device_names[device.0 as usize].clone(), bytes));
        Printed { console, streams: named.collect(), notes: self.new_event_rate_notes(), is_restart: false }
    }
}

impl Machine {
    /// The pipe of the device with this label, if it has one.
    pub fn pipe(&mut self, port: &str) -> Option<&mut Pipe> {
        let id = self.pipe_device(port)?;
        self.bus.devices[id.0 as usize].as_mut()?.pipe()
    }

    /// The first device that has a pipe: its label.
    pub fn first_pipe(&mut self) -> Option<String> {
        let mut devices = self.bus.devices.iter_mut().zip(&self.bus.device_names);
        devices.find_map(|(device, name)| device.as_mut()?.pipe().map(|_| name.clone()))
    }

    /// The latest local time of all cores.
    pub fn latest(&self) -> Ps {
        (0..self.cores.len()).map(|core| self.core_time(core)).max().unwrap_or(Ps::ZERO)
    }

    /// The host writes bytes to a pipe, at [`Machine::latest`]. False if the board has no such pipe.
    pub fn feed(&mut self, port: &str, bytes: &[u8]) -> bool {
        let now = self.latest();
        let Some(id) = self.pipe_device(port) else { return false };
        if let Some(pipe) = self.pipe(port) {
            pipe.feed(bytes);
            self.bus.events.schedule(now, id, FED);
        }
        true
    }

    /// Continues until a pipe's goal is reached, until `until`, or to the end of the run. Unlike [`Machine::run`] it
    /// can be called again, and the steps do not affect the machine. `pause` is as for [`Machine::run`]. `None` if
    /// there is no such pipe.
    pub fn advance(
        &mut self,
        port: &str,
        goal: Option<Goal>,
        until: Ps,
        mut pause: impl FnMut(&Printed) -> bool,
    ) -> Option<Step> {
        let id = self.pipe_device(port)?;
        if let Err(fault) = self.begin_or_fault() {
            return Some(Step { reached: None, ended: Some(self.report(fault)) });
        }
        if self.pipe(port)?.wait_for(goal) {
            return Some(Step { reached: Some(self.latest()), ended: None });
        }
        let ended = self.run_step(id, until, &mut pause);
        Some(Step { reached: self.pipe(port)?.reached(), ended })
    }

    /// Continues until `until`, until a device requests a pause, or to the end of the run. The device `awake` gets an
    /// event at the step's end.
    pub(super) fn run_step(&mut self, awake: DeviceId, until: Ps, pause: Pause) -> Option<RunReport> {
        self.bus.events.schedule(until, awake, STEP_END);
        let ended = loop {
            let slice_end = self.now().saturating_add(self.cores[0].clock().ps_at_floor(SLICE_CYCLES)).min(until);
            let ended = self.run_slice(slice_end, until, pause);
            let go_on = pause(&self.take_printed());
            match ended {
                Some(Outcome::Limit(_)) => break None,
                Some(Outcome::Interrupted) => break ended,
                _ if std::mem::take(&mut self.bus.paused) => {
                    self.bus.exit = None;
                    break None;
                }
                Some(outcome) => break Some(outcome),
                None if !go_on => break Some(Outcome::Interrupted),
                None => {}
            }
        };
        self.bus.events.cancel(awake, STEP_END);
        ended.map(|outcome| self.end(outcome, pause))
    }

    fn pipe_device(&mut self, port: &str) -> Option<DeviceId> {
        let index = self.bus.device_names.iter().position(|name| name == port)?;
        let has_pipe = self.bus.devices[index].as_mut()?.pipe().is_some();
        has_pipe.then_some(DeviceId(index as u32))
    }
}
