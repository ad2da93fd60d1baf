//! Conversions between formats, and from and to integers and fixed point (ARM, A2.7).

use super::control::{Control, INEXACT, INVALID};
use super::format::{Finite, Format, Value};
use super::round::{Mode, shift_rounded};

/// Bits of a significand above which a number is too large for any integer here: keeps shifts below 128.
const LARGEST_SHIFT: i32 = 72;

/// An integer, or a fixed-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// 16 or 32.
    pub bits: u32,
    /// It is a two's complement number.
    pub signed: bool,
    /// Bits of its fraction.
    pub fraction_bits: u32,
}

impl Fixed {
    /// The largest magnitude of a number with this sign.
    fn largest(self, negative: bool) -> u128 {
        match (self.signed, negative) {
            (true, true) => 1 << (self.bits - 1),
            (true, false) => (1 << (self.bits - 1)) - 1,
            (false, true) => 0,
            (false, false) => (1 << self.bits) - 1,
        }
    }
}

impl Control {
    /// A number in another format.
    pub fn change_precision(&mut self, from: Format, to: Format, bits: u64) -> u64 {
        let bits = self.operand(from, bits);
        let negative = from.is_negative(bits);
        match from.unpack(bits) {
            Value::Nan => self.nan_in(from, to, bits),
            Value::Infinite(_) => to.signed(negative, to.infinity),
            Value::Finite(value) if value.significand == 0 => to.signed(negative, 0),
            Value::Finite(value) => self.round(to, value, self.mode()),
        }
    }

    /// A NaN in another format: quiet, with the upper bits of its fraction.
    pub fn nan_in(&mut self, from: Format, to: Format, bits: u64) -> u64 {
        if from.is_signaling(bits) {
            self.raise(INVALID);
        }
        if self.default_nan() {
            return to.default_nan();
        }
        let fraction = from.magnitude(bits) & !from.infinity;
        let fraction = match to.fraction_bits.checked_sub(from.fraction_bits) {
            Some(up) => fraction << up,
            None => fraction >> (from.fraction_bits - to.fraction_bits),
        };
        to.signed(from.is_negative(bits), to.default_nan() | fraction)
    }

    /// A number as fixed point, in the low bits; sign-extended to 64 bits if signed. A number that is too large becomes
    /// the largest, a NaN 0.
    pub fn fixed_of(&mut self, format: Format, bits: u64, to: Fixed, mode: Mode) -> u64 {
        let bits = self.operand(format, bits);
        let (negative, magnitude) = match format.unpack(bits) {
            Value::Nan => {
                self.raise(INVALID);
                return 0;
            }
            Value::Infinite(negative) => (negative, None),
            Value::Finite(value) => (value.negative, self.integral(value, to, mode)),
        };
        let magnitude = magnitude.unwrap_or_else(|| {
            self.raise(INVALID);
            to.largest(negative)
        }) as u64;
        if negative { magnitude.wrapping_neg() } else { magnitude }
    }

    /// The magnitude of a number as fixed point, if it is not too large.
    fn integral(&mut self, value: Finite, to: Fixed, mode: Mode) -> Option<u128> {
        let exponent = value.exponent + to.fraction_bits as i32;
        let (magnitude, inexact) = match exponent {
            _ if value.significand == 0 => (0, false),
            ..0 => shift_rounded(value.significand, exponent.unsigned_abs(), mode, value.negative),
            0..=LARGEST_SHIFT => (value.significand << exponent, false),
            _ => return None,
        };
        if magnitude > to.largest(value.negative) {
            return None;
        }
        if inexact {
            self.raise(INEXACT);
        }
        Some(magnitude)
    }

    /// The number `value` / 2^`fraction_bits`.
    pub fn number_of_fixed(&mut self, format: Format, value: i64, fraction_bits: u32, mode: Mode) -> u64 {
        if value == 0 {
            return 0;
        }
        let significand = u128::from(value.unsigned_abs());
        let value = Finite { negative: value < 0, exponent: -(fraction_bits as i32), significand };
        self.round(format, value, mode)
    }
}
