//! Sum, product, quotient, square root, comparison (ARM, A2.7).

use super::control::{Control, DIVISION_BY_ZERO};
use super::format::{Finite, Format, Value};
use super::round::{Mode, shift_jammed};

/// The leading bit of significands that are to be added: there is room for a carry above, and for more bits than a
/// product has below.
const ADDEND_TOP: i32 = 125;

/// Result of a comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Less,
    Equal,
    Greater,
    /// One is a NaN.
    Unordered,
}

/// The same number (other than 0) with the leading bit of its significand at `top`; no bits are lost.
fn with_top(value: Finite, top: i32) -> Finite {
    let up = value.significand.leading_zeros() as i32 - (127 - top);
    Finite { significand: value.significand << up, exponent: value.exponent - up, ..value }
}

/// The sum of two numbers, exact except for a last bit that stands for the lost ones; significand 0 if they cancel out.
pub fn sum(a: Finite, b: Finite) -> Finite {
    if a.significand == 0 || b.significand == 0 {
        return if a.significand == 0 { b } else { a };
    }
    let (a, b) = (with_top(a, ADDEND_TOP), with_top(b, ADDEND_TOP));
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let small_significand = shift_jammed(small.significand, large.exponent.abs_diff(small.exponent));
    if large.negative == small.negative {
        return Finite { significand: large.significand + small_significand, ..large };
    }
    let significand = large.significand.abs_diff(small_significand);
    let negative = if large.significand >= small_significand { large.negative } else { small.negative };
    Finite { negative, significand, ..large }
}

/// The product of two numbers, exactly.
pub fn product(a: Finite, b: Finite) -> Finite {
    Finite {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        significand: a.significand * b.significand,
    }
}

impl Control {
    /// a + b.
    pub fn add(&mut self, format: Format, a: u64, b: u64) -> u64 {
        self.add_or_subtract(format, a, b, false)
    }

    /// a - b.
    pub fn subtract(&mut self, format: Format, a: u64, b: u64) -> u64 {
        self.add_or_subtract(format, a, b, true)
    }

    fn add_or_subtract(&mut self, format: Format, a: u64, b: u64, subtract: bool) -> u64 {
        let (a, b) = (self.operand(format, a), self.operand(format, b));
        if let Some(nan) = self.nan_of(format, &[a, b]) {
            return nan;
        }
        let b = if subtract { format.negate(b) } else { b };
        match (format.unpack(a), format.unpack(b)) {
            (Value::Infinite(a), Value::Infinite(b)) if a != b => self.invalid(format),
            (Value::Infinite(_), _) => a,
            (_, Value::Infinite(_)) => b,
            (Value::Finite(a), Value::Finite(b)) => self.round_sum(format, a, b),
            _ => self.invalid(format),
        }
    }

    /// The sum of two numbers, rounded. A sum of 0 has the sign that both have; if they differ, it is negative only if
    /// rounding goes down.
    pub fn round_sum(&mut self, format: Format, a: Finite, b: Finite) -> u64 {
        let value = sum(a, b);
        if value.significand == 0 {
            let negative = if a.negative == b.negative { a.negative } else { self.mode() == Mode::Down };
            return format.signed(negative, 0);
        }
        self.round(format, value, self.mode())
    }

    /// a * b.
    pub fn multiply(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.operand(format, a), self.operand(format, b));
        if let Some(nan) = self.nan_of(format, &[a, b]) {
            return nan;
        }
        let negative = format.is_negative(a) != format.is_negative(b);
        match (format.unpack(a), format.unpack(b)) {
            (Value::Finite(a), Value::Finite(b)) => {
                let value = product(a, b);
                match value.significand {
                    0 => format.signed(negative, 0),
                    _ => self.round(format, value, self.mode()),
                }
            }
            _ if format.magnitude(a) == 0 || format.magnitude(b) == 0 => self.invalid(format),
            _ => format.signed(negative, format.infinity),
        }
    }

    /// a / b.
    pub fn divide(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.operand(format, a), self.operand(format, b));
        if let Some(nan) = self.nan_of(format, &[a, b]) {
            return nan;
        }
        let negative = format.is_negative(a) != format.is_negative(b);
        match (format.unpack(a), format.unpack(b)) {
            (Value::Finite(a), Value::Finite(b)) => match (a.significand, b.significand) {
                (0, 0) => self.invalid(format),
                (0, _) => format.signed(negative, 0),
                (_, 0) => {
                    self.raise(DIVISION_BY_ZERO);
                    format.signed(negative, format.infinity)
                }
                _ => self.round(format, quotient(a, b), self.mode()),
            },
            (Value::Infinite(_), Value::Infinite(_)) => self.invalid(format),
            (Value::Infinite(_), _) => format.signed(negative, format.infinity),
            _ => format.signed(negative, 0),
        }
    }

    /// The square root.
    pub fn square_root(&mut self, format: Format, a: u64) -> u64 {
        let a = self.operand(format, a);
        if let Some(nan) = self.nan_of(format, &[a]) {
            return nan;
        }
        if format.magnitude(a) == 0 {
            return a;
        }
        match format.unpack(a) {
            _ if format.is_negative(a) => self.invalid(format),
            Value::Finite(value) => self.round(format, root(value), self.mode()),
            _ => a,
        }
    }

    /// Compares a and b; a quiet NaN is invalid only if `quiet_is_invalid`.
    pub fn compare(&mut self, format: Format, a: u64, b: u64, quiet_is_invalid: bool) -> Comparison {
        let (a, b) = (self.operand(format, a), self.operand(format, b));
        if format.is_nan(a) || format.is_nan(b) {
            if quiet_is_invalid || format.is_signaling(a) || format.is_signaling(b) {
                self.invalid(format);
            }
            return Comparison::Unordered;
        }
        let key = |bits| {
            let magnitude = format.magnitude(bits) as i64;
            if format.is_negative(bits) { -magnitude } else { magnitude }
        };
        match key(a).cmp(&key(b)) {
            std::cmp::Ordering::Less => Comparison::Less,
            std::cmp::Ordering::Equal => Comparison::Equal,
            std::cmp::Ordering::Greater => Comparison::Greater,
        }
    }
}

/// A quotient of at least 63 bits; its last bit is set if there is a remainder.
fn quotient(a: Finite, b: Finite) -> Finite {
    let (above, below) = (with_top(a, 126), with_top(b, 63));
    let (quotient, remainder) = (above.significand / below.significand, above.significand % below.significand);
    Finite {
        negative: a.negative != b.negative,
        exponent: above.exponent - below.exponent,
        significand: quotient | u128::from(remainder != 0),
    }
}

/// A square root of at least 63 bits; its last bit is set if it is not exact.
fn root(value: Finite) -> Finite {
    let high = with_top(value, 126);
    let high = if high.exponent % 2 == 0 { high } else { with_top(value, 125) };
    let root = high.significand.isqrt();
    let inexact = root * root != high.significand;
    Finite { negative: false, exponent: high.exponent / 2, significand: root | u128::from(inexact) }
}

impl Control {
    /// addend + a * b, with one rounding (FPMulAdd).
    pub fn multiply_add(&mut self, format: Format, addend: u64, a: u64, b: u64) -> u64 {
        let [addend, a, b] = [addend, a, b].map(|bits| self.operand(format, bits));
        let (infinite, zero) = (format.infinity, 0);
        let factors = (format.magnitude(a), format.magnitude(b));
        let product_is_invalid = factors == (infinite, zero) || factors == (zero, infinite);
        let nan = self.nan_of(format, &[addend, a, b]);
        match nan {
            // A quiet NaN does not hide that the product is invalid.
            Some(_) if product_is_invalid && !format.is_signaling(addend) => return self.invalid(format),
            Some(nan) => return nan,
            None => {}
        }
        let negative = format.is_negative(a) != format.is_negative(b);
        match (format.unpack(addend), format.unpack(a), format.unpack(b)) {
            (Value::Finite(addend), Value::Finite(a), Value::Finite(b)) => {
                self.round_sum(format, addend, product(a, b))
            }
            _ if product_is_invalid => self.invalid(format),
            (Value::Finite(_), _, _) => format.signed(negative, infinite),
            (_, Value::Finite(_), Value::Finite(_)) => addend,
            _ if format.is_negative(addend) != negative => self.invalid(format),
            _ => addend,
        }
    }
}
