//! Instructions: their registers and operations.

use super::super::{S, Undefined, X, execute};
use super::*;

/// Singles that identify registers: Sn is n as a number.
fn registers() -> S {
    std::array::from_fn(|n| run(0, |c| c.number_of_fixed(SINGLE, n as i64, 0, Mode::Nearest)).0 as u32)
}

fn small(value: i64) -> u32 {
    run(0, |c| c.number_of_fixed(SINGLE, value, 0, Mode::Nearest)).0 as u32
}

fn double(value: i64) -> u64 {
    run(0, |c| c.number_of_fixed(DOUBLE, value, 0, Mode::Nearest)).0
}

fn set_double(s: &mut S, n: usize, bits: u64) {
    (s[2 * n], s[2 * n + 1]) = (bits as u32, (bits >> 32) as u32);
}

fn get_double(s: &S, n: usize) -> u64 {
    u64::from(s[2 * n]) | u64::from(s[2 * n + 1]) << 32
}

/// Executes with registers as above; returns s5.
fn s5(encoding: u32) -> u32 {
    let (mut s, mut x) = (registers(), [0; 256]);
    execute(encoding, &mut s, &mut x, &mut 0).unwrap();
    s[5]
}

#[test]
fn each_operation_on_singles() {
    let rows = [
        (0xee43_2aa4, 5 + 7 * 9, "vmla s5, s7, s9"),
        (0xee43_2ae4, 5 - 7 * 9, "vmls s5, s7, s9"),
        (0xee53_2ae4, -5 - 7 * 9, "vnmla s5, s7, s9"),
        (0xee53_2aa4, -5 + 7 * 9, "vnmls s5, s7, s9"),
        (0xee63_2aa4, 7 * 9, "vmul s5, s7, s9"),
        (0xee63_2ae4, -7 * 9, "vnmul s5, s7, s9"),
        (0xee73_2aa4, 7 + 9, "vadd s5, s7, s9"),
        (0xee73_2ae4, 7 - 9, "vsub s5, s7, s9"),
        (0xeee3_2aa4, 5 + 7 * 9, "vfma s5, s7, s9"),
        (0xeee3_2ae4, 5 - 7 * 9, "vfms s5, s7, s9"),
        (0xeed3_2ae4, -5 - 7 * 9, "vfnma s5, s7, s9"),
        (0xeed3_2aa4, -5 + 7 * 9, "vfnms s5, s7, s9"),
        (0xeef0_2a64, 9, "vmov s5, s9"),
        (0xeef1_2a64, -9, "vneg s5, s9"),
        (0xeef1_2ae4, 3, "vsqrt s5, s9"),
        (0xeef3_2a0f, 31, "vmov s5, #31"),
    ];
    for (encoding, expected, text) in rows {
        assert_eq!(s5(encoding), small(expected), "{text}");
    }
    assert_eq!(s5(0xeef0_2ae4), small(9), "vabs s5, s9");
    assert_eq!(
        s5(0xeec8_2aa2),
        run(0, |c| c.divide(SINGLE, u64::from(small(17)), u64::from(small(5)))).0 as u32,
        "vdiv s5, s17, s5"
    );
}

#[test]
fn doubles_reach_all_registers() {
    let (mut s, mut x) = ([0; 64], [0; 256]);
    set_double(&mut s, 31, double(1 << 40));
    set_double(&mut s, 16, double(-3));
    // vadd.f64 d17, d31, d16
    execute(0xee7f_1ba0, &mut s, &mut x, &mut 0).unwrap();
    assert_eq!(get_double(&s, 17), double((1 << 40) - 3));
}

#[test]
fn comparisons_set_the_flags() {
    let (mut s, mut x, mut fpscr) = (registers(), [0; 256], 1 << 28);
    // vcmp.f32 s5, s9; vcmp.f32 s5, #0; vcmpe.f32 s5, s5 with a quiet NaN.
    execute(0xeef4_2a64, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(fpscr, 0x8000_0000);
    execute(0xeef5_2a40, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(fpscr, 0x2000_0000);
    s[5] = QUIET;
    execute(0xeef4_2ae2, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(fpscr, 0x3000_0000 | INVALID);
}

#[test]
fn conversions_take_the_rounding_that_they_name() {
    let (mut s, mut x) = ([0; 64], [0; 256]);
    let mut to = |encoding, value, mode| {
        s[9] = value;
        execute(encoding, &mut s, &mut x, &mut rounding(mode)).unwrap();
        s[5]
    };
    let minus_two_and_a_half = 0xc020_0000;
    assert_eq!(to(0xeefd_2ae4, minus_two_and_a_half, Mode::Down) as i32, -2, "vcvt.s32.f32");
    assert_eq!(to(0xeefd_2a64, minus_two_and_a_half, Mode::Down) as i32, -3, "vcvtr.s32.f32");
    assert_eq!(to(0xeefc_2ae4, minus_two_and_a_half, Mode::Down), 0, "vcvt.u32.f32");
    assert_eq!(to(0xeef8_2ae4, -7_i32 as u32, Mode::Nearest), small(-7), "vcvt.f32.s32");
    assert_eq!(to(0xeef8_2a64, u32::MAX, Mode::Zero), 0x4f7f_ffff, "vcvt.f32.u32");
    assert_eq!(to(0xeef8_2a64, u32::MAX, Mode::Nearest), 0x4f80_0000);
}

#[test]
fn fixed_point_is_converted_in_place() {
    let (mut s, mut x, mut fpscr) = ([0; 64], [0; 256], 0);
    s[5] = 0xffff_8001;
    // vcvt.f32.s16 s5, s5, #4; vcvt.s16.f32 back; vcvt.f32.u32 s5, s5, #32.
    execute(0xeefa_2a46, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(s[5], 0xc4ff_fe00);
    execute(0xeefe_2a46, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!((s[5], fpscr), (0xffff_8001, 0));
    execute(0xeefb_2ac0, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!((s[5], fpscr), (0x3f7f_ff80, INEXACT));
}

#[test]
fn precisions_and_halves() {
    let (mut s, mut x, mut fpscr) = (registers(), [0; 256], 0);
    // vcvt.f64.f32 d17, s9; vcvt.f32.f64 s5, d17.
    execute(0xeef7_1ae4, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(get_double(&s, 17), double(9));
    execute(0xeef7_2be1, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(s[5], small(9));
    // vcvtt.f16.f32 s5, s9; vcvtb.f16.f32 s5, s7; vcvtt.f32.f16 s6, s5; vcvtb.f32.f16 s7, s5.
    execute(0xeef3_2ae4, &mut s, &mut x, &mut fpscr).unwrap();
    execute(0xeef3_2a63, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!(s[5], 0x4880_4700);
    execute(0xeeb2_3ae2, &mut s, &mut x, &mut fpscr).unwrap();
    execute(0xeef2_3a62, &mut s, &mut x, &mut fpscr).unwrap();
    assert_eq!((s[6], s[7], fpscr), (small(9), small(7), 0));
}

#[test]
fn moves_between_the_register_files() {
    let (mut s, mut x) = ([0; 64], [0; 256]);
    (x[2], x[3]) = (0x1111, 0x2222);
    let mut run = |encoding, x: &mut X| execute(encoding, &mut s, x, &mut 0).unwrap();
    // vmov s9, r2; vmov d20[1], r3; vmov d20[0], r2; vmov r4, r5, d20; vmov s30, s31, r3, r2; vmov r6, s31; vmov r7,
    // d20[1].
    run(0xee04_2a90, &mut x);
    run(0xee24_3b90, &mut x);
    run(0xee04_2b90, &mut x);
    run(0xec55_4b34, &mut x);
    run(0xec42_3a1f, &mut x);
    run(0xee1f_6a90, &mut x);
    run(0xee34_7b90, &mut x);
    assert_eq!(x[4..8], [0x1111, 0x2222, 0x1111, 0x2222]);
    assert_eq!((s[9], s[30], s[40], s[41]), (0x1111, 0x2222, 0x1111, 0x2222));
}

#[test]
fn short_vectors_are_undefined() {
    let (mut s, mut x) = (registers(), [0; 256]);
    for fpscr in [1 << 16, 3 << 20] {
        let mut run = |encoding| execute(encoding, &mut s, &mut x, &mut { fpscr });
        assert_eq!((run(0xee73_2a84), run(0xeef0_2a64)), (Err(Undefined), Err(Undefined)), "vadd, vmov");
        assert_eq!((run(0xeef4_2a64), run(0xeefd_2ae4)), (Ok(()), Ok(())), "vcmp, vcvt");
    }
}
