//! Scrambling of the data of TRSFR_READ_MEMORY and TRSFR_WRITE_MEMORY (QSPI_SMR, QSPI_SKR).
//!
//! The chip's function is not public. Here a byte is combined by exclusive or with a byte that depends on its address,
//! the key and, unless QSPI_SMR.RVDIS is set, a value that differs between devices: each address has its own
//! permutation of bytes, reading is the inverse of writing with the same settings, and without them the contents look
//! random.

use engine::state::State;

/// A keystream by address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Scrambler {
    seed: Option<u32>,
}

impl Scrambler {
    /// With a key and the device's value; `random` is 0 if it is not used.
    pub const fn on(key: u32, random: u32) -> Scrambler {
        Scrambler { seed: Some(mixed(key).wrapping_add(mixed(!random))) }
    }

    /// Without scrambling.
    pub const fn off() -> Scrambler {
        Scrambler { seed: None }
    }

    /// True if bytes are scrambled.
    pub const fn is_on(self) -> bool {
        self.seed.is_some()
    }

    /// Scrambles bytes from `address` on, or unscrambles them.
    pub fn apply(self, address: u32, bytes: &mut [u8]) {
        let Some(seed) = self.seed else { return };
        for (index, byte) in bytes.iter_mut().enumerate() {
            let at = address.wrapping_add(index as u32);
            *byte ^= mixed(seed ^ at >> 2).to_le_bytes()[(at % 4) as usize];
        }
    }
}

/// A permutation of 32-bit words whose bits all depend on all bits.
const fn mixed(word: u32) -> u32 {
    let word = (word ^ word >> 16).wrapping_mul(0x7feb_352d);
    let word = (word ^ word >> 15).wrapping_mul(0x846c_a68b);
    word ^ word >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unscrambling_is_scrambling_again() {
        let text = *b"the same bytes at other addresses";
        let scrambled = |scrambler: Scrambler, address| {
            let mut bytes = text;
            scrambler.apply(address, &mut bytes);
            bytes
        };
        let keyed = Scrambler::on(0x1234_5678, 7);
        let once = scrambled(keyed, 0x1001);
        assert_ne!(once, text);
        assert_ne!(once, scrambled(keyed, 0x1002));
        assert_ne!(once, scrambled(Scrambler::on(0x1234_5679, 7), 0x1001));
        assert_ne!(once, scrambled(Scrambler::on(0x1234_5678, 8), 0x1001));
        let mut back = once;
        let (head, tail) = back.split_at_mut(5);
        keyed.apply(0x1001, head);
        keyed.apply(0x1006, tail);
        assert_eq!(back, text);
        assert_eq!(scrambled(Scrambler::off(), 0x1001), text);
    }
}
