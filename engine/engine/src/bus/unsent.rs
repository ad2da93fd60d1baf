//! What devices have left to do when a run ends: characters that are not sent yet, failures that nobody noticed.

use super::Bus;
use super::device::{DeviceId, Unsent};
use crate::time::Ps;

impl Bus {
    /// Why a chip can't continue, before its controller has noticed.
    pub fn failure_of_chips(&mut self) -> Option<String> {
        let mut chips = self.devices.iter_mut().flatten().flat_map(|device| device.chips());
        chips.find_map(|chip| chip.chip_report()?.failure.take())
    }

    /// The unsent characters of a device's serial line.
    pub fn unsent(&self, id: DeviceId) -> Unsent {
        self.devices[id.0 as usize].as_ref().map_or_else(Unsent::default, |device| device.unsent())
    }

    /// Advances the serial line with the next change to the time of that change, which is after `end`. Returns the
    /// time, or `None` if there are no more changes.
    pub fn send_next(&mut self, end: Ps) -> Option<Ps> {
        let ids = (0..self.devices.len() as u32).map(DeviceId);
        let (at, id) = ids.filter_map(|id| Some((self.unsent(id).next_change?, id))).min()?;
        let before = self.unsent(id);
        self.with_device(id, at.max(end), |device, ctx| device.send_on(ctx));
        // A device that makes no progress would make the run endless.
        (self.unsent(id) != before).then_some(at)
    }
}
