//! Words are fetched when an instruction needs them; the last two are kept.

use crate::state::{Fresh, State};

/// No word: words have even addresses.
const NONE: u32 = 1;

/// The words fetched last, the latest one last: their addresses. Compiled code contains their offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
#[repr(transparent)]
pub struct WordBuffer {
    words: [u32; 2],
}

impl Default for WordBuffer {
    fn default() -> WordBuffer {
        WordBuffer { words: [NONE; 2] }
    }
}

impl WordBuffer {
    /// The policy's name.
    pub const NAME: &str = "on-demand";

    /// The first word of the instruction at `pc` up to `end_pc` that has to be fetched.
    #[inline(always)]
    pub fn missing(&self, pc: u32, end_pc: u32) -> Option<u32> {
        let (first, last) = (pc & !3, end_pc.wrapping_sub(1) & !3);
        [first, last].into_iter().find(|word| !self.words.contains(word))
    }

    /// Records the fetched word at `addr`.
    pub fn fetched(&mut self, addr: u32) {
        self.words = [self.words[1], addr];
    }

    /// Drops all words.
    pub fn clear(&mut self) {
        self.words = [NONE; 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_are_remembered() {
        let mut buffer = WordBuffer::default();
        assert_eq!(buffer.missing(0x102, 0x106), Some(0x100));
        buffer.fetched(0x100);
        assert_eq!(buffer.missing(0x102, 0x106), Some(0x104));
        buffer.fetched(0x104);
        assert_eq!(buffer.missing(0x102, 0x106), None);
        assert_eq!(buffer.missing(0x100, 0x102), None);
        buffer.fetched(0x108);
        assert_eq!(buffer.missing(0x100, 0x102), Some(0x100));
        buffer.clear();
        assert_eq!(buffer.missing(0x108, 0x10c), Some(0x108));
    }
}
