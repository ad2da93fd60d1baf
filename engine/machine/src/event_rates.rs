//! The machine's notes about excessive rates ([`engine::event_rates`]).

use super::Machine;
use engine::bus::device::DeviceId;
use engine::event_rates::{Entered, ExcessiveRate, Source};
use engine::time::Ps;

impl Machine {
    /// A note for each excessive rate of the run.
    pub(super) fn event_rate_notes(&self) -> Vec<String> {
        let event_rates = self.bus.event_rates.found.iter().map(|(excessive, at)| self.excess_text(*excessive, *at));
        let entries = self.bus.event_rates.entries.found().filter(|(core, ..)| (*core as usize) < self.cores.len());
        event_rates.chain(entries.flat_map(|found| self.entries_text(found))).collect()
    }

    /// A note for each excessive rate that was found since the last call.
    pub(super) fn new_event_rate_notes(&mut self) -> Vec<String> {
        let reported = std::mem::replace(&mut self.reported_excess, self.bus.event_rates.found.len());
        self.bus.event_rates.found[reported..].iter().map(|(excessive, at)| self.excess_text(*excessive, *at)).collect()
    }

    /// True if the loaded state refers to devices and cores of this machine.
    pub(super) fn event_rates_are_sound(&self) -> bool {
        let found = &self.bus.event_rates.found;
        let is_here = |excessive: &ExcessiveRate| match excessive {
            ExcessiveRate::Events { .. } => true,
            ExcessiveRate::Exceptions { core, .. } => *core < self.cores.len(),
        };
        self.reported_excess <= found.len() && found.iter().all(|(excessive, _)| is_here(excessive))
    }

    /// How an interrupt's handler is entered repeatedly, or a second time.
    fn entries_text(&self, (core, input, entered): (u32, u32, Entered)) -> Vec<String> {
        let source = Source { name: "interrupt", number: Some(input), input: Some(input) };
        let from = self.bus.event_rates.raisers(core, source);
        let (core, what) = (self.cores[core as usize].name(), self.source_text(source, from));
        let mut lines = Vec::new();
        if entered.never_stops() {
            let device = from.into_iter().flatten().last();
            let flags = device.and_then(|id| self.bus.devices[id.0 as usize].as_ref()?.interrupt_flags());
            let why = match (device, flags) {
                (Some(id), Some(flags)) => format!(" ({}: {flags})", self.device_name(id)),
                _ => String::new(),
            };
            let times = entered.most_in_a_row;
            lines.push(format!(
                "{core}: {what} was taken {times} times in a row, as its line never went down{why}: no handler clears \
                 what raises it"
            ));
        }
        if entered.once_more > 0 {
            let times = entered.once_more;
            let time = if times == 1 { "time" } else { "times" };
            lines.push(format!(
                "{core}: {what} was taken once more at once, {times} {time}: its handler returned before the store \
                 that clears its flag had arrived; clear it earlier, or read it back"
            ));
        }
        lines
    }

    fn excess_text(&self, excessive: ExcessiveRate, at: Ps) -> String {
        const SLOW: &str = "that is what makes the run slow";
        match excessive {
            ExcessiveRate::Events { device, each_ms } => {
                let name = self.device_name(device);
                format!("{name} has some {each_ms} events in each simulated millisecond (noticed at {at}): {SLOW}")
            }
            ExcessiveRate::Exceptions { core, each_ms, most, from } => {
                let (name, what) = (self.cores[core].name(), self.source_text(most, from));
                format!(
                    "{name} takes some {each_ms} exceptions in each simulated millisecond, most of them {what} \
                     (noticed at {at}): {SLOW}"
                )
            }
        }
    }

    fn source_text(&self, source: Source, from: [Option<DeviceId>; 2]) -> String {
        let number = source.number.map_or_else(String::new, |number| format!(" {number}"));
        let from: Vec<&str> = from.into_iter().flatten().map(|device| self.device_name(device)).collect();
        let from = if from.is_empty() { String::new() } else { format!(" from {}", from.join(", which has it from ")) };
        format!("{}{number}{from}", source.name)
    }

    /// Why time no longer passes, if it does not.
    pub(super) fn endless_text(&self) -> Option<String> {
        let (device, at) = self.bus.event_rates.endless?;
        let name = self.device_name(device);
        Some(format!("{name}: it has events without end at {at}: no time passes between them, so the run can't go on"))
    }

    /// The label of a device.
    pub fn device_name(&self, device: DeviceId) -> &str {
        &self.bus.device_names[device.0 as usize]
    }
}
