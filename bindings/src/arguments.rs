//! Arguments from Python: one of the wrong type or size is an EngineError, like everything that the engine refuses.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::EngineError;

/// An argument that is refused with an EngineError.
pub struct Arg<T>(pub T);

impl<'a, 'py, T> FromPyObject<'a, 'py> for Arg<T>
where
    T: FromPyObject<'a, 'py>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Arg<T>> {
        value.extract().map(Arg).map_err(|error: T::Error| refused(value.py(), error.into()))
    }
}

/// Values in a list or a tuple. Other sequences are refused: one may claim a length for which no memory suffices.
pub struct List<T>(pub Vec<T>);

impl<'py, T> FromPyObject<'_, 'py> for List<T>
where
    for<'a> T: FromPyObject<'a, 'py>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<List<T>> {
        if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
            return Err(EngineError::new_err(format!("expected a list, not {}", type_of(&value))));
        }
        value.try_iter()?.map(|item| Ok(item?.extract::<Arg<T>>()?.0)).collect::<PyResult<_>>().map(List)
    }
}

/// An EngineError with the text of another error.
pub fn refused(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<EngineError>(py) {
        return error;
    }
    EngineError::new_err(error.value(py).to_string())
}

/// The name of a value's type, for messages.
pub fn type_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string())
}
