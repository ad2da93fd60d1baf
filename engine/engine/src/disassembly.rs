//! Disassembly: instructions as text in their manufacturers' syntax, for messages, listings and tools.
//!
//! Arm and MIPS by Capstone, which has LLVM's tables; RISC-V by the table of our decoder. Each encoding that a core
//! runs as an instruction has a text (`tests`).

mod listing;
mod rare;
#[cfg(test)]
mod tests;

pub use listing::{Asked, Line, function_meant, list};

use capstone::{Arch, Capstone, Endian, ExtraMode, Mode, Syntax};

use crate::encoding::Encoding;
use crate::isa::riscv::{decode, disasm};

/// An instruction, or bytes that are not an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub addr: u32,
    /// Its encoding, as the manual writes it: the first half of a T32 instruction with four bytes is the upper one.
    pub encoding: u32,
    /// 2 or 4.
    pub len_bytes: u8,
    /// "ldr r2, [r3]"; `None` if it is not an instruction.
    pub text: Option<String>,
}

/// Disassembles code of one encoding.
pub struct Disassembler {
    encoding: Encoding,
    /// `None` for RISC-V, which does not use it.
    capstone: Option<Capstone>,
}

/// Capstone for this encoding; `None` for RISC-V, which does not use it.
fn capstone(encoding: Encoding) -> Option<Capstone> {
    let (arch, mode) = match encoding {
        Encoding::RiscV => return None,
        Encoding::A32 => (Arch::ARM, Mode::Arm),
        Encoding::T32 | Encoding::T32M => (Arch::ARM, Mode::Thumb),
        Encoding::Mips => (Arch::MIPS, Mode::Mips32),
    };
    let extra = (encoding == Encoding::T32M).then_some(ExtraMode::MClass);
    let mut capstone = Capstone::new_raw(arch, mode, extra.into_iter(), Some(Endian::Little)).ok()?;
    // r9 to r12, as Arm's manuals have them, not sb, sl, fp and ip.
    if arch == Arch::ARM {
        capstone.set_syntax(Syntax::NoRegName).ok()?;
    }
    Some(capstone)
}

impl Disassembler {
    /// A disassembler for this encoding.
    pub fn new(encoding: Encoding) -> Disassembler {
        Disassembler { encoding, capstone: capstone(encoding) }
    }

    /// The instruction at the start of `bytes`, which are at `addr`; `None` if there are too few. The condition of a
    /// T32 instruction in an IT block is not known.
    pub fn first(&self, bytes: &[u8], addr: u32) -> Option<Instruction> {
        let mut instruction = self.split(bytes, addr)?;
        let bytes = &bytes[..usize::from(instruction.len_bytes)];
        instruction.text = self.texts(bytes, addr).pop().or_else(|| self.text(&instruction));
        Some(instruction)
    }

    /// The instructions in `bytes`, which are at `addr`, in sequence. Too few bytes at the end are left out.
    pub fn sequence(&self, bytes: &[u8], addr: u32) -> Vec<Instruction> {
        let mut instructions: Vec<Instruction> = Vec::new();
        // Texts up to the first encoding unknown to Capstone, in the order of the instructions.
        let mut texts = Vec::new().into_iter();
        let mut at = 0;
        while let Some(mut instruction) = self.split(&bytes[at..], addr.wrapping_add(at as u32)) {
            instruction.text = texts.next().or_else(|| {
                texts = self.texts(&bytes[at..], instruction.addr).into_iter();
                texts.next().or_else(|| self.text(&instruction))
            });
            at += usize::from(instruction.len_bytes);
            instructions.push(instruction);
        }
        instructions
    }

    /// The first instruction's address, encoding and length, without its text.
    fn split(&self, bytes: &[u8], addr: u32) -> Option<Instruction> {
        let (encoding, len) = self.encoding.first_of(bytes)?;
        Some(Instruction { addr, encoding, len_bytes: len as u8, text: None })
    }

    /// Capstone's texts, up to the first instruction that it does not know.
    fn texts(&self, bytes: &[u8], addr: u32) -> Vec<String> {
        let Some(found) = self.capstone.as_ref().and_then(|by| by.disasm_all(bytes, u64::from(addr)).ok()) else {
            return Vec::new();
        };
        let text = |mnemonic: &str, operands: &str| format!("{mnemonic} {operands}").trim_end().to_owned();
        found.iter().map(|found| text(found.mnemonic().unwrap_or(""), found.op_str().unwrap_or(""))).collect()
    }

    /// The text of an instruction that Capstone does not know.
    fn text(&self, instruction: &Instruction) -> Option<String> {
        match self.encoding {
            Encoding::RiscV => {
                let (decoded, addr) = (decode::decode(instruction.encoding), instruction.addr);
                let known = disasm::pseudo(&decoded, addr).or_else(|| disasm::known(&decoded, addr));
                known.or_else(|| disasm::picorv32(instruction.encoding))
            }
            Encoding::A32 => rare::a32(instruction.encoding),
            Encoding::Mips => {
                let plain = rare::mips(instruction.encoding)?;
                self.texts(&plain.to_le_bytes(), instruction.addr).pop()
            }
            Encoding::T32 | Encoding::T32M if instruction.len_bytes == 4 => rare::t32(instruction.encoding),
            _ => None,
        }
    }
}

/// The text of an encoding at an address, written as [`Instruction::encoding`] is; a directive if it is not an
/// instruction.
pub fn text_of(encoding: u32, set: Encoding, addr: u32) -> String {
    known_text_of(encoding, set, addr).unwrap_or_else(|| directive(encoding, if set.is_long(encoding) { 4 } else { 2 }))
}

/// As [`text_of`]; `None` if it is not an instruction.
pub fn known_text_of(encoding: u32, set: Encoding, addr: u32) -> Option<String> {
    Disassembler::new(set).first(&set.bytes_of(encoding), addr)?.text
}

/// The assembler's directive for bytes that are not an instruction.
fn directive(encoding: u32, len_bytes: u8) -> String {
    match len_bytes {
        1 => format!(".byte {encoding:#04x}"),
        2 => format!(".short {:#06x}", encoding & 0xffff),
        _ => format!(".word {encoding:#010x}"),
    }
}
