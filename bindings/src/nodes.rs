//! Devicetree nodes from Python dicts.

use cyclescope_engine::board::node::{Location, Node, Property};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A node and all below it, from the dicts that `cyclescope.board` makes.
pub fn node(dict: &Bound<'_, PyDict>) -> PyResult<Node> {
    let children: Vec<Bound<'_, PyDict>> = item(dict, "children")?;
    let properties: Vec<Bound<'_, PyDict>> = item(dict, "props")?;
    Ok(Node {
        path: item(dict, "path")?,
        name: item(dict, "name")?,
        labels: item(dict, "labels")?,
        at: location(dict)?,
        phandle: item(dict, "phandle")?,
        properties: properties.iter().map(property).collect::<PyResult<_>>()?,
        children: children.iter().map(node).collect::<PyResult<_>>()?,
    })
}

fn property(dict: &Bound<'_, PyDict>) -> PyResult<Property> {
    Ok(Property { name: item(dict, "name")?, value: item(dict, "value")?, at: location(dict)? })
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
    let value = value.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(format!("a board node lacks '{key}'")))?;
    value.extract().map_err(Into::into)
}
