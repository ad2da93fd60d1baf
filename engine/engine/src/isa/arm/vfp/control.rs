//! FPSCR: modes of arithmetic, and cumulative flags (ARM, A2.5).

use super::Comparison;
use super::round::Mode;

/// IOC: invalid operation.
pub const INVALID: u32 = 1 << 0;
/// DZC: division by zero.
pub const DIVISION_BY_ZERO: u32 = 1 << 1;
/// OFC.
pub const OVERFLOW: u32 = 1 << 2;
/// UFC.
pub const UNDERFLOW: u32 = 1 << 3;
/// IXC.
pub const INEXACT: u32 = 1 << 4;
/// IDC: a denormal operand was flushed to zero.
pub const INPUT_DENORMAL: u32 = 1 << 7;

/// FPSCR during an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control(pub u32);

impl Control {
    /// RMode.
    pub fn mode(self) -> Mode {
        match self.0 >> 22 & 3 {
            0 => Mode::Nearest,
            1 => Mode::Up,
            2 => Mode::Down,
            _ => Mode::Zero,
        }
    }

    /// FZ: denormals are zero.
    pub fn flushes(self) -> bool {
        self.0 & 1 << 24 != 0
    }

    /// DN: every NaN is the default one.
    pub fn default_nan(self) -> bool {
        self.0 & 1 << 25 != 0
    }

    /// AHP: half precision uses the alternative format.
    pub fn alternative_half(self) -> bool {
        self.0 & 1 << 26 != 0
    }

    /// Len or Stride is not 0.
    pub fn wants_vectors(self) -> bool {
        self.0 & (7 << 16 | 3 << 20) != 0
    }

    /// Sets cumulative flags.
    pub fn raise(&mut self, flags: u32) {
        self.0 |= flags;
    }

    /// Sets N, Z, C and V (ARM, A2.7).
    pub fn set_comparison(&mut self, comparison: Comparison) {
        let flags = match comparison {
            Comparison::Less => 0b1000,
            Comparison::Equal => 0b0110,
            Comparison::Greater => 0b0010,
            Comparison::Unordered => 0b0011,
        };
        self.0 = self.0 & 0x0fff_ffff | flags << 28;
    }
}
