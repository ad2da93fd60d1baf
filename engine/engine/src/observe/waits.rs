//! The stack by what a core waited for. It has the same time as the stack by cause, in other categories.

use super::stack::{PURPOSES, Share};
use crate::activity::Kind;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// The core's own work, of any cause.
pub const WORK: &str = "CPU";
/// The cause of time in reset.
pub const HELD: &str = "held in reset";
/// Sleep without a known activity, which no interrupt has ended.
pub const ASLEEP: &str = "asleep";

/// The category of a row of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Sort {
    /// The core waited for an activity of this kind.
    Activity(Kind),
    /// The core looked at a device without a known activity.
    Looking,
    /// Sleep without a known activity.
    Asleep,
    /// Accesses, except looks at devices.
    Accesses,
    /// The core's own work.
    Work,
}

impl Sort {
    /// Its name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Sort::Activity(kind) => kind.name(),
            Sort::Looking => "looking",
            Sort::Asleep => "asleep",
            Sort::Accesses => "accesses",
            Sort::Work => WORK,
        }
    }
}

/// A row of the stack by what was waited for.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct WaitShare {
    /// What was waited for, and for how long.
    pub share: Share,
    /// Its category.
    pub sort: Sort,
}

/// What was waited for, and which part of the stack by cause that was.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct WaitedFor {
    /// Time by activity, with its kind: "flash0: page program".
    pub activities: Vec<(String, Kind, Ps)>,
    /// Time in which the core looked at a device without a known activity: "spi0: looked at".
    pub looking: Vec<(String, Ps)>,
    /// Time in which the core slept without a known activity: "ipcc: interrupt awaited".
    pub asleep: Vec<(String, Ps)>,
    /// The accesses in that time by cause, in core cycles.
    pub accesses: Vec<(String, Cycles)>,
    /// The rate of the core's clock.
    pub rate: Hz,
    /// Causes that belong to the core itself, sleep among them.
    pub own: Vec<&'static str>,
}

impl WaitedFor {
    /// The stack by what was waited for, of the time of `causes`. Waits come first, the longest before the others; then
    /// other accesses, by target; then the core's own work.
    pub fn stack(&self, causes: &[Share]) -> Vec<WaitShare> {
        let mut rows = self.waits();
        let accesses = self.accesses_otherwise(causes).into_iter();
        rows.extend(accesses.map(|(name, time)| (name, Sort::Accesses, time)));
        let total: u64 = causes.iter().map(|share| share.time.0).sum();
        let known: u64 = rows.iter().map(|(.., time)| *time).sum();
        match total.checked_sub(known) {
            Some(0) => {}
            Some(work) => rows.push((WORK.to_owned(), Sort::Work, work)),
            // Edges of clocks are not whole picoseconds: an excess is taken from the longest waits.
            None => {
                let mut excess = known - total;
                let mut longest: Vec<&mut u64> = rows.iter_mut().map(|(.., time)| time).collect();
                longest.sort_by(|a, b| b.cmp(a));
                for time in longest {
                    let taken = excess.min(*time);
                    *time -= taken;
                    excess -= taken;
                }
                rows.retain(|(.., time)| *time > 0);
            }
        }
        let cycles = |time: u64| self.rate.cycles_until_floor(Ps(time));
        let share = |(cause, sort, time)| {
            let share = Share { cause, cycles: cycles(time), time: Ps(time) };
            WaitShare { share, sort }
        };
        rows.into_iter().map(share).collect()
    }

    /// What was waited for, the longest first.
    fn waits(&self) -> Vec<(String, Sort, u64)> {
        let activities = self.activities.iter().map(|(name, kind, time)| (name, Sort::Activity(*kind), time));
        let looking = self.looking.iter().map(|(name, time)| (name, Sort::Looking, time));
        let asleep = self.asleep.iter().map(|(name, time)| (name, Sort::Asleep, time));
        let all = activities.chain(looking).chain(asleep).filter(|(.., time)| time.0 > 0);
        let mut waits: Vec<_> = all.map(|(name, sort, time)| (name.clone(), sort, time.0)).collect();
        waits.sort_by(|(a, _, x), (b, _, y)| y.cmp(x).then(a.cmp(b)));
        waits
    }

    /// Time of accesses that were not looks, by target.
    fn accesses_otherwise(&self, causes: &[Share]) -> Vec<(String, u64)> {
        let mut rows: Vec<(String, u64)> = Vec::new();
        for share in causes.iter().filter(|share| !self.own.contains(&share.cause.as_str())) {
            let looks = self.accesses.iter().filter(|(cause, _)| *cause == share.cause);
            let looks: u64 = looks.map(|(_, cycles)| self.rate.ps_at_floor(*cycles).0).sum();
            let left = share.time.0.saturating_sub(looks);
            let name = target_of(&share.cause);
            match rows.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += left,
                None => rows.push((name, left)),
            }
        }
        rows.retain(|(_, time)| *time > 0);
        rows
    }
}

/// "fetch: ddr" and "load: ddr" are accesses to the same target.
fn target_of(cause: &str) -> String {
    match cause.split_once(": ") {
        Some((purpose, target)) if PURPOSES.contains(&purpose) => format!("access: {target}"),
        _ => cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(cause: &str, time: u64) -> Share {
        Share { cause: cause.to_owned(), cycles: Cycles(time / 10_000), time: Ps(time) }
    }

    #[test]
    fn waits_that_are_longer_than_all_of_the_time_are_cut() {
        let waited = WaitedFor {
            activities: vec![
                ("a: busy".to_owned(), Kind::Busy, Ps(300_000)),
                ("b: busy".to_owned(), Kind::Busy, Ps(200_000)),
            ],
            looking: vec![("c: looked at".to_owned(), Ps(100_000))],
            asleep: Vec::new(),
            accesses: Vec::new(),
            rate: Hz::new(100_000_000).unwrap(),
            own: vec!["issue"],
        };
        for total in [599_999, 250_000, 100_000, 0] {
            let stack = waited.stack(&[share("issue", total)]);
            assert_eq!(stack.iter().map(|row| row.share.time.0).sum::<u64>(), total);
            assert!(stack.iter().all(|row| row.share.time.0 > 0));
        }
    }

    #[test]
    fn the_stack_has_the_time_that_the_causes_have() {
        let causes = [share("issue", 400_000), share("load: spi0", 300_000), share("fetch: ddr", 100_000)];
        let waited = WaitedFor {
            activities: vec![
                ("flash0: page program".to_owned(), Kind::Busy, Ps(350_000)),
                ("spi0: shifting".to_owned(), Kind::Wire, Ps(50_000)),
            ],
            accesses: vec![("load: spi0".to_owned(), Cycles(25))],
            rate: Hz::new(100_000_000).unwrap(),
            own: vec!["issue"],
            looking: Vec::new(),
            asleep: Vec::new(),
        };
        let stack = waited.stack(&causes);
        let rows: Vec<(&str, &str, u64)> =
            stack.iter().map(|row| (row.sort.name(), row.share.cause.as_str(), row.share.time.0)).collect();
        let expected = [
            ("busy", "flash0: page program", 350_000),
            ("wire", "spi0: shifting", 50_000),
            ("accesses", "access: spi0", 50_000),
            ("accesses", "access: ddr", 100_000),
            (WORK, WORK, 250_000),
        ];
        assert_eq!(rows, expected);
    }
}
