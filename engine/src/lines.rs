//! Source lines of addresses, from an ELF file's DWARF, for messages.

use addr2line::Context;
use addr2line::gimli::{self, EndianSlice, RunTimeEndian};
use object::{Object, ObjectSection};

use crate::one_line::one_line;

/// "drivers/spi.c:88" for an address, if the file's debug information tells. Reads that anew: it is for messages, which
/// are few.
pub fn line_of(elf: &[u8], addr: u32) -> Option<String> {
    let file = object::File::parse(elf).ok()?;
    let load = |id: gimli::SectionId| -> Result<EndianSlice<RunTimeEndian>, gimli::Error> {
        let section = file.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianSlice::new(section.unwrap_or(&[]), RunTimeEndian::Little))
    };
    let dwarf = gimli::Dwarf::load(load).ok()?;
    let context = Context::from_dwarf(dwarf).ok()?;
    let location = context.find_location(u64::from(addr)).ok()??;
    Some(format!("{}:{}", one_line(location.file?), location.line?))
}
