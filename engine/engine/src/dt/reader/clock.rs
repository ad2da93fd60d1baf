//! Clocks that nodes refer to.

use std::ops::RangeInclusive;

use super::super::fault::{BoardFault, FaultKind};
use super::super::node::{Node, Property};
use super::super::wiring::{ClockId, ClockInput};
use super::{Allowed, Declared, NodeReader};
use crate::time::Hz;

/// Valid frequencies of a clock or a wire. Boards have no faster clocks; larger cells are negative numbers.
pub const FREQUENCIES_HZ: RangeInclusive<u32> = 1..=4_000_000_000;
/// The compatible of a clock that a clock controller drives.
pub const VARIABLE: &str = "cyclescope,variable-clock";
const FREQUENCY: &str = "clock-frequency";
/// The actual frequency of a clock that deviates from its nominal one: an RC oscillator's error.
const ACTUAL: &str = "cyclescope,actual-frequency";

impl NodeReader<'_, '_> {
    /// The frequency of the node's clock number `index` in `clocks`, for a model that does not follow changes: a clock
    /// that firmware can change is a fault.
    pub fn clock(&mut self, index: usize, meaning: &str) -> Hz {
        let clock = self.named_clock(index, meaning);
        if clock.id.is_some()
            && let Some(property) = self.get("clocks")
        {
            let expected =
                format!("a clock that stays: this model does not follow one that firmware changes: {meaning}");
            self.fault(&property.at, FaultKind::BadReference { property: "clocks".into(), expected });
        }
        clock.rate
    }

    /// The node's clock number `index` in `clocks`, with its rate out of reset. The device is notified of changes
    /// (`Device::clocks_changed`).
    pub fn clock_input(&mut self, index: usize, meaning: &str) -> ClockInput {
        let clock = self.named_clock(index, meaning);
        self.followed.extend(clock.id);
        clock
    }

    /// The clocks that have been read by [`NodeReader::clock_input`].
    pub fn followed_clocks(&self) -> &[ClockId] {
        &self.followed
    }

    /// The clocks that a clock controller drives: `name` has their phandles in the order of `meanings`. A board may end
    /// the list early.
    pub fn driven_clocks(&mut self, name: &str, meanings: &[&str]) -> Vec<ClockId> {
        let meaning = format!("the clocks that it drives: {}", meanings.join("; "));
        self.note(|| Declared::new(name, "clocks", &meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        let cells = property.cells().unwrap_or_default();
        let is_variable = |cell: &u32| self.board.root.by_phandle(*cell).is_some_and(is_variable);
        if cells.len() > meanings.len() || !cells.iter().all(is_variable) {
            let expected = format!("up to {} nodes with compatible \"{VARIABLE}\": {meaning}", meanings.len());
            self.fault(&property.at, FaultKind::BadReference { property: name.into(), expected });
        }
        cells.into_iter().map(ClockId).collect()
    }

    /// As [`NodeReader::driven_clocks`], with the rates in the clocks' nodes: those at which they run when the program
    /// begins. A node that drives any drives the first `least` of them.
    pub fn driven_clock_inputs(&mut self, name: &str, meanings: &[&str], least: usize) -> Vec<ClockInput> {
        let ids = self.driven_clocks(name, meanings);
        if (1..least).contains(&ids.len()) {
            let expected = format!("none, or at least {least} clocks: {}", meanings[..least].join("; "));
            self.fault_at(name, FaultKind::BadReference { property: name.into(), expected });
        }
        let mut clocks = Vec::new();
        for (id, meaning) in ids.into_iter().zip(meanings) {
            let clock = self.board.root.by_phandle(id.0);
            let frequency = clock.and_then(|clock| Some((clock, frequency_property(clock)?)));
            match frequency.map(|(clock, frequency)| (clock, frequency, frequency_of(frequency))) {
                Some((.., Ok(rate))) => clocks.push(ClockInput { rate, id: Some(id) }),
                Some((clock, frequency, Err(kind))) => self.board.faults.push(fault_of(clock, frequency, kind)),
                None => {
                    let expected = format!("a clock with a {FREQUENCY}: {meaning}");
                    self.fault_at(name, FaultKind::BadReference { property: name.into(), expected });
                }
            }
        }
        clocks
    }

    fn named_clock(&mut self, index: usize, meaning: &str) -> ClockInput {
        self.note_item("clocks", "clocks", index, true, meaning);
        let stand_in = ClockInput::fixed(Hz::new(1).expect("1 Hz is a frequency"));
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
        let id = phandle.filter(|_| is_variable(clock)).map(ClockId);
        match frequency_of(frequency) {
            Ok(rate) => ClockInput { rate, id },
            Err(kind) => {
                self.board.faults.push(fault_of(clock, frequency, kind));
                stand_in
            }
        }
    }

    /// A frequency in hertz that the node may leave out; then, and where it is faulty, it is `default`. `meaning`
    /// describes it.
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

/// True for the node of a clock that firmware can change.
fn is_variable(clock: &Node) -> bool {
    clock.compatibles().contains(&VARIABLE)
}

/// The property with a clock's frequency, if it has one.
pub fn frequency_property(clock: &Node) -> Option<&Property> {
    running_at(clock).or_else(|| clock.property(FREQUENCY))
}

fn running_at(clock: &Node) -> Option<&Property> {
    clock.property(ACTUAL).filter(|property| property.cells().is_none_or(|cells| cells != [0]))
}

/// Declares the properties of a clock.
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

/// A fault at the clock itself: all nodes that refer to it report the same one.
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
