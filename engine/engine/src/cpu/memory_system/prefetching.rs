//! The data prefetcher of the first-level data cache: after some misses of loads a fixed stride apart, it requests the
//! lines that come next.
//!
//! Three misses whose lines are up to four lines apart make a stream, and up to three lines are requested ahead; hits
//! between them do not matter (Arm's knowledge article KA15338 on the Cortex-A5; Cortex-A7 TRM, DDI 0464D, 6.5.2). A
//! requested line waits in a buffer until a load or store wants it, which requests the next line of the stream.
//!
//! The article has descending streams, too. But copies backwards on a SAMA5D2 are as slow as without prefetches
//! (tinymembench, at91bootstrap's issue 122), so only ascending ones are followed here.
//!
//! Simplified: misses of stores are no part of a stream; a line that nobody wants keeps its buffer until another stream
//! takes it; a stream ends with its page of 4 KiB.

use super::accounts::Part;
use super::meter::Trip;
use super::outward::Transfer;
use super::translate::Place;
use super::{Memory, Purpose, renumbered};
use crate::bus::BusFault;
use crate::memory::cache::NO_LINE;
use crate::state::{Fresh, State};

/// Most lines that are requested ahead.
pub const MOST_AHEAD: usize = 3;
/// Misses that make a stream.
const MISSES: u8 = 3;
/// Longest stride, in lines.
const LONGEST_STRIDE: u32 = 4;
const PAGE_BYTES: u32 = 1 << 12;

/// The stream of misses, and the lines requested ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub(super) struct Prefetching {
    /// The line of the last miss.
    last: u32,
    /// Its distance from the one before, in bytes; 0 for none that makes a stream.
    stride: u32,
    /// Misses at this distance in a row.
    misses: u8,
    requested: [Requested; MOST_AHEAD],
}

/// A line requested ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Requested {
    /// Its address; [`NO_LINE`] for an empty buffer.
    line: u32,
    /// The core cycle in which it is there.
    ends: u64,
}

const EMPTY: Requested = Requested { line: NO_LINE, ends: 0 };

impl Default for Prefetching {
    fn default() -> Prefetching {
        Prefetching { last: NO_LINE, stride: 0, misses: 0, requested: [EMPTY; MOST_AHEAD] }
    }
}

impl Prefetching {
    /// Takes a line out of its buffer: the cycle in which it is there.
    fn take(&mut self, line: u32) -> Option<u64> {
        let buffer = self.requested.iter_mut().find(|buffer| buffer.line == line)?;
        Some(std::mem::replace(buffer, EMPTY).ends)
    }

    /// A load misses `line`, in a cache with lines of `bytes`.
    fn follow(&mut self, line: u32, bytes: u32) {
        let stride = line.wrapping_sub(self.last);
        let is_near = self.last != NO_LINE && (bytes..=LONGEST_STRIDE * bytes).contains(&stride);
        self.misses = match is_near {
            true if stride == self.stride => self.misses.saturating_add(1).min(MISSES),
            true => 2,
            false => 1,
        };
        self.stride = if is_near { stride } else { 0 };
        self.last = line;
    }

    /// The next line of the stream to request, with a buffer for it, if `ahead` lines may be requested.
    fn next(&self, ahead: usize) -> Option<(u32, usize)> {
        if self.misses < MISSES {
            return None;
        }
        let wanted = |line: u32| (1..=ahead as u32).any(|step| line == self.last.wrapping_add(step * self.stride));
        let is_requested = |line: &u32| self.requested.iter().any(|buffer| buffer.line == *line);
        let in_page = |line: &u32| line / PAGE_BYTES == self.last / PAGE_BYTES;
        let mut next = (1..=ahead as u32).map(|step| self.last.wrapping_add(step * self.stride)).take_while(in_page);
        let line = next.find(|line| !is_requested(line))?;
        let buffer = self.requested[..ahead].iter().position(|buffer| !wanted(buffer.line))?;
        Some((line, buffer))
    }

    /// True if the requests under way in cycle `now` equal those in the state `before`, in cycle `then`.
    pub fn behaves_like(&self, now: u64, before: &Prefetching, then: u64) -> bool {
        let ahead = |own: &Prefetching, now: u64| own.requested.map(|buffer| buffer.ends.saturating_sub(now));
        let lines = |own: &Prefetching| (own.last, own.stride, own.misses, own.requested.map(|buffer| buffer.line));
        ahead(self, now) == ahead(before, then) && lines(self) == lines(before)
    }

    /// Renumbers cycles: `before` is `now` from now on.
    pub fn renumber(&mut self, before: u64, now: u64) {
        self.requested.iter_mut().for_each(|buffer| buffer.ends = renumbered(buffer.ends, before, now));
    }

    /// Shifts all ends by `cycles`.
    pub fn move_on(&mut self, cycles: u64) {
        self.requested.iter_mut().for_each(|buffer| buffer.ends += cycles);
    }
}

impl Memory {
    /// Gets the line at `place` for a miss of the data cache: from a buffer if it has been requested ahead, else from
    /// the next level. A load that belongs to a stream requests the lines after it.
    pub(super) fn read_data_line(&mut self, fill: &mut Trip, place: Place, purpose: Purpose) -> Result<(), BusFault> {
        let bytes = self.config.dcache.map_or(0, |shape| shape.line_bytes);
        let requested = self.state.prefetching.take(place.physical);
        if purpose == Purpose::Load && self.prefetched_lines > 0 {
            self.state.prefetching.follow(place.physical, bytes);
        }
        let Some(ends) = requested else {
            self.read(fill, place, Transfer::ReadBurst(purpose, bytes))?;
            self.request_ahead(fill, place, purpose);
            return Ok(());
        };
        self.request_ahead(fill, place, purpose);
        self.accounts.spend(&mut fill.meter, Part::Fill, ends);
        Ok(())
    }

    /// Requests the lines after a load's, as far as buffers are free. The core does not wait for them.
    fn request_ahead(&mut self, fill: &mut Trip, place: Place, purpose: Purpose) {
        let bytes = self.config.dcache.map_or(0, |shape| shape.line_bytes);
        while purpose == Purpose::Load
            && let Some((line, buffer)) = self.state.prefetching.next(self.prefetched_lines)
        {
            let is_present = self.state.dcache.as_mut().is_some_and(|cache| cache.has(line));
            let mut ahead = fill.after();
            // Nobody waits for an answer that is an error.
            if !is_present
                && self
                    .read(&mut ahead, Place { physical: line, ..place }, Transfer::ReadBurst(purpose, bytes))
                    .is_err()
            {
                return;
            }
            self.state.prefetching.requested[buffer] = Requested { line, ends: ahead.meter.now() };
        }
    }

    /// Drops the lines requested ahead, and the stream.
    pub(super) fn forget_stream(&mut self) {
        self.state.prefetching = Prefetching::default();
    }
}
