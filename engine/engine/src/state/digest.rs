//! A hash that two texts have in common only by a rare coincidence. It detects damage and distinguishes versions; it
//! does not protect from forgery.

/// Odd, with random-looking bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of some bytes.
pub fn of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    // Two independent halves, so that the host computes both at once. A short word must not cancel the length out.
    let length = mixed(bytes.len() as u64);
    let start = [length, !length];
    let [one, other] = words.fold(start, |[one, other], word| {
        [
            (one ^ word).wrapping_mul(FACTOR).rotate_left(29),
            (other.wrapping_add(word)).rotate_left(23).wrapping_mul(FACTOR),
        ]
    });
    mixed(one ^ other.rotate_left(32))
}

/// The hash of several parts, in their order.
pub fn of_all<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    parts.into_iter().fold(0, |before, part| mixed(before ^ of(part)).wrapping_mul(FACTOR))
}

const fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    number ^ number >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_flipped_bit_is_noticed(
            bytes in prop::collection::vec(any::<u8>(), 1..100), at in any::<usize>(), bit in 0..8
        ) {
            let mut flipped = bytes.clone();
            let at = at % flipped.len();
            flipped[at] ^= 1_u8 << bit;
            prop_assert_ne!(of(&bytes), of(&flipped));
            prop_assert_ne!(of(&bytes), of(&bytes[..at]));
        }
    }

    #[test]
    fn parts_are_distinguished() {
        let of_all = |parts: &[&str]| of_all(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(of_all(&["ab", "c"]), of_all(&["a", "bc"]));
        assert_ne!(of_all(&["a", "b"]), of_all(&["b", "a"]));
        assert_ne!(of(b""), of(b"\0"));
        assert_ne!(of(b""), of(b"\x01"));
    }
}
