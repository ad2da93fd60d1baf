//! Timing parameters with their provenance, as read from a board.

use super::node::Location;

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A document about this very part gives the number.
    Documented,
    /// Worked out from documents; the source shows the sum.
    Derived,
    /// Estimated, chosen, or taken from a similar part; the source gives the plausible range.
    Assumed,
    /// Chosen or kept because it reproduces published cells; the source names one of them.
    Calibrated,
    /// Set by the user for this run.
    Override,
    /// The board doesn't say.
    Unstated,
}

impl Basis {
    const CLASSES: [Basis; 4] = [Basis::Documented, Basis::Derived, Basis::Assumed, Basis::Calibrated];

    /// The word for it in boards, tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Documented => "documented",
            Basis::Derived => "derived",
            Basis::Assumed => "assumed",
            Basis::Calibrated => "calibrated",
            Basis::Override => "override",
            Basis::Unstated => "unstated",
        }
    }
}

/// The values that a parameter may have on the real part, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Plausible {
    /// The source doesn't say.
    #[default]
    Unstated,
    /// All values from the first to the second.
    Span(u64, u64),
    /// One of the values.
    OneOf(Vec<u64>),
}

impl Plausible {
    /// Reads "2 to 8" or "4 or 8 or 16"; `None` for anything else.
    fn read(text: &str) -> Option<Plausible> {
        let number = |word: &str| word.trim().parse::<u64>().ok();
        if let Some((low, high)) = text.split_once(" to ") {
            let (low, high) = (number(low)?, number(high)?);
            return (low < high).then_some(Plausible::Span(low, high));
        }
        let values: Vec<u64> = text.split(" or ").map(number).collect::<Option<_>>()?;
        (values.len() > 1).then_some(Plausible::OneOf(values))
    }

    /// Whether a value is among them.
    pub fn has(&self, value: u64) -> bool {
        match self {
            Plausible::Unstated => true,
            Plausible::Span(low, high) => (*low..=*high).contains(&value),
            Plausible::OneOf(values) => values.contains(&value),
        }
    }

    /// The form in a board's source: "2 to 8", "4 or 8"; empty if it gives none.
    pub fn in_words(&self) -> String {
        match self {
            Plausible::Unstated => String::new(),
            Plausible::Span(low, high) => format!("{low} to {high}"),
            Plausible::OneOf(values) => values.iter().map(u64::to_string).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// The source of a parameter: "assumed 2 to 8: estimated; the manual gives no number".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The class at the start of the text.
    pub basis: Basis,
    /// The plausible values, if they follow the class.
    pub plausible: Plausible,
    /// The text after the class.
    pub text: String,
}

impl Source {
    /// A source without a class: all of it is text.
    pub fn unstated(text: &str) -> Source {
        Source { basis: Basis::Unstated, plausible: Plausible::Unstated, text: text.trim().to_owned() }
    }

    /// Parses an entry. An entry that doesn't begin with a class has none: all of it is text.
    ///
    /// `Err` is a class that is followed by something other than a range.
    pub fn read(entry: &str) -> Result<Source, String> {
        let (head, text) = entry.split_once(':').unwrap_or((entry, ""));
        let (word, range) = head.split_once(' ').unwrap_or((head, ""));
        let Some(basis) = Basis::CLASSES.into_iter().find(|basis| basis.name() == word) else {
            return Ok(Source::unstated(entry));
        };
        let plausible = match range {
            "" => Plausible::Unstated,
            _ => Plausible::read(range).ok_or_else(|| head.to_owned())?,
        };
        Ok(Source { basis, plausible, text: text.trim().to_owned() })
    }
}

/// A timing parameter of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Path of the node.
    pub node: String,
    /// Its label.
    pub label: String,
    /// The property.
    pub property: String,
    /// Its values, in `unit`.
    pub values: Vec<u64>,
    /// Unit ("cycles", "ns", "us", "hz", ...), from the property's suffix.
    pub unit: &'static str,
    /// Document, revision and section; or how it was worked out, assumed or calibrated.
    pub source: String,
    /// Kind of the source.
    pub basis: Basis,
    /// Other plausible values, in `unit`.
    pub plausible: Plausible,
    /// The property's place in the source.
    pub at: Location,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entry: &str) -> (Basis, String, String) {
        let source = Source::read(entry).unwrap();
        (source.basis, source.plausible.in_words(), source.text)
    }

    #[test]
    fn a_source_begins_with_its_class() {
        let none = String::new;
        assert_eq!(read("documented: PG153 v3.2"), (Basis::Documented, none(), "PG153 v3.2".into()));
        assert_eq!(read("derived: 2 + 1"), (Basis::Derived, none(), "2 + 1".into()));
        assert_eq!(read("calibrated: quad write: why"), (Basis::Calibrated, none(), "quad write: why".into()));
        assert_eq!(read("PG153 v3.2: table 2-4"), (Basis::Unstated, none(), "PG153 v3.2: table 2-4".into()));
        assert_eq!(read("derivedly"), (Basis::Unstated, none(), "derivedly".into()));
        assert_eq!(read(""), (Basis::Unstated, none(), none()));
    }

    #[test]
    fn a_range_stands_after_the_class() {
        assert_eq!(read("assumed 2 to 8: a guess"), (Basis::Assumed, "2 to 8".into(), "a guess".into()));
        assert_eq!(read("calibrated 4 or 8: x"), (Basis::Calibrated, "4 or 8".into(), "x".into()));
        for wrong in
            ["assumed 2: x", "assumed 8 to 2: x", "assumed two to 8: x", "assumed 2 to: x", "assumed -1 to 2: x"]
        {
            assert!(Source::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_range_has_its_ends() {
        let span = Plausible::Span(2, 8);
        assert!(span.has(2) && span.has(8) && !span.has(1) && !span.has(9));
        let one_of = Plausible::OneOf(vec![4, 8]);
        assert!(one_of.has(4) && !one_of.has(6));
        assert!(Plausible::Unstated.has(7));
    }
}
