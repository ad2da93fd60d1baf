//! Replaces an image's contents as a whole: a crash at any time leaves either the old file or the new one.
//!
//! A second file in the same folder, with the owner and the mode of the old one, is renamed at the end. Where that is
//! not possible (a folder of another user, a file that is mounted alone, a block device), the image itself is written.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{HostImage, ImageError, Taken, folder_of, is_same};

const BUFFER_BYTES: usize = 1 << 16;

/// Writes all contents.
pub type Contents<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

impl HostImage {
    /// Replaces the contents of the image, which has been taken.
    ///
    /// # Errors
    /// [`ImageError::Unchanged`] and [`ImageError::Damaged`].
    pub fn replace(&mut self, contents: Contents) -> Result<(), ImageError> {
        let not_taken = || ImageError::Unchanged(io::Error::other("the run does not have it"));
        let taken = self.taken.as_mut().ok_or_else(not_taken)?;
        let Some(real) = taken.real.as_deref().filter(|_| taken.file.metadata().is_ok_and(|found| found.is_file()))
        else {
            return write_in_place(&taken.file, contents);
        };
        if real.symlink_metadata().is_ok() && !is_same(&taken.file, real) {
            let reason = "another one has been put in its place during the run";
            return Err(ImageError::Unchanged(io::Error::other(reason)));
        }
        match write_beside(taken, real, contents) {
            Err(Obstacle::Beside(_)) if is_same(&taken.file, real) => write_in_place(&taken.file, contents)?,
            Err(Obstacle::Beside(error) | Obstacle::Contents(error)) => return Err(ImageError::Unchanged(error)),
            Ok(()) => {}
        }
        taken.is_new = false;
        Ok(())
    }
}

/// The obstacle to replacing a file.
enum Obstacle {
    /// No second file can be created, or renamed to the old one.
    Beside(io::Error),
    /// The contents could not be written, for example on a full disk.
    Contents(io::Error),
}

fn write_beside(taken: &Taken, real: &Path, contents: Contents) -> Result<(), Obstacle> {
    let mut scratch = Scratch::beside(real, 0o600).map_err(Obstacle::Beside)?;
    scratch.fill(contents).and_then(|()| scratch.look_like(&taken.file)).map_err(Obstacle::Contents)?;
    scratch.rename(real).map_err(Obstacle::Beside)
}

fn write_in_place(file: &File, contents: Contents) -> Result<(), ImageError> {
    let write = || {
        let mut file = file;
        file.seek(SeekFrom::Start(0))?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        contents(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let end = file.stream_position()?;
        if file.metadata()?.is_file() {
            file.set_len(end)?;
        }
        file.sync_all()
    };
    write().map_err(ImageError::Damaged)
}

/// A file that is removed at the end, unless it is renamed.
pub(super) struct Scratch {
    file: File,
    path: Option<PathBuf>,
}

impl Scratch {
    /// Creates an empty file in the folder of `path` (renames do not cross file systems), with a unique name.
    ///
    /// # Errors
    /// The host's error.
    pub fn beside(path: &Path, mode: u32) -> io::Result<Scratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder_of(path).join(format!(".cyclescope-{}-{number}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
                Ok(file) => return Ok(Scratch { file, path: Some(path) }),
                // A file of a killed process with the same process number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn fill(&self, contents: Contents) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, &self.file);
        contents(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    /// Takes another file's owner, where that is permitted, and its mode.
    fn look_like(&self, other: &File) -> io::Result<()> {
        let (own, other) = (self.file.metadata()?, other.metadata()?);
        if (own.uid(), own.gid()) != (other.uid(), other.gid()) {
            let _ = fchown(&self.file, Some(other.uid()), Some(other.gid()))
                .or_else(|_| fchown(&self.file, None, Some(other.gid())));
        }
        self.file.set_permissions(Permissions::from_mode(other.mode() & 0o7777))
    }

    /// Renames it to `target`.
    fn rename(&mut self, target: &Path) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        fs::rename(path, target)?;
        self.path = None;
        // Makes the rename durable, where the file system can do that; the contents are safe either way.
        if let Ok(folder) = File::open(folder_of(target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Best effort: the image itself is not touched.
            let _ = fs::remove_file(path);
        }
    }
}
