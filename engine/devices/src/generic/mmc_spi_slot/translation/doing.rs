//! The operations of a card's flash and their times, which explain why the card is busy. They change no timing.

use std::collections::VecDeque;

use crate::prelude::*;

/// An operation of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Doing {
    /// Copies of sectors and pages that the host did not write.
    Merge,
    /// An erase of blocks.
    Erase,
    /// A program of a page.
    Program,
    /// Idle.
    Nothing,
}

/// The operations of the flash, one after the other.
#[derive(Clone, Debug, Default, State)]
pub struct Schedule(VecDeque<(Doing, Ps, Ps)>);

impl Schedule {
    /// Drops operations that ended by `now`.
    pub fn forget_before(&mut self, now: Ps) {
        while self.0.front().is_some_and(|(_, _, end)| *end <= now) {
            self.0.pop_front();
        }
    }

    /// Adds operations from `start` on, after all others: returns their end.
    pub fn add(&mut self, start: Ps, steps: &[(Doing, Ps)]) -> Ps {
        steps.iter().fold(start, |begin, (what, time)| {
            let end = begin.saturating_add(*time);
            if end > begin {
                self.0.push_back((*what, begin, end));
            }
            end
        })
    }

    /// The operations in a period, in order, without gaps.
    pub fn within(&self, from: Ps, to: Ps) -> Vec<(Doing, Ps, Ps)> {
        let mut found = Vec::new();
        if from >= to {
            return found;
        }
        let mut at = from;
        for (what, begin, end) in self.0.iter().filter(|(_, begin, end)| *end > from && *begin < to) {
            if *begin > at {
                found.push((Doing::Nothing, at, *begin));
            }
            found.push((*what, at.max(*begin), to.min(*end)));
            at = to.min(*end);
        }
        if at < to {
            found.push((Doing::Nothing, at, to));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Doing::*;

    #[test]
    fn what_is_done_has_no_gaps_and_goes_no_further_than_asked() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.add(Ps(100), &[(Merge, Ps(20)), (Erase, Ps::ZERO), (Program, Ps(30))]), Ps(150));
        assert_eq!(schedule.add(Ps(160), &[(Erase, Ps(10))]), Ps(170));
        let whole = [
            (Nothing, Ps(90), Ps(100)),
            (Merge, Ps(100), Ps(120)),
            (Program, Ps(120), Ps(150)),
            (Nothing, Ps(150), Ps(160)),
            (Erase, Ps(160), Ps(170)),
            (Nothing, Ps(170), Ps(200)),
        ];
        assert_eq!(schedule.within(Ps(90), Ps(200)), whole);
        assert_eq!(schedule.within(Ps(110), Ps(130)), [(Merge, Ps(110), Ps(120)), (Program, Ps(120), Ps(130))]);
        schedule.forget_before(Ps(150));
        assert_eq!(schedule.within(Ps(110), Ps(165)), [(Nothing, Ps(110), Ps(160)), (Erase, Ps(160), Ps(165))]);
        assert_eq!(schedule.within(Ps(300), Ps::MAX), [(Nothing, Ps(300), Ps::MAX)]);
        assert!(schedule.within(Ps(165), Ps(162)).is_empty());
    }
}
