//! The host's folder whose files the firmware may use: the firmware can reach nothing else.
//!
//! The firmware is not trusted. A path begins at the folder, with or without a slash, and `..` stays inside. A path is
//! walked a name at a time, from an open folder to the next, and symbolic links are resolved here and not by the host's
//! kernel: a link that leads out is refused. Only regular files are opened, so neither devices nor FIFOs are touched.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode};

use super::errno::Errno;

/// Maximum number of symbolic links on the path to one file, as in Linux.
const MOST_LINKS: usize = 40;
/// Longest valid path, as in Linux.
const LONGEST_PATH_BYTES: usize = 4096;
/// A new file's permissions, before the user's umask.
const NEW_FILE: RawMode = 0o666;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Each write goes to the end.
    pub append: bool,
    /// Create the file if it does not exist.
    pub create: bool,
    /// Empty the file if it exists.
    pub truncate: bool,
    /// Fail if the file exists (with `create`).
    pub exclusive: bool,
}

impl Opening {
    /// The mode of C's fopen for a mode number of semihosting: r, rb, r+, r+b, w, ... a+b.
    pub fn of_mode(mode: u32) -> Option<Opening> {
        let plus = mode & 2 != 0;
        match mode {
            0..=3 => Some(Opening { read: true, write: plus, ..Opening::default() }),
            4..=7 => Some(Opening { read: plus, write: true, create: true, truncate: true, ..Opening::default() }),
            8..=11 => Some(Opening { read: plus, write: true, create: true, append: true, ..Opening::default() }),
            _ => None,
        }
    }

    fn flags(self) -> OFlags {
        let access = match (self.read, self.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let mut flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        flags.set(OFlags::APPEND, self.append);
        flags.set(OFlags::CREATE, self.create);
        flags.set(OFlags::EXCL, self.create && self.exclusive);
        flags
    }
}

/// Why an operation in the folder is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error number that the firmware gets.
    pub errno: Errno,
    /// The reason for the user, if the firmware tried something forbidden.
    pub reason: Option<&'static str>,
}

const LEADS_OUT: Refusal = Refusal { errno: Errno::ACCESS, reason: Some("a symbolic link leads out of the folder") };
const NO_REGULAR_FILE: Refusal = Refusal { errno: Errno::ACCESS, reason: Some("it is no regular file") };

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal { errno, reason: None }
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Refusal {
        Errno::from(error).into()
    }
}

/// The folder.
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
}

/// The end of a path: a name in an existing folder. The name itself may not exist.
struct Entry {
    /// Its folder; `None` for the root.
    parent: Option<OwnedFd>,
    name: Vec<u8>,
}

/// A part of a path, and whether it comes from a symbolic link.
struct Part {
    name: Vec<u8>,
    of_link: bool,
}

impl Folder {
    /// The folder at a path of the host.
    ///
    /// # Errors
    /// If the folder does not exist, or can't be read.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder::new(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
    }

    /// The folder that is open as `root`.
    pub fn new(root: OwnedFd) -> Folder {
        Folder { root }
    }

    /// Opens a regular file.
    ///
    /// # Errors
    /// If it does not exist, is something else, or the host refuses.
    pub fn open_file(&self, path: &[u8], opening: Opening) -> Result<File, Refusal> {
        let entry = self.find(path, true)?;
        if let Ok(kind) = self.kind(&entry) {
            only_regular(kind)?;
        }
        let (parent, name) = (self.parent(&entry), OsStr::from_bytes(&entry.name));
        let fd = rustix::fs::openat(parent, name, opening.flags(), Mode::from_raw_mode(NEW_FILE))?;
        // It may have been replaced since.
        only_regular(FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode))?;
        if opening.truncate {
            rustix::fs::ftruncate(&fd, 0)?;
        }
        Ok(File::from(fd))
    }

    /// Removes a regular file, or a symbolic link itself.
    ///
    /// # Errors
    /// If it does not exist, is something else, or the host refuses.
    pub fn remove(&self, path: &[u8]) -> Result<(), Refusal> {
        let entry = self.find(path, false)?;
        only_replaceable(self.kind(&entry)?)?;
        Ok(rustix::fs::unlinkat(self.parent(&entry), OsStr::from_bytes(&entry.name), AtFlags::empty())?)
    }

    /// Renames a regular file, or a symbolic link itself. A file with the new name is replaced.
    ///
    /// # Errors
    /// If it does not exist, one of the two is something else, or the host refuses.
    pub fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Refusal> {
        let (from, to) = (self.find(from, false)?, self.find(to, false)?);
        only_replaceable(self.kind(&from)?)?;
        if let Ok(kind) = self.kind(&to) {
            only_replaceable(kind)?;
        }
        let names = (OsStr::from_bytes(&from.name), OsStr::from_bytes(&to.name));
        Ok(rustix::fs::renameat(self.parent(&from), names.0, self.parent(&to), names.1)?)
    }

    fn parent<'a>(&'a self, entry: &'a Entry) -> BorrowedFd<'a> {
        entry.parent.as_ref().unwrap_or(&self.root).as_fd()
    }

    fn kind(&self, entry: &Entry) -> Result<FileType, Refusal> {
        let name = OsStr::from_bytes(&entry.name);
        let stat = rustix::fs::statat(self.parent(entry), name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Walks to the end of a path. `follow_last`: a symbolic link there is followed.
    fn find(&self, path: &[u8], follow_last: bool) -> Result<Entry, Refusal> {
        if path.len() > LONGEST_PATH_BYTES {
            return Err(Errno::NAME_TOO_LONG.into());
        }
        let mut ahead = parts(path, false);
        let mut after: Vec<OwnedFd> = Vec::new();
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part.name == b".." {
                if after.pop().is_none() && part.of_link {
                    return Err(LEADS_OUT);
                }
                continue;
            }
            let here = after.last().unwrap_or(&self.root).as_fd();
            let last = ahead.is_empty();
            if let Some(target) = (follow_last || !last).then(|| link_at(here, &part.name)).flatten() {
                links += 1;
                if target.starts_with(b"/") {
                    return Err(LEADS_OUT);
                }
                if links > MOST_LINKS || ahead.len() + target.len() > LONGEST_PATH_BYTES {
                    return Err(Errno::TOO_MANY_LINKS.into());
                }
                ahead.extend(parts(&target, true));
            } else if last {
                return Ok(Entry { parent: after.pop(), name: part.name });
            } else {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                after.push(rustix::fs::openat(here, OsStr::from_bytes(&part.name), flags, Mode::empty())?);
            }
        }
        Err(Errno::IS_FOLDER.into())
    }
}

/// The parts of a path, in reverse order.
fn parts(path: &[u8], of_link: bool) -> Vec<Part> {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    let mut parts: Vec<Part> = names.map(|name| Part { name: name.to_vec(), of_link }).collect();
    parts.reverse();
    parts
}

/// The target of a symbolic link; `None` if the name is no symbolic link.
fn link_at(folder: BorrowedFd, name: &[u8]) -> Option<Vec<u8>> {
    let target = rustix::fs::readlinkat(folder, OsStr::from_bytes(name), Vec::new()).ok()?;
    Some(target.into_bytes())
}

fn only_regular(kind: FileType) -> Result<(), Refusal> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::IS_FOLDER.into()),
        _ => Err(NO_REGULAR_FILE),
    }
}

fn only_replaceable(kind: FileType) -> Result<(), Refusal> {
    if kind == FileType::Symlink { Ok(()) } else { only_regular(kind) }
}

#[cfg(test)]
mod tests;
