//! Interrupt specifiers: their controller, and the input that they name (Devicetree Specification 0.4, section 2.4).

use super::MOST_CELLS;
use super::inputs;
use super::node::{Node, Property};

/// Maximum number of lines of a node: a timer of 128 harts has the most.
const MOST_LINES: usize = 256;

/// One line of a node's `interrupts` or `interrupts-extended`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specifier {
    /// The controller's phandle.
    pub controller: u32,
    /// Its cells.
    pub cells: Vec<u32>,
}

impl Specifier {
    /// The number of the input, as the controller interprets the cells.
    pub fn input(&self, root: &Node) -> Option<u32> {
        inputs::number(root.by_phandle(self.controller), &self.cells)
    }
}

/// The contents of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specifiers {
    /// The complete specifiers.
    pub list: Vec<Specifier>,
    /// The required form of the property, if cells are left over.
    pub expected: Option<String>,
}

/// The specifiers of a node's `interrupts` or `interrupts-extended`; any other property has none.
pub fn specifiers(root: &Node, node: &Node, property: &Property) -> Specifiers {
    let extended = match property.name.as_str() {
        "interrupts-extended" => true,
        "interrupts" => false,
        _ => return Specifiers::default(),
    };
    let cells = property.cells().unwrap_or_default();
    let (parent, mut rest, mut list) = (parent_of(root, node), &cells[..], Vec::new());
    loop {
        let (controller, own) = if extended { (rest.first().copied(), 1) } else { (Some(parent), 0) };
        let Some(controller) = controller.filter(|_| !rest.is_empty()) else { break };
        if list.len() == MOST_LINES {
            return Specifiers { list, expected: Some(format!("a list of {MOST_LINES} lines at the most")) };
        }
        let width = cells_of(root, controller);
        let Some(cells) = rest.get(own..own + width) else {
            let name = root.by_phandle(controller).map_or("this controller", Node::label);
            let each = if extended {
                "controllers, each with as many cells as its"
            } else {
                "as many cells for each line as the parent's"
            };
            return Specifiers { list, expected: Some(format!("{each} #interrupt-cells says ({name}: {width})")) };
        };
        list.push(Specifier { controller, cells: cells.to_vec() });
        rest = &rest[own + width..];
    }
    Specifiers { list, expected: None }
}

/// The phandle of the controller that `interrupts` refer to; 0 for none.
fn parent_of(root: &Node, node: &Node) -> u32 {
    let parent = node.property("interrupt-parent").or_else(|| root.property("interrupt-parent"));
    parent.and_then(Property::cells).and_then(|cells| cells.first().copied()).unwrap_or(0)
}

fn cells_of(root: &Node, controller: u32) -> usize {
    let cells = root.by_phandle(controller).and_then(|node| node.property("#interrupt-cells"));
    let cells = cells.and_then(Property::cells).and_then(|cells| cells.first().copied());
    cells.unwrap_or(1).clamp(1, MOST_CELLS) as usize
}

/// True for the interrupt controller of a core that the board has but does not use.
pub fn is_of_idle_core(root: &Node, controller: u32) -> bool {
    let mut cores = root.children.iter().filter(|node| node.name == "cpus").flat_map(|cpus| &cpus.children);
    cores.any(|core| !core.is_enabled() && core.by_phandle(controller).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dt::node::Location;

    fn node(name: &str, phandle: u32, properties: &[(&str, &[u32])], children: Vec<Node>) -> Node {
        let at = Location { file: "test.dts".into(), line: 1 };
        let bytes = |cells: &[u32]| cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
        let property =
            |(name, cells): &(&str, &[u32])| Property { name: (*name).to_owned(), value: bytes(cells), at: at.clone() };
        Node {
            path: format!("/{name}"),
            name: name.to_owned(),
            labels: Vec::new(),
            at: at.clone(),
            phandle: Some(phandle),
            properties: properties.iter().map(property).collect(),
            children,
        }
    }

    /// Specifiers of a device with this property, between a controller of three cells (phandle 1) and one of one cell
    /// (phandle 2).
    fn read(name: &str, cells: &[u32]) -> Specifiers {
        let device = node("device", 3, &[(name, cells)], Vec::new());
        let property = device.properties[0].clone();
        let gic = node("gic", 1, &[("#interrupt-cells", &[3])], Vec::new());
        let nvic = node("nvic", 2, &[("#interrupt-cells", &[1])], Vec::new());
        let root = node("", 0, &[("interrupt-parent", &[1])], vec![gic, nvic, device.clone()]);
        specifiers(&root, &device, &property)
    }

    fn of(lines: &[(u32, &[u32])]) -> Vec<Specifier> {
        lines.iter().map(|(controller, cells)| Specifier { controller: *controller, cells: cells.to_vec() }).collect()
    }

    #[test]
    fn controllers_with_different_cells_stand_in_one_list() {
        let lines: &[(u32, &[u32])] = &[(1, &[0, 100, 4]), (2, &[103]), (1, &[0, 101, 4])];
        let cells = [1, 0, 100, 4, 2, 103, 1, 0, 101, 4];
        assert_eq!(read("interrupts-extended", &cells), Specifiers { list: of(lines), expected: None });
        let lines: &[(u32, &[u32])] = &[(1, &[0, 52, 4]), (1, &[1, 13, 8])];
        assert_eq!(read("interrupts", &[0, 52, 4, 1, 13, 8]), Specifiers { list: of(lines), expected: None });
        assert_eq!(read("reg", &[0, 52, 4]), Specifiers::default());
    }

    #[test]
    fn cells_that_are_left_over_are_reported() {
        let read_two = read("interrupts-extended", &[2, 103, 1, 0, 100]);
        assert_eq!(read_two.list, of(&[(2, &[103])]));
        let expected = "controllers, each with as many cells as its #interrupt-cells says (gic: 3)";
        assert_eq!(read_two.expected.as_deref(), Some(expected));
        let expected = "as many cells for each line as the parent's #interrupt-cells says (gic: 3)";
        assert_eq!(read("interrupts", &[0, 52]).expected.as_deref(), Some(expected));
    }

    #[test]
    fn a_core_that_is_off_has_an_idle_controller() {
        let cpu = |name, phandle, properties: &[(&str, &[u32])]| {
            node(name, phandle, properties, vec![node("intc", phandle + 1, &[], Vec::new())])
        };
        let off = u32::from_be_bytes(*b"off\0");
        let cpus = node("cpus", 1, &[], vec![cpu("cpu@0", 2, &[]), cpu("cpu@1", 4, &[("status", &[off])])]);
        let root = node("", 0, &[], vec![cpus, node("gic", 6, &[("status", &[off])], Vec::new())]);
        assert_eq!([3, 5, 6, 7].map(|controller| is_of_idle_core(&root, controller)), [false, true, false, false]);
    }
}
