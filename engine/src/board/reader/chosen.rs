//! What `/chosen` says.

use super::NodeReader;
use crate::board::node::{Node, Property};

impl NodeReader<'_, '_> {
    /// True if `/chosen`'s stdout-path leads to the node: by its path or by an alias, with or without options behind a colon.
    pub fn is_stdout(&self) -> bool {
        let root = self.board.root;
        let Some(path) = text(root, "chosen", "stdout-path") else { return false };
        let path = path.split(':').next().unwrap_or(path);
        let target = if path.starts_with('/') { Some(path) } else { text(root, "aliases", path) };
        target == Some(self.node.path.as_str())
    }
}

/// A property of a child of the root that is one string.
fn text<'a>(root: &'a Node, child: &str, name: &str) -> Option<&'a str> {
    let node = root.children.iter().find(|node| node.name == child)?;
    match node.property(name).and_then(Property::strings)?[..] {
        [text] => Some(text),
        _ => None,
    }
}
