//! Activities at a moment, for those who follow them while the machine runs.

use std::sync::atomic::Ordering;

use super::recording::Recording;
use super::repeats::Mark;
use super::{Activities, Kinds};
use crate::time::Ps;

/// Spans are recorded in nearly the order of time: before a sequence of this many that are over, all are over.
const OVER: usize = 8;

impl Recording {
    /// Whether a track is active at `now`, and when that changes next, as far as it is known; else [`Ps::MAX`].
    pub(super) fn goes_on(&self, track: u32, now: Ps) -> (bool, Ps) {
        let (mut goes_on, mut next, mut over) = (false, Ps::MAX, 0);
        let mut see = |begin: Ps, end: Ps| {
            goes_on |= begin <= now && now < end;
            let changes = [begin, end].into_iter().filter(|at| *at > now);
            next = changes.fold(next, Ps::min);
        };
        if let Some(open) = self.open.get(&track) {
            see(open.begin, Ps::MAX);
        }
        let left = self.kept.iter().filter(|span| span.track == track);
        let last = self.backwards(track).take_while(|span| {
            over = if span.last_end() > now { 0 } else { over + 1 };
            over < OVER
        });
        for span in last.chain(left) {
            span.instances_within(now, Ps::MAX).take(2).for_each(|(begin, end)| see(begin, end));
        }
        (goes_on, next)
    }

    /// The earliest begin among the spans on `tracks` with number `recorded` or higher; [`Ps::MAX`] without any.
    fn earliest_since(&self, recorded: u64, tracks: &[u32]) -> Ps {
        let new = self.ring.iter().skip(recorded.saturating_sub(self.first) as usize);
        let own = new.filter(|span| tracks.contains(&span.track)).map(|span| span.begin);
        own.min().unwrap_or(Ps::MAX)
    }

    /// True if anything was recorded since a mark.
    pub(super) fn has_recorded_since(&self, mark: &Mark) -> bool {
        self.recorded() > mark.recorded || self.changes > mark.changes || self.begun > mark.begun
    }
}

impl Activities {
    /// Follows activities of `kinds` from now on: they are recorded, and [`Activities::goes_on`] gives the state of
    /// each track. Kinds that are recorded for another reason stay.
    #[inline]
    pub fn follow(&self, kinds: Kinds) {
        let before = self.0.followed.swap(kinds.0, Ordering::Relaxed);
        if kinds != Kinds::NONE {
            self.recording().start_to_follow();
            self.0.kinds.fetch_or(kinds.0, Ordering::Relaxed);
        } else if before != 0 && !self.0.is_kept.load(Ordering::Relaxed) {
            let is_wanted = { self.recording().has_sink() } || self.recording().is_for_waits();
            if !is_wanted {
                self.0.kinds.store(0, Ordering::Relaxed);
            }
        }
    }

    /// The kinds that are followed.
    #[inline]
    pub fn followed(&self) -> Kinds {
        Kinds(self.0.followed.load(Ordering::Relaxed))
    }

    /// Whether any of `tracks`, by their indices in [`Activities::tracks`], is active at `now`, and when one of them
    /// begins or ends next, as far as that is known; else [`Ps::MAX`].
    #[inline]
    pub fn goes_on(&self, tracks: &[u32], now: Ps) -> (bool, Ps) {
        let recording = self.recording();
        let each = tracks.iter().map(|track| recording.goes_on(*track, now));
        each.fold((false, Ps::MAX), |(any, next), (one, changes)| (any || one, next.min(changes)))
    }

    /// The number of spans that have been recorded so far.
    #[inline]
    pub fn recorded(&self) -> u64 {
        self.recording().recorded()
    }

    /// When one of `tracks` begins or ends next after `since`, as far as that is known; else [`Ps::MAX`].
    #[inline]
    pub fn next_change(&self, tracks: &[u32], since: Ps) -> Ps {
        self.goes_on(tracks, since).1
    }

    /// Like [`Activities::next_change`], with the changes that nobody has seen yet ([`Activities::looked_at`]): the
    /// spans from number `recorded` on may have been recorded late, and may have begun before `since`.
    #[inline]
    pub fn first_change(&self, tracks: &[u32], since: Ps, recorded: u64) -> Ps {
        let next = self.next_change(tracks, since);
        let recording = self.recording();
        let joined = recording.joined.iter().filter(|(track, _)| tracks.contains(track)).map(|(_, begin)| *begin);
        joined.fold(next.min(recording.earliest_since(recorded, tracks)), Ps::min)
    }

    /// Everything that has been recorded so far has been seen.
    #[inline]
    pub fn looked_at(&self) {
        self.recording().joined.clear();
    }

    /// The number of tracks: some are added only when an activity is recorded.
    #[inline]
    pub fn track_count(&self) -> usize {
        self.recording().track_count()
    }

    /// True if an activity of a followed kind was recorded since the last call.
    #[inline]
    pub fn take_news(&self) -> bool {
        self.0.news.load(Ordering::Relaxed) && self.0.news.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Activity, Detail, Kind};
    use super::*;

    static ERASE: Activity = Activity::new(Kind::Busy, "sector erase", "");
    static CHARACTER: Activity = Activity::new(Kind::Serial, "character", "");

    #[test]
    fn the_state_of_tracks_and_its_next_change_are_known() {
        let activities = Activities::default();
        let flash = activities.scope("flash0");
        flash.declare(&[&ERASE, &CHARACTER]);
        flash.span(&ERASE, Ps(1), Ps(9), Detail::None);
        assert_eq!((activities.goes_on(&[0], Ps(5)), activities.take_news()), ((false, Ps::MAX), false));
        activities.follow(Kinds::of(&[Kind::Busy]));
        flash.span(&CHARACTER, Ps(1), Ps(9), Detail::None);
        assert!(!activities.take_news(), "nobody follows that");
        flash.span(&ERASE, Ps(10), Ps(30), Detail::None);
        assert!(activities.take_news() && !activities.take_news());
        let at = |now| activities.goes_on(&[0, 1], Ps(now));
        assert_eq!(
            (at(9), at(10), at(29), at(30)),
            ((false, Ps(10)), (true, Ps(30)), (true, Ps(30)), (false, Ps::MAX))
        );
        // The span is aborted; then one begins whose end is not known.
        flash.cut(&ERASE, Ps(20));
        assert_eq!((at(15), at(20)), ((true, Ps(20)), (false, Ps::MAX)));
        flash.begin(&ERASE, Ps(40), Detail::None);
        assert_eq!((at(39), at(40)), ((false, Ps(40)), (true, Ps::MAX)));
        flash.end(&ERASE, Ps(50));
        assert_eq!((at(45), at(50)), ((true, Ps(50)), (false, Ps::MAX)));
    }

    #[test]
    fn a_span_that_is_recorded_late_or_extended_is_a_change_at_its_begin() {
        static FRAME: Activity = Activity::new(Kind::Wire, "shifting", "").joining();
        let activities = Activities::default();
        let spi = activities.scope("spi0");
        spi.declare(&[&FRAME]);
        activities.follow(Kinds::of(&[Kind::Wire]));
        spi.span(&FRAME, Ps(10), Ps(20), Detail::None);
        assert_eq!(activities.first_change(&[0], Ps(15), 0), Ps(10));
        let recorded = activities.recorded();
        activities.looked_at();
        assert_eq!(activities.first_change(&[0], Ps(25), recorded), Ps::MAX);
        spi.span(&FRAME, Ps(20), Ps(30), Detail::None);
        assert_eq!((activities.recorded(), activities.first_change(&[0], Ps(25), recorded)), (recorded, Ps(20)));
        assert_eq!(activities.next_change(&[0], Ps(20)), Ps(30));
    }

    #[test]
    fn an_iteration_with_followed_activities_is_not_skipped() {
        let activities = Activities::default();
        let flash = activities.scope("flash0");
        flash.declare(&[&ERASE]);
        activities.follow(Kinds::of(&[Kind::Busy]));
        let (mark, clock) = (activities.mark(), crate::time::Hz::new(1_000_000).unwrap());
        assert!(activities.can_repeat(&mark, clock, 5));
        flash.span(&ERASE, Ps(10), Ps(30), Detail::None);
        assert!(!activities.can_repeat(&mark, clock, 5));
        activities.follow(Kinds::NONE);
        assert!(!activities.is_on());
    }
}
