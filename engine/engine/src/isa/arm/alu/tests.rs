use super::super::psr::{apsr, set_nzcv};
use super::*;
use crate::isa::arm::op::{Code, Op};
use crate::isa::arm::registers::ZERO;

/// Executes an arithmetic micro-operation.
fn run(x: &mut Registers, code: Code, [rd, rn, rm, ra]: [u8; 4], imm: u32) {
    let op = Op { code, rd, rn, rm, ra, imm };
    assert!(match_arithmetic! { (x, op) done => true, _ => false }, "{code:?}");
}

/// Registers with r1 = a, r2 = b and the carry; all other flags clear.
fn registers(a: u32, b: u32, carry: u32) -> Registers {
    let mut x = [0; COUNT];
    (x[1], x[2], x[3], x[usize::from(C)], x[usize::from(Z_SOURCE)]) = (a, b, 0xc, carry, 1);
    x
}

/// r0 = r1 op r2: the result, and NZCV as four bits.
fn result(code: Code, a: u32, b: u32, carry: u32) -> (u32, u32) {
    let mut x = registers(a, b, carry);
    run(&mut x, code, [0, 1, 2, 3], 0);
    (x[0], apsr(&x) >> 28)
}

/// As computed by a signed or unsigned sum of more bits.
fn sum(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let wide = u64::from(a) + u64::from(b) + u64::from(carry);
    let signed = i64::from(a as i32) + i64::from(b as i32) + i64::from(carry);
    let value = wide as u32;
    let c = u32::from(wide != u64::from(value));
    let v = u32::from(signed != i64::from(value as i32));
    (value, value >> 31 << 3 | u32::from(value == 0) << 2 | c << 1 | v)
}

const CORNERS: [u32; 9] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, u32::MAX, 0x1234_5678];

#[test]
fn sums_and_differences_and_their_flags() {
    for a in CORNERS {
        for b in CORNERS {
            for c in [0, 1] {
                assert_eq!(result(Code::Adds, a, b, c), sum(a, b, 0));
                assert_eq!(result(Code::Adcs, a, b, c), sum(a, b, c));
                assert_eq!(result(Code::Subs, a, b, c), sum(a, !b, 1));
                assert_eq!(result(Code::Sbcs, a, b, c), sum(a, !b, c));
                assert_eq!(result(Code::Rsbs, a, b, c), sum(b, !a, 1));
                assert_eq!(result(Code::Rscs, a, b, c), sum(b, !a, c));
                for (plain, with_flags) in [
                    (Code::Add, Code::Adds),
                    (Code::Adc, Code::Adcs),
                    (Code::Sub, Code::Subs),
                    (Code::Sbc, Code::Sbcs),
                    (Code::Rsb, Code::Rsbs),
                    (Code::Rsc, Code::Rscs),
                ] {
                    assert_eq!(result(plain, a, b, c), (result(with_flags, a, b, c).0, c << 1));
                }
            }
        }
    }
    assert_eq!(result(Code::Subs, 5, 5, 0), (0, 0b0110));
    assert_eq!(result(Code::Subs, 3, 5, 0), (0xffff_fffe, 0b1000));
    assert_eq!(result(Code::Adds, 0x7fff_ffff, 1, 0), (0x8000_0000, 0b1001));
}

#[test]
fn logical_ones_set_n_and_z_alone() {
    for (code, value) in [
        (Code::Ands, 0xf0f0_0000 & 0xff00_ff00),
        (Code::Eors, 0x0ff0_ff00),
        (Code::Orrs, 0xfff0_ff00),
        (Code::Orns, 0xf0ff_00ff),
        (Code::Bics, 0x00f0_0000),
        (Code::Movs, 0xff00_ff00),
        (Code::Mvns, 0x00ff_00ff),
    ] {
        assert_eq!(result(code, 0xf0f0_0000, 0xff00_ff00, 1), (value, value >> 31 << 3 | 2), "{code:?}");
    }
    assert_eq!(result(Code::Ands, 0xf0, 0x0f, 0), (0, 0b0100));
}

/// Value and carry of r0 = r2 shifted by r1.
fn shifted(code: Code, value: u32, amount: u32, carry: u32) -> (u32, u32) {
    let (shifted, nzcv) = result(code, amount, value, carry);
    assert_eq!(nzcv & !2, 0);
    (shifted, nzcv >> 1 & 1)
}

#[test]
fn shifts_by_a_register_take_its_low_byte() {
    const VALUE: u32 = 0x8000_0001;
    for carry in [0, 1] {
        for code in [Code::LslRegs, Code::LsrRegs, Code::AsrRegs, Code::RorRegs] {
            assert_eq!(shifted(code, VALUE, 0x100, carry), (VALUE, carry), "{code:?}");
        }
        for (amount, lsl, lsr, asr, ror) in [
            (1, (2, 1), (0x4000_0000, 1), (0xc000_0000, 1), (0xc000_0000, 1)),
            (31, (0x8000_0000, 0), (1, 0), (u32::MAX, 0), (3, 0)),
            (32, (0, 1), (0, 1), (u32::MAX, 1), (VALUE, 1)),
            (33, (0, 0), (0, 0), (u32::MAX, 1), (0xc000_0000, 1)),
            (255, (0, 0), (0, 0), (u32::MAX, 1), (3, 0)),
        ] {
            assert_eq!(shifted(Code::LslRegs, VALUE, amount, carry), lsl, "lsl {amount}");
            assert_eq!(shifted(Code::LsrRegs, VALUE, amount, carry), lsr, "lsr {amount}");
            assert_eq!(shifted(Code::AsrRegs, VALUE, amount, carry), asr, "asr {amount}");
            assert_eq!(shifted(Code::RorRegs, VALUE, amount, carry), ror, "ror {amount}");
            assert_eq!(shifted(Code::LslReg, VALUE, amount, carry), (lsl.0, carry));
            assert_eq!(shifted(Code::LsrReg, VALUE, amount, carry), (lsr.0, carry));
            assert_eq!(shifted(Code::AsrReg, VALUE, amount, carry), (asr.0, carry));
            assert_eq!(shifted(Code::RorReg, VALUE, amount, carry), (ror.0, carry));
        }
    }
}

#[test]
fn shifts_by_an_immediate() {
    for (code, imm, value, carry) in [
        (Code::LslImms, 0, 0x8000_0003, 1),
        (Code::LslImms, 1, 6, 1),
        (Code::LsrImms, 32, 0, 1),
        (Code::AsrImms, 32, u32::MAX, 1),
        (Code::AsrImms, 2, 0xe000_0000, 1),
        (Code::RorImms, 4, 0x3800_0000, 0),
        (Code::Rrxs, 0, 0xc000_0001, 1),
        (Code::LslImm, 31, 0x8000_0000, 1),
        (Code::LsrImm, 32, 0, 1),
        (Code::AsrImm, 32, u32::MAX, 1),
        (Code::RorImm, 1, 0xc000_0001, 1),
        (Code::Rrx, 0, 0xc000_0001, 1),
    ] {
        let mut x = registers(0, 0x8000_0003, 1);
        run(&mut x, code, [0, 1, 2, 3], imm);
        assert_eq!((x[0], apsr(&x) >> 28), (value, carry << 1), "{code:?} {imm}");
    }
}

#[test]
fn long_multiplications() {
    let long = |code, low, high, a, b| {
        let mut x = registers(a, b, 0);
        (x[4], x[5]) = (low, high);
        run(&mut x, code, [4, 1, 2, 5], 0);
        (x[4], x[5])
    };
    assert_eq!(long(Code::Umull, 7, 7, u32::MAX, u32::MAX), (1, 0xffff_fffe));
    assert_eq!(long(Code::Smull, 7, 7, u32::MAX, 2), (0xffff_fffe, u32::MAX));
    assert_eq!(long(Code::Umlal, u32::MAX, 1, 1, 1), (0, 2));
    assert_eq!(long(Code::Smlal, 0, 0, u32::MAX, 1), (u32::MAX, u32::MAX));
    assert_eq!(long(Code::Umaal, u32::MAX, u32::MAX, u32::MAX, u32::MAX), (u32::MAX, u32::MAX));
}

#[test]
fn products_and_quotients() {
    assert_eq!(result(Code::Mul, 3, 5, 0).0, 15);
    assert_eq!(result(Code::Mla, 3, 5, 0).0, 15 + 0xc);
    assert_eq!(result(Code::Mls, 3, 5, 0).0, 0xcu32.wrapping_sub(15));
    assert_eq!(result(Code::Sdiv, 0xffff_fff9, 2, 0).0, 0xffff_fffd);
    assert_eq!(result(Code::Sdiv, 0x8000_0000, u32::MAX, 0).0, 0x8000_0000);
    assert_eq!(result(Code::Sdiv, 7, 0, 0).0, 0);
    assert_eq!(result(Code::Udiv, 7, 0, 0).0, 0);
    assert_eq!(result(Code::Udiv, 0xffff_fff9, 2, 0).0, 0x7fff_fffc);
}

#[test]
fn bits_and_bytes_moved_about() {
    for (code, value) in [
        (Code::Clz, 0),
        (Code::Rbit, 0x0f6a_2c89),
        (Code::Rev, 0xf056_3491),
        (Code::Rev16, 0x3491_f056),
        (Code::Revsh, 0xffff_f056),
        (Code::Sxtb, 0xffff_fff0),
        (Code::Sxth, 0x56f0),
        (Code::Uxtb, 0xf0),
        (Code::Uxth, 0x56f0),
    ] {
        assert_eq!(result(code, 0, 0x9134_56f0, 0).0, value, "{code:?}");
    }
    assert_eq!(result(Code::Clz, 0, 0, 0).0, 32);
}

#[test]
fn bit_fields_up_to_the_whole_word() {
    assert_eq!(ubfx(0x8765_4321, 4 << 8 | 28), 8);
    assert_eq!(sbfx(0x8765_4321, 4 << 8 | 28), 0xffff_fff8);
    assert_eq!(ubfx(0x8765_4321, 32 << 8), 0x8765_4321);
    assert_eq!(sbfx(0x8765_4321, 32 << 8), 0x8765_4321);
    assert_eq!(bfi(0x8765_4321, 0xabcd, 8 << 8 | 12), 0x876c_d321);
    assert_eq!(bfi(1, 2, 32 << 8), 2);
    let mut x = registers(0, 0, 0);
    x[0] = u32::MAX;
    run(&mut x, Code::Bfi, [0, 0, ZERO, 0], 4 << 8 | 4);
    assert_eq!(x[0], 0xffff_ff0f);
}

#[test]
fn conditions_as_the_manual_lists_them() {
    for nzcv in 0..16u32 {
        let (n, z, c, v) = (nzcv & 8 != 0, nzcv & 4 != 0, nzcv & 2 != 0, nzcv & 1 != 0);
        let mut x = [0; COUNT];
        set_nzcv(&mut x, nzcv << 28);
        assert_eq!(apsr(&x), nzcv << 28);
        let expected = [z, c, n, v, c && !z, n == v, !z && n == v, true];
        for (index, holds_even) in (0..).step_by(2).zip(expected) {
            assert_eq!(holds(&x, index), holds_even, "{nzcv:04b} {index}");
            assert_eq!(holds(&x, index + 1), !holds_even || index == 14, "{nzcv:04b} {index} + 1");
        }
    }
}

#[test]
fn the_other_micro_operations() {
    let mut x = registers(0x8000_0000, 0, 0);
    run(&mut x, Code::TestNz64, [0, 1, 2, 0], 0);
    assert_eq!(apsr(&x) >> 28, 0b1000);
    run(&mut x, Code::TestNz, [0, 1, 2, 0], 0);
    assert_eq!(apsr(&x) >> 28, 0b0100);
    run(&mut x, Code::SetC, [0; 4], 1);
    assert_eq!(apsr(&x) >> 28, 0b0110);
    x[4] = 0x1234_5678;
    run(&mut x, Code::Movt, [4, 0, ZERO, 0], 0xabcd);
    assert_eq!(x[4], 0xabcd_5678);
}
