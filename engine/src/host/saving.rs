//! What a snapshot has of the host: what the firmware has read of bytes that are there from the beginning, and the
//! handles that it has. Files that are open are not in it, nor what has been read of the host's own input: neither can
//! be had again as it was.

use super::input::Input;
use super::{Host, Opened};
use crate::state::{Damaged, Fresh, Loader, Saver, State};

impl State for Host {
    fn save(&self, to: &mut Saver) {
        to.begin("Host");
        to.field("input");
        self.given_input().save(to);
        to.field("features");
        let position = |opened: &Option<Opened>| match opened {
            Some(Opened::Features(position)) => Some(*position),
            _ => None,
        };
        self.opened.iter().map(position).collect::<Vec<Option<usize>>>().save(to);
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
        let features: Vec<Option<usize>> = Fresh::loaded(from)?;
        self.opened = features.into_iter().map(|position| position.map(Opened::Features)).collect();
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

    /// How many files the firmware has open.
    pub fn open_files(&self) -> usize {
        self.opened.iter().filter(|opened| matches!(opened, Some(Opened::File(_)))).count()
    }

    /// Bytes that the firmware has read of a standard input that the host gives as it comes.
    pub fn read_of_host(&self) -> u64 {
        match &self.input {
            Input::File(_, read) => *read,
            _ => 0,
        }
    }
}
