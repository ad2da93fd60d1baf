//! Option bytes of STM32s: the values that a chip reads when its reset ends, as set by a programmer.

use engine::dt::reader::NodeReader;

use crate::registers::{Bit, Row, field as field_of};

/// The property for the option bytes.
const PROPERTY: &str = "cyclescope,option-bytes";

/// The option bytes of a register: its bits except those in `none`. One that has a function in the model changes what
/// the chip does; others only read back.
fn fields(row: &Row, none: u32) -> impl Iterator<Item = &'static Bit> {
    row.bits.iter().filter(move |bit| bit.mask & none == 0)
}

fn names(row: &Row, none: u32) -> String {
    fields(row, none).map(|bit| bit.name).collect::<Vec<_>>().join(", ")
}

/// The register's name in properties: without that of the controller.
fn name_of(row: &Row) -> &'static str {
    row.name.rsplit('_').next().unwrap_or_default()
}

/// Reads the option bytes of a node, as `DBANK=0,nBOOT0=1`, into a register that has its reset value as the chip is
/// delivered; or all of it, as `OPTR=0xffaff8aa`. Bits in `none` are no option bytes.
pub fn from_node(reader: &mut NodeReader, row: &Row, none: u32) -> u32 {
    let meaning = format!(
        "option bytes that differ from those of a new chip, as NAME=VALUE with commas between: {}; {}=VALUE for all of \
         them",
        names(row, none),
        name_of(row)
    );
    let mut options = row.reset;
    let Some(text) = reader.string(PROPERTY, &meaning) else { return options };
    for part in text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
        match assigned(part, row, none) {
            Ok((mask, value)) => options = options & !mask | value,
            Err(allowed) => reader.out_of_range(PROPERTY, part.escape_debug(), allowed),
        }
    }
    options
}

/// The bits that an assignment is for, and what they become; or what is expected in its place.
fn assigned(part: &str, row: &Row, none: u32) -> Result<(u32, u32), String> {
    let (name, value) = part.split_once('=').ok_or("NAME=VALUE is expected, as DBANK=0")?;
    let field = fields(row, none).find(|bit| bit.name.eq_ignore_ascii_case(name)).map(|bit| bit.mask);
    let whole = name.eq_ignore_ascii_case(name_of(row)).then_some(u32::MAX);
    let Some(mask) = whole.or(field) else {
        return Err(format!("there are {} and {}", names(row, none), name_of(row)));
    };
    let number = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => value.parse(),
    };
    let most = field_of(mask, mask);
    match number {
        Ok(number) if number <= most => Ok((mask, number << mask.trailing_zeros())),
        _ => Err(format!("{name} has {} bits: 0 to {most:#x}", mask.count_ones())),
    }
}

/// The note for options that differ from a new chip's and are not modelled.
pub fn note_of(options: u32, row: &Row, none: u32) -> Option<String> {
    let without = |bit: &&Bit| !bit.is_modelled && (options ^ row.reset) & bit.mask != 0;
    let names: Vec<&str> = fields(row, none).filter(without).map(|bit| bit.name).collect();
    (!names.is_empty())
        .then(|| format!("option bytes that only read back, as they are not modelled: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::registers;

    registers! {
        const MAP "FLASH_" {
            OPTR 0x20 rw reset 1 << 22 mask u32::MAX { DBANK 22, BOR_LEV 8..11 unmodelled, LOCK 0 };
        }
    }

    #[test]
    fn names_and_the_register_are_assigned_to() {
        for (part, expected) in [
            ("DBANK=0", Ok((1 << 22, 0))),
            ("dbank=1", Ok((1 << 22, 1 << 22))),
            ("BOR_LEV=0x4", Ok((7 << 8, 4 << 8))),
            ("OPTR=0xffaff8aa", Ok((u32::MAX, 0xffaf_f8aa))),
            ("DBANK=2", Err("DBANK has 1 bits: 0 to 0x1")),
            ("DBANK=off", Err("DBANK has 1 bits: 0 to 0x1")),
            ("DBNK=0", Err("there are DBANK, BOR_LEV and OPTR")),
            ("DBANK", Err("NAME=VALUE is expected, as DBANK=0")),
        ] {
            assert_eq!(assigned(part, &MAP.rows[0], 1), expected.map_err(str::to_owned), "{part}");
        }
        assert_eq!(note_of(0, &MAP.rows[0], 1), None);
        let note = "option bytes that only read back, as they are not modelled: BOR_LEV";
        assert_eq!(note_of(1 << 22 | 1 << 8, &MAP.rows[0], 1).as_deref(), Some(note));
    }
}
