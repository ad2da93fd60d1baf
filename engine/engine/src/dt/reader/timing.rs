//! Timing parameters: numbers with a unit, a range and a source.

use super::super::fault::FaultKind;
use super::super::node::{Location, Node, Property};
use super::super::params::{Basis, Parameter, Plausible, Source};
use super::{Allowed, Declared, NodeReader};
use crate::time::{Cycles, Ps};

/// The unit of a timing property, from the suffix of its name.
struct Unit {
    suffix: &'static str,
    name: &'static str,
    /// Picoseconds of one unit, for units of time.
    ps: u64,
    /// The largest value: well above values of real parts and buses, and so low that sums of times stay far below 2^64
    /// ps.
    most: u32,
}

const UNITS: [Unit; 7] = [
    Unit { suffix: "-bytes", name: "bytes", ps: 0, most: u32::MAX },
    Unit { suffix: "-cycles", name: "cycles", ps: 0, most: 1_000_000 },
    Unit { suffix: "-clocks", name: "clocks", ps: 0, most: 1_000_000 },
    Unit { suffix: "-ps", name: "ps", ps: 1, most: 1_000_000_000 },
    Unit { suffix: "-ns", name: "ns", ps: 1_000, most: 1_000_000_000 },
    Unit { suffix: "-us", name: "us", ps: 1_000_000, most: 1_000_000_000 },
    // An hour: a large flash takes some ten minutes to erase.
    Unit { suffix: "-ms", name: "ms", ps: 1_000_000_000, most: 3_600_000 },
];

/// Stands in `cyclescope,sources` for all timing properties of the node that have no entry of their own.
pub(super) const ALL_OTHERS: &str = "*";
/// The largest value that a timing property of this name may have.
pub fn most_of_unit(name: &str) -> u32 {
    unit(name).map_or(u32::MAX, |unit| unit.most)
}

/// The unit of a property of this name.
fn unit(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| name.ends_with(unit.suffix))
}

/// The name of that unit; empty if the property's name has no known suffix.
pub(super) fn unit_name(name: &str) -> &'static str {
    unit(name).map_or("", |unit| unit.name)
}

impl NodeReader<'_, '_> {
    /// A required timing parameter in cycles or clocks (`...-cycles`, `...-clocks`), 1,000,000 at the most.
    pub fn timing_cycles(&mut self, name: &str, meaning: &str) -> Cycles {
        Cycles(self.timing_in_unit(name, meaning))
    }

    /// An optional timing parameter in cycles or clocks.
    pub fn optional_timing_cycles(&mut self, name: &str, meaning: &str) -> Option<Cycles> {
        self.given(name, |reader| reader.timing_cycles(name, meaning))
    }

    /// A timing parameter of a core: cycles of a kind of instruction, from `least` to 255.
    pub fn instruction_cycles(&mut self, name: &str, least: u8, meaning: &str) -> u8 {
        let allowed = u32::from(least)..=255;
        let range = format!("an instruction takes {least} to 255 cycles");
        self.timing(name, allowed, meaning, &range).map_or(least, |cycles| cycles as u8)
    }

    /// A required timing parameter in time (`...-ps`, `-ns`, `-us`: up to 1,000,000,000; `-ms`: up to an hour).
    pub fn timing_ps(&mut self, name: &str, meaning: &str) -> Ps {
        let scale_ps = unit(name).map_or(1, |unit| unit.ps);
        Ps(self.timing_in_unit(name, meaning) * scale_ps)
    }

    /// A required number on which timing depends (a size, a count). `allowed` checks it; `meaning` describes it and
    /// what is allowed, as a clause. 0 if it is faulty.
    pub fn timing_u32(&mut self, name: &str, allowed: impl Allowed, meaning: &str) -> u32 {
        self.timing(name, allowed, meaning, meaning).unwrap_or(0)
    }

    /// A number on which timing depends, in the unit of its name's suffix. `default` is used if the node has none: a
    /// value with the text of its source, as for [`Source::read`].
    pub fn timing_or(
        &mut self,
        name: &str,
        default: Option<(u32, &str)>,
        allowed: impl Allowed,
        meaning: &str,
        range: &str,
    ) -> u32 {
        let Some((value, source)) = default else {
            return self.timing(name, allowed, meaning, range).unwrap_or(0);
        };
        self.asked.push(name.to_owned());
        self.note(|| Declared {
            timing: true,
            default: Some(value.to_string()),
            range: allowed.in_words(),
            ..Declared::new(name, "number", meaning)
        });
        if self.node.property(name).is_some() {
            return self.read_timing(name, allowed, range).unwrap_or(value);
        }
        let source = Source::read(source).unwrap_or_else(|_| Source::unstated(source));
        self.add_parameter(name, value, source, self.node.at.clone());
        value
    }

    /// A value within the range of its unit; 0 if it is faulty.
    fn timing_in_unit(&mut self, name: &str, meaning: &str) -> u64 {
        let most = most_of_unit(name);
        let range = format!("it may be 0 to {most}");
        u64::from(self.timing(name, 0..=most, meaning, &range).unwrap_or(0))
    }

    fn declare_timing(&mut self, name: &str, allowed: &impl Allowed, meaning: &str) {
        self.asked.push(name.to_owned());
        self.note(|| Declared {
            timing: true,
            range: allowed.in_words(),
            ..Declared::new(name, "number", meaning).required()
        });
    }

    /// A number, with its source if it has one; `None` where there is a fault. `meaning` is for the message about a
    /// missing number, `range` for one that is not `allowed`.
    fn timing(&mut self, name: &str, allowed: impl Allowed, meaning: &str, range: &str) -> Option<u32> {
        self.declare_timing(name, &allowed, meaning);
        if self.node.property(name).is_none() {
            self.sourced.push(name.to_owned());
            self.missing(name, meaning);
            return None;
        }
        self.read_timing(name, allowed, range)
    }

    /// The number that the node has, with its source; `None` where there is a fault.
    fn read_timing(&mut self, name: &str, allowed: impl Allowed, range: &str) -> Option<u32> {
        self.sourced.push(name.to_owned());
        let property = self.node.property(name)?;
        let value = self.single(property, allowed, range)?;
        let source = if property.at.line == 0 {
            let text = format!("set on the command line ({})", property.at);
            Source { basis: Basis::Override, plausible: Plausible::Unstated, text }
        } else {
            self.source_of(name)
        };
        self.add_parameter(name, value, source, property.at.clone());
        Some(value)
    }

    fn add_parameter(&mut self, name: &str, value: u32, source: Source, at: Location) {
        self.board.parameters.push(Parameter {
            node: self.node.path.clone(),
            label: self.node.label().to_owned(),
            property: name.to_owned(),
            values: vec![u64::from(value)],
            unit: unit_name(name),
            source: source.text,
            basis: source.basis,
            plausible: source.plausible,
            at,
        });
    }

    /// The source of a property in `cyclescope,sources`; a class that is followed by something other than a range is a
    /// fault.
    fn source_of(&mut self, name: &str) -> Source {
        let entries = sources(self.node);
        let of = |wanted: &str| entries.iter().find(|(sourced, _)| sourced == wanted);
        let entry = of(name).or_else(|| of(ALL_OTHERS)).map(|(_, entry)| entry.clone()).unwrap_or_default();
        Source::read(&entry).unwrap_or_else(|class| {
            self.fault_at("cyclescope,sources", FaultKind::BadRange { property: name.to_owned(), class });
            Source::unstated(&entry)
        })
    }
}

/// The entries of `cyclescope,sources`: "property[, property...]: text", one pair a property.
pub(super) fn sources(node: &Node) -> Vec<(String, String)> {
    let strings = node.property("cyclescope,sources").and_then(Property::strings).unwrap_or_default();
    let mut pairs = Vec::new();
    for entry in strings {
        let (names, text) = entry.split_once(": ").unwrap_or((entry, ""));
        for name in names.split(", ") {
            pairs.push((name.trim().to_owned(), text.trim().to_owned()));
        }
    }
    pairs
}
