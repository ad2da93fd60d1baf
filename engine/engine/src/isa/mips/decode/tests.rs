//! Encodings produced by LLVM's assembler (`llvm-mc -triple=mipsel -mcpu=mips32`), and reserved encodings.

use proptest::prelude::*;

use super::*;
use crate::isa::mips::op::{HI, RA};

const PC: u32 = 0x1001_0000;

/// Operation, rd, rs, rt, immediate.
type Expected = (Code, u8, u8, u8, i32);

fn check(cases: &[(u32, Expected)]) {
    for &(encoding, (code, rd, rs, rt, imm)) in cases {
        assert_eq!(decode(encoding, PC), Op { code, rd, rs, rt, imm }, "{encoding:#010x}");
    }
}

#[test]
fn arithmetic_on_registers() {
    check(&[
        (0x0003_17c0, (Code::Sll, 2, 0, 3, 31)),
        (0x0003_1042, (Code::Srl, 2, 0, 3, 1)),
        (0x0083_1004, (Code::Sllv, 2, 4, 3, 0)),
        (0x0083_1007, (Code::Srav, 2, 4, 3, 0)),
        (0x0064_100a, (Code::Movz, 2, 3, 4, 0)),
        (0x0064_100b, (Code::Movn, 2, 3, 4, 0)),
        (0x0064_1020, (Code::Add, 2, 3, 4, 0)),
        (0x0064_1027, (Code::Nor, 2, 3, 4, 0)),
        (0x0064_102a, (Code::Slt, 2, 3, 4, 0)),
        (0x7064_1002, (Code::Mul, 2, 3, 4, 0)),
        (0x7062_1020, (Code::Clz, 2, 3, 0, 0)),
        (0x7062_1021, (Code::Clo, 2, 3, 0, 0)),
    ]);
}

#[test]
fn immediates_are_extended_as_each_wants_it() {
    check(&[
        (0x2062_ffff, (Code::Addi, 2, 3, 0, -1)),
        (0x2462_8000, (Code::Addiu, 2, 3, 0, -0x8000)),
        (0x2c62_ffff, (Code::Sltiu, 2, 3, 0, -1)),
        (0x3062_ffff, (Code::Andi, 2, 3, 0, 0xffff)),
        (0x3462_8000, (Code::Ori, 2, 3, 0, 0x8000)),
        (0x3862_0001, (Code::Xori, 2, 3, 0, 1)),
        (0x3c02_8001, (Code::Li, 2, 0, 0, -0x7fff_0000)),
    ]);
}

#[test]
fn results_for_register_zero_go_nowhere() {
    check(&[
        (0x0000_0000, (Code::Nop, SINK, 0, 0, 0)),
        (0x0000_0040, (Code::Nop, SINK, 0, 0, 0)),
        (0x0064_0021, (Code::Nop, SINK, 0, 0, 0)),
        (0x3c00_8001, (Code::Nop, SINK, 0, 0, 0)),
        (0x0000_0010, (Code::Nop, SINK, 0, 0, 0)),
        // Operations that may raise an exception, or that affect timing, stay.
        (0x0064_0022, (Code::Sub, SINK, 3, 4, 0)),
        (0x2060_0001, (Code::Addi, SINK, 3, 0, 1)),
        (0x7064_0002, (Code::Mul, SINK, 3, 4, 0)),
        (0x8c60_0004, (Code::Lw, SINK, 3, 0, 4)),
        (0x4000_6000, (Code::Mfc0, SINK, 0, 0, 0x60)),
    ]);
}

#[test]
fn hi_and_lo_are_registers_like_others() {
    check(&[
        (0x0000_1010, (Code::Mfhi, 2, HI, 0, 0)),
        (0x0040_0011, (Code::Mthi, HI, 2, 0, 0)),
        (0x0000_1012, (Code::Mflo, 2, LO, 0, 0)),
        (0x0040_0013, (Code::Mtlo, LO, 2, 0, 0)),
        (0x0043_0018, (Code::Mult, LO, 2, 3, 0)),
        (0x0043_001b, (Code::Divu, LO, 2, 3, 0)),
        (0x7043_0000, (Code::Madd, LO, 2, 3, 0)),
        (0x7043_0001, (Code::Maddu, LO, 2, 3, 0)),
        (0x7043_0004, (Code::Msub, LO, 2, 3, 0)),
        (0x7043_0005, (Code::Msubu, LO, 2, 3, 0)),
    ]);
}

#[test]
fn loads_write_rd_and_stores_read_rt() {
    check(&[
        (0x8062_ffff, (Code::Lb, 2, 3, 0, -1)),
        (0x9062_0001, (Code::Lbu, 2, 3, 0, 1)),
        (0x8462_0002, (Code::Lh, 2, 3, 0, 2)),
        (0x9462_0002, (Code::Lhu, 2, 3, 0, 2)),
        (0x8862_0003, (Code::Lwl, 2, 3, 2, 3)),
        (0x9862_0000, (Code::Lwr, 2, 3, 2, 0)),
        (0xc062_0004, (Code::Ll, 2, 3, 0, 4)),
        (0xa062_0001, (Code::Sb, SINK, 3, 2, 1)),
        (0xa462_0002, (Code::Sh, SINK, 3, 2, 2)),
        (0xac62_fffc, (Code::Sw, SINK, 3, 2, -4)),
        (0xa862_0003, (Code::Swl, SINK, 3, 2, 3)),
        (0xb862_0000, (Code::Swr, SINK, 3, 2, 0)),
        (0xe062_0004, (Code::Sc, 2, 3, 2, 4)),
    ]);
    let (cache, pref) = (decode(0xbc75_ffe0, PC), decode(0xcc61_0040, PC));
    assert_eq!((cache.code, cache.rs, cache.operation(), cache.offset()), (Code::Cache, 3, 0x15, -32));
    assert_eq!((pref.code, pref.rs, pref.operation(), pref.offset()), (Code::Pref, 3, 1, 64));
}

#[test]
fn targets_are_absolute() {
    let here = PC as i32;
    check(&[
        (0x0440_fffd, (Code::Bltz, SINK, 2, 0, here - 8)),
        (0x0453_0003, (Code::Bgezall, RA, 2, 0, here + 16)),
        (0x1043_8000, (Code::Beq, SINK, 2, 3, here - 131_068)),
        (0x5443_7fff, (Code::Bnel, SINK, 2, 3, here + 131_072)),
        (0x1840_ffff, (Code::Blez, SINK, 2, 0, here)),
        (0x5c40_0000, (Code::Bgtzl, SINK, 2, 0, here + 4)),
        (0x0800_48d1, (Code::J, SINK, 0, 0, 0x1001_2344)),
        (0x0c00_48d1, (Code::Jal, RA, 0, 0, 0x1001_2344)),
        (0x03e0_0008, (Code::Jr, SINK, 31, 0, 0)),
        (0x0060_1009, (Code::Jalr, 2, 3, 0, 0)),
    ]);
    // The delay slot's address gives the 256 MiB in which a jump stays.
    assert_eq!(decode(0x0800_0001, 0x8fff_fffc).imm as u32, 0x9000_0004);
    assert_eq!(decode(0x1000_0001, 0xffff_fffc).imm, 4);
}

#[test]
fn traps_and_codes() {
    check(&[
        (0x0043_0170, (Code::Tge, SINK, 2, 3, 0)),
        (0x0043_0036, (Code::Tne, SINK, 2, 3, 0)),
        (0x044b_fffd, (Code::Tltiu, SINK, 2, 0, -3)),
        (0x044c_0003, (Code::Teqi, SINK, 2, 0, 3)),
        (0x0000_014c, (Code::Syscall, SINK, 0, 0, 5)),
        // Assemblers put the operand of break into the upper half of the field.
        (0x0007_000d, (Code::Break, SINK, 0, 0, 7 << 10)),
        (0x7000_007f, (Code::Sdbbp, SINK, 0, 0, 1)),
        (0x0000_000f, (Code::Sync, SINK, 0, 0, 0)),
    ]);
}

#[test]
fn coprocessor_0() {
    let fields = |encoding| {
        let op = decode(encoding, PC);
        (op.code, op.rd, op.rt, op.register(), op.select())
    };
    assert_eq!(fields(0x4002_6000), (Code::Mfc0, 2, 0, 12, 0));
    assert_eq!(fields(0x4002_8001), (Code::Mfc0, 2, 0, 16, 1));
    assert_eq!(fields(0x4080_4807), (Code::Mtc0, SINK, 0, 9, 7));
    assert_eq!(fields(0x4082_f800), (Code::Mtc0, SINK, 2, 31, 0));
    check(&[
        (0x4200_0001, (Code::Tlbr, SINK, 0, 0, 0)),
        (0x4200_0002, (Code::Tlbwi, SINK, 0, 0, 0)),
        (0x4200_0006, (Code::Tlbwr, SINK, 0, 0, 0)),
        (0x4200_0008, (Code::Tlbp, SINK, 0, 0, 0)),
        (0x4200_0018, (Code::Eret, SINK, 0, 0, 0)),
        (0x4200_0020, (Code::Wait, SINK, 0, 0, 0)),
        (0x4200_00e0, (Code::Wait, SINK, 0, 0, 0)),
    ]);
}

#[test]
fn other_coprocessors_are_unusable() {
    for (encoding, number, what) in [
        (0x4482_1800, 1, "mtc1"),
        (0xc443_0004, 1, "lwc1"),
        (0xd443_0004, 1, "ldc1"),
        (0xf443_0004, 1, "sdc1"),
        (0x0060_1001, 1, "movf"),
        (0x4802_1800, 2, "mfc2"),
        (0xe843_0004, 2, "swc2"),
        (0xf843_0004, 2, "sdc2"),
        (0x4c00_0000, 3, "cop3"),
    ] {
        let expected = Op { code: Code::CopUnusable, rd: SINK, rs: 0, rt: 0, imm: number };
        assert_eq!(decode(encoding, PC), expected, "{what}");
    }
}

#[test]
fn later_releases_and_extensions_are_reserved() {
    for (encoding, what) in [
        (0x0022_1042, "rotr"),
        (0x0083_1046, "rotrv"),
        (0x0043_0818, "mult with an accumulator"),
        (0x0064_102d, "daddu"),
        (0x045f_0000, "synci"),
        (0x4200_001f, "deret"),
        (0x4162_6000, "di"),
        (0xdc62_0000, "ld"),
        (0x7000_042f, "S32I2M"),
        (0x7c02_e83b, "rdhwr"),
        (0x7c03_1420, "seb"),
        (0x7400_0000, "jalx"),
        (0xffff_ffff, "erased flash"),
        (0x0000_0005, "SPECIAL, function 5"),
        (0x0440_0000 | 0x14 << 16, "REGIMM, rt 0x14"),
    ] {
        assert_eq!(decode(encoding, PC), reserved(encoding), "{what}");
    }
}

#[test]
fn fields_that_have_to_be_zero_have_to_be() {
    for encoding in [0x0064_1020, 0x0043_0018, 0x0000_1010, 0x0040_0011, 0x3c02_8001, 0x1840_ffff, 0x03e0_0008_u32] {
        let code = decode(encoding, PC).code;
        let zero = tables::find(encoding).1.zero_fields();
        assert!(zero != 0 && code != Code::Reserved, "{encoding:#010x}");
        for bit in (0..32).map(|bit| 1 << bit).filter(|bit| zero & bit != 0) {
            assert_eq!(decode(encoding | bit, PC).code, Code::Reserved, "{encoding:#010x} with {bit:#x}");
        }
    }
    // Hint fields of jumps (jr.hb) and of sync may have any value.
    assert_eq!(decode(0x03e0_0408, PC).code, Code::Jr);
    assert_eq!(decode(0x0000_040f, PC).code, Code::Sync);
}

/// All opcodes, functions and fields with an instruction of this core.
#[test]
fn every_entry_of_the_tables_counts() {
    let defined = |encodings: &mut dyn Iterator<Item = u32>| {
        encodings.filter(|&encoding| !matches!(decode(encoding, PC).code, Code::Reserved | Code::CopUnusable)).count()
    };
    assert_eq!(defined(&mut (2..16).map(|opcode| opcode << 26)), 14);
    assert_eq!(defined(&mut (20..28).map(|opcode| opcode << 26)), 4);
    assert_eq!(defined(&mut (29..64).map(|opcode| opcode << 26)), 16);
    assert_eq!(defined(&mut (0..64)), 37);
    assert_eq!(defined(&mut (0..32).map(|rt| 0x0400_0000 | rt << 16)), 14);
    assert_eq!(defined(&mut (0..64).map(|function| 0x7000_0000 | function)), 8);
    assert_eq!(defined(&mut (0..64).map(|function| 0x4200_0000 | function)), 6);
    assert_eq!(defined(&mut (0..16).map(|rs| 0x4000_0000 | rs << 21)), 2);
}

proptest! {
    #[test]
    fn any_word_decodes_to_registers_that_exist(encoding: u32, pc: u32) {
        let op = decode(encoding, pc & !3);
        prop_assert!(op.rd != ZERO && op.rd <= LO && op.rs <= LO && op.rt < 32);
        prop_assert!(op.rs != SINK);
        if (Code::Beq..=Code::Jalr).contains(&op.code) {
            prop_assert_eq!(op.imm & 3, 0, "targets");
        }
        prop_assert_eq!(op.code == Code::Reserved, op == reserved(encoding));
    }
}
