//! Divisions that end early, when the remaining bits of the quotient are known.

use super::cycles;
use crate::dt::reader::{NodeReader, PowerOfTwo};
use crate::state::{Fresh, State};

/// Cycles of a division, by the sizes of its operands' magnitudes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct EarlyDivision {
    /// Cycles with an operand that is 0.
    pub of_zero: u8,
    /// Cycles if the dividend has fewer bits than the divisor.
    pub of_less: u8,
    /// Cycles of other divisions, without the steps of the quotient.
    pub least: u8,
    /// Bits of the quotient per further cycle: a power of two.
    pub bits_a_cycle: u8,
}

impl EarlyDivision {
    /// Reads it from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader) -> EarlyDivision {
        let meaning = "bits of the quotient that a cycle of a division gives";
        EarlyDivision {
            of_zero: cycles(reader, "divide-zero", 1, "cycles of a division with an operand that is 0"),
            of_less: cycles(
                reader,
                "divide-less",
                1,
                "cycles of a division whose dividend has fewer significant bits than the divisor",
            ),
            least: cycles(
                reader,
                "divide-least",
                1,
                "cycles of another division, beyond those for the quotient's bits",
            ),
            bits_a_cycle: reader.timing_u32("cyclescope,divide-bits-per-cycle", PowerOfTwo(1..=32), meaning).max(1)
                as u8,
        }
    }

    /// Cycles of the longest division.
    pub fn most_cycles(&self) -> u32 {
        let steps = u32::from(self.least) + ((u32::BITS - 1) >> self.shift());
        steps.max(u32::from(self.of_zero)).max(u32::from(self.of_less))
    }

    /// Right shift that turns the dividend's further bits into cycles.
    pub fn shift(&self) -> u32 {
        u32::from(self.bits_a_cycle).trailing_zeros()
    }

    /// Cycles by which a division is shorter than the longest one.
    pub fn saved_cycles(&self, dividend: u32, divisor: u32, signed: bool) -> u32 {
        let bits = |value: u32| {
            let magnitude = if signed { (value as i32).unsigned_abs() } else { value };
            u32::BITS - magnitude.leading_zeros()
        };
        let took = match bits(dividend).checked_sub(bits(divisor)) {
            _ if dividend == 0 || divisor == 0 => u32::from(self.of_zero),
            None => u32::from(self.of_less),
            Some(further) => u32::from(self.least) + (further >> self.shift()),
        };
        self.most_cycles() - took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_takes_as_many_cycles_as_were_measured() {
        let division = EarlyDivision { of_zero: 2, of_less: 3, least: 5, bits_a_cycle: 4 };
        let cycles = |a, b, signed| division.most_cycles() - division.saved_cycles(a, b, signed);
        assert_eq!(division.most_cycles(), 12);
        assert_eq!([cycles(0, 7, false), cycles(7, 0, false), cycles(0, 0, true)], [2; 3]);
        assert_eq!([cycles(7, 8, false), cycles(1, u32::MAX, false), cycles(u32::MAX, u32::MAX - 1, true)], [3; 3]);
        assert_eq!([cycles(9, 8, false), cycles(8, 15, false), cycles(u32::MAX, u32::MAX - 1, false)], [5, 5, 5]);
        assert_eq!([cycles(127, 15, false), cycles(128, 15, false), cycles(0xff, 0xf, false)], [5, 6, 6]);
        assert_eq!([cycles(u32::MAX, 1, false), cycles(0x8000_0000, 1, true), cycles(u32::MAX, 1, true)], [12, 12, 5]);
    }
}
