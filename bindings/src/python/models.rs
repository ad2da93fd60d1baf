//! Models in Python, as `cyclescope.devices` describes them.

use devices::external::{ExternalModel, Externals, Given, Make, Numbers, Property, PropertyKind, Value};
use engine::wire::bytes::OnWire;
use machine::board::external;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::calls::Calls;
use super::chip::PythonChip;
use super::device::PythonDevice;
use super::i2c_chip::I2cChip;
use super::instance::Instance;
use super::spi_chip::SpiChip;
use crate::EngineError;
use crate::arguments::List;
use crate::caught::caught;
use crate::reference::property_dict;

/// A model as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Described {
    compatible: String,
    replaces: bool,
    wire: Option<String>,
    ranges: usize,
    max_hz: u32,
    ignored: Vec<String>,
    clocks: Vec<String>,
    interrupts: Vec<String>,
    pins: Vec<(String, String)>,
    properties: Vec<DescribedProperty>,
    make: Py<PyAny>,
    report: Py<PyAny>,
}

/// A property as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct DescribedProperty {
    name: String,
    meaning: String,
    kind: String,
    default: Option<Default>,
    range: Option<(u32, u32)>,
    one_of: Option<Vec<u32>>,
    words: Vec<String>,
    source: String,
}

#[derive(FromPyObject)]
enum Default {
    Number(u32),
    Text(String),
    Numbers(Vec<u32>),
}

/// The models of a board. Raises EngineError for invalid ones.
pub fn externals(models: Option<&Bound<'_, PyAny>>, calls: &Calls) -> PyResult<Externals> {
    let mut externals = Externals::default();
    for described in described(models)? {
        external::add(&mut externals, described.model(calls)?).map_err(EngineError::new_err)?;
    }
    Ok(externals)
}

fn described(models: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Described>> {
    let Some(models) = models else { return Ok(Vec::new()) };
    Ok(models.extract::<List<Described>>()?.0)
}

/// The properties that each model declares for its node. Raises EngineError for invalid models.
#[pyfunction]
pub fn declared<'py>(py: Python<'py>, models: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyList>>> {
    let externals = externals(Some(models), &Calls::default())?;
    let list = |model: &ExternalModel| {
        let properties: PyResult<Vec<_>> =
            caught(|| Ok(external::declared_by(model)))?.iter().map(|declared| property_dict(py, declared)).collect();
        PyList::new(py, properties?)
    };
    externals.all().map(list).collect()
}

impl Described {
    fn model(self, calls: &Calls) -> PyResult<ExternalModel> {
        let properties = self.properties.into_iter().map(DescribedProperty::property).collect::<PyResult<_>>()?;
        let has_interrupt = !self.interrupts.is_empty();
        let maker = Maker { make: self.make, report: self.report, calls: calls.clone(), on_bus: self.wire.is_none() };
        // Without what follows the properties' names.
        let names: Vec<String> =
            self.pins.iter().map(|(name, _)| name.strip_suffix("-gpios").unwrap_or(name).to_owned()).collect();
        let make = match self.wire.as_deref() {
            None => Make::Device(
                self.ranges,
                Box::new(move |given| {
                    let (lines, is_console) = (given.interrupts.clone(), given.is_console);
                    let pins = given.pins.iter().copied().zip(names.iter().cloned()).collect();
                    Ok(Box::new(PythonDevice::new(maker.instance(given)?, lines, pins, is_console)))
                }),
            ),
            Some("spi") => Make::SpiChip(
                self.max_hz,
                Box::new(move |given, reader| {
                    let chip = SpiChip(PythonChip::after_reset(maker.instance(given)?, has_interrupt)?);
                    Ok(Box::new(OnWire::from_node(chip, self.max_hz, reader)))
                }),
            ),
            Some("i2c") => Make::I2cChip(Box::new(move |given| {
                Ok(Box::new(I2cChip(PythonChip::after_reset(maker.instance(given)?, has_interrupt)?)))
            })),
            Some(other) => return Err(EngineError::new_err(format!("there are no chips on '{other}'"))),
        };
        let (ignored, clocks, interrupts) = (self.ignored, self.clocks, self.interrupts);
        let (compatible, replaces, pins) = (self.compatible, self.replaces, self.pins);
        Ok(ExternalModel { compatible, replaces, properties, ignored, clocks, interrupts, pins, make })
    }
}

/// Makes objects of a class.
struct Maker {
    make: Py<PyAny>,
    report: Py<PyAny>,
    calls: Calls,
    on_bus: bool,
}

impl Maker {
    /// The object for a node.
    fn instance(&self, given: Given) -> Result<Instance, String> {
        Python::attach(|py| {
            let made = self.made(py, given);
            made.map_err(|error| {
                let line = self.report.bind(py).call1((py.None(), error.clone_ref(py).into_value(py), "__init__", ()));
                line.and_then(|line| line.extract()).unwrap_or_else(|_| error.to_string())
            })
        })
    }

    fn made(&self, py: Python<'_>, given: Given) -> PyResult<Instance> {
        let values: PyResult<Vec<_>> = given.values.into_iter().map(|value| value_of(py, value)).collect();
        let clocks: Vec<u64> = given.clocks.into_iter().map(|clock| clock.get()).collect();
        let object = self.make.bind(py).call1((given.label, values?, clocks))?;
        Instance::new(&object, self.report.clone_ref(py), self.calls.clone(), self.on_bus)
    }
}

fn value_of(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Numbers(numbers) => numbers.into_pyobject(py)?.into_any(),
    })
}

impl DescribedProperty {
    fn property(self) -> PyResult<Property> {
        let numbers = match (self.one_of, self.range) {
            (Some(few), _) => Numbers::OneOf(few),
            (None, Some((least, most))) => Numbers::Range(least..=most),
            (None, None) => Numbers::Range(0..=u32::MAX),
        };
        let kind = match (self.kind.as_str(), self.default) {
            ("number", None) => PropertyKind::Number(numbers, None),
            ("number", Some(Default::Number(default))) => PropertyKind::Number(numbers, Some(default)),
            ("timing", None) => PropertyKind::Timing(numbers, None),
            ("timing", Some(Default::Number(default))) => PropertyKind::Timing(numbers, Some((default, self.source))),
            ("flag", None) => PropertyKind::Flag,
            ("string", Some(Default::Text(default))) => PropertyKind::Text(default),
            ("word", None) if !self.words.is_empty() => PropertyKind::Word(self.words),
            ("numbers", Some(Default::Numbers(default))) => PropertyKind::Numbers(default),
            (kind, _) => return Err(EngineError::new_err(format!("'{}' is no property: {kind}", self.name))),
        };
        Ok(Property { name: self.name, meaning: self.meaning, kind })
    }
}
