//! The cycle stack: every cycle of a core's time, charged to one cause.

use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// The purposes of accesses, with which the names of their causes begin: "load: ddr".
pub const PURPOSES: [&str; 5] = ["fetch", "load", "store", "walk", "discarded fetch"];

/// One cause's share of a core's time.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Share {
    /// The cause, as shown to the user ("issue", "load: spi0", ...).
    pub cause: String,
    /// Core cycles.
    pub cycles: Cycles,
    /// The cycles as time. The shares of a stack sum exactly to the elapsed time.
    pub time: Ps,
}

/// Makes a stack of counted cycles: each share's time is the difference of two exact times of the running sum, so
/// rounding loses nothing. Causes without cycles are left out.
pub fn stack(clock: Hz, counted: impl IntoIterator<Item = (String, Cycles)>) -> Vec<Share> {
    let mut sum = Cycles(0);
    let mut shares = Vec::new();
    for (cause, cycles) in counted.into_iter().filter(|(_, cycles)| cycles.0 > 0) {
        let from = clock.ps_at_floor(sum);
        sum = sum + cycles;
        shares.push(Share { cause, cycles, time: clock.ps_at_floor(sum) - from });
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_an_odd_clock_sum_to_the_elapsed_time() {
        let clock = Hz::new(99_038_500).unwrap();
        let shares = stack(clock, (1..50).map(|n| (format!("cause {n}"), Cycles(n * 7 + n % 3))));
        let cycles = shares.iter().map(|share| share.cycles.0).sum();
        let time: u64 = shares.iter().map(|share| share.time.0).sum();
        assert_eq!(Ps(time), clock.ps_at_floor(Cycles(cycles)));
    }
}
