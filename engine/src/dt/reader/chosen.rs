//! What `/chosen` says.

use super::NodeReader;
use crate::dt::node::{Node, Property};

impl NodeReader<'_, '_> {
    /// True if `/chosen`'s stdout-path leads to the node: by its path or by an alias, with or without options behind a
    /// colon.
    pub fn is_stdout(&self) -> bool {
        stdout(self.board.root) == Some(self.node.path.as_str())
    }
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

    fn node(name: &str, property: &str, value: &str, children: Vec<Node>) -> Node {
        let at = Location { file: "test.dts".into(), line: 1 };
        let value = [value.as_bytes(), &[0]].concat();
        let properties = vec![Property { name: property.to_owned(), value, at: at.clone() }];
        let (path, name) = (format!("/{name}"), name.to_owned());
        Node { path, name, labels: Vec::new(), at, phandle: None, properties, children }
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
                node("aliases", "serial0", "/serial@1", Vec::new()),
                node("chosen", "stdout-path", path, Vec::new()),
            ];
            assert_eq!(stdout(&node("", "model", "test", children)), expected, "{path}");
        }
        assert_eq!(stdout(&node("", "model", "test", Vec::new())), None);
    }
}
