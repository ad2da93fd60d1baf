//! Timing parameters with their provenance, as read from a board.

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A named document gives the number.
    Documented,
    /// Worked out from documents, estimated or chosen, as the source says.
    Derived,
    /// Fitted; the source names the published cells.
    Calibrated,
    /// Set by the user for this run.
    Override,
}

impl Basis {
    /// The kind of a source, from how its text begins.
    pub fn of_source(text: &str) -> Basis {
        const BEGINNINGS: [(&str, Basis); 4] = [
            ("calibrated", Basis::Calibrated),
            ("derived", Basis::Derived),
            ("estimated", Basis::Derived),
            ("chosen", Basis::Derived),
        ];
        let kind = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning));
        kind.map_or(Basis::Documented, |(_, basis)| *basis)
    }

    /// The word for it in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Documented => "documented",
            Basis::Derived => "derived",
            Basis::Calibrated => "calibrated",
            Basis::Override => "override",
        }
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
    /// Document, revision and section; or how it was calibrated.
    pub source: String,
    /// Kind of the source.
    pub basis: Basis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_says_what_kind_it_is() {
        assert_eq!(Basis::of_source("PG153 v3.2, table 2-4"), Basis::Documented);
        assert_eq!(Basis::of_source("derived: from PG059"), Basis::Derived);
        assert_eq!(Basis::of_source("calibrated: quad write"), Basis::Calibrated);
    }
}
