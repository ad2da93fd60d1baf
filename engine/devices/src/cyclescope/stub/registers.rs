//! Registers of a peripheral without a model, as a board lists them: names, widths, access, values after reset.

use std::collections::BTreeMap;
use std::str::SplitWhitespace;
use std::sync::{Mutex, PoisonError};

use crate::registers::{Access, Bit, Row, Rule};

/// The syntax of a string of `cyclescope,registers`, for messages.
pub const GRAMMAR: &str = "\"NAME OFFSET\", then as needed \"bits 8\" or \"bits 16\", \"ro\" or \"wo\", \
                           \"reset VALUE\", \"ones MASK\"";

/// The rows of all texts so far. Rows refer to static names and bits, and the same board is built many times: what a
/// text says is kept once, until the process ends.
static KEPT: Mutex<BTreeMap<String, Row>> = Mutex::new(BTreeMap::new());

/// The row that a string of `cyclescope,registers` describes, if it follows [`GRAMMAR`]. Bits that always read as ones
/// are read-only, and set after reset.
pub fn row(text: &str) -> Option<Row> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(row) = kept.get(text) {
        return Some(*row);
    }
    let row = parsed(text)?;
    kept.insert(text.to_owned(), row);
    Some(row)
}

/// True if the register has the byte at `offset`.
pub const fn holds(row: &Row, offset: u32) -> bool {
    offset >= row.offset && offset - row.offset < bytes(row.mask)
}

/// Bits that always read as ones.
pub fn ones(row: &Row) -> u32 {
    row.bits.iter().fold(0, |ones, bit| ones | bit.mask)
}

/// Bits that loads do not show.
pub fn hidden(row: &Row) -> u32 {
    if row.access == Access::Wo { row.mask } else { 0 }
}

/// Bits that stores do not change.
pub fn fixed(row: &Row) -> u32 {
    row.mask & !row.after_write(0, u32::MAX)
}

const fn bytes(mask: u32) -> u32 {
    mask.count_ones() / 8
}

/// What a text says of a register.
struct Options {
    access: Access,
    mask: u32,
    reset: u32,
    ones: u32,
}

fn parsed(text: &str) -> Option<Row> {
    let mut words = text.split_whitespace();
    let (name, offset) = (words.next()?, number(words.next())?);
    let mut options = Options { access: Access::Rw, mask: u32::MAX, reset: 0, ones: 0 };
    while let Some(word) = words.next() {
        options.take(word, &mut words)?;
    }
    let Options { access, mask, reset, ones } = options;
    if !offset.is_multiple_of(bytes(mask)) || (reset | ones) & !mask != 0 {
        return None;
    }
    let fixed = Bit { name: "ones", mask: ones, access: Access::Ro, is_modelled: true };
    let bits: &[Bit] = if ones == 0 { &[] } else { Box::leak(Box::new([fixed])) };
    Some(Row::with_bits(name.to_owned().leak(), offset, access, reset | ones, mask, Rule::Plain, bits))
}

impl Options {
    fn take(&mut self, word: &str, words: &mut SplitWhitespace) -> Option<()> {
        match (word, self.access) {
            ("bits", _) => {
                let bits = number(words.next()).filter(|bits| matches!(bits, 8 | 16 | 32))?;
                self.mask = u32::MAX >> (32 - bits);
            }
            ("ro", Access::Rw | Access::Ro) => self.access = Access::Ro,
            ("wo", Access::Rw | Access::Wo) => self.access = Access::Wo,
            ("reset", _) => self.reset = number(words.next())?,
            ("ones", _) => self.ones = number(words.next())?,
            _ => return None,
        }
        Some(())
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
        let register = row("CR 0x10 bits 16 ro reset 0x83 ones 0x200").unwrap();
        assert_eq!((register.name, register.offset, register.mask), ("CR", 0x10, 0xffff));
        assert_eq!((register.access, register.reset), (Access::Ro, 0x283));
        assert_eq!(register.bits.iter().map(|bit| bit.mask).collect::<Vec<u32>>(), [0x200]);
        assert!(holds(&register, 0x11) && !holds(&register, 0x12) && !holds(&register, 0x0f));
        let plain = row("DR 4").unwrap();
        assert_eq!((plain.mask, plain.access, plain.reset), (u32::MAX, Access::Rw, 0));
        assert!(std::ptr::eq(row("DR 4").unwrap().name, plain.name), "a text is kept once");
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
            assert_eq!(row(text), None, "{text}");
        }
    }
}
