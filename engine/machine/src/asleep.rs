//! All cores sleep, and no event is to come: whether anything can wake a core, and the message for the user.

use super::Machine;
use super::progress::Activity;
use engine::bus::device::{IrqLine, WhenReceived};
use engine::time::Ps;

/// A limit from here on means no limit.
const UNLIMITED: Ps = Ps(u64::MAX / 2);

impl Machine {
    /// Why no core will ever run again, if that is so. A serial port with an enabled receive interrupt may get a
    /// character at any time: a run with a limit continues up to that limit.
    pub(super) fn sleeps_for_ever(&mut self, limit: Ps) -> Option<String> {
        let ports = self.ports_that_wake();
        if !ports.is_empty() && limit < UNLIMITED {
            return None;
        }
        Some(format!("{}; {}", self.sleepers_text(), self.sources_text(&ports)))
    }

    /// The message of a run that has reached its limit while only a character at a serial port could have woken a core.
    pub(super) fn awaited_text(&mut self) -> Option<String> {
        let is_asleep = (0..self.cores.len()).all(|core| self.last_activity(core) != Activity::Running);
        if !is_asleep || self.bus.events.next_due() != Ps::MAX || self.bus.lines.are_attended {
            return None;
        }
        let ports = self.ports_that_wake();
        (!ports.is_empty()).then(|| {
            let ports = ports.join(" and ");
            format!("nothing but a character that {ports} receives could end that, which --script can send")
        })
    }

    /// Labels of the serial ports at which a character would wake a core.
    fn ports_that_wake(&mut self) -> Vec<String> {
        let devices = self.bus.devices.iter_mut().zip(&self.bus.device_names);
        let ports = devices.filter_map(|(device, name)| Some((device.as_mut()?.serial_port()?.when_received(), name)));
        let ports: Vec<(WhenReceived, String)> = ports.map(|(when, name)| (when, name.clone())).collect();
        let waking = ports.into_iter().filter(|(when, _)| match when {
            WhenReceived::Nothing => false,
            WhenReceived::Raises(lines) => lines.iter().any(|line| self.would_wake(*line)),
            WhenReceived::AsksDma => true,
        });
        waking.map(|(_, name)| name).collect()
    }

    /// True if an interrupt would wake a core, or if it goes to a controller, which decides that.
    fn would_wake(&self, line: IrqLine) -> bool {
        match line {
            IrqLine::Core { core, bit } => self.cores[core as usize].would_wake(&self.bus, bit),
            IrqLine::Device { .. } => true,
        }
    }

    /// Where the cores sleep, and what they wait for.
    fn sleepers_text(&self) -> String {
        let cores: Vec<String> = (0..self.cores.len()).map(|core| self.sleeper_text(core)).collect();
        cores.join("; ")
    }

    fn sleeper_text(&self, core: usize) -> String {
        let state = self.state_text(core, false);
        let held_back = match self.last_activity(core) {
            Activity::Waiting => self.cores[core].awaits(&self.bus).held_back,
            Activity::Running | Activity::Held => None,
        };
        held_back.map_or_else(|| state.clone(), |why| format!("{state} ({why})"))
    }

    fn sources_text(&self, ports: &[String]) -> String {
        let is_event = (0..self.cores.len()).any(|core| self.cores[core].awaits(&self.bus).is_event);
        let does = if is_event { "send one" } else { "raise one" };
        if ports.is_empty() {
            return format!("nothing on the board is due to {does}");
        }
        let ports = ports.join(" and ");
        format!(
            "only a character that {ports} receives could {does}, and nobody is there to send it: give one with \
             --script, or a time to wait with --limit"
        )
    }
}
