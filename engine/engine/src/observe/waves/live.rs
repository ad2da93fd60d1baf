//! Signals that are followed while the machine runs: their levels at a moment, and when they change next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;

use super::{Recording, SignalId, Waves};
use crate::time::Ps;

/// The signals that are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    levels: BTreeMap<SignalId, Level>,
    change_count: u64,
}

/// The level of a followed signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Level {
    now: bool,
    /// Changes in the future that are known, in the order of time.
    ahead: VecDeque<(Ps, bool)>,
}

impl Live {
    /// True if any signal is followed.
    pub(super) fn is_followed(&self) -> bool {
        !self.levels.is_empty()
    }

    /// The number of changes of followed signals that were recorded so far.
    pub(super) fn change_count(&self) -> u64 {
        self.change_count
    }

    /// Records the level of a signal from `at` on, which may be in the past.
    pub(super) fn set(&mut self, signal: SignalId, at: Ps, level: bool) {
        let Some(followed) = self.levels.get_mut(&signal) else { return };
        let place = followed.ahead.partition_point(|(time, _)| *time <= at);
        followed.ahead.insert(place, (at, level));
        self.change_count += 1;
    }

    /// A signal's level at `now`, and when it changes next, as far as that is known; else [`Ps::MAX`].
    fn level(&self, signal: SignalId, now: Ps) -> (bool, Ps) {
        let Some(followed) = self.levels.get(&signal) else { return (false, Ps::MAX) };
        let begun = followed.ahead.partition_point(|(at, _)| *at <= now);
        let level = begun.checked_sub(1).map_or(followed.now, |last| followed.ahead[last].1);
        let next = followed.ahead.range(begun..).find(|(_, next)| *next != level);
        (level, next.map_or(Ps::MAX, |(at, _)| *at))
    }

    /// The time of a signal's first change that nobody has seen; it may have been recorded late.
    fn first_change(&self, signal: SignalId) -> Ps {
        let Some(followed) = self.levels.get(&signal) else { return Ps::MAX };
        let first = followed.ahead.iter().find(|(_, level)| *level != followed.now);
        first.map_or(Ps::MAX, |(at, _)| *at)
    }

    /// Levels before `now` are not needed any more.
    fn looked_at(&mut self, now: Ps) {
        for followed in self.levels.values_mut() {
            let over = followed.ahead.partition_point(|(at, _)| *at <= now);
            followed.now = followed.ahead.drain(..over).next_back().map_or(followed.now, |(_, level)| level);
        }
    }
}

impl Waves {
    /// The signal of a node with a name, if it is a wire.
    pub fn wire_named(&self, scope: &str, name: &str) -> Option<SignalId> {
        let recording = self.recording();
        let place = recording.signals.iter().position(|signal| signal.scope == scope && signal.name == name)?;
        Some(SignalId(place as u32))
    }

    /// Follows these wires from now on, and no others. Each has the given level, or its level at rest.
    pub fn follow(&self, signals: &[(SignalId, Option<bool>)]) {
        let mut recording = self.recording();
        let Recording { live, signals: known, .. } = &mut *recording;
        live.levels.retain(|followed, _| signals.iter().any(|(signal, _)| signal == followed));
        for (signal, level) in signals {
            let first = || known.get(signal.place()).is_some_and(|signal| signal.first);
            let now = level.unwrap_or_else(first);
            live.levels.entry(*signal).or_insert(Level { now, ahead: VecDeque::new() });
        }
        let on = recording.on || recording.live.is_followed();
        self.0.on.store(on, Ordering::Relaxed);
    }

    /// The time of a wire's first change that nobody has seen ([`Waves::looked_at`]); [`Ps::MAX`] without any.
    pub fn first_change(&self, signal: SignalId) -> Ps {
        self.recording().live.first_change(signal)
    }

    /// All changes up to `now` have been seen.
    pub fn looked_at(&self, now: Ps) {
        self.recording().live.looked_at(now);
    }

    /// The level of a followed wire, and when it changes next, as far as that is known; else [`Ps::MAX`].
    pub fn live_level(&self, signal: SignalId, now: Ps) -> (bool, Ps) {
        self.recording().live.level(signal, now)
    }

    /// The state of the followed wires.
    pub fn live(&self) -> Live {
        self.recording().live.clone()
    }

    /// Restores the state of the followed wires; wires that were not followed then do not change.
    pub fn set_live(&self, live: &Live) {
        let mut recording = self.recording();
        for (signal, level) in &mut recording.live.levels {
            if let Some(before) = live.levels.get(signal) {
                level.clone_from(before);
            }
        }
        let on = recording.on || recording.live.is_followed();
        self.0.on.store(on, Ordering::Relaxed);
    }

    /// True if a followed wire has changed since the last call.
    #[inline]
    pub fn take_news(&self) -> bool {
        self.0.news.load(Ordering::Relaxed) && self.0.news.swap(false, Ordering::Relaxed)
    }

    pub(super) fn note_news(&self, recording: &Recording) {
        if recording.live.change_count() > 0 {
            self.0.news.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_that_is_followed_has_its_level_at_each_moment() {
        let waves = Waves::default();
        let (clock, select) = (waves.signal("spi0", "sck", false), waves.signal("spi0", "cs", true));
        assert_eq!(waves.wire_named("spi0", "cs"), Some(select));
        assert_eq!(waves.wire_named("spi1", "cs"), None);
        waves.follow(&[(select, None)]);
        assert!(waves.is_on() && !waves.take_news());
        waves.set(clock, Ps(5), true);
        assert_eq!((waves.change_count(), waves.take_news()), (0, false), "nobody follows it");
        assert_eq!(waves.live_level(select, Ps(5)), (true, Ps::MAX));
        // A burst is recorded when it begins.
        waves.set_many(|set| [(10, false), (30, true)].iter().for_each(|(at, level)| set(select, Ps(*at), *level)));
        assert!(waves.take_news() && !waves.take_news());
        assert_eq!(waves.live_level(select, Ps(9)), (true, Ps(10)));
        let before = waves.live();
        assert_eq!(waves.live_level(select, Ps(10)), (false, Ps(30)));
        assert_eq!(waves.live_level(select, Ps(40)), (true, Ps::MAX));
        waves.looked_at(Ps(20));
        assert_eq!(waves.live_level(select, Ps(9)), (false, Ps(30)), "that is forgotten");
        waves.set(select, Ps(15), true);
        assert_eq!(waves.first_change(select), Ps(15), "it was recorded late");
        waves.set_live(&before);
        assert_eq!(waves.live_level(select, Ps(9)), (true, Ps(10)));
        assert_eq!(waves.change_count(), 3);
        waves.follow(&[]);
        assert!(!waves.is_on());
    }
}
