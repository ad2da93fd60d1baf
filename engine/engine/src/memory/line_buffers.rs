//! Line buffers of a microcontroller's flash interface: lines of instructions that it holds for the core.
//!
//! The lines in its instruction cache are in the core's directory of that cache. The interface's registers belong to a
//! device, which sets here how lines are answered; cores follow before their next instruction.

use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};

/// Way in which lines of instructions are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Answer {
    /// After wait states; [`LineBuffers::passes`] says whether the core's cache keeps them.
    #[default]
    Kept,
    /// After wait states; no line is kept, each is available until the next one is read.
    Passes,
    /// Without wait states: accesses take no time, whatever their address.
    AtOnce,
}

/// The buffers of a board's flash interface; a board without one has the default.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct LineBuffers {
    /// The device whose windows show the flash, and its way of answering.
    answer: Option<(DeviceId, Answer)>,
    /// The line read last is not put into the cache: it is available until the next one is read.
    pub passes: bool,
    /// A line is asked for by the address of the first word that the core wants of it.
    pub by_word: bool,
    epoch: u64,
}

impl LineBuffers {
    /// Sets the way in which the flash in the windows of a device answers.
    pub fn answer(&mut self, interface: DeviceId, answer: Answer) {
        let answer = (answer != Answer::Kept).then_some((interface, answer));
        if self.answer != answer {
            self.answer = answer;
            self.forget();
        }
    }

    /// The address by which a line is asked for, for an instruction at `wanted` in it.
    #[inline(always)]
    pub fn asked_for(&self, line: u32, wanted: u32) -> u32 {
        if self.by_word { wanted & !3 } else { line }
    }

    /// Drops the buffered lines.
    pub fn forget(&mut self) {
        self.epoch += 1;
    }

    /// Incremented with each change.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The way in which the flash answers, if there is one.
    pub fn how(&self) -> Answer {
        self.answer.map_or(Answer::Kept, |(_, answer)| answer)
    }

    /// The way in which accesses to the windows of a device are answered, if they show a flash.
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
