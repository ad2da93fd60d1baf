//! Error numbers as programs on the board know them: newlib's, which are the usual ones for common errors.

use crate::state::{Fresh, State};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Errno(pub u32);

impl Errno {
    /// No such file or folder.
    pub const NO_ENTRY: Errno = Errno(2);
    /// Input or output error.
    pub const IO: Errno = Errno(5);
    /// Bad handle.
    pub const BAD_HANDLE: Errno = Errno(9);
    /// Permission denied.
    pub const ACCESS: Errno = Errno(13);
    /// Bad address.
    pub const FAULT: Errno = Errno(14);
    /// Is a folder.
    pub const IS_FOLDER: Errno = Errno(21);
    /// Invalid argument.
    pub const INVALID: Errno = Errno(22);
    /// Too many open files.
    pub const TOO_MANY_FILES: Errno = Errno(24);
    /// File too large.
    pub const TOO_LARGE: Errno = Errno(27);
    /// Seek on something that has no position.
    pub const ILLEGAL_SEEK: Errno = Errno(29);
    /// Function not implemented.
    pub const NOT_THERE: Errno = Errno(88);
    /// Name too long.
    pub const NAME_TOO_LONG: Errno = Errno(91);
    /// Too many symbolic links.
    pub const TOO_MANY_LINKS: Errno = Errno(92);

    /// The number for one of the host's error numbers.
    fn of_host(raw: i32) -> Errno {
        match raw {
            1..=34 => Errno(raw.unsigned_abs()),
            _ if raw == rustix::io::Errno::NAMETOOLONG.raw_os_error() => Errno::NAME_TOO_LONG,
            _ if raw == rustix::io::Errno::LOOP.raw_os_error() => Errno::TOO_MANY_LINKS,
            _ => Errno::IO,
        }
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Errno {
        Errno::of_host(error.raw_os_error())
    }
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Errno {
        error.raw_os_error().map_or(Errno::IO, Errno::of_host)
    }
}
