//! A device's registers as a table that runs.
//!
//! [`registers!`] turns the table of a data sheet into a [`Map`]: names, offsets, kinds of access, values after reset,
//! bits. [`Registers`] holds the values of a map: it stores, masks, resets, saves and names them. [`Table`] connects
//! them to the bus: a model implements [`Table::shown`] and [`Table::wrote`] for those registers alone whose accesses
//! have an effect. Renode's register collections and Linux's regmap are built this way, too; here the table is checked
//! when the engine is compiled.
//!
//! ```text
//! registers! {
//!     /// The register map (RM0090, "USART registers").
//!     pub const MAP "USART_" {
//!         SR    0x00 ro volatile reset 0xc0 mask 0x3ff { PE 0, FE 1, RXNE 5 w0c, TC 6 w0c, TXE 7 };
//!         BRR   0x08 rw mask 0xffff;
//!         CR2   0x10 rw mask 0x7f6f { STOP 12..14, LINEN 14 unmodelled };
//!     }
//! }
//! ```
//!
//! The macro defines each register's offset as a constant (`SR`), and each bit or field as a mask (`SR_TC`,
//! `CR2_STOP`). In this order, a row has the name, the offset, the access, and then, each optional:
//!
//! - `volatile`: the device computes the value, or a write only starts something: nothing is stored.
//! - `once`: the first write after reset counts, later ones do nothing.
//! - `locked_by BITS in REGISTER`: while a bit of BITS is set in that register, writes do nothing.
//! - `keyed KEY in MASK`: a write does nothing unless this field, which need not exist, has this value.
//! - `reset VALUE` (0).
//! - `mask MASK`: the bits that exist; without it, the bits that are listed, and without a list all. Others read 0.
//! - the bits: a number, or a range of bits; then the access, if it is another than the register's, and `unmodelled`
//!   for a bit that is stored but has no function in the model.
//!
//! Kinds of access are `ro`, `wo` (reads give 0), `rw`, `w1c`, `w0c`, `w1t` and `w1s` (a written 1 clears, a written 0
//! clears, a written 1 toggles, a written 1 sets), `rc` (a read clears), `set REGISTER` and `clear REGISTER` (a written
//! 1 sets or clears the bit of that register; a read gives 0), and the same as `set_of` and `clear_of`, which read as
//! that register. `pair` is `set_of` itself, with a register after it that clears its bits: its name has CLR in place
//! of SET. `[FIRST..END; STEP]` after a name makes several registers of a row, numbered from FIRST; with letters as in
//! `['A'..'J'; 8]`, they have letters.

mod map;
mod port;
mod table;

#[cfg(test)]
pub mod walk;

#[cfg(test)]
mod tests;

pub use self::map::{Access, Banks, Bit, Map, NO_ROW, Row, Rule, index_of, sorted, units};
pub use self::port::{Lanes, Port};
pub use self::table::{Refused, RegisterBank, Registers, Table, read, unmodelled, write};
pub use crate::{by_table, joined};
pub use cyclescope_derive::{RegisterBank, registers};

/// `bit` if `on`, else 0.
pub const fn flag(bit: u32, on: bool) -> u32 {
    if on { bit } else { 0 }
}

/// The field of `value` that `mask` selects, as a number.
pub const fn field(value: u32, mask: u32) -> u32 {
    (value & mask) >> mask.trailing_zeros()
}

/// The names of the flags that are set; `None` if no flag is set.
pub fn names_of(set: u32, names: &[(u32, &str)]) -> Option<String> {
    let set: Vec<&str> = names.iter().filter(|(flag, _)| set & flag != 0).map(|(_, name)| *name).collect();
    (!set.is_empty()).then(|| set.join(", "))
}
