//! Multiplication and addition with one rounding (ARM, A2.7, FPMulAdd).

use super::arithmetic::product;
use super::control::Control;
use super::format::{Format, Value};

impl Control {
    /// addend + a * b.
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
