//! Option bytes of STM32s: the values that a chip reads when its reset ends, as set by a programmer.

use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;

/// The property for the option bytes.
const PROPERTY: &str = "cyclescope,option-bytes";

/// A field of the register that has the option bytes after reset.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the reference manual.
    pub name: &'static str,
    /// Its lowest bit.
    pub first_bit: u32,
    /// Its bits.
    pub bits: u32,
    /// True if it changes the model's behaviour; other fields only read back.
    pub is_modelled: bool,
}

impl Field {
    /// A field that only reads back.
    pub const fn kept(name: &'static str, first_bit: u32, bits: u32) -> Field {
        Field { name, first_bit, bits, is_modelled: false }
    }

    /// A field that changes what the chip does.
    pub const fn modelled(name: &'static str, first_bit: u32, bits: u32) -> Field {
        Field { is_modelled: true, ..Field::kept(name, first_bit, bits) }
    }

    const fn mask(self) -> u32 {
        (((1_u64 << self.bits) - 1) << self.first_bit) as u32
    }
}

/// Reads the option bytes of a node, as `DBANK=0,nBOOT0=1`, into a register of this name that has `reset` as the chip
/// is delivered; or all of it, as `OPTR=0xffaff8aa`.
pub fn from_node(reader: &mut NodeReader, register: &str, fields: &[Field], reset: u32) -> u32 {
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    let meaning = format!(
        "option bytes that differ from those of a new chip, as NAME=VALUE with commas between: {}; {register}=VALUE \
         for all of them",
        names.join(", ")
    );
    let mut options = reset;
    let Some(text) = reader.string(PROPERTY, &meaning) else { return options };
    for part in text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
        match assigned(part, register, fields) {
            Ok((mask, value)) => options = options & !mask | value,
            Err(allowed) => {
                let (property, value) = (PROPERTY.to_owned(), part.escape_debug().to_string());
                reader.fault_at(PROPERTY, FaultKind::OutOfRange { property, value, allowed });
            }
        }
    }
    options
}

/// The bits that an assignment is for, and what they become; or what is expected in its place.
fn assigned(part: &str, register: &str, fields: &[Field]) -> Result<(u32, u32), String> {
    let (name, value) = part.split_once('=').ok_or("NAME=VALUE is expected, as DBANK=0")?;
    let whole = Field::kept("", 0, u32::BITS);
    let field = if name.eq_ignore_ascii_case(register) {
        Some(&whole)
    } else {
        fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    };
    let Some(field) = field else {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        return Err(format!("there are {} and {register}", names.join(", ")));
    };
    let number = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => value.parse(),
    };
    let most = field.mask() >> field.first_bit;
    match number {
        Ok(number) if number <= most => Ok((field.mask(), number << field.first_bit)),
        _ => Err(format!("{name} has {} bits: 0 to {most:#x}", field.bits)),
    }
}

/// The note for options that differ from a new chip's and are not modelled.
pub fn note_of(options: u32, reset: u32, fields: &[Field]) -> Option<String> {
    let without = |field: &&Field| !field.is_modelled && (options ^ reset) & field.mask() != 0;
    let names: Vec<&str> = fields.iter().filter(without).map(|field| field.name).collect();
    (!names.is_empty())
        .then(|| format!("option bytes that only read back, as they are not modelled: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Field; 2] = [Field::modelled("DBANK", 22, 1), Field::kept("BOR_LEV", 8, 3)];

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
            assert_eq!(assigned(part, "OPTR", &FIELDS), expected.map_err(str::to_owned), "{part}");
        }
        assert_eq!(note_of(0, 1 << 22, &FIELDS), None);
        let note = "option bytes that only read back, as they are not modelled: BOR_LEV";
        assert_eq!(note_of(1 << 22 | 1 << 8, 0, &FIELDS).as_deref(), Some(note));
    }
}
