//! Sections and symbols of an ELF file, with bounds: many may have the same long name, or be the same bytes.

use object::Endianness;
use object::elf::{self, FileHeader32};
use object::read::elf::{ElfFile, FileHeader as _, SectionHeader as _};

/// An ELF file for a 32-bit core.
pub type File<'a> = ElfFile<'a, FileHeader32<Endianness>>;

/// Longer names are ignored: a function's is some hundred bytes long.
pub const MOST_NAME_BYTES: usize = 16 << 10;

/// The bytes of a section; empty for one that has none, or that is damaged.
pub fn bytes_of<'a>(file: &File<'a>, section: &elf::SectionHeader32<Endianness>) -> &'a [u8] {
    section.data(file.endian(), file.data()).unwrap_or(&[])
}

/// The sections with these names, each the first of its name, in the order of the names.
pub fn sections_named<'a, const N: usize>(file: &File<'a>, names: [&str; N]) -> [&'a [u8]; N] {
    let mut found = [&[][..]; N];
    let endian = file.endian();
    let index = file.elf_header().shstrndx(endian, file.data());
    let Some(texts) = index.ok().and_then(|index| file.elf_section_table().iter().nth(index as usize)) else {
        return found;
    };
    let texts = bytes_of(file, texts);
    let mut is_left = [true; N];
    for section in file.elf_section_table().iter() {
        let Some(name) = texts.get(section.sh_name(endian) as usize..) else { continue };
        let is_this = |wanted: &&str| name.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.first() == Some(&0));
        let Some(place) = names.iter().position(is_this).filter(|place| is_left[*place]) else { continue };
        is_left[place] = false;
        found[place] = bytes_of(file, section);
    }
    found
}

/// The names of symbols, in sequence.
pub fn symbol_names<'a>(file: &File<'a>) -> &'a [u8] {
    let index = file.elf_symbol_table().string_section();
    file.elf_section_table().section(index).map(|section| bytes_of(file, section)).unwrap_or(&[])
}

/// The name at an offset in them; `None` for one that is no text, or too long.
pub fn name_at(names: &[u8], place: u32) -> Option<&str> {
    let from = names.get(place as usize..)?;
    let from = &from[..from.len().min(MOST_NAME_BYTES + 1)];
    let end = from.iter().position(|byte| *byte == 0)?;
    str::from_utf8(&from[..end]).ok()
}
