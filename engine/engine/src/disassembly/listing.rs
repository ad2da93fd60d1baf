//! Listings of ELF files: their code with addresses, functions and encodings.

use std::cell::Cell;

use object::elf;
use object::read::elf::{ElfFile32, ElfSection32, SectionHeader, Sym as _};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags};

use super::{Disassembler, Instruction, directive};
use crate::elf::asked::{Meant, meant, several_text};
use crate::elf::sections::{name_at, symbol_names};
use crate::elf::{ElfError, Image, Machine, machine_of, names, read};
use crate::encoding::Encoding;
use crate::patience;

/// Maximum number of sections with code: linkers make some.
const MOST_SECTIONS: usize = 1024;
/// How many sections may have the same byte of the file.
const MOST_LISTED: usize = 2;
/// Limit for names of targets and places, in bytes together.
const MOST_NAME_BYTES: usize = 64 << 20;
/// Cost of making a line, in bytes that are read.
const WORK_A_LINE: u64 = 100;

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its address.
    pub addr: u32,
    /// Its encoding, or a piece of data between code.
    pub encoding: u32,
    /// 4, 2 or 1.
    pub len_bytes: u8,
    /// The instruction, or a directive for data.
    pub text: String,
    /// The target of a branch or jump: "memcpy+0x24".
    pub target: Option<String>,
    /// Functions and labels that begin here.
    pub names: Vec<String>,
}

/// All code of an ELF file, by address. The file's machine selects the instruction set, and its mapping symbols ($a,
/// $t, $x, $d) distinguish A32, T32 and data.
///
/// # Errors
/// [`ElfError`] for anything but an intact executable for some core.
pub fn list(data: &[u8]) -> Result<Vec<Line>, ElfError> {
    let machine = machine_of(data)?;
    let image = read(data, machine)?;
    let pieces = pieces(data, machine)?;
    let names = Names { image: &image, readable: names::Names::default(), bytes_left: Cell::new(MOST_NAME_BYTES) };
    let lines = pieces.iter().flat_map(|piece| piece.lines(&names));
    Ok(lines.collect())
}

/// The start of the function with this name ([`meant`]); `None` if no function has it.
///
/// # Errors
/// [`ElfError`] as [`list`]; [`Asked::Several`] for an ambiguous name.
pub fn function_meant(data: &[u8], asked: &str) -> Result<Option<u32>, Asked> {
    let image = read(data, machine_of(data).map_err(Asked::Elf)?).map_err(Asked::Elf)?;
    let names = names::Names::default();
    match meant(&image.symbols, asked, &names) {
        Meant::One(symbol) => Ok(Some(symbol.addr)),
        Meant::Several(found) => Err(Asked::Several(several_text(asked, &found, &names))),
        Meant::Nothing => Ok(None),
    }
}

/// Why a function can't be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The file can't be read.
    Elf(ElfError),
    /// The message about an ambiguous name.
    Several(String),
}

/// Names of addresses, up to a total size.
struct Names<'a> {
    image: &'a Image,
    readable: names::Names,
    bytes_left: Cell<usize>,
}

impl Names<'_> {
    fn counted(&self, name: String) -> Option<String> {
        self.bytes_left.set(self.bytes_left.get().checked_sub(name.len())?);
        Some(name)
    }

    /// Functions and labels that begin at an address.
    fn at(&self, addr: u32) -> Vec<String> {
        let symbols = &self.image.symbols;
        let first = symbols.partition_point(|symbol| symbol.addr < addr);
        let here = symbols[first..].iter().take_while(|symbol| symbol.addr == addr);
        here.map_while(|symbol| self.counted(self.written(&symbol.name))).collect()
    }

    fn of_target(&self, target: u32) -> Option<String> {
        self.image.place_at(target, &self.readable).and_then(|name| self.counted(name))
    }

    /// A function's name as its programmer wrote it; the symbol's once the total size is reached.
    fn written(&self, symbol: &str) -> String {
        Some(self.readable.readable(symbol)).filter(|name| !name.is_empty()).unwrap_or_else(|| symbol.to_owned())
    }
}

/// All code, by address.
fn pieces(data: &[u8], machine: Machine) -> Result<Vec<Piece<'_>>, ElfError> {
    let damaged = |error: object::Error| ElfError::Damaged { detail: error.to_string() };
    let file = ElfFile32::<Endianness>::parse(data).map_err(damaged)?;
    let is_m_profile = machine == Machine::Arm && profile(&file) == Some(u64::from(b'M'));
    let mut pieces = Vec::new();
    let (mut sections, mut bytes_left) = (0, data.len().saturating_mul(MOST_LISTED));
    for section in file.sections() {
        if matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR)) {
            let bytes = section.data().map_err(damaged)?;
            let too_much = || ElfError::Damaged { detail: "its sections have more code than the file".to_owned() };
            sections += 1;
            bytes_left =
                bytes_left.checked_sub(bytes.len()).filter(|_| sections <= MOST_SECTIONS).ok_or_else(too_much)?;
            pieces.extend(pieces_of(&file, &section, bytes, machine, is_m_profile));
        }
    }
    pieces.sort_by_key(|piece| piece.addr);
    Ok(pieces)
}

/// Bytes of one encoding.
struct Piece<'data> {
    addr: u32,
    bytes: &'data [u8],
    /// `None` for data.
    encoding: Option<Encoding>,
}

/// The kind of bytes from a symbol's address on.
#[derive(Debug, PartialEq)]
enum Mapping {
    None,
    /// Code in the machine's usual encoding.
    Usual,
    Thumb,
    Data,
}

/// The mapping of a symbol with this name. RISC-V's `$x` may be followed by the extensions, as `$xrv32i2p1_m2p0`
/// (RISC-V ELF psABI, "Mapping Symbol"); all may be followed by a point and any text.
fn mapping(name: &str) -> Mapping {
    match name.split('.').next().map(str::as_bytes) {
        Some(b"$a" | [b'$', b'x', ..]) => Mapping::Usual,
        Some(b"$t") => Mapping::Thumb,
        Some(b"$d") => Mapping::Data,
        _ => Mapping::None,
    }
}

/// A section, split at its mapping symbols.
fn pieces_of<'data>(
    file: &ElfFile32<'data>,
    section: &ElfSection32<'data, '_>,
    bytes: &'data [u8],
    machine: Machine,
    is_m_profile: bool,
) -> Vec<Piece<'data>> {
    let thumb = if is_m_profile { Encoding::T32M } else { Encoding::T32 };
    let usual = match machine {
        Machine::RiscV => Encoding::RiscV,
        Machine::Arm if is_m_profile => Encoding::T32M,
        Machine::Arm => Encoding::A32,
        Machine::Mips => Encoding::Mips,
    };
    let begin = section.address() as u32;
    let mut cuts = vec![(0, Some(usual))];
    let names = symbol_names(file);
    for symbol in file.symbols().filter(|symbol| symbol.section_index() == Some(section.index())) {
        let at = (symbol.address() as u32).wrapping_sub(begin) as usize;
        let encoding = match name_at(names, symbol.elf_symbol().st_name(file.endian())).map_or(Mapping::None, mapping) {
            Mapping::Usual => Some(usual),
            Mapping::Thumb => Some(thumb),
            Mapping::Data => None,
            Mapping::None => continue,
        };
        if at < bytes.len() {
            cuts.push((at, encoding));
        }
    }
    cuts.sort_by_key(|(at, _)| *at);
    let ends = cuts.iter().skip(1).map(|(at, _)| *at).chain([bytes.len()]);
    let pieces = cuts.iter().zip(ends).map(|((at, encoding), end)| {
        let addr = begin.wrapping_add(*at as u32);
        Piece { addr, bytes: &bytes[*at..end], encoding: *encoding }
    });
    pieces.filter(|piece| !piece.bytes.is_empty()).collect()
}

impl Piece<'_> {
    fn lines(&self, names: &Names) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut done = 0;
        if let Some(encoding) = self.encoding {
            for instruction in Disassembler::new(encoding).sequence(self.bytes, self.addr) {
                if patience::is_over(WORK_A_LINE) {
                    return lines;
                }
                done += usize::from(instruction.len_bytes);
                let far = lines.last().filter(|_| encoding == Encoding::RiscV);
                let far = far.and_then(|before| far_target(before, instruction.encoding));
                let target = far.or_else(|| target_of(encoding, instruction.text.as_deref()?));
                lines.push(line(instruction, target, names));
            }
        }
        // Data, and an incomplete instruction at the end of code.
        while done < self.bytes.len() && !patience::is_over(WORK_A_LINE) {
            let addr = self.addr.wrapping_add(done as u32);
            let whole = |bytes: u32| addr.is_multiple_of(bytes) && self.bytes.len() - done >= bytes as usize;
            let len = if whole(4) { 4 } else { 1 + usize::from(whole(2)) };
            let mut word = [0; 4];
            word[..len].copy_from_slice(&self.bytes[done..done + len]);
            let encoding = u32::from_le_bytes(word);
            lines.push(line(Instruction { addr, encoding, len_bytes: len as u8, text: None }, None, names));
            done += len;
        }
        lines
    }
}

fn line(instruction: Instruction, target: Option<u32>, names: &Names) -> Line {
    let Instruction { addr, encoding, len_bytes, text } = instruction;
    let target = target.and_then(|target| names.of_target(target));
    let names = names.at(addr);
    let text = text.unwrap_or_else(|| directive(encoding, len_bytes));
    Line { addr, encoding, len_bytes, text, target, names }
}

/// The target of a RISC-V jalr whose register the preceding auipc has set.
fn far_target(before: &Line, encoding: u32) -> Option<u32> {
    let is_pair = before.encoding & 0x7f == 0x17 && encoding & 0x707f == 0x67;
    let is_same = before.encoding >> 7 & 31 == encoding >> 15 & 31;
    let upper = before.addr.wrapping_add(before.encoding & 0xffff_f000);
    (is_pair && is_same).then(|| upper.wrapping_add_signed(encoding as i32 >> 20))
}

/// The target of a branch or jump: its last operand.
fn target_of(encoding: Encoding, text: &str) -> Option<u32> {
    let (mnemonic, operands) = text.split_once(' ')?;
    let is_branch = match encoding {
        Encoding::RiscV | Encoding::Mips => mnemonic.starts_with(['b', 'j']) && mnemonic != "break",
        Encoding::A32 | Encoding::T32 | Encoding::T32M => is_arm_branch(mnemonic),
    };
    let last = operands.rsplit([',', ' ']).next()?.trim_start_matches('#');
    u32::from_str_radix(last.strip_prefix("0x").filter(|_| is_branch)?, 16).ok()
}

/// True for a branch, conditional or not, but not for bic, bfi or bkpt.
fn is_arm_branch(mnemonic: &str) -> bool {
    const CONDITIONS: [&str; 18] =
        ["", "eq", "ne", "hs", "cs", "lo", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];
    let name = mnemonic.trim_end_matches(".w").trim_end_matches(".n");
    let is_branch = |link: &str| name.strip_prefix(link).is_some_and(|condition| CONDITIONS.contains(&condition));
    ["b", "bl", "blx", "cbz", "cbnz"].into_iter().any(is_branch)
}

/// The profile that an Arm ELF file was built for, as its build attributes say (Addenda to the ABI for the Arm
/// architecture, section 3.3.5.2).
fn profile(file: &ElfFile32) -> Option<u64> {
    /// Attributes whose value is a text, and the attribute that we look for.
    const TEXTS: [u64; 4] = [4, 5, 65, 67];
    const COMPATIBILITY: u64 = 32;
    const PROFILE: u64 = 7;
    let section = file.section_by_name(".ARM.attributes")?;
    let attributes = section.elf_section_header().attributes(file.endian(), file.data()).ok()?;
    let mut vendors = attributes.subsections().ok()?;
    let vendor = vendors.find_map(|vendor| vendor.ok().filter(|vendor| vendor.vendor() == b"aeabi"))?;
    let mut values = vendor.subsubsections().next().ok()??.attributes();
    while let Ok(Some(tag)) = values.read_tag() {
        let value = match tag {
            COMPATIBILITY => values.read_integer().and_then(|_| values.read_string().map(|_| 0)),
            _ if TEXTS.contains(&tag) => values.read_string().map(|_| 0),
            _ => values.read_integer(),
        };
        match value {
            Ok(value) if tag == PROFILE => return Some(value),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_have_targets_and_what_only_begins_like_one_has_none() {
        for (encoding, text, target) in [
            (Encoding::A32, "bl #0x1100", Some(0x1100)),
            (Encoding::A32, "blxne #0x20", Some(0x20)),
            (Encoding::T32, "bls.w #0x84", Some(0x84)),
            (Encoding::T32M, "cbz r3, #0x24", Some(0x24)),
            (Encoding::T32M, "bic r2, r1, #0xf", None),
            (Encoding::T32M, "bfc r11, #9, #0x17", None),
            (Encoding::T32M, "bkpt #0xab", None),
            (Encoding::Mips, "bnez $t0, 0x80000010", Some(0x8000_0010)),
            (Encoding::Mips, "break 0x7", None),
            (Encoding::RiscV, "jal 0x1008", Some(0x1008)),
            (Encoding::RiscV, "lui a0, 0x10", None),
        ] {
            assert_eq!(target_of(encoding, text), target, "{text}");
        }
    }

    #[test]
    fn mapping_symbols_distinguish_code_from_data() {
        for (name, means) in [
            ("$a", Mapping::Usual),
            ("$x.12", Mapping::Usual),
            ("$xrv32i2p1_m2p0_c2p0", Mapping::Usual),
            ("$t.memcpy", Mapping::Thumb),
            ("$d", Mapping::Data),
            ("$data", Mapping::None),
            ("main", Mapping::None),
        ] {
            assert_eq!(mapping(name), means, "{name}");
        }
    }
}
