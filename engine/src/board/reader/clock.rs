//! Clocks that nodes name.

use std::ops::RangeInclusive;

use super::super::fault::{BoardFault, FaultKind};
use super::super::node::{Node, Property};
use super::{Allowed, Declared, NodeReader};
use crate::time::Hz;

/// Frequencies that a clock, and a wire, may have. Above are no clocks of such boards, but negative numbers.
pub const FREQUENCIES_HZ: RangeInclusive<u32> = 1..=4_000_000_000;
const FREQUENCY: &str = "clock-frequency";

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
        frequency_of(frequency).unwrap_or_else(|kind| {
            self.board.faults.push(fault_of(clock, frequency, kind));
            stand_in
        })
    }

    /// A frequency in hertz that the node may leave out; then, and where it is faulty, it is `default`. `meaning` tells what has it.
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

/// A fault at the clock itself: all nodes that name it find the same one.
fn fault_of(clock: &Node, frequency: &Property, kind: FaultKind) -> BoardFault {
    BoardFault { at: frequency.at.clone(), node: clock.name.clone(), kind }
}

fn frequency_of(frequency: &Property) -> Result<Hz, FaultKind> {
    let (least, most) = FREQUENCIES_HZ.into_inner();
    let Some([hz]) = frequency.cells().and_then(|cells| <[u32; 1]>::try_from(cells).ok()) else {
        let expected = "a single cell".to_owned();
        return Err(FaultKind::WrongType { property: FREQUENCY.into(), expected });
    };
    Hz::new(u64::from(hz)).filter(|_| FREQUENCIES_HZ.contains(&hz)).ok_or_else(|| FaultKind::OutOfRange {
        property: FREQUENCY.into(),
        value: hz.to_string(),
        allowed: format!("a clock has {least} to {most} Hz"),
    })
}
