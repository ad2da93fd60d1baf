//! Checks the pins that a board wires to something: each exists, and none is used twice.

use devices;
use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::interrupts;
use engine::dt::node::{Node, Property};
use engine::dt::reader::{self, NodeReader, cells_of_pin};
use engine::pins::PINS_OF_PORT;

/// A use of a pin.
struct Claim<'a> {
    port: &'a Node,
    number: u32,
    node: &'a Node,
    property: &'a Property,
    is_interrupt: bool,
}

impl Claim<'_> {
    /// True if both use the same pin. A node may name the pin of its interrupt a second time, for drivers that want to
    /// read it.
    fn meets(&self, other: &Claim) -> bool {
        let same_pin = self.number == other.number && self.port.path == other.port.path;
        same_pin && !(self.is_interrupt != other.is_interrupt && self.node.path == other.node.path)
    }
}

/// Typical resistance of a port's own pull-ups and pull-downs (data sheets of STM32F4 and STM32L4: 30 to 50 kiloohms).
const OWN_PULL_OHMS: u32 = 40_000;

/// A resistor of the board at a pin.
pub struct Pull {
    /// The pin's number.
    pub number: u32,
    /// True for a pull-up, false for a pull-down.
    pub up: bool,
    /// It is stronger than a port's own.
    pub is_strong: bool,
}

/// Reads the resistors of the board at a port's pins.
pub fn read_pulls(reader: &mut NodeReader, banks: u32) -> Vec<Pull> {
    let count = banks * PINS_OF_PORT;
    let mut pulls: Vec<Pull> = Vec::new();
    for (name, up) in [("cyclescope,board-pull-ups", true), ("cyclescope,board-pull-downs", false)] {
        let to = if up { "up" } else { "down" };
        let meaning = format!("pairs: a pin that a resistor of the board pulls {to}, by its number, and its ohms");
        let numbers = reader.numbers(name, &meaning);
        let (pairs, rest) = numbers.as_chunks::<2>();
        let is_wrong = |[number, ohms]: &[u32; 2]| {
            *number >= count || *ohms == 0 || pulls.iter().any(|pull| pull.number == *number)
        };
        if !rest.is_empty() {
            reader.fault_at(name, FaultKind::WrongType { property: name.to_owned(), expected: meaning });
        } else if let Some([number, ohms]) = pairs.iter().find(|pair| is_wrong(pair)) {
            let (property, value) = (name.to_owned(), format!("{ohms} ohms at pin {number}"));
            let there = reader::pins_in_words(count);
            let allowed = format!("{there}, each is pulled to one side, and not by 0 ohms");
            reader.fault_at(name, FaultKind::OutOfRange { property, value, allowed });
        } else {
            pulls.extend(pairs.iter().map(|[number, ohms]| Pull {
                number: *number,
                up,
                is_strong: *ohms < OWN_PULL_OHMS,
            }));
        }
    }
    pulls
}

/// Faults for pins that are used twice, at the second place, and for pins that do not exist.
pub fn check_claims(root: &Node, faults: &mut Vec<BoardFault>) {
    let mut claims: Vec<Claim> = Vec::new();
    let mut nodes = Vec::new();
    enabled(root, &mut nodes);
    for node in nodes {
        for claim in claims_of(root, node) {
            let count = devices::pins_of(claim.port);
            if claim.number >= count {
                faults.push(fault(&claim, reader::pins_in_words(count)));
            } else if let Some(first) = claims.iter().find(|first| first.meets(&claim)) {
                let (property, node) = (first.property, &first.node.name);
                faults.push(fault(&claim, format!("{} of {node} has it already ({})", property.name, property.at)));
            } else {
                claims.push(claim);
            }
        }
    }
}

fn enabled<'a>(node: &'a Node, nodes: &mut Vec<&'a Node>) {
    nodes.push(node);
    for child in node.children.iter().filter(|child| child.is_enabled()) {
        enabled(child, nodes);
    }
}

fn claims_of<'a>(root: &'a Node, node: &'a Node) -> Vec<Claim<'a>> {
    let mut claims = Vec::new();
    for property in &node.properties {
        let cells = property.cells().unwrap_or_default();
        let is_interrupt = property.name == "interrupts" || property.name == "interrupts-extended";
        if is_interrupt {
            let lines = interrupts::specifiers(root, node, property).list;
            let pins = lines.iter().filter_map(|line| Some((port(root, line.controller)?, line.input(root)?)));
            claims.extend(pins.map(|(port, number)| Claim { port, number, node, property, is_interrupt }));
        } else if property.name.ends_with("-gpios") || property.name.ends_with("-gpio") {
            let pins = pins(root, &cells).into_iter();
            claims.extend(pins.map(|(port, number)| Claim { port, number, node, property, is_interrupt }));
        }
    }
    claims
}

/// Ports and numbers of the pins that a property names.
fn pins<'a>(root: &'a Node, mut cells: &[u32]) -> Vec<(&'a Node, u32)> {
    let mut pins = Vec::new();
    while let [phandle, number, ..] = *cells {
        pins.extend(port(root, phandle).map(|port| (port, number)));
        cells = cells.get(cells_of_pin(root, phandle)..).unwrap_or_default();
    }
    pins
}

fn port(root: &Node, phandle: u32) -> Option<&Node> {
    root.by_phandle(phandle).filter(|node| devices::is_port(node))
}

fn fault(claim: &Claim, allowed: String) -> BoardFault {
    let (property, value) = (claim.property.name.clone(), format!("pin {} of {}", claim.number, claim.port.label()));
    let kind = FaultKind::OutOfRange { property, value, allowed };
    BoardFault { at: claim.property.at.clone(), node: claim.node.name.clone(), kind }
}
