//! Random operands, in all rounding modes.

use super::*;
use crate::tiers::sized;
use proptest::prelude::*;
use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

const MODES: [(Mode, Round); 4] = [
    (Mode::Nearest, Round::NearestTiesToEven),
    (Mode::Up, Round::TowardPositive),
    (Mode::Down, Round::TowardNegative),
    (Mode::Zero, Round::TowardZero),
];

/// Numbers with exponents close to each other and often simple fractions; no NaNs.
fn number(format: Format) -> impl Strategy<Value = u64> {
    let steps = format.infinity >> format.fraction_bits;
    let near_one = steps / 2 - 60..steps / 2 + 60;
    let exponent = prop_oneof![near_one, 0..3u64, steps - 3..steps, 0..steps, Just(steps)];
    let fraction =
        prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..4u64, any::<u64>().prop_map(|bits| bits << 40)];
    (any::<bool>(), exponent, fraction).prop_map(move |(negative, exponent, fraction)| {
        let fraction = if exponent == steps { 0 } else { fraction & ((1 << format.fraction_bits) - 1) };
        format.signed(negative, exponent << format.fraction_bits | fraction)
    })
}

fn flags(status: Status) -> u32 {
    let rows = [
        (Status::INVALID_OP, INVALID),
        (Status::DIV_BY_ZERO, DIVISION_BY_ZERO),
        (Status::OVERFLOW, OVERFLOW),
        (Status::UNDERFLOW, UNDERFLOW),
        (Status::INEXACT, INEXACT),
    ];
    rows.iter().filter(|row| status.contains(row.0)).fold(0, |all, row| all | row.1)
}

/// Compares a result with that of the other implementation. That one reports an overflow only if the result is
/// infinite, and an underflow only if the rounded result is less than all normal numbers; Arm reports both before
/// rounding.
fn same<F: Float>(format: Format, (result, raised): (u64, u32), expected: StatusAnd<F>) {
    if expected.value.is_nan() {
        assert_eq!((result, raised), (format.default_nan(), INVALID));
        return;
    }
    assert_eq!(result, expected.value.to_bits() as u64, "{result:#x}");
    let magnitude = format.magnitude(result);
    let unsure = match magnitude {
        _ if magnitude == format.infinity - 1 => OVERFLOW,
        _ if magnitude == 1 << format.fraction_bits => UNDERFLOW,
        _ => 0,
    };
    assert_eq!(raised & !unsure, flags(expected.status) & !unsure, "{result:#x}");
}

fn check<F: Float>(format: Format, [a, b, addend]: [u64; 3]) {
    let f = |bits: u64| F::from_bits(u128::from(bits));
    for (mode, round) in MODES {
        let with = rounding(mode);
        same(format, run(with, |c| c.add(format, a, b)), f(a).add_r(f(b), round));
        same(format, run(with, |c| c.subtract(format, a, b)), f(a).sub_r(f(b), round));
        same(format, run(with, |c| c.multiply(format, a, b)), f(a).mul_r(f(b), round));
        same(format, run(with, |c| c.divide(format, a, b)), f(a).div_r(f(b), round));
        let fused = f(a).mul_add_r(f(b), f(addend), round);
        same(format, run(with, |c| c.multiply_add(format, addend, a, b)), fused);
    }
}

/// The root's square, and those of its neighbours, are on the right sides of the number: exactly, with four times the
/// precision.
fn check_root<F: Float + FloatConvert<Quad>>(format: Format, a: u64) {
    let wide = |bits: u64| F::from_bits(u128::from(bits)).convert(&mut false).value;
    let squared = |x: Quad| (x * x).value;
    let half = Quad::from_u128(1).value.scalbn(-1);
    for (mode, _) in MODES {
        let (root, raised) = run(rounding(mode), |c| c.square_root(format, a));
        let (below, exact, above) = (wide(root - 1), wide(root), wide(root + 1));
        assert_eq!(raised, if squared(exact) == wide(a) { 0 } else { INEXACT });
        let (from, to) = match mode {
            Mode::Nearest => (((below + exact).value * half).value, ((exact + above).value * half).value),
            Mode::Up => (below, exact),
            _ => (exact, above),
        };
        assert!(squared(from) <= wide(a) && wide(a) <= squared(to), "{a:#x} {root:#x}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(4000, 20_000)))]

    #[test]
    fn singles(a in number(SINGLE), b in number(SINGLE), c in number(SINGLE)) {
        check::<Single>(SINGLE, [a, b, c]);
    }

    #[test]
    fn doubles(a in number(DOUBLE), b in number(DOUBLE), c in number(DOUBLE)) {
        check::<Double>(DOUBLE, [a, b, c]);
    }

    #[test]
    fn fused_operations_that_cancel(a in number(DOUBLE), b in number(DOUBLE), last in 0..3u64) {
        let (product, _) = run(0, |c| c.multiply(DOUBLE, a, b));
        if DOUBLE.magnitude(product) < DOUBLE.infinity - 3 {
            check::<Double>(DOUBLE, [a, b, DOUBLE.negate(product + last)]);
        }
    }

    #[test]
    fn roots(a in number(SINGLE), b in number(DOUBLE)) {
        let (a, b) = (SINGLE.magnitude(a), DOUBLE.magnitude(b));
        if a != 0 && a != SINGLE.infinity {
            check_root::<Single>(SINGLE, a);
        }
        if b != 0 && b != DOUBLE.infinity {
            check_root::<Double>(DOUBLE, b);
        }
    }

    #[test]
    fn comparisons(a in number(SINGLE), b in number(SINGLE)) {
        use super::super::Comparison::*;
        let (result, raised) = run(0, |c| c.compare(SINGLE, a, b, true));
        let [a, b] = [a, b].map(|bits| Single::from_bits(u128::from(bits)));
        let expected = match a.partial_cmp(&b).unwrap() {
            std::cmp::Ordering::Less => Less,
            std::cmp::Ordering::Equal => Equal,
            std::cmp::Ordering::Greater => Greater,
        };
        prop_assert_eq!((result, raised), (expected, 0));
    }

    #[test]
    fn precisions(a in number(SINGLE), b in number(DOUBLE)) {
        for (mode, round) in MODES {
            let with = rounding(mode);
            let wide: StatusAnd<Double> = Single::from_bits(u128::from(a)).convert_r(round, &mut false);
            same(DOUBLE, run(with, |c| c.change_precision(SINGLE, DOUBLE, a)), wide);
            let narrow: StatusAnd<Single> = Double::from_bits(u128::from(b)).convert_r(round, &mut false);
            same(SINGLE, run(with, |c| c.change_precision(DOUBLE, SINGLE, b)), narrow);
        }
    }

    #[test]
    fn halves(a in any::<u16>(), b in number(SINGLE)) {
        use rustc_apfloat::ieee::Half;
        if !super::super::format::HALF.is_nan(u64::from(a)) {
            let wide: StatusAnd<Single> = Half::from_bits(u128::from(a)).convert(&mut false);
            prop_assert_eq!(run(0, |c| c.number_of_half(a)), (wide.value.to_bits() as u32, 0));
        }
        for (mode, round) in MODES {
            let narrow: StatusAnd<Half> = Single::from_bits(u128::from(b)).convert_r(round, &mut false);
            let (result, raised) = run(rounding(mode), |c| c.half_of(b as u32));
            same(super::super::format::HALF, (u64::from(result), raised), narrow);
        }
    }

    #[test]
    fn integers(bits in number(DOUBLE), value in any::<i32>(), fraction_bits in 0..=32u32) {
        use super::super::convert::Fixed;
        let scaled = Double::from_bits(u128::from(bits)).scalbn(fraction_bits as i32);
        for (mode, round) in MODES {
            let to = |signed| {
                let fixed = Fixed { bits: 32, signed, fraction_bits };
                run(rounding(mode), |c| c.fixed_of(DOUBLE, bits, fixed, mode))
            };
            let (signed, unsigned) = (scaled.to_i128_r(32, round, &mut false), scaled.to_u128_r(32, round, &mut false));
            prop_assert_eq!(to(true), (signed.value as i64 as u64, flags(signed.status)));
            prop_assert_eq!(to(false), (unsigned.value as u64, flags(unsigned.status)));
            let from = Single::from_i128_r(i128::from(value), round);
            let expected = from.value.scalbn(-(fraction_bits as i32)).to_bits() as u64;
            let result = run(0, |c| c.number_of_fixed(SINGLE, i64::from(value), fraction_bits, mode));
            prop_assert_eq!(result, (expected, flags(from.status)));
        }
    }
}
