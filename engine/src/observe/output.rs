//! What the firmware prints, from where it is printed to where the host takes it: on the console, and on lines of their
//! own.
//!
//! It is handed over soon, and before much has gathered, so a firmware that prints without end fills no memory, and the
//! simulation waits for a slow host. The moment of the hand-over changes nothing else: [`crate::machine`] lets the core
//! go on where it was.

use std::collections::BTreeMap;

use crate::dt::wiring::DeviceId;
use crate::state::State;
use crate::time::Cycles;

/// When the host gets what was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// At once, when so many bytes wait.
    pub bytes: usize,
    /// Else so many cycles of the first core after the first of them: not at each character, which would be slow.
    pub cycles: Cycles,
}

impl Default for HandOver {
    fn default() -> HandOver {
        HandOver { bytes: 64 << 10, cycles: Cycles(200_000) }
    }
}

/// Bytes that nobody has taken yet.
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
    /// Adds to the console. True if the machine has to look: these are the first bytes, or enough.
    pub fn print(&mut self, bytes: &[u8]) -> bool {
        self.console.extend_from_slice(bytes);
        self.count(bytes.len())
    }

    /// The same on a device's own line.
    pub fn print_on(&mut self, device: DeviceId, bytes: &[u8]) -> bool {
        self.streams.entry(device).or_default().extend_from_slice(bytes);
        self.count(bytes.len())
    }

    fn count(&mut self, bytes: usize) -> bool {
        let were_none = self.waiting_bytes == 0;
        self.waiting_bytes += bytes;
        bytes > 0 && (were_none || self.is_full())
    }

    /// True if so much waits that it has to be handed over at once.
    pub fn is_full(&self) -> bool {
        self.waiting_bytes >= self.hand_over.bytes
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting_bytes == 0
    }

    /// What was printed since the last call: on the console, and by device on lines of their own.
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
