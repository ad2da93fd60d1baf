//! A board's description as Python dicts.

use engine::bus::Target;
use machine::Machine;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Makes the dict that `Machine.describe` returns.
pub fn describe<'py>(py: Python<'py>, machine: &mut Machine) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let description = machine.description().clone();
    dict.set_item("model", &description.model)?;
    let cores = PyList::empty(py);
    for core in &description.cores {
        let item = PyDict::new(py);
        item.set_item("name", &core.name)?;
        item.set_item("type", &core.compatible)?;
        item.set_item("isa", &core.isa)?;
        item.set_item("hz", core.clock.get())?;
        item.set_item("caches", &core.caches)?;
        item.set_item("fetch_policy", core.fetch_policy)?;
        cores.append(item)?;
    }
    dict.set_item("cores", cores)?;
    let clocks = PyList::empty(py);
    for (name, hz) in &description.clocks {
        let item = PyDict::new(py);
        item.set_item("name", name)?;
        item.set_item("hz", hz)?;
        clocks.append(item)?;
    }
    dict.set_item("clocks", clocks)?;
    dict.set_item("map", map(py, machine, &description.paths)?)?;
    let devices = PyList::empty(py);
    for device in &description.devices {
        let item = PyDict::new(py);
        item.set_item("name", &device.name)?;
        item.set_item("compatible", &device.compatible)?;
        item.set_item("path", &device.path)?;
        item.set_item("base", device.ranges.first().map(|range| range.0))?;
        devices.append(item)?;
    }
    dict.set_item("devices", devices)?;
    let parameters = PyList::empty(py);
    for parameter in &description.parameters {
        let item = PyDict::new(py);
        item.set_item("node", &parameter.node)?;
        item.set_item("label", &parameter.label)?;
        item.set_item("property", &parameter.property)?;
        item.set_item("value", parameter.values.first())?;
        item.set_item("unit", parameter.unit)?;
        item.set_item("source", &parameter.source)?;
        item.set_item("basis", parameter.basis.name())?;
        item.set_item("plausible", parameter.plausible.in_words())?;
        item.set_item("at", parameter.at.to_string())?;
        parameters.append(item)?;
    }
    dict.set_item("parameters", parameters)?;
    dict.set_item("warnings", &description.warnings)?;
    Ok(dict)
}

fn map<'py>(py: Python<'py>, machine: &mut Machine, paths: &[String]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (entry, path) in machine.bus().map.iter().zip(paths) {
        let item = PyDict::new(py);
        item.set_item("name", &entry.name)?;
        item.set_item("base", entry.base)?;
        item.set_item("size", u64::from(entry.last) + 1 - u64::from(entry.base))?;
        item.set_item("kind", if matches!(entry.target, Target::Ram(_)) { "memory" } else { "device" })?;
        item.set_item("cacheable", entry.cacheable)?;
        item.set_item("path", path)?;
        list.append(item)?;
    }
    Ok(list)
}
