//! The resources of the host for the firmware's semihosting, from Python's objects.

use std::os::fd::{BorrowedFd, OwnedFd};

use engine::host::Host;
use engine::host::folder::Folder;
use engine::host::input::Input;
use engine::host::recorded::Recorded;

use pyo3::prelude::*;

use crate::EngineError;

/// The source of standard input.
#[derive(FromPyObject)]
pub enum Stdin {
    /// An open file of the host, by its descriptor.
    Descriptor(i32),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// Gives the firmware the folder, the standard input and the arguments. Raises OSError or EngineError for an invalid
/// descriptor.
pub fn give(host: &mut Host, folder: Option<i32>, stdin: Option<Stdin>, arguments: Vec<Vec<u8>>) -> PyResult<()> {
    if let Some(descriptor) = folder {
        host.set_folder(Folder::new(duplicate(descriptor)?));
    }
    match stdin {
        None => {}
        Some(Stdin::Descriptor(descriptor)) => {
            host.set_input(Input::File(Recorded::new(duplicate(descriptor)?.into())));
        }
        Some(Stdin::Bytes(bytes)) => host.set_input(Input::Bytes(bytes, 0)),
    }
    host.set_arguments(arguments);
    Ok(())
}

fn duplicate(descriptor: i32) -> PyResult<OwnedFd> {
    if descriptor < 0 {
        return Err(EngineError::new_err("a file descriptor is not negative"));
    }
    // SAFETY: the caller keeps the descriptor open during the call. If it is invalid, the host can't duplicate it.
    let given = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(given.try_clone_to_owned()?)
}
