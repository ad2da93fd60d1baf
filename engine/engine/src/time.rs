//! The time base: integer picoseconds, integer hertz, and the exact arithmetic between them.
//!
//! A cycle count becomes a time in one step from the count, never by adding rounded periods, so a clock whose period is
//! not a whole number of picoseconds does not drift. Conversions that round have the direction in their name.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::state::{Damaged, Fresh, Loader, Saver, State};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A point in simulated time, or a duration, in picoseconds. 64 bits last 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ps(pub u64);

impl State for Ps {
    fn save(&self, to: &mut Saver) {
        to.time_ps(self.0);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.0.load(from)
    }
}

impl Fresh for Ps {
    fn fresh() -> Ps {
        Ps::ZERO
    }
}

/// A number of cycles of some clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Cycles(pub u64);

/// The frequency of a clock; never zero. All clocks have an edge at time 0.
#[derive(Clone, Copy, Debug)]
pub struct Hz {
    hz: u64,
    /// The period in picoseconds.
    period_ps: Ratio,
    /// Its reciprocal.
    per_ps: Ratio,
}

/// No snapshot has a faster clock: devicetrees have 32 bits for a frequency, and PLLs multiply it by a small factor.
const MOST_HZ: u64 = 100_000_000_000;

impl State for Hz {
    fn save(&self, to: &mut Saver) {
        self.hz.save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let hz = Some(u64::loaded(from)?).filter(|hz| *hz <= MOST_HZ);
        *self = hz.and_then(Hz::new).ok_or(Damaged)?;
        Ok(())
    }
}

impl Fresh for Hz {
    fn fresh() -> Hz {
        const ANY: Hz = Hz::new(1).expect("it is not 0");
        ANY
    }
}

/// A fraction in lowest terms for repeated multiplication: multiplications replace the division.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    numerator: u64,
    denominator: u64,
    /// `numerator / denominator`, rounded down.
    whole: u64,
    /// The remainder of the numerator.
    rest: u64,
    /// `2^64 * rest / denominator`, rounded down.
    reciprocal: u64,
}

impl Ratio {
    const fn new(numerator: u64, denominator: u64) -> Ratio {
        let common = greatest_common_divisor(numerator, denominator);
        let (numerator, denominator) = (numerator / common, denominator / common);
        let rest = numerator % denominator;
        let reciprocal = (((rest as u128) << 64) / denominator as u128) as u64;
        Ratio { numerator, denominator, whole: numerator / denominator, rest, reciprocal }
    }

    /// `value * self`, rounded down, and whether it was rounded; the largest number if the result does not fit.
    #[inline(always)]
    const fn floor(self, value: u64) -> (u64, bool) {
        if self.denominator == 1 {
            return (value.saturating_mul(self.numerator), false);
        }
        // The reciprocal is too small by less than 1, so the estimate is by 1 at the most. The remainder is less than
        // two denominators, however large the two products are whose difference it is.
        let estimate = ((value as u128 * self.reciprocal as u128) >> 64) as u64;
        let left = value.wrapping_mul(self.rest).wrapping_sub(estimate.wrapping_mul(self.denominator));
        let short = left >= self.denominator;
        let exact = left == 0 || left == self.denominator;
        (value.saturating_mul(self.whole).saturating_add(estimate + short as u64), !exact)
    }

    /// `value * self`, rounded up.
    #[inline(always)]
    const fn ceil(self, value: u64) -> u64 {
        let (floor, rounded) = self.floor(value);
        floor + rounded as u64
    }
}

const fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

impl Ps {
    /// The start of a run.
    pub const ZERO: Ps = Ps(0);
    /// Later than any event: "never".
    pub const MAX: Ps = Ps(u64::MAX);

    /// A duration given in nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Ps {
        Ps(ns * 1_000)
    }

    /// A duration given in microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Ps {
        Ps(us * 1_000_000)
    }

    /// `self + span`, or [`Ps::MAX`] where that does not fit.
    #[inline]
    pub const fn saturating_add(self, span: Ps) -> Ps {
        Ps(self.0.saturating_add(span.0))
    }

    /// `self - earlier`, or zero if `earlier` is later.
    #[inline]
    pub const fn saturating_sub(self, earlier: Ps) -> Ps {
        Ps(self.0.saturating_sub(earlier.0))
    }
}

/// Clocks are compared at accesses of cores: the frequency is sufficient.
impl PartialEq for Hz {
    fn eq(&self, other: &Hz) -> bool {
        self.hz == other.hz
    }
}

impl Eq for Hz {}

impl Hz {
    /// A clock of `hz` hertz; `None` for zero and above 1 THz (a period below a picosecond).
    pub const fn new(hz: u64) -> Option<Hz> {
        if hz == 0 || hz > 1_000_000_000_000 {
            return None;
        }
        let ps = PS_PER_SECOND as u64;
        Some(Hz { hz, period_ps: Ratio::new(ps, hz), per_ps: Ratio::new(hz, ps) })
    }

    /// The frequency in hertz.
    #[inline]
    pub const fn get(self) -> u64 {
        self.hz
    }

    /// The time of edge number `cycles`, rounded down to a picosecond; [`Ps::MAX`] beyond that.
    #[inline]
    pub const fn ps_at_floor(self, cycles: Cycles) -> Ps {
        Ps(self.period_ps.floor(cycles.0).0)
    }

    /// The number of the first edge at `at` or later. The inverse of [`Hz::ps_at_floor`]:
    /// `cycles_until_ceil(ps_at_floor(n)) == n`.
    #[inline]
    pub const fn cycles_until_ceil(self, at: Ps) -> Cycles {
        // Edge n is at floor(n * P): it is at or after `at` exactly when n * P >= at.
        Cycles(self.per_ps.ceil(at.0))
    }

    /// The number of whole cycles that fit before or at `at`.
    #[inline]
    pub const fn cycles_until_floor(self, at: Ps) -> Cycles {
        let next = self.cycles_until_ceil(at);
        if self.ps_at_floor(next).0 > at.0 { Cycles(next.0 - 1) } else { next }
    }

    /// The number of this clock's cycles after which its phase relative to `other` repeats. `None` if rounding to
    /// picoseconds may make two such times differ: it does not where each edge of the other is one of this clock's, or
    /// where edges that differ do so by a picosecond or more.
    #[inline]
    pub fn cycles_in_step(self, other: Hz) -> Option<Cycles> {
        let common = greatest_common_divisor(self.hz, other.hz);
        let distances_per_second = u128::from(self.hz / common) * u128::from(other.hz);
        (common == other.hz || distances_per_second <= PS_PER_SECOND).then_some(Cycles(self.hz / common))
    }

    /// The first edge of this clock at `at` or later.
    #[inline]
    pub const fn edge_at_or_after(self, at: Ps) -> Ps {
        self.ps_at_floor(self.cycles_until_ceil(at))
    }

    /// The time `clocks` cycles after the first edge at `at` or later: the end of an action that starts on this clock's
    /// next edge and takes `clocks` of its cycles.
    #[inline]
    pub const fn after(self, at: Ps, clocks: Cycles) -> Ps {
        self.ps_at_floor(Cycles(self.cycles_until_ceil(at).0 + clocks.0))
    }
}

/// Times are limited to [`Ps::MAX`]: slow clocks and long waits that exceed it never come.
impl Add for Ps {
    type Output = Ps;
    fn add(self, span: Ps) -> Ps {
        self.saturating_add(span)
    }
}

impl AddAssign for Ps {
    fn add_assign(&mut self, span: Ps) {
        *self = *self + span;
    }
}

impl Sub for Ps {
    type Output = Ps;
    fn sub(self, earlier: Ps) -> Ps {
        Ps(self.0 - earlier.0)
    }
}

impl Add for Cycles {
    type Output = Cycles;
    fn add(self, more: Cycles) -> Cycles {
        Cycles(self.0 + more.0)
    }
}

impl fmt::Display for Ps {
    /// A human unit with up to three decimals: `12.345 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
        for (unit_ps, name) in UNITS {
            if self.0 >= unit_ps {
                return write!(f, "{}.{:03} {name}", self.0 / unit_ps, self.0 % unit_ps / (unit_ps / 1_000));
            }
        }
        write!(f, "{} ps", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hz(value: u64) -> Hz {
        Hz::new(value).unwrap()
    }

    #[test]
    fn cycles_become_time_without_drift() {
        // 3 Hz: the period is 333333333333.33 ps; three of them are exactly a second.
        assert_eq!(hz(3).ps_at_floor(Cycles(1)), Ps(333_333_333_333));
        assert_eq!(hz(3).ps_at_floor(Cycles(3)), Ps(1_000_000_000_000));
        assert_eq!(hz(99_038_500).ps_at_floor(Cycles(99_038_500)), Ps(1_000_000_000_000));
    }

    #[test]
    fn edges_are_found_from_any_time() {
        let clock = hz(100_000_000);
        assert_eq!(clock.edge_at_or_after(Ps(0)), Ps(0));
        assert_eq!(clock.edge_at_or_after(Ps(1)), Ps(10_000));
        assert_eq!(clock.after(Ps(10_001), Cycles(3)), Ps(50_000));
        assert_eq!(clock.cycles_until_floor(Ps(19_999)), Cycles(1));
    }

    #[test]
    fn clocks_whose_edges_rounding_may_mix_are_never_in_step() {
        assert_eq!(hz(99_038_462).cycles_in_step(hz(99_038_462)), Some(Cycles(1)));
        // Edges of the two come as close as 0.0001 ps.
        assert_eq!(hz(99_038_462).cycles_in_step(hz(80_000_000)), None);
    }

    #[test]
    fn times_print_in_a_human_unit() {
        assert_eq!(Ps(94_338_000_000).to_string(), "94.338 ms");
        assert_eq!(Ps(999).to_string(), "999 ps");
        assert_eq!(Ps(12_500).to_string(), "12.500 ns");
    }

    proptest! {
        /// The rational arithmetic follows the definition, also where products exceed 64 bits.
        #[test]
        fn conversions_are_exact(frequency in 1u64..=1_000_000_000_000, at: u64) {
            let at = at >> (at & 31);
            let (clock, wide) = (hz(frequency), u128::from(at));
            let until = (wide * u128::from(frequency)).div_ceil(PS_PER_SECOND);
            prop_assert_eq!(u128::from(clock.cycles_until_ceil(Ps(at)).0), until);
            let edge = wide * PS_PER_SECOND / u128::from(frequency);
            prop_assert_eq!(clock.ps_at_floor(Cycles(at)), Ps(u64::try_from(edge).unwrap_or(u64::MAX)));
        }

        /// In step, the edges of one clock have the same places among those of the other as before.
        #[test]
        fn clocks_in_step_repeat(
            (own, other) in prop::sample::select(vec![(100, 80), (80, 100), (498, 83), (12, 8), (33, 7), (100, 1)]),
            megahertz: bool,
            edge in 0u64..100_000,
            times in 1u64..1000,
        ) {
            let [own, other] = [own, other].map(|value| hz(if megahertz { value * 1_000_000 } else { value * 7 }));
            let cycles = own.cycles_in_step(other).unwrap();
            let steps = cycles.0 * other.get() / own.get();
            prop_assert_eq!(steps * own.get(), cycles.0 * other.get());
            let seen = |edge: u64| own.cycles_until_ceil(other.ps_at_floor(Cycles(edge)));
            prop_assert_eq!(seen(edge + times * steps), seen(edge) + Cycles(times * cycles.0));
            let sees = |cycle: u64| other.cycles_until_floor(own.ps_at_floor(Cycles(cycle)));
            prop_assert_eq!(sees(edge + times * cycles.0), sees(edge) + Cycles(times * steps));
        }

        #[test]
        fn an_edge_is_its_own_next_edge(frequency in 1u64..2_000_000_000, cycles in 0u64..1_000_000_000) {
            let clock = hz(frequency);
            let at = clock.ps_at_floor(Cycles(cycles));
            prop_assert_eq!(clock.edge_at_or_after(at), at);
            prop_assert_eq!(clock.cycles_until_floor(at), Cycles(cycles));
        }
    }
}
