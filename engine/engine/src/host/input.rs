//! The firmware's standard input.

use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::recorded::Recorded;

/// The source of the input.
#[derive(Debug, Default)]
pub enum Input {
    /// No input: it is at its end from the start.
    #[default]
    None,
    /// Bytes given at the start, and how many of them have been read.
    Bytes(Vec<u8>, usize),
    /// A file, terminal or pipe of the host's that the user named.
    File(Recorded),
}

/// The result of an attempt to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// This many bytes; 0 at the end.
    Bytes(usize),
    /// No byte has come yet.
    Nothing,
}

impl Input {
    /// Reads available bytes, and waits up to `patience_ms` for the first one.
    ///
    /// # Errors
    /// The host's error.
    pub fn read(&mut self, into: &mut [u8], patience_ms: u32) -> io::Result<Got> {
        match self {
            Input::None => Ok(Got::Bytes(0)),
            Input::Bytes(bytes, taken) => {
                let count = into.len().min(bytes.len() - *taken);
                into[..count].copy_from_slice(&bytes[*taken..*taken + count]);
                *taken += count;
                Ok(Got::Bytes(count))
            }
            Input::File(file) => file.read(into, patience_ms),
        }
    }

    /// A read found nothing, which ended a call that had read something before.
    pub fn ended_call(&mut self) {
        if let Input::File(file) = self {
            file.ended_call();
        }
    }
}

/// True if a read would not wait: it would return bytes, the end, or an error.
pub(super) fn is_ready(file: &File, patience_ms: u32) -> io::Result<bool> {
    let timeout =
        Timespec { tv_sec: i64::from(patience_ms / 1000), tv_nsec: i64::from(patience_ms % 1000) * 1_000_000 };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn is_no_failure(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn bytes_come_in_their_order_and_end() {
        let mut input = Input::Bytes(b"abc".to_vec(), 0);
        let mut into = [0; 2];
        assert_eq!((input.read(&mut into, 0).unwrap(), into), (Got::Bytes(2), *b"ab"));
        assert_eq!((input.read(&mut into, 0).unwrap(), into[0]), (Got::Bytes(1), b'c'));
        assert_eq!(input.read(&mut into, 0).unwrap(), Got::Bytes(0));
        assert_eq!(Input::None.read(&mut into, 0).unwrap(), Got::Bytes(0));
    }

    #[test]
    fn a_pipe_is_waited_for_and_ends() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (mut input, mut writer) = (Input::File(Recorded::new(reader.into())), File::from(writer));
        let mut into = [0; 8];
        assert_eq!(input.read(&mut into, 1).unwrap(), Got::Nothing);
        writer.write_all(b"xy").unwrap();
        assert_eq!((input.read(&mut into, 1).unwrap(), &into[..2]), (Got::Bytes(2), &b"xy"[..]));
        drop(writer);
        assert_eq!(input.read(&mut into, 1).unwrap(), Got::Bytes(0));
    }
}
