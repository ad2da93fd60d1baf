//! References from a node to others: cores that a property names, pins of ports, and whether the node is the console.

use super::super::fault::FaultKind;
use super::super::node::{Node, Property};
use super::{Declared, NodeReader};
use crate::dt::MOST_CELLS;
use crate::dt::wiring::{DeviceId, IrqLine, Pin};

/// Cells of a pin in a property that names some, the phandle of its port included.
pub fn cells_of_pin(root: &Node, port: u32) -> usize {
    let cells = root.by_phandle(port).and_then(|node| node.property("#gpio-cells"));
    cells.and_then(Property::cells).and_then(|cells| cells.first().copied()).unwrap_or(2).min(MOST_CELLS) as usize + 1
}

/// The valid numbers of `count` pins, for a message.
pub fn pins_in_words(count: u32) -> String {
    format!("a port has pins 0 to {}", count.saturating_sub(1))
}

impl NodeReader<'_, '_> {
    /// The index of the core whose node a property leads to; `None` where the node has no such property, and where the
    /// board does not use that core.
    pub fn core_index(&mut self, name: &str, meaning: &str) -> Option<usize> {
        self.note(|| Declared::new(name, "core", meaning));
        let property = self.get(name)?;
        let cells = property.cells().unwrap_or_default();
        let core = cells.first().and_then(|phandle| index_of(self.board.root, *phandle));
        if core.is_none() {
            let expected = "a core under /cpus".to_owned();
            self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
        }
        core?
    }

    /// True if `/chosen`'s stdout-path leads to the node: by its path or by an alias, with or without options after a
    /// colon.
    pub fn is_stdout(&self) -> bool {
        stdout(self.board.root) == Some(self.node.path.as_str())
    }

    /// The options after the colon of `/chosen`'s stdout-path, as "115200n8".
    pub fn stdout_options(&self) -> Option<&'_ str> {
        text(self.board.root, "chosen", "stdout-path")?.split_once(':').map(|(_, options)| options)
    }

    /// Pin number `index` of a property such as `sck-gpios` (a port and its cells, the first one the pin's number);
    /// `None` where the node has no such entry, and, with a fault, where the port has no such pin.
    pub fn gpio(&mut self, name: &str, index: usize, meaning: &str) -> Option<Pin> {
        self.note(|| Declared::new(name, "pins", meaning));
        self.pin(name, index)
    }

    /// The one pin of a required property such as `gpios`, with its flags (dt-bindings/gpio/gpio.h); `None`, with a
    /// fault, if it is missing.
    pub fn required_gpio_with_flags(&mut self, name: &str, meaning: &str) -> Option<(Pin, u32)> {
        let pin = *self.required_gpios(name, 1, meaning).first()?;
        let cells = self.node.property(name).and_then(Property::cells).unwrap_or_default();
        let has_flags = cells_of_pin(self.board.root, cells[0]) > 2;
        Some((pin, cells.get(2).copied().filter(|_| has_flags).unwrap_or(0)))
    }

    /// The pins of such a property, from one up to `most`; empty, with a fault, if the property is missing or wrong.
    pub fn required_gpios(&mut self, name: &str, most: usize, meaning: &str) -> Vec<Pin> {
        self.note(|| Declared::new(name, "pins", meaning).required());
        if self.node.property(name).is_none() {
            self.asked.push(name.to_owned());
            self.missing(name, meaning);
            return Vec::new();
        }
        (0..most).map_while(|index| self.pin(name, index)).collect()
    }

    /// The ports that a property lists by their phandles, in a fixed order; 0 stands for a port that the chip does not
    /// have.
    pub fn ports(&mut self, name: &str, meaning: &str) -> Vec<Option<DeviceId>> {
        self.note(|| Declared::new(name, "ports", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        let phandles = property.cells().unwrap_or_default();
        let pins = |phandle: u32| self.board.root.by_phandle(phandle).map_or(0, |node| (self.board.pins)(node));
        let device = |phandle: u32| match (self.board.interrupts)(phandle, &[0]) {
            Some(IrqLine::Device { device, .. }) if pins(phandle) > 0 => Some(device),
            _ => None,
        };
        let ports: Vec<_> = phandles.iter().map(|phandle| device(*phandle)).collect();
        if phandles.iter().zip(&ports).any(|(phandle, port)| *phandle != 0 && port.is_none()) {
            let expected = format!("enabled GPIO ports, or 0: {meaning}");
            self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
        }
        ports
    }

    /// Pins that a property lists, each as a port and `cells` numbers (1 or 2), the first one the pin's number. Returns
    /// pins and these numbers. `allowed` checks the numbers; `meaning` describes them and what is allowed.
    pub fn pin_places(
        &mut self,
        name: &str,
        cells: usize,
        allowed: impl Fn([u32; 2]) -> bool,
        meaning: &str,
    ) -> Vec<(Pin, Vec<u32>)> {
        self.note(|| Declared::new(name, "pins", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        let all = property.cells().filter(|all| !all.is_empty() && all.len().is_multiple_of(1 + cells));
        let Some(all) = all else {
            self.wrong_type(property, &format!("one or more entries of {} cells: {meaning}", 1 + cells));
            return Vec::new();
        };
        let place = |entry: &[u32]| {
            let port = self.board.root.by_phandle(entry[0]).filter(|port| (self.board.pins)(port) > 0);
            let line = port.and_then(|_| (self.board.interrupts)(entry[0], &[0]));
            let second = entry.get(2).copied().unwrap_or(0);
            match line {
                Some(IrqLine::Device { device, .. }) if allowed([entry[1], second]) => {
                    Some((Pin::new(device, entry[1]), entry[1..].to_vec()))
                }
                _ => None,
            }
        };
        let places: Vec<_> = all.chunks_exact(1 + cells).map(place).collect();
        if places.iter().any(Option::is_none) {
            self.bad_pin(name, &format!("enabled GPIO ports with numbers: {meaning}"));
        }
        places.into_iter().flatten().collect()
    }

    /// Records that a property does not refer to what was `expected`.
    pub fn bad_pin(&mut self, name: &str, expected: &str) {
        let expected = expected.to_owned();
        self.fault_at(name, FaultKind::BadReference { property: name.to_owned(), expected });
    }

    /// The device that a property refers to, with this compatible; `None` where the node has no such property, and,
    /// with a fault, where the property refers to no enabled device of that compatible.
    pub fn device(&mut self, name: &str, compatible: &str, meaning: &str) -> Option<DeviceId> {
        self.note(|| Declared::new(name, "device", meaning));
        let property = self.get(name)?;
        let phandle = property.cells().and_then(|cells| cells.first().copied());
        let is_one = |phandle: &u32| {
            let node = self.board.root.by_phandle(*phandle);
            node.is_some_and(|node| node.compatibles().contains(&compatible))
        };
        match phandle.filter(is_one).and_then(|phandle| (self.board.interrupts)(phandle, &[0])) {
            Some(IrqLine::Device { device, .. }) => Some(device),
            _ => {
                let expected = format!("an enabled node of {compatible}: {meaning}");
                self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
                None
            }
        }
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
        let port = self.board.root.by_phandle(rest[0]).filter(|port| (self.board.pins)(port) > 0);
        let count = port.map_or(0, |port| (self.board.pins)(port));
        let line = number.and_then(|number| (self.board.interrupts)(rest[0], &[number]));
        match (port, number, line) {
            (Some(_), Some(number), Some(IrqLine::Device { device, .. })) if number < count => {
                Some(Pin::new(device, number))
            }
            (Some(port), Some(number), _) if number >= count => {
                let value = format!("pin {number} of {}", port.label());
                let allowed = pins_in_words(count);
                self.fault(&property.at, FaultKind::OutOfRange { property: name.to_owned(), value, allowed });
                None
            }
            _ => {
                let expected = "an enabled GPIO port, the number of a pin, and flags".to_owned();
                self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
                None
            }
        }
    }
}

/// The index of a core among those in use; `Some(None)` for a core that is not in use, `None` if the node is no core.
fn index_of(root: &Node, phandle: u32) -> Option<Option<usize>> {
    let cpus = root.children.iter().find(|node| node.name == "cpus")?;
    let cores = || cpus.children.iter().filter(|node| node.name.starts_with("cpu@"));
    let core = cores().find(|core| core.phandle == Some(phandle))?;
    Some(cores().filter(|core| core.is_enabled()).position(|used| used.path == core.path))
}

/// The path of the node that is the console.
fn stdout(root: &Node) -> Option<&str> {
    let path = text(root, "chosen", "stdout-path")?;
    let path = path.split(':').next().unwrap_or(path);
    if path.starts_with('/') { Some(path) } else { text(root, "aliases", path) }
}

/// A property of a child of the root that is one string.
fn text<'a>(root: &'a Node, child: &str, name: &str) -> Option<&'a str> {
    let node = root.children.iter().find(|node| node.name == child)?;
    match node.property(name).and_then(Property::strings)?[..] {
        [text] => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dt::node::Location;

    fn node(path: &str, phandle: u32, property: (&str, &str), children: Vec<Node>) -> Node {
        let at = Location { file: "test.dts".into(), line: 1 };
        let value = [property.1.as_bytes(), &[0]].concat();
        let properties = vec![Property { name: property.0.into(), value, at: at.clone() }];
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        Node { path: path.to_owned(), name, labels: Vec::new(), at, phandle: Some(phandle), properties, children }
    }

    #[test]
    fn cores_are_counted_among_those_that_are_used() {
        const USED: (&str, &str) = ("status", "okay");
        let cpus = vec![
            node("/cpus/cpu@0", 1, USED, Vec::new()),
            node("/cpus/cpu@1", 2, ("status", "disabled"), Vec::new()),
            node("/cpus/cpu@2", 3, USED, Vec::new()),
            node("/cpus/cache", 4, USED, Vec::new()),
        ];
        let root = node("", 0, USED, vec![node("/cpus", 5, USED, cpus)]);
        let found = [1, 2, 3, 4, 9].map(|phandle| index_of(&root, phandle));
        assert_eq!(found, [Some(Some(0)), Some(None), Some(Some(1)), None, None]);
    }

    #[test]
    fn stdout_is_a_path_or_an_alias_with_or_without_options() {
        let cases = [
            ("serial0", Some("/serial@1")),
            ("serial0:115200n8", Some("/serial@1")),
            ("/serial@2:9600", Some("/serial@2")),
            ("serial1", None),
        ];
        for (path, expected) in cases {
            let children = vec![
                node("/aliases", 1, ("serial0", "/serial@1"), Vec::new()),
                node("/chosen", 2, ("stdout-path", path), Vec::new()),
            ];
            assert_eq!(stdout(&node("", 0, ("model", "test"), children)), expected, "{path}");
        }
        assert_eq!(stdout(&node("", 0, ("model", "test"), Vec::new())), None);
    }
}
