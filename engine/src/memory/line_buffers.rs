//! What the interface of a microcontroller's flash keeps of it for the core: lines of instructions.
//!
//! Which lines its instruction cache has is known to the core's, which is a directory of that. The interface's
//! registers are a device's, which says here what comes of lines that are read; cores follow before their next
//! instruction.

use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};

/// How lines of instructions are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Answer {
    /// After wait states, and [`LineBuffers::passes`] says whether the core's cache keeps them.
    #[default]
    Kept,
    /// After wait states; none is kept, each is there until the next one is.
    Passes,
    /// Without wait states: no access takes time, wherever it goes.
    AtOnce,
}

/// The buffers of a board's flash interface; of a board without one they are as they are by default.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct LineBuffers {
    /// The device whose windows show the flash, and how that answers.
    answer: Option<(DeviceId, Answer)>,
    /// The line that was read last does not go to the cache: it is there until the next one is.
    pub passes: bool,
    epoch: u64,
}

impl LineBuffers {
    /// From now on, this is how the flash in the windows of a device answers.
    pub fn answer(&mut self, interface: DeviceId, answer: Answer) {
        let answer = (answer != Answer::Kept).then_some((interface, answer));
        if self.answer != answer {
            self.answer = answer;
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

    /// How the flash answers, if there is one.
    pub fn how(&self) -> Answer {
        self.answer.map_or(Answer::Kept, |(_, answer)| answer)
    }

    /// How accesses to the windows of a device are answered, if they are those of a flash.
    #[inline]
    pub fn how_of(&self, device: DeviceId) -> Answer {
        self.answer.filter(|(interface, _)| *interface == device).map_or(Answer::Kept, |(_, answer)| answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_reported_of_changes_alone() {
        let mut buffers = LineBuffers::default();
        buffers.answer(DeviceId(3), Answer::Kept);
        assert_eq!((buffers.epoch(), buffers.how()), (0, Answer::Kept));
        buffers.answer(DeviceId(3), Answer::AtOnce);
        buffers.answer(DeviceId(3), Answer::AtOnce);
        assert_eq!((buffers.epoch(), buffers.how()), (1, Answer::AtOnce));
        assert_eq!([3, 2].map(|device| buffers.how_of(DeviceId(device))), [Answer::AtOnce, Answer::Kept]);
        buffers.forget();
        buffers.answer(DeviceId(3), Answer::Passes);
        assert_eq!((buffers.epoch(), buffers.how()), (3, Answer::Passes));
    }
}
