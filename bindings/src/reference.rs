//! The reference of bindings as Python dicts.

use devices::registers::Row;
use devices::registers_of;
use engine::dt::reader::Declared;
use machine::board::bindings::{Binding, all, common};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// All compatibles with models, with their properties.
#[pyfunction]
pub fn bindings(py: Python) -> PyResult<Bound<PyList>> {
    let list = PyList::empty(py);
    for binding in all() {
        list.append(binding_dict(py, &binding)?)?;
    }
    Ok(list)
}

/// Names and meanings of the properties that any node may have.
#[pyfunction]
pub fn common_properties() -> Vec<(&'static str, &'static str)> {
    common()
}

fn binding_dict<'py>(py: Python<'py>, binding: &Binding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("compatible", binding.compatible)?;
    dict.set_item("group", binding.group.title())?;
    dict.set_item("about", binding.about)?;
    let activities = binding.activities.iter().map(|it| (it.name, it.kind.name(), it.meaning));
    dict.set_item("activities", activities.collect::<Vec<_>>())?;
    let properties: PyResult<Vec<_>> = binding.properties.iter().map(|declared| property_dict(py, declared)).collect();
    dict.set_item("properties", properties?)?;
    let registers: PyResult<Vec<_>> =
        registers_of(binding.compatible).iter().map(|row| register_dict(py, row)).collect();
    dict.set_item("registers", registers?)?;
    Ok(dict)
}

/// A register of a device's first range: its row, with the bits that have names.
fn register_dict<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", row.name)?;
    dict.set_item("offset", row.offset)?;
    dict.set_item("access", row.access.name())?;
    dict.set_item("reset", row.reset)?;
    let bits = row.bits.iter().map(|bit| (bit.name, bit.mask, bit.access.name(), bit.is_modelled));
    dict.set_item("bits", bits.collect::<Vec<_>>())?;
    Ok(dict)
}

/// A property, as [`bindings`] has it.
pub fn property_dict<'py>(py: Python<'py>, declared: &Declared) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &declared.name)?;
    dict.set_item("kind", declared.kind)?;
    dict.set_item("unit", declared.unit)?;
    dict.set_item("required", declared.required)?;
    dict.set_item("default", &declared.default)?;
    dict.set_item("range", &declared.range)?;
    dict.set_item("meaning", &declared.meaning)?;
    dict.set_item("timing", declared.timing)?;
    dict.set_item("ignored", declared.ignored)?;
    dict.set_item("when", &declared.when)?;
    Ok(dict)
}
