//! Decoded instructions in memories: where they came to be, and where they were written. Cores read both, each in its
//! own time.

use super::{Bus, Target};

use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};

/// Spans that are remembered: who is further behind knows nothing.
const SPANS: usize = 32;

/// Bytes at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct CodeSpan {
    /// Index into the bus's RAMs; of a device, [`CodeSpan::of_device`].
    pub ram: usize,
    /// The first byte, from the RAM's beginning, or from that of what the device shows.
    pub first: u32,
    /// The last byte.
    pub last: u32,
}

impl CodeSpan {
    /// Nothing: cores have to look at something else.
    pub const NOTHING: CodeSpan = CodeSpan { ram: usize::MAX - 1, first: 0, last: 0 };
    /// What is in no RAM, all of it, of all devices.
    pub const ELSEWHERE: CodeSpan = CodeSpan { ram: usize::MAX, first: 0, last: u32::MAX };
    /// The first number of a device.
    const DEVICES: usize = usize::MAX / 2;

    /// Bytes of what a device shows, by their offset in each of its ranges that shows them.
    pub const fn of_device(device: DeviceId, first: u32, last: u32) -> CodeSpan {
        CodeSpan { ram: CodeSpan::DEVICES + device.0 as usize, first, last }
    }

    /// True if it is in no RAM.
    pub const fn is_elsewhere(self) -> bool {
        self.ram >= CodeSpan::DEVICES && self.ram != CodeSpan::NOTHING.ram
    }
}

/// The last spans of which cores have to be told.
#[derive(Debug, State)]
pub struct CodeLog {
    /// Grows with each span.
    epoch: u64,
    spans: [CodeSpan; SPANS],
}

impl Default for CodeLog {
    fn default() -> CodeLog {
        CodeLog { epoch: 0, spans: [CodeSpan::ELSEWHERE; SPANS] }
    }
}

impl CodeLog {
    /// An epoch from which on nobody knows anything.
    pub const UNKNOWN: u64 = u64::MAX;

    /// How many spans there have been.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The next span.
    pub fn report(&mut self, span: CodeSpan) {
        self.spans[(self.epoch % SPANS as u64) as usize] = span;
        self.epoch += 1;
    }

    /// The spans since an epoch, the first ones first. `None` if they are not all remembered.
    pub fn since(&self, epoch: u64) -> Option<impl Iterator<Item = CodeSpan> + use<'_>> {
        let count = self.epoch.checked_sub(epoch).filter(|count| *count <= SPANS as u64)?;
        Some((self.epoch - count..self.epoch).map(|at| self.spans[(at % SPANS as u64) as usize]))
    }
}

impl Bus {
    /// Writes to a memory, without time; cores notice where that was decoded code.
    #[inline]
    pub(crate) fn write_ram(&mut self, ram: usize, offset: u32, bytes: &[u8]) {
        if self.rams[ram].write(offset, bytes) {
            let last = offset + (bytes.len() - 1) as u32;
            self.code_written.report(CodeSpan { ram, first: offset, last });
            self.see_write(ram, offset, last);
        }
    }

    /// The same of the low 1, 2 or 4 `bytes` of a number, at a multiple of them.
    #[inline(always)]
    pub(crate) fn put_in_ram(&mut self, ram: usize, offset: u32, bytes: u32, value: u32) {
        if self.rams[ram].put(offset, bytes, value) {
            self.code_written.report(CodeSpan { ram, first: offset, last: offset + (bytes - 1) });
            self.see_write(ram, offset, offset + (bytes - 1));
        }
    }

    /// Remembers that instructions at this span have been decoded: where that is.
    pub fn mark_code(&mut self, addr: u32, len: u32) -> CodeSpan {
        let Some((entry, first)) = self.span(addr, len as usize).filter(|_| len > 0) else {
            return CodeSpan::ELSEWHERE;
        };
        let ram = match self.map[entry].target {
            Target::Ram(ram) => ram,
            Target::Device(device, _) => return CodeSpan::of_device(device, first, first + (len - 1)),
        };
        let span = CodeSpan { ram, first, last: first + (len - 1) };
        if self.rams[ram].mark_code(first, len) {
            self.code_marked.report(span);
        }
        span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_too_far_after_knows_nothing() {
        let span = |first| CodeSpan { ram: 0, first, last: first + 1 };
        let mut log = CodeLog::default();
        (0..40).for_each(|at| log.report(span(2 * at)));
        assert_eq!(log.since(40).unwrap().count(), 0);
        assert_eq!(log.since(38).unwrap().collect::<Vec<_>>(), [span(76), span(78)]);
        assert_eq!(log.since(8).unwrap().next(), Some(span(16)));
        assert!(log.since(7).is_none() && log.since(CodeLog::UNKNOWN).is_none());
    }
}
