//! A byte pipe between a device of the board and the host: a program on the host writes to the board's serial port, and
//! reads from it.
//!
//! The host's bytes arrive at a time that the host chooses (`Machine::feed`), those of the firmware
//! leave at the time of the access that sent them; so the traffic of a pipe is as deterministic as the rest of a run.

use std::collections::VecDeque;

use crate::state::{Fresh, State};
use crate::time::Ps;

/// Limit of bytes from the firmware that the host has not fetched: the run pauses there.
const FULL_BYTES: usize = 64 << 10;

/// A condition that the host waits for; the machine pauses when it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Goal {
    /// The firmware receives bytes.
    Open,
    /// The firmware has processed this many bytes since the start.
    Taken(u64),
    /// The firmware has sent this many bytes since the start.
    Sent(u64),
}

/// The state of the pipe, between the host and the device.
#[derive(Debug, Default, State)]
pub struct Pipe {
    /// Bytes from the host that the firmware has not got yet.
    waiting: VecDeque<u8>,
    taken_bytes: u64,
    /// Bytes from the firmware that the host has not fetched yet.
    outgoing: Vec<u8>,
    sent_bytes: u64,
    open: bool,
    /// The host has waited for a goal, so it will fetch bytes.
    attended: bool,
    goal: Option<Goal>,
    reached: Option<Ps>,
}

impl Pipe {
    /// The host writes bytes. The device is notified by an event.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
    }

    /// The host fetches the bytes that the firmware sent since the last call.
    pub fn drain(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outgoing)
    }

    /// Bytes that the firmware has processed, since the start.
    pub fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// Bytes that the firmware has sent, since the start.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Bytes from the host that have not reached the firmware's memory yet.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// The host waits for `goal`, or for nothing. True if the goal is met already.
    pub fn wait_for(&mut self, goal: Option<Goal>) -> bool {
        (self.goal, self.reached, self.attended) = (goal, None, true);
        self.is_there()
    }

    /// When the goal of [`Pipe::wait_for`] was reached, by an access or event since that call.
    pub fn reached(&self) -> Option<Ps> {
        self.reached
    }

    /// For the device: takes up to `most` bytes, which go to the firmware's memory now.
    pub fn deliver(&mut self, most: usize) -> Vec<u8> {
        let count = most.min(self.waiting.len());
        self.waiting.drain(..count).collect()
    }

    /// For the device: the firmware receives bytes from `now` on, or no longer. True if the run has to pause.
    pub fn set_open(&mut self, open: bool, now: Ps) -> bool {
        self.open = open;
        self.check(now)
    }

    /// For the device: the firmware has processed `bytes` more bytes at `now`. True if the run has to pause.
    pub fn took(&mut self, bytes: u64, now: Ps) -> bool {
        self.taken_bytes += bytes;
        self.check(now)
    }

    /// For the device: the firmware sent bytes at `now`. True if the run has to pause. In a run without a host at the
    /// other end they are dropped.
    pub fn send(&mut self, bytes: &[u8], now: Ps) -> bool {
        self.sent_bytes += bytes.len() as u64;
        if self.attended {
            self.outgoing.extend_from_slice(bytes);
        }
        self.check(now) || self.outgoing.len() >= FULL_BYTES
    }

    fn check(&mut self, now: Ps) -> bool {
        let news = self.reached.is_none() && self.is_there();
        if news {
            self.reached = Some(now);
        }
        news
    }

    fn is_there(&self) -> bool {
        self.goal.is_some_and(|goal| match goal {
            Goal::Open => self.open,
            Goal::Taken(bytes) => self.taken_bytes >= bytes,
            Goal::Sent(bytes) => self.sent_bytes >= bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_order_and_are_counted_when_the_firmware_is_done() {
        let mut pipe = Pipe::default();
        pipe.feed(b"abc");
        pipe.feed(b"de");
        assert_eq!((pipe.deliver(4), pipe.waiting_bytes(), pipe.taken_bytes()), (b"abcd".to_vec(), 1, 0));
        assert!(!pipe.took(4, Ps(1)));
        assert_eq!((pipe.deliver(9), pipe.taken_bytes()), (b"e".to_vec(), 4));
    }

    #[test]
    fn a_goal_is_reached_once_at_the_time_of_the_byte_that_was_missing() {
        let mut pipe = Pipe::default();
        assert!(!pipe.wait_for(Some(Goal::Sent(3))));
        assert!(!pipe.send(b"ab", Ps(10)));
        assert!(pipe.send(b"cd", Ps(20)));
        assert!(!pipe.send(b"e", Ps(30)));
        assert_eq!((pipe.reached(), pipe.sent_bytes(), pipe.drain()), (Some(Ps(20)), 5, b"abcde".to_vec()));
        assert!(pipe.wait_for(Some(Goal::Sent(5))));
        assert!(!pipe.wait_for(Some(Goal::Taken(1))));
        assert!(pipe.took(1, Ps(40)));
        assert_eq!(pipe.reached(), Some(Ps(40)));
        assert!(!pipe.wait_for(Some(Goal::Open)));
        assert!(pipe.set_open(true, Ps(50)));
        assert!(!pipe.set_open(false, Ps(60)) && !pipe.wait_for(Some(Goal::Open)));
    }

    #[test]
    fn a_run_pauses_when_nobody_fetches_what_the_firmware_sends() {
        let mut pipe = Pipe::default();
        pipe.wait_for(None);
        assert!(!pipe.send(&[0; FULL_BYTES - 1], Ps(1)));
        assert!(pipe.send(&[0], Ps(2)));
        assert_eq!((pipe.reached(), pipe.drain().len()), (None, FULL_BYTES));
        assert!(!pipe.send(&[0], Ps(3)));
    }

    #[test]
    fn what_is_sent_to_nobody_is_lost() {
        let mut pipe = Pipe::default();
        assert!(!pipe.send(&[0; FULL_BYTES], Ps(1)));
        assert_eq!((pipe.sent_bytes(), pipe.drain()), (FULL_BYTES as u64, Vec::new()));
    }
}
