//! The connection to a client: a socket, or a pair of pipes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gdbstub::conn::Connection;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long a client may take to read, before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection on which bytes are read and written.
#[derive(Debug)]
pub struct Link {
    input: OwnedFd,
    output: OwnedFd,
    received: VecDeque<u8>,
    is_closed: bool,
    unsent: Vec<u8>,
    refused: Arc<AtomicBool>,
}

/// The answer to a monitor command that was done, and the answer to one that was not.
const OK: &[u8] = b"$OK#9a";
const REFUSED: &[u8] = b"$E01#a6";

impl Link {
    /// A connection from the descriptor that is read and the one that is written, which may be of the same socket.
    pub fn new(input: OwnedFd, output: OwnedFd) -> Link {
        let (received, refused) = (VecDeque::new(), Arc::default());
        Link { input, output, received, is_closed: false, unsent: Vec::new(), refused }
    }

    /// While `refused` is set, the last command is answered as not done: gdbstub itself answers every monitor command
    /// as done.
    pub fn refuse_by(&mut self, refused: Arc<AtomicBool>) {
        self.refused = refused;
    }

    /// The next byte, if one has arrived.
    pub fn take_byte(&mut self) -> Option<u8> {
        self.received.pop_front()
    }

    /// True if a byte has arrived, or the client has gone, within `wait`.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn has_news(&mut self, wait: Duration) -> io::Result<bool> {
        if !self.received.is_empty() || self.is_closed {
            return Ok(true);
        }
        if !is_ready(&self.input, PollFlags::IN, wait)? {
            return Ok(false);
        }
        let mut bytes = [0; 4096];
        match rustix::io::read(&self.input, &mut bytes) {
            Ok(0) => self.is_closed = true,
            Ok(count) => self.received.extend(&bytes[..count]),
            Err(Errno::INTR | Errno::AGAIN) => return Ok(false),
            Err(Errno::CONNRESET | Errno::PIPE) => self.is_closed = true,
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// True if the client has gone, and everything that it sent was taken.
    pub fn is_over(&self) -> bool {
        self.is_closed && self.received.is_empty()
    }

    /// Sends a packet of console output, which a client shows while the machine runs.
    ///
    /// # Errors
    /// As for [`Connection::flush`].
    pub fn send_output(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Packets are short enough for any client.
        for part in bytes.chunks(512) {
            let body: String = std::iter::once("O".to_owned()).chain(part.iter().map(|b| format!("{b:02x}"))).collect();
            let sum = body.bytes().fold(0u8, u8::wrapping_add);
            self.unsent.extend(format!("${body}#{sum:02x}").bytes());
        }
        self.flush()
    }
}

impl Connection for Link {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.unsent.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.unsent.ends_with(OK) && self.refused.swap(false, Ordering::Relaxed) {
            self.unsent.truncate(self.unsent.len() - OK.len());
            self.unsent.extend(REFUSED);
        }
        let mut left = self.unsent.as_slice();
        while !left.is_empty() {
            if !is_ready(&self.output, PollFlags::OUT, PATIENCE)? {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing"));
            }
            // A pipe that is ready takes this many bytes without blocking.
            match rustix::io::write(&self.output, &left[..left.len().min(512)]) {
                Ok(count) => left = &left[count..],
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.unsent.clear();
        Ok(())
    }
}

fn is_ready(file: &OwnedFd, events: PollFlags, wait: Duration) -> io::Result<bool> {
    let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
    match poll(&mut [PollFd::new(file, events)], Some(&timeout)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
