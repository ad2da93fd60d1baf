//! Decoded instructions in memories: where they were decoded, and where they were overwritten. Each core reads both
//! logs at its own time.

use super::{Bus, Target};

use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};

/// Spans that the log keeps: a core that has missed more has to drop everything.
const SPANS: usize = 32;

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct CodeSpan {
    /// Index into the bus's RAMs; for a device, [`CodeSpan::of_device`].
    pub ram: usize,
    /// The first byte, from the start of the RAM, or of the device's contents.
    pub first: u32,
    /// The last byte.
    pub last: u32,
}

impl CodeSpan {
    /// An empty span: cores have to check something else.
    pub const NOTHING: CodeSpan = CodeSpan { ram: usize::MAX - 1, first: 0, last: 0 };
    /// All bytes outside the RAMs, of all devices.
    pub const ELSEWHERE: CodeSpan = CodeSpan { ram: usize::MAX, first: 0, last: u32::MAX };
    /// The first number of a device.
    const DEVICES: usize = usize::MAX / 2;

    /// Bytes of a device's contents, by their offset in each of its ranges that shows them.
    pub const fn of_device(device: DeviceId, first: u32, last: u32) -> CodeSpan {
        CodeSpan { ram: CodeSpan::DEVICES + device.0 as usize, first, last }
    }

    /// True if it is not in a RAM.
    pub const fn is_elsewhere(self) -> bool {
        self.ram >= CodeSpan::DEVICES && self.ram != CodeSpan::NOTHING.ram
    }
}

/// The last spans that cores have to be notified of.
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
    /// An epoch that is older than any record.
    pub const UNKNOWN: u64 = u64::MAX;

    /// Number of spans so far.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Adds a span.
    pub fn report(&mut self, span: CodeSpan) {
        self.spans[(self.epoch % SPANS as u64) as usize] = span;
        self.epoch += 1;
    }

    /// The spans since an epoch, oldest first. `None` if some are no longer in the log.
    pub fn since(&self, epoch: u64) -> Option<impl Iterator<Item = CodeSpan> + use<'_>> {
        let count = self.epoch.checked_sub(epoch).filter(|count| *count <= SPANS as u64)?;
        Some((self.epoch - count..self.epoch).map(|at| self.spans[(at % SPANS as u64) as usize]))
    }
}

impl Bus {
    /// Writes to a memory, without time; cores notice if that overwrites decoded code.
    #[inline]
    pub(crate) fn write_ram(&mut self, ram: usize, offset: u32, bytes: &[u8]) {
        if self.rams[ram].write(offset, bytes) {
            let last = offset + (bytes.len() - 1) as u32;
            self.code_written.report(CodeSpan { ram, first: offset, last });
            self.see_write(ram, offset, last);
        }
    }

    /// Writes the low 1, 2 or 4 `bytes` of a number, at a multiple of them, as [`Bus::poke`] does.
    #[inline(always)]
    pub(crate) fn put_in_ram(&mut self, ram: usize, offset: u32, bytes: u32, value: u32) {
        if self.rams[ram].put(offset, bytes, value) {
            self.code_written.report(CodeSpan { ram, first: offset, last: offset + (bytes - 1) });
            self.see_write(ram, offset, offset + (bytes - 1));
        }
    }

    /// Records that instructions at this span have been decoded; returns the span in its RAM or device.
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
    fn a_reader_that_missed_spans_gets_none() {
        let span = |first| CodeSpan { ram: 0, first, last: first + 1 };
        let mut log = CodeLog::default();
        (0..40).for_each(|at| log.report(span(2 * at)));
        assert_eq!(log.since(40).unwrap().count(), 0);
        assert_eq!(log.since(38).unwrap().collect::<Vec<_>>(), [span(76), span(78)]);
        assert_eq!(log.since(8).unwrap().next(), Some(span(16)));
        assert!(log.since(7).is_none() && log.since(CodeLog::UNKNOWN).is_none());
    }
}
