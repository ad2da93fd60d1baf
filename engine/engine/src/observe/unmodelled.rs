//! Accesses of the firmware to registers that have no model, with the instructions that made them; and the instructions
//! whose accesses led to notes.
//!
//! A device without a model (`devices::cyclescope::stub`) counts accesses by itself. Neither it nor a device
//! that gives a note knows the instruction of an access: it asks for that, and the core records it after the
//! instruction.

use std::collections::BTreeMap;

use crate::dt::wiring::DeviceId;
use crate::polling::Polled;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The number of instructions that are kept for a register.
const MOST_PLACES: usize = 4;

/// A register without a model that was accessed.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub struct Touched {
    /// The index of the device's range that it is in.
    pub range: usize,
    /// Its offset there, in bytes.
    pub offset: u32,
    /// Its name, if the board has it.
    #[poll(skip = "fixed")]
    pub name: Option<String>,
    /// Loads.
    #[poll(total)]
    pub reads: u64,
    /// Stores.
    #[poll(total)]
    pub writes: u64,
    /// The most loads without a store to it between them. Each but the first gave the same value as the one before.
    pub most_reads_in_a_row: u64,
    /// Loads since the last store to it.
    #[poll(total)]
    pub reads_in_a_row: u64,
    /// The value of the last load.
    #[poll(skip = "no answer depends on it")]
    pub last: u32,
    /// When it was accessed first.
    #[poll(skip = "fixed")]
    pub first: Ps,
}

/// A register: its device, which of the device's ranges, and the offset there.
pub type Register = (DeviceId, usize, u32);

/// An instruction: the core by its index, and the address.
pub type Place = (usize, u32);

/// The instructions that accessed registers without a model, and those that led to notes.
#[derive(Debug, Default, State)]
pub struct AccessSites {
    /// An instruction was asked for.
    are_wanted: bool,
    wanted: Option<Register>,
    /// The notes that wait for their instructions, by their indices.
    wanted_notes: Vec<usize>,
    kept: BTreeMap<Register, Vec<Place>>,
    of_notes: BTreeMap<usize, Place>,
}

impl AccessSites {
    /// Asks for the instruction that makes the current access to a register.
    pub fn want(&mut self, register: Register) {
        (self.wanted, self.are_wanted) = (Some(register), true);
    }

    /// Asks for the instruction of the current access, which has led to the note with this index.
    pub fn want_of_note(&mut self, note: usize) {
        self.wanted_notes.push(note);
        self.are_wanted = true;
    }

    /// True if the running core has to record which instruction has just made an access.
    #[inline(always)]
    pub fn are_wanted(&self) -> bool {
        self.are_wanted
    }

    /// Records that it was the instruction at `pc` of core number `core`.
    #[cold]
    pub fn record(&mut self, core: usize, pc: u32) {
        self.are_wanted = false;
        for note in self.wanted_notes.drain(..) {
            self.of_notes.entry(note).or_insert((core, pc));
        }
        let Some(register) = self.wanted.take() else { return };
        let places = self.kept.entry(register).or_default();
        if !places.contains(&(core, pc)) && places.len() < MOST_PLACES {
            places.push((core, pc));
        }
    }

    /// The instruction whose access led to a note; `None` if no instruction made it.
    pub fn of_note(&self, note: usize) -> Option<Place> {
        self.of_notes.get(&note).copied()
    }

    /// The first instructions that accessed a register, in their order. DMA engines have none.
    pub fn of(&self, register: Register) -> &[Place] {
        self.kept.get(&register).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_kept_once() {
        let register = (DeviceId(3), 0, 0x10);
        let mut access_sites = AccessSites::default();
        access_sites.record(0, 1);
        assert_eq!(access_sites.of(register), []);
        for pc in [8, 4, 8, 12, 16, 20] {
            access_sites.want(register);
            assert!(access_sites.are_wanted());
            access_sites.record(1, pc);
            assert!(!access_sites.are_wanted());
        }
        assert_eq!(access_sites.of(register), [(1, 8), (1, 4), (1, 12), (1, 16)]);
    }

    #[test]
    fn a_note_has_the_place_of_its_access() {
        let mut access_sites = AccessSites::default();
        access_sites.want_of_note(3);
        access_sites.want_of_note(4);
        access_sites.record(0, 8);
        assert!(!access_sites.are_wanted());
        assert_eq!([2, 3, 4].map(|note| access_sites.of_note(note)), [None, Some((0, 8)), Some((0, 8))]);
    }
}
