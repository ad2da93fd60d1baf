//! What is under way on serial lines when the firmware has ended: devices tell of it ([`Device::unsent`]) and send it,
//! without a firmware.
//!
//! [`Device::unsent`]: crate::device::Device::unsent

use crate::bus::Bus;
use crate::device::{DeviceId, Unsent};
use crate::time::Ps;

impl Bus {
    /// What is still under way on a device's serial line.
    pub fn unsent(&self, id: DeviceId) -> Unsent {
        self.devices[id.0 as usize].as_ref().map_or_else(Unsent::default, |device| device.unsent())
    }

    /// Brings the serial line on which something happens next up to that time, which is after `end`: gives it, or
    /// `None` if nothing will happen any more.
    pub fn send_next(&mut self, end: Ps) -> Option<Ps> {
        let ids = (0..self.devices.len() as u32).map(DeviceId);
        let (at, id) = ids.filter_map(|id| Some((self.unsent(id).next_change?, id))).min()?;
        let before = self.unsent(id);
        self.with_device(id, at.max(end), |device, ctx| device.send_on(ctx));
        // A device that stays where it is would have the run last for ever.
        (self.unsent(id) != before).then_some(at)
    }
}
