//! Faults of a board.

use std::fmt;

use super::node::Location;
use crate::one_line::one_line;

/// A fault of a board, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoardFault {
    /// The property's line, or the node's.
    pub at: Location,
    /// The node's name.
    pub node: String,
    /// The fault.
    pub kind: FaultKind,
}

/// Kinds of [`BoardFault`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum FaultKind {
    /// A required property is missing.
    #[error("property '{property}' is missing: {meaning}")]
    Missing {
        /// Its name.
        property: String,
        /// Its meaning.
        meaning: String,
    },
    /// A property of another type.
    #[error("{property} must be {expected}")]
    WrongType {
        /// Its name.
        property: String,
        /// What is expected, with an article.
        expected: String,
    },
    /// A value that the device can't have.
    #[error("{property} is {value}; {allowed}")]
    OutOfRange {
        /// Its name.
        property: String,
        /// The board's value.
        value: String,
        /// What is allowed, as a clause.
        allowed: String,
    },
    /// A property that the device doesn't have.
    #[error("unknown property '{property}'{}", nearest(.similar))]
    UnknownProperty {
        /// Its name.
        property: String,
        /// Known properties with similar names.
        similar: Vec<String>,
    },
    /// There is no model for any of the node's compatibles.
    #[error("unknown compatible '{compatible}'{}", nearest_model(.similar))]
    UnknownCompatible {
        /// The first of them.
        compatible: String,
        /// Known compatibles with similar names.
        similar: Vec<String>,
    },
    /// Two ranges of the address map overlap.
    #[error("{base:#010x}-{last:#010x} overlaps {other} at {other_base:#010x}-{other_last:#010x}")]
    Overlap {
        /// First address.
        base: u32,
        /// Last address.
        last: u32,
        /// The other node.
        other: String,
        /// Its first address.
        other_base: u32,
        /// Its last address.
        other_last: u32,
    },
    /// A source whose class is followed by something other than a range.
    #[error(
        "cyclescope,sources: '{class}' of {property}: after the class comes the plausible range, \
         as in \"assumed 2 to 8: <why>\" or \"assumed 4 or 8: <why>\", or nothing"
    )]
    BadRange {
        /// The property.
        property: String,
        /// The class and the text after it.
        class: String,
    },
    /// A source for an unknown property.
    #[error("cyclescope,sources names '{property}', which is no timing property of this node")]
    SourceWithoutProperty {
        /// The name in the source.
        property: String,
    },
    /// A reference to a missing node, or to a node of the wrong kind.
    #[error("{property} must refer to {expected}")]
    BadReference {
        /// The property.
        property: String,
        /// What it must refer to, with an article.
        expected: String,
    },
    /// A board without something that every board needs.
    #[error("{what}")]
    Incomplete {
        /// The missing item, and what to do.
        what: String,
    },
}

impl fmt::Display for BoardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}: {}: {}", self.at, self.node, self.kind);
        f.write_str(&one_line(&text))
    }
}

fn nearest(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!("; did you mean {}?", similar.join(" or ")) }
}

fn nearest_model(similar: &[String]) -> String {
    if similar.is_empty() {
        "; `cyclescope devices` lists what there are models of".to_owned()
    } else {
        nearest(similar)
    }
}

/// Up to three names in `known` that are similar to `name`, best first.
pub fn similar_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance * 2 <= name.len().min(candidate.len()))
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, candidate)| format!("'{candidate}'")).collect()
}

/// Levenshtein's distance between two names.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["xlnx,fifo-depth", "xlnx,num-ss-bits", "reg"];
        assert_eq!(similar_names("xlnx,fifo-size", known), ["'xlnx,fifo-depth'"]);
        assert!(similar_names("colour", known).is_empty());
    }

    #[test]
    fn a_fault_is_one_line_whatever_the_source_has_in_quotes() {
        let at = Location { file: "a.dts".into(), line: 7 };
        let kind = FaultKind::SourceWithoutProperty { property: "a\n\tb\u{1b}é".into() };
        let fault = BoardFault { at, node: "cpu@0".into(), kind };
        let said =
            "a.dts:7: cpu@0: cyclescope,sources names 'a\\n\\tb\\u{1b}é', which is no timing property of this node";
        assert_eq!(fault.to_string(), said);
    }
}
