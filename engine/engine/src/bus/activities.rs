//! Recording of the activities of devices and cores, with their identities from the bus.

use super::Bus;
use super::device::{Device, DeviceId, IrqLine};
use crate::activity::{Detail, EXCEPTION, Kind, Scope};
use crate::event_rates::Source;
use crate::time::Ps;

impl Bus {
    /// The scope of the activities that a device records.
    #[inline]
    pub fn scope(&mut self, id: DeviceId) -> &Scope {
        while self.scopes.len() <= id.0 as usize {
            let scope = self.activities.scope(&self.device_names[self.scopes.len()]);
            self.scopes.push(scope);
        }
        &self.scopes[id.0 as usize]
    }

    /// Records the level of an interrupt line, as `id` drives it.
    #[cold]
    pub fn record_irq(&mut self, id: DeviceId, line: IrqLine, level: bool, now: Ps) {
        // Most calls repeat the present level.
        if self.irq_levels.insert((id, line), level).unwrap_or(false) == level {
            return;
        }
        let end = self.end_of(line);
        self.scope(id).interrupt(end, level, now);
    }

    /// Starts to record which interrupts come to cores, and from which devices.
    #[inline]
    pub fn follow_interrupts(&mut self) {
        let passes =
            |device: &Option<Box<dyn Device>>| device.as_ref().is_some_and(|device| device.passes_interrupts());
        let passing = self.devices.iter().map(passes).collect();
        self.interrupt_sources.start(passing);
    }

    /// The label of the device whose interrupt came to a core last, after the first and up to the second time of
    /// `within`.
    #[inline]
    pub fn interrupted_last(&self, core: u32, within: (Ps, Ps)) -> Option<String> {
        let device = self.interrupt_sources.came_last(core, within)?;
        self.device_names.get(device.0 as usize).cloned()
    }

    /// Where an interrupt line ends, as text for users.
    pub fn end_of(&self, line: IrqLine) -> String {
        match line {
            IrqLine::Core { core, bit } => format!("core {core}, input {bit}"),
            IrqLine::Device { device, input } => {
                let name = self.device_names.get(device.0 as usize).map_or("", String::as_str);
                format!("{name}, input {input}")
            }
        }
    }

    /// Core number `core` takes an exception at `now`.
    #[inline]
    pub fn exception(&mut self, core: u32, now: Ps, source: Source) {
        self.event_rates.exception(core, now, source);
        if let Some(input) = source.input {
            let is_up = self.core_irqs[core as usize].is_up(input);
            self.event_rates.entries.entered(core, input, is_up);
        }
        if self.activities.records(Kind::Exception) {
            let Source { name, number, input } = source;
            self.core_scopes[core as usize].mark(&EXCEPTION, now, Detail::Exception { name, number, input });
        }
    }
}
