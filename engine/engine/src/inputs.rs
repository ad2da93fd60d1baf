//! The interrupt inputs of a core: their levels, and when these changed.

use crate::state::{Fresh, State};
use crate::time::Ps;

/// The levels of a core's interrupt inputs. Cores with few of them use only the lowest 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Inputs {
    levels: [u32; Inputs::WORDS],
    changes: u32,
    /// Pulses at the event input, for cores that have one.
    events: u32,
    since: Ps,
}

impl Inputs {
    /// Words for all inputs.
    pub const WORDS: usize = 8;
    /// Most inputs that a core can have.
    pub const MOST: u32 = 32 * Inputs::WORDS as u32;

    /// Sets the level of input `number`, which is below [`Inputs::MOST`], at `now`. True if the level changes.
    pub fn set(&mut self, number: u32, level: bool, now: Ps) -> bool {
        let word = &mut self.levels[number as usize / 32];
        let before = std::mem::replace(word, *word & !(1 << (number % 32)) | u32::from(level) << (number % 32));
        let changed = *word != before;
        if changed {
            self.changes = self.changes.wrapping_add(1);
            self.since = now;
        }
        changed
    }

    /// An event comes at `now`: it ends the `wfe` of an Arm core.
    pub fn send_event(&mut self, now: Ps) {
        self.events = self.events.wrapping_add(1);
        self.changes = self.changes.wrapping_add(1);
        self.since = now;
    }

    /// Number of events so far.
    #[inline]
    pub const fn events(&self) -> u32 {
        self.events
    }

    /// Inputs 0 to 31: bit n is input n.
    #[inline]
    pub const fn low(&self) -> u32 {
        self.levels[0]
    }

    /// All inputs: bit n of word m is input 32 m + n.
    pub const fn levels(&self) -> &[u32; Inputs::WORDS] {
        &self.levels
    }

    /// True if input `number`, which is below [`Inputs::MOST`], is up.
    pub const fn is_up(&self, number: u32) -> bool {
        self.levels[number as usize / 32] >> (number % 32) & 1 != 0
    }

    /// Time of the last change. A core that does not wait for the end of its stores may not have reached it.
    #[inline]
    pub const fn since(&self) -> Ps {
        self.since
    }

    /// True if nothing has changed between `self` and `other`.
    #[inline]
    pub const fn is_same(&self, other: &Inputs) -> bool {
        self.changes == other.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_beyond_the_first_word_have_levels_of_their_own() {
        let mut inputs = Inputs::default();
        assert!(inputs.set(104, true, Ps(7)) && inputs.set(1, true, Ps(8)) && !inputs.set(104, true, Ps(9)));
        assert_eq!((inputs.low(), inputs.levels()[3], inputs.since()), (2, 1 << 8, Ps(8)));
        let before = inputs;
        assert!(inputs.set(255, true, Ps(10)) && !inputs.is_same(&before));
        assert_eq!(inputs.levels()[7], 1 << 31);
    }
}
