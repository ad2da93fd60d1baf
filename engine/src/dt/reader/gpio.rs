//! Pins of ports, as properties such as `sck-gpios` name them.

use super::super::fault::FaultKind;
use super::super::node::{Node, Property};
use super::{Declared, NodeReader};
use crate::dt::wiring::{IrqLine, PINS_OF_PORT, Pin};

/// Most cells that a port may ask for.
const MOST_CELLS: u32 = 8;

/// Cells of a pin in a property that names some, the phandle of its port included.
pub fn cells_of_pin(root: &Node, port: u32) -> usize {
    let cells = root.by_phandle(port).and_then(|node| node.property("#gpio-cells"));
    cells.and_then(Property::cells).and_then(|cells| cells.first().copied()).unwrap_or(2).min(MOST_CELLS) as usize + 1
}

impl NodeReader<'_, '_> {
    /// The pin that the node has as number `index` of a property such as `sck-gpios` (a port and its cells, the first
    /// of which is the pin's number); `None` where the node has no such pin, and, with a fault, where there is no such
    /// pin.
    pub fn gpio(&mut self, name: &str, index: usize, meaning: &str) -> Option<Pin> {
        self.note(|| Declared::new(name, "pins", meaning));
        self.pin(name, index)
    }

    /// Those pins of which there must be at least one, up to `most`; no pins where there are none, which is a fault.
    pub fn required_gpios(&mut self, name: &str, most: usize, meaning: &str) -> Vec<Pin> {
        self.note(|| Declared::new(name, "pins", meaning).required());
        if self.node.property(name).is_none() {
            self.asked.push(name.to_owned());
            self.missing(name, meaning);
            return Vec::new();
        }
        (0..most).map_while(|index| self.pin(name, index)).collect()
    }

    fn pin(&mut self, name: &str, index: usize) -> Option<Pin> {
        let property = self.get(name)?;
        let cells = property.cells().filter(|cells| !cells.is_empty());
        let Some(cells) = cells else {
            self.wrong_type(property, "GPIO ports, each with the number of a pin and flags");
            return None;
        };
        let mut rest = &cells[..];
        for _ in 0..index {
            rest = rest.get(cells_of_pin(self.board.root, rest[0])..).filter(|rest| !rest.is_empty())?;
        }
        let number = rest.get(1).copied().filter(|_| rest.len() >= cells_of_pin(self.board.root, rest[0]));
        let port = self.board.root.by_phandle(rest[0]).filter(|port| (self.board.ports)(port));
        let line = number.and_then(|number| (self.board.interrupts)(rest[0], &[number]));
        match (port, number, line) {
            (None, ..) | (_, None, _) | (_, Some(0..PINS_OF_PORT), None) => {
                let expected = "an enabled GPIO port, the number of a pin, and flags".to_owned();
                self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
                None
            }
            (Some(_), Some(number @ 0..PINS_OF_PORT), Some(IrqLine::Device { device, .. })) => {
                Some(Pin { port: device, number })
            }
            (Some(port), Some(number), _) => {
                let value = format!("pin {number} of {}", port.label());
                let allowed = "a port has pins 0 to 31".to_owned();
                self.fault(&property.at, FaultKind::OutOfRange { property: name.to_owned(), value, allowed });
                None
            }
        }
    }
}
