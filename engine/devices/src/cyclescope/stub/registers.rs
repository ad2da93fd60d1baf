//! Registers of a peripheral without a model, as a board lists them: names, widths, access, values after reset.

use std::str::{FromStr, SplitWhitespace};

/// The syntax of a string of `cyclescope,registers`, for messages.
pub const GRAMMAR: &str = "\"NAME OFFSET\", then as needed \"bits 8\" or \"bits 16\", \"ro\" or \"wo\", \
                           \"reset VALUE\", \"ones MASK\"";

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in the document.
    pub name: String,
    /// Offset in bytes, a multiple of its width.
    pub offset: u32,
    /// Width in bytes: 1, 2 or 4.
    pub bytes: u32,
    /// True if loads return its value; else they return 0.
    pub readable: bool,
    /// True if stores change its value.
    pub writable: bool,
    /// Value after reset.
    pub reset: u32,
    /// Bits that always read as ones: ready flags that the firmware waits for.
    pub ones: u32,
}

impl Register {
    /// A mask of its bits, in the low bits.
    pub const fn mask(&self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes)
    }

    /// True if it has the byte at `offset`.
    pub const fn holds(&self, offset: u32) -> bool {
        offset >= self.offset && offset - self.offset < self.bytes
    }
}

impl FromStr for Register {
    type Err = ();

    fn from_str(text: &str) -> Result<Register, ()> {
        let mut words = text.split_whitespace();
        let name = words.next().ok_or(())?.to_owned();
        let offset = number(words.next()).ok_or(())?;
        let mut register = Register { name, offset, bytes: 4, readable: true, writable: true, reset: 0, ones: 0 };
        while let Some(word) = words.next() {
            register.take(word, &mut words)?;
        }
        let fits = offset.is_multiple_of(register.bytes)
            && (register.reset | register.ones) & !register.mask() == 0
            && (register.readable || register.writable);
        fits.then_some(register).ok_or(())
    }
}

impl Register {
    fn take(&mut self, word: &str, words: &mut SplitWhitespace) -> Result<(), ()> {
        match word {
            "bits" => {
                self.bytes = match number(words.next()).ok_or(())? {
                    8 => 1,
                    16 => 2,
                    32 => 4,
                    _ => return Err(()),
                }
            }
            "ro" => self.writable = false,
            "wo" => self.readable = false,
            "reset" => self.reset = number(words.next()).ok_or(())?,
            "ones" => self.ones = number(words.next()).ok_or(())?,
            _ => return Err(()),
        }
        Ok(())
    }
}

/// A number of 32 bits, in decimal or as 0x...
pub fn number(word: Option<&str>) -> Option<u32> {
    let word = word?;
    let parsed = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => word.parse(),
    };
    parsed.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_a_name_an_offset_and_what_differs() {
        let register: Register = "CR 0x10 bits 16 ro reset 0x83 ones 0x200".parse().unwrap();
        let expected = Register {
            name: "CR".into(),
            offset: 0x10,
            bytes: 2,
            readable: true,
            writable: false,
            reset: 0x83,
            ones: 0x200,
        };
        assert_eq!(register, expected);
        assert!(register.holds(0x11) && !register.holds(0x12) && !register.holds(0x0f));
        let plain: Register = "DR 4".parse().unwrap();
        assert_eq!((plain.bytes, plain.mask(), plain.readable, plain.writable), (4, u32::MAX, true, true));
    }

    #[test]
    fn what_is_no_register_is_refused() {
        for text in [
            "",
            "CR",
            "CR x",
            "CR 0x",
            "CR 2",
            "CR -4",
            "CR 4 bits 12",
            "CR 4 bits",
            "CR 4 reset",
            "CR 4 bits 8 reset 0x100",
            "CR 4 ro wo",
            "CR 4 rw",
            "CR 0x100000000",
        ] {
            assert_eq!(text.parse::<Register>(), Err(()), "{text}");
        }
    }
}
