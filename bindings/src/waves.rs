//! Recorded waveforms, one piece at a time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Mutex;

use engine::observe::spool::to_bytes;
use engine::observe::waves::Recorded;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The number of changes in a piece of [`change_pieces`].
const PIECE_CHANGES: usize = 1 << 16;

/// The number of bytes in a piece of [`file_pieces`].
const PIECE_BYTES: usize = 1 << 20;

type Iter = Box<dyn Iterator<Item = io::Result<Vec<u8>>> + Send>;

/// An iterator over pieces of bytes.
#[pyclass(module = "cyclescope._engine")]
pub struct Pieces {
    /// Never contended, like that of [`crate::machine::Machine`].
    pieces: Mutex<Iter>,
}

impl Pieces {
    /// An iterator over these pieces. An error is raised as OSError at its place.
    pub fn new(pieces: impl Iterator<Item = io::Result<Vec<u8>>> + Send + 'static) -> Pieces {
        Pieces { pieces: Mutex::new(Box::new(pieces)) }
    }
}

#[pymethods]
impl Pieces {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let pieces = self.pieces.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let piece = py.detach(|| pieces.next()).transpose().map_err(os_error)?;
        Ok(piece.map(|piece| PyBytes::new(py, &piece)))
    }
}

/// An OSError with its number, like the host's own.
pub fn os_error(error: io::Error) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text);
    PyOSError::new_err((number, text.to_owned()))
}

/// Changes as 12 little-endian bytes each: 8 of the time in picoseconds, 4 of twice the signal's index plus the new
/// level.
pub fn change_pieces(mut changes: Recorded) -> impl Iterator<Item = io::Result<Vec<u8>>> + Send {
    std::iter::from_fn(move || {
        let piece: io::Result<Vec<_>> = changes.by_ref().take(PIECE_CHANGES).collect();
        match piece {
            Ok(changes) if changes.is_empty() => None,
            piece => Some(piece.map(|changes| changes.iter().flat_map(to_bytes).collect())),
        }
    })
}

/// The contents of a file from its start.
pub fn file_pieces(mut file: File) -> io::Result<impl Iterator<Item = io::Result<Vec<u8>>> + Send> {
    file.seek(SeekFrom::Start(0))?;
    Ok(std::iter::from_fn(move || {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        match file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece) {
            Ok(0) => None,
            Ok(_) => Some(Ok(piece)),
            Err(error) => Some(Err(error)),
        }
    }))
}
