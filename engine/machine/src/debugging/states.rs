//! The states of devices and their chips by names, and their registers.

use super::super::Machine;
use super::super::snapshots::SnapshotError;
use devices;
use devices::registers::{Access, Row};
use engine::bus::device::{AccessSize, Device};
use engine::state::{Shown, shown};

/// A register of a device from its data sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRegister {
    /// The data sheet's name.
    pub name: &'static str,
    /// Its physical address.
    pub addr: u32,
}

impl Machine {
    /// Labels of all devices and chips with a state: each device is followed by its chips, which have its label beside
    /// their own.
    pub fn labels_with_states(&self) -> Vec<(String, Option<String>)> {
        let mut labels = Vec::new();
        for (name, device) in self.bus.device_names.iter().zip(&self.bus.devices) {
            labels.push((name.clone(), None));
            let state = device.as_deref().map_or(Shown::Nothing, shown);
            labels.extend(state.labelled().into_iter().map(|(label, _)| (label.to_owned(), Some(name.clone()))));
        }
        labels
    }

    /// The state of a device, or of a device's chip, by its label, at the device's last action: values that depend on
    /// time alone are worked out when they are used. Nothing changes.
    pub fn device_state(&mut self, label: &str) -> Option<Shown> {
        // Repeated reads are added to totals, as for a snapshot.
        self.bus.devices.iter_mut().flatten().for_each(|device| device.learn());
        if let Some(index) = self.bus.device_names.iter().position(|name| name == label) {
            return self.bus.devices[index].as_deref().map(shown);
        }
        let state_in = |device: &dyn Device| {
            let all = shown(device);
            let found = all.labelled().into_iter().find(|(own, _)| *own == label);
            found.map(|(_, part)| part.clone())
        };
        self.bus.devices.iter().flatten().find_map(|device| state_in(device.as_ref()))
    }

    /// The registers in a device's first range that its model knows by name, each with the value that a core would read
    /// now; `None` where an error answers. Nothing changes ([`Machine::debug_read_all`]).
    ///
    /// # Errors
    /// Why they can't be read without changing anything.
    pub fn named_registers(&mut self, label: &str) -> Result<Vec<(NamedRegister, Option<u32>)>, SnapshotError> {
        let Some(device) = self.description.devices.iter().find(|device| device.name == label) else {
            return Ok(Vec::new());
        };
        let Some((base, last)) = device.ranges.first().copied() else { return Ok(Vec::new()) };
        let readable = |register: &&Row| register.access != Access::Wo && register.offset <= last - base;
        let registers: Vec<&Row> = devices::registers_of(&device.compatible).iter().filter(readable).collect();
        if registers.is_empty() {
            return Ok(Vec::new());
        }
        let (moment, core) = (self.moment()?, self.main);
        let read = |register: &Row| {
            let named = NamedRegister { name: register.name, addr: base + register.offset };
            let value = self.read_and_undo(core, named.addr, AccessSize::Word, &moment);
            (named, value)
        };
        Ok(registers.into_iter().map(read).collect())
    }
}
