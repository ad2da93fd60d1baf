//! Branch prediction: a branch target buffer, with a two-bit counter for each branch in it.
//!
//! Software shows that XBurst cores have such a buffer: Config7 bit 1 clears it (U-Boot,
//! arch/mips/mach-jz47xx/start.S), and bit 4 keeps loops from bypassing it (Linux, cpu_probe_ingenic). Its size and its
//! counters are not documented.

use crate::state::State;

/// Counters run from 0 to 3; taken is predicted from 2.
pub(super) const LIKELY: u8 = 2;
pub(super) const SURE: u8 = 3;
/// The address of an empty entry: it is not a multiple of 4.
const NOWHERE: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
#[repr(C)]
pub(super) struct Entry {
    pub pc: u32,
    pub target: u32,
    pub counter: u8,
}

const EMPTY: Entry = Entry { pc: NOWHERE, target: 0, counter: 0 };

/// The state of a core's prediction.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct Predictor {
    /// Each branch is in the entry selected by the low bits of its address. The length is a power of two, or 0.
    #[state(with = crate::state::fixed)]
    entries: Vec<Entry>,
}

impl Predictor {
    /// An empty buffer. `entries` is a power of two, or 0: then no taken branch is predicted.
    pub fn new(entries: u32) -> Predictor {
        Predictor { entries: vec![EMPTY; entries as usize] }
    }

    /// For compiled code: the host's address of the entry for the branch at `pc`. It is valid while the core lives.
    pub(super) fn entry_of(&self, pc: u32) -> Option<usize> {
        let mask = self.entries.len().wrapping_sub(1);
        self.entries.get((pc >> 2) as usize & mask).map(|entry| (&raw const *entry).expose_provenance())
    }

    /// Forgets everything.
    pub fn invalidate(&mut self) {
        self.entries.fill(EMPTY);
    }

    /// Handles the branch or jump at `pc`, which went to `target` or was not taken. True if that had been predicted.
    /// Only taken branches are entered.
    #[inline(always)]
    pub fn resolve(&mut self, pc: u32, taken: bool, target: u32) -> bool {
        let mask = self.entries.len().wrapping_sub(1);
        let Some(entry) = self.entries.get_mut((pc >> 2) as usize & mask) else { return !taken };
        if entry.pc != pc {
            if taken {
                *entry = Entry { pc, target, counter: LIKELY };
            }
            return !taken;
        }
        let expected = entry.counter >= LIKELY;
        if !taken {
            entry.counter = entry.counter.saturating_sub(1);
            return !expected;
        }
        let right = expected && entry.target == target;
        entry.counter = (entry.counter + 1).min(SURE);
        entry.target = target;
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_expected_once_it_was_taken() {
        let mut predictor = Predictor::new(16);
        assert!(predictor.resolve(0x100, false, 0x80), "what is not known falls through");
        assert!(!predictor.resolve(0x100, true, 0x80));
        assert!(predictor.resolve(0x100, true, 0x80));
        assert!(!predictor.resolve(0x100, false, 0x80));
        assert!(predictor.resolve(0x100, true, 0x80), "one exit from a loop is not enough to forget it");
        assert!(!predictor.resolve(0x100, true, 0x90), "another target");
        assert!(predictor.resolve(0x100, true, 0x90));
    }

    #[test]
    fn branches_of_one_place_drive_each_other_out() {
        let mut predictor = Predictor::new(16);
        for _ in 0..3 {
            assert!(!predictor.resolve(0x100, true, 0x80));
            assert!(!predictor.resolve(0x140, true, 0x80));
        }
        assert!(predictor.resolve(0x100, false, 0x80), "it is not known, and others' predictions are not its own");
        assert!(predictor.resolve(0x140, true, 0x80));
        predictor.invalidate();
        assert!(!predictor.resolve(0x140, true, 0x80));
    }

    #[test]
    fn without_entries_all_that_is_taken_is_unexpected() {
        let mut predictor = Predictor::new(0);
        for _ in 0..3 {
            assert!(!predictor.resolve(0x100, true, 0x80));
            assert!(predictor.resolve(0x100, false, 0x80));
        }
    }
}
