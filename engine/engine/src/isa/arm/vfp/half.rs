//! Half precision, in the format of IEEE 754 or the alternative one, which has larger numbers instead of infinities and
//! NaNs (ARM, A2.7).

use super::control::{Control, INEXACT, INVALID, UNDERFLOW};
use super::format::{Finite, Format, HALF, SINGLE, Value};
use super::round::rounded;

/// The alternative format, for unpacking: no value is infinite.
const ALTERNATIVE: Format = Format { infinity: 0x8000, ..HALF };
const SIGN: u16 = 1 << 15;
/// The largest number of the alternative format.
const ALTERNATIVE_LARGEST: u16 = 0x7fff;

impl Control {
    /// A half as a single: always exact. FZ does not apply to half denormals.
    pub fn number_of_half(&mut self, bits: u16) -> u32 {
        let negative = bits & SIGN != 0;
        let format = if self.alternative_half() { ALTERNATIVE } else { HALF };
        let result = match format.unpack(u64::from(bits & !SIGN)) {
            Value::Nan => self.nan_in(HALF, SINGLE, u64::from(bits)),
            Value::Infinite(_) => SINGLE.signed(negative, SINGLE.infinity),
            Value::Finite(value) if value.significand == 0 => SINGLE.signed(negative, 0),
            Value::Finite(value) => SINGLE.signed(negative, rounded(SINGLE, value, self.mode()).magnitude),
        };
        result as u32
    }

    /// A single as a half.
    pub fn half_of(&mut self, bits: u32) -> u16 {
        let bits = self.operand(SINGLE, u64::from(bits));
        let sign = if SINGLE.is_negative(bits) { SIGN } else { 0 };
        match SINGLE.unpack(bits) {
            Value::Nan if self.alternative_half() => {
                self.raise(INVALID);
                sign
            }
            Value::Nan => self.nan_in(SINGLE, HALF, bits) as u16,
            Value::Infinite(_) if self.alternative_half() => {
                self.raise(INVALID);
                sign | ALTERNATIVE_LARGEST
            }
            Value::Infinite(_) => sign | HALF.infinity as u16,
            Value::Finite(value) if value.significand == 0 => sign,
            Value::Finite(value) if self.alternative_half() => sign | self.round_to_alternative(value),
            Value::Finite(value) => self.round_to_half(value) as u16,
        }
    }

    /// Half denormals are not flushed.
    fn round_to_half(&mut self, value: Finite) -> u64 {
        const FZ: u32 = 1 << 24;
        let mut unflushed = Control(self.0 & !FZ);
        let result = unflushed.round(HALF, value, self.mode());
        self.raise(unflushed.0);
        result
    }

    /// The magnitude; a number that is too large is only invalid.
    fn round_to_alternative(&mut self, value: Finite) -> u16 {
        let result = rounded(ALTERNATIVE, value, self.mode());
        if result.magnitude > u64::from(ALTERNATIVE_LARGEST) {
            self.raise(INVALID);
            return ALTERNATIVE_LARGEST;
        }
        if result.inexact {
            self.raise(INEXACT | if result.tiny { UNDERFLOW } else { 0 });
        }
        result.magnitude as u16
    }
}
