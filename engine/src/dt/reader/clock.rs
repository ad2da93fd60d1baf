//! Clocks that nodes name.

use std::ops::RangeInclusive;

use super::super::fault::{BoardFault, FaultKind};
use super::super::node::{Node, Property};
use super::{Allowed, Declared, NodeReader};
use crate::time::Hz;

/// Frequencies that a clock, and a wire, may have. Above are no clocks of such boards, but negative numbers.
pub const FREQUENCIES_HZ: RangeInclusive<u32> = 1..=4_000_000_000;
const FREQUENCY: &str = "clock-frequency";
/// What a clock runs at where that is not what it is meant to: an RC oscillator's error.
const ACTUAL: &str = "cyclescope,actual-frequency";

impl NodeReader<'_, '_> {
    /// The frequency of the node's clock number `index` (`clocks`, by `clock-names` where `name` is one of them).
    pub fn clock(&mut self, index: usize, meaning: &str) -> Hz {
        self.note_item("clocks", "clocks", index, true, meaning);
        let stand_in = Hz::new(1).expect("1 Hz is a frequency");
        let Some(property) = self.get("clocks") else {
            self.missing("clocks", meaning);
            return stand_in;
        };
        let phandle = property.cells().and_then(|cells| cells.get(index).copied());
        let clock = phandle.and_then(|phandle| self.board.root.by_phandle(phandle));
        let Some((clock, frequency)) = clock.and_then(|clock| Some((clock, clock.property(FREQUENCY)?))) else {
            let expected = format!("a clock with a {FREQUENCY}: {meaning}");
            self.fault(&property.at, FaultKind::BadReference { property: "clocks".into(), expected });
            return stand_in;
        };
        let frequency = running_at(clock).unwrap_or(frequency);
        frequency_of(frequency).unwrap_or_else(|kind| {
            self.board.faults.push(fault_of(clock, frequency, kind));
            stand_in
        })
    }

    /// A frequency in hertz that the node may leave out; then, and where it is faulty, it is `default`. `meaning` tells
    /// what has it.
    pub fn frequency_or(&mut self, name: &str, default: Option<u32>, meaning: &str) -> Option<Hz> {
        let (least, most) = FREQUENCIES_HZ.into_inner();
        let known = default.map(|hz| hz.to_string());
        self.note(|| Declared {
            default: known,
            range: FREQUENCIES_HZ.in_words(),
            ..Declared::new(name, "number", meaning)
        });
        let range = format!("it is a frequency of {least} to {most} Hz");
        Hz::new(u64::from(self.number(name, default.unwrap_or(0), FREQUENCIES_HZ, &range)))
    }
}

/// The property with a clock's frequency, if it has one.
pub fn frequency_property(clock: &Node) -> Option<&Property> {
    running_at(clock).or_else(|| clock.property(FREQUENCY))
}

fn running_at(clock: &Node) -> Option<&Property> {
    clock.property(ACTUAL).filter(|property| property.cells().is_none_or(|cells| cells != [0]))
}

/// Says what is read of a clock.
pub fn declare_clock(reader: &mut NodeReader) {
    let range = FREQUENCIES_HZ.in_words();
    reader.declare(Declared {
        range: range.clone(),
        ..Declared::new(FREQUENCY, "number", "the clock's frequency, for which programs are built").required()
    });
    reader.declare(Declared {
        range,
        default: Some("0".into()),
        ..Declared::new(
            ACTUAL,
            "number",
            "what it runs at if that is another frequency, by an oscillator's error; 0: it is not",
        )
    });
}

/// A fault at the clock itself: all nodes that name it find the same one.
fn fault_of(clock: &Node, frequency: &Property, kind: FaultKind) -> BoardFault {
    BoardFault { at: frequency.at.clone(), node: clock.name.clone(), kind }
}

fn frequency_of(frequency: &Property) -> Result<Hz, FaultKind> {
    let (least, most) = FREQUENCIES_HZ.into_inner();
    let Some([hz]) = frequency.cells().and_then(|cells| <[u32; 1]>::try_from(cells).ok()) else {
        let expected = "a single cell".to_owned();
        return Err(FaultKind::WrongType { property: frequency.name.clone(), expected });
    };
    Hz::new(u64::from(hz)).filter(|_| FREQUENCIES_HZ.contains(&hz)).ok_or_else(|| FaultKind::OutOfRange {
        property: frequency.name.clone(),
        value: hz.to_string(),
        allowed: format!("a clock has {least} to {most} Hz"),
    })
}
