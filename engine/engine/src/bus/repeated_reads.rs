//! Repeated reads of a device that all take the same path, so compiled code does them without a call: fetches of
//! instructions from a flash in place.
//!
//! The device offers such reads, and compiled code counts them in a record that both share. The device catches up with
//! the record at the start of its next call; until then its state does not include these reads.

use crate::state::{Fresh, State};

/// Timing of repeated reads of a device.
#[derive(Clone, Copy, Debug)]
pub struct RepeatedReads {
    /// Bytes of a read.
    pub bytes: u32,
    /// Edges of the device's clock from a request's arrival until the read can begin.
    pub before_cycles: u64,
    /// Edges from the time at which the device is free for the next read to the answer, which may come before that
    /// time.
    pub after_cycles: i64,
    /// For fetches of lines: words that the core asks for early ([`Stream`]).
    pub words_ahead: u64,
    /// Address of the [`ReadRecord`], which does not move.
    pub record: usize,
}

/// The record of repeated reads that the device and compiled code share.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
#[repr(C)]
pub struct ReadRecord {
    /// 1 while repeated reads are possible.
    pub holds: u64,
    /// The edge of the device's clock up to which it is busy.
    pub free_edge: u64,
    /// How long each read keeps it busy.
    pub busy_cycles: u64,
    /// Reads that the device has not taken into account yet.
    pub reads: u64,
    /// Offset of the last one.
    pub last: u64,
    /// The instructions of the line that was fetched last, where reads are fetches of lines.
    pub stream: Stream,
}

/// A line of instructions that runs. A core's front end gets a word a cycle and has room for a few: it asks for the
/// next word when one of them has been used up. So it asks for the first word of the next line before that is due, the
/// earlier the longer the words before it take.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
#[repr(C)]
pub struct Stream {
    /// The edge from which on its instructions run.
    pub runs: u64,
    /// The edge at which the core can ask for the next line at the earliest: after a cycle for each word.
    pub may_ask: u64,
    /// How much earlier the core asks for each edge that this line takes: in [`Stream::UNIT`]s.
    pub rate: u64,
    /// Longest time that a line takes, in edges: after more of them something else has run.
    pub longest: u64,
}

impl Stream {
    /// Fractions of an edge in [`Stream::rate`], as a power of two.
    pub const UNIT_BITS: u32 = 8;
    /// See [`Stream::UNIT_BITS`].
    pub const UNIT: u64 = 1 << Stream::UNIT_BITS;
    /// The cycles from a request to its word, without wait states.
    pub const REQUEST_CYCLES: u64 = 2;
    /// Longest time of a word's instructions.
    const LONGEST_WORD_CYCLES: u64 = 8;

    /// See [`Stream::rate`]: a core asks for `ahead` words early; `words` of the line are wanted.
    pub fn rate(words: u64, ahead: u64) -> u64 {
        words.min(ahead) * Stream::UNIT / words.max(1)
    }

    /// See [`Stream::longest`].
    pub fn longest(words: u64) -> u64 {
        words * Stream::LONGEST_WORD_CYCLES
    }

    /// A line with `words` wanted ones. The first one comes at the edge `arrived`; its instructions run from the
    /// edge `runs` on.
    pub fn new(words: u64, ahead: u64, arrived: u64, runs: u64) -> Stream {
        let (rate, longest) = (Stream::rate(words, ahead), Stream::longest(words));
        Stream { runs, may_ask: arrived + words, rate, longest }
    }

    /// The edge at which the core asked for the next line, whose instructions are due at the edge `due`; at most `most`
    /// edges earlier, which is as good as any time before.
    pub fn asked(&self, due: u64, most: u64) -> u64 {
        let ran = due.wrapping_sub(self.runs);
        if ran > self.longest {
            return due;
        }
        let early = (ran * self.rate + Stream::UNIT / 2) >> Stream::UNIT_BITS;
        let early = early.saturating_sub(Stream::REQUEST_CYCLES).min(most);
        (due - early).max(self.may_ask).min(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_line_is_asked_for_when_a_word_is_free() {
        let early = |words: u64, ran: u64| 100 + ran - Stream::new(words, 3, 100, 100).asked(100 + ran, 5);
        // Four words of two cycles each: a word is free six cycles before the next line is due, and would come two
        // later without wait states. That is the fourth cycle, in which the front end can ask.
        assert_eq!(early(4, 8), 4);
        // Of one cycle each: there is no time left. Of one and a half: a cycle for each word, and two are left.
        assert_eq!((early(4, 4), early(4, 6)), (0, 2));
        // Of three cycles: earlier than by the wait states is of no use.
        assert_eq!(early(4, 12), 5);
        // The last two words, or the last one: the front end has room for the next ones at once.
        assert_eq!((early(2, 4), early(2, 3), early(1, 2), early(1, 4)), (2, 1, 0, 2));
        // After a longer time something else has run.
        assert_eq!((early(4, 32), early(4, 33)), (5, 0));
    }
}
