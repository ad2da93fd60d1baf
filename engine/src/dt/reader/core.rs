//! Cores that devices name.

use super::super::fault::FaultKind;
use super::super::node::Node;
use super::{Declared, NodeReader};

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
}

/// The index of a core among those that are used; `Some(None)` for one that is not used, `None` for what is no core.
fn index_of(root: &Node, phandle: u32) -> Option<Option<usize>> {
    let cpus = root.children.iter().find(|node| node.name == "cpus")?;
    let cores = || cpus.children.iter().filter(|node| node.name.starts_with("cpu@"));
    let core = cores().find(|core| core.phandle == Some(phandle))?;
    Some(cores().filter(|core| core.is_enabled()).position(|used| used.path == core.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dt::node::{Location, Property};

    fn node(path: &str, phandle: u32, status: &str, children: Vec<Node>) -> Node {
        let at = Location { file: "test.dts".into(), line: 1 };
        let value = [status.as_bytes(), &[0]].concat();
        let properties = vec![Property { name: "status".into(), value, at: at.clone() }];
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        Node { path: path.to_owned(), name, labels: Vec::new(), at, phandle: Some(phandle), properties, children }
    }

    #[test]
    fn cores_are_counted_among_those_that_are_used() {
        let cpus = vec![
            node("/cpus/cpu@0", 1, "okay", Vec::new()),
            node("/cpus/cpu@1", 2, "disabled", Vec::new()),
            node("/cpus/cpu@2", 3, "okay", Vec::new()),
            node("/cpus/cache", 4, "okay", Vec::new()),
        ];
        let root = node("", 0, "okay", vec![node("/cpus", 5, "okay", cpus)]);
        let found = [1, 2, 3, 4, 9].map(|phandle| index_of(&root, phandle));
        assert_eq!(found, [Some(Some(0)), Some(None), Some(Some(1)), None, None]);
    }
}
