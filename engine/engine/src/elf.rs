//! ELF files: the segments to load, the entry, and for messages symbols and source lines.

pub mod asked;
pub mod build_attributes;
mod counted;
pub mod debug;
mod information;
mod mangled;
pub mod names;
pub mod parameters;
pub mod sections;

use object::Endianness;
use object::elf;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader, SectionHeader, Sym as _};
use object::{Object, ObjectSymbol, SymbolKind};

use crate::one_line::one_line;
use build_attributes::Profile;
use names::{Names, without_parameters};
use sections::{name_at, symbol_names};

/// Maximum number of segments of a program: linkers make a dozen.
const MOST_SEGMENTS: usize = 1024;
/// How many segments may load the same byte of the file.
const MOST_LOADS: u64 = 2;
/// Limit for the names of all symbols, as a multiple of the file's size: many symbols may have the same name.
const MOST_NAMES: usize = 8;
/// How many symbols before an address are searched for the one that contains it.
const MOST_BEFORE: usize = 1024;

/// Errors in an ELF file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// No ELF magic.
    #[error("not an ELF file (Intel HEX, S-record and UF2 files run, too; plain bytes need --base)")]
    NotElf,
    /// Something in it lies outside the file or contradicts itself.
    #[error("damaged or truncated: {detail}")]
    Damaged {
        /// The parser's message.
        detail: String,
    },
    /// 64-bit or big-endian.
    #[error("a {found} ELF; the board's cores are 32-bit little-endian")]
    WrongClass {
        /// "64-bit" or "big-endian".
        found: &'static str,
    },
    /// Another instruction set.
    #[error("built for {found}; the board's core is {wanted}")]
    WrongMachine {
        /// The instruction set that it was built for.
        found: String,
        /// The instruction set of the board's core.
        wanted: &'static str,
    },
    /// The instruction set of another kind of Arm core.
    #[error("built for {}, and {core} is not; {others}", found.name())]
    WrongProfile {
        /// The profile that it was built for.
        found: Profile,
        /// The core that the program was loaded for.
        core: String,
        /// The kinds of the board's other cores.
        others: String,
    },
    /// An instruction set that no core has.
    #[error("built for {found}; there are cores for RISC-V, Arm and MIPS")]
    UnknownMachine {
        /// The instruction set that it was built for.
        found: String,
    },
    /// An object file or a shared library.
    #[error("not an executable (e_type {e_type}): link it first")]
    NotExecutable {
        /// ELF type.
        e_type: u16,
    },
    /// Nothing to load.
    #[error("it has no loadable segment")]
    NothingToLoad,
    /// A segment where the board has neither RAM nor flash that can be read in place.
    #[error("segment {first:#010x}-{last:#010x} lies outside the board's memory ({memories})")]
    OutsideMemory {
        /// First address.
        first: u32,
        /// Last address.
        last: u32,
        /// The ranges of RAM and such flash.
        memories: String,
    },
    /// The entry is in no segment.
    #[error("the entry point {entry:#010x} lies in no loaded segment")]
    BadEntry {
        /// The entry.
        entry: u32,
    },
}

/// A part of the file to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Physical address: the place where it is stored.
    pub addr: u32,
    /// Virtual address: the place where it runs. Start-up code copies a segment there that is stored elsewhere.
    pub runs_at: u32,
    /// Bytes from the file.
    pub bytes: Vec<u8>,
    /// Size in memory; zeros follow `bytes`.
    pub memory_bytes: u32,
    /// Bytes at the start that the program does not use: the file's own headers, which linkers put into the first
    /// segment, up to the first section.
    pub header_bytes: u32,
}

impl Segment {
    /// The segment without the file's headers.
    pub fn without_headers(&self) -> Segment {
        let skipped = self.header_bytes;
        Segment {
            addr: self.addr + skipped,
            runs_at: self.runs_at.wrapping_add(skipped),
            bytes: self.bytes[skipped as usize..].to_vec(),
            memory_bytes: self.memory_bytes - skipped,
            header_bytes: 0,
        }
    }
}

/// A function or object of the firmware.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symbol {
    /// Its address.
    pub addr: u32,
    /// Its size; 0 if unknown.
    pub bytes: u32,
    /// Its name.
    pub name: String,
}

/// An ELF file, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The segments to load.
    pub segments: Vec<Segment>,
    /// Address of the first instruction; for Arm, bit 0 says that it is T32.
    pub entry: u32,
    /// The file gives an entry: a file of data alone does not.
    pub names_entry: bool,
    /// Code symbols by address.
    pub symbols: Vec<Symbol>,
}

/// An instruction set as ELF names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// EM_RISCV.
    RiscV,
    /// EM_ARM. Bit 0 of a function's address says that it is T32.
    Arm,
    /// EM_MIPS. Addresses are those that the core uses, and several may lead to the same memory.
    Mips,
}

impl Machine {
    const fn name(self) -> &'static str {
        match self {
            Machine::RiscV => "RISC-V",
            Machine::Arm => "Arm",
            Machine::Mips => "MIPS",
        }
    }

    const fn number(self) -> elf::Machine {
        match self {
            Machine::RiscV => elf::EM_RISCV,
            Machine::Arm => elf::EM_ARM,
            Machine::Mips => elf::EM_MIPS,
        }
    }

    /// The bit of a function's address that is not part of the address.
    const fn function_bit(self) -> u32 {
        match self {
            Machine::RiscV | Machine::Mips => 0,
            Machine::Arm => 1,
        }
    }
}

/// The instruction set that an ELF file was built for.
///
/// # Errors
/// [`ElfError`] if it is not an ELF file, or built for an unknown instruction set.
pub fn machine_of(data: &[u8]) -> Result<Machine, ElfError> {
    check_ident(data)?;
    let header = elf::FileHeader32::<Endianness>::parse(data).map_err(damaged)?;
    let found = header.e_machine(header.endian().map_err(damaged)?);
    let known = [Machine::RiscV, Machine::Arm, Machine::Mips].into_iter().find(|machine| machine.number() == found);
    known.ok_or_else(|| ElfError::UnknownMachine { found: machine_name(found) })
}

/// Reads an ELF file for a core.
///
/// # Errors
/// [`ElfError`] for anything but an intact executable for that core.
pub fn read(data: &[u8], wanted: Machine) -> Result<Image, ElfError> {
    check_ident(data)?;
    let file = ElfFile::<elf::FileHeader32<Endianness>>::parse(data).map_err(damaged)?;
    let (header, endian) = (file.elf_header(), file.endian());
    let machine = header.e_machine(endian);
    if machine != wanted.number() {
        return Err(ElfError::WrongMachine { found: machine_name(machine), wanted: wanted.name() });
    }
    let e_type = header.e_type(endian);
    if e_type != elf::ET_EXEC && e_type != elf::ET_DYN {
        return Err(ElfError::NotExecutable { e_type: e_type.0 });
    }
    let headers = header.program_headers(endian, data).map_err(damaged)?;
    let loads = headers.iter().filter(|header| header.p_type(endian) == elf::PT_LOAD && header.p_memsz(endian) > 0);
    let bytes = loads.clone().map(|header| u64::from(header.p_filesz(endian))).sum();
    check_segments(loads.clone().count(), bytes, data.len())?;
    let mut segments = loads.clone().map(|header| segment(header, endian, data)).collect::<Result<Vec<_>, _>>()?;
    for (segment, load) in segments.iter_mut().zip(loads) {
        segment.header_bytes = header_bytes(&file, load, segment.bytes.len());
    }
    if segments.is_empty() {
        return Err(ElfError::NothingToLoad);
    }
    // Loading clears the rest of a segment's memory: more than 4 GiB would take for ever.
    let total: u64 = segments.iter().map(|segment| u64::from(segment.memory_bytes)).sum();
    if total > 1 << 32 {
        let detail = format!("its segments take {total} bytes together, more than there are addresses");
        return Err(ElfError::Damaged { detail });
    }
    Ok(Image { segments, entry: header.e_entry(endian), names_entry: true, symbols: symbols(&file, wanted) })
}

/// Checks the number and total size of a program's segments: they may all be the same bytes of the file.
fn check_segments(segments: usize, bytes: u64, file_bytes: usize) -> Result<(), ElfError> {
    let detail = if segments > MOST_SEGMENTS {
        format!("it has {segments} segments: at most {MOST_SEGMENTS} are loaded")
    } else if bytes > MOST_LOADS * file_bytes as u64 {
        format!("its segments load {bytes} bytes, and the file has {file_bytes}")
    } else {
        return Ok(());
    };
    Err(ElfError::Damaged { detail })
}

fn check_ident(data: &[u8]) -> Result<(), ElfError> {
    if data.get(..4) != Some(&elf::ELFMAG) {
        return Err(ElfError::NotElf);
    }
    match (data.get(4).copied().map(elf::FileClass), data.get(5).copied().map(elf::DataEncoding)) {
        (Some(elf::ELFCLASS64), _) => Err(ElfError::WrongClass { found: "64-bit" }),
        (_, Some(elf::ELFDATA2MSB)) => Err(ElfError::WrongClass { found: "big-endian" }),
        _ => Ok(()),
    }
}

fn segment(header: &elf::ProgramHeader32<Endianness>, endian: Endianness, data: &[u8]) -> Result<Segment, ElfError> {
    let bytes = header.data(endian, data).map_err(|()| ElfError::Damaged {
        detail: format!("the segment for {:#010x} goes past the end of the file", header.p_paddr(endian)),
    })?;
    let (addr, memory_bytes) = (header.p_paddr(endian), header.p_memsz(endian));
    if bytes.len() as u64 > u64::from(memory_bytes) || addr.checked_add(memory_bytes - 1).is_none() {
        return Err(ElfError::Damaged { detail: format!("the sizes of the segment for {addr:#010x} do not fit") });
    }
    Ok(Segment { addr, runs_at: header.p_vaddr(endian), bytes: bytes.to_vec(), memory_bytes, header_bytes: 0 })
}

/// How many bytes at the start of a segment hold only the file's headers and padding up to its first section; all of
/// them if it has no section. 0 for a file without sections, where this is unknown.
fn header_bytes(
    file: &ElfFile<elf::FileHeader32<Endianness>>,
    load: &elf::ProgramHeader32<Endianness>,
    bytes: usize,
) -> u32 {
    let endian = file.endian();
    let (first, after) = (u64::from(load.p_offset(endian)), u64::from(load.p_offset(endian)) + bytes as u64);
    let headers_end = u64::from(file.elf_header().e_ehsize(endian));
    if first >= headers_end {
        return 0;
    }
    let sections = file.elf_section_table().iter().filter(|section| {
        section.sh_flags(endian).contains(elf::SHF_ALLOC) && section.sh_type(endian) != elf::SHT_NOBITS
    });
    let mut offsets = sections.map(|section| u64::from(section.sh_offset(endian))).peekable();
    if offsets.peek().is_none() {
        return 0;
    }
    let content = offsets.filter(|offset| (headers_end..after).contains(offset)).min();
    (content.unwrap_or(after) - first) as u32
}

fn symbols(file: &ElfFile<elf::FileHeader32<Endianness>>, machine: Machine) -> Vec<Symbol> {
    let names = symbol_names(file);
    let mut bytes_left = MOST_NAMES.saturating_mul(file.data().len());
    let code = file
        .symbols()
        .filter(|symbol| matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown));
    let mut symbols: Vec<Symbol> = code
        .filter_map(|symbol| {
            let name = name_at(names, symbol.elf_symbol().st_name(file.endian()))?;
            if name.is_empty() || name.starts_with(['$', '.']) || !symbol.is_definition() {
                return None;
            }
            bytes_left = bytes_left.checked_sub(name.len())?;
            let function_bit = if symbol.kind() == SymbolKind::Text { machine.function_bit() } else { 0 };
            let addr = symbol.address() as u32 & !function_bit;
            Some(Symbol { addr, bytes: symbol.size() as u32, name: one_line(name) })
        })
        .collect();
    symbols.sort();
    symbols
}

/// Addresses of symbols of any kind with these names, in the order of the names. Empty if `data` is not an ELF file.
pub fn addresses_of(data: &[u8], names: &[&str]) -> Vec<u32> {
    let Ok(file) = ElfFile::<elf::FileHeader32<Endianness>>::parse(data) else { return Vec::new() };
    let texts = symbol_names(&file);
    let mut found: Vec<(usize, u32)> = file
        .symbols()
        .filter_map(|symbol| {
            let name = name_at(texts, symbol.elf_symbol().st_name(file.endian()))?;
            let place = names.iter().position(|known| *known == name)?;
            symbol.is_definition().then(|| (place, symbol.address() as u32))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, addr)| addr).collect()
}

impl Image {
    /// True if some segment is stored at `addr`, or runs there.
    pub fn holds(&self, addr: u32) -> bool {
        let is_in = |from: u32, bytes: u32| addr.wrapping_sub(from) < bytes;
        let mut segments = self.segments.iter();
        segments.any(|s| is_in(s.addr, s.bytes.len() as u32) || is_in(s.runs_at, s.memory_bytes))
    }

    /// True if the entry point is in some segment, where it runs.
    pub fn holds_entry(&self, machine: Machine) -> bool {
        let entry = self.entry & !machine.function_bit();
        self.segments.iter().any(|segment| entry.wrapping_sub(segment.runs_at) < segment.memory_bytes)
    }

    /// The stored address of code that runs at `addr`; `addr` itself if it is in no segment.
    pub fn stored_at(&self, addr: u32) -> u32 {
        let segment = self.segments.iter().find(|segment| addr.wrapping_sub(segment.runs_at) < segment.memory_bytes);
        segment.map_or(addr, |segment| addr.wrapping_sub(segment.runs_at).wrapping_add(segment.addr))
    }

    /// The symbol that contains `addr`.
    pub fn function_at(&self, addr: u32) -> Option<&Symbol> {
        let before = self.symbols.partition_point(|symbol| symbol.addr <= addr);
        let mut candidates = self.symbols[..before].iter().rev().take(MOST_BEFORE);
        candidates.find(|symbol| symbol.bytes == 0 || addr - symbol.addr < symbol.bytes).filter(|symbol| {
            let in_segment = |at: u32| self.segments.iter().position(|s| at.wrapping_sub(s.runs_at) < s.memory_bytes);
            in_segment(symbol.addr).is_some() && in_segment(symbol.addr) == in_segment(addr)
        })
    }

    /// The function that contains `addr` as its programmer wrote it, without parameters: "flash::program+0x24".
    pub fn place_at(&self, addr: u32, names: &Names) -> Option<String> {
        let symbol = self.function_at(addr)?;
        let written = names.readable(&symbol.name);
        let name = if written.is_empty() { &symbol.name } else { without_parameters(&written) };
        Some(if addr == symbol.addr { name.to_owned() } else { format!("{name}+{:#x}", addr - symbol.addr) })
    }
}

fn damaged(error: object::Error) -> ElfError {
    ElfError::Damaged { detail: error.to_string() }
}

fn machine_name(machine: elf::Machine) -> String {
    match machine {
        elf::EM_386 => "x86".into(),
        elf::EM_X86_64 => "x86-64".into(),
        elf::EM_ARM => "Arm".into(),
        elf::EM_AARCH64 => "AArch64".into(),
        elf::EM_MIPS => "MIPS".into(),
        elf::EM_RISCV => "RISC-V".into(),
        elf::EM_MICROBLAZE => "MicroBlaze".into(),
        other => format!("machine number {}", other.0),
    }
}
