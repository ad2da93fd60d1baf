//! Properties of external models: their descriptions as data, and their reading.

use std::ops::RangeInclusive;

use engine::dt::fault::FaultKind;
use engine::dt::reader::{Allowed, NodeReader, most_of_unit};

/// The numbers that a property may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// All of a range.
    Range(RangeInclusive<u32>),
    /// A few.
    OneOf(Vec<u32>),
}

impl Allowed for &Numbers {
    fn allows(&self, value: u32) -> bool {
        match self {
            Numbers::Range(range) => range.contains(&value),
            Numbers::OneOf(few) => few.contains(&value),
        }
    }

    fn in_words(&self) -> Option<String> {
        match self {
            Numbers::Range(range) => range.in_words(),
            Numbers::OneOf(few) => Some(few.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ")),
        }
    }
}

impl Numbers {
    /// The same numbers, up to `most`.
    fn up_to(&self, most: u32) -> Numbers {
        match self {
            Numbers::Range(range) => Numbers::Range(*range.start()..=most.min(*range.end())),
            Numbers::OneOf(few) => Numbers::OneOf(few.iter().copied().filter(|number| *number <= most).collect()),
        }
    }

    /// As a clause, for messages.
    fn clause(&self) -> String {
        format!("it may be {}", self.in_words().unwrap_or_default())
    }
}

/// The type of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// A number, required unless it has a default.
    Number(Numbers, Option<u32>),
    /// A timing parameter, whose source is in `cyclescope,sources`; the default has a source, too.
    Timing(Numbers, Option<(u32, String)>),
    /// Present or absent.
    Flag,
    /// Any text, with its default.
    Text(String),
    /// One of a few words; the first is the default.
    Word(Vec<String>),
    /// Cells, with their default.
    Numbers(Vec<u32>),
}

/// A property that a model's node may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its meaning, for users.
    pub meaning: String,
    /// Its type.
    pub kind: PropertyKind,
}

/// The value from a node, or the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of a number or a timing parameter, in the unit of its name.
    Number(u32),
    /// Of a flag.
    Flag(bool),
    /// Of a text or a word.
    Text(String),
    /// Of cells.
    Numbers(Vec<u32>),
}

impl Property {
    /// Reads it from a node. A faulty value is replaced by a valid one, with a fault.
    pub(super) fn read(&self, reader: &mut NodeReader) -> Value {
        let (name, meaning) = (self.name.as_str(), self.meaning.as_str());
        match &self.kind {
            PropertyKind::Number(allowed, None) => {
                Value::Number(reader.required_u32(name, allowed, meaning, &allowed.clause()))
            }
            PropertyKind::Number(allowed, Some(default)) => {
                Value::Number(reader.optional_u32(name, *default, allowed, meaning, &allowed.clause()))
            }
            PropertyKind::Timing(allowed, default) => {
                let allowed = &allowed.up_to(most_of_unit(name));
                let default = default.as_ref().map(|(value, source)| (*value, source.as_str()));
                Value::Number(reader.timing_or(name, default, allowed, meaning, &allowed.clause()))
            }
            PropertyKind::Flag => Value::Flag(reader.flag(name, meaning)),
            PropertyKind::Text(default) => Value::Text(reader.string(name, meaning).unwrap_or(default).to_owned()),
            PropertyKind::Word(words) => {
                let words: Vec<(&str, &str)> = words.iter().map(|word| (word.as_str(), word.as_str())).collect();
                Value::Text(reader.word_or_first(name, &words, meaning).to_owned())
            }
            PropertyKind::Numbers(default) => Value::Numbers(numbers(name, default, meaning, reader)),
        }
    }
}

fn numbers(name: &str, default: &[u32], meaning: &str, reader: &mut NodeReader) -> Vec<u32> {
    let Some(bytes) = reader.bytes(name, meaning) else { return default.to_vec() };
    let (cells, []) = bytes.as_chunks::<4>() else {
        let kind = FaultKind::WrongType { property: name.to_owned(), expected: "cells".to_owned() };
        reader.fault_at(name, kind);
        return default.to_vec();
    };
    cells.iter().map(|cell| u32::from_be_bytes(*cell)).collect()
}
