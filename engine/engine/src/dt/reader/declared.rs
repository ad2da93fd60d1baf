//! Declarations of the properties that models read: the source of the reference of bindings.
//!
//! A reader declares a property as it reads it, so that there is one place for both. A board that is built only for its
//! declarations ([`super::Board::documenting`]) also takes the branches that depend on properties.

use super::NodeReader;
use super::allowed::either;
use super::timing::unit_name;

/// A property that a node may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The kind of its value: "number", "flag", "word" ...
    pub kind: &'static str,
    /// Unit of the number, if it has one.
    pub unit: &'static str,
    /// The node must have it.
    pub required: bool,
    /// The default value.
    pub default: Option<String>,
    /// The allowed values, in words, if the meaning does not say it.
    pub range: Option<String>,
    /// Its meaning; for one with several items (`clocks`), by their numbers.
    pub meaning: Vec<String>,
    /// It is a timing parameter, which has its source in `cyclescope,sources`.
    pub timing: bool,
    /// It is accepted, and has no effect.
    pub ignored: bool,
    /// The condition under which it is read, if there is one.
    pub when: Option<String>,
}

impl Declared {
    /// An optional property of this kind.
    pub fn new(name: &str, kind: &'static str, meaning: &str) -> Declared {
        let meaning = vec![meaning.to_owned()];
        Declared { name: name.to_owned(), kind, unit: unit(name), meaning, ..Declared::default() }
    }

    /// A required property.
    #[must_use]
    pub fn required(self) -> Declared {
        Declared { required: true, ..self }
    }

    /// Item `index` of a list, with its meaning.
    fn item(name: &str, kind: &'static str, index: usize, meaning: &str) -> Declared {
        let mut declared = Declared::new(name, kind, meaning);
        declared.meaning.splice(0..0, std::iter::repeat_n(String::new(), index));
        declared
    }

    /// A property whose value is one of a few words.
    pub(super) fn of_words(name: &str, words: &[&str], meaning: &str) -> Declared {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let default = quoted.first().cloned();
        Declared { default, range: Some(either(&quoted)), ..Declared::new(name, "word", meaning) }
    }
}

/// Units that the endings of Linux's names imply.
const UNITS: [(&str, &str); 8] = [
    ("-frequency", "Hz"),
    ("-speed", "Bd"),
    ("-block-size", "bytes"),
    ("-line-size", "bytes"),
    ("cache-size", "bytes"),
    // One for each slave select.
    ("num-ss-bits", ""),
    ("-bits", "bits"),
    ("size", "bits"),
];

fn unit(name: &str) -> &'static str {
    match unit_name(name) {
        "" => UNITS.iter().find(|(suffix, _)| name.ends_with(suffix)).map_or("", |(_, unit)| unit),
        unit => unit,
    }
}

/// The condition under which a part of a node is read.
pub(super) struct Condition {
    /// The property that the node must have.
    property: Option<String>,
    words: String,
}

impl<'a, 'b> NodeReader<'a, 'b> {
    /// Declares a property that the caller reads itself.
    pub fn declare(&mut self, declared: Declared) {
        self.asked.push(declared.name.clone());
        self.note(|| declared);
    }

    /// Declares item `index` of a property that is a list.
    pub(super) fn note_item(&mut self, name: &str, kind: &'static str, index: usize, required: bool, meaning: &str) {
        self.note(|| Declared { required, ..Declared::item(name, kind, index, meaning) });
    }

    /// Records a declaration, if they are collected.
    pub(super) fn note(&mut self, declared: impl FnOnce() -> Declared) {
        let Some(all) = &mut self.board.declared else { return };
        let mut declared = declared();
        // The property of the condition itself is optional.
        let own = |condition: &&Condition| condition.property.as_deref() != Some(&declared.name);
        let when: Vec<&str> = self.conditions.iter().filter(own).map(|condition| condition.words.as_str()).collect();
        if when.len() < self.conditions.len() {
            declared.required = false;
        }
        declared.when = (!when.is_empty()).then(|| when.join(", and "));
        match all
            .iter_mut()
            .find(|known| known.name == declared.name && (known.when == declared.when || known.is_list()))
        {
            None => all.push(declared),
            Some(known) => known.add_items(declared.meaning),
        }
    }

    /// Reads what belongs to an optional property, itself included; `None` where the node has no such property.
    pub fn given<T>(&mut self, name: &str, read: impl FnOnce(&mut NodeReader<'a, 'b>) -> T) -> Option<T> {
        self.asked.push(name.to_owned());
        let given = self.node.property(name).is_some();
        self.under(given, Condition { property: Some(name.to_owned()), words: format!("`{name}` is there") }, read)
    }

    /// Reads what a node has only if a condition `holds`, which `words` describe as a clause; `None` if it does not.
    pub fn only_if<T>(
        &mut self,
        holds: bool,
        words: &str,
        read: impl FnOnce(&mut NodeReader<'a, 'b>) -> T,
    ) -> Option<T> {
        self.under(holds, Condition { property: None, words: words.to_owned() }, read)
    }

    fn under<T>(
        &mut self,
        holds: bool,
        condition: Condition,
        read: impl FnOnce(&mut NodeReader<'a, 'b>) -> T,
    ) -> Option<T> {
        if !holds && self.board.declared.is_none() {
            return None;
        }
        self.conditions.push(condition);
        let result = read(self);
        self.conditions.pop();
        Some(result)
    }
}

impl Declared {
    /// True for a list of items, to which a condition may add some.
    fn is_list(&self) -> bool {
        self.kind == "clocks"
    }

    /// Adds items to a list; known ones stay.
    fn add_items(&mut self, items: Vec<String>) {
        for (index, item) in items.into_iter().enumerate() {
            match self.meaning.get_mut(index) {
                Some(known) if known.is_empty() => *known = item,
                Some(_) => {}
                None => self.meaning.push(item),
            }
        }
    }
}
