//! Instructions that only the M profile has, and those that it lacks. The encodings are LLVM's.

use super::*;

const M_PROFILE: Features = Features {
    divide: true,
    vfp: true,
    vfp_d32: false,
    m_profile: true,
    traps_division: false,
    ends_division_early: false,
};

fn m_ops(encoding: u32, features: Features) -> Vec<Op> {
    let mut ops = Vec::new();
    let (first, second) = if encoding >> 16 == 0 { (encoding, 0xffff) } else { (encoding >> 16, encoding & 0xffff) };
    decode(first as u16, second as u16, PC, features, &mut 0, &mut ops);
    ops
}

#[test]
fn what_is_for_other_profiles_is_undefined() {
    for (encoding, text) in [
        (0xb650, "setend le"),
        (0xb664, "cpsie a"),
        (0xf000_e800, "blx"),
        (0xe9bd_c000, "rfeia sp!"),
        (0xe98d_c013, "srsia sp, #19"),
        (0xf3af_8113, "cps #19"),
        (0xf3de_8f04, "subs pc, lr, #4"),
        (0xf7f0_8000, "smc #0"),
        (0xf3c1_8f00, "bxj r1"),
        (0xee11_0f10, "mrc p15, 0, r0, c1, c0, 0"),
        (0xec51_0f0e, "mrrc p15, 0, r0, r1, c14"),
        (0xe8d0_127f, "ldrexd r1, r2, [r0]"),
        (0xe8c0_1273, "strexd r3, r1, r2, [r0]"),
        (0xee30_0b01, "vadd.f64 d0, d0, d1"),
        (0xeeb7_0ac0, "vcvt.f64.f32 d0, s0"),
        (0xeef8_0a10, "vmrs r0, fpexc"),
    ] {
        assert_ne!(ops(encoding), undefined(encoding), "{text}");
        assert_eq!(m_ops(encoding, M_PROFILE), undefined(encoding), "{text}");
    }
}

#[test]
fn special_registers_are_named_by_number() {
    for (encoding, text, expected) in [
        (0xf3ef_8009, "mrs r0, psp", op(Code::Mrs, 0, 0, ZERO, 9)),
        (0xf3ef_8103, "mrs r1, xpsr", op(Code::Mrs, 1, 0, ZERO, 3)),
        (0xf382_8814, "msr control, r2", access(Code::Msr, 0, 0, 2, 8, 20)),
        (0xf382_8400, "msr apsr_g, r2", access(Code::Msr, 0, 0, 2, 4, 0)),
        (0xf382_8c00, "msr apsr_nzcvqg, r2", access(Code::Msr, 0, 0, 2, 12, 0)),
        (0xb672, "cpsid i", op(Code::Cps, 0, 0, ZERO, 1 << 9 | 1 << 7)),
        (0xb661, "cpsie f", op(Code::Cps, 0, 0, ZERO, 1 << 10 | 1 << 6)),
        (0xbeab, "bkpt 0xab", op(Code::Bkpt, 0, 0, ZERO, 0xab)),
        (0xf3bf_8f6f, "isb", op(Code::Isb, 0, 0, ZERO, 0)),
        (0xf3af_8003, "wfi.w", op(Code::Wfi, 0, 0, ZERO, 0)),
    ] {
        assert_eq!(m_ops(encoding, M_PROFILE), [expected], "{text}");
    }
    // Registers that do not exist; the program counter.
    for encoding in [0xf3ef_8004, 0xf3ef_800a, 0xf382_8815, 0xf3ef_8f08] {
        assert_eq!(m_ops(encoding, M_PROFILE), undefined(encoding), "{encoding:#x}");
    }
}

#[test]
fn the_stack_pointer_stays_a_multiple_of_four() {
    let cleared = op(Code::Bic, SP, SP, ZERO, 3);
    for (encoding, text, own) in [
        (0x4685, "mov sp, r0", op(Code::Mov, SP, ZERO, 0, 0)),
        (0xf8d0_d000, "ldr sp, [r0]", op(Code::Ldr, SP, 0, ZERO, 0)),
        (0xf10d_0d02, "add sp, sp, #2", op(Code::Add, SP, SP, ZERO, 2)),
    ] {
        assert_eq!(m_ops(encoding, M_PROFILE), [own, cleared], "{text}");
    }
    for encoding in [0xb082, 0xb500, 0xf1ad_0d10, 0x9001] {
        assert!(!m_ops(encoding, M_PROFILE).contains(&cleared), "{encoding:#x}");
    }
    assert!(!ops(0x4685).contains(&cleared));
}

#[test]
fn divisions_look_at_their_divisor_if_that_is_asked_for() {
    let divide = op(Code::Sdiv, 0, 1, 2, 0);
    assert_eq!(m_ops(0xfb91_f0f2, M_PROFILE), [divide]);
    let trapping = Features { traps_division: true, ..M_PROFILE };
    assert_eq!(m_ops(0xfb91_f0f2, trapping), [op(Code::TrapIfZero, 0, 0, 2, 0), divide]);
    let early = Features { ends_division_early: true, ..M_PROFILE };
    assert_eq!(m_ops(0xfb91_f0f2, early), [op(Code::EndEarly, 1, 1, 2, 1), divide]);
}
