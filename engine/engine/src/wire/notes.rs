//! Notes of a chip on a wire for the user, kept until its controller takes them.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::state::{Damaged, Fresh, Loader, Saver, State};

/// Bounds the memory for a host that errs forever.
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
    /// Records a note unless there is one with the same text.
    #[cold]
    pub fn add(&mut self, note: N) {
        if self.seen.len() < MOST_NOTES && !self.seen.contains(&note) {
            self.new.push(note.to_string());
            self.seen.insert(note);
        }
    }

    /// True if there is no new note since the last call of [`Notes::take`].
    #[inline]
    pub fn has_none(&self) -> bool {
        self.new.is_empty()
    }

    /// Takes the notes that are new since the last call.
    #[inline]
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

/// Reports of an external chip for the run besides notes, kept until its controller takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct ChipReport {
    /// The text that it prints: whole lines.
    pub printed: Vec<u8>,
    /// Why it can't continue, in one line, which ends the run.
    pub failure: Option<String>,
    /// The firmware's exit status, if the chip ends the run.
    pub exit: Option<i32>,
    /// True if it has taken much time on the host: the machine checks whether the user wants to stop.
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
