//! Bytes of a RAM that hold decoded instructions: a bit for two bytes, because instructions are aligned to two bytes.
//!
//! Marks only say which stores have to be reported: a marked byte may hold no decoded instruction any more.

use super::bytes::Bytes;

use crate::state::State;

/// Bytes per mark.
const MARKED_BYTES: u64 = 2;
/// Marks per word.
const WORD_MARKS: u64 = u32::BITS as u64;
/// Bytes per word of marks.
pub const WORD_BYTES: u32 = (MARKED_BYTES * WORD_MARKS) as u32;

/// The marks of a RAM.
#[derive(Debug, State)]
pub struct CodeMarks {
    words: Bytes,
    #[state(skip)]
    count: usize,
}

impl CodeMarks {
    /// No marks, for `size_bytes`. `None` if the host has no memory for them.
    pub fn try_new(size_bytes: u32) -> Option<CodeMarks> {
        let count = size_bytes.div_ceil(WORD_BYTES) as usize;
        Some(CodeMarks { words: Bytes::zeroed(count * size_of::<u32>())?, count })
    }

    /// True if some of the span is marked.
    pub fn any(&self, offset: u32, len: u32) -> bool {
        masks(offset, len).any(|(word, mask)| self.word(word) & mask != 0)
    }

    /// Marks the span. True if some of it was not marked.
    pub fn mark(&mut self, offset: u32, len: u32) -> bool {
        masks(offset, len).fold(false, |is_new, (word, mask)| {
            let before = self.word(word);
            self.set_word(word, before | mask);
            is_new | (before & mask != mask)
        })
    }

    /// Removes the marks of the span. True if there were any.
    #[inline]
    pub fn take(&mut self, offset: u32, len: u32) -> bool {
        masks(offset, len).fold(false, |any, (word, mask)| {
            let before = self.word(word);
            if before & mask != 0 {
                self.set_word(word, before & !mask);
            }
            any | (before & mask != 0)
        })
    }

    /// Address of the words on the host: bit n of word m is for the bytes from `m * WORD_BYTES + 2 * n` on. Valid for
    /// as long as the RAM lives; nothing else may hold a reference into them.
    pub fn as_ptr(&self) -> *const u32 {
        self.words.as_ptr().cast::<u32>().cast_const()
    }

    #[inline]
    fn word(&self, word: usize) -> u32 {
        assert!(word < self.count, "the bus checks spans");
        // SAFETY: inside the allocation, as was just checked, which is aligned for words; no reference into it exists.
        unsafe { self.as_ptr().add(word).read() }
    }

    #[inline]
    fn set_word(&mut self, word: usize, marks: u32) {
        assert!(word < self.count, "the bus checks spans");
        // SAFETY: as in `word`.
        unsafe { self.words.as_ptr().cast::<u32>().add(word).write(marks) }
    }
}

/// The words with marks of a span, and masks of their bits.
#[inline]
fn masks(offset: u32, len: u32) -> impl Iterator<Item = (usize, u32)> {
    let (first, after) =
        (u64::from(offset) / MARKED_BYTES, (u64::from(offset) + u64::from(len)).div_ceil(MARKED_BYTES));
    let words = if len == 0 { 0..0 } else { first / WORD_MARKS..after.div_ceil(WORD_MARKS) };
    words.map(move |word| {
        let begin = word * WORD_MARKS;
        let (low, high) = (first.saturating_sub(begin), (after - begin).min(WORD_MARKS));
        (word as usize, u32::MAX >> (WORD_MARKS - (high - low)) << low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE_BYTES: u32 = 512;

    /// The marks of a span.
    fn halves((offset, len): (u32, u32)) -> std::ops::Range<u32> {
        if len == 0 { 0..0 } else { offset / 2..(offset + len).div_ceil(2) }
    }

    proptest! {
        #[test]
        fn marks_are_those_of_a_naive_table(
            steps in prop::collection::vec((0u32..3, 0u32..SIZE_BYTES, prop_oneof![0u32..6, 0u32..300]), 1..60)
        ) {
            let mut marks = CodeMarks::try_new(SIZE_BYTES).unwrap();
            let mut naive = vec![false; SIZE_BYTES as usize / 2];
            for (kind, offset, len) in steps {
                let len = len.min(SIZE_BYTES - offset);
                let here = halves((offset, len));
                let mut each = here.clone().map(|half| naive[half as usize]);
                match kind {
                    0 => prop_assert_eq!(marks.any(offset, len), each.any(|is| is)),
                    1 => prop_assert_eq!(marks.mark(offset, len), !each.all(|is| is)),
                    _ => prop_assert_eq!(marks.take(offset, len), each.any(|is| is)),
                }
                if kind > 0 {
                    here.for_each(|half| naive[half as usize] = kind == 1);
                }
            }
        }
    }
}
