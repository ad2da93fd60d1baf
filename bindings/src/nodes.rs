//! Devicetree nodes from Python dicts.

use engine::dt::node::{Location, Node, Property};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::EngineError;
use crate::arguments::{List, refused, type_of};

/// Deepest nesting of nodes; boards have some six levels.
const MOST_DEPTH: u32 = 64;
/// The limit of nodes and properties together; boards have hundreds. Dicts may share parts, so a small number of dicts
/// can make an endless tree.
const MOST_PARTS: u32 = 100_000;
/// Most bytes of all values.
const MOST_BYTES: usize = 64 << 20;

/// A node and all below it, from the dicts that `cyclescope.board` makes. Raises EngineError for an invalid tree.
pub fn node(root: &Bound<'_, PyAny>) -> PyResult<Node> {
    Tree::default().node(root, 0)
}

/// Reads a tree, and counts its parts.
#[derive(Default)]
struct Tree {
    parts: u32,
    bytes: usize,
}

impl Tree {
    fn node(&mut self, node: &Bound<'_, PyAny>, depth: u32) -> PyResult<Node> {
        let dict = self.part(node, "node")?;
        let path: String = item(dict, "path")?;
        if depth > MOST_DEPTH {
            return Err(EngineError::new_err(format!("a board's nodes nest deeper than {MOST_DEPTH} levels")));
        }
        let (props, children): (Bound<'_, PyList>, Bound<'_, PyList>) = (item(dict, "props")?, item(dict, "children")?);
        Ok(Node {
            path,
            name: item(dict, "name")?,
            labels: item::<List<String>>(dict, "labels")?.0,
            at: location(dict)?,
            phandle: item(dict, "phandle")?,
            properties: props.iter().map(|property| self.property(&property)).collect::<PyResult<_>>()?,
            children: children.iter().map(|child| self.node(&child, depth + 1)).collect::<PyResult<_>>()?,
        })
    }

    fn property(&mut self, property: &Bound<'_, PyAny>) -> PyResult<Property> {
        let dict = self.part(property, "property")?;
        let value: Bound<'_, PyBytes> = item(dict, "value")?;
        self.bytes += value.as_bytes().len();
        if self.bytes > MOST_BYTES {
            return Err(EngineError::new_err(format!("a board's properties have more than {MOST_BYTES} bytes")));
        }
        Ok(Property { name: item(dict, "name")?, value: value.as_bytes().to_vec(), at: location(dict)? })
    }

    /// Counts a node or property, which must be a dict.
    fn part<'a, 'py>(&mut self, part: &'a Bound<'py, PyAny>, what: &str) -> PyResult<&'a Bound<'py, PyDict>> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(EngineError::new_err(format!("a board has more than {MOST_PARTS} nodes and properties")));
        }
        let expected = || EngineError::new_err(format!("a board's {what} must be a dict, not {}", type_of(part)));
        part.cast::<PyDict>().map_err(|_| expected())
    }
}

fn location(dict: &Bound<'_, PyDict>) -> PyResult<Location> {
    let file: String = item(dict, "file")?;
    Ok(Location { file: file.into(), line: item(dict, "line")? })
}

fn item<'py, T>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
    for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
{
    let value = dict.get_item(key)?;
    let value = value.ok_or_else(|| EngineError::new_err(format!("a board node lacks '{key}'")))?;
    value.extract().map_err(|error: <T as FromPyObject<'_, 'py>>::Error| {
        let why = refused(dict.py(), error.into());
        EngineError::new_err(format!("'{key}' of a board node: {}", why.value(dict.py())))
    })
}
