//! The parameters of a function from an ELF file's debug information: their names, and the registers that have them at
//! the function's entry.

use addr2line::gimli::{self, AttributeValue, DebuggingInformationEntry, Operation, UnitRef};

use super::counted::{Budget, Counted};
use super::information::Information;
use super::sections::MOST_NAME_BYTES;
use crate::one_line::one_line;

type Reader<'a> = Counted<'a>;
type Entry<'a> = DebuggingInformationEntry<Reader<'a>>;

/// Maximum length of a chain of types: a damaged file may have a ring.
const MOST_TYPES: usize = 32;
/// Bytes of a register.
const WORD_BYTES: u64 = 4;

/// The interpretation of a parameter's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A signed number of this many bits.
    Signed(u32),
    /// An unsigned number of this many bits.
    Unsigned(u32),
    /// An address.
    Address,
}

impl Form {
    /// The number in a register's word.
    pub fn value(self, word: u32) -> i64 {
        let unused = |bits: u32| u32::BITS - bits.clamp(1, u32::BITS);
        match self {
            Form::Signed(bits) => i64::from((word << unused(bits)).cast_signed() >> unused(bits)),
            Form::Unsigned(bits) => i64::from(word << unused(bits) >> unused(bits)),
            Form::Address => i64::from(word),
        }
    }
}

/// A parameter that is in a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The number of its register among those for arguments, from 0 on.
    pub register: usize,
    /// The interpretation of its word.
    pub form: Form,
}

/// The parameters that the function at `addr` has in the first `registers` registers for arguments, in the order in
/// which they are declared. `first` is the number of the first register in DWARF. `None` if the file does not
/// say.
///
/// Code that is not optimized has its parameters in memory as soon as they have been stored there, and its debug
/// information gives only that place: then they are taken to be in the registers in their order, up to the first that
/// is no word.
pub fn parameters_of(elf: &[u8], addr: u32, first: u16, registers: usize) -> Option<Vec<Parameter>> {
    let budget = Budget::default();
    let information = Information::open(elf, &budget)?;
    let unit = information.unit(addr)?;
    parameters_in(unit, addr, first, registers).ok()?
}

fn parameters_in(
    unit: UnitRef<Reader>,
    addr: u32,
    first: u16,
    registers: usize,
) -> gimli::Result<Option<Vec<Parameter>>> {
    let mut entries = unit.entries();
    let mut function = None;
    let mut found = Vec::new();
    // The parameters so far, if all are words: the ones in memory are counted by them.
    let mut words = Some(0);
    while let Some(entry) = entries.next_dfs()? {
        match function {
            None => {
                if entry.tag() == gimli::DW_TAG_subprogram && begins_at(unit, entry, addr)? {
                    function = Some(entry.depth());
                }
            }
            Some(depth) if entry.depth() <= depth => break,
            Some(depth) if entry.depth() == depth + 1 && entry.tag() == gimli::DW_TAG_formal_parameter => {
                let form = type_of(unit, entry)?;
                let place = place_of(unit, entry, addr)?;
                let register = match place {
                    Place::Register(register) => register.checked_sub(first).map(usize::from),
                    Place::Memory => words,
                    Place::Unknown => None,
                };
                words = words.filter(|_| form.is_some()).map(|words| words + 1);
                let named = name_of(unit, entry)?.zip(form).zip(register.filter(|register| *register < registers));
                found.extend(named.map(|((name, form), register)| Parameter { name, register, form }));
            }
            Some(_) => {}
        }
    }
    Ok(function.map(|_| found))
}

fn begins_at<'a>(unit: UnitRef<Reader<'a>>, entry: &Entry<'a>, addr: u32) -> gimli::Result<bool> {
    let Some(low) = entry.attr_value(gimli::DW_AT_low_pc) else { return Ok(false) };
    Ok(unit.attr_address(low)? == Some(u64::from(addr)))
}

/// The place of a parameter at its function's entry.
enum Place {
    /// In this register, in DWARF's numbers.
    Register(u16),
    /// In memory, once the function has stored it there.
    Memory,
    /// The file does not say, or it is in several places.
    Unknown,
}

fn place_of<'a>(unit: UnitRef<Reader<'a>>, entry: &Entry<'a>, addr: u32) -> gimli::Result<Place> {
    let Some(location) = entry.attr_value(gimli::DW_AT_location) else { return Ok(Place::Unknown) };
    let expression = match location {
        AttributeValue::Exprloc(expression) => Some(expression),
        _ => {
            let Some(mut all) = unit.attr_locations(location)? else { return Ok(Place::Unknown) };
            let mut at_entry = None;
            while let Some(one) = all.next()? {
                if (one.range.begin..one.range.end).contains(&u64::from(addr)) {
                    at_entry = Some(one.data);
                    break;
                }
            }
            at_entry
        }
    };
    let Some(expression) = expression else { return Ok(Place::Unknown) };
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next()?;
    Ok(match (first, operations.next()?) {
        (Some(Operation::Register { register }), None) => Place::Register(register.0),
        (Some(Operation::FrameOffset { .. } | Operation::RegisterOffset { .. }), None) => Place::Memory,
        _ => Place::Unknown,
    })
}

/// The parameter's own name, or that of the declaration that it refers to.
fn name_of<'a>(unit: UnitRef<Reader<'a>>, entry: &Entry<'a>) -> gimli::Result<Option<String>> {
    if let Some(name) = entry.attr_value(gimli::DW_AT_name) {
        return text(unit, name);
    }
    let Some(AttributeValue::UnitRef(origin)) = entry.attr_value(gimli::DW_AT_abstract_origin) else {
        return Ok(None);
    };
    let Some(name) = unit.entry(origin)?.attr_value(gimli::DW_AT_name) else { return Ok(None) };
    text(unit, name)
}

fn text<'a>(unit: UnitRef<Reader<'a>>, name: AttributeValue<Reader<'a>>) -> gimli::Result<Option<String>> {
    let bytes = unit.attr_string(name)?.bytes();
    Ok((bytes.len() <= MOST_NAME_BYTES).then(|| one_line(&String::from_utf8_lossy(bytes))))
}

/// The interpretation of the parameter's word; `None` if it is no word, or a floating-point number.
fn type_of<'a>(unit: UnitRef<Reader<'a>>, entry: &Entry<'a>) -> gimli::Result<Option<Form>> {
    let reference = |entry: &Entry, attribute| match entry.attr_value(attribute) {
        Some(AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    };
    let mut next = reference(entry, gimli::DW_AT_type);
    if next.is_none()
        && let Some(origin) = reference(entry, gimli::DW_AT_abstract_origin)
    {
        next = reference(&unit.entry(origin)?, gimli::DW_AT_type);
    }
    for _ in 0..MOST_TYPES {
        let Some(offset) = next else { return Ok(None) };
        let entry = unit.entry(offset)?;
        match entry.tag() {
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => return Ok(Some(Form::Address)),
            gimli::DW_TAG_enumeration_type => return Ok(Some(Form::Unsigned(u32::BITS))),
            gimli::DW_TAG_base_type => return Ok(form_of(&entry)),
            _ => next = reference(&entry, gimli::DW_AT_type),
        }
    }
    Ok(None)
}

fn form_of(base: &Entry) -> Option<Form> {
    let bytes = base.attr(gimli::DW_AT_byte_size)?.udata_value().filter(|bytes| (1..=WORD_BYTES).contains(bytes))?;
    let bits = 8 * bytes as u32;
    match base.attr_value(gimli::DW_AT_encoding)? {
        AttributeValue::Encoding(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char) => Some(Form::Signed(bits)),
        AttributeValue::Encoding(
            gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_boolean | gimli::DW_ATE_UTF,
        ) => Some(Form::Unsigned(bits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbers_of_so_many_bits() {
        assert_eq!(Form::Signed(32).value(u32::MAX), -1);
        assert_eq!(Form::Signed(8).value(0x1280), -128);
        assert_eq!(Form::Unsigned(8).value(0x1280), 128);
        assert_eq!(Form::Unsigned(32).value(u32::MAX), i64::from(u32::MAX));
        assert_eq!(Form::Address.value(0x8000_0000), 0x8000_0000);
    }

    #[test]
    fn what_is_no_elf_file_reports_nothing() {
        assert_eq!(parameters_of(b"", 0, 10, 4), None);
        assert_eq!(parameters_of(&[0x7f, b'E', b'L', b'F', 1, 1, 1], 0, 10, 4), None);
    }
}
