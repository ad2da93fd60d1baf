//! Transfers between the program's memory and the object of a handle.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::program_memory::{CHUNK_BYTES, Caller};
use crate::host::errno::Errno;
use crate::host::input::Got;
use crate::host::{FEATURES, Host, STANDARD, Stream, TERMINAL_INPUT};

/// How long a call waits for input before the machine checks for the user's requests again.
const PATIENCE_MS: u32 = 50;

/// Limit of bytes that one call prints; it returns the number to the program, which calls again for the rest. Output
/// stays in memory until the core stops.
const MOST_PRINTED_BYTES: u32 = 1 << 20;

impl Host {
    /// Reads up to `length` bytes, of a file at position `at` if given. Of standard input it takes the available bytes.
    ///
    /// # Errors
    /// If the handle is not open or not readable, the memory is not valid, or the host fails, before anything was read.
    pub fn read(
        &mut self,
        caller: &mut Caller,
        handle: u32,
        to: u32,
        length: u32,
        at: Option<u64>,
    ) -> Result<Got, Errno> {
        let mut chunk = vec![0; length.min(CHUNK_BYTES) as usize];
        let mut done = 0;
        while done < length {
            let wanted = (length - done).min(CHUNK_BYTES) as usize;
            let count = match self.read_some(handle, &mut chunk[..wanted], at.map(|at| at + u64::from(done))) {
                Ok(Got::Bytes(count)) => count,
                Ok(Got::Nothing) if done > 0 => {
                    self.ended_call(handle);
                    break;
                }
                Ok(Got::Nothing) => return Ok(Got::Nothing),
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            };
            match caller.write(to.wrapping_add(done), &chunk[..count]) {
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
                Ok(()) => done += count as u32,
            }
            if count < wanted {
                break;
            }
        }
        Ok(Got::Bytes(done as usize))
    }

    /// Reads at most as much as `into` takes.
    ///
    /// # Errors
    /// As [`Host::read`].
    pub fn read_some(&mut self, handle: u32, into: &mut [u8], at: Option<u64>) -> Result<Got, Errno> {
        let patience_ms = if self.waiting { PATIENCE_MS } else { 0 };
        let count = match (self.stream(handle)?, at) {
            (Stream::Input(input), None) => {
                let got = input.read(into, patience_ms)?;
                self.note_input();
                return Ok(got);
            }
            (Stream::File(file), None) => file.read(into)?,
            (Stream::File(file), Some(at)) => file.read_at(into, at)?,
            (Stream::Features(position), None) => {
                let rest = FEATURES.get(*position..).unwrap_or_default();
                let count = into.len().min(rest.len());
                into[..count].copy_from_slice(&rest[..count]);
                *position += count;
                count
            }
            _ => return Err(Errno::BAD_HANDLE),
        };
        Ok(Got::Bytes(count))
    }

    /// Writes bytes of the program's memory, to a file at position `at` if given. Returns the number of bytes, which is
    /// smaller after an error on the way. Files have them at once.
    ///
    /// # Errors
    /// If the handle is not open or not writable, the memory is not valid, or the host fails, before anything was
    /// written.
    pub fn write(
        &mut self,
        caller: &mut Caller,
        handle: u32,
        from: u32,
        length: u32,
        at: Option<u64>,
    ) -> Result<u32, Errno> {
        let length = match self.stream(handle)? {
            Stream::Console | Stream::Input(_) => length.min(MOST_PRINTED_BYTES),
            _ => length,
        };
        let mut chunk = vec![0; length.min(CHUNK_BYTES) as usize];
        let mut done = 0;
        loop {
            let some = &mut chunk[..(length - done).min(CHUNK_BYTES) as usize];
            let there = caller.read(from.wrapping_add(done), some);
            let place = at.map(|at| at + u64::from(done));
            match there.and_then(|()| self.write_some(caller, handle, some, place)) {
                Ok(count) => done += count,
                Err(_) if done > 0 => return Ok(done),
                Err(error) => return Err(error),
            }
            if done == length {
                return Ok(done);
            }
        }
    }

    fn write_some(&mut self, caller: &mut Caller, handle: u32, some: &[u8], at: Option<u64>) -> Result<u32, Errno> {
        match (self.stream(handle)?, at) {
            // A terminal opened for reading can be written, too.
            (Stream::Console | Stream::Input(_), None) => caller.bus.print(some),
            (Stream::File(file), None) => file.write_all(some)?,
            (Stream::File(file), Some(at)) => file.write_all_at(some, at)?,
            _ => return Err(Errno::BAD_HANDLE),
        }
        Ok(some.len() as u32)
    }

    /// Moves the position for reads and writes in a file; returns the new one.
    ///
    /// # Errors
    /// If the handle is not open, or has no position.
    pub fn seek(&mut self, handle: u32, to: SeekFrom) -> Result<u64, Errno> {
        match self.stream(handle)? {
            Stream::File(file) => Ok(file.seek(to)?),
            Stream::Features(position) => {
                let (from, by) = match to {
                    SeekFrom::Start(from) => (i64::try_from(from).unwrap_or(i64::MAX), 0),
                    SeekFrom::Current(by) => (*position as i64, by),
                    SeekFrom::End(by) => (FEATURES.len() as i64, by),
                };
                let place = u32::try_from(from.saturating_add(by)).map_err(|_| Errno::INVALID)?;
                *position = place as usize;
                Ok(u64::from(place))
            }
            Stream::Input(_) | Stream::Console => Err(Errno::ILLEGAL_SEEK),
        }
    }

    /// Length of a file; 0 for the console, so that C libraries do not take it for missing.
    ///
    /// # Errors
    /// If the handle is not open.
    pub fn length(&mut self, handle: u32) -> Result<u64, Errno> {
        match self.stream(handle)? {
            Stream::File(file) => Ok(file.metadata()?.len()),
            Stream::Features(_) => Ok(FEATURES.len() as u64),
            Stream::Input(_) | Stream::Console => Ok(0),
        }
    }

    /// True for the console and standard input, whatever its source.
    ///
    /// # Errors
    /// If the handle is not open.
    pub fn is_terminal(&mut self, handle: u32) -> Result<bool, Errno> {
        self.stream(handle)?;
        Ok(STANDARD.contains(&handle) || handle == TERMINAL_INPUT)
    }
}
