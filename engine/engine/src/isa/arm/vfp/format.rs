//! Formats of numbers (ARM, A2.7), and unpacked values. A number is in the low bits of a u64.

use super::control::{Control, INPUT_DENORMAL, INVALID};

/// A binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Number of bits.
    pub bits: u32,
    /// Number of fraction bits.
    pub fraction_bits: u32,
    /// The bits of infinity; all numbers are below.
    pub infinity: u64,
}

/// 16 bits.
pub const HALF: Format = Format { bits: 16, fraction_bits: 10, infinity: 0x7c00 };
/// 32 bits.
pub const SINGLE: Format = Format { bits: 32, fraction_bits: 23, infinity: 0x7f80_0000 };
/// 64 bits.
pub const DOUBLE: Format = Format { bits: 64, fraction_bits: 52, infinity: 0x7ff0_0000_0000_0000 };

/// A finite number: significand * 2^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finite {
    /// Its sign, that of a zero too.
    pub negative: bool,
    /// Exponent of the significand's last bit.
    pub exponent: i32,
    /// 0 for zero.
    pub significand: u128,
}

/// Unpacked value of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Finite(Finite),
    /// Infinity; true if negative.
    Infinite(bool),
    /// Not a number.
    Nan,
}

impl Format {
    /// The fraction's bits.
    fn fraction_mask(self) -> u64 {
        (1 << self.fraction_bits) - 1
    }

    fn exponent_bits(self) -> u32 {
        self.bits - 1 - self.fraction_bits
    }

    /// The exponent's bias.
    fn bias(self) -> i32 {
        (1 << (self.exponent_bits() - 1)) - 1
    }

    /// The sign's bit.
    pub fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// The bit of the fraction that is set in quiet NaNs.
    fn quiet(self) -> u64 {
        1 << (self.fraction_bits - 1)
    }

    /// The NaN that invalid operations return.
    pub fn default_nan(self) -> u64 {
        self.infinity | self.quiet()
    }

    /// The smallest exponent of a number that is not denormal.
    pub fn min_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// True if the sign is set.
    pub fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    /// With the sign inverted.
    pub fn negate(self, bits: u64) -> u64 {
        bits ^ self.sign()
    }

    /// Without the sign.
    pub fn magnitude(self, bits: u64) -> u64 {
        bits & !self.sign()
    }

    /// With this sign.
    pub fn signed(self, negative: bool, magnitude: u64) -> u64 {
        if negative { magnitude | self.sign() } else { magnitude }
    }

    /// True for any NaN.
    pub fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity
    }

    /// True for a signaling NaN.
    pub fn is_signaling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }

    /// The quiet NaN of a NaN.
    pub fn quieted(self, bits: u64) -> u64 {
        bits | self.quiet()
    }

    /// The immediate of vmov (ARM, A7.5): a sign, three bits of exponent, four of fraction.
    pub fn expand(self, imm8: u32) -> u64 {
        let exponent = match imm8 & 0x40 {
            0 => 1 << (self.bits - 2),
            _ => ((1 << (self.exponent_bits() - 3)) - 1) << (self.fraction_bits + 2),
        };
        let low = u64::from(imm8 & 0x3f) << (self.fraction_bits - 4);
        self.signed(imm8 & 0x80 != 0, exponent | low)
    }

    /// Unpacks a number.
    pub fn unpack(self, bits: u64) -> Value {
        let (negative, magnitude) = (self.is_negative(bits), self.magnitude(bits));
        if magnitude >= self.infinity {
            return if magnitude == self.infinity { Value::Infinite(negative) } else { Value::Nan };
        }
        let (biased, fraction) = ((magnitude >> self.fraction_bits) as i32, magnitude & self.fraction_mask());
        let hidden = if biased != 0 { 1 << self.fraction_bits } else { 0 };
        let exponent = biased.max(1) - self.bias() - self.fraction_bits as i32;
        Value::Finite(Finite { negative, exponent, significand: u128::from(hidden | fraction) })
    }
}

impl Control {
    /// An operand: with FZ, a denormal one is flushed to zero.
    pub fn operand(&mut self, format: Format, bits: u64) -> u64 {
        let magnitude = format.magnitude(bits);
        if self.flushes() && magnitude != 0 && magnitude >> format.fraction_bits == 0 {
            self.raise(INPUT_DENORMAL);
            return bits & format.sign();
        }
        bits
    }

    /// The result if one of the operands is a NaN: the first signaling one, else the first (ARM, A2.7).
    pub fn nan_of(&mut self, format: Format, operands: &[u64]) -> Option<u64> {
        let signaling = operands.iter().find(|bits| format.is_signaling(**bits));
        if signaling.is_some() {
            self.raise(INVALID);
        }
        let nan = *signaling.or_else(|| operands.iter().find(|bits| format.is_nan(**bits)))?;
        Some(if self.default_nan() { format.default_nan() } else { format.quieted(nan) })
    }

    /// The result of an invalid operation.
    pub fn invalid(&mut self, format: Format) -> u64 {
        self.raise(INVALID);
        format.default_nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_expand_as_in_the_manual() {
        // 2, 31, 0.125, 1, -1.9375, 0.2421875.
        let rows = [
            (0x00, 0x4000_0000, 0x4000_0000_0000_0000),
            (0x3f, 0x41f8_0000, 0x403f_0000_0000_0000),
            (0x40, 0x3e00_0000, 0x3fc0_0000_0000_0000),
            (0x70, 0x3f80_0000, 0x3ff0_0000_0000_0000),
            (0xff, 0xbff8_0000, 0xbfff_0000_0000_0000),
            (0x4f, 0x3e78_0000, 0x3fcf_0000_0000_0000),
        ];
        for (imm8, single, double) in rows {
            assert_eq!((SINGLE.expand(imm8), DOUBLE.expand(imm8)), (single, double), "{imm8:#x}");
        }
    }

    #[test]
    fn numbers_are_taken_apart() {
        let finite = |bits| match SINGLE.unpack(bits) {
            Value::Finite(Finite { negative, exponent, significand }) => (negative, exponent, significand),
            other => panic!("{other:?}"),
        };
        assert_eq!(finite(0x3f80_0000), (false, -23, 1 << 23));
        assert_eq!(finite(0x8000_0001), (true, -149, 1));
        assert_eq!(finite(0x8000_0000), (true, -149, 0));
        assert_eq!(SINGLE.unpack(0xff80_0000), Value::Infinite(true));
        assert_eq!(SINGLE.unpack(0x7f80_0001), Value::Nan);
        assert!(SINGLE.is_signaling(0x7f80_0001) && !SINGLE.is_signaling(0x7fc0_0000));
        assert_eq!((HALF.sign(), SINGLE.sign(), DOUBLE.sign()), (1 << 15, 1 << 31, 1 << 63));
    }
}
