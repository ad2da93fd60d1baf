//! States of devices by names: the engine's as Python data, and attributes of Python objects as the engine shows them.

use engine::state::{Shown, kept};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Limits for the nesting and the number of an object's values.
const DEPTH: u32 = 6;
const VALUES: usize = 1 << 16;

/// A state as nested dicts and lists. A variant of an enum with fields is a dict with its name as the key.
pub fn to_python<'py>(py: Python<'py>, shown: &Shown) -> PyResult<Bound<'py, PyAny>> {
    Ok(match shown {
        Shown::Number(number) | Shown::Time(number) => number.into_pyobject(py)?.into_any(),
        Shown::Signed(number) => number.into_pyobject(py)?.into_any(),
        Shown::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Shown::Text(text) => PyString::new(py, text).into_any(),
        Shown::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Shown::Nothing => py.None().into_bound(py),
        Shown::Fields(None, fields) => dict(py, fields)?,
        Shown::Fields(Some(variant), fields) => {
            let inner = match &fields[..] {
                [("0", only)] => to_python(py, only)?,
                fields => dict(py, fields)?,
            };
            let named = PyDict::new(py);
            named.set_item(variant, inner)?;
            named.into_any()
        }
        Shown::List(items) => list(py, items.iter().map(|item| to_python(py, item)))?,
        Shown::Map(pairs) if pairs.iter().all(|(key, _)| is_key(key)) => {
            let map = PyDict::new(py);
            for (key, value) in pairs {
                map.set_item(to_python(py, key)?, to_python(py, value)?)?;
            }
            map.into_any()
        }
        // Otherwise a list of pairs.
        Shown::Map(pairs) => {
            let pair = |(key, value): &(Shown, Shown)| list(py, [to_python(py, key), to_python(py, value)].into_iter());
            list(py, pairs.iter().map(pair))?
        }
    })
}

fn list<'py>(py: Python<'py>, items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

fn dict<'py>(py: Python<'py>, fields: &[(&str, Shown)]) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (name, value) in fields {
        dict.set_item(name, to_python(py, value)?)?;
    }
    Ok(dict.into_any())
}

/// True if a dict can have it as a key.
fn is_key(shown: &Shown) -> bool {
    !matches!(shown, Shown::List(_) | Shown::Map(_) | Shown::Fields(..))
}

/// An object's attributes; values that are not plain data are shown by their `repr`.
pub fn of_object(object: &Bound<'_, PyAny>) -> Shown {
    Look { left: VALUES }.attributes(object, DEPTH).unwrap_or(Shown::Nothing)
}

/// Limits how many more values of an object are read.
struct Look {
    left: usize,
}

impl Look {
    fn attributes(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Shown> {
        let own = object.getattr("__dict__").ok()?.cast_into::<PyDict>().ok()?;
        let field = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let name: String = name.extract().ok()?;
            Some((kept(name), self.value(&value, depth - 1)))
        };
        Some(Shown::Fields(None, own.iter().filter_map(field).collect()))
    }

    fn value(&mut self, value: &Bound<'_, PyAny>, depth: u32) -> Shown {
        self.left = self.left.saturating_sub(1);
        if let Some(plain) = plain(value) {
            return plain;
        }
        if depth == 0 || self.left == 0 {
            return Shown::Text("...".to_owned());
        }
        if let Ok(map) = value.cast::<PyDict>() {
            let pair = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                (self.value(&key, depth - 1), self.value(&value, depth - 1))
            };
            return Shown::Map(map.iter().map(pair).collect());
        }
        let type_name = value.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || type_name == "deque";
        if is_list && let Ok(items) = value.try_iter() {
            return Shown::List(items.filter_map(Result::ok).map(|item| self.value(&item, depth - 1)).collect());
        }
        self.attributes(value, depth).unwrap_or_else(|| text(value))
    }
}

fn plain(value: &Bound<'_, PyAny>) -> Option<Shown> {
    if value.is_none() {
        return Some(Shown::Nothing);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Some(Shown::Flag(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        let number = value.extract().map(Shown::Number).or_else(|_| value.extract().map(Shown::Signed));
        return Some(number.unwrap_or_else(|_| text(value)));
    }
    if let Ok(data) = value.cast::<PyBytes>() {
        return Some(Shown::Bytes(data.as_bytes().to_vec()));
    }
    let is_text = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyString>();
    is_text.then(|| text(value))
}

/// The `repr` of a value.
fn text(value: &Bound<'_, PyAny>) -> Shown {
    let text = if value.is_instance_of::<PyString>() { value.str() } else { value.repr() };
    Shown::Text(text.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned()))
}
