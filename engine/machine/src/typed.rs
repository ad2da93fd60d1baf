//! The input typed on a machine's serial lines, with its times: a debugger that goes back in a run has it repeated, so
//! that the run is the same.

use super::Machine;
use engine::bus::device::DeviceId;
use engine::time::Ps;

/// The record of typed input, in order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed(Vec<(Ps, DeviceId, Vec<u8>)>);

impl Typed {
    /// Records input on the line of a far end.
    pub fn add(&mut self, at: Ps, far_end: DeviceId, characters: &[u8]) {
        self.0.push((at, far_end, characters.to_vec()));
    }

    /// Number of inputs so far.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Drops the record, since it belongs to another run.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

impl Machine {
    /// Sets whether [`Machine::resume`] repeats an earlier run, up to where the machine halts as interrupted since it
    /// waits for more standard input than the earlier run had.
    pub fn replay(&mut self, replays: bool) {
        self.debugging.replays = replays;
    }

    /// Time of the last input on record.
    pub fn last_typed(&self) -> Option<Ps> {
        self.typed.0.last().map(|(at, ..)| *at)
    }

    /// The machine is at a state with `known` inputs: later inputs on record are repeated at their times.
    pub(super) fn type_again(&mut self, typed: Typed, known: usize) {
        for (at, far_end, characters) in typed.0.iter().skip(known) {
            self.type_at(*at, *far_end, characters);
        }
        self.typed = typed;
    }
}
