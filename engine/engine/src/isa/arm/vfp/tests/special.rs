//! NaNs, denormals, and flags with rules specific to Arm.

use super::super::convert::Fixed;
use super::*;

fn single(fpscr: u32, operation: fn(&mut Control, Format, u64, u64) -> u64, a: u32, b: u32) -> (u32, u32) {
    let (result, raised) = run(fpscr, |c| operation(c, SINGLE, u64::from(a), u64::from(b)));
    (result as u32, raised)
}

#[test]
fn the_first_signaling_nan_goes_before_the_first_quiet_one() {
    let other_quiet = QUIET | 1 << 31;
    assert_eq!(single(0, Control::add, QUIET, other_quiet), (QUIET, 0));
    assert_eq!(single(0, Control::add, QUIET, SIGNALING | 1), (SIGNALING | 1 | 1 << 22, INVALID));
    assert_eq!(single(0, Control::subtract, ONE, other_quiet), (other_quiet, 0), "it is not negated");
    assert_eq!(single(DN, Control::multiply, QUIET, ONE), (DEFAULT, 0));
    assert_eq!(single(DN, Control::divide, ONE, SIGNALING), (DEFAULT, INVALID));
}

#[test]
fn invalid_operations_give_the_default_nan() {
    let (infinity, minus) = (0x7f80_0000, 1 << 31);
    for (operation, a, b) in [
        (Control::add as fn(&mut Control, Format, u64, u64) -> u64, infinity, infinity | minus),
        (Control::subtract, infinity, infinity),
        (Control::multiply, infinity, minus),
        (Control::divide, 0, 0),
        (Control::divide, infinity, infinity),
    ] {
        assert_eq!(single(0, operation, a, b), (DEFAULT, INVALID));
    }
    assert_eq!(single(0, Control::divide, ONE, minus), (infinity | minus, DIVISION_BY_ZERO));
    let root = |a: u32| run(0, |c| c.square_root(SINGLE, u64::from(a)) as u32);
    assert_eq!((root(ONE | minus), root(minus), root(infinity)), ((DEFAULT, INVALID), (minus, 0), (infinity, 0)));
    assert_eq!((root(infinity | minus), root(SIGNALING)), ((DEFAULT, INVALID), (SIGNALING | 1 << 22, INVALID)));
}

#[test]
fn a_fused_product_of_infinity_and_zero_is_invalid_beside_a_quiet_nan() {
    let fused = |addend: u32, a: u32, b: u32| {
        run(0, |c| c.multiply_add(SINGLE, u64::from(addend), u64::from(a), u64::from(b)) as u32)
    };
    let infinity = 0x7f80_0000;
    assert_eq!(fused(QUIET, infinity, 0), (DEFAULT, INVALID));
    assert_eq!(fused(SIGNALING, infinity, 0), (SIGNALING | 1 << 22, INVALID));
    assert_eq!(fused(QUIET, SIGNALING | 1, ONE), (SIGNALING | 1 | 1 << 22, INVALID));
    assert_eq!(fused(ONE, ONE, QUIET), (QUIET, 0));
    assert_eq!(fused(infinity | 1 << 31, infinity, ONE), (DEFAULT, INVALID));
    assert_eq!(fused(infinity, ONE, ONE), (infinity, 0));
}

#[test]
fn denormals_are_zero_with_fz() {
    let denormal = 0x8000_0001;
    assert_eq!(single(FZ, Control::add, denormal, 0x8000_0000), (0x8000_0000, INPUT_DENORMAL));
    assert_eq!(single(FZ, Control::add, denormal, QUIET), (QUIET, INPUT_DENORMAL));
    assert_eq!(single(FZ, Control::divide, ONE, denormal), (0xff80_0000, INPUT_DENORMAL | DIVISION_BY_ZERO));
    // The smallest normal number divided by 2: exact, and flushed.
    assert_eq!(single(FZ, Control::multiply, 0x8080_0000, 0x3f00_0000), (0x8000_0000, UNDERFLOW));
    assert_eq!(single(0, Control::multiply, 0x8080_0000, 0x3f00_0000), (0x8040_0000, 0));
    let comparison = run(FZ, |c| c.compare(SINGLE, 1, u64::from(denormal), false));
    assert_eq!(comparison, (super::super::Comparison::Equal, INPUT_DENORMAL));
    assert_eq!(run(FZ, |c| c.half_of(1)), (0, INPUT_DENORMAL));
    assert_eq!(run(FZ, |c| c.half_of(0x3300_0000)), (0, INEXACT | UNDERFLOW), "half of the smallest half");
    assert_eq!(run(FZ, |c| c.half_of(0x3380_0000)), (1, 0), "a half denormal");
    assert_eq!(run(FZ, |c| c.number_of_half(1)), (0x3380_0000, 0));
}

#[test]
fn what_is_tiny_is_so_before_rounding() {
    // The largest denormal plus a half, times a factor just below 1: it rounds up to the smallest normal number.
    let almost_one = 0x3f7f_ffff;
    assert_eq!(single(0, Control::multiply, 0x0080_0000, almost_one), (0x0080_0000, INEXACT | UNDERFLOW));
    assert_eq!(single(FZ, Control::multiply, 0x0080_0000, almost_one), (0, UNDERFLOW));
}

#[test]
fn an_overflow_is_reported_whatever_it_rounds_to() {
    let largest = 0x7f7f_ffff;
    let up = rounding(Mode::Up);
    for (mode, expected) in [
        (Mode::Nearest, 0xff80_0000),
        (Mode::Up, largest | 1 << 31),
        (Mode::Down, 0xff80_0000),
        (Mode::Zero, largest | 1 << 31),
    ] {
        let result = single(rounding(mode), Control::multiply, largest, 0xc000_0000);
        assert_eq!(result, (expected, OVERFLOW | INEXACT));
    }
    // Just above the largest number: rounded down it does not overflow.
    assert_eq!(single(rounding(Mode::Zero), Control::add, largest, ONE), (largest, INEXACT));
    assert_eq!(single(up, Control::add, largest, ONE), (0x7f80_0000, OVERFLOW | INEXACT));
}

#[test]
fn quiet_nans_compare_without_a_flag_unless_asked() {
    use super::super::Comparison::Unordered;
    let compare = |a: u32, e| run(0, |c| c.compare(SINGLE, u64::from(a), 0, e));
    assert_eq!(compare(QUIET, false), (Unordered, 0));
    assert_eq!(compare(QUIET, true), (Unordered, INVALID));
    assert_eq!(compare(SIGNALING, false), (Unordered, INVALID));
    let zeroes = run(0, |c| c.compare(SINGLE, 0, 1 << 31, true));
    assert_eq!(zeroes, (super::super::Comparison::Equal, 0));
}

#[test]
fn nans_keep_the_top_of_their_fraction_in_other_formats() {
    let narrow = |fpscr, a| run(fpscr, |c| c.change_precision(DOUBLE, SINGLE, a));
    assert_eq!(narrow(0, 0xfff0_0000_2000_0001), (0xffc0_0001, INVALID));
    assert_eq!(narrow(0, 0x7ff8_0000_2000_0000), (0x7fc0_0001, 0));
    assert_eq!(narrow(DN, 0xfff0_0000_2000_0001), (u64::from(DEFAULT), INVALID));
    let wide = run(0, |c| c.change_precision(SINGLE, DOUBLE, u64::from(SIGNALING)));
    assert_eq!(wide, (0x7ff8_0246_8000_0000, INVALID));
    assert_eq!(run(0, |c| c.half_of(0xff80_2000)), (0xfe01, INVALID));
    assert_eq!(run(0, |c| c.number_of_half(0xfc01)), (0xffc0_2000, INVALID));
}

#[test]
fn alternative_halves_have_no_infinities() {
    assert_eq!(run(AHP, |c| c.number_of_half(0x7fff)), (0x47ff_e000, 0));
    assert_eq!(run(AHP, |c| c.number_of_half(0xfc00)), (0xc780_0000, 0));
    assert_eq!(run(AHP, |c| c.number_of_half(0x8400)), (0xb880_0000, 0));
    assert_eq!(run(AHP, |c| c.half_of(0x47ff_e000)), (0x7fff, 0));
    assert_eq!(run(AHP, |c| c.half_of(0xc7ff_f000)), (0xffff, INVALID), "rounds out of range");
    assert_eq!(run(AHP, |c| c.half_of(0x47ff_efff)), (0x7fff, INEXACT));
    assert_eq!(run(AHP, |c| c.half_of(0xff80_0000)), (0xffff, INVALID));
    assert_eq!(run(AHP, |c| c.half_of(QUIET | 1 << 31)), (0x8000, INVALID));
    assert_eq!(run(AHP, |c| c.half_of(1)), (0, INEXACT | UNDERFLOW));
}

#[test]
fn fixed_point_saturates() {
    let to = |bits, signed, a: u32| {
        let to = Fixed { bits, signed, fraction_bits: 4 };
        run(0, |c| c.fixed_of(SINGLE, u64::from(a), to, Mode::Zero))
    };
    let minus = 1 << 31;
    assert_eq!(to(16, true, 0x4500_0000), (0x7fff, INVALID), "2048 * 16");
    assert_eq!(to(16, true, 0x4500_0000 | minus), (-0x8000_i64 as u64, 0));
    assert_eq!(to(16, false, 0x4500_0000), (0x8000, 0));
    assert_eq!(to(16, false, ONE | minus), (0, INVALID));
    assert_eq!(to(32, false, 0x3d00_0000 | minus), (0, INEXACT), "half a unit");
    assert_eq!(to(32, true, 0x7f80_0000), (0x7fff_ffff, INVALID));
    assert_eq!(to(32, true, QUIET), (0, INVALID));
}
