//! A second definition of PicoRV32's legal encodings, by the fields that its decoder distinguishes.

use super::*;
use crate::isa::riscv::decode::tests::mix;

const TIMING: Timing = Timing {
    execute: 2,
    shift: 2,
    shift_stage_bits: 0,
    multiply: 39,
    multiply_high: 71,
    divide: 39,
    csr: 3,
    jump: 1,
    indirect_jump: 4,
    return_from_interrupt: 3,
    breakpoint: 3,
    illegal: 20,
    access: 2,
    interrupt: 2,
};
const M: Extensions = Extensions { multiply: true, divide: true };
const ZMMUL: Extensions = Extensions { multiply: true, divide: false };
const NONE: Extensions = Extensions { multiply: false, divide: false };

const fn field(encoding: u32, high: u32, low: u32) -> u32 {
    encoding >> low & ((1 << (high - low + 1)) - 1)
}

fn knows_short(half: u32) -> bool {
    let (funct3, bit_12, low) = (field(half, 15, 13), field(half, 12, 12), field(half, 6, 2));
    let rd = field(half, 11, 7);
    match (half & 3, funct3) {
        (0, 0) => field(half, 12, 5) != 0,
        (0, 2 | 6) => true,
        (1, 3) => bit_12 != 0 || low != 0,
        // c.srli, c.srai; c.andi; c.sub and similar instructions.
        (1, 4) => match field(half, 11, 10) {
            0 | 1 | 3 => bit_12 == 0,
            _ => true,
        },
        (1, _) => true,
        (2, 0) => bit_12 == 0,
        (2, 2) => rd != 0,
        (2, 4) => half != 0x8002,
        (2, 6) => true,
        _ => false,
    }
}

fn knows_long(word: u32, extensions: Extensions) -> bool {
    let (funct3, funct7) = (field(word, 14, 12), field(word, 31, 25));
    match word & 0x7f {
        0x37 | 0x17 | 0x6f => true,
        0x67 | 0x0f => funct3 == 0,
        0x63 => !matches!(funct3, 2 | 3),
        0x03 => !matches!(funct3, 3 | 6 | 7),
        0x23 => funct3 < 3,
        0x13 => match funct3 {
            1 => funct7 == 0,
            5 => matches!(funct7, 0 | 0x20),
            _ => true,
        },
        0x33 => match funct7 {
            0 => true,
            0x20 => matches!(funct3, 0 | 5),
            1 => {
                if funct3 < 4 {
                    extensions.multiply
                } else {
                    extensions.divide
                }
            }
            _ => false,
        },
        0x73 => match (funct3, field(word, 19, 15), field(word, 31, 20)) {
            // rdcycle, rdtime, rdinstret and their upper halves, to any register.
            (2, 0, csr) => matches!(csr, 0xc00 | 0xc01 | 0xc02 | 0xc80 | 0xc81 | 0xc82),
            _ => word == 0x73 || word == 0x0010_0073,
        },
        0x0b => matches!(funct7, 2..=5),
        _ => false,
    }
}

fn check(table: &mut Table, pc: u32, encoding: u32, known: bool) {
    let slot = table.find(pc, encoding);
    let decoded = *table.at(slot);
    assert_eq!(decoded.kind != Kind::Illegal, known, "{encoding:#010x}, {:?}", table.extensions);
    assert_eq!((decoded.pc, decoded.encoding), (pc, encoding));
    assert_eq!(decoded.len_bytes, if encoding & 3 == 3 { 4 } else { 2 }, "{encoding:#010x}");
    assert_eq!(decoded.accepts_cycles == u16::from(TIMING.illegal), !known, "{encoding:#010x}");
}

/// Tests both lengths of every encoding, with each set of extensions.
fn check_all(encodings: impl Iterator<Item = u32> + Clone) -> Vec<usize> {
    let count_known = |extensions| {
        let mut table = Table::new(TIMING, extensions);
        let mut known_encodings = 0;
        for (index, encoding) in encodings.clone().enumerate() {
            let known = if encoding & 3 == 3 { knows_long(encoding, extensions) } else { knows_short(encoding) };
            check(&mut table, 2 * index as u32, encoding, known);
            known_encodings += usize::from(known);
        }
        known_encodings
    };
    [M, ZMMUL, NONE].into_iter().map(count_known).collect()
}

#[test]
fn every_short_encoding_is_known_or_unknown_as_to_picorv32() {
    let known = check_all((0..0x1_0000).filter(|half| half & 3 != 3));
    assert!(known.windows(2).all(|pair| pair[0] == pair[1]), "{known:?}");
}

#[test]
fn so_is_every_combination_of_opcode_funct3_and_funct7() {
    // Each with two values of the other fields, one of them all zero.
    let combination = |index: u32| field(index, 6, 0) | field(index, 9, 7) << 12 | field(index, 16, 10) << 25;
    let fields = |index: u32| mix(u64::from(index)) as u32 & 0x01ff_8f80;
    let encodings = (0..1 << 17).flat_map(move |index| {
        let encoding = combination(index);
        [encoding, encoding | fields(index)]
    });
    let known = check_all(encodings.filter(|encoding| encoding & 3 == 3));
    // One division less for each of four values of funct3, one multiplication less for the others.
    assert_eq!((known[0] - known[1], known[1] - known[2]), (8, 8));
}

#[test]
fn so_is_every_csr_and_what_else_is_of_the_system() {
    let encodings = (0..1 << 16).flat_map(|index: u32| {
        let encoding = field(index, 11, 0) << 20 | field(index, 14, 12) << 12 | 0x73;
        let fields = if index >> 15 == 0 { 0 } else { mix(u64::from(index)) as u32 & 0x000f_8f80 };
        // rd alone, which any of them may have, and rs1 with it.
        [encoding | fields & 0xf80, encoding | fields]
    });
    check_all(encodings);
}

#[test]
fn so_are_random_words() {
    check_all((0..500_000).map(|index| mix(index) as u32 | 3));
}

#[test]
fn the_longest_serial_shift_is_longer_than_any_number_of_the_table() {
    let extensions = Extensions { multiply: true, divide: true };
    let timing = Timing { shift: u8::MAX, shift_stage_bits: 16, ..TIMING };
    // slli x5, x5, 31
    let mut table = Table::new(timing, extensions);
    let slot = table.find(0, 31 << 20 | 5 << 15 | 1 << 12 | 5 << 7 | 0x13);
    let decoded = *table.at(slot);
    assert_eq!(decoded.accepts_cycles, 255 + 1 + 15);
}
