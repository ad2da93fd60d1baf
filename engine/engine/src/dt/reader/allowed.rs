//! Allowed numbers of a property: checked by the reader, and shown in the reference.

use std::ops::RangeInclusive;

/// Checks a number. Ranges and lists describe themselves in words; for a function, the property's meaning has to do so.
pub trait Allowed {
    /// True if the property may have this value.
    fn allows(&self, value: u32) -> bool;

    /// The allowed numbers, in words.
    fn in_words(&self) -> Option<String> {
        None
    }
}

/// Any number is valid, as for an address or the contents of a register.
pub const ANY: RangeInclusive<u32> = 0..=u32::MAX;

/// A power of two within a range.
pub struct PowerOfTwo(pub RangeInclusive<u32>);

/// A multiple of a number; 0 is one.
pub struct MultipleOf(pub u32);

impl<F: Fn(u32) -> bool> Allowed for F {
    fn allows(&self, value: u32) -> bool {
        self(value)
    }
}

impl Allowed for RangeInclusive<u32> {
    fn allows(&self, value: u32) -> bool {
        self.contains(&value)
    }

    fn in_words(&self) -> Option<String> {
        Some(match (*self.start(), *self.end()) {
            (0, u32::MAX) => "any number".to_owned(),
            (start, u32::MAX) => format!("{start} and above"),
            (start, end) if end == start + 1 => format!("{start} or {end}"),
            (start, end) => format!("{start} to {end}"),
        })
    }
}

impl<const N: usize> Allowed for [u32; N] {
    fn allows(&self, value: u32) -> bool {
        self.contains(&value)
    }

    fn in_words(&self) -> Option<String> {
        Some(either(&self.map(|value| value.to_string())))
    }
}

impl Allowed for PowerOfTwo {
    fn allows(&self, value: u32) -> bool {
        value.is_power_of_two() && self.0.contains(&value)
    }

    fn in_words(&self) -> Option<String> {
        let powers: Vec<String> = (0..u32::BITS)
            .map(|bit| 1 << bit)
            .filter(|power| self.0.contains(power))
            .map(|n: u32| n.to_string())
            .collect();
        Some(match &powers[..] {
            [first, .., last] if powers.len() > 6 => format!("a power of two, {first} to {last}"),
            few => either(few),
        })
    }
}

impl Allowed for MultipleOf {
    fn allows(&self, value: u32) -> bool {
        value.is_multiple_of(self.0)
    }

    fn in_words(&self) -> Option<String> {
        Some(format!("a multiple of {}", self.0))
    }
}

/// "a, b or c".
pub(super) fn either(words: &[String]) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allowed: &impl Allowed, words: Option<&str>, inside: &[u32], outside: &[u32]) {
        assert_eq!(allowed.in_words().as_deref(), words);
        assert!(inside.iter().all(|value| allowed.allows(*value)), "{words:?}");
        assert!(!outside.iter().any(|value| allowed.allows(*value)), "{words:?}");
    }

    #[test]
    fn words_and_check_are_the_same() {
        check(&ANY, Some("any number"), &[0, 7, u32::MAX], &[]);
        check(&(0..=1), Some("0 or 1"), &[0, 1], &[2]);
        check(&(1..=32), Some("1 to 32"), &[1, 32], &[0, 33]);
        check(&(2..=u32::MAX), Some("2 and above"), &[2, u32::MAX], &[1]);
        check(&[8, 16, 32], Some("8, 16 or 32"), &[8, 16, 32], &[0, 9]);
        check(&[2], Some("2"), &[2], &[1]);
        check(&PowerOfTwo(4..=32), Some("4, 8, 16 or 32"), &[4, 32], &[2, 12, 64]);
        check(&PowerOfTwo(64..=1 << 20), Some("a power of two, 64 to 1048576"), &[64, 1 << 20], &[0, 32, 65]);
        check(&MultipleOf(4), Some("a multiple of 4"), &[0, 4], &[2]);
        check(&(|value| value == 3), None, &[3], &[4]);
    }
}
