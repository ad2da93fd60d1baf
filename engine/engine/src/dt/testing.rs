//! Nodes of devicetrees for tests.

use super::node::{Location, Node, Property};

/// Cells as the bytes of a property.
pub fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}

/// A node of a devicetree for a test.
pub fn node(name: &str, phandle: Option<u32>, properties: Vec<(&str, Vec<u8>)>, children: Vec<Node>) -> Node {
    let at = Location { file: "test.dts".into(), line: 1 };
    let property = |(name, value): (&str, Vec<u8>)| Property { name: name.to_owned(), value, at: at.clone() };
    let properties = properties.into_iter().map(property).collect();
    let (path, name) = (format!("/{name}"), name.to_owned());
    Node { path, name, labels: Vec::new(), at: at.clone(), phandle, properties, children }
}
