//! A set of exception numbers.

/// A set of numbers from 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Set([u64; 4]);

impl Set {
    pub fn contains(&self, number: u8) -> bool {
        self.0[usize::from(number >> 6)] >> (number & 63) & 1 != 0
    }

    pub fn set(&mut self, number: u8, member: bool) {
        let (word, bit) = (&mut self.0[usize::from(number >> 6)], 1 << (number & 63));
        *word = if member { *word | bit } else { *word & !bit };
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// What is in both.
    pub fn and(&self, other: &Set) -> Set {
        Set(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The members, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..4u8).flat_map(move |at| {
            let mut rest = self.0[usize::from(at)];
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as u8;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then(|| 64 * at + bit)
            })
        })
    }

    /// 32 of the numbers, from `first` up: the first is bit 0. There is nothing above 255.
    pub fn word(&self, first: u32) -> u32 {
        let part = |number: u32| self.0.get(number as usize / 64).map_or(0, |word| word >> (number % 64));
        let (low, rest) = (part(first), 64 - first % 64);
        (if rest < 32 { low | part(first + rest) << rest } else { low }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_anywhere() {
        let mut set = Set::default();
        for number in [16, 47, 48, 79, 240, 255] {
            set.set(number, true);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [16, 47, 48, 79, 240, 255]);
        assert_eq!([16, 48, 80, 240].map(|first| set.word(first)), [0x8000_0001, 0x8000_0001, 0, 0x8001]);
        set.set(47, false);
        assert!(!set.contains(47) && set.contains(48) && set.word(16) == 1);
    }
}
