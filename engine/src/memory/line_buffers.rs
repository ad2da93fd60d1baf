//! What the interface of a microcontroller's flash keeps of it for the core: lines of instructions.
//!
//! Which lines its instruction cache has is known to the core's, which is a directory of that. The interface's
//! registers are a device's, which says here what comes of lines that are read; cores follow before their next
//! instruction.

use crate::dt::wiring::DeviceId;
use crate::state::State;

/// The buffers of a board's flash interface; of a board without one they are as they are by default.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct LineBuffers {
    /// The device whose windows show the flash without wait states: no access takes time, wherever it goes.
    at_once: Option<DeviceId>,
    /// The line that was read last does not go to the cache: it is there until the next one is.
    pub passes: bool,
    epoch: u64,
}

impl LineBuffers {
    /// From now on the flash in the windows of a device has wait states, or none.
    pub fn answer(&mut self, interface: DeviceId, at_once: bool) {
        let at_once = at_once.then_some(interface);
        if self.at_once != at_once {
            self.at_once = at_once;
            self.forget();
        }
    }

    /// No line is there any more.
    pub fn forget(&mut self) {
        self.epoch += 1;
    }

    /// Grows with each change.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// True if accesses to the windows of some device take no time.
    pub fn are_any_at_once(&self) -> bool {
        self.at_once.is_some()
    }

    /// True if accesses to the windows of a device take no time.
    #[inline]
    pub fn are_at_once(&self, device: DeviceId) -> bool {
        self.at_once == Some(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_told_of_changes_alone() {
        let mut buffers = LineBuffers::default();
        assert!(!buffers.are_at_once(DeviceId(3)));
        buffers.answer(DeviceId(3), true);
        buffers.answer(DeviceId(3), true);
        assert_eq!(buffers.epoch(), 1);
        assert!(buffers.are_at_once(DeviceId(3)) && !buffers.are_at_once(DeviceId(2)));
        buffers.forget();
        buffers.answer(DeviceId(3), false);
        assert_eq!(buffers.epoch(), 3);
    }
}
