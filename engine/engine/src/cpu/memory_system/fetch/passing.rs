//! Lines of instructions that a flash interface reads and does not keep in its cache: a line is available until the
//! next line is read ([`crate::memory::line_buffers`]).
//!
//! An instruction may span two lines. The core has read its first half when it needs the second line, so the first line
//! is held while the core waits for the instruction.

use std::mem::offset_of;

use super::super::accounts::{Part, Purpose};
use super::super::mmu::Mmu;
use super::super::outward::Transfer;
use super::super::translate::Place;
use super::super::{Done, Memory, abort_of};
use crate::bus::Bus;
use crate::memory::cache::NO_LINE;
use crate::state::{Fresh, State};

/// Line buffers for such lines, by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Passing {
    /// The present line, and the one that was held when it arrived.
    lines: [u32; 2],
    /// The line that is held while the next one is read.
    held: u32,
}

impl Default for Passing {
    fn default() -> Passing {
        Passing { lines: [NO_LINE; 2], held: NO_LINE }
    }
}

impl Passing {
    /// Offset of the two lines, for compiled code.
    pub const LINES: usize = offset_of!(Passing, lines);

    /// True if a line is present. This is the only record of it: the set of lines whose fetch costs nothing is dropped
    /// now and then, and is not in a snapshot.
    pub fn has(&self, line: u32) -> bool {
        self.lines.contains(&line)
    }

    /// True if the same lines are present.
    pub fn behaves_like(&self, before: &Passing) -> bool {
        self.lines == before.lines
    }
}

impl Memory {
    /// True if a line that no cache keeps is present.
    #[inline(always)]
    pub fn has_passing(&self, line: u32) -> bool {
        self.state.passing.has(line)
    }

    /// Reads the line at `va`, which is not present, from a memory whose lines no cache keeps
    /// ([`Via::Passing`](super::super::Via::Passing)).
    pub fn fetch_passing_line<M: Mmu>(&mut self, bus: &mut Bus, mmu: &M, now: u64, va: u32) -> Done<(), M::Status> {
        let line_bytes = self.config.icache.map_or(super::super::LINE_BYTES, |shape| shape.line_bytes);
        let mut trip = self.trip(bus, now);
        let result = self.code_place(&mut trip, mmu, va).and_then(|(place, _)| {
            let line = place.physical & !(line_bytes - 1);
            self.accounts.spend(&mut trip.meter, Part::Fill, self.state.fill_ends);
            let burst = Transfer::ReadBurst(Purpose::Fetch, line_bytes);
            let wanted = trip.bus.line_buffers.asked_for(line, place.physical);
            let read = self.read(&mut trip, Place { physical: wanted, ..place }, burst);
            read.map_err(|fault| abort_of(va, false, fault))?;
            self.pass(line, true);
            Ok(())
        });
        let done = trip.done(result);
        if done.result.is_ok()
            && !self.is_known(va)
            && let Some(window) = bus.repeated_reads(va, line_bytes)
        {
            self.remember(bus, va, Some(window));
        }
        done
    }

    /// Holds the present line if the next line is fetched for an instruction that begins in it.
    pub fn hold_fetched(&mut self, first: Option<u32>) {
        self.state.passing.held = first.unwrap_or(NO_LINE);
    }

    /// Records a line that has been read; it is not kept if it `passes`. Other lines that were not kept are dropped
    /// now.
    #[inline]
    pub(super) fn pass(&mut self, line: u32, passes: bool) {
        let Passing { lines, held } = self.state.passing;
        if !passes && lines == [NO_LINE; 2] {
            return;
        }
        for other in lines.into_iter().filter(|other| ![NO_LINE, line, held].contains(other)) {
            self.fetched.remove_physical(other);
        }
        let stays = lines.contains(&held) && held != line;
        self.state.passing.lines = [if passes { line } else { NO_LINE }, if stays { held } else { NO_LINE }];
    }
}
