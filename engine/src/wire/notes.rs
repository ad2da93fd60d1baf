//! What a chip on a wire has to tell the user, collected until its controller asks for it.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::state::{Damaged, Fresh, Loader, Saver, State};

/// A host that errs for ever must not fill the memory.
const MOST_NOTES: usize = 1000;

/// Collects notes of type `N`, each once.
#[derive(Clone, Debug)]
pub struct Notes<N> {
    seen: BTreeSet<N>,
    new: Vec<String>,
}

impl<N> Default for Notes<N> {
    fn default() -> Notes<N> {
        Notes { seen: BTreeSet::new(), new: Vec::new() }
    }
}

impl<N: Fresh + Ord> State for Notes<N> {
    fn save(&self, to: &mut Saver) {
        to.begin("Notes");
        to.field("seen");
        self.seen.save(to);
        to.field("new");
        self.new.save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.seen.load(from)?;
        self.new.load(from)
    }
}

impl<N: Ord + Display> Notes<N> {
    /// Records a note unless it is known already.
    #[cold]
    pub fn add(&mut self, note: N) {
        if self.seen.len() < MOST_NOTES && !self.seen.contains(&note) {
            self.new.push(note.to_string());
            self.seen.insert(note);
        }
    }

    /// True if none is new since the last call of [`Notes::take`].
    pub fn has_none(&self) -> bool {
        self.new.is_empty()
    }

    /// Takes away the notes that are new since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

/// What a chip that is not the engine's own has for the run beside notes, collected until its controller takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct ChipReport {
    /// What it prints: whole lines.
    pub printed: Vec<u8>,
    /// Why it can't go on, in one line: the run ends with it.
    pub failure: Option<String>,
    /// The firmware's exit status, where the chip ends the run.
    pub exit: Option<i32>,
    /// It has taken the host long: the machine looks whether the user wants to stop.
    pub has_taken_long: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_reported_once_and_there_is_an_end_to_them() {
        let mut notes = Notes::default();
        notes.add(7);
        notes.add(7);
        assert_eq!(notes.take(), ["7"]);
        notes.add(7);
        assert_eq!(notes.take(), [""; 0]);
        (100..100 + 2 * MOST_NOTES).for_each(|note| notes.add(note));
        assert_eq!(notes.take().len(), MOST_NOTES - 1);
    }
}
