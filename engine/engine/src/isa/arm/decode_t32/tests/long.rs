//! 32-bit instructions. The encodings are LLVM's.

use super::*;
use crate::isa::arm::op::Media;
use crate::isa::arm::registers::{ADDRESS, OPERAND};

const REPORTED: u8 = how::ALIGNED | how::REPORTED;

fn media(media: Media, parameters: u32) -> u32 {
    media as u32 | parameters << 8
}

fn check(cases: &[(u32, &str, &[Op])]) {
    for &(encoding, text, expected) in cases {
        assert_eq!(ops(encoding), expected, "{encoding:#x} {text}");
        let (instr, conditional) = decode_in(&mut 0x28, encoding);
        assert_eq!(instr.len_bytes, 4);
        assert_eq!(conditional[0], op(Code::SkipUnless, 2, 0, ZERO, expected.len() as u32), "{text}");
        assert_eq!(&conditional[1..], expected, "{text}");
    }
}

#[test]
fn modified_immediates_and_their_carry() {
    let set_c = |carry| op(Code::SetC, 0, 0, ZERO, carry);
    check(&[
        (0xf011_4f7f, "tst r1, 0xff000000", &[set_c(1), op(Code::Ands, SINK, 1, ZERO, 0xff00_0000)]),
        (0xf05f_5000, "movs r0, 0x20000000", &[set_c(0), op(Code::Movs, 0, ZERO, ZERO, 0x2000_0000)]),
        (0xf04f_10ab, "mov r0, 0x00ab00ab", &[op(Code::Mov, 0, ZERO, ZERO, 0x00ab_00ab)]),
        (0xf05f_10ab, "movs r0, 0x00ab00ab", &[op(Code::Movs, 0, ZERO, ZERO, 0x00ab_00ab)]),
        (0xf06f_23ab, "mvn r3, 0xab00ab00", &[op(Code::Mvn, 3, ZERO, ZERO, 0xab00_ab00)]),
        (0xf113_32ab, "adds r2, r3, 0xabababab", &[op(Code::Adds, 2, 3, ZERO, 0xabab_abab)]),
        (0xf511_7f80, "cmn r1, 256", &[op(Code::Adds, SINK, 1, ZERO, 256)]),
    ]);
}

#[test]
fn shifted_registers() {
    check(&[
        (
            0xea11_0012,
            "ands r0, r1, r2, lsr 32",
            &[op(Code::LsrImms, OPERAND, 0, 2, 32), op(Code::Ands, 0, 1, OPERAND, 0)],
        ),
        (0xeb01_00c2, "add r0, r1, r2, lsl 3", &[op(Code::LslImm, OPERAND, 0, 2, 3), op(Code::Add, 0, 1, OPERAND, 0)]),
        (0xea5f_0031, "rrxs r0, r1", &[op(Code::Rrxs, 0, 0, 1, 0), op(Code::TestNz, 0, 0, 0, 0)]),
        (0xea62_0103, "orn r1, r2, r3", &[op(Code::Orn, 1, 2, 3, 0)]),
        (
            0xeac1_0022,
            "pkhtb r0, r1, r2, asr 32",
            &[op(Code::AsrImm, OPERAND, 0, 2, 32), op(Code::Media, 0, 1, OPERAND, media(Media::Pkhtb, 0))],
        ),
        (0xfa12_f103, "lsls r1, r2, r3", &[op(Code::LslRegs, 1, 3, 2, 0), op(Code::TestNz, 0, 0, 1, 0)]),
    ]);
    let instr = decoded(0xea5f_0031).0;
    assert_eq!((instr.reads, instr.reads_early, instr.writes), (2 | FLAGS, 2, 1 | FLAGS));
}

#[test]
fn plain_immediates_and_bit_fields() {
    check(&[
        (0xf602_71ff, "addw r1, r2, 4095", &[op(Code::Add, 1, 2, ZERO, 4095)]),
        (0xf2af_0108, "adr r1, -8", &[op(Code::Mov, 1, ZERO, ZERO, 0x2000_0004 - 8)]),
        (0xf64a_31cd, "movw r1, 0xabcd", &[op(Code::Mov, 1, ZERO, ZERO, 0xabcd)]),
        (0xf2c1_2134, "movt r1, 0x1234", &[op(Code::Movt, 1, 0, 0, 0x1234)]),
        (
            0xf322_01df,
            "ssat r1, 32, r2, asr 3",
            &[op(Code::AsrImm, OPERAND, 0, 2, 3), op(Code::Media, 1, 0, OPERAND, media(Media::Ssat, 32))],
        ),
        (0xf3a2_0100, "usat16 r1, 0, r2", &[op(Code::Media, 1, 0, 2, media(Media::Usat16, 0))]),
        (0xf342_01dc, "sbfx r1, r2, 3, 29", &[op(Code::Sbfx, 1, 0, 2, 29 << 8 | 3)]),
        (0xf362_110b, "bfi r1, r2, 4, 8", &[op(Code::Bfi, 1, 0, 2, 8 << 8 | 4)]),
        (0xf36f_011f, "bfc r1, 0, 32", &[op(Code::Bfi, 1, 0, ZERO, 32 << 8)]),
    ]);
}

#[test]
fn registers_alone() {
    check(&[
        (0xfa4f_f192, "sxtb r1, r2, ror 8", &[op(Code::RorImm, OPERAND, 0, 2, 8), op(Code::Sxtb, 1, 0, OPERAND, 0)]),
        (0xfa12_f183, "uxtah r1, r2, r3", &[op(Code::Uxth, OPERAND, 0, 3, 0), op(Code::Add, 1, 2, OPERAND, 0)]),
        (
            0xfa2f_f1b2,
            "sxtb16 r1, r2, ror 24",
            &[op(Code::RorImm, OPERAND, 0, 2, 24), op(Code::Media, 1, ZERO, OPERAND, media(Media::Sxtab16, 0))],
        ),
        (0xfac2_f153, "uqsub8 r1, r2, r3", &[op(Code::Media, 1, 2, 3, media(Media::Parallel, 5 << 4 | 4))]),
        (0xfaa2_f123, "shasx r1, r2, r3", &[op(Code::Media, 1, 2, 3, media(Media::Parallel, 1 << 4 | 2))]),
        (0xfa83_f1b2, "qdsub r1, r2, r3", &[op(Code::Media, 1, 3, 2, media(Media::Qdsub, 0))]),
        (0xfaa2_f183, "sel r1, r2, r3", &[op(Code::Media, 1, 2, 3, media(Media::Sel, 0))]),
        (0xfab2_f182, "clz r1, r2", &[op(Code::Clz, 1, 0, 2, 0)]),
        (0xfa92_f1a2, "rbit r1, r2", &[op(Code::Rbit, 1, 0, 2, 0)]),
    ]);
    // sxtb, sxtb with a rotation, uxtah
    let classes = [0xfa4f_f182, 0xfa4f_f192, 0xfa12_f183].map(|encoding| decoded(encoding).0.class);
    assert_eq!(classes, [TimingClass::Alu, TimingClass::AluShift, TimingClass::AluShift]);
}

#[test]
fn multiplications() {
    let four = |code, rd, ra, imm| Op { code, rd, rn: 2, rm: 3, ra, imm };
    let long = |code, imm| Op { code, rd: 1, rn: 3, rm: 4, ra: 2, imm };
    check(&[
        (0xfb02_f103, "mul r1, r2, r3", &[op(Code::Mul, 1, 2, 3, 0)]),
        (0xfb02_4113, "mls r1, r2, r3, r4", &[four(Code::Mls, 1, 4, 0)]),
        (0xfb12_4113, "smlabt r1, r2, r3, r4", &[four(Code::Media, 1, 4, media(Media::Smlaxy, 2))]),
        (0xfb32_f113, "smulwt r1, r2, r3", &[four(Code::Media, 1, ZERO, media(Media::Smlawy, 2))]),
        (0xfb42_4113, "smlsdx r1, r2, r3, r4", &[four(Code::Media, 1, 4, media(Media::Smlsd, 1))]),
        (0xfb52_f113, "smmulr r1, r2, r3", &[four(Code::Media, 1, ZERO, media(Media::Smmla, 1))]),
        (0xfb72_f103, "usad8 r1, r2, r3", &[four(Code::Media, 1, ZERO, media(Media::Usada8, 0))]),
        (0xfbe3_1264, "umaal r1, r2, r3, r4", &[long(Code::Umaal, 0)]),
        (0xfbc3_12a4, "smlaltb r1, r2, r3, r4", &[long(Code::Media, media(Media::Smlalxy, 1))]),
        (0xfbc3_12d4, "smlaldx r1, r2, r3, r4", &[long(Code::Media, media(Media::Smlald, 1))]),
        (0xfb92_f1f3, "sdiv r1, r2, r3", &[op(Code::Sdiv, 1, 2, 3, 0)]),
    ]);
    let mut made = Vec::new();
    decode(0xfb92, 0xf1f3, PC, Features { divide: false, ..FEATURES }, &mut 0, &mut made);
    assert_eq!(made, undefined(0xfb92_f1f3));
}

#[test]
fn loads_and_stores() {
    check(&[
        (0xf8d2_1fff, "ldr r1, [r2, 4095]", &[access(Code::Ldr, 1, 2, ZERO, 0, 4095)]),
        (0xf852_1cff, "ldr r1, [r2, -255]", &[access(Code::Ldr, 1, 2, ZERO, 0, 0xffff_ff01)]),
        (
            0xf832_1d04,
            "ldrh r1, [r2, -4]!",
            &[access(Code::Ldrh, 1, 2, ZERO, 0, 0xffff_fffc), op(Code::Add, 2, 2, ZERO, 0xffff_fffc)],
        ),
        (0xf802_1b08, "strb r1, [r2], 8", &[access(Code::Strb, 1, 2, ZERO, 0, 0), op(Code::Add, 2, 2, ZERO, 8)]),
        (0xf912_1e08, "ldrsbt r1, [r2, 8]", &[access(Code::Ldrsb, 1, 2, ZERO, how::UNPRIVILEGED, 8)]),
        (
            0xf85d_fb04,
            "ldr pc, [sp], 4",
            &[
                access(Code::Ldr, RESULT, SP, ZERO, 0, 0),
                op(Code::Add, SP, SP, ZERO, 4),
                op(Code::JumpTo, 0, 0, RESULT, 0),
            ],
        ),
        (
            0xf852_1033,
            "ldr r1, [r2, r3, lsl 3]",
            &[op(Code::LslImm, OPERAND, 0, 3, 3), access(Code::Ldr, 1, 2, OPERAND, 0, 0)],
        ),
        (0xf85f_1008, "ldr r1, [pc, -8]", &[access(Code::Ldr, 1, ZERO, ZERO, 0, 0x1fff_fffc)]),
        (0xf891_f004, "pld [r1, 4]", &[op(Code::Pld, 0, 1, ZERO, 4)]),
        (0xf831_f012, "pldw [r1, r2, lsl 1]", &[op(Code::LslImm, OPERAND, 0, 2, 1), op(Code::Pld, 0, 1, OPERAND, 0)]),
        (0xf991_f004, "pli [r1, 4]", &[op(Code::Mov, SINK, ZERO, ZERO, 0)]),
    ]);
    let pop = decoded(0xf85d_fb04).0;
    assert_eq!((pop.class, pop.words, pop.ends_block), (TimingClass::IndirectBranch, 1, true));
}

#[test]
fn several_registers() {
    let multiple = |base, store, words, offset: i32| {
        access(Code::Multiple, 0, base, ZERO, how::ALIGNED | store, (offset << 8) as u32 | words)
    };
    check(&[
        (
            0xe931_8004,
            "ldmdb r1!, {r2, pc}",
            &[
                multiple(1, 0, 2, -8),
                access(Code::Ldr, 2, 1, ZERO, REPORTED, 0xffff_fff8),
                access(Code::Ldr, RESULT, 1, ZERO, REPORTED, 0xffff_fffc),
                op(Code::Add, 1, 1, ZERO, 0xffff_fff8),
                op(Code::JumpTo, 0, 0, RESULT, 0),
            ],
        ),
        (
            0xe973_1202,
            "ldrd r1, r2, [r3, -8]!",
            &[
                multiple(3, 0, 2, -8),
                access(Code::Ldr, 1, 3, ZERO, REPORTED, 0xffff_fff8),
                access(Code::Ldr, 2, 3, ZERO, REPORTED, 0xffff_fffc),
                op(Code::Add, 3, 3, ZERO, 0xffff_fff8),
            ],
        ),
        (
            0xe8e3_1202,
            "strd r1, r2, [r3], 8",
            &[
                multiple(3, how::STORE, 2, 0),
                access(Code::Str, 1, 3, ZERO, REPORTED, 0),
                access(Code::Str, 2, 3, ZERO, REPORTED, 4),
                op(Code::Add, 3, 3, ZERO, 8),
            ],
        ),
        (
            0xe9d3_3200,
            "ldrd r3, r2, [r3]",
            &[
                multiple(3, 0, 2, 0),
                access(Code::Ldr, 2, 3, ZERO, REPORTED, 4),
                access(Code::Ldr, 3, 3, ZERO, REPORTED, 0),
            ],
        ),
        (
            0xe9df_1202,
            "ldrd r1, r2, [pc, 8]",
            &[
                op(Code::Mov, ADDRESS, ZERO, ZERO, 0x2000_000c),
                multiple(ADDRESS, 0, 2, 0),
                access(Code::Ldr, 1, ADDRESS, ZERO, REPORTED, 0),
                access(Code::Ldr, 2, ADDRESS, ZERO, REPORTED, 4),
            ],
        ),
    ]);
}

#[test]
fn exclusives() {
    check(&[
        (0xe852_1f02, "ldrex r1, [r2, 8]", &[op(Code::Add, ADDRESS, 2, ZERO, 8), op(Code::Ldrex, 1, ADDRESS, ZERO, 4)]),
        (0xe843_2100, "strex r1, r2, [r3]", &[op(Code::Strex, 1, 3, 2, 4)]),
        (0xe8d3_127f, "ldrexd r1, r2, [r3]", &[access(Code::Ldrex, 1, 3, ZERO, 2, 8)]),
        (0xe8c3_2f41, "strexb r1, r2, [r3]", &[access(Code::Strex, 1, 3, 2, ZERO, 1)]),
        (0xf3bf_8f2f, "clrex", &[op(Code::Clrex, 0, 0, ZERO, 0)]),
    ]);
}

#[test]
fn branches() {
    assert_eq!(ops(0xf400_8000), [op(Code::JumpIf, 0, 0, ZERO, (PC + 4 - 0x10_0000) | 1)]);
    assert_eq!(ops(0xf3ff_97ff), [op(Code::Jump, 14, 0, ZERO, (PC + 4 + 0xff_fffe) | 1)]);
    let link = op(Code::Mov, LR, ZERO, ZERO, (PC + 4) | 1);
    assert_eq!(ops(0xf400_d000), [link, op(Code::Jump, 14, 0, ZERO, (PC + 4 - 0x100_0000) | 1)]);
    assert_eq!(ops(0xf000_e804), [link, op(Code::Jump, 0, 0, ZERO, 0x2000_0004 + 8)]);
    assert_eq!(decode_in(&mut 0x08, 0xf3ff_97ff).1[0].code, Code::JumpIf);
    assert_eq!(decode_in(&mut 0x08, 0xf400_d000).1[0], op(Code::SkipUnless, 0, 0, ZERO, 2));
    let jump = [
        op(Code::LslImm, RESULT, 0, RESULT, 1),
        op(Code::Add, RESULT, RESULT, ZERO, PC + 4),
        op(Code::JumpToSame, 0, 0, RESULT, 0),
    ];
    let tbb = op(Code::Ldrb, RESULT, ZERO, 1, PC + 4);
    let tbh = [op(Code::LslImm, OPERAND, 0, 2, 1), op(Code::Ldrh, RESULT, 1, OPERAND, 0)];
    assert_eq!(ops(0xe8df_f001), [&[tbb], &jump[..]].concat());
    assert_eq!(ops(0xe8d1_f012), [&tbh[..], &jump].concat());
}

#[test]
fn system_instructions() {
    let return_to = [op(Code::Sub, RESULT, LR, ZERO, 4), op(Code::ExceptionReturn, 0, 0, RESULT, 0)];
    check(&[
        (0xf381_8900, "msr cpsr_fc, r1", &[access(Code::Msr, 0, 0, 1, 9, 0)]),
        (0xf392_8200, "msr spsr_x, r2", &[access(Code::Msr, 0, 0, 2, 2, 0x100)]),
        (0xf3ff_8100, "mrs r1, spsr", &[op(Code::Mrs, 1, 0, ZERO, 1)]),
        (0xf3af_8773, "cpsid if, 19", &[op(Code::Cps, 0, 0, ZERO, 0x2f3)]),
        (0xf3af_811f, "cps 31", &[op(Code::Cps, 0, 0, ZERO, 0x3f)]),
        (0xf3bf_8f4f, "dsb sy", &[op(Code::Dsb, 0, 0, ZERO, 0)]),
        (0xf3bf_8f5b, "dmb ish", &[op(Code::Pld, 0, ZERO, ZERO, 0)]),
        (0xf3bf_8f6f, "isb sy", &[op(Code::Isb, 0, 0, ZERO, 0)]),
        (0xf3af_8000, "nop", &[op(Code::Mov, SINK, ZERO, ZERO, 0)]),
        (0xf3af_8003, "wfi", &[op(Code::Wfi, 0, 0, ZERO, 0)]),
        (0xf3af_80f3, "dbg 3", &[op(Code::Hint, 0, 0, ZERO, 0)]),
        (0xf3c1_8f00, "bxj r1", &[op(Code::JumpTo, 0, 0, 1, 0)]),
        (0xf3de_8f04, "subs pc, lr, 4", &return_to),
        (0xf7f3_8000, "smc 3", &[op(Code::Smc, 0, 0, ZERO, 3)]),
        (0xe831_c000, "rfedb r1!", &[access(Code::Rfe, 0xf8, 1, ZERO, 1, 0xffff_fff8)]),
        (0xe992_c000, "rfeia r2", &[access(Code::Rfe, 0, 2, ZERO, SINK, 0)]),
        (0xe82d_c013, "srsdb sp!, 19", &[op(Code::Srs, 0xf8, 0, ZERO, 0xffff_f813)]),
        (0xe98d_c01f, "srsia sp, 31", &[op(Code::Srs, 0, 0, ZERO, 31)]),
    ]);
}

#[test]
fn coprocessors() {
    check(&[
        (0xee11_1f10, "mrc p15, 0, r1, c1, c0, 0", &[op(Code::Mrc, 1, 0, 0, 0x10f)]),
        (0xee30_0a81, "vadd.f32 s0, s1, s2", &[op(Code::Vfp, 0, 0, ZERO, 0xee30_0a81)]),
    ]);
    // vldr s0, [pc, 8]: from the aligned address
    assert_eq!(ops(0xed9f_0a02), [access(Code::Vldr, 0, ZERO, ZERO, how::ALIGNED, 0x2000_000c)]);
}

#[test]
fn undefined_ones() {
    let cases = [
        (0xf7e0_8001, "hvc"),
        (0xf7f0_a001, "udf"),
        (0xfe01_1f10, "mcr2"),
        (0xef21_0802, "vadd.i32"),
        (0xf920_070f, "vld1.8"),
        (0xf8cf_1004, "str r1, [pc, 4]"),
        (0xeb0f_0001, "add r0, pc, r1"),
        (0xea01_0f02, "and pc, r1, r2"),
        (0xf852_2d04, "ldr r2, [r2, -4]!"),
        (0xe8b1_0006, "ldm r1!, {r1, r2}"),
        (0xe8b1_0004, "ldm.w r1!, {r2}"),
        (0xf342_01dd, "sbfx r1, r2, 3, 30"),
        (0xfbc3_1104, "smlal r1, r1, r3, r4"),
        (0xf3af_8200, "cps with an operation of 1"),
    ];
    for (encoding, text) in cases {
        assert_eq!(ops(encoding), undefined(encoding), "{text}");
    }
}

/// A permutation of 32-bit numbers, to choose encodings that differ in every field.
fn spread(index: u32) -> u32 {
    let mixed = (index ^ index >> 16).wrapping_mul(0x7feb_352d);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x846c_a68b);
    mixed ^ mixed >> 16
}

#[test]
fn no_encoding_is_too_much() {
    let mut made = Vec::new();
    for index in 0..2_000_000 {
        let encoding = 0xe800_0000 + spread(index) % 0x1800_0000;
        made.clear();
        let mut it = (index & 0xff) as u8;
        let instr = decode((encoding >> 16) as u16, encoding as u16, PC, FEATURES, &mut it, &mut made);
        assert!(!made.is_empty() && made.len() <= 36, "{encoding:#x}");
        assert_eq!(instr.len_bytes, 4);
    }
}
