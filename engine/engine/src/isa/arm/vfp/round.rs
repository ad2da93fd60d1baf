//! Rounding: one function for the results of all operations (ARM, A2.7, FPRound).

use super::control::{Control, INEXACT, OVERFLOW, UNDERFLOW};
use super::format::{Finite, Format};

/// Rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To nearest, ties to even.
    Nearest,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Mode {
    /// True if a magnitude that is too large becomes infinity, not the largest number.
    fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Mode::Nearest => true,
            Mode::Up => !negative,
            Mode::Down => negative,
            Mode::Zero => false,
        }
    }
}

/// `significand` without its last `shift` bits, rounded; true if a bit was lost.
pub fn shift_rounded(significand: u128, shift: u32, mode: Mode, negative: bool) -> (u128, bool) {
    let (kept, rest, half) = match shift {
        0 => return (significand, false),
        1..=127 => (significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)),
        // Less than a half in any case: significands have at most 127 bits.
        _ => (0, significand.min(1), 2),
    };
    let up = match mode {
        Mode::Nearest => rest > half || rest == half && kept & 1 != 0,
        Mode::Up => rest != 0 && !negative,
        Mode::Down => rest != 0 && negative,
        Mode::Zero => false,
    };
    (kept + u128::from(up), rest != 0)
}

/// `significand` without its last `shift` bits; its last bit is set if any of them was set.
pub fn shift_jammed(significand: u128, shift: u32) -> u128 {
    match shift {
        0 => significand,
        1..=127 => significand >> shift | u128::from(significand & ((1 << shift) - 1) != 0),
        _ => significand.min(1),
    }
}

/// A number rounded to a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounded {
    /// Its bits without the sign, with unlimited exponents.
    pub magnitude: u64,
    /// The exact number differs.
    pub inexact: bool,
    /// The exact number was less than every normal number.
    pub tiny: bool,
}

/// Rounds a number other than 0. Its significand's last bit may stand for lost bits, if it is well below the format's
/// last bit.
pub fn rounded(format: Format, value: Finite, mode: Mode) -> Rounded {
    let exponent = value.exponent + 127 - value.significand.leading_zeros() as i32;
    let kept_exponent = exponent.max(format.min_exponent());
    let shift = kept_exponent - format.fraction_bits as i32 - value.exponent;
    let (kept, inexact) = match u32::try_from(shift) {
        Ok(shift) => shift_rounded(value.significand, shift, mode, value.negative),
        Err(_) => (value.significand << shift.unsigned_abs(), false),
    };
    // The leading bit of a normal number adds 1 to the exponent, and so does a carry from rounding.
    let below = (kept_exponent - format.min_exponent()) as u64;
    let magnitude = (below << format.fraction_bits) + kept as u64;
    Rounded { magnitude, inexact, tiny: exponent < format.min_exponent() }
}

impl Control {
    /// The bits of a number other than 0, rounded, with its flags.
    pub fn round(&mut self, format: Format, value: Finite, mode: Mode) -> u64 {
        let Rounded { mut magnitude, inexact, tiny } = rounded(format, value, mode);
        if tiny && self.flushes() {
            self.raise(UNDERFLOW);
            return format.signed(value.negative, 0);
        }
        if tiny && inexact {
            self.raise(UNDERFLOW);
        }
        if magnitude >= format.infinity {
            self.raise(OVERFLOW | INEXACT);
            let to_infinity = mode.overflows_to_infinity(value.negative);
            magnitude = if to_infinity { format.infinity } else { format.infinity - 1 };
        } else if inexact {
            self.raise(INEXACT);
        }
        format.signed(value.negative, magnitude)
    }
}
