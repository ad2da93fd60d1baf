//! Files of FAT volumes, by the crate `fatfs`: adds, removes and reads them. Its feature for long names is off: a name
//! has 8 and 3 characters, as old tools write it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use fatfs::{Date, DateTime, FileSystem, FsOptions, Time, TimeProvider};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::EngineError;
use crate::arguments::{Arg, List};
use crate::caught::caught;

/// 2009-03-02: a fixed time of files, so that identical volumes stay identical.
#[derive(Debug)]
struct AlwaysThen;

impl TimeProvider for AlwaysThen {
    fn get_current_date(&self) -> Date {
        Date { year: 2009, month: 3, day: 2 }
    }

    fn get_current_date_time(&self) -> DateTime {
        DateTime { date: self.get_current_date(), time: Time { hour: 0, min: 0, sec: 0, millis: 0 } }
    }
}

/// Adds files to a volume's root. Each has a name, a piece, and the number of times that the piece is written. Files
/// take the first free clusters.
#[pyfunction]
pub fn fat_add(path: Arg<PathBuf>, files: List<(String, Vec<u8>, u64)>) -> PyResult<()> {
    changed(&path.0, |volume| {
        for (name, piece, pieces) in &files.0 {
            add(volume, name, piece, *pieces).map_err(|error| failed(name, &error))?;
        }
        Ok(())
    })
}

/// Removes files from a volume's root.
#[pyfunction]
pub fn fat_remove(path: Arg<PathBuf>, names: List<String>) -> PyResult<()> {
    changed(&path.0, |volume| {
        names.0.iter().try_for_each(|name| volume.root_dir().remove(name).map_err(|error| failed(name, &error)))
    })
}

/// The first `most` bytes of a file. The volume is not changed.
#[pyfunction]
pub fn fat_read<'py>(
    py: Python<'py>,
    path: Arg<PathBuf>,
    name: Arg<String>,
    most: Arg<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    caught(|| {
        let mut bytes = Vec::new();
        File::open(&path.0)
            .and_then(mounted)
            .and_then(|volume| volume.root_dir().open_file(&name.0)?.take(most.0).read_to_end(&mut bytes))
            .map_err(|error| failed(&name.0, &error))?;
        Ok(PyBytes::new(py, &bytes))
    })
}

fn changed(path: &Path, change: impl FnOnce(&FileSystem<File>) -> PyResult<()>) -> PyResult<()> {
    caught(|| {
        let volume = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .and_then(mounted)
            .map_err(|error| failed(&path.to_string_lossy(), &error))?;
        change(&volume)?;
        volume.unmount().map_err(|error| failed(&path.to_string_lossy(), &error))
    })
}

fn mounted(image: File) -> io::Result<FileSystem<File>> {
    FileSystem::new(image, FsOptions::new().time_provider(&AlwaysThen))
}

fn add(volume: &FileSystem<File>, name: &str, piece: &[u8], pieces: u64) -> io::Result<()> {
    let mut file = volume.root_dir().create_file(name)?;
    for _ in 0..pieces {
        file.write_all(piece)?;
    }
    file.flush()
}

fn failed(what: &str, error: &io::Error) -> PyErr {
    EngineError::new_err(format!("{what}: {error}"))
}
