//! Notes for the user about a run: one line each, each only once, and limited in number.
//!
//! A note may contain values that the firmware chose, so the number of different ones has no limit of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::dt::wiring::DeviceId;
use crate::faults::CoreFault;
use crate::state::State;

/// The number of different exceptions that are kept.
const MOST_TRAPS: usize = 8;

/// Notes, in the order in which they came: at most `MOST`.
#[derive(Debug, Default, State)]
pub struct Notes<const MOST: usize> {
    lines: Vec<String>,
    known: BTreeMap<Option<DeviceId>, BTreeSet<String>>,
    has_more: bool,
}

impl<const MOST: usize> Notes<MOST> {
    /// Keeps the text of `line`, unless the same device (or none) has given `what` before. Gives the index of a new
    /// note.
    pub fn add(&mut self, from: Option<DeviceId>, what: &str, line: impl FnOnce() -> String) -> Option<usize> {
        let known = self.known.entry(from).or_default();
        if known.contains(what) {
            return None;
        }
        if self.lines.len() == MOST {
            self.has_more = true;
            return None;
        }
        known.insert(what.to_owned());
        self.lines.push(line());
        Some(self.lines.len() - 1)
    }

    /// All notes that are kept.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// True if some notes were left out.
    pub fn has_more(&self) -> bool {
        self.has_more
    }
}

/// Exceptions that a handler of the firmware took, with the cores that raised them.
#[derive(Debug, Default, State)]
pub struct Traps {
    kept: Vec<(usize, CoreFault)>,
    has_more: bool,
}

impl Traps {
    /// A core took an exception. Exceptions that differ only in the link register are the same one.
    pub fn add(&mut self, core: usize, fault: CoreFault) {
        let is_known =
            |known: &(usize, CoreFault)| known.0 == core && CoreFault { link: fault.link, ..known.1.clone() } == fault;
        if self.kept.iter().any(is_known) {
            return;
        }
        if self.kept.len() < MOST_TRAPS {
            self.kept.push((core, fault));
        } else {
            self.has_more = true;
        }
    }

    /// All exceptions that are kept.
    pub fn kept(&self) -> &[(usize, CoreFault)] {
        &self.kept
    }

    /// True if some exceptions were left out.
    pub fn has_more(&self) -> bool {
        self.has_more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_kept_once_and_not_without_end() {
        let mut notes = Notes::<1000>::default();
        let add = |notes: &mut Notes<1000>, what: &str| {
            notes.add(Some(DeviceId(0)), what, || what.to_owned());
        };
        for number in 0..1000 {
            add(&mut notes, &format!("note {number}"));
            add(&mut notes, "note 0");
        }
        assert_eq!((notes.lines().len(), notes.has_more()), (1000, false));
        add(&mut notes, "one more");
        assert_eq!((notes.lines().len(), notes.has_more()), (1000, true));
    }

    #[test]
    fn the_same_from_two_devices_are_two_notes() {
        let mut notes = Notes::<10>::default();
        for from in [Some(DeviceId(0)), Some(DeviceId(1)), None, Some(DeviceId(1))] {
            notes.add(from, "is off", || format!("{from:?} is off"));
        }
        assert_eq!(notes.lines().len(), 3);
    }

    #[test]
    fn exceptions_are_kept_once_and_not_without_end() {
        let mut traps = Traps::default();
        for pc in 0..9 {
            assert_eq!((traps.kept().len(), traps.has_more()), (pc as usize, false));
            traps.add(0, CoreFault { pc, ..CoreFault::default() });
            traps.add(0, CoreFault { pc: 0, link: Some(4), ..CoreFault::default() });
        }
        assert_eq!((traps.kept().len(), traps.has_more()), (8, true));
    }
}
