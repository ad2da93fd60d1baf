//! Lines of instructions that a flash interface reads and does not keep in its cache: one is there until the next line
//! is read ([`crate::memory::line_buffers`]).
//!
//! An instruction may lie across two lines. The core has read its first half when it needs the second line, so that
//! line's predecessor is held while the instruction is waited for.

use super::super::Memory;
use crate::memory::cache::NO_LINE;
use crate::state::{Fresh, State};

/// Such lines, by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Passing {
    /// The one that is there, and the one that was held when it came.
    lines: [u32; 2],
    /// The one that is held while the next one is read.
    held: u32,
}

impl Default for Passing {
    fn default() -> Passing {
        Passing { lines: [NO_LINE; 2], held: NO_LINE }
    }
}

impl Passing {
    /// True if a line is there. Nothing else has to know that: what cores know of lines whose fetch costs nothing is
    /// forgotten now and then, and a snapshot does not have it.
    pub fn has(&self, line: u32) -> bool {
        self.lines.contains(&line)
    }

    /// True if the same lines are there.
    pub fn behaves_like(&self, before: &Passing) -> bool {
        self.lines == before.lines
    }
}

impl Memory {
    /// The next line is fetched for an instruction that begins in this one, if any.
    pub fn hold_fetched(&mut self, first: Option<u32>) {
        self.state.passing.held = first.unwrap_or(NO_LINE);
    }

    /// A line has been read, which is not kept if it `passes`. Others that were not kept go now.
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
