//! Timing parameters with their provenance, as read from a board.

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A named document.
    Documented,
    /// Fitted; the source names the published cells.
    Calibrated,
    /// Set by the user for this run.
    Override,
}

impl Basis {
    /// The word for it in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Documented => "documented",
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
