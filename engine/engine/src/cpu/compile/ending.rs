//! Endings of compiled code, as values and as the words that it returns.
//!
//! A word is never 0: so 0 in `Option<EndingWord>` means "continue", and no ending can be mistaken for that.

use std::num::NonZeroU64;

/// Reason of an ending: the highest bits of a word. [`EndingWord::GONE`] has all of them.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
enum Kind {
    Interpret = 1,
    Left = 2,
    Check = 3,
}

/// An [`Ending`] in 64 bits: the block's index in bits 31:0, a number in bits 47:32, an operand that is not part of the
/// ending in bits 60:48, the kind in bits 63:61.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct EndingWord(NonZeroU64);

impl EndingWord {
    const NUMBER_SHIFT: u32 = 32;
    /// Lowest bit of an operand that a stub gets with an ending.
    pub const OPERAND_SHIFT: u32 = 48;
    const KIND_SHIFT: u32 = 61;
    /// An operand's bits.
    pub const OPERAND: u64 = (1 << Self::KIND_SHIFT) - (1 << Self::OPERAND_SHIFT);
    /// Lowest bit of the exit that the block has decided on, in the number; the operation's number is below.
    const DECIDED_SHIFT: u32 = 15;

    /// [`Ending::Gone`].
    pub const GONE: EndingWord = EndingWord(NonZeroU64::MAX);

    /// [`Ending::Interpret`].
    pub fn interpret(index: u32, at: u32, exit: usize) -> EndingWord {
        Self::new(Kind::Interpret, index, at | (exit as u32) << Self::DECIDED_SHIFT)
    }

    /// [`Ending::Left`].
    pub fn left(index: u32, exit: usize) -> EndingWord {
        Self::new(Kind::Left, index, exit as u32)
    }

    /// [`Ending::Check`].
    pub fn check(index: u32) -> EndingWord {
        Self::new(Kind::Check, index, 0)
    }

    fn new(kind: Kind, index: u32, number: u32) -> EndingWord {
        let bits = (kind as u64) << Self::KIND_SHIFT | u64::from(number) << Self::NUMBER_SHIFT | u64::from(index);
        // No kind is 0.
        NonZeroU64::new(bits).map_or(Self::GONE, EndingWord)
    }

    /// Its bits.
    pub const fn bits(self) -> u64 {
        self.0.get()
    }

    /// The ending; an operand in the word does not matter.
    pub fn ending(self) -> Ending {
        let bits = self.bits();
        let (index, number) = (bits as u32, (bits >> Self::NUMBER_SHIFT) as u16);
        match bits >> Self::KIND_SHIFT {
            kind if kind == Kind::Interpret as u64 => {
                let (at, exit) = (number & ((1 << Self::DECIDED_SHIFT) - 1), number >> Self::DECIDED_SHIFT);
                Ending::Interpret { index, at: usize::from(at), exit: usize::from(exit) }
            }
            kind if kind == Kind::Left as u64 => Ending::Left { index, exit: usize::from(number) },
            kind if kind == Kind::Check as u64 => Ending::Check { index },
            _ => Ending::Gone,
        }
    }
}

/// The place where compiled code ended, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The interpreter continues in a block, at an operation.
    Interpret {
        /// The block.
        index: u32,
        /// The operation's number in the block.
        at: usize,
        /// The exit that the block has decided on.
        exit: usize,
    },
    /// A block has run, and its exit leads to no known block.
    Left {
        /// The block.
        index: u32,
        /// The exit.
        exit: usize,
    },
    /// The next block is known, but not all of its lines are known to be in the instruction cache, or it does not fit
    /// before the limit.
    Check {
        /// The block that comes next.
        index: u32,
    },
    /// The last block has been left before its end: the core's state is complete.
    Gone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_it_was_made_of_and_none_is_zero() {
        assert_eq!(size_of::<Option<EndingWord>>(), 8, "0 stands for going on");
        for index in [0, 1, u32::MAX] {
            for exit in [0, 1] {
                for at in [0, 1, (1 << 15) - 1] {
                    let word = EndingWord::interpret(index, at, exit);
                    assert_eq!(word.ending(), Ending::Interpret { index, at: at as usize, exit });
                    assert_eq!(word.bits() & EndingWord::OPERAND, 0);
                    let with_operand = NonZeroU64::new(word.bits() | EndingWord::OPERAND).map(EndingWord);
                    assert_eq!(with_operand.map(EndingWord::ending), Some(word.ending()));
                }
                assert_eq!(EndingWord::left(index, exit).ending(), Ending::Left { index, exit });
            }
            assert_eq!(EndingWord::check(index).ending(), Ending::Check { index });
        }
        assert_eq!(EndingWord::GONE.ending(), Ending::Gone);
    }
}
