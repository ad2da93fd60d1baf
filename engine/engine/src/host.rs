//! Host resources for the firmware: nothing, unless the user gives it a folder, an input or arguments.
//!
//! Operations of Arm's and RISC-V's semihosting and of MIPS's hosting interface are built from these functions and
//! those in [`crate::semihosting`], which accesses the program's memory.

pub mod errno;
pub mod folder;
pub mod input;
pub mod recorded;
mod saving;

use std::fs::File;

use errno::Errno;
use folder::{Folder, Opening, Refusal};
use input::Input;

use crate::observe::notes::Notes;

/// The handles of standard input, output and errors, which are always open. Output and errors are the console.
pub const STANDARD: [u32; 3] = [0, 1, 2];
/// Standard input for interfaces whose handles must not be 0.
pub const TERMINAL_INPUT: u32 = 3;
/// The first handle of opened files.
const FIRST_OPEN_FILE: u32 = 4;
/// Files that can be open at once.
const MOST_OPEN: usize = 64;
/// Notes that are kept for the user.
const MOST_NOTES: usize = 16;
/// Bytes of a name that a note shows.
const SHOWN_BYTES: usize = 80;

/// The contents of `:semihosting-features`: its magic number; SH_EXT_EXIT_EXTENDED and SH_EXT_STDOUT_STDERR.
pub(crate) const FEATURES: &[u8] = b"SHFB\x03";

/// The object of a handle.
#[derive(Debug)]
pub(crate) enum OpenFile {
    /// `:semihosting-features`, with the position in it.
    Features(usize),
    /// A file in the folder.
    File(File),
}

/// The object of a handle, including those that are always open.
pub(crate) enum Stream<'a> {
    Input(&'a mut Input),
    Console,
    Features(&'a mut usize),
    File(&'a mut File),
}

/// The host's resources, as the firmware accesses them.
#[derive(Debug, Default)]
pub struct Host {
    folder: Option<Folder>,
    input: Input,
    arguments: Vec<Vec<u8>>,
    open_files: Vec<Option<OpenFile>>,
    pub(crate) errno: Option<Errno>,
    pub(crate) waiting: bool,
    /// Notes for the user.
    pub notes: Notes<MOST_NOTES>,
}

impl Host {
    /// Gives the firmware the files of a folder.
    pub fn set_folder(&mut self, folder: Folder) {
        self.folder = Some(folder);
    }

    /// Gives the firmware a standard input.
    pub fn set_input(&mut self, input: Input) {
        self.input = input;
    }

    /// Gives the firmware its command line: the program's name, then arguments.
    pub fn set_arguments(&mut self, arguments: Vec<Vec<u8>>) {
        self.arguments = arguments;
    }

    /// The command line: the program's name, then arguments.
    pub fn arguments(&self) -> &[Vec<u8>] {
        &self.arguments
    }

    /// True if a core waits for input that the host has yet to give. Simulated time stands still meanwhile.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Records a note for the user, once.
    pub(crate) fn note(&mut self, text: String) {
        self.notes.add(None, &text, || text.clone());
    }

    /// True if the firmware has a folder for files.
    pub fn has_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// Opens a file of the folder; returns its handle.
    ///
    /// # Errors
    /// If there is no folder, or no such file in it, or too many are open.
    pub fn open(&mut self, path: &[u8], opening: Opening) -> Result<u32, Errno> {
        // With no free handle, the file is not created either.
        self.free_slot()?;
        let file = self.in_folder("opened", path, |folder| folder.open_file(path, opening))?;
        self.keep(OpenFile::File(file))
    }

    /// Opens `:semihosting-features`; returns its handle.
    ///
    /// # Errors
    /// If too many files are open.
    pub fn open_features(&mut self) -> Result<u32, Errno> {
        self.keep(OpenFile::Features(0))
    }

    /// Closes a handle. Handles of the console stay open.
    ///
    /// # Errors
    /// If the handle is not open.
    pub fn close(&mut self, handle: u32) -> Result<(), Errno> {
        if handle < FIRST_OPEN_FILE {
            return Ok(());
        }
        let slot = self.open_files.get_mut((handle - FIRST_OPEN_FILE) as usize).ok_or(Errno::BAD_HANDLE)?;
        slot.take().map(|_| ()).ok_or(Errno::BAD_HANDLE)
    }

    /// Removes a file of the folder.
    ///
    /// # Errors
    /// See [`Folder::remove`].
    pub fn remove(&mut self, path: &[u8]) -> Result<(), Errno> {
        self.in_folder("removed", path, |folder| folder.remove(path))
    }

    /// Renames a file of the folder.
    ///
    /// # Errors
    /// See [`Folder::rename`].
    pub fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        self.in_folder("renamed", from, |folder| folder.rename(from, to))
    }

    pub(crate) fn stream(&mut self, handle: u32) -> Result<Stream<'_>, Errno> {
        if handle == STANDARD[0] || handle == TERMINAL_INPUT {
            return Ok(Stream::Input(&mut self.input));
        }
        if handle < FIRST_OPEN_FILE {
            return Ok(Stream::Console);
        }
        match self.open_files.get_mut((handle - FIRST_OPEN_FILE) as usize) {
            Some(Some(OpenFile::File(file))) => Ok(Stream::File(file)),
            Some(Some(OpenFile::Features(position))) => Ok(Stream::Features(position)),
            _ => Err(Errno::BAD_HANDLE),
        }
    }

    /// The firmware has read its standard input.
    pub(crate) fn note_input(&mut self) {
        if matches!(self.input, Input::None) {
            self.note("semihosting: standard input is empty, as none is given (--stdin)".to_owned());
        }
    }

    /// A call had read part of an input, and then found nothing more.
    pub(crate) fn ended_call(&mut self, handle: u32) {
        if let Ok(Stream::Input(input)) = self.stream(handle) {
            input.ended_call();
        }
    }

    fn free_slot(&mut self) -> Result<usize, Errno> {
        if let Some(free) = self.open_files.iter().position(Option::is_none) {
            return Ok(free);
        }
        if self.open_files.len() == MOST_OPEN {
            return Err(Errno::TOO_MANY_FILES);
        }
        self.open_files.push(None);
        Ok(self.open_files.len() - 1)
    }

    fn keep(&mut self, file: OpenFile) -> Result<u32, Errno> {
        let slot = self.free_slot()?;
        self.open_files[slot] = Some(file);
        Ok(FIRST_OPEN_FILE + slot as u32)
    }

    /// Runs an operation in the folder; notes the reason of a refusal, if that is no ordinary error.
    fn in_folder<T>(
        &mut self,
        done: &str,
        path: &[u8],
        act: impl FnOnce(&Folder) -> Result<T, Refusal>,
    ) -> Result<T, Errno> {
        const NONE: Refusal =
            Refusal { errno: Errno::NO_ENTRY, reason: Some("no folder is given for files (--semihosting-dir)") };
        let result = self.folder.as_ref().ok_or(NONE).and_then(act);
        result.map_err(|refusal| {
            if let Some(reason) = refusal.reason {
                self.note(format!("semihosting: {} was not {done}: {reason}", shown(path)));
            }
            refusal.errno
        })
    }
}

/// A text of the firmware for a note: on one line, and not too long.
pub(crate) fn shown(text: &[u8]) -> String {
    let rest = if text.len() > SHOWN_BYTES { "..." } else { "" };
    let begin = &text[..text.len().min(SHOWN_BYTES)];
    format!("'{}{rest}'", String::from_utf8_lossy(begin).escape_debug())
}
