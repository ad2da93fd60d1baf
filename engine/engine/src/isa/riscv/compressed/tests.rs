//! Tests over the whole table and all 49152 code points, and against LLVM's disassembler by way of
//! `tests/differential/llvm_decode.py`.

use super::super::decode as long;
use super::super::disasm::disassemble;
use super::*;

/// Code points of one row that are also in another's: the first row has to precede.
const INSIDE: [(&str, &str); 11] = [
    ("c.addi4spn nzuimm=0", "c.addi4spn"),
    ("c.lui nzimm=0", "c.addi16sp"),
    ("c.lui nzimm=0", "c.lui"),
    ("c.addi16sp", "c.lui"),
    ("c.lwsp rd=x0", "c.lwsp"),
    ("c.jr rs1=x0", "c.jr"),
    ("c.jr rs1=x0", "c.mv"),
    ("c.jr", "c.mv"),
    ("c.ebreak", "c.jalr"),
    ("c.ebreak", "c.add"),
    ("c.jalr", "c.add"),
];

/// Number of code points of each instruction in the manual's sense, by LLVM's count (c.nop is counted with c.addi).
const COUNTS: [(&str, usize); 26] = [
    ("c.add", 992),
    ("c.addi", 1984 + 64),
    ("c.addi16sp", 63),
    ("c.addi4spn", 2040),
    ("c.and", 64),
    ("c.andi", 512),
    ("c.beqz", 2048),
    ("c.bnez", 2048),
    ("c.ebreak", 1),
    ("c.j", 2048),
    ("c.jal", 2048),
    ("c.jalr", 31),
    ("c.jr", 31),
    ("c.li", 2048),
    ("c.lui", 1953),
    ("c.lw", 2048),
    ("c.lwsp", 1984),
    ("c.mv", 992),
    ("c.or", 64),
    ("c.slli", 1024),
    ("c.srai", 256),
    ("c.srli", 256),
    ("c.sub", 64),
    ("c.sw", 2048),
    ("c.swsp", 2048),
    ("c.xor", 64),
];

/// All halves that are instructions of their own.
fn halves() -> impl Iterator<Item = u16> {
    (0..=0xffff).filter(|half| half & 3 != 3)
}

/// The row that decodes `half`.
fn row_of(half: u16) -> Option<&'static Row> {
    ROWS.iter().find(|row| half & row.mask == row.bits)
}

#[test]
fn only_the_listed_encodings_overlap() {
    let mut found = Vec::new();
    for (index, a) in ROWS.iter().enumerate() {
        assert_eq!(a.bits & !a.mask, 0, "{}", a.mnemonic);
        for b in &ROWS[index + 1..] {
            if (a.bits ^ b.bits) & a.mask & b.mask == 0 {
                found.push((a.mnemonic, b.mnemonic));
            }
        }
    }
    assert_eq!(found, INSIDE);
}

#[test]
fn each_row_decodes_all_its_code_points() {
    for row in &ROWS {
        let own = halves().filter(|half| half & row.mask == row.bits);
        for half in own.filter(|&half| std::ptr::eq(row_of(half).unwrap(), row)) {
            assert_eq!(decode(half).code, row.code, "{} {half:#x}", row.mnemonic);
        }
    }
}

#[test]
fn each_row_has_as_many_code_points_as_llvm_finds() {
    for (mnemonic, count) in COUNTS {
        let own = halves().filter(|&half| row_of(half).is_some_and(|row| row.mnemonic == mnemonic));
        assert_eq!(own.count(), count, "{mnemonic}");
    }
    let legal = halves().filter(|&half| decode(half).code != Code::Illegal).count();
    assert_eq!(legal, COUNTS.iter().map(|row| row.1).sum::<usize>());
}

#[test]
fn agrees_with_llvm_on_every_code_point() {
    let texts = halves().map(|half| disassemble(&long::decode(half.into()), 0x8000_0000));
    assert_eq!(long::tests::checksum(texts), 0xbc7f_43f2_7be1_9f34);
}

#[test]
fn reserved_code_points_are_illegal() {
    let cases = [
        (0x0000, "all zeros"),
        (0x001c, "c.addi4spn, nzuimm 0"),
        (0x2000, "c.fld"),
        (0x6000, "c.flw"),
        (0x8000, "quadrant 0, funct3 4"),
        (0x6101, "c.addi16sp, nzimm 0"),
        (0x6081, "c.lui, nzimm 0"),
        (0x9001, "c.srli by 32"),
        (0x9401, "c.srai by 32"),
        (0x9c01, "c.subw"),
        (0x9c41, "quadrant 1, reserved"),
        (0x1082, "c.slli by 32"),
        (0x4002, "c.lwsp to x0"),
        (0x6082, "c.flwsp"),
        (0x8002, "c.jr x0"),
    ];
    for (half, what) in cases {
        assert_eq!(decode(half), illegal(half.into()), "{what}");
    }
}

#[test]
fn hints_are_legal() {
    let cases = [
        (0x0005, Code::Addi, "c.nop 1"),
        (0x0081, Code::Addi, "c.addi ra, 0"),
        (0x4005, Code::Addi, "c.li x0, 1"),
        (0x6005, Code::Lui, "c.lui x0, 1"),
        (0x8001, Code::Srli, "c.srli s0, 0"),
        (0x0006, Code::Slli, "c.slli x0, 1"),
        (0x8006, Code::Add, "c.mv x0, ra"),
        (0x900a, Code::Add, "c.ntl.p1"),
    ];
    for (half, code, what) in cases {
        assert_eq!(decode(half).code, code, "{what}");
    }
}
