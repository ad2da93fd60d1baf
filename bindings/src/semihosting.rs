//! What the firmware may use of the host's, from Python's objects.

use std::os::fd::{BorrowedFd, OwnedFd};

use cyclescope_engine::host::Host;
use cyclescope_engine::host::folder::Folder;
use cyclescope_engine::host::input::Input;
use cyclescope_engine::host::recorded::Recorded;

use pyo3::prelude::*;

use crate::EngineError;

/// Where standard input comes from.
#[derive(FromPyObject)]
pub enum Stdin {
    /// An open file of the host's, by its descriptor.
    Descriptor(i32),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// Gives the firmware what is named; raises OSError or EngineError for a descriptor that is none.
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
    // SAFETY: whoever gave the descriptor keeps it open during the call; of one that is none, the host makes no
    // duplicate.
    let given = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(given.try_clone_to_owned()?)
}
