//! Files on the host with the contents of chips ("images"): which files are valid, and how a run locks them.
//!
//! A board names an image by its path (`cyclescope,image`). Reading the board only inspects the file, so that
//! describing a board, or making one to run it later, disturbs no other run. When a run begins it takes the image
//! ([`HostImage::take`]): from then to the run's end it is locked, so that no other run has it, in this process or
//! another. [`replace`] replaces the contents as a whole.
//!
//! Only regular files and block devices are images. Others are refused without being opened: opening a FIFO would wait
//! for its other end.

mod replace;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::dt::fault::{BoardFault, FaultKind};
use crate::dt::node::Location;
use crate::dt::reader::NodeReader;

const PROPERTY: &str = "cyclescope,image";
/// Meaning of the property.
pub const MEANING: &str = "a file of the host that has what the chip stores: a path, or empty for none";
/// A note on an image that is not locked.
pub const NOT_LOCKED: &str = "the image's file system has no locks: another run may write it as well";
/// How often another run may replace the file while this one takes it.
const MOST_TRIES: usize = 100;
/// How many links the system itself follows.
const MOST_LINKS: usize = 40;

/// A chip's accesses to its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is only read. Any number of runs may do that at once.
    ReadOnly,
    /// It must exist, and is written a block at a time.
    InPlace,
    /// It is replaced as a whole at the end of a run, and need not exist before.
    Replaced,
}

/// Why an image can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It could not be opened.
    #[error("it cannot be opened: {0}")]
    Open(io::Error),
    /// It could be opened, but only for reading.
    #[error("it cannot be written: {0}; give the run a copy of it")]
    NotWritable(io::Error),
    /// It is neither a regular file nor a block device.
    #[error("it is {0}; an image is a regular file or a block device")]
    Kind(&'static str),
    /// It does not exist, and neither does its folder.
    #[error("its folder does not exist: make it first")]
    NoFolder,
    /// It does not exist, and can't be made.
    #[error("it cannot be made there: {0}")]
    NotMade(io::Error),
    /// It could not be read.
    #[error("it cannot be read: {0}")]
    Read(io::Error),
    /// It is longer than the chip.
    #[error("it has {bytes} bytes, the flash {size_bytes}")]
    TooLong {
        /// Size of the file.
        bytes: u64,
        /// Size of the chip.
        size_bytes: u64,
    },
    /// It has no whole number of blocks.
    #[error("it has {0} bytes; an image is a multiple of 512, and not empty")]
    Size(u64),
    /// It has another size than when the board was made.
    #[error("it had {before_bytes} bytes when the board was made, and has {bytes} now")]
    Resized {
        /// Size when the board was made.
        before_bytes: u64,
        /// Present size.
        bytes: u64,
    },
    /// Another run has it.
    #[error("another run has it: wait for its end, or give each run an image of its own")]
    Taken,
    /// Another chip of the board has it.
    #[error("{other} has it, too: each chip needs an image of its own")]
    Shared {
        /// That chip's label.
        other: String,
    },
    /// It could not be locked.
    #[error("it cannot be locked: {0}")]
    Lock(io::Error),
    /// It could not be replaced, and is unchanged since the run began.
    #[error("could not be written and is as before: {0}")]
    Unchanged(io::Error),
    /// It could not be written, or only partly.
    #[error("could not be written, and may hold a part of the contents: {0}")]
    Damaged(io::Error),
    /// The firmware's write could not be done during the run.
    #[error("could not be {what} during the run: {error}")]
    DuringRun {
        /// "written", "read", ...
        what: &'static str,
        /// The host's reason.
        error: String,
    },
}

/// Identity of an image: two paths with the same one are the same image.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    File {
        device: u64,
        inode: u64,
    },
    BlockDevice(u64),
    /// A file that does not exist yet, in a folder that does.
    New {
        device: u64,
        inode: u64,
        name: OsString,
    },
}

/// An image that a run has locked.
#[derive(Debug)]
struct Taken {
    file: File,
    /// The path after resolving links; `None` if no path leads to the file.
    real: Option<PathBuf>,
    /// The run created it, empty, to lock it; if nothing is written to it, it is removed again.
    is_new: bool,
}

/// The image of a chip.
#[derive(Debug)]
pub struct HostImage {
    path: PathBuf,
    access: Access,
    label: String,
    node: String,
    at: Location,
    taken: Option<Taken>,
}

impl HostImage {
    /// The image that a node names (an empty path is no image), and its file if it exists already. An invalid path is a
    /// fault of the board, and gives no image.
    pub fn from_node(reader: &mut NodeReader, access: Access) -> Option<(HostImage, Option<File>)> {
        let path = reader.string(PROPERTY, MEANING).filter(|path| !path.is_empty())?;
        let at = reader.node.property(PROPERTY).map_or(&reader.node.at, |property| &property.at).clone();
        let (label, node) = (reader.node.label().to_owned(), reader.node.name.clone());
        let image = HostImage { path: PathBuf::from(path), access, label, node, at, taken: None };
        match image.look() {
            Ok(file) => Some((image, file)),
            Err(error) => {
                reader.fault_at(PROPERTY, image.fault(&error).kind);
                None
            }
        }
    }

    /// The path as the board names it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The chip's label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// An error as a fault of the board, at the line that names the image.
    pub fn fault(&self, error: &ImageError) -> BoardFault {
        let (property, value) = (PROPERTY.to_owned(), self.path.display().to_string());
        let kind = FaultKind::OutOfRange { property, value, allowed: error.to_string() };
        BoardFault { at: self.at.clone(), node: self.node.clone(), kind }
    }

    /// The sentence about an error at the end of a run.
    pub fn failure(&self, error: &ImageError) -> String {
        format!("{}: {} {error}", self.label, self.path.display())
    }

    /// True if `other` is the same file, and one of both chips writes it.
    pub fn clashes_with(&self, other: &HostImage) -> bool {
        let both_read = self.access == Access::ReadOnly && other.access == Access::ReadOnly;
        !both_read && matches!((self.identity(), other.identity()), (Ok(one), Ok(another)) if one == another)
    }

    /// Takes the image for a run: no other run gets it until [`HostImage::release`]. A missing file is created, empty.
    /// Returns the file, and false if its file system has no locks.
    ///
    /// # Errors
    /// [`ImageError::Taken`] if another run has it, and the errors of a file that is no image.
    pub fn take(&mut self) -> Result<(&File, bool), ImageError> {
        self.release();
        for _ in 0..MOST_TRIES {
            let (file, is_new) = match self.look()? {
                Some(file) => (file, false),
                None => match self.make()? {
                    Some(file) => (file, true),
                    None => continue,
                },
            };
            let lock = if self.access == Access::ReadOnly { file.try_lock_shared() } else { file.try_lock() };
            let is_locked = match lock {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => return Err(ImageError::Taken),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => false,
                Err(TryLockError::Error(error)) => return Err(ImageError::Lock(error)),
            };
            // A run that has just ended may have replaced the file.
            if !is_same(&file, &self.path) {
                continue;
            }
            let real = real_path(&self.path).ok().filter(|real| is_same(&file, real));
            let taken = self.taken.insert(Taken { file, real, is_new });
            return Ok((&taken.file, is_locked));
        }
        Err(ImageError::Taken)
    }

    /// Lets others have the image. A file that was created and never written is removed.
    pub fn release(&mut self) {
        self.taken = None;
    }

    /// Checks the path, and opens the file as the chip uses it; `None` for a file that does not exist and can be
    /// created. Changes nothing.
    fn look(&self) -> Result<Option<File>, ImageError> {
        match fs::metadata(&self.path) {
            Ok(metadata) => {
                check_kind(&metadata)?;
                let file = self.open()?;
                // The path may lead to another file by now.
                check_kind(&file.metadata().map_err(ImageError::Open)?)?;
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.access == Access::Replaced => {
                self.check_place()?;
                Ok(None)
            }
            Err(error) => Err(ImageError::Open(error)),
        }
    }

    fn open(&self) -> Result<File, ImageError> {
        let writes = self.access != Access::ReadOnly;
        OpenOptions::new().read(true).write(writes).open(&self.path).map_err(|error| {
            let can_be_read = writes && File::open(&self.path).is_ok();
            if can_be_read { ImageError::NotWritable(error) } else { ImageError::Open(error) }
        })
    }

    /// Checks that a file can be created at the path.
    fn check_place(&self) -> Result<(), ImageError> {
        let real = real_path(&self.path).map_err(|_| ImageError::NoFolder)?;
        if self.path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ImageError::NoFolder);
        }
        // Creates a file to find the system's errors early, as permissions alone do not show them.
        replace::Scratch::beside(&real, 0o600).map(drop).map_err(ImageError::NotMade)
    }

    /// Creates the file; `None` if it exists by now.
    fn make(&self) -> Result<Option<File>, ImageError> {
        let real = real_path(&self.path).map_err(ImageError::NotMade)?;
        match OpenOptions::new().read(true).write(true).create_new(true).open(real) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(ImageError::NotMade(error)),
        }
    }

    fn identity(&self) -> io::Result<Identity> {
        match fs::metadata(&self.path) {
            Ok(found) if found.file_type().is_block_device() => Ok(Identity::BlockDevice(found.rdev())),
            Ok(found) => Ok(Identity::File { device: found.dev(), inode: found.ino() }),
            Err(_) => {
                let real = real_path(&self.path)?;
                let folder = fs::metadata(folder_of(&real))?;
                let name = real.file_name().unwrap_or_default().to_owned();
                Ok(Identity::New { device: folder.dev(), inode: folder.ino(), name })
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let is_empty = || self.file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if let Some(real) = &self.real
            && self.is_new
            && is_same(&self.file, real)
            && is_empty()
        {
            // Best effort: an empty file is an erased flash, as a missing one is.
            let _ = fs::remove_file(real);
        }
        // The chip may still have the same file open.
        let _ = self.file.unlock();
    }
}

/// Size of an image in bytes, also of a block device.
///
/// # Errors
/// The host's error.
pub fn size_bytes(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let mut file = file;
    file.seek(SeekFrom::End(0))
}

/// All bytes of an image, at most `most_bytes`.
///
/// # Errors
/// [`ImageError::Read`] and [`ImageError::TooLong`].
pub fn read(file: &File, most_bytes: u64) -> Result<Vec<u8>, ImageError> {
    let bytes = size_bytes(file).map_err(ImageError::Read)?;
    if bytes > most_bytes {
        return Err(ImageError::TooLong { bytes, size_bytes: most_bytes });
    }
    let mut file = file;
    let mut contents = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.take(bytes).read_to_end(&mut contents))
        .map_err(ImageError::Read)?;
    Ok(contents)
}

fn check_kind(metadata: &Metadata) -> Result<(), ImageError> {
    let kind = metadata.file_type();
    Err(ImageError::Kind(match () {
        () if kind.is_file() || kind.is_block_device() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_char_device() => "a character device",
        () if kind.is_socket() => "a socket",
        () => "something else",
    }))
}

/// True if the path leads to the file.
fn is_same(file: &File, path: &Path) -> bool {
    let place = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let places = file.metadata().map(place).ok().zip(fs::metadata(path).map(place).ok());
    places.is_some_and(|(one, other)| one == other)
}

/// The path after resolving links, also of a file that does not exist yet. The folder must exist.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => {
                let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
                let folder = fs::canonicalize(folder_of(&path))?;
                if !folder.is_dir() {
                    return Err(io::ErrorKind::NotADirectory.into());
                }
                return Ok(folder.join(name));
            }
        }
    }
    Err(io::Error::other("too many links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
