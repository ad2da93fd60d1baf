//! Devicetree nodes as the loader passes them on: raw property bytes, each with its place in the source.

use std::fmt;
use std::sync::Arc;

use crate::state::digest;

/// A place in a board's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// File name as the user gave it.
    pub file: Arc<str>,
    /// Line, from 1; 0 for a property without a line (an override on the command line).
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { write!(f, "{}", self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// A property of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its bytes: cells big-endian, strings NUL-terminated.
    pub value: Vec<u8>,
    /// Its place in the source.
    pub at: Location,
}

impl Property {
    /// The value as 32-bit cells, if its length is a multiple of four.
    pub fn cells(&self) -> Option<Vec<u32>> {
        let (cells, []) = self.value.as_chunks::<4>() else { return None };
        Some(cells.iter().map(|cell| u32::from_be_bytes(*cell)).collect())
    }

    /// The value as strings, if it has that form.
    pub fn strings(&self) -> Option<Vec<&str>> {
        let body = self.value.strip_suffix(&[0])?;
        body.split(|byte| *byte == 0).map(|part| std::str::from_utf8(part).ok()).collect()
    }
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Full path, "/axi/spi@c4000000".
    pub path: String,
    /// Name with unit address.
    pub name: String,
    /// Labels, in order.
    pub labels: Vec<String>,
    /// The place of its start.
    pub at: Location,
    /// Its phandle, if another node refers to it.
    pub phandle: Option<u32>,
    /// Properties in source order.
    pub properties: Vec<Property>,
    /// Children in source order.
    pub children: Vec<Node>,
}

impl Node {
    /// The property called `name`.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// The first label, or else the name: the node's name in messages and results.
    pub fn label(&self) -> &str {
        self.labels.first().unwrap_or(&self.name)
    }

    /// The strings of `compatible`; empty if the node has no such property.
    pub fn compatibles(&self) -> Vec<&str> {
        self.property("compatible").and_then(Property::strings).unwrap_or_default()
    }

    /// False if `status` says that the node is not in use.
    pub fn is_enabled(&self) -> bool {
        let status = self.property("status").and_then(Property::strings);
        status.is_none_or(|status| matches!(status[..], ["okay" | "ok"]))
    }

    /// A hash of the node without its children: two different nodes have the same one only by a rare coincidence.
    pub fn digest(&self) -> u64 {
        let phandle = self.phandle.map_or(0, |phandle| u64::from(phandle) + 1).to_le_bytes();
        let labels = self.labels.iter().map(String::as_bytes);
        let properties = self.properties.iter().flat_map(|it| [it.name.as_bytes(), &it.value]);
        let all = [self.path.as_bytes(), &phandle].into_iter().chain(labels).chain([&[0][..]]).chain(properties);
        digest::of_all(all)
    }

    /// This node and all its descendants.
    pub fn walk(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        Box::new(std::iter::once(self).chain(self.children.iter().flat_map(Node::walk)))
    }

    /// The node with this phandle, among this node and its descendants.
    pub fn by_phandle(&self, phandle: u32) -> Option<&Node> {
        self.walk().find(|node| node.phandle == Some(phandle))
    }
}
