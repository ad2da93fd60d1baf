//! What was typed at a machine's serial lines, and when: who goes back in a run has it typed again, so that the run is
//! the same again.

use super::Machine;
use crate::bus::device::DeviceId;
use crate::time::Ps;

/// The record of it, in the order in which it was typed.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed(Vec<(Ps, DeviceId, Vec<u8>)>);

impl Typed {
    /// Somebody types at the line of a far end.
    pub fn add(&mut self, at: Ps, far_end: DeviceId, characters: &[u8]) {
        self.0.push((at, far_end, characters.to_vec()));
    }

    /// How often somebody has.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Another run's is not this one's.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

impl Machine {
    /// What [`Machine::resume`] runs has been run before, up to where the machine halts as interrupted since it waits
    /// for more of the standard input than there was then; or it has not.
    pub fn replay(&mut self, replays: bool) {
        self.debugging.replays = replays;
    }

    /// When somebody typed last, in what is on record.
    pub fn last_typed(&self) -> Option<Ps> {
        self.typed.0.last().map(|(at, ..)| *at)
    }

    /// The machine is where somebody had typed `known` times: what is on record behind that comes at its times.
    pub(super) fn type_again(&mut self, typed: Typed, known: usize) {
        for (at, far_end, characters) in typed.0.iter().skip(known) {
            self.type_at(*at, *far_end, characters);
        }
        self.typed = typed;
    }
}
