//! Tests over the whole table, and compared with LLVM's disassembler by `tests/differential/llvm_decode.py`.

use proptest::prelude::*;

use super::super::disasm::disassemble;
use super::*;

/// FNV-1a over `lines`, each with its newline.
pub(in super::super) fn checksum(lines: impl Iterator<Item = String>) -> u64 {
    lines
        .flat_map(|line| (line + "\n").into_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |value, byte| (value ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Encodes the operands by the format's diagram in the manual (chapter 2, figures 2 and 3).
fn encode(row: &Row, op: Op) -> u32 {
    let (rd, rs1, rs2, imm) = (u32::from(op.rd), u32::from(op.rs1), u32::from(op.rs2), op.imm as u32);
    let bit = |position: u32| imm >> position & 1;
    row.bits
        | match row.format {
            Format::R => rd << 7 | rs1 << 15 | rs2 << 20,
            Format::I | Format::Shift | Format::Csr => rd << 7 | rs1 << 15 | imm << 20,
            Format::S => (imm & 0x1f) << 7 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25,
            Format::B => {
                let (low, high) = ((imm >> 1 & 0xf) << 8 | bit(11) << 7, bit(12) << 31 | (imm >> 5 & 0x3f) << 25);
                low | rs1 << 15 | rs2 << 20 | high
            }
            Format::U => rd << 7 | imm,
            Format::J => rd << 7 | (imm >> 12 & 0xff) << 12 | bit(11) << 20 | (imm >> 1 & 0x3ff) << 21 | bit(20) << 31,
            Format::None => 0,
        }
}

#[test]
fn no_two_encodings_overlap() {
    for (index, a) in ROWS.iter().enumerate() {
        assert_eq!(a.bits & !a.mask, 0, "{}", a.mnemonic);
        for b in &ROWS[index + 1..] {
            assert_ne!((a.bits ^ b.bits) & a.mask & b.mask, 0, "{} and {}", a.mnemonic, b.mnemonic);
        }
    }
}

#[test]
fn each_operation_has_one_row() {
    for (index, a) in ROWS.iter().enumerate() {
        assert!(ROWS[index + 1..].iter().all(|b| a.code != b.code && a.mnemonic != b.mnemonic), "{}", a.mnemonic);
        assert_eq!(a.bits & 3, 3, "{}", a.mnemonic);
    }
}

#[test]
fn undefined_encodings_are_illegal() {
    let cases = [
        (0xffff_ffff, "all ones"),
        (0x0000_007f, "a prefix of longer instructions"),
        (0x0000_3003, "ld"),
        (0x0000_6003, "lwu"),
        (0x0000_3023, "sd"),
        (0x0000_2063, "branch, funct3 2"),
        (0x0000_1067, "jalr, funct3 1"),
        (0x0200_1013, "slli by 32"),
        (0x4000_1013, "slli, funct7 0x20"),
        (0x6000_5013, "rori"),
        (0x4000_7033, "andn"),
        (0x0600_0033, "op, funct7 3"),
        (0x0000_001b, "addiw"),
        (0x0000_2007, "flw"),
        (0x1005_202f, "lr.w"),
        (0x0000_200f, "cbo.inval"),
        (0x0000_4073, "system, funct3 4"),
        (0x0020_0073, "uret"),
        (0x1020_0073, "sret"),
        (0x1200_0073, "sfence.vma"),
        (0x7b20_0073, "dret"),
        (0x0000_00f3, "ecall with rd 1"),
        (0x3020_8073, "mret with rs1 1"),
    ];
    for (word, what) in cases {
        assert_eq!(decode(word), Instr { op: illegal(word), len_bytes: 4 }, "{what}");
    }
}

#[test]
fn fields_to_be_ignored_are_ignored() {
    for word in [0x0ff0_000f_u32, 0x8330_000f, 0x0100_000f, 0xffff_8f8f] {
        assert_eq!(decode(word).op.code, Code::Fence, "{word:#x}");
        assert_eq!(decode(word | 0x1000).op.code, Code::FenceI, "{word:#x}");
    }
}

#[test]
fn a_short_instruction_ignores_the_upper_half() {
    assert_eq!(decode(0xffff_4505), decode(0x4505));
    assert_eq!(decode(0xffff_0000), Instr { op: illegal(0), len_bytes: 2 });
}

/// SplitMix64 of `index`, like the script.
pub(in super::super) fn mix(index: u64) -> u64 {
    let z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// An encoding to try, like the script: one of the opcodes without ignored fields, mostly a defined funct7.
fn sample(index: u64) -> u32 {
    let opcodes = [0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x33];
    let bits = mix(index);
    let word = bits as u32 & !0x7f | opcodes[(bits >> 32) as usize % 10];
    let funct7 = [0x00, 0x20, 0x01, word >> 25][(bits >> 40) as usize % 4];
    word & 0x01ff_ffff | funct7 << 25
}

#[test]
fn agrees_with_llvm_on_a_hundred_thousand_encodings() {
    let decoded = || (0..100_000).map(|index| decode(sample(index)));
    let legal = decoded().filter(|instr| instr.op.code != Code::Illegal).count();
    assert_eq!(legal, 68_467);
    assert_eq!(checksum(decoded().map(|instr| disassemble(&instr, 0x8000_0000))), 0x5c1e_ce3c_9787_8415);
}

proptest! {
    #[test]
    fn each_row_decodes_to_itself(operands: u32) {
        for row in &ROWS {
            let word = operands & !row.mask | row.bits;
            let Instr { op, len_bytes } = decode(word);
            prop_assert_eq!((op.code, len_bytes), (row.code, 4), "{}", row.mnemonic);
            let ignored = if matches!(row.code, Code::Fence | Code::FenceI) { !row.mask } else { 0 };
            prop_assert_eq!(encode(row, op), word & !ignored, "{}", row.mnemonic);
        }
    }

    #[test]
    fn any_word_decodes_and_has_a_text(word: u32, pc: u32) {
        let instr = decode(word);
        prop_assert_eq!(instr.len_bytes, if word & 3 == 3 { 4 } else { 2 });
        prop_assert!(instr.op.rd < 32 && instr.op.rs1 < 32 && instr.op.rs2 < 32);
        prop_assert!(!disassemble(&instr, pc).is_empty());
    }
}
