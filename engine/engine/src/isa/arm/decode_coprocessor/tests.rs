use super::*;
use crate::cpu::memory_system::access::how;
use crate::isa::arm::op::{Features, Op};
use crate::isa::arm::registers::{ADDRESS, ZERO};

const WITH_D32: Features = Features {
    divide: false,
    vfp: true,
    vfp_d32: true,
    m_profile: false,
    traps_division: false,
    ends_division_early: false,
};
const WITH_D16: Features = Features { vfp_d32: false, ..WITH_D32 };

fn decoded(encoding: u32, features: Features) -> Option<(TimingClass, Vec<Op>)> {
    let mut ops = Vec::new();
    let mut emit = Emit { ops: &mut ops, pc_value: 0x108, features };
    let class = decode(&mut emit, encoding)?;
    Some((class, ops))
}

fn class(encoding: u32) -> Option<TimingClass> {
    decoded(encoding, WITH_D32).map(|(class, _)| class)
}

fn op(code: Code, [rd, rn, rm, ra]: [u8; 4], imm: u32) -> Op {
    Op { code, rd, rn, rm, ra, imm }
}

#[test]
fn classes_of_vfp_data_processing() {
    use TimingClass::*;
    for (encoding, expected) in [
        (0xee30_1b02, Some(VfpAdd)),         // vadd.f64 d1, d0, d2
        (0xee21_0a01, Some(VfpMultiply)),    // vmul.f32 s0, s2, s2
        (0xee00_0a01, Some(VfpMultiplyAdd)), // vmla.f32 s0, s0, s2
        (0xeea0_0b01, Some(VfpMultiplyAdd)), // vfma.f64 d0, d0, d1
        (0xee80_0a01, Some(VfpDivide32)),    // vdiv.f32 s0, s0, s2
        (0xee80_0b01, Some(VfpDivide64)),    // vdiv.f64 d0, d0, d1
        (0xee80_0b41, None),
        (0xeeb7_0a00, Some(VfpMove)),     // vmov.f32 s0, #1.0
        (0xeeb7_0a20, None),              // its bit 5 set
        (0xeeb0_0a60, Some(VfpMove)),     // vmov.f32 s0, s1
        (0xeeb1_0bc1, Some(VfpDivide64)), // vsqrt.f64 d0, d1
        (0xeeb5_0ac0, Some(VfpAdd)),      // vcmpe.f32 s0, #0
        (0xeeb5_0ac1, None),
        (0xeeb7_0ac0, Some(VfpAdd)), // vcvt.f64.f32 d0, s0
        (0xeeb7_0a40, None),         // vrintx of ARMv8
        (0xeeb2_0a40, Some(VfpAdd)), // vcvtb.f32.f16 s0, s0
        (0xeeb2_0b40, None),         // vcvtb.f64.f16 of ARMv8
        (0xeeba_0a48, Some(VfpAdd)), // vcvt.f32.s16 s0, s0, #0
        (0xeeba_0a68, None),         // with 17 as the rest
    ] {
        assert_eq!(class(encoding), expected, "{encoding:#010x}");
    }
}

#[test]
fn doubles_above_15_are_a_feature() {
    for encoding in [
        0xee30_0ba0, // vadd.f64 d0, d16, d16
        0xeef0_0b40, // vmov.f64 d16, d0
        0xeef7_0ac0, // vcvt.f64.f32 d16, s0
        0xeeb7_0be0, // vcvt.f32.f64 s0, d16
        0xec41_0b30, // vmov d16, r0, r1
        0xee00_0b90, // vmov.32 d16[0], r0
        0xedd0_0b00, // vldr d16, [r0]
        0xec90_8b12, // vldmia r0, {d8-d16}
    ] {
        assert!(decoded(encoding, WITH_D32).is_some(), "{encoding:#010x}");
        assert!(decoded(encoding, WITH_D16).is_none(), "{encoding:#010x}");
    }
    // vcvt.f32.f64 s1, d0; vcvt.f64.f32 d0, s1
    for encoding in [0xeef7_0bc0, 0xeeb7_0ae0] {
        assert!(decoded(encoding, WITH_D16).is_some(), "{encoding:#010x}");
    }
}

#[test]
fn moves_name_their_general_registers() {
    for (encoding, expected) in [
        (0xee00_1a90, op(Code::Vfp, [1, 0, 0, 0], 0xee00_1a90)), // vmov s1, r1
        (0x0e30_1b10, op(Code::Vfp, [1, 0, 0, 0], 0xee30_1b10)), // vmoveq.32 r1, d0[1]
        (0xec52_1a10, op(Code::Vfp, [1, 0, 0, 2], 0xec52_1a10)), // vmov r1, r2, s0, s1
        (0xeef1_fa10, op(Code::Vfp, [15, 0, 0, 0], 0xeef1_fa10)), // vmrs apsr_nzcv, fpscr
        (0xeef7_2a10, op(Code::Vmrs, [2, 0, 0, 0], 7)),          // vmrs r2, mvfr0
        (0xeee8_3a10, op(Code::Vmsr, [3, 0, 0, 0], 8)),          // vmsr fpexc, r3
    ] {
        let two = encoding >> 20 & 0xfe == 0xc4;
        let class = if two { TimingClass::VfpMoveTwo } else { TimingClass::VfpMove };
        assert_eq!(decoded(encoding, WITH_D16), Some((class, vec![expected])), "{encoding:#010x}");
    }
    // To FPSCR from the program counter; two singles from s31 on; two results in one register; bytes (Advanced SIMD).
    for encoding in [0xeee1_fa10, 0xec42_1a3f, 0xec51_1b10, 0xee40_0b10] {
        assert_eq!(class(encoding), None, "{encoding:#010x}");
    }
}

#[test]
fn loads_and_stores_by_words() {
    let (single, reported) = (how::ALIGNED, how::ALIGNED | how::REPORTED);
    // vldr s3, [r2, #-8]
    let expected = op(Code::Vldr, [3, 2, ZERO, single], 0xffff_fff8);
    assert_eq!(decoded(0xed52_1a02, WITH_D16), Some((TimingClass::VfpLoad, vec![expected])));
    // vstr d1, [pc, #4]
    let expected = vec![
        op(Code::Mov, [ADDRESS, ZERO, ZERO, 0], 0x10c),
        op(Code::Multiple, [0, ADDRESS, ZERO, how::ALIGNED | how::STORE], 2),
        op(Code::Vstr, [2, ADDRESS, ZERO, reported], 0),
        op(Code::Vstr, [3, ADDRESS, ZERO, reported], 4),
    ];
    assert_eq!(decoded(0xed8f_1b01, WITH_D16), Some((TimingClass::VfpStore, expected)));
    // vpush {d8}
    let expected = vec![
        op(Code::Multiple, [0, 13, ZERO, how::ALIGNED | how::STORE], 0xffff_f802),
        op(Code::Vstr, [16, 13, ZERO, reported], 0xffff_fff8),
        op(Code::Vstr, [17, 13, ZERO, reported], 0xffff_fffc),
        op(Code::Add, [13, 13, ZERO, 0], 0xffff_fff8),
    ];
    assert_eq!(decoded(0xed2d_8b02, WITH_D16), Some((TimingClass::VfpStore, expected)));
}

#[test]
fn fldmx_leaves_out_a_word() {
    // fldmiax r0!, {d0}
    let (class, ops) = decoded(0xecb0_0b03, WITH_D16).unwrap();
    assert_eq!(class, TimingClass::VfpLoad);
    assert_eq!(ops.len(), 4);
    assert_eq!(ops[3], op(Code::Add, [0, 0, ZERO, 0], 12));
}

#[test]
fn lists_of_nothing_or_too_many_mean_nothing() {
    // {}; from s31 two; p = u with write-back; the program counter written back.
    for encoding in [0xec90_0a00, 0xecd0_fa02, 0xeda0_0a01, 0xecbf_0a01] {
        assert_eq!(class(encoding), None, "{encoding:#010x}");
    }
}

#[test]
fn coprocessor_registers() {
    // mcr p15, 1, r2, c3, c4, 5; mrc p15, 0, apsr_nzcv, c0, c0, 0; mrrc p15, 1, r2, r3, c4
    for (encoding, expected) in [
        (0xee23_2fb4, op(Code::Mcr, [2, 0, 0, 0], 0x5_431f)),
        (0xee10_ff10, op(Code::Mrc, [15, 0, 0, 0], 0xf)),
        (0xec53_2f14, op(Code::Mrrc, [2, 0, 0, 3], 0x401f)),
    ] {
        assert_eq!(decoded(encoding, WITH_D16), Some((TimingClass::Coprocessor, vec![expected])), "{encoding:#010x}");
    }
    // mcr of the program counter; cdp and ldc; another coprocessor.
    for encoding in [0xee00_ff10, 0xee00_0f00, 0xed90_0f00, 0xee10_0710] {
        assert_eq!(class(encoding), None, "{encoding:#010x}");
    }
}
