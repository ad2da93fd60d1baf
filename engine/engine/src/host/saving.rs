//! The host's part of a snapshot: how far the firmware has read input given at the start, and its open handles. Open
//! files are not saved, since their state can't be restored. For input that comes from the host during the run, the
//! position is saved; the bytes themselves are in the machine's record.

use super::input::Input;
use super::recorded::Place;
use super::{Host, OpenFile};
use crate::state::{Damaged, Fresh, Loader, Saver, State};

impl State for Host {
    fn save(&self, to: &mut Saver) {
        to.begin("Host");
        to.field("input");
        self.given_input().save(to);
        to.field("read");
        self.input_place().save(to);
        to.field("features");
        let position = |file: &Option<OpenFile>| match file {
            Some(OpenFile::Features(position)) => Some(*position),
            _ => None,
        };
        self.open_files.iter().map(position).collect::<Vec<Option<usize>>>().save(to);
        to.field("errno");
        self.errno.save(to);
        to.field("waiting");
        self.waiting.save(to);
        to.field("notes");
        self.notes.save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let input: Option<(Vec<u8>, usize)> = Fresh::loaded(from)?;
        match (input, &self.input) {
            (Some((bytes, taken)), _) if taken <= bytes.len() => self.input = Input::Bytes(bytes, taken),
            (Some(_), _) => return Err(Damaged),
            (None, Input::Bytes(..)) => self.input = Input::None,
            (None, _) => {}
        }
        if !self.go_to_input(Fresh::loaded(from)?) {
            return Err(Damaged);
        }
        let features: Vec<Option<usize>> = Fresh::loaded(from)?;
        self.open_files = features.into_iter().map(|position| position.map(OpenFile::Features)).collect();
        self.errno.load(from)?;
        self.waiting.load(from)?;
        self.notes.load(from)
    }
}

impl Host {
    fn given_input(&self) -> Option<(Vec<u8>, usize)> {
        match &self.input {
            Input::Bytes(bytes, taken) => Some((bytes.clone(), *taken)),
            _ => None,
        }
    }

    /// Number of files that the firmware has open.
    pub fn open_files(&self) -> usize {
        self.open_files.iter().filter(|file| matches!(file, Some(OpenFile::File(_)))).count()
    }

    /// How far the firmware has read input that comes from the host during the run.
    pub fn input_place(&self) -> Place {
        match &self.input {
            Input::File(input) => input.place(),
            _ => Place::default(),
        }
    }

    /// Records the input from now on, so that it can be read again.
    pub fn record_input(&mut self) {
        if let Input::File(input) = &mut self.input {
            input.record();
        }
    }

    /// True if the record has the input since this position.
    pub fn has_input(&self, place: Place) -> bool {
        match &self.input {
            Input::File(input) => input.has(place),
            _ => place == Place::default(),
        }
    }

    /// Goes back to an earlier position in the input. False if the record does not reach it.
    pub fn go_to_input(&mut self, place: Place) -> bool {
        match &mut self.input {
            Input::File(input) => input.go_to(place),
            _ => place == Place::default(),
        }
    }
}
