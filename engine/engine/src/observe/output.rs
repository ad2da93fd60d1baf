//! Output of the firmware, from the print to the hand-over to the host: on the console, and on lines of devices.
//!
//! Output is handed over soon and in small amounts. So a firmware that prints without end fills no memory, and the
//! simulation waits for a slow host. The time of the hand-over changes nothing else: the machine resumes the
//! core where it was.

use std::collections::BTreeMap;

use crate::dt::wiring::DeviceId;
use crate::state::State;
use crate::time::Cycles;

/// When the output is handed over to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// At once, when this many bytes wait.
    pub bytes: usize,
    /// Otherwise this many cycles of the first core after the first byte: a hand-over of each character would be slow.
    pub cycles: Cycles,
}

impl Default for HandOver {
    fn default() -> HandOver {
        HandOver { bytes: 64 << 10, cycles: Cycles(200_000) }
    }
}

/// Output that the host has not taken yet.
#[derive(Debug, Default, State)]
pub struct Output {
    console: Vec<u8>,
    streams: BTreeMap<DeviceId, Vec<u8>>,
    waiting_bytes: usize,
    /// See [`HandOver`].
    #[state(skip)]
    pub hand_over: HandOver,
}

impl Output {
    /// Adds to the console. True if the machine has to check for a hand-over: these are the first bytes, or enough.
    pub fn print(&mut self, bytes: &[u8]) -> bool {
        self.console.extend_from_slice(bytes);
        self.count(bytes.len())
    }

    /// Adds to a device's own line; see [`Output::print`].
    pub fn print_on(&mut self, device: DeviceId, bytes: &[u8]) -> bool {
        self.streams.entry(device).or_default().extend_from_slice(bytes);
        self.count(bytes.len())
    }

    fn count(&mut self, bytes: usize) -> bool {
        let were_none = self.waiting_bytes == 0;
        self.waiting_bytes += bytes;
        bytes > 0 && (were_none || self.is_full())
    }

    /// True if enough waits to be handed over at once.
    pub fn is_full(&self) -> bool {
        self.waiting_bytes >= self.hand_over.bytes
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting_bytes == 0
    }

    /// Takes the output since the last call: on the console, and by device on lines of their own.
    pub fn take(&mut self) -> (Vec<u8>, BTreeMap<DeviceId, Vec<u8>>) {
        self.waiting_bytes = 0;
        (std::mem::take(&mut self.console), std::mem::take(&mut self.streams))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_looks_at_the_first_byte_and_when_there_are_enough() {
        let hand_over = HandOver { bytes: 4, ..HandOver::default() };
        let mut output = Output { hand_over, ..Output::default() };
        assert!(!output.print(b"") && output.is_empty());
        assert!(output.print(b"a"));
        assert!(!output.print_on(DeviceId(3), b"b") && !output.print(b"c") && !output.is_full());
        assert!(output.print_on(DeviceId(3), b"d") && output.is_full());
        let (console, streams) = output.take();
        assert_eq!((console, streams), (b"ac".to_vec(), BTreeMap::from([(DeviceId(3), b"bd".to_vec())])));
        assert!(output.is_empty() && output.print(b"e"));
    }
}
