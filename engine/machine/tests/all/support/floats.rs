//! Random operands of floating-point instructions: all kinds of numbers, in all modes of Arm's FPSCR.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed + 1))
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        super::random::below(&mut self.0, bound)
    }

    fn bits(&mut self) -> u64 {
        (0..4).fold(0, |bits, _| bits << 16 | u64::from(self.below(1 << 16)))
    }

    /// A number with the given number of bits of exponent and of fraction.
    fn number(&mut self, exponent_bits: u32, fraction_bits: u32) -> u64 {
        let infinite = (1u64 << exponent_bits) - 1;
        let (one, low) = (infinite >> 1, u64::from(self.below(40)));
        let exponent = match self.below(12) {
            0 => 0,
            1 => 1 + low / 16,
            2 => infinite,
            3 => infinite - 1 - low / 16,
            // Where results are large enough, in a host's terms, or not.
            4 => 10 + 4 * low,
            5..=8 => one - 20 + low,
            9 | 10 => one + 15 + low / 2,
            _ => self.bits() & infinite,
        };
        let mask = (1 << fraction_bits) - 1;
        let fraction = match self.below(8) {
            0 | 1 => 0,
            2 => u64::MAX,
            3 => low / 10,
            4 => !low,
            // A few upper bits: sums and products are exact, or halfway.
            5 | 6 => low << (fraction_bits - 6),
            _ => self.bits(),
        };
        u64::from(self.below(2)) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction & mask
    }

    /// The value of two words: a double, two singles, or two integers.
    fn words(&mut self, before: u64) -> u64 {
        match self.below(12) {
            0..5 => self.number(11, 52),
            5..9 => self.number(8, 23) << 32 | self.number(8, 23),
            9 => self.bits() >> self.below(32) & !(1 << 31),
            // The last one again, or nearly, with another sign or not.
            10 => before ^ u64::from(self.below(2)) << 63 ^ u64::from(self.below(2)) << 31,
            _ => before.wrapping_add(u64::from(self.below(5))).wrapping_sub(2),
        }
    }

    fn fpscr(&mut self, vectors: bool) -> u32 {
        let conditions = self.below(16) << 28;
        conditions
            | match self.below(20) {
                0..9 => 0x10,
                9..12 => 0,
                12 => 0x9f,
                13 if vectors => 0x10 | 1 << (16 + self.below(3)),
                // AHP, DN, FZ, the mode; flags.
                _ => self.below(32) << 22 | self.below(32) | self.below(2) << 7,
            }
    }

    /// `rows` rows of operands: the values of eight words, and FPSCR, which may ask for vectors.
    pub fn rows(&mut self, rows: u32, vectors: bool) -> Vec<u32> {
        let mut words = Vec::new();
        for _ in 0..rows {
            let mut last = 0;
            for _ in 0..4 {
                last = self.words(last);
                words.extend([last as u32, (last >> 32) as u32]);
            }
            words.push(self.fpscr(vectors));
        }
        words
    }
}
