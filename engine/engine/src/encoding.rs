//! Encodings of code: lengths of instructions, and their form in manuals.

use crate::state::{Fresh, State};

/// An encoding of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Encoding {
    /// RV32IMC_Zicsr, and PicoRV32's own instructions.
    RiscV,
    /// Arm's instructions of four bytes.
    A32,
    /// Thumb of a profile with A32.
    T32,
    /// Thumb of ARMv7-M.
    T32M,
    /// MIPS32.
    Mips,
}

impl Encoding {
    fn is_thumb(self) -> bool {
        matches!(self, Encoding::T32 | Encoding::T32M)
    }

    /// Length of an instruction that begins with this half-word, in bytes.
    fn len_bytes(self, half: u16) -> usize {
        let is_short = match self {
            Encoding::RiscV => half & 3 != 3,
            Encoding::T32 | Encoding::T32M => half >> 11 < 0b11101,
            Encoding::A32 | Encoding::Mips => false,
        };
        if is_short { 2 } else { 4 }
    }

    /// The encoding of the first instruction in `bytes`, and its length; `None` if there are too few bytes. The
    /// encoding has the manual's form: the first half of a T32 instruction with four bytes is the upper one.
    pub fn first_of(self, bytes: &[u8]) -> Option<(u32, usize)> {
        let half = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let first = half(0)?;
        Some(match self.len_bytes(first) {
            2 => (u32::from(first), 2),
            len if self.is_thumb() => (u32::from(first) << 16 | u32::from(half(2)?), len),
            len => (u32::from(half(2)?) << 16 | u32::from(first), len),
        })
    }

    /// True if an encoding of [`Encoding::first_of`] has four bytes.
    pub fn is_long(self, encoding: u32) -> bool {
        let first = if self.is_thumb() && encoding > 0xffff { encoding >> 16 } else { encoding };
        self.len_bytes(first as u16) == 4
    }

    /// An encoding of [`Encoding::first_of`] as it is in memory; zeros follow one of two bytes.
    pub fn bytes_of(self, encoding: u32) -> [u8; 4] {
        let word = if self.is_thumb() && self.is_long(encoding) { encoding.rotate_left(16) } else { encoding };
        word.to_le_bytes()
    }
}
