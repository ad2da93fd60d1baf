//! What code says: instructions as text in their manufacturers' syntax, for messages, listings and tools.
//!
//! Arm and MIPS by Capstone, which has LLVM's tables; RISC-V by the table that our decoder has. What a core takes for
//! an instruction has a text (`tests`).

mod listing;
mod rare;
#[cfg(test)]
mod tests;

pub use listing::{Line, at, list};

use capstone::{Arch, Capstone, Endian, ExtraMode, Mode, Syntax};

use crate::isa::riscv::{decode, disasm};

/// How code is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// RV32IMC_Zicsr, and PicoRV32's own instructions.
    RiscV,
    /// Arm's instructions of four bytes.
    A32,
    /// Thumb of a profile with A32.
    T32,
    /// Thumb of ARMv7-M.
    T32M,
    /// MIPS32.
    Mips,
}

impl Encoding {
    /// No instruction is shorter.
    const fn shortest_bytes(self) -> usize {
        match self {
            Encoding::RiscV | Encoding::T32 | Encoding::T32M => 2,
            Encoding::A32 | Encoding::Mips => 4,
        }
    }

    /// How many bytes an instruction has that begins with this half.
    const fn len_bytes(self, half: u16) -> usize {
        match self {
            Encoding::RiscV if half & 3 == 3 => 4,
            Encoding::T32 | Encoding::T32M if half >> 11 >= 0b11101 => 4,
            _ => self.shortest_bytes(),
        }
    }

    fn capstone(self) -> Option<Capstone> {
        let (arch, mode) = match self {
            Encoding::RiscV => return None,
            Encoding::A32 => (Arch::ARM, Mode::Arm),
            Encoding::T32 | Encoding::T32M => (Arch::ARM, Mode::Thumb),
            Encoding::Mips => (Arch::MIPS, Mode::Mips32),
        };
        let extra = (self == Encoding::T32M).then_some(ExtraMode::MClass);
        let mut capstone = Capstone::new_raw(arch, mode, extra.into_iter(), Some(Endian::Little)).ok()?;
        // r9 to r12, as Arm's manuals have them, not sb, sl, fp and ip.
        if arch == Arch::ARM {
            capstone.set_syntax(Syntax::NoRegName).ok()?;
        }
        Some(capstone)
    }
}

/// An instruction, or bytes that are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub addr: u32,
    /// Its encoding, as the manual writes it: of a T32 instruction with four bytes the first half is the upper.
    pub encoding: u32,
    /// 2 or 4.
    pub len_bytes: u8,
    /// "ldr r2, [r3]"; `None` if it means nothing.
    pub text: Option<String>,
}

/// Reads code of one encoding.
pub struct Disassembler {
    encoding: Encoding,
    /// `None` for what is read without it.
    capstone: Option<Capstone>,
}

impl Disassembler {
    /// For code that is encoded so.
    pub fn new(encoding: Encoding) -> Disassembler {
        Disassembler { encoding, capstone: encoding.capstone() }
    }

    /// The instruction at the beginning of `bytes`, which are at `addr`; `None` if there are too few. Of a T32
    /// instruction in an IT block the condition is not known.
    pub fn first(&self, bytes: &[u8], addr: u32) -> Option<Instruction> {
        let mut instruction = self.split(bytes, addr)?;
        let bytes = &bytes[..usize::from(instruction.len_bytes)];
        instruction.text = self.texts(bytes, addr).pop().or_else(|| self.text(&instruction));
        Some(instruction)
    }

    /// The instructions in `bytes`, which are at `addr`, one after the other. Bytes at the end that are too few are
    /// left out.
    pub fn sequence(&self, bytes: &[u8], addr: u32) -> Vec<Instruction> {
        let mut instructions: Vec<Instruction> = Vec::new();
        // Texts of a piece of code up to what Capstone does not know, in the order of its instructions.
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

    /// The first instruction's place, without its text.
    fn split(&self, bytes: &[u8], addr: u32) -> Option<Instruction> {
        let half = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let first = half(0)?;
        let len = self.encoding.len_bytes(first);
        let encoding = match (len, self.encoding) {
            (2, _) => u32::from(first),
            (_, Encoding::T32 | Encoding::T32M) => u32::from(first) << 16 | u32::from(half(2)?),
            _ => u32::from(half(2)?) << 16 | u32::from(first),
        };
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

    /// What Capstone does not know.
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

/// The text of an encoding at an address, which is written as [`Instruction::encoding`] is; a directive for what is no
/// instruction.
pub fn text_of(encoding: u32, set: Encoding, addr: u32) -> String {
    let half = if encoding > 0xffff { encoding >> 16 } else { encoding };
    let is_wide = matches!(set, Encoding::T32 | Encoding::T32M) && set.len_bytes(half as u16) == 4;
    let word = if is_wide { encoding.rotate_left(16) } else { encoding };
    match Disassembler::new(set).first(&word.to_le_bytes(), addr) {
        Some(Instruction { text: Some(text), .. }) => text,
        Some(Instruction { len_bytes: 2, .. }) => format!(".short {:#06x}", encoding & 0xffff),
        _ => format!(".word {encoding:#010x}"),
    }
}
