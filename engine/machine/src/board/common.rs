//! Checks the properties that any node may have (Devicetree Specification 0.4, section 2.3) once, for all readers.

use engine::dt::MOST_CELLS;
use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::node::{Node, Property};

/// Valid values of `status`; "fail" may be followed by a reason ("fail-sss").
const STATES: [&str; 5] = ["okay", "ok", "disabled", "reserved", "fail"];

/// Finds the faults of such properties in a node and its descendants.
pub fn check(node: &Node, faults: &mut Vec<BoardFault>) {
    for property in &node.properties {
        faults.extend(fault(property).map(|kind| BoardFault {
            at: property.at.clone(),
            node: node.name.clone(),
            kind,
        }));
    }
    // A disabled node may have any contents.
    for child in node.children.iter().filter(|child| child.is_enabled() || child.property("status").is_some_and(is_odd))
    {
        check(child, faults);
    }
}

fn is_odd(status: &Property) -> bool {
    fault(status).is_some()
}

fn fault(property: &Property) -> Option<FaultKind> {
    let (name, strings) = (property.name.as_str(), property.strings());
    let wrong_type = |expected: &str| FaultKind::WrongType { property: name.to_owned(), expected: expected.to_owned() };
    match name {
        "compatible" | "cyclescope,sources" => strings.is_none().then(|| wrong_type("strings")),
        "device_type" | "model" | "label" => {
            strings.is_none_or(|strings| strings.len() != 1).then(|| wrong_type("a single string"))
        }
        "status" => state_fault(property),
        "phandle" | "interrupt-parent" => single_cell(property).is_none().then(|| wrong_type("a single cell")),
        _ if name.starts_with('#') && name.ends_with("-cells") => match single_cell(property) {
            Some(0..=MOST_CELLS) => None,
            Some(cells) => Some(FaultKind::OutOfRange {
                property: name.to_owned(),
                value: cells.to_string(),
                allowed: format!("it may be 0 to {MOST_CELLS}"),
            }),
            None => Some(wrong_type("a single cell")),
        },
        _ => None,
    }
}

fn state_fault(status: &Property) -> Option<FaultKind> {
    let property = status.name.clone();
    let Some([state]) = status.strings().and_then(|strings| <[&str; 1]>::try_from(strings).ok()) else {
        return Some(FaultKind::WrongType { property, expected: "a single string".to_owned() });
    };
    let known = STATES.contains(&state) || state.starts_with("fail-");
    (!known).then(|| FaultKind::OutOfRange {
        property,
        value: format!("\"{state}\""),
        allowed: format!("it is one of {}", STATES.join(", ")),
    })
}

fn single_cell(property: &Property) -> Option<u32> {
    property.cells().and_then(|cells| <[u32; 1]>::try_from(cells).ok()).map(|[cell]| cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::dt::node::Location;

    /// The faults of a node with this property, and those of a child with the same property.
    fn faults(name: &str, value: &[u8]) -> Vec<String> {
        let at = Location { file: "test.dts".into(), line: 7 };
        let property = Property { name: name.to_owned(), value: value.to_vec(), at: at.clone() };
        let node = |name: &str, properties, children| {
            let (path, name, labels) = (format!("/{name}"), name.to_owned(), Vec::new());
            Node { path, name, labels, at: at.clone(), phandle: None, properties, children }
        };
        let root = node("", Vec::new(), vec![node("uart", vec![property], Vec::new())]);
        let mut faults = Vec::new();
        check(&root, &mut faults);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_any_node_may_have_is_of_its_type() {
        for (name, value) in [
            ("compatible", &b"a\0b\0"[..]),
            ("status", b"okay\0"),
            ("status", b"fail-sss\0"),
            ("#gpio-cells", &[0, 0, 0, 2]),
            ("interrupt-parent", &[0, 0, 0, 1]),
            ("other", b"\xff"),
        ] {
            assert_eq!(faults(name, value), [""; 0], "{name}");
        }
        for (name, value, said) in [
            ("compatible", &[0, 0, 0, 1][..], "compatible must be strings"),
            ("model", b"a\0b\0", "model must be a single string"),
            ("status", b"oaky\0", "status is \"oaky\"; it is one of okay, ok, disabled, reserved, fail"),
            ("status", &[0, 0, 0, 1], "status must be a single string"),
            ("phandle", &[1], "phandle must be a single cell"),
            ("#interrupt-cells", &[0xff; 4], "#interrupt-cells is 4294967295; it may be 0 to 8"),
        ] {
            assert_eq!(faults(name, value), [format!("test.dts:7: uart: {said}")], "{name}");
        }
    }
}
